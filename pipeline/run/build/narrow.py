"""A few columns of the rows of all shards, kept: a build opens only those shards for them that it has not seen.

They lie in segments, each with the rows of some shards. A segment never changes; what no segment has is read from its
shards into a new one. Segments are joined, and lose the rows of shards that nobody has any more, so that each is more
than twice the next one: a row is copied as often as the number of segments, which grows like the logarithm of all.
Beside the rows of a segment lies an index of the words of its events: who looks for a few does not read all.

What differs between two builds follows from the shards that came and went: documents that are in both with the same
digest are the same, and what speaks of an error is in the rows of one document (`Touched`).
"""

from __future__ import annotations

import hashlib
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pipeline.cluster import proofs
from pipeline.run.build.keyed import is_due, is_in, numbers
from pipeline.run.shards.files import CLAIMS, DOCUMENTS, EVENTS, SKIPPED

_OF = {"documents": DOCUMENTS.schema, "events": EVENTS.schema, "claims": CLAIMS.schema, "skipped": SKIPPED.schema}
_STRING, _FLAG = pa.string(), pa.bool_()
#: Where a row is; `shard` is the number of its shard among those of its table.
_PLACE = [("shard", pa.int64()), ("place", pa.int64())]
SCHEMAS: Mapping[str, pa.Schema] = {
    "documents": pa.schema(
        [
            *_PLACE,
            ("document_key", _STRING),  # null where it is the document's id
            *((name, _OF["documents"].field(name).type) for name in ("document_id", "opened_at", "source")),
            ("hidden_count", pa.int64()),
            ("code", _STRING),
            ("is_foreign", _FLAG),
            ("digest", _STRING),
        ]
    ),
    "events": pa.schema(
        [
            *_PLACE,
            *((name, _OF["events"].field(name).type) for name in ("document_id", "ordinal", "event_id", "posted_at")),
            ("severity", _STRING),
            ("codes", pa.list_(_STRING)),
            ("signature_id", _STRING),
            ("is_gate_complete", _FLAG),
            ("is_truncated", _FLAG),
            ("quote", _STRING),
        ]
    ),
    "claims": pa.schema(
        [
            *_PLACE,
            *((name, _OF["claims"].field(name).type) for name in ("claim_id", "kind", "key", "doubt")),
            ("document_id", _STRING),
            ("signature_ids", pa.list_(_STRING)),
        ]
    ),
    "skipped": pa.schema([*_PLACE, ("stage", _STRING), ("reason", _STRING)]),
}
Tables = Mapping[str, pa.Table]  # by the names of SCHEMAS
#: In order: the number of a word, and a row of the events that holds it. Two words may have one number: who finds a row
#: looks at its text.
_WORDS = pa.schema([("word", pa.uint32()), ("row", pa.uint32())])
#: What lies of a segment in files, by kind.
FILES: Mapping[str, pa.Schema] = {**SCHEMAS, "words": _WORDS}
#: Words whose rows are intersected, the rarest first, before texts are looked at; and texts that are read at once.
_RAREST, _AT_ONCE = 4, 10_000
EMPTY: Tables = {kind: schema.empty_table() for kind, schema in SCHEMAS.items()}


@dataclass(frozen=True)
class Segment:
    """The rows of some shards."""

    shards: tuple[str, ...]  # what tells each from any other, whatever its name (`shards.identity`)
    tables: Tables = field(compare=False)
    kept_words: pa.Table | None = field(default=None, compare=False)

    @classmethod
    def of_files(cls, shards: Sequence[str], files: Tables) -> Segment:
        """The segment that lies in files, by the names of FILES."""
        return cls(tuple(shards), {kind: files[kind] for kind in SCHEMAS}, files["words"])

    @property
    def files(self) -> Tables:
        """What lies in files."""
        return {**self.tables, "words": self.words}

    @cached_property
    def words(self) -> pa.Table:
        """The index of the words of its events."""
        return _indexed(self.tables["events"]["quote"]) if self.kept_words is None else self.kept_words

    def holding(self, words: Iterable[str]) -> NDArray[np.uint32]:
        """The rows of events that hold these words, and perhaps a few others."""
        every, rows = (numbers(column) for column in self.words.columns)
        asked = np.array([_number(word) for word in words], np.uint32)
        begins, ends = np.searchsorted(every, asked, "left"), np.searchsorted(every, asked, "right")
        first, *others = np.argsort(ends - begins, kind="stable")[:_RAREST]
        found: NDArray[np.uint32] = np.unique(rows[begins[first] : ends[first]])
        for one in others:
            found = np.intersect1d(found, rows[begins[one] : ends[one]])
        return found

    @property
    def name(self) -> str:
        """The same for the same rows."""
        told = "\x1e".join((repr(FILES), *self.shards)).encode()
        return hashlib.blake2b(told, digest_size=12).hexdigest()

    def of(self, wanted: Mapping[str, int]) -> Tables:
        """The rows of wanted shards, under the numbers that these have."""
        numbers = np.array([wanted.get(one, -1) for one in self.shards], np.int64)
        if (numbers == np.arange(len(numbers))).all():
            return self.tables
        return {kind: _renumbered(table, numbers) for kind, table in self.tables.items()}


