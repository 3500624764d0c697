"""What the build before this one left: its journal, its clusters, its events.

The journal has two places, the database and a file of its own (`.errmine/journal.jsonl`, chained lines), because it can
be made anew from nothing: what one loses the other has. A line of the file is one of::

    {"rows": [[action, subject, other, detail, run], ...]}      notes, as the table `journal` has them
    {"keep": 7}                                                 all but the first seven are taken back
    {"base": 5, "registry": "<sha256>"}                         see `Journal`
    {"built": 9}                                                the database that has these nine is in its place

How far the file went when the last build ended is noted beside its state (`_Mark`): to there its lines are neither read
nor compared, where the file has those bytes still and the database is the one that was noted with as many rows.

Events whose words are the same and whose signature is another were read anew: by another normaliser. They carry over
who was who.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline import store
from pipeline.lexicon.repositories import current_key
from pipeline.records import chained, kept
from pipeline.records.errors import ConfigError, StoreError
from pipeline.run.build import keyed
from pipeline.run.home import forgetting
from pipeline.store import noted, reading

if TYPE_CHECKING:
    from pipeline.records.bundle import Named
    from pipeline.run.build.registry import Registered
    from pipeline.run.build.rows import Rows

#: Subjects of the journal that are clusters; the others are entries.
_CLUSTER = "cluster:"
#: A sha256 of the whole registry.
_DIGITS_OF_BEFORE = 64
#: Notes on one line of the journal's file: damage to a line costs no more than these.
_ROWS_A_LINE = 64


@dataclass(frozen=True, slots=True)
class Journal:
    """The notes so far, and which of them are not published yet.

    Ids of entries count as given when the bundle is exported. The notes on entries of a build that never was exported
    are therefore dropped by the next build, which makes them again: a build that was killed or repeated leaves no
    trace. What happened to clusters stays.
    """

    rows: chained.Rows[store.JournalRow] = field(default_factory=chained.Rows)
    base: int = 0  # the notes before those of the last build that made any
    before: str = ""  # digest of the registry that this build started from

    def continued(
        self,
        notes: Sequence[store.JournalRow],
        registry: Registered,
        *,
        about_clusters: Sequence[store.JournalRow] = (),
        run_id: str = "",
    ) -> Journal:
        """The journal with the notes of a build that started from `registry`, under the name of its run."""
        notes, about_clusters = (
            [replace(row, run_id=run_id or None) for row in rows] for rows in (notes, about_clusters)
        )
        now = registry.digest
        rows, base = self.rows, len(self.rows)
        if self.before in (now, *([_digest_of_before(registry)] if len(self.before) == _DIGITS_OF_BEFORE else ())):
            base = self.base
            rows = rows.first(base).then(row for row in rows[base:] if row.subject_id.startswith(_CLUSTER))
        if not notes:
            return Journal(rows.then(about_clusters), self.base, self.before)
        return Journal(rows.then([*about_clusters, *notes]), base, now)

    def meta(self) -> dict[str, str]:
        """For the table `meta`, from which `journal_of` reads it back."""
        return {"journal_base": str(self.base), "journal_registry": self.before}


def _digest_of_before(registry: Registered) -> str:
    """What an errmine of before, which read it whole, told a registry by."""
    return hashlib.sha256(registry.record().model_dump_json().encode()).hexdigest()


def journal_of(rows: chained.Rows[store.JournalRow], meta: Mapping[str, str]) -> Journal:
    """The journal that a database holds."""
    return Journal(rows, int(meta.get("journal_base", len(rows))), meta.get("journal_registry", ""))


@dataclass(frozen=True, slots=True)
class _Part:
    """How many rows the lines of the journal's file give up to a place, and a digest of them."""

    count: int = 0
    digest: str = ""
    end: chained.Place = field(default=chained.Place())


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far the journal's file went when a build ended, and what it said: its database was in its place."""

    whole: _Part
    cut: _Part  # a place before it; of a build that is repeated rows behind it are taken back
    base: int
    before: str
    forgotten: str  # what had been forgotten: no row names any of it

    @classmethod
    def read(cls, path: Path) -> _Mark | None:
        """What the note at `path` says; None where there is none, or it is not what was written."""
        try:
            told = kept.unsealed_json(path)
            if told.pop("form") != _FORM:
                return None
            whole, cut = (_Part(**{**part, "end": chained.Place(**part["end"])}) for part in map(told.pop, _PARTS))
            return cls(whole, cut, **told)
        except (kept.Damaged, KeyError, TypeError):
            return None

    def journal(self, path: Path) -> Journal:
        """The journal in the file at `path`, of which no row is read."""
        return Journal(chained.Rows((), _lying(path, (self.cut, self.whole))), self.base, self.before)


#: Of a mark.
_PARTS = ("whole", "cut")
#: What its digests are made of: the fields of a row, as this Python writes texts.
_FORM = f"{[one.name for one in fields(store.JournalRow)]} {sys.version_info[:2]}"


