"""Shards: what the map step keeps of one partition, as Parquet tables with fixed columns, and a list of them.

::

    <folder>/documents/<name>.parquet   one row a document, without its text
    <folder>/events/<name>.parquet      one row an event, with its signature
    <folder>/claims/<name>.parquet      one row a claim, its quotes flattened
    <folder>/skipped/<name>.parquet     one row an item that could not go on
    <folder>/origins/<name>.parquet     one row a document: its digest, and which rows of the four came from it
    <folder>/rows/<name>.arrow          the rows of the first four once more, as who looks a few of them up needs them
    <folder>/lists/<name>.json          sha256 of the six, and of itself: see `kept`

A shard is immutable and counts only when all seven files are there; equal documents give equal bytes, whether they were
mapped or carried over from a shard before. Workers anywhere
write shards, one task loads them: see `store`.
"""

from pipeline.run.shards.columns import (
    DETAIL_CHARACTERS,
    QUOTE_CHARACTERS,
    DocumentRow,
    EventRow,
    MapResult,
    Origin,
    Part,
    document_row,
    event_row,
)
from pipeline.run.shards.files import (
    Carried,
    LyingRows,
    ShardPaths,
    check,
    count_documents,
    digests,
    discard,
    discard_leftovers,
    identity,
    kept_files,
    listing,
    names,
    origins,
    read,
    read_claims,
    read_documents,
    read_events,
    read_skipped,
    rows_of,
    write,
    write_parts,
)

__all__ = [
    "DETAIL_CHARACTERS",
    "QUOTE_CHARACTERS",
    "Carried",
    "DocumentRow",
    "EventRow",
    "LyingRows",
    "MapResult",
    "Origin",
    "Part",
    "ShardPaths",
    "check",
    "count_documents",
    "digests",
    "discard",
    "discard_leftovers",
    "document_row",
    "event_row",
    "identity",
    "kept_files",
    "listing",
    "names",
    "origins",
    "read",
    "read_claims",
    "read_documents",
    "read_events",
    "read_skipped",
    "rows_of",
    "write",
    "write_parts",
]
