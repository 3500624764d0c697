"""The Python API: a bundle opened, asked and read; docs/python.md shows it.

::

    bundle = pipeline.open_bundle("curated")
    bundle.match(log)             the entry of an error text, or why there is none
    bundle.findings(log)          every error of a log, most telling first
    bundle.search("显存不足")      entries by words of either language
    bundle.entry("triton/…")      one entry, with its evidence
    bundle.digest("triton/…")     what people want first of it: what helped, who said so
    bundle.top(unanswered=True)   what is reported most
    bundle.connect()              the database, read-only, for SQL

Whatever is refused raises a :class:`pipeline.PipelineError`; its `hint()` says what to do.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.records import kept
from pipeline.records.errors import ConfigError, ExportError, PipelineError
from pipeline.records.leaves import Opened, is_remote

if TYPE_CHECKING:
    import duckdb

    from pipeline.ask import Answer, Digest, Findings, Matcher
    from pipeline.records import Cluster
    from pipeline.records.bundle import Manifest, Registry
    from pipeline.records.entry import KnowledgeEntry

__all__ = ["Bundle", "Hit", "PipelineError", "open_bundle"]

DATABASE = "errmine.duckdb"
_CURATED = "curated"


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that a search found."""

    entry_id: str
    score: float  # BM25; comparable within one search
    signature: str
    signature_zh: str | None
    domain: str
    verification_tier: str
    evidence_count: int  # documents
    found: tuple[str, ...]  # terms of the question that it has, the rarest first


def open_bundle(
    folder: str | os.PathLike[str] = _CURATED, *, packs: Sequence[str | os.PathLike[str]] | None = None
) -> Bundle:
    """The bundle in `folder`, or in `curated/` of it: a home will do. Nothing but the manifest is read yet.

    `folder` may be the address of an object store, "s3://bucket/prefix": docs/python.md.

    `packs` are folders of packs to read texts with, as `[fields] packs` names them; they hold for the whole process.

    Raises:
        ExportError: there is no bundle, or its manifest is not what was written.
        PackError: a folder is no pack.
    """
    if packs is not None:
        from pipeline.packs import activate

        activate([one if isinstance(one, str) else Path(one) for one in packs])
    if is_remote(folder):
        from pipeline.export import remote

        return Bundle(remote.local(folder))
    named = Path(folder)
    place = next((one for one in (named, named / _CURATED) if (one / kept.MANIFEST).is_file()), None)
    if place is None:
        hint = "Name the folder of a bundle, the one with manifest.json, or a home; `errmine run` makes one."
        raise ExportError(f"there is no bundle in {named}", path=named, hint=hint)
    return Bundle(place)


