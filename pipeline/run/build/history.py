"""What the build before this one left: its journal, its clusters, its events.

The journal has two places, the database and a file of its own (`.errmine/journal.jsonl`, chained lines), because it can
be made anew from nothing: what one loses the other has. A line of the file is one of::

    {"rows": [[action, subject, other, detail, run], ...]}      notes, as the table `journal` has them
    {"keep": 7}                                                 all but the first seven are taken back
    {"base": 5, "registry": "<sha256>"}                         see `Journal`
    {"built": 9}                                                the database that has these nine is in its place

Events whose words are the same and whose signature is another were read anew: by another normaliser. They carry over
who was who.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline import store
from pipeline.lexicon.repositories import current_key
from pipeline.records import chained
from pipeline.records.bundle import Published, Registry
from pipeline.records.errors import ConfigError, StoreError
from pipeline.run.build import keyed
from pipeline.run.home import forgetting
from pipeline.store import reading

if TYPE_CHECKING:
    from pipeline.run.build.rows import Rows

#: Subjects of the journal that are clusters; the others are entries.
_CLUSTER = "cluster:"
#: Notes on one line of the journal's file: damage to a line costs no more than these.
_ROWS_A_LINE = 64


@dataclass(frozen=True, slots=True)
class Journal:
    """The notes so far, and which of them are not published yet.

    Ids of entries count as given when the bundle is exported. The notes on entries of a build that never was exported
    are therefore dropped by the next build, which makes them again: a build that was killed or repeated leaves no
    trace. What happened to clusters stays.
    """

    rows: tuple[store.JournalRow, ...] = ()
    base: int = 0  # the notes before those of the last build that made any
    before: str = ""  # digest of the registry that this build started from

    def continued(
        self,
        notes: Sequence[store.JournalRow],
        registry: Registry,
        *,
        about_clusters: Sequence[store.JournalRow] = (),
        run_id: str = "",
    ) -> Journal:
        """The journal with the notes of a build that started from `registry`, under the name of its run."""
        notes, about_clusters = (
            [replace(row, run_id=run_id or None) for row in rows] for rows in (notes, about_clusters)
        )
        now = hashlib.sha256(registry.model_dump_json().encode()).hexdigest()
        rows, base = self.rows, len(self.rows)
        if self.before == now:
            base = self.base
            rows = (*rows[:base], *(row for row in rows[base:] if row.subject_id.startswith(_CLUSTER)))
        if not notes:
            return Journal((*rows, *about_clusters), self.base, self.before)
        return Journal((*rows, *about_clusters, *notes), base, now)

    def meta(self) -> dict[str, str]:
        """For the table `meta`, from which `journal_of` reads it back."""
        return {"journal_base": str(self.base), "journal_registry": self.before}


def journal_of(rows: tuple[store.JournalRow, ...], meta: Mapping[str, str]) -> Journal:
    """The journal that a database holds."""
    return Journal(rows, int(meta.get("journal_base", len(rows))), meta.get("journal_registry", ""))


@dataclass(frozen=True, slots=True)
class JournalFile:
    """What the journal's own file says."""

    path: Path
    built: Journal = Journal()  # of the last database that took its place
    noted: Journal = Journal()  # with the notes of a build that may have been killed before its database did
    broken: tuple[str, ...] = ()

    @classmethod
    def read(cls, home: Path) -> JournalFile:
        """The journal's file of `home`; of damaged lines there are only the notes on the others.

        Raises:
            StoreError: the file is there and cannot be read.
        """
        path = home / ".errmine" / "journal.jsonl"
        try:
            chain = chained.read(path)
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error.strerror}", path=path) from error
        last = max((place for place, line in enumerate(chain.rows, 1) if "built" in line), default=0)
        built = _replayed(Journal(), chain.rows[:last])
        return cls(path, built, _replayed(built, chain.rows[last:]), chain.broken)

    def note(self, journal: Journal) -> None:
        """Nothing; the file says what `journal` says. Before the database takes its place: see `settle`.

        Raises:
            StoreError: the disk does not take it.
        """
        if self.broken:
            self._put_aside()
        before = Journal() if self.broken else self.noted
        shared = _shared(before.rows, journal.rows)
        lines: list[dict[str, Any]] = [{"keep": shared}] if shared < len(before.rows) else []
        cells = [astuple(row) for row in journal.rows[shared:]]
        lines += [{"rows": cells[start : start + _ROWS_A_LINE]} for start in range(0, len(cells), _ROWS_A_LINE)]
        if (journal.base, journal.before) != (before.base, before.before):
            lines.append({"base": journal.base, "registry": journal.before})
        self._add(lines)

    def settle(self, journal: Journal) -> None:
        """Nothing; the database that has the rows of `journal` is in its place."""
        if self.broken or journal != self.built or self.built != self.noted:
            self._add([{"built": len(journal.rows)}])

    def _add(self, lines: Sequence[Mapping[str, Any]]) -> None:
        if not lines:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            chained.extend(self.path, lines)
        except OSError as error:
            hint = "Check free space and rights of the folder, then run `errmine build` again."
            raise StoreError(f"cannot write {self.path}: {error.strerror}", path=self.path, hint=hint) from error

    def _put_aside(self) -> None:
        try:
            self.path.replace(self.path.with_name(f"{self.path.name}.damaged"))
        except OSError as error:
            raise StoreError(f"cannot move {self.path}: {error.strerror}", path=self.path) from error


