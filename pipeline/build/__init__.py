"""What joins the rooms: raw pages to shards (the map step), shards to entries and database (the reduce step).

Plain functions without Prefect; `flows` gives them order and retries, `cli` calls them directly in `errmine build`.
"""

from pipeline.build.building import Places, build, export, joined_summary, publish
from pipeline.build.importing import import_files
from pipeline.build.mapping import Partition, map_partitions, plan
from pipeline.build.summary import StageCount, Summary, as_markdown

__all__ = [
    "Partition",
    "Places",
    "StageCount",
    "Summary",
    "as_markdown",
    "build",
    "export",
    "import_files",
    "joined_summary",
    "map_partitions",
    "plan",
    "publish",
]