class Bundle:
    """A bundle, as it was when it was opened. Each part is read when it is first asked for, and checked by its sha256.

    May be asked by several threads once one of them has had its first answer of each kind.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opened = self._listed()
        self._listing = self._opened.listing

    def __repr__(self) -> str:
        return f"<bundle {self.folder}: {self.manifest.counts.get('entries', 0):,} entries>"

    @cached_property
    def manifest(self) -> Manifest:
        """What is in it: versions, counts, sources, and the sha256 of every file."""
        from pipeline.export import reading

        return reading.read_manifest(self.folder)

    def match(self, text: str) -> Answer:
        """The entry of the error that a text or a whole log shows; `entry_id` is None, with a reason, if none fits."""
        return self._matcher.match(text)

    def findings(self, text: str) -> Findings:
        """Every error that a text or a log shows, once, most telling first, each with its entry or why it has none."""
        return self._matcher.findings(text)

    def entry(self, wanted: str) -> KnowledgeEntry | None:
        """The entry of an id, of a former one, or of a cluster's id; None if there is none."""
        found = self._line(wanted)
        if found is None and (name := self._registered(wanted)):
            wanted, found = name, self._line(name)
        if found is None:
            return None
        from pipeline.export import reading

        return reading.entries_of(self.folder / self._opened.path_of(wanted), [found])[0]

    def digest(self, wanted: str) -> Digest | None:
        """What people want first of an entry: what helped before what nobody confirmed, who said so, and where."""
        from pipeline.ask import digest

        found = self.entry(wanted)
        return digest(found.model_dump(mode="json")) if found else None

    def entries(self) -> Iterator[KnowledgeEntry]:
        """Every entry, by id within a leaf. 6,500 take two seconds; for questions over all of them SQL is quicker."""
        from pipeline.export import reading

        for own in reading.entries_by_leaf(self.folder):
            yield from own

    def search(self, words: str, *, limit: int = 10) -> list[Hit]:
        """At most `limit` entries that have some of `words`, in English or Chinese, best first.

        Asks the database beside the bundle. Where there is none, one is made of the entries in a temporary folder,
        once for this object: 6,500 entries take six seconds, and titles of threads are not searched.

        Raises:
            StoreError: the database is of another version, or cannot be read.
        """
        from pipeline.store import reading

        _check_limit(limit)
        path = self.database if self.database.is_file() else self._searched
        return [Hit(**{**row, "found": tuple(row["found"])}) for row in reading.search(path, words, limit=limit)]

    def top(self, *, domain: str = "", unanswered: bool = False, limit: int = 10) -> list[KnowledgeEntry]:
        """The entries that most documents report, first, in the order of `errmine top`.

        Of one domain, or only those that have no answer yet; none that a page describes and nobody reported.
        """
        _check_limit(limit)
        rows = [
            row
            for row in self._index["entries"]
            if row["occurrence_count"] and domain in ("", row["domain"]) and not (unanswered and row.get("answered"))
        ]
        rows.sort(key=lambda row: (-row["evidence_count"], -row["occurrence_count"], row["id"]))
        return [entry for row in rows[:limit] if (entry := self.entry(row["id"])) is not None]

    def explain(self, subject: str) -> dict[str, Any] | None:
        """Why occurrences stand together and look-alikes do not; `subject` is an entry, cluster, signature or event.

        Keys: cluster_id, entry_id, text, gate, regex, lowest_score, event_count, document_count, templates, apart and
        events. None if nothing is called so.

        Raises:
            StoreError: there is no database beside the bundle, or it cannot be read.
        """
        from pipeline.store import reading

        return reading.explanation(self.database, subject)

    def schemas(self) -> dict[str, str]:
        """Name, as "entry-1.0", -> text of the JSON Schemas that the bundle has of its files; none in one of before."""
        names = [name for name in self._listing.sums if name.startswith("schemas/")]
        return {name[len("schemas/") : -len(".json")]: self._read(name).decode() for name in sorted(names)}

    def llms(self) -> str:
        """What a program that reads for somebody should know of the bundle; "" in one of before."""
        return self._read("llms.txt").decode() if "llms.txt" in self._listing.sums else ""

    def connect(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """A read-only connection to the database beside the bundle, that reaches no other file and no network.

        Raises:
            StoreError: on entering: there is none, or it cannot be read.
        """
        from pipeline import store

        return store.read_only(self.database)

    @property
    def database(self) -> Path:
        """Where the database stands; a bundle that was fetched alone has none."""
        return self.folder / DATABASE

    @cached_property
    def _matcher(self) -> Matcher:
        from pipeline.ask import Matcher

        return Matcher(self.folder, self._index)

    @cached_property
    def _index(self) -> dict[str, Any]:
        try:
            return self._opened.index()
        except kept.Damaged as error:
            raise _unreadable(error.path, error) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _unreadable(self.folder / "index.json", error) from error

    @cached_property
    def _registry(self) -> Registry:
        from pipeline.export import reading

        paths = self._opened.paths("registry.json")
        return reading.registry_of((self.folder / path, self._read(path)) for path in paths)

    @cached_property
    def _searched(self) -> Path:
        """A database of the entries alone; it is gone with this object."""
        folder = tempfile.mkdtemp(prefix="errmine-search-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return self.make_database(Path(folder) / DATABASE)

    def make_database(self, path: Path) -> Path:
        """`path`, now a database of the entries and the index: no documents, no events, no signatures.

        Raises:
            StoreError: it cannot be written.
        """
        from pipeline import store

        contents = store.Contents(
            entries=tuple(self.entries()),
            clusters=tuple(filter(None, map(_cluster, self._index["entries"]))),
            aliases=self._registry.aliases,
            cluster_aliases=self._registry.cluster_aliases,
            meta={"made_of": f"bundle {self.manifest.bundle_id}"},
        )
        return store.write(path, contents)

    def _line(self, entry_id: str) -> bytes | None:
        """The JSON of an entry; a name that the manifest or the lines of a leaf have not leads nowhere."""
        try:
            return self._opened.entry(entry_id)
        except kept.Damaged as error:
            raise _unreadable(error.path, error) from error

    def _registered(self, wanted: str) -> str | None:
        """The id of today of a former id or of a cluster's id."""
        former = self._registry.aliases.get(wanted)
        if former is not None and self._line(former) is not None:
            return former
        cluster = self._registry.cluster_aliases.get(wanted, wanted)
        named = (name for name, one in self._registry.ids.items() if one.cluster_id == cluster)
        return next((name for name in named if self._line(name) is not None), None)

    def _read(self, name: str) -> bytes:
        try:
            return self._listing.read(name)
        except kept.Damaged as error:
            raise _unreadable(error.path, error) from error

    def _listed(self) -> Opened:
        try:
            return Opened.of(self.folder)
        except kept.Damaged as error:
            raise _unreadable(error.path, error) from error


def _cluster(row: dict[str, Any]) -> Cluster | None:
    """The cluster of an entry, as the index tells of it; None where it has none."""
    from pipeline.records import Cluster

    if not row["cluster_id"] or not row["medoid"]:
        return None
    own = next((one for one in row["templates"] if one["signature_id"] == row["medoid"]), None)
    return Cluster(
        row["cluster_id"],
        row["medoid"],
        row["exception_type"] or "",
        own["text"] if own else row["signature"],
        gate=tuple((name, value) for name, value in own["gate"]) if own else (),
        members=tuple(one["signature_id"] for one in row["templates"]),
        regex=row["regex"] or "",
        lowest_score=row["lowest_score"] or 0.0,
    )


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise ConfigError(f"limit is {limit}", hint="Ask for one entry or more.")


def _unreadable(path: Path, reason: Exception) -> ExportError:
    hint = "Open the bundle again if it was exported anew meanwhile; else `errmine export`, or fetch it once more."
    return ExportError(f"cannot read {path}: {reason}", path=path, hint=hint)
