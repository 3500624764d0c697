"""Raw: pages as they came, kept for ever: `layer` is what callers see, `segment` is one file of it, and their index."""

from pipeline.raw.layer import MAX_SEGMENT_BYTES, MAX_SEGMENT_PAGES, DocumentRefs, RawLayer, current
from pipeline.raw.mending import go_on_without, mend, purge, remake_index
from pipeline.raw.segment import Stock
from pipeline.records import Appended, PageRef

#: The stage of a `Skipped` that stands for pages that raw cannot give.
STAGE = "raw"

__all__ = [
    "MAX_SEGMENT_BYTES",
    "MAX_SEGMENT_PAGES",
    "STAGE",
    "Appended",
    "DocumentRefs",
    "PageRef",
    "RawLayer",
    "Stock",
    "current",
    "go_on_without",
    "mend",
    "purge",
    "remake_index",
]
