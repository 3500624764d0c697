"""The registry: every id that was ever published, in columns, of which nobody reads more than changed.

It is the one thing of a bundle that raw does not hold. So it is kept twice: as registry.json of each leaf, which the
manifest names, and beside the shards by the export that wrote it; the database has it as the last build left it. The
copy is named by the sha256 of the files that it is a copy of: where the bundle has these, no JSON is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline import export as bundle
from pipeline import store
from pipeline.records import kept, leaves
from pipeline.records.bundle import BUNDLE_VERSION, Named, Registry, named, parsed, registry_of
from pipeline.records.errors import ExportError, StoreError
from pipeline.records.exported import OF_NAMES, REGISTERED, RegistryColumns, names_in
from pipeline.records.kept import Damaged, KeptFile, KeptKind, Seen
from pipeline.records.leaves import Opened
from pipeline.run.build import keyed
from pipeline.run.build.keyed import Keyed
from pipeline.run.shards.columns import Table
from pipeline.store import reading

NAMES = Table(Named, shared=("state",))
#: Of the halves of a digest, which are added up.
_HALF = 64


class Registered(Keyed[Named]):
    """The names of a registry: ids of now and before, and former ids of clusters."""

    @classmethod
    def of(cls, registry: Registry | None = None) -> Registered:
        """What a record says, or nothing; of it nothing is kept."""
        return cls(NAMES, changed={one.name: one for one in named(registry)} if registry else {})

    def record(self, *, version: str = BUNDLE_VERSION) -> Registry:
        """All of it as a record."""
        return registry_of(self.every(), version=version)

    def columns(self, *, version: str) -> RegistryColumns:
        """All of it for an export."""
        return RegistryColumns(self.rows(REGISTERED.names), version)

    @property
    def digest(self) -> str:
        """What tells it from any other; the same however it came to be."""
        halves = self.rows(["low", "high"])
        sums = (int(keyed.numbers(halves[name]).view(np.uint64).sum(dtype=np.uint64)) for name in ("high", "low"))
        return "".join(f"{one:0{_HALF // 4}x}" for one in sums)

    @property
    def aliases(self) -> dict[str, str]:
        """Every former id with the id that it leads to, sorted."""
        return self._led(is_of_cluster=False)

    @property
    def cluster_aliases(self) -> dict[str, str]:
        """Every former id of a cluster with what it means now, sorted."""
        return self._led(is_of_cluster=True)

    def _led(self, *, is_of_cluster: bool) -> dict[str, str]:
        rows = self.rows(["name", "state", "leads_to"])
        is_own = pc.equal(rows["state"], "cluster")
        rows = rows.filter(pc.and_(is_own if is_of_cluster else pc.invert(is_own), pc.is_valid(rows["leads_to"])))
        return dict(sorted(zip(rows["name"].to_pylist(), rows["leads_to"].to_pylist(), strict=True)))

    def with_cluster_aliases(self, aliases: Mapping[str, str]) -> Registered:
        """The same, with these former ids of clusters and no others."""
        before = self.cluster_aliases
        changed = {old: Named.of(old, "cluster", new) for old, new in aliases.items() if before.get(old) != new}
        return self.with_those_of(changed, gone=before.keys() - aliases.keys())

    def with_medoids(self, column: str, values: Iterable[str], medoid: Callable[[Named], str | None]) -> Registered:
        """The same, with another representative of errors, where `medoid` knows one: asked of those that have one of
        some values in a column.
        """
        rows = self.rows(["name", column])
        asked = rows["name"].filter(pa.array(keyed.is_in(rows[column], values))).to_pylist()
        known = self.several(asked)
        found = ((known[name], medoid(known[name])) for name in asked)
        return self.with_those_of({was.name: _with_medoid(was, now) for was, now in found if now is not None})

    def is_of_entry(self, name: str) -> bool:
        """Whether an entry has, or had, this id."""
        was = self.get(name)
        return was is not None and was.state != "cluster" and (was.leads_to is not None or _is_id(was))

    # ------------------------------------------------------------ beside a table of names, as a database has it

    def of_names(self) -> pa.Table:
        """`OF_NAMES` of the names that are no clusters, in any order."""
        rows = self.rows(OF_NAMES.names)
        return rows.filter(pc.not_equal(rows["state"], "cluster"))

    def against(self, there: pa.Table) -> tuple[pa.Array, pa.Table]:
        """(the names of rows `there` that are to go, the rows that are to come): then it has its own."""
        own = self.of_names()
        of_own, of_there = (keyed.lines(one, OF_NAMES.names) for one in (own, there))
        gone = there["name"].filter(pa.array(~keyed.is_in(of_there, of_own)))
        return keyed.whole(gone), own.filter(pa.array(~keyed.is_in(of_own, of_there))).sort_by("name")

    def brought_to(self, there: pa.Table, cluster_aliases: Mapping[str, str]) -> Registered:
        """The same, so that `of_names` are the rows that are there, and these former ids of clusters."""
        own = self.of_names()
        of_own, of_there = (keyed.lines(one, OF_NAMES.names) for one in (own, there))
        come = names_in(there.filter(pa.array(~keyed.is_in(of_there, of_own))))
        gone = own["name"].filter(pa.array(~keyed.is_in(own["name"], there["name"]))).to_pylist()
        made = self.with_those_of({one.name: one for one in come}, gone=gone)
        return made.with_cluster_aliases(cluster_aliases)


def _with_medoid(was: Named, medoid: str) -> Named:
    return Named.of(was.name, was.state, was.leads_to, was.cluster_id, medoid, was.renamed_from, was.own_id)


def _is_id(was: Named) -> bool:
    """Whether the registry has it among its ids."""
    return was.state == "standing" or (was.state == "withdrawn" and was.cluster_id is not None)


# ---------------------------------------------------------------- the registry of the last bundle

_CURE = "`errmine build` restores it from a copy, or says what to do."
#: The folder of the columns of the copy, beside its list.
_COLUMNS = "published"


@dataclass(frozen=True, slots=True)
class Copy:
    """The registry of a bundle, as the export that wrote it left it beside the shards."""

    registry: Registered
    sums: str = ""  # of the files that it is a copy of; "" where an errmine of before wrote it
    version: str = BUNDLE_VERSION  # of these files
    forgotten: str = ""  # what had been forgotten
    files: Sequence[Mapping[str, Any]] = ()  # what its list says of its columns


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the registry of a home is kept."""

    curated: Path
    copy: Path  # by the last export: the list of its columns
    database: Path
    is_gone: Callable[[str], bool] | None  # of ids that went with a forgotten thread, and are to be nowhere
    forgotten: Path  # the folder that names what was forgotten

    @property
    def path(self) -> Path:
        """Of registry.json; a bundle of several leaves has one in each."""
        return self.curated / bundle.REGISTRY

    def published(self, seen: Seen | None = None) -> tuple[Registered, tuple[KeptFile, ...]]:
        """The ids published so far, none where there is no bundle yet; and what of the registry was restored for it.

        A file that `seen` knows as whole is not read.

        Raises:
            ExportError: what is there is not what was published, and no copy is.
        """
        try:
            listing = kept.Listing.of_bundle(self.curated)
        except Damaged as error:
            return self._without_manifest(error)
        paths = _paths(listing.sums)
        damaged: list[Damaged] = []
        for path in paths:
            try:
                listing.check(path, seen)
            except Damaged as error:
                damaged.append(error)
        if damaged:
            return self._restored(listing, damaged)
        own = self._own_copy(seen)
        if own is not None and own.sums == _sums(listing.sums):
            return own.registry, ()
        registry = self._parsed({path: listing.read(path) for path in paths})
        self._check_whole(registry, own)
        return registry, ()

    def look(self, seen: Seen) -> None:
        """Nothing; `seen` knows which of the files that `published` reads are whole."""
        with suppress(Damaged):
            listing = kept.Listing.of_bundle(self.curated)
            for path in _paths(listing.sums):
                with suppress(Damaged):
                    listing.check(path, seen)
        with suppress(ExportError):  # as above
            self._own_copy(seen)

    def successor(self, seen: Seen | None = None) -> Registered:
        """The registry of the database, which is to be published, as what it changes in that of the last bundle.

        Raises:
            ExportError: it lacks ids that were published: the database is older than the bundle that it would replace.
        """
        own = self._own_copy(seen)
        with store.held(self.database):
            there, aliases = reading.registry(self.database), dict(reading.cluster_aliases(self.database))
        made = (own.registry if own else Registered.of()).brought_to(there, aliases)
        published = [self._listed(own), *([_ids_of(own.registry)] if own else [])]
        if lost := self._lost(pa.concat_arrays(published), made):
            raise ExportError(
                f"{self.database} does not know {len(lost):,} ids that were published, such as {', '.join(lost[:3])}",
                path=self.database,
                hint="It is older than the bundle: run `errmine build`, then `errmine export`.",
            )
        return made

    def keep(self, registry: Registered) -> None:
        """Nothing; the copy is that of the bundle that was just written, whose registry this is.

        Raises:
            ExportError: the disk refuses.
        """
        folder, forgotten, own = self.copy.parent, self._forgotten(), self._own_copy()
        known = {str(told["path"]): dict(told) for told in own.files} if own else {}
        is_purged = own is None or own.forgotten != forgotten
        try:
            listed = registry.write(folder, _COLUMNS, known, is_purged=is_purged)
            sums = _sums(kept.Listing.of_bundle(self.curated).sums)
            told = {"files": listed, "sums": sums, "version": BUNDLE_VERSION, "forgotten": forgotten}
            kept.write(self.copy, kept.sealed_json(told))
            for path in (folder / _COLUMNS).glob("*"):
                if f"{_COLUMNS}/{path.name}" not in {one["path"] for one in listed}:
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise ExportError(f"cannot write {self.copy}: {error.strerror or error}", path=self.copy) from error

    def kept_files(self) -> Iterator[KeptFile]:
        """The files of the copy, with what a look at them says; registry.json is among the files of the bundle."""
        cure = "`errmine export` makes it anew."
        with suppress(Damaged):
            if _TEXT in kept.unsealed_json(self.copy):
                yield KeptFile(self.copy, KeptKind.REGISTRY, kept.Verdict.OK, cure)
                return
        yield from kept.looked_at(self.copy.parent, self.copy.name, KeptKind.REGISTRY, cure)

    def _forgotten(self) -> str:
        """A digest of what was forgotten."""
        names = sorted(path.name for path in self.forgotten.glob("*"))
        return kept.sha256("\n".join(names).encode()) if names else ""

    def _restored(self, listing: kept.Listing, damaged: Sequence[Damaged]) -> tuple[Registered, tuple[KeptFile, ...]]:
        """The registry of the copy that the list means, with the files that were written anew of it."""
        prefixes = leaves.prefixes(listing.sums) or [""]
        for copy in self._copies():
            bodies = _files(copy, prefixes)
            if all(kept.sha256(body) == listing.sums.get(path) for path, body in bodies.items()):
                for path in (str(one.path.relative_to(self.curated)) for one in damaged):
                    kept.write(self.curated / path, bodies[path])
                return copy.registry, tuple(
                    KeptFile(one.path, KeptKind.REGISTRY, one.verdict, _CURE) for one in damaged
                )
        raise self._refused(str(damaged[0]), damaged[0].path) from damaged[0]

    def _without_manifest(self, missing: Damaged) -> tuple[Registered, tuple[KeptFile, ...]]:
        """The manifest is missing or damaged: what it would say, the copies have to."""
        copies = list(self._copies())
        manifest = KeptFile(missing.path, KeptKind.BUNDLE, missing.verdict, "`errmine export` makes the bundle anew.")
        there = [self.path, *sorted(self.curated.glob(leaves.path("*", bundle.REGISTRY)))]
        bodies = {str(path.relative_to(self.curated)): path.read_bytes() for path in there if path.is_file()}
        if not bodies:
            own = self._own_copy()
            if own is None and missing.verdict == kept.Verdict.MISSING:
                return Registered.of(), ()  # nothing was ever exported here
            if (found := own or next(iter(copies), None)) is None:
                raise self._refused("it is missing, and the manifest is damaged")
            return found.registry, (manifest, KeptFile(self.path, KeptKind.REGISTRY, kept.Verdict.MISSING, _CURE))
        prefixes = leaves.prefixes(bodies)
        is_known = any(_files(copy, prefixes) == bodies for copy in copies)
        if not is_known and (copies or missing.verdict == kept.Verdict.DAMAGED):
            raise self._refused("no manifest says what it has to be, and no copy is the same")
        return self._parsed(bodies), (manifest,)

    def _check_whole(self, registry: Registered, own: Copy | None) -> None:
        """Nothing, or an error: a bundle took the place of the last one that knows less than it did."""
        if own is not None and (lost := self._lost(_ids_of(own.registry), registry)):
            raise ExportError(
                f"{self.path} does not know {len(lost):,} ids that this home published, such as {', '.join(lost[:3])}",
                path=self.path,
                hint=f"`errmine export` puts the newer bundle back; to go on from this one, delete {self.copy}.",
            )

    def _lost(self, published: pa.Array, registry: Registered) -> list[str]:
        """Of ids that were published those that a registry lacks, sorted."""
        lost = published.filter(pa.array(~keyed.is_in(published, _ids_of(registry)))).unique().to_pylist()
        return sorted(name for name in lost if not (self.is_gone and self.is_gone(name)))

    def _copies(self) -> Iterator[Copy]:
        """What the registry was, or is to be, as far as copies tell."""
        if own := self._own_copy():
            yield own
        with suppress(StoreError, ValueError), store.held(self.database):
            there, aliases = reading.registry(self.database), dict(reading.cluster_aliases(self.database))
            version = reading.registry_version(self.database)
            yield Copy(Registered.of().brought_to(there, aliases), version=version)

    def _own_copy(self, seen: Seen | None = None) -> Copy | None:
        """The copy, or None where it is not what was written; a file that `seen` knows as whole is not read."""
        try:
            told = kept.unsealed_json(self.copy)
            if _TEXT in told:
                record = parsed(str(told[_TEXT]), Registry)
                return Copy(Registered.of(record), version=record.schema_version)
        except Damaged:
            return None
        except ValueError as error:
            raise self._refused(str(error)) from error
        try:
            listing = kept.Listing.of(self.copy.parent, self.copy.name)
            segments = []
            for name in listing.sums:
                listing.check(name, seen)
                table = keyed.opened(listing.folder / name, Keyed.schema(NAMES))
                segments.append(keyed.Segment(name, table))
            sums, version, forgotten = (str(told[name]) for name in ("sums", "version", "forgotten"))
            return Copy(Registered(NAMES, segments), sums, version, forgotten, told["files"])
        except (Damaged, OSError, KeyError, ValueError, pa.ArrowException):
            return None

    def _listed(self, own: Copy | None) -> pa.Array:
        """The ids of the entries that the bundle has, as far as it can be read; none where it is that of the copy."""
        try:
            opened = Opened.of(self.curated)
            is_own = own is not None and own.sums == _sums(opened.listing.sums)
            return pa.array([] if is_own else sorted(opened.published()), pa.string())
        except (Damaged, ValueError, KeyError, TypeError):
            return pa.array([], pa.string())

    def _parsed(self, bodies: Mapping[str, bytes]) -> Registered:
        return Registered.of(bundle.registry_of((self.curated / path, body) for path, body in bodies.items()))

    def _refused(self, reason: str, path: Path | None = None) -> ExportError:
        return ExportError(
            f"cannot read {path or self.path}: {reason}",
            path=path or self.path,
            hint="`errmine export` makes the bundle anew from the database; else restore it from a backup.",
        )


#: Where the copy of an errmine of before has its text.
_TEXT = "registry"


def _paths(sums: Mapping[str, str]) -> list[str]:
    """The files in which a bundle has its registry."""
    return [leaves.path(prefix, bundle.REGISTRY) for prefix in leaves.prefixes(sums) or [""]]


def _sums(sums: Mapping[str, str]) -> str:
    """What tells the registry that a bundle has from any other: of paths and sums of its files."""
    return kept.sha256("".join(f"{path}\0{sums.get(path)}\n" for path in _paths(sums)).encode())


def _files(copy: Copy, prefixes: Sequence[str]) -> dict[str, bytes]:
    """Path -> bytes of the files in which a bundle of these leaves has a registry."""
    texts = bundle.registry_texts(copy.registry.record(version=copy.version), prefixes)
    return {leaves.path(prefix, bundle.REGISTRY): text.encode() for prefix, text in texts.items()}


def _ids_of(registry: Registered) -> pa.Array:
    """All names but those of clusters."""
    return keyed.whole(registry.of_names()["name"])