def _replayed(journal: Journal, lines: Iterable[Mapping[str, Any]]) -> Journal:
    """`journal` after the lines of its file."""
    rows, base, before = list(journal.rows), journal.base, journal.before
    for line in lines:
        rows = rows[: line.get("keep", len(rows))]
        rows += [store.JournalRow.of(cells) for cells in line.get("rows", ())]
        base, before = line.get("base", base), line.get("registry", before)
    return Journal(tuple(rows), base, before)


def _shared(one: Sequence[store.JournalRow], other: Sequence[store.JournalRow]) -> int:
    """How many rows two journals have in common from the beginning."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (row, same) in enumerate(pairs) if row != same), min(len(one), len(other)))


@dataclass(frozen=True, slots=True)
class LastBuild:
    """What the build before this one left."""

    journal: Journal = Journal()
    assigned: pa.Table = field(default_factory=reading.ASSIGNED.empty_table)  # the cluster of each signature
    counted: pa.Table = field(default_factory=reading.EVENT_COUNTS.empty_table)  # the errors of each cluster
    overrides: tuple[store.OverrideRow, ...] = ()
    cluster_aliases: tuple[tuple[str, str], ...] = ()
    normaliser: str = ""
    is_in_step: bool = True  # False: the database is not that of the last build, and the journal may tell more than it
    warnings: tuple[str, ...] = ()
    is_foreign: bool = False  # the database is another home's
    file: JournalFile = JournalFile(Path())

    def followed(self, registry: Registry) -> Registry:
        """`registry` with the errors that its ids name as the last build called them, where that was not exported.

        A build that read events anew knows what the clusters of the bundle became; who follows it knows its clusters.
        """
        aliases = dict(self.cluster_aliases)
        every = [error for ids in (registry.ids, registry.merged) for error in ids.values()] if aliases else []
        moved = [error for error in every if error.cluster_id in aliases]
        if not moved:
            return registry
        known = set(self._rows("signature_id", {error.medoid for error in moved})["signature_id"].to_pylist())
        rows = self._rows("cluster_id", {aliases[error.cluster_id] for error in moved})
        some: dict[str, str] = {}
        for signature_id, cluster_id in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            some[cluster_id] = min(signature_id, some.get(cluster_id, signature_id))
        gone = frozenset(registry.withdrawn)

        def anew(ids: Mapping[str, Published]) -> dict[str, Published]:
            found = dict(ids)
            for name, error in ids.items():
                if (
                    name not in gone
                    and error.medoid not in known
                    and (heir := some.get(aliases.get(error.cluster_id, "")))
                ):
                    found[name] = error.model_copy(update={"medoid": heir})
            return found

        return registry.model_copy(update={"ids": anew(registry.ids), "merged": anew(registry.merged)})

    def _rows(self, name: str, values: Iterable[str]) -> pa.Table:
        """The signatures with their clusters that have one of some values in a column."""
        return self.assigned.filter(pa.array(keyed.is_in(self.assigned[name], values)))

    def news(self, rows: Sequence[store.JournalRow]) -> list[store.JournalRow]:
        """Of notes on clusters those that the journal does not have: all, unless its database was lost."""
        if self.is_in_step:
            return list(rows)
        said = {(row.action, row.subject_id, row.other_id) for row in self.journal.rows}
        standing: set[str] = set()
        for row in self.journal.rows:
            if row.action in {"merged", "renamed", "withdrawn"}:
                standing.discard(row.subject_id)
            standing.add(row.other_id if row.action in {"merged", "renamed"} and row.other_id else row.subject_id)
            if row.action == "withdrawn":
                standing.discard(row.subject_id)
        return [
            row for row in rows if (row.subject_id not in standing if row.action == "new" else _key(row) not in said)
        ]


def _key(row: store.JournalRow) -> tuple[str, str, str | None]:
    return (row.action, row.subject_id, row.other_id)


def last_build(database: Path, *, home: Path, is_gone: Callable[[str], bool] | None = None) -> LastBuild:
    """The build that `database` holds, with the journal of `home`; without a database that can be read only this.

    Notes on ids that are gone (`forgetting.gone`) say no more than that there was one, in both places alike.

    Raises:
        StoreError: the journal's file is there and cannot be read.
    """
    file, found = JournalFile.read(home), _stored(database, home)
    if is_gone is not None:
        file = replace(file, built=_nameless(file.built, is_gone), noted=_nameless(file.noted, is_gone))
        if isinstance(found, LastBuild):
            found = replace(found, journal=_nameless(found.journal, is_gone))
    return replace(_chosen(database, found, file), file=file)


def _nameless(journal: Journal, is_gone: Callable[[str], bool]) -> Journal:
    return replace(journal, rows=tuple(forgetting.nameless(row, is_gone) for row in journal.rows))


def _chosen(database: Path, found: LastBuild | str, file: JournalFile) -> LastBuild:
    """Of the two places of the journal the one that goes on."""
    damage = tuple(f"{file.path}: {line}" for line in file.broken)
    kept = LastBuild(journal=file.built, is_in_step=not file.built.rows)
    if isinstance(found, str):
        return replace(kept, warnings=(*damage, *([found] if found else ())))
    there, own = found.journal.rows, file.built.rows
    if file.broken and there:
        return replace(found, warnings=damage)
    for rows in (own, file.noted.rows):
        if own and there == rows:  # one list of them is enough: a home has two for each error
            return replace(found, journal=replace(found.journal, rows=rows))
    if not own:
        return found
    shared = _shared(there, own)
    if shared and shared >= file.built.base and len(there) >= len(own):
        return found  # an errmine of before wrote it, which knew no file
    if there and not shared:
        told = f"{database} is of another home: the journal of {file.path} goes on, the file goes to .errmine/set-aside"
        return replace(kept, warnings=(*damage, told), is_foreign=True)
    told = f"{database} is older than {file.path}: the journal goes on where the file ends"
    return replace(found, journal=file.built, is_in_step=False, warnings=(*damage, told))


def _stored(database: Path, home: Path) -> LastBuild | str:
    """What the file says, or why it says nothing: "" if there is none and none is missed."""
    if not database.exists():
        return ""
    try:
        with store.of_ours(database, note=home / ".errmine" / "state"):
            meta = store.meta(database)
            return LastBuild(
                journal=journal_of(reading.journal(database), meta),
                assigned=reading.assigned(database),
                counted=reading.event_counts(database),
                overrides=reading.overrides(database),
                cluster_aliases=reading.cluster_aliases(database),
                normaliser=meta.get("normaliser", ""),
            )
    except (StoreError, ConfigError) as error:  # it is about to be replaced; held or newer ones were refused before
        return f"{error}; it is made anew, with the journal of its own file"


def put_aside(database: Path, folder: Path) -> None:
    """Nothing; the file of another home, which is about to be replaced, is in `folder` as well."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / database.name
    kept.unlink(missing_ok=True)
    try:
        os.link(database, kept)
    except OSError:  # another file system, or one without links
        shutil.copyfile(database, kept)


