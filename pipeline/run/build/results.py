"""What the last build made of each cluster, kept by a digest of all that it was made from.

A draft follows from its cluster and the rows of the documents that speak of it, and these from the documents' digests
(`rows.Decisive`); an entry follows from its draft, its names and those of its neighbours. What has the digest that it
had is taken as it was: nothing is ever found stale, because nothing is looked up under anything but what it was made
from.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.records import Cluster, Neighbour, Skipped, disk, kept
from pipeline.records.draft import Withheld
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import StoreError
from pipeline.records.kept import Damaged, KeptFile
from pipeline.run.build import grouping, keyed, narrow, worded
from pipeline.run.build.grouping import KeptProofs
from pipeline.run.build.keyed import Keyed, as_it_lies
from pipeline.run.build.rows import Decisive
from pipeline.run.build.worded import NO_FACTS, Facts
from pipeline.run.shards.columns import Table


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one cluster; the words of its entry lie beside (`Texts`)."""

    cluster_id: str
    drafted: str  # digest of what its draft was made from
    domain: str
    slugs: tuple[str, ...]
    page_slug: str
    document_count: int
    withheld: tuple[Withheld, ...]
    worded: str = ""  # digest of what its entry was made from; "" where none was made
    said: str = ""  # digest of the entry's JSON, before an explanation that says too little is taken out
    facts: Facts = NO_FACTS  # of that entry
    unsaid: tuple[Skipped, ...] = ()
    spoken: tuple[str, ...] = ()  # signatures that claims about its errors name
    others: tuple[str, ...] = ()  # clusters whose entries its graph may name
    entry_id: str = ""
    aliases: tuple[str, ...] = ()  # of its entry
    accepted: str = ""  # "whole", or "general" without such an explanation: what kept every rule; "" if nothing did

    def shared(self) -> Result:
        """The same, with the texts that others have as well there once: those of a worker come with each batch."""
        facts = replace(
            self.facts,
            domain=sys.intern(self.facts.domain),
            tier=sys.intern(self.facts.tier),
            statuses=tuple(map(sys.intern, self.facts.statuses)),
        )
        return replace(self, cluster_id=sys.intern(self.cluster_id), domain=sys.intern(self.domain), facts=facts)


RESULTS = Table(Result, shared=("cluster_id", "domain", "facts"))