def _indexed(quotes: pa.ChunkedArray) -> pa.Table:
    """The words of texts, as `FILES` has them."""
    told, rows, row = array("I"), array("I"), 0
    for chunk in quotes.chunks:
        for start in range(0, len(chunk), _AT_ONCE):
            for text in chunk.slice(start, _AT_ONCE).to_pylist():
                words = list(map(_number, proofs.words_of(text)))
                told.extend(words)
                rows.extend([row] * len(words))
                row += 1
    order = np.argsort(np.array(told, np.uint32), kind="stable")
    return pa.table([pa.array(np.array(cells, np.uint32)[order]) for cells in (told, rows)], schema=_WORDS)


def _number(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def _renumbered(table: pa.Table, numbers: np.typing.NDArray[np.int64]) -> pa.Table:
    now = numbers[table["shard"].to_numpy()]
    renumbered = table.set_column(0, SCHEMAS["skipped"].field("shard"), pa.array(now))
    return renumbered if (now >= 0).all() else renumbered.filter(pa.array(now >= 0))


@dataclass(frozen=True, slots=True)
class Kept:
    """The segments, the oldest first, and which shards the build had that left them."""

    segments: tuple[Segment, ...] = ()
    used: tuple[str, ...] = ()
    hidden: str = ""  # what tells what was forgotten: of it no row stays

    def for_home(self, hidden: str) -> Kept:
        """What may be kept where this is forgotten: nothing, if it was not forgotten before."""
        return self if self.hidden == hidden else Kept(hidden=hidden)

    def of(self, wanted: Mapping[str, int]) -> dict[str, pa.Table]:
        """The rows of wanted shards, under the numbers that these have."""
        parts = [segment.of(wanted) for segment in self.segments]
        return {kind: pa.concat_tables([EMPTY[kind], *(one[kind] for one in parts)]) for kind in SCHEMAS}

    def indexed(self) -> Kept:
        """The same, and the index of each segment is made: grouping says what a word is."""
        return replace(self, segments=tuple(replace(one, kept_words=one.words) for one in self.segments))

    def missing(self, wanted: Sequence[str]) -> list[int]:
        """The places of those wanted shards whose rows no segment has."""
        known = {one for segment in self.segments for one in segment.shards}
        return [place for place, one in enumerate(wanted) if one not in known]

    def with_those_of(self, came: Sequence[str], read: Tables, used: Sequence[str]) -> Kept:
        """With a segment of shards that came, joined where it is due, for a build that has the shards `used`."""
        segments = [*self.segments, *([Segment(tuple(came), read)] if came else ())]
        wanted = frozenset(used)
        alive = [sum(one in wanted for one in segment.shards) for segment in segments]
        while len(segments) > 1 and is_due(*alive[-2:]):
            segments[-2:] = [_joined(segments[-2:], wanted)]
            alive[-2:] = [sum(alive[-2:])]
        first = [
            _joined([segment], wanted) if 2 * count < len(segment.shards) else segment
            for segment, count in zip(segments, alive, strict=True)
        ]
        return Kept(tuple(one for one in first if one.shards), tuple(used), self.hidden)


#: Nothing is known of any shard.
NOTHING = Kept()


def _joined(segments: Sequence[Segment], wanted: frozenset[str]) -> Segment:
    shards = sorted(one for segment in segments for one in segment.shards if one in wanted)
    found = Kept(tuple(segments)).of({one: number for number, one in enumerate(shards)})
    order = [("shard", "ascending"), ("place", "ascending")]
    return Segment(tuple(shards), {kind: table.sort_by(order).combine_chunks() for kind, table in found.items()})


@dataclass(frozen=True)
class Touched:
    """What documents are there, are gone, or have another digest than they had for the last build."""

    before: Tables  # the rows of shards that are gone
    now: Tables  # the rows of shards that came
    twice: frozenset[str] = frozenset()  # documents of several rows, of which the order of shards decides

    @cached_property
    def documents(self) -> frozenset[str]:
        """Their ids."""
        before, now = (_told(one["documents"]) for one in (self.before, self.now))
        differing = before.keys() ^ now.keys()
        several = (name for told in (before, now) for name in told.values() if name in self.twice)
        return frozenset((*(before.get(one) or now[one] for one in differing), *several))

    @cached_property
    def came(self) -> pa.Table:
        """The events of these documents that are there now."""
        _, now = self._of("events")
        return now

    @cached_property
    def shown(self) -> frozenset[str]:
        """The signatures that they show, or showed."""
        return frozenset(name for table in self._of("events") for name in table["signature_id"].to_pylist() if name)

    @cached_property
    def spoken(self) -> frozenset[str]:
        """The signatures that they speak of, or spoke of."""
        tables = self._of("claims")
        return frozenset(name for table in tables for names in table["signature_ids"].to_pylist() for name in names)

    @cached_property
    def has_pages(self) -> bool:
        """Whether there is an official page among them, or was."""
        return any(table["code"].null_count < len(table) for table in self._of("documents"))

    def _of(self, kind: str) -> Iterator[pa.Table]:
        names = pa.array(sorted(self.documents), pa.string())
        for tables in (self.before, self.now):
            yield tables[kind].filter(pc.is_in(tables[kind]["document_id"], value_set=names))


def _told(documents: pa.Table) -> dict[tuple[str, str], str]:
    """By id and digest the id of each document."""
    pairs = zip(documents["document_id"].to_pylist(), documents["digest"].to_pylist(), strict=True)
    return {(name, digest or ""): name for name, digest in pairs}


#: Reads the rows of shards, by their places among all.
Read = Callable[[Sequence[int]], Tables]


@dataclass(frozen=True, slots=True)
class Found:
    """What a build knows of the rows of its shards."""

    tables: Tables  # under the numbers of the shards
    kept: Kept  # for the next build
    last: Kept
    read: Tables  # of shards that no segment had

    @classmethod
    def of(cls, shards: Sequence[str], last: Kept, read: Read) -> Found:
        """Of these shards, told by `shards.identity`; `read` gives the rows of those that nothing is kept of."""
        missing = last.missing(shards)
        came = [shards[place] for place in missing]
        rows = read(missing) if missing else EMPTY
        kept = last.with_those_of(came, rows, shards).indexed()
        everything = {one: number for number, one in enumerate(shards)}
        return cls(kept.of(everything), kept, last, rows)

    def holding(self, words: frozenset[str], but: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Signature and words of the events that hold all of these words; none of some signatures."""
        wanted = frozenset(self.kept.used)
        for segment in self.kept.segments:
            rows = pa.array(segment.holding(words))
            some = segment.tables["events"].select(["shard", "signature_id"]).take(rows)
            is_used = np.array([one in wanted for one in segment.shards], bool)[numbers(some["shard"])]
            is_other = numbers(pc.is_valid(some["signature_id"])) & ~is_in(some["signature_id"], but)
            chosen = pa.array(is_used & is_other)
            texts = segment.tables["events"]["quote"].take(rows.filter(chosen)).to_pylist()
            for owner, text in zip(some["signature_id"].filter(chosen).to_pylist(), texts, strict=True):
                if words <= proofs.words_of(text):
                    yield owner, text

    def touched(self) -> Touched | None:
        """What differs from the shards of the last build; None where nothing is known of these."""
        before, now = set(self.last.used), set(self.kept.used)
        if not before or self.last.missing(self.last.used):
            return None
        gone, came = ({one: number for number, one in enumerate(sorted(some))} for some in (before - now, now - before))
        ids = self.tables["documents"]["document_id"]
        counts = pc.value_counts(ids) if len(ids) else None
        twice = (
            [] if counts is None else counts.filter(pc.greater(counts.field("counts"), 1)).field("values").to_pylist()
        )
        return Touched(self.last.of(gone), self.kept.of(came), frozenset(twice))
