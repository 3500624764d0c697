"""What joins the rooms: raw pages to shards (the map step), shards to entries and database (the reduce step).

Plain functions without Prefect; `flows` gives them order and retries, `cli` calls them directly in `errmine build`.
"""

from pipeline.records.summary import Fetched, StageCount, Summary, from_dict, joined_summary, status_of
from pipeline.run.build.building import (
    Places,
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