@dataclass(frozen=True, slots=True)
class Needed:
    """What one draft is made from."""

    digest: str
    others: tuple[tuple[str, str], ...] = ()  # what its graph may name: (signature or cluster id, its cluster's id)
    spoken: tuple[str, ...] = ()  # signatures that claims about its errors name


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds the clusters of a build, and decides their drafts as well."""

    cluster_of: Mapping[str, str]  # signature id -> cluster id
    near: Mapping[str, Sequence[Neighbour]]  # by cluster id
    pages: Mapping[str, Sequence[tuple[str, str]]]  # by code the id and the digest of each official page


@dataclass(frozen=True, slots=True)
class Memory:
    """The results of the last build, and what tells whether they are still those of this one."""

    fingerprint: str  # of the code, of the packs, and of what people translated; "" remembers nothing
    results: Keyed[Result] = field(default_factory=lambda: Keyed(RESULTS))  # by cluster id
    texts: Mapping[str, bytes] = field(default_factory=dict)  # the words of their entries, by cluster id
    standing: State = field(default_factory=lambda: NOTHING)  # of that build

    def needed(self, found: Cluster, decisive: Decisive, around: Around) -> Needed:
        """What the draft of a cluster is made from."""
        rules = drafted_from(found, decisive, around) if self.fingerprint else {}
        told = digest([self.fingerprint, *_lines(rules)]) if rules else ""
        return Needed(told, others_of(found, decisive.spoken, around), decisive.spoken)

    def worded(self, needed: Needed, entry_id: str, aliases: Sequence[str], names: Mapping[str, str]) -> str:
        """A digest of what the entry of a draft is made from; "" where nothing is remembered."""
        if not self.fingerprint:
            return ""
        return digest([needed.digest, *_lines(worded_from(needed, entry_id, aliases, names))])

    def of(self, known: Result | None, needed: Needed) -> Result | None:
        """What is `known` of a cluster if its draft was made of the same."""
        return known if self.fingerprint and known is not None and known.drafted == needed.digest else None


def others_of(found: Cluster, spoken: Iterable[str], around: Around) -> tuple[tuple[str, str], ...]:
    """What the graph of a cluster may name, whose claims name the signatures `spoken`; see `Needed`."""
    near = {name for one in around.near.get(found.cluster_id, ()) for name in (one.cluster_id, one.other_id)}
    others = {(one, around.cluster_of.get(one, "")) for one in (*found.members, *spoken)} | {(one, one) for one in near}
    return tuple(sorted(pair for pair in others if pair[1] not in ("", found.cluster_id)))


#: All that a record is, as texts have it: `repr` of the record itself takes three times as long.
_CLUSTER, _NEIGHBOUR = (attrgetter(*(one.name for one in fields(record))) for record in (Cluster, Neighbour))


def drafted_from(found: Cluster, decisive: Decisive, around: Around) -> dict[str, Iterable[str]]:
    """What decides the draft of a cluster but its graph, whose names are part of the words; by the rule that says so.

    The rows of a document are those of its digest. Which documents speak of an error others may decide: what closed a
    report is placed by the report. A link to an error that people ignore is no edge, and cited for none.
    """
    codes = {*decisive.codes, *(value for key, value in found.gate if key == "code")}
    pages = {page for code in codes for page in around.pages.get(code, ())}
    spoken = {*found.members, *decisive.spoken}
    return {
        "cluster": [repr(_CLUSTER(found))],
        "documents": [decisive.documents],
        "claims": [decisive.claims],
        "grouped": sorted(one for one in spoken if one in around.cluster_of),
        "candidates": [decisive.candidates],
        "pages": ["\x1f".join(page) for page in sorted(pages)],
        "neighbours": (repr(_NEIGHBOUR(one)) for one in around.near.get(found.cluster_id, ())),
    }


def worded_from(
    needed: Needed, entry_id: str, aliases: Sequence[str], names: Mapping[str, str]
) -> dict[str, Iterable[str]]:
    """What decides the words of an entry besides its draft, by the rule that says so."""
    return {
        "id": [entry_id],
        "aliases": aliases,
        "names": ["\x1f".join((*pair, names.get(pair[1], ""))) for pair in needed.others],
    }


def _lines(rules: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for rule, lines in rules.items():
        yield f"\x1d{rule}"
        yield from lines


def digest(lines: Iterable[str]) -> str:
    """A digest of `lines`."""
    return hashlib.blake2b("\x1e".join(lines).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


# ---------------------------------------------------------------- kept for the next build


def with_any(made: Keyed[Result], name: str) -> list[Result]:
    """The results that have something in a field of several, which stands as JSON, in the order of their clusters."""
    told = made.rows(["cluster_id", name])
    some = told["cluster_id"].filter(pc.not_equal(told[name], "[]"))
    return [made[one] for one in sorted(some.to_pylist())]


def published(made: Keyed[Result]) -> pa.Table:
    """The rows, as `worded.ROWS` has them, of the entries that may be published."""
    told = made.rows(["entry_id", "cluster_id", "accepted", "said", "facts"])
    told = told.filter(pc.and_(pc.not_equal(told["accepted"], ""), pc.not_equal(told["entry_id"], "")))
    digests = pc.binary_join_element_wise(told["accepted"], told["said"], " ")
    return pa.table(
        [told["entry_id"], told["cluster_id"], told["accepted"], digests, told["facts"]], schema=worded.ROWS
    )


#: Claims that others than an error's own documents make: what tells each, whose words they are, and of which errors.
PLACED = pa.schema([("line", pa.string()), ("document_id", pa.string()), ("signature_ids", pa.list_(pa.string()))])

_LIST = "results.json"
_TEXTS = "texts.arrow"
_NARROW = "rows"
_PLACED = "placed.arrow"
_CURE = "`errmine build` makes it anew."
#: Files of an errmine of before, which quote documents.
_BEFORE = ("results.parquet", "on_templates.parquet", "on_messages.parquet")


@dataclass(frozen=True, slots=True)
class State:
    """What a build leaves for the next one."""

    results: Keyed[Result] = field(default_factory=partial(Keyed, RESULTS))
    on_templates: KeptProofs = field(default_factory=KeptProofs.of)  # on what is grouped
    on_messages: KeptProofs = field(default_factory=KeptProofs.of)  # and on what documents say
    texts: Mapping[str, bytes] = field(default_factory=dict, compare=False)  # of the entries, by cluster id
    grouping: grouping.Kept = field(default=grouping.NOTHING, compare=False)
    narrow: narrow.Kept = narrow.NOTHING  # of the rows of its shards
    placed: pa.Table = field(default_factory=PLACED.empty_table, compare=False)  # see `PLACED`
    fingerprint: str = ""  # of the memory that its results are of


#: Of no build; and where nothing is remembered.
NOTHING: State = State()
NONE = Memory("")


def read(folder: Path, code: str, seen: kept.Seen | None = None) -> State:
    """What the last build left in `folder`; nothing where it is not what was written, or other code wrote it.

    A large file that `seen` knows as whole is not read for that.
    """
    try:
        told = kept.unsealed_json(folder / _LIST)
        if not code or told.get("code") != code:
            return State()
        listing = kept.Listing.of(folder, _LIST)
        texts = _texts(listing, told["texts"], seen)
        grouped = {one: pa.ipc.open_file(listing.read(_grouped(one))).read_all() for one in grouping.SCHEMAS}
        if any(not grouped[name].schema.equals(schema) for name, schema in grouping.SCHEMAS.items()):
            return State()
        found: dict[str, Any] = {name: _keyed(listing, name, told["keyed"][name], seen) for name in _KEYED}
        segments = tuple(_segment(listing, one, seen) for one in told["segments"])
        placed = pa.ipc.open_file(listing.read(_PLACED)).read_all()
        if not placed.schema.equals(PLACED):
            return State()
        return State(
            **found,
            placed=placed,
            fingerprint=told["fingerprint"],
            narrow=narrow.Kept(segments, tuple(told["shards"]), told["hidden"]),
            texts=texts,
            grouping=grouping.Kept(**grouped),
        )
    except (Damaged, OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return State()


def _texts(listing: kept.Listing, files: Sequence[str], seen: kept.Seen | None) -> worded.Stored:
    """The words of entries, read where they lie when somebody asks for them."""
    places = pa.ipc.open_file(listing.read(_TEXTS)).read_all()
    for name in files:
        listing.check(name, seen)
    if not places.schema.equals(worded.PLACES):
        raise ValueError(f"{_TEXTS} has other columns")
    return worded.Stored(listing.folder, files, places)


def _keyed(listing: kept.Listing, name: str, files: Sequence[str], seen: kept.Seen | None) -> Keyed[Any]:
    """Records, read where they lie when somebody asks for them."""
    kind, table = _KEYED[name]
    segments = []
    for one in files:
        listing.check(one, seen)
        segments.append(keyed.Segment(one, keyed.opened(listing.folder / one, Keyed.schema(table))))
    return kind(table, segments)


def _segment(listing: kept.Listing, shards: Sequence[str], seen: kept.Seen | None) -> narrow.Segment:
    """The rows of these shards, read where they lie when somebody asks for them."""
    named = narrow.Segment(tuple(shards), {})
    tables = {}
    for kind, schema in narrow.FILES.items():
        listing.check(name := _narrowed(named, kind), seen)
        tables[kind] = pa.ipc.open_file(pa.memory_map(str(listing.folder / name))).read_all()
        if not tables[kind].schema.equals(schema):
            raise ValueError(f"{name} has other columns")
    return narrow.Segment.of_files(shards, tables)


def write(folder: Path, code: str, state: State, *, standing: State = State()) -> None:
    """Nothing; `folder` holds what the next build by this code may take over: nothing where `code` is "".

    `standing` is what `read` says of it now: nothing is written where that is what is to be there.

    Raises:
        StoreError: the disk refuses.
    """
    _discard_leftovers(folder)
    if not code:
        _forget(folder)
        return
    is_standing = not any(getattr(state, name).changed for name in _KEYED)
    is_standing = is_standing and (state.narrow, state.fingerprint) == (standing.narrow, standing.fingerprint)
    is_standing = is_standing and state.placed == standing.placed
    if standing.results and is_standing and state.grouping == standing.grouping:
        return
    bodies: dict[str, bytes | pa.Buffer] = {
        _grouped(name): as_it_lies(table) for name, table in state.grouping.tables().items()
    }
    bodies[_PLACED] = as_it_lies(state.placed)
    told = state.results.rows(["cluster_id", "said"])
    of_entries = told["cluster_id"].filter(pc.not_equal(told["said"], "")).to_pylist()
    try:
        known = _listed(folder) if standing.results else {}
        is_purged = state.narrow.hidden != standing.narrow.hidden
        places, texts = worded.write(folder, of_entries, state.texts, known=known, is_purged=is_purged)
        bodies[_TEXTS] = as_it_lies(places)
        for name, body in bodies.items():
            kept.write(folder / name, body)
        records = {name: getattr(state, name).write(folder, name, known, is_purged=is_purged) for name in _KEYED}
        files = [*kept.listed(bodies.items()), *texts, *_write_narrow(folder, state.narrow, known)]
        files += [one for listed in records.values() for one in listed]
        segments = [one.shards for one in state.narrow.segments]
        told_of_rows: dict[str, Any] = {
            "shards": state.narrow.used,
            "segments": segments,
            "hidden": state.narrow.hidden,
        }
        told_of_rows |= {"fingerprint": state.fingerprint, "texts": [one["path"] for one in texts]}
        told_of_rows["keyed"] = {name: [one["path"] for one in listed] for name, listed in records.items()}
        kept.write(folder / _LIST, kept.sealed_json({"files": files, "code": code, **told_of_rows}))
        _discard_segments(folder, state.narrow)
        _discard_keyed(folder, {one["path"] for listed in records.values() for one in listed})
        worded.discard(folder, {str(one["path"]) for one in texts})
    except OSError as error:
        hint = "Check free space and rights of the folder, then run `errmine build` again."
        raise StoreError(f"cannot write {folder}: {error.strerror or error}", path=folder, hint=hint) from error


def _listed(folder: Path) -> dict[str, dict[str, Any]]:
    """What the list says of each file, which is as it was when it was read."""
    return {told["path"]: told for told in kept.unsealed_json(folder / _LIST)["files"]}


def _write_narrow(folder: Path, now: narrow.Kept, known: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What the list says of the segments, which lie in `folder` then; those that are `known` stay as they are."""
    found = []
    for segment in now.segments:
        for kind in narrow.FILES:
            name = _narrowed(segment, kind)
            if name not in known:
                body = as_it_lies(segment.files[kind].combine_chunks())
                kept.write(folder / name, body)
                (known[name],) = kept.listed([(name, body)])
            found.append(known[name])
    return found


