"""Raw: pages as they came, kept for ever: `layer` is what callers see, `segment` is one file of it, and their index."""

from pipeline.raw.layer import MAX_SEGMENT_BYTES, MAX_SEGMENT_PAGES, DocumentRefs, RawLayer
from pipeline.raw.mending import go_on_without, mend, purge, remake_index
from pipeline.raw.segment import Stock
from pipeline.records import Appended, PageRef

__all__ = [
    "MAX_SEGMENT_BYTES",
    "MAX_SEGMENT_PAGES",
    "Appended",
    "DocumentRefs",
    "PageRef",
    "RawLayer",
    "Stock",
    "go_on_without",
    "mend",
    "purge",
    "remake_index",
]
