"""What joins the rooms: raw pages to shards (the map step), shards to entries and database (the reduce step).

Plain functions without Prefect; `flows` gives them order and retries, `cli` calls them directly in `errmine build`.
Whoever asks whether anything came since the last build imports nothing of what makes one, which takes longer.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipeline.run.build.places import Places

if TYPE_CHECKING:
    from pipeline.records.summary import Fetched, StageCount, Summary, from_dict, joined_summary, status_of
    from pipeline.run.build.building import (
        build,
        clear,
        extract,
        lay_out,
        limits,
        planned,
        publish,
        with_notes,
    )
    from pipeline.run.build.current import is_built, is_exported, note_built, note_exported, unchanged
    from pipeline.run.build.exporting import export
    from pipeline.run.build.mapping import Partition, code_digest, map_partitions
    from pipeline.run.build.planning import plan
    from pipeline.run.build.regrouping import Regrouping, foreseen
    from pipeline.run.build.verifying import verified
    from pipeline.run.check.damage import repair
    from pipeline.run.check.reconciling import DAMAGED, reconcile
    from pipeline.run.home.recording import Record, recorded, status
    from pipeline.run.home.report import as_markdown, source_rows
    from pipeline.run.ingest.importing import forget, import_files
    from pipeline.run.prefect.notifying import notify
else:

    def build(*args: Any, **kwargs: Any) -> Any:  # the folder of that name is an attribute as well
        """See `building.build`."""
        return import_module("pipeline.run.build.building").build(*args, **kwargs)


#: Where the names are that are imported when somebody asks for them.
_PLACES = {
    "records.summary": ("Fetched", "StageCount", "Summary", "from_dict", "joined_summary", "status_of"),
    "run.build.building": ("clear", "extract", "lay_out", "limits", "planned", "publish", "with_notes"),
    "run.build.current": ("is_built", "is_exported", "note_built", "note_exported", "unchanged"),
    "run.build.exporting": ("export",),
    "run.build.mapping": ("Partition", "code_digest", "map_partitions"),
    "run.build.planning": ("plan",),
    "run.build.regrouping": ("Regrouping", "foreseen"),
    "run.build.verifying": ("verified",),
    "run.check.damage": ("repair",),
    "run.check.reconciling": ("DAMAGED", "reconcile"),
    "run.home.recording": ("Record", "recorded", "status"),
    "run.home.report": ("as_markdown", "source_rows"),
    "run.ingest.importing": ("forget", "import_files"),
    "run.prefect.notifying": ("notify",),
}
_PLACE_OF = {name: f"pipeline.{place}" for place, names in _PLACES.items() for name in names}

__all__ = [
    "DAMAGED",
    "Fetched",
    "Partition",
    "Places",
    "Record",
    "Regrouping",
    "StageCount",
    "Summary",
    "as_markdown",
    "build",
    "clear",
    "code_digest",
    "export",
    "extract",
    "foreseen",
    "forget",
    "from_dict",
    "import_files",
    "is_built",
    "is_exported",
    "joined_summary",
    "lay_out",
    "limits",
    "map_partitions",
    "note_built",
    "note_exported",
    "notify",
    "plan",
    "planned",
    "publish",
    "reconcile",
    "recorded",
    "repair",
    "source_rows",
    "status",
    "status_of",
    "unchanged",
    "verified",
    "with_notes",
]


def __getattr__(name: str) -> Any:
    """A name of this package, imported now."""
    if name not in _PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACE_OF[name]), name)
