"""The records that cross a stage border, in the order in which they come to be.

Frozen and slotted: millions pass. A stage takes records and gives back records or :class:`Skipped`; a dict never
crosses a border. Times are aware and UTC; offsets count characters (code points) of the text named beside them.
"""

from pipeline.records.claims import (
    CHECKED_RULES,
    MODEL_RULES,
    Claim,
    ClaimKind,
    Doubt,
    Fact,
    Outcome,
    Pointed,
    Quote,
    Role,
)
from pipeline.records.clusters import Assignment, Cluster, Neighbour, Template, Title
from pipeline.records.events import Event, Frame, Link, Severity, Signature, Slot, short_class
from pipeline.records.pages import (
    MAINTAINER_ROLES,
    PROGRAM,
    DocLink,
    DocRecord,
    DocRemedy,
    Document,
    DocumentHead,
    DocumentKind,
    LinkKind,
    PageRef,
    Post,
    PostKind,
    RawPage,
    content_id,
    iso,
    shelf_of,
)
from pipeline.records.skipped import Appended, Skipped

__all__ = [
    "CHECKED_RULES",
    "MAINTAINER_ROLES",
    "MODEL_RULES",
    "PROGRAM",
    "Appended",
    "Assignment",
    "Claim",
    "ClaimKind",
    "Cluster",
    "DocLink",
    "DocRecord",
    "DocRemedy",
    "Document",
    "DocumentHead",
    "DocumentKind",
    "Doubt",
    "Event",
    "Fact",
    "Frame",
    "Link",
    "LinkKind",
    "Neighbour",
    "Outcome",
    "PageRef",
    "Pointed",
    "Post",
    "PostKind",
    "Quote",
    "RawPage",
    "Role",
    "Severity",
    "Signature",
    "Skipped",
    "Slot",
    "Template",
    "Title",
    "content_id",
    "iso",
    "shelf_of",
    "short_class",
]
