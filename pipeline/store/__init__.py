"""The store: one DuckDB file for people who write SQL.

`write` makes a new file beside the old one and renames it into place, so that a reader sees the old content or the
new one, never half; `bring` does so with a copy of the old file into which it puts what changed. The file is a product:
whatever it holds can be made again from the shards, so the migration from an older schema is a rebuild (`versions` has
the steps); a file of a newer schema is refused. `query` opens it read-only, with no way to files, network or
extensions.

DuckDB does not promise equal bytes for equal content; `digest` gives one sha256 over all tables in order instead, and
that is what a second build must reproduce. The table `runs` holds wall-clock times and is left out.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.store.contents import Contents, Holding, JournalRow, OverrideRow, RunRow, StageCount, WithheldRow
    from pipeline.store.digesting import digest, digests, table_counts
    from pipeline.store.engine import check_replaceable, of_ours, sign
    from pipeline.store.noted import Digests, Told
    from pipeline.store.opening import SCHEMA_VERSION, VERSIONS, check, held, lasting, meta, read_only
    from pipeline.store.querying import Answer, Limits, QueryResult, asked, query
    from pipeline.store.rendering import FORMS, rendered, shown_rows, writer
    from pipeline.store.replacing import add_runs, bring, copied_meanwhile
    from pipeline.store.writing import write

#: Where the names are, which are imported when somebody asks for them: most commands need few of the libraries.
_PLACES = {
    "contents": (
        "Contents",
        "Holding",
        "JournalRow",
        "OverrideRow",
        "RunRow",
        "StageCount",
        "WithheldRow",
    ),
    "digesting": (
        "digest",
        "digests",
        "table_counts",
    ),
    "engine": (
        "check_replaceable",
        "of_ours",
        "sign",
    ),
    "noted": (
        "Digests",
        "Told",
    ),
    "opening": (
        "SCHEMA_VERSION",
        "VERSIONS",
        "check",
        "held",
        "lasting",
        "meta",
        "read_only",
    ),
    "querying": (
        "Answer",
        "Limits",
        "QueryResult",
        "asked",
        "query",
    ),
    "rendering": (
        "FORMS",
        "rendered",
        "shown_rows",
        "writer",
    ),
    "replacing": (
        "add_runs",
        "bring",
        "copied_meanwhile",
    ),
    "writing": ("write",),
}
_PLACE_OF = {name: f"pipeline.store.{place}" for place, names in _PLACES.items() for name in names}

__all__ = [
    "FORMS",
    "SCHEMA_VERSION",
    "VERSIONS",
    "Answer",
    "Contents",
    "Digests",
    "Holding",
    "JournalRow",
    "Limits",
    "OverrideRow",
    "QueryResult",
    "RunRow",
    "StageCount",
    "Told",
    "WithheldRow",
    "add_runs",
    "asked",
    "bring",
    "check",
    "check_replaceable",
    "copied_meanwhile",
    "digest",
    "digests",
    "held",
    "lasting",
    "meta",
    "of_ours",
    "query",
    "read_only",
    "rendered",
    "shown_rows",
    "sign",
    "table_counts",
    "write",
    "writer",
]


def __getattr__(name: str) -> Any:
    """A name of this package, imported now."""
    if name not in _PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_PLACE_OF[name]), name)
    return found
