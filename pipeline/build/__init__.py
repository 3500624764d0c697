"""What joins the rooms: raw pages to shards (the map step), shards to entries and database (the reduce step).

Plain functions without Prefect; `flows` gives them order and retries, `cli` calls them directly in `errmine build`.
"""

from pipeline.build.building import Places, build, export, extract, joined_summary, limits, publish
from pipeline.build.comparing import Relation, relation
from pipeline.build.importing import Fetched, forget, import_files, ingest_github, plan_github, status_of
from pipeline.build.ingesting_docs import ingest_catalogues, ingest_docs
from pipeline.build.mapping import Partition, batches, code_digest, map_partitions, plan
from pipeline.build.notifying import notify
from pipeline.build.reconciling import reconcile
from pipeline.build.recording import Record, recorded, status
from pipeline.build.regrouping import Regrouping, foreseen
from pipeline.build.report import as_markdown, source_rows
from pipeline.build.summary import StageCount, Summary, from_dict

__all__ = [
    "Fetched",
    "Partition",
    "Places",
    "Record",
    "Regrouping",
    "Relation",
    "StageCount",
    "Summary",
    "as_markdown",
    "batches",
    "build",
    "code_digest",
    "export",
    "extract",
    "foreseen",
    "forget",
    "from_dict",
    "import_files",
    "ingest_catalogues",
    "ingest_docs",
    "ingest_github",
    "joined_summary",
    "limits",
    "map_partitions",
    "notify",
    "plan",
    "plan_github",
    "publish",
    "reconcile",
    "recorded",
    "relation",
    "source_rows",
    "status",
    "status_of",
]
