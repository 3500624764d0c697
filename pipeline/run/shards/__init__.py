"""Shards: what the map step keeps of one partition, as four Parquet tables with fixed columns, and a list of them.

::

    <folder>/documents/<name>.parquet   one row a document, without its text
    <folder>/events/<name>.parquet      one row an event, with its signature
    <folder>/claims/<name>.parquet      one row a claim, its quotes flattened
    <folder>/skipped/<name>.parquet     one row an item that could not go on
    <folder>/lists/<name>.json          sha256 of the four, and of itself: see `kept`

A shard is immutable and counts only when all five files are there; equal rows give equal bytes. Workers anywhere
write shards, one task loads them: see `store`.
"""

from pipeline.run.shards.columns import (
    DETAIL_CHARACTERS,
    QUOTE_CHARACTERS,
    DocumentRow,
    EventRow,
    MapResult,
    document_row,
    event_row,
)
from pipeline.run.shards.files import (
    ShardPaths,
    check,
    count_documents,
    discard,
    discard_leftovers,
    kept_files,
    listing,
    names,
    read,
    read_claims,
    read_documents,
    read_events,
    read_skipped,
    write,
)

__all__ = [
    "DETAIL_CHARACTERS",
    "QUOTE_CHARACTERS",
    "DocumentRow",
    "EventRow",
    "MapResult",
    "ShardPaths",
    "check",
    "count_documents",
    "discard",
    "discard_leftovers",
    "document_row",
    "event_row",
    "kept_files",
    "listing",
    "names",
    "read",
    "read_claims",
    "read_documents",
    "read_events",
    "read_skipped",
    "write",
]