def _lying(path: Path, parts: Iterable[_Part]) -> tuple[chained.Stretch[store.JournalRow], ...]:
    """The rows between the places of parts, to be read from the file at `path`."""
    found: tuple[chained.Stretch[store.JournalRow], ...] = ()
    since = _Part()
    for part in parts:
        if part.count > since.count:
            read = cache(lambda since=since, part=part, before=found: _rows_between(path, since, part, before))
            found = (*found, chained.Stretch(part.count - since.count, part.digest, read))
            since = part
    return found


def _rows_between(
    path: Path, since: _Part, until: _Part, before: tuple[chained.Stretch[store.JournalRow], ...]
) -> Sequence[store.JournalRow]:
    chain = chained.read(path, since.end, until.end.byte_count)
    rows = _replayed(Journal(chained.Rows((), before)), chain.rows).rows
    if chain.broken or rows.told(len(rows)) != until.digest:
        raise StoreError(f"{path}: changed while it was read", path=path)
    found: list[store.JournalRow] = rows[since.count :]
    return found


@dataclass(frozen=True, slots=True)
class JournalFile:
    """What the journal's own file says."""

    path: Path
    built: Journal = Journal()  # of the last database that took its place
    noted: Journal = Journal()  # with the notes of a build that may have been killed before its database did
    broken: tuple[str, ...] = ()
    end: chained.Place = field(default=chained.Place(), compare=False)  # of the lines that say it
    mark: _Mark | None = field(default=None, compare=False)  # up to which none of them was read
    is_naming: bool = field(default=False, compare=False)  # its rows name ids that are gone, those here do not

    @classmethod
    def read(cls, home: Path, *, forgotten: str | None = None) -> JournalFile:
        """The journal's file of `home`; of damaged lines there are only the notes on the others.

        Where `forgotten` tells what is forgotten, its lines are read from where the last build, which noted it, ended.

        Raises:
            StoreError: the file is there and cannot be read.
        """
        path = home / ".errmine" / "journal.jsonl"
        mark = None if forgotten is None else _Mark.read(marked_at(home))
        try:
            if mark is not None and mark.forgotten == forgotten and chained.has(path, mark.whole.end):
                found = cls._of(path, mark.journal(path), chained.read(path, mark.whole.end), mark)
                if not found.broken:
                    return found
            return cls._of(path, Journal(), chained.read(path), None)
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error.strerror}", path=path) from error

    @classmethod
    def _of(cls, path: Path, before: Journal, chain: chained.Chain, mark: _Mark | None) -> JournalFile:
        last = max((place for place, line in enumerate(chain.rows, 1) if "built" in line), default=0)
        built = _replayed(before, chain.rows[:last])
        return cls(path, built, _replayed(built, chain.rows[last:]), chain.broken, chain.end, mark)

    def note(self, journal: Journal) -> None:
        """Nothing; the file says what `journal` says. Before the database takes its place: see `settle`.

        Raises:
            StoreError: the disk does not take it.
        """
        if self.broken:
            self._put_aside()
        before = Journal() if self.broken else self.noted
        shared = before.rows.shared(journal.rows)
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

    def keep(self, journal: Journal, *, forgotten: str, is_gone: Callable[[str], bool] | None) -> None:
        """Nothing; the next build reads the file from where it ends now, if it says what `journal` says.

        Where the disk refuses, or a new row names what is forgotten, it reads all of it.
        """
        start, mark = (chained.Place(), None) if self.broken else (self.end, self.mark)
        before = Journal() if self.broken else self.noted
        with suppress(OSError, StoreError):
            chain = chained.read(self.path, start)
            there = _replayed(before, chain.rows)
            count = len(before.rows)
            came = there.rows[min([count, *(line["keep"] for line in chain.rows if "keep" in line)]) :]
            is_said = not (self.is_naming or chain.broken) and there == journal
            is_said = is_said and not any(_names(row, is_gone) for row in came)
            if mark is not None and chain.end == mark.whole.end and is_said:
                return
            marked_at(self.home).unlink(missing_ok=True)
            if is_said:
                cut = _cut(mark, before, start, least=len(there.rows) - len(came), base=journal.base)
                whole = _Part(len(there.rows), there.rows.told(len(there.rows)), chain.end)
                told = asdict(_Mark(whole, cut, journal.base, journal.before, forgotten))
                kept.write(marked_at(self.home), kept.sealed_json({**told, "form": _FORM}))

    @property
    def home(self) -> Path:
        """Whose it is."""
        return self.path.parent.parent

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
    rows, base, before = journal.rows, journal.base, journal.before
    came: list[store.JournalRow] = []
    for line in lines:
        count = len(rows) + len(came)
        if (keeps := line.get("keep", count)) < count:
            rows, came = rows.first(min(keeps, len(rows))), came[: max(keeps - len(rows), 0)]
        came += [_row(cells) for cells in line.get("rows", ())]
        base, before = line.get("base", base), line.get("registry", before)
    return Journal(rows.then(came), base, before)


def _row(cells: Sequence[Any]) -> store.JournalRow:
    """The row with these cells, whose texts are those of other rows: most say that something is new."""
    action, subject_id, other_id, detail, *run_id = cells
    return store.JournalRow(sys.intern(action), sys.intern(subject_id), other_id, sys.intern(detail), *run_id)


