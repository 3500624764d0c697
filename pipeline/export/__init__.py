r"""Export: the bundle in curated/, byte for byte reproducible, whole or not at all.

::

    curated/
      manifest.json               what is here: versions, counts, leaves, sha256 of every file; written last
      index.json                  enough of every entry to match and list
      registry.json               every id ever published, former ids
      entries.jsonl               all entries, one a line, sorted by id
      entries.parquet             the same for SQL and data frames
      entries/<domain>/<slug>.json
      schemas/                    JSON Schemas of all these
      llms.txt                    what a program that reads for somebody should know
      errmine.duckdb              not part of the bundle; carried over

That is one whose entries' lines fit a megabyte. Of a larger one entries, index and registry stand in
`leaves/<prefix>/`, each with what hashes to it (`records.leaves`); pages of entries it has if that is asked for.

A new bundle is made in a sibling folder, flushed to disk, and exchanged with the old folder in one system call; where
the file system cannot do that, files are moved one by one with the manifest taken away first and put back last.
Equal entries give equal bytes: keys and ids sorted, UTF-8, `\n`, no clock.
"""

from pipeline.export.content import Facts
from pipeline.export.content import registries as registry_texts
from pipeline.export.content import registry as registry_text
from pipeline.export.delta import Before, apply, delta, delta_since, read_delta, write_delta
from pipeline.export.forms import FORMS, write_form
from pipeline.export.passed import Passed
from pipeline.export.reading import (
    REGISTRY,
    entries_by_leaf,
    read_entries,
    read_index,
    read_manifest,
    read_registry,
    registry_of,
)
from pipeline.export.writing import Written, write, write_rows

__all__ = [
    "FORMS",
    "REGISTRY",
    "Before",
    "Facts",
    "Passed",
    "Written",
    "apply",
    "delta",
    "delta_since",
    "entries_by_leaf",
    "read_delta",
    "read_entries",
    "read_index",
    "read_manifest",
    "read_registry",
    "registry_of",
    "registry_text",
    "registry_texts",
    "write",
    "write_delta",
    "write_form",
    "write_rows",
]