def _narrowed(segment: narrow.Segment, kind: str) -> str:
    """The file of the rows of a kind in a segment."""
    return f"{_NARROW}/{segment.name}-{kind}.arrow"


def _discard_segments(folder: Path, state: narrow.Kept) -> None:
    """Nothing; of segments there are those that are kept."""
    wanted = {f"{segment.name}-{kind}.arrow" for segment in state.segments for kind in narrow.FILES}
    for path in (folder / _NARROW).glob("*"):
        if path.name not in wanted:
            path.unlink(missing_ok=True)


def _grouped(name: str) -> str:
    """The file of a table of what grouping decided."""
    return f"grouped_{name}.arrow"


def _discard_keyed(folder: Path, wanted: Set[str]) -> None:
    """Nothing; of files of records there are those that are wanted."""
    for name in _KEYED:
        for path in (folder / name).glob("*"):
            if f"{name}/{path.name}" not in wanted:
                path.unlink(missing_ok=True)


def _forget(folder: Path) -> None:
    """Nothing; nothing is left for the next build."""
    for name in (_LIST, _TEXTS, _PLACED, *map(_grouped, grouping.SCHEMAS)):
        disk.clear(folder / name)
    _discard_segments(folder, narrow.NOTHING)
    _discard_keyed(folder, frozenset())
    worded.discard(folder, ())


def _discard_leftovers(folder: Path) -> None:
    """Nothing; what a build was writing when it was killed is gone, and what no build reads any more: it may quote what
    people had us forget since.
    """
    for name in _BEFORE:
        disk.clear(folder / name)
    for inside in (folder, folder / _NARROW, folder / worded.FOLDER, *(folder / name for name in _KEYED)):
        for path in inside.glob(".*.*.*"):
            path.unlink(missing_ok=True)


def kept_files(folder: Path, seen: kept.Seen | None = None) -> Iterator[KeptFile]:
    """The files of `folder`, with what a look at their bytes says; one that `seen` knows as whole is not read again."""
    yield from kept.looked_at(folder, _LIST, kept.KeptKind.RESULTS, _CURE, seen)


def entry_of(cluster_id: str, found: Mapping[str, bytes]) -> KnowledgeEntry:
    """The entry of a cluster, whose words are among `found`."""
    return KnowledgeEntry.model_validate_json(worded.unpacked(found[cluster_id]))


_KEYED: Mapping[str, tuple[type[Keyed[Any]], Table[Any]]] = {
    "results": (Keyed, RESULTS),
    "on_templates": (KeptProofs, grouping.PROOFS),
    "on_messages": (KeptProofs, grouping.PROOFS),
}