def _cut(mark: _Mark | None, before: Journal, end: chained.Place, *, least: int, base: int) -> _Part:
    """Where to part the rows of a file, which has `least` of those that it had up to `end`: where those begin that the
    next build may take back.
    """
    count = len(before.rows)
    if count == least == base:
        return _Part(count, before.rows.told(count), end)
    return mark.cut if mark is not None and mark.cut.count <= least else _Part()


def marked_at(home: Path) -> Path:
    """Where it stands how far the journal's file went when the last build ended."""
    return home / ".errmine" / "state" / "journal.json"


def _names(row: store.JournalRow, is_gone: Callable[[str], bool] | None) -> bool:
    return is_gone is not None and forgetting.nameless(row, is_gone) != row


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

    def followed(self, registry: Registered) -> Registered:
        """`registry` with the errors that its ids name as the last build called them, where that was not exported.

        A build that read events anew knows what the clusters of the bundle became; who follows it knows its clusters.
        """
        aliases = dict(self.cluster_aliases)
        asked = registry.rows(["cluster_id", "medoid"])
        asked = asked.filter(pa.array(keyed.is_in(asked["cluster_id"], aliases)))
        if not len(asked):
            return registry
        known = set(self._rows("signature_id", asked["medoid"])["signature_id"].to_pylist())
        rows = self._rows("cluster_id", {aliases[one] for one in asked["cluster_id"].to_pylist()})
        some: dict[str, str] = {}
        for signature_id, cluster_id in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            some[cluster_id] = min(signature_id, some.get(cluster_id, signature_id))

        def heir(error: Named) -> str | None:
            if error.state == "withdrawn" or error.medoid in known:
                return None
            return some.get(aliases.get(error.cluster_id or "", ""))

        return registry.with_medoids("cluster_id", aliases, heir)

    def _rows(self, name: str, values: Iterable[str] | pa.ChunkedArray) -> pa.Table:
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


def last_build(
    database: Path, *, home: Path, is_gone: Callable[[str], bool] | None = None, forgotten: str | None = None
) -> LastBuild:
    """The build that `database` holds, with the journal of `home`; without a database that can be read only this.

    Notes on ids that are gone (`forgetting.gone`) say no more than that there was one, in both places alike. Who tells
    what is `forgotten` is a build: what the last one noted is not read again.

    Raises:
        StoreError: the journal's file is there and cannot be read.
    """
    file = JournalFile.read(home, forgotten=forgotten)
    found = _stored(database, file)
    if is_gone is not None:
        built, told = (_nameless(one, is_gone) for one in (file.built, file.noted))
        file = replace(file, built=built, noted=told, is_naming=(built, told) != (file.built, file.noted))
        if isinstance(found, LastBuild):
            found = replace(found, journal=_nameless(found.journal, is_gone))
    return replace(_chosen(database, found, file), file=file)


def _nameless(journal: Journal, is_gone: Callable[[str], bool]) -> Journal:
    return replace(journal, rows=journal.rows.each(lambda row: forgetting.nameless(row, is_gone)))


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
    shared = there.shared(own)
    if shared and shared >= file.built.base and len(there) >= len(own):
        return found  # an errmine of before wrote it, which knew no file
    if there and not shared:
        told = f"{database} is of another home: the journal of {file.path} goes on, the file goes to .errmine/set-aside"
        return replace(kept, warnings=(*damage, told), is_foreign=True)
    told = f"{database} is older than {file.path}: the journal goes on where the file ends"
    return replace(found, journal=file.built, is_in_step=False, warnings=(*damage, told))


def _stored(database: Path, file: JournalFile) -> LastBuild | str:
    """What the database says, or why it says nothing: "" if there is none and none is missed."""
    if not database.exists():
        return ""
    note = file.home / ".errmine" / "state"
    try:
        with store.of_ours(database, note=note):
            meta = store.meta(database)
            return LastBuild(
                journal=journal_of(_journaled(database, file, note), meta),
                assigned=reading.assigned(database),
                counted=reading.event_counts(database),
                overrides=reading.overrides(database),
                cluster_aliases=reading.cluster_aliases(database),
                normaliser=meta.get("normaliser", ""),
            )
    except (StoreError, ConfigError) as error:  # it is about to be replaced; held or newer ones were refused before
        return f"{error}; it is made anew, with the journal of its own file"


def _journaled(database: Path, file: JournalFile, note: Path) -> chained.Rows[store.JournalRow]:
    """The journal of the database: that of its own file, where the note of the database says so."""
    rows = file.built.rows
    if file.mark is not None and noted.journaled(note, database) == noted.Journaled(len(rows), rows.told(len(rows))):
        return rows
    return chained.Rows(reading.journal(database))


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

    def followed(self, registry: Registered) -> Registered:
        """`registry` with the errors that its ids name as they are called now."""
        heir = self.heir()
        return registry.with_medoids("medoid", heir, lambda error: heir.get(error.medoid or "")) if heir else registry


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
