"""The records that cross a stage border, in the order in which they come to be.

Frozen and slotted: millions pass. A stage takes records and gives back records or :class:`Skipped`; a dict never
crosses a border. Times are aware and UTC; offsets count characters (code points) of the text named beside them.
"""

from pipeline.records.claims import MODEL_RULES, Claim, Fact, Pointed, Quote
from pipeline.records.clusters import Assignment, Cluster, Neighbour, Template
from pipeline.records.events import Event, Frame, Link, Signature, Slot
from pipeline.records.ids import content_id, shelf_of
from pipeline.records.pages import (
    MAINTAINER_ROLES,
    DocLink,
    DocRecord,
    DocRemedy,
    Document,
    DocumentHead,
    PageRef,
    Post,
    RawPage,
    iso,
)
from pipeline.records.skipped import Appended, Skipped

__all__ = [
    "MAINTAINER_ROLES",
    "MODEL_RULES",
    "Appended",
    "Assignment",
    "Claim",
    "Cluster",
    "DocLink",
    "DocRecord",
    "DocRemedy",
    "Document",
    "DocumentHead",
    "Event",
    "Fact",
    "Frame",
    "Link",
    "Neighbour",
    "PageRef",
    "Pointed",
    "Post",
    "Quote",
    "RawPage",
    "Signature",
    "Skipped",
    "Slot",
    "Template",
    "content_id",
    "iso",
    "shelf_of",
]
