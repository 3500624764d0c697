"""The versions of the tables, oldest first: every change of them is a step, with a number and a sentence.

A minor step only adds tables and columns, so that this errmine reads the files of every earlier version of its major
number; a major step may change what is there. No step alters a file in place: `errmine build` makes the new file from
raw, and carries over what raw does not hold: the journal, from the old file; published ids and their aliases, from the
bundle's registry; the runs, from the home's own record of them. A file of a later version is neither read nor replaced.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """A step: what it is called, and what it changed."""

    version: str
    changed: str


VERSIONS = (
    Version("1.0", "The first"),
    Version("1.1", "Added catalogue, withheld, cluster_aliases, overrides and journal.run_id"),
    Version("1.2", "Added schema_versions, glossary, search_terms and search_sizes"),
)
#: The version that is written.
SCHEMA_VERSION = VERSIONS[-1].version
