"""What joins the rooms: raw pages to shards (the map step), shards to entries and database (the reduce step).

Plain functions without Prefect; `flows` gives them order and retries, `cli` calls them directly in `errmine build`.
"""

from pipeline.build.building import Places, build, export, joined_summary, publish
from pipeline.build.importing import Fetched, forget, import_files, ingest_github, plan_github
from pipeline.build.ingesting_docs import ingest_docs
from pipeline.build.mapping import Partition, map_partitions, plan
from pipeline.build.summary import StageCount, Summary, as_markdown

__all__ = [
    "Fetched",
    "Partition",
    "Places",
    "StageCount",
    "Summary",
    "as_markdown",
    "build",
    "export",
    "forget",
    "import_files",
    "ingest_docs",
    "ingest_github",
    "joined_summary",
    "map_partitions",
    "plan",
    "plan_github",
    "publish",
]