# ---------------------------------------------------------------- events read anew


@dataclass(frozen=True, slots=True)
class Moved:
    """Events whose words are those of the last build and whose signature is not, by (old, new) signature id."""

    counts: Mapping[tuple[str, str], int]
    before: str  # version of the normaliser then
    now: str

    def heir(self) -> dict[str, str]:
        """Old signature id -> the one that most of its events have now."""
        found: dict[str, tuple[int, str]] = {}
        for (old, new), count in self.counts.items():
            found[old] = min(found.get(old, (1, "")), (-count, new))
        return {old: new for old, (_, new) in found.items()}

    def followed(self, registry: Registry) -> Registry:
        """`registry` with the errors that its ids name as they are called now."""
        heir = self.heir()

        def anew(ids: Mapping[str, Published]) -> dict[str, Published]:
            return {
                name: error.model_copy(update={"medoid": heir.get(error.medoid, error.medoid)})
                for name, error in ids.items()
            }

        if not heir:
            return registry
        return registry.model_copy(update={"ids": anew(registry.ids), "merged": anew(registry.merged)})


def moved(
    database: Path, last: LastBuild, rows: Rows, signatures: pa.ChunkedArray | Iterable[str], *, normaliser: str
) -> Moved:
    """The events of `rows` that this normaliser reads otherwise than the one of the last build.

    An event is the same if its document has the same words for it, under whatever name its repository has now, or if it
    was and is the only one there; where in the text it stands, another reader may say otherwise. `signatures` are all
    that there are now.
    """
    own = last.assigned["signature_id"]
    gone = sorted(own.filter(pa.array(~keyed.is_in(own, signatures))).to_pylist())
    try:
        before = reading.event_signatures(database, gone) if gone else []
    except (StoreError, ConfigError):  # damaged in a part that nobody asked for before
        before = []
    only = Counter(current_key(document_id) for document_id, _, _ in before)
    now = _Events(rows.messages_of(only) if only else ())
    counts: Counter[tuple[str, str]] = Counter()
    for document_id, old, message in before:
        key = current_key(document_id)
        new = now.signature_of(key, message, is_only=only[key] == 1)
        if new is not None:
            counts[old, new] += 1
    return Moved(counts, last.normaliser, normaliser)


class _Events:
    """The events of documents, for who looks for one that was read before."""

    def __init__(self, events: Iterable[tuple[str, str, str]]) -> None:
        self._by_words: dict[tuple[str, str], str] = {}
        self._by_document: dict[str, list[str]] = {}
        for document_id, message, signature_id in events:
            self._by_words.setdefault((document_id, message), signature_id)
            self._by_document.setdefault(document_id, []).append(signature_id)

    def signature_of(self, document_id: str, message: str, *, is_only: bool) -> str | None:
        """The signature of the event with these words; of the document's only one, if it was its only one."""
        there = self._by_document.get(document_id, ())
        return self._by_words.get((document_id, message), there[0] if is_only and len(there) == 1 else None)
