"""Shards into entries: cluster, prove expressions, draft, name, put into words, check; how much Chinese came of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pipeline import cluster, distil, normalise, packs, store, validate
from pipeline.cluster import proofs
from pipeline.records import Claim, Cluster, Skipped, Template
from pipeline.records.entry import KnowledgeEntry
from pipeline.run.build import concerned, grouping, ids, keyed, making, reduce, results, worded
from pipeline.run.build.grouping import NOTHING, Clusters, Kept, KeptProofs
from pipeline.run.build.keyed import Keyed
from pipeline.run.build.registry import Registered
from pipeline.run.build.results import RESULTS
from pipeline.run.build.rows import TEMPLATES, Rows
from pipeline.run.build.worded import GENERAL, WHOLE, Texts, Worded
from pipeline.translate.engines import Engine

#: Told of (stage, items done, items in all).
Progress = Callable[[str, int, int], None]
#: Entries between two reports of progress.
_REPORT_EVERY = 500


@dataclass(frozen=True, slots=True)
class Grouped:
    """The clusters that the errors of all documents make."""

    table: pa.Table  # of all templates, as `rows.TEMPLATES` has them
    partition: cluster.Partition
    clusters: Clusters  # its own
    cluster_of: Mapping[str, str]  # signature id -> cluster id
    rulings: tuple[cluster.Ruling, ...]  # the overrides, applied
    ignored: tuple[Skipped, ...]  # the events that people set aside
    proofs: tuple[KeptProofs, KeptProofs]  # on templates, and on messages
    kept: Kept = NOTHING  # for the next build
    anew: frozenset[str] | None = None  # clusters that are not as they were, see `concerned`; None where any may be

    @property
    def templates(self) -> list[Template]:
        """All templates as records, read for who asks."""
        return TEMPLATES.read(self.table)


@dataclass(frozen=True, slots=True)
class Made:
    """What became of the clusters."""

    clusters: Sequence[Cluster]  # those of the partition, with their regular expressions
    entries: Worded  # in the order of their ids
    withheld: tuple[store.WithheldRow, ...]
    skipped: tuple[Skipped, ...]
    unsaid: tuple[Skipped, ...]  # statements that are not passed on: of imports, and of what claims came to
    registry: Registered
    journal: tuple[store.JournalRow, ...]
    rulings: tuple[cluster.Ruling, ...]  # the overrides, with those that asked for a name in vain
    results: Keyed[results.Result]  # for the memory of the next build
    texts: Texts  # the words of their entries


def group(
    rows: Rows,
    overrides: cluster.Overrides = cluster.NONE,
    *,
    standing: results.State = results.NOTHING,
) -> Grouped:
    """The clusters of all errors in `rows`, as the texts alone and the people of `overrides` say.

    `standing` is what the last build left: what its proofs prove still is not proven again, and where people say
    nothing, only those are grouped and asked anew whom a change may concern.

    Raises:
        ConfigError: two rows of `overrides` contradict each other.
    """
    last, touched = standing.grouping, rows.touched
    templates = rows.template_table(last.templates if len(last.templates) else None)
    kept, rulings = NOTHING, tuple[cluster.Ruling, ...]()
    if overrides.rows:
        records = TEMPLATES.read(templates)
        partition = cluster.partition(records, overrides=overrides, kept=standing.on_templates)
        rulings = cluster.rulings(overrides, records)
        on_templates = standing.on_templates.with_those_of(partition.proofs, gone=standing.on_templates)
    else:
        shown = touched.shown if touched is not None and len(last.templates) else None
        partition, kept, on_templates = grouping.grouped(templates, last, standing.on_templates, shown=shown)
    assignments = grouping.lying(partition)
    cluster_of = grouping.Assigned(assignments)
    anew = concerned.told_anew(kept, cluster_of, standing, touched)
    if anew is not None:
        anew |= concerned.proven_anew(on_templates, standing.on_templates)
    bare = Clusters.of(partition.clusters, on_templates)
    on_messages = _proofs(rows, bare, cluster_of, standing.on_messages, anew)
    clusters = Clusters.of(bare, on_messages)
    partition = replace(partition, clusters=clusters, assignments=assignments)
    if anew is not None:
        anew |= concerned.proven_anew(on_messages, standing.on_messages)
    ignored, proven = reduce.ignored(rows, partition), (on_templates, on_messages)
    return Grouped(templates, partition, clusters, cluster_of, rulings, ignored, proven, kept, anew)


@dataclass(frozen=True, slots=True)
class Means:
    """With what entries are made."""

    folder: Path  # for what is too much for memory; gone afterwards
    workers: int = 1
    translators: Sequence[Engine] = ()
    memory: results.Memory = results.NONE
    progress: Progress = lambda _stage, _done, _total: None


def make(rows: Rows, grouped: Grouped, means: Means, *, registry: Registered, min_documents: int) -> Made:
    """The entries of the clusters of `rows`; `registry` holds the ids published before.

    Their words are read when somebody asks for them, as long as the folder of `means` is there.
    """
    clusters, rulings = grouped.clusters, grouped.rulings
    work = _Work.of(rows, grouped, means)
    sketches = _sketched(work)
    rest = _Rest.of(means.memory.results, sketches, clusters)
    sketches = work.with_more(sketches, rest.resized(min_documents))
    enough, few = _split(sketches, min_documents)
    rest = rest.without(sketches)
    names, set_aside = reduce.name_of(rulings), _set_aside(grouped.partition)
    wanted = [_wanted(one.cluster, one.result, names, set_aside.get(one.cluster.cluster_id, ())) for one in enough]
    assigned = ids.assign(wanted, registry, rest.unchanged(clusters))
    rulings = _with_refused(rulings, enough, assigned)
    enough, broken = _worded(enough, rest, work, assigned)
    foreign, refused = _imported(rows, taken=ids.Taken(set(), assigned.registry.is_of_entry))
    known = means.memory.results
    made = known.with_those_of(
        {one.cluster.cluster_id: one.result for one in (*sketches, *enough)}, gone=known.without(clusters.ids)
    )
    return Made(
        clusters=clusters,
        entries=Worded(results.published(made), work.entry, {one.id: one for one in foreign}),
        withheld=tuple(_kept_aside(results.with_any(made, "withheld"))),
        skipped=(*sorted([*few, *rest.few()], key=attrgetter("item_id")), *broken, *refused),
        unsaid=(*_unpublished(results.with_any(made, "unsaid")), *_unsaid(foreign)),
        registry=assigned.registry,
        journal=tuple(_journal(assigned, rulings, grouped.cluster_of)),
        rulings=rulings,
        results=made,
        texts=work.texts,
    )


@dataclass(slots=True)
class _Sketch:
    """A cluster, with what its draft and its entry came to."""

    cluster: Cluster
    needed: results.Needed | None  # None where nothing could change the draft
    result: results.Result


@dataclass(frozen=True, slots=True)
class _Work:
    """What making entries needs."""

    rows: Rows
    clusters: Clusters
    around: results.Around
    means: Means
    maker: making.Maker
    texts: Texts
    placed: Mapping[str, Sequence[Claim]]  # by signature id
    concerned: frozenset[str] | None  # clusters whose drafts may be others; None: any

    @classmethod
    def of(cls, rows: Rows, grouped: Grouped, means: Means) -> _Work:
        """For the clusters of `grouped`."""
        placed: dict[str, list[Claim]] = defaultdict(list)
        for claim in rows.placed:
            for signature_id in claim.signature_ids:
                placed[signature_id].append(claim)
        shared = making.Shared(
            means.folder,
            reduce.gathered(rows.pages, ()),
            tuple(means.translators),
            packs.active().folders,
            packs.active().digest(*packs.Stage),
        )
        around = results.Around(grouped.cluster_of, reduce.near_of(grouped.partition), rows.page_digests)
        texts = Texts(means.folder / "entries", means.memory.texts)
        maker, anew = making.Maker(rows, shared, means.workers), _concerned(rows, grouped, means.memory)
        return cls(rows, grouped.clusters, around, means, maker, texts, placed, anew)

    def order(self, sketch: _Sketch, named: making.Named | None = None) -> making.Order:
        """What is asked for a cluster."""
        found, needed = sketch.cluster, self.needed(sketch)
        item = making.Item(
            found, tuple(self.around.near.get(found.cluster_id, ())), needed.others, sketch.result, named
        )
        placed = {one.claim_id: one for member in found.members for one in self.placed.get(member, ())}
        return making.Order(item, needed.digest, tuple(placed.values()))

    def needed(self, sketch: _Sketch) -> results.Needed:
        """What the draft of a cluster is made from, as it was told when it was made."""
        made = sketch.result
        return sketch.needed or results.Needed(
            made.drafted, results.others_of(sketch.cluster, made.spoken, self.around), made.spoken
        )

    def entry(self, cluster_id: str, form: str) -> KnowledgeEntry:
        """The entry of a cluster, whole or without an explanation that says too little."""
        entry = results.entry_of(cluster_id, self.texts)
        return validate.without_general(entry) if form == GENERAL else entry

    def with_more(self, sketches: Sequence[_Sketch], clusters: Iterable[str]) -> list[_Sketch]:
        """These, and of other clusters what the last build made of them, in the order of their ids."""
        known = self.means.memory.results
        more = [_Sketch(one, None, known[one.cluster_id]) for one in self.clusters.of_ids(clusters)]
        return sorted([*sketches, *more], key=lambda one: one.cluster.cluster_id) if more else list(sketches)


@dataclass(frozen=True, slots=True)
class _Rest:
    """What the last build made of the clusters that nothing concerned so far, in columns."""

    table: pa.Table

    @classmethod
    def of(cls, known: Keyed[results.Result], sketches: Sequence[_Sketch], clusters: Clusters) -> _Rest:
        """Of all `clusters` but those of the sketches."""
        names = ("cluster_id", "entry_id", "aliases", "document_count", "domain", "slugs", "page_slug", "others")
        if len(sketches) == len(clusters):
            return cls(RESULTS.schema.empty_table().select([*names, "accepted", "facts"]))
        table = known.rows([*names, "accepted", "facts"])
        return cls(table.filter(pa.array(keyed.is_in(table["cluster_id"], clusters.ids)))).without(sketches)

    def without(self, sketches: Iterable[_Sketch]) -> _Rest:
        """Those that are none of these."""
        ids = {one.cluster.cluster_id for one in sketches}
        return _Rest(self.table.filter(pa.array(~keyed.is_in(self.table["cluster_id"], ids))))

    def resized(self, min_documents: int) -> list[str]:
        """The clusters that enough report now and did not, or the other way round."""
        is_enough = pc.greater_equal(self.table["document_count"], min_documents)
        return self._ids(pc.not_equal(is_enough, self._is_named()))

    def few(self) -> Iterator[Skipped]:
        """Those that too few report, for the summary."""
        some = self.table.filter(pc.invert(self._is_named())).select(["cluster_id", "document_count"])
        for cluster_id, documents in zip(*(column.to_pylist() for column in some.columns), strict=True):
            yield _too_few(cluster_id, documents)

    def unchanged(self, clusters: Clusters) -> ids.Unchanged:
        """Those that enough report, for who gives them ids."""
        some = self.table.filter(self._is_named()).select(["cluster_id", "domain", "page_slug"])
        medoids = keyed.whole(clusters.table["medoid"]).take(
            keyed.whole(pc.index_in(some["cluster_id"], value_set=clusters.ids))
        )
        paged = some.filter(pc.not_equal(some["page_slug"], "")).to_pylist()
        members = clusters.table["members"]
        return ids.Unchanged(
            medoids=pa.Table.from_arrays([keyed.whole(some["cluster_id"]), medoids], schema=ids.MEDOIDS),
            page_ids={one["cluster_id"]: f"{one['domain']}/{one['page_slug']}" for one in paged},
            holders=lambda signatures: keyed.owners(clusters.table["cluster_id"], members, signatures),
            wanted=lambda standing: self._wanted(clusters, but=standing),
        )

    def _wanted(self, clusters: Clusters, *, but: pa.ChunkedArray) -> Iterator[ids.Wanted]:
        """What those would like to be called that enough report, and that are none of some."""
        names = ("cluster_id", "domain", "slugs", "page_slug", "document_count")
        some = self.table.filter(self._is_named()).select(names)
        some = some.filter(pa.array(~keyed.is_in(some["cluster_id"], but)))
        places = pc.index_in(some["cluster_id"], value_set=clusters.ids)
        own = clusters.table.select(["medoid", "members"]).take(places)
        cells = (column.to_pylist() for column in (*some.columns, *own.columns))
        for cluster_id, domain, slugs, page_slug, documents, medoid, members in zip(*cells, strict=True):
            yield ids.Wanted(
                cluster_id=cluster_id,
                domain=domain,
                slug=slugs[0],
                longer_slugs=tuple(slugs[1:]),
                page_id=f"{domain}/{page_slug}" if page_slug else "",
                medoid=medoid,
                members=tuple(members),
                weight=documents,
            )

    def called_otherwise(self, assigned: ids.Assigned) -> list[str]:
        """The clusters whose entries have another id now."""
        return self._ids(pc.not_equal(self.table["entry_id"], assigned.ids.column(self.table["cluster_id"])))

    def renamed(self, assigned: ids.Assigned, named_anew: frozenset[str]) -> set[str]:
        """The clusters whose entries say another id now: their own, a former one, or that of another entry."""
        found = {*self._ids(pc.is_in(self.table["cluster_id"], value_set=pa.array(sorted(named_anew), pa.string())))}
        found |= {*keyed.owners(self.table["cluster_id"], self.table["others"], named_anew)}
        is_led_to = pa.array(keyed.is_in(self.table["entry_id"], assigned.led_to()))
        some = self.table.filter(pc.or_(pc.greater(pc.list_value_length(self.table["aliases"]), 0), is_led_to))
        for cluster_id, entry_id, aliases in zip(
            *(some[name].to_pylist() for name in ("cluster_id", "entry_id", "aliases")), strict=True
        ):
            if assigned.aliases_of(entry_id) != aliases:
                found.add(cluster_id)
        return found

    @property
    def shapes(self) -> pa.Array:
        """What `translate.shape_of` says of their entries."""
        return pc.struct_field(keyed.whole(self.table["facts"]), "shape").filter(keyed.whole(self._is_named()))

    def otherwise_general(self, general: pa.Array) -> list[str]:
        """The clusters whose entries were not accepted in the form that is theirs now."""
        shapes = pc.struct_field(keyed.whole(self.table["facts"]), "shape")
        is_shaped = pc.greater(pc.list_value_length(shapes), 0)
        said = pc.list_element(pc.if_else(is_shaped, shapes, pa.scalar([""], shapes.type)), 0)
        is_general = pc.and_(is_shaped, pc.is_in(said, value_set=general))
        form = pc.if_else(is_general, GENERAL, WHOLE)
        return self._ids(pc.and_(self._is_named(), pc.not_equal(self.table["accepted"], form)))

    def _is_named(self) -> pa.ChunkedArray:
        return pc.not_equal(self.table["entry_id"], "")

    def _ids(self, mask: pa.ChunkedArray) -> list[str]:
        found: list[str] = self.table["cluster_id"].filter(mask).to_pylist()
        return found


def _too_few(cluster_id: str, documents: int) -> Skipped:
    return Skipped("entries", cluster_id, "too_few_documents", f"{documents} documents")


def _concerned(rows: Rows, grouped: Grouped, memory: results.Memory) -> frozenset[str] | None:
    """The clusters whose drafts may be others than those that are remembered; None where any may."""
    standing, touched = memory.standing, rows.touched
    is_known = memory.fingerprint and memory.fingerprint == standing.fingerprint
    if grouped.anew is None or touched is None or not is_known or touched.has_pages:
        return None
    placed = concerned.placed_rows(rows.placed)
    rules = concerned.by_rule(grouped.kept, grouped.cluster_of, standing, touched, placed)
    return grouped.anew.union(*rules.values())


#: Of a cluster whose draft is not made yet.
_UNMADE = results.Result("", "", "", (), "", 0, ())


def _sketched(work: _Work) -> list[_Sketch]:
    """The clusters whose drafts may be others, sorted by id, with the draft's result: that of before, or made now."""
    memory, sketches, weights = work.means.memory, [], work.maker.weights
    clusters = work.clusters
    asked = list(clusters) if work.concerned is None else clusters.of_ids(work.concerned)
    work.rows.of_members({member: one.cluster_id for one in asked for member in one.members})
    known = memory.results.several([one.cluster_id for one in asked])
    for found, decisive in zip(asked, work.rows.decisive(), strict=True):
        assert found.cluster_id == decisive.cluster_id
        needed = memory.needed(found, decisive, work.around)
        sketches.append(_Sketch(found, needed, memory.of(known.get(found.cluster_id), needed) or _UNMADE))
        weights[found.cluster_id] = decisive.weight
    unmade = {one.cluster.cluster_id: one for one in sketches if one.result is _UNMADE}
    for result in work.maker.drafted([work.order(one) for one in unmade.values()]):
        unmade[result.cluster_id].result = result
    for one in sketches:
        assert one.needed is not None
        others = tuple(sorted({cluster_id for _, cluster_id in one.needed.others}))
        one.result = replace(one.result, spoken=one.needed.spoken, others=others)
    return sketches


def _journal(
    assigned: ids.Assigned, rulings: Sequence[cluster.Ruling], cluster_of: Mapping[str, str]
) -> Iterator[store.JournalRow]:
    """What happened to entries; a merge that people asked for has their reason."""
    merges: dict[str, list[str]] = {}
    for ruling in rulings:
        if ruling.override.kind == "merge":
            named = {cluster_of[one] for side in ruling.sides for one in side if one in cluster_of}
            for cluster_id in named:
                merges.setdefault(assigned.ids.get(cluster_id, ""), []).append(ruling.override.reason)
    for note in assigned.journal:
        reasons = merges.get(note.other_id or "", []) if note.action == "merged" else []
        detail = "; ".join([note.detail, *(f'overrides.toml: "{reason}"' for reason in reasons)])
        yield store.JournalRow(note.action, note.entry_id, note.other_id, detail)


def _with_refused(
    rulings: Sequence[cluster.Ruling], drafts: Sequence[_Sketch], assigned: ids.Assigned
) -> tuple[cluster.Ruling, ...]:
    """The rulings, of which those that ask for a name that their entry did not get say so."""
    entry_of = {member: assigned.ids[d.cluster.cluster_id] for d in drafts for member in d.cluster.members}
    made = []
    for ruling in rulings:
        names = {entry_of[one] for side in ruling.sides for one in side if one in entry_of}
        other = sorted(name for name in names if name.partition("/")[2] != ruling.override.name)
        if ruling.override.kind == "rename" and other and not ruling.problem:
            problem = f"{other[0]} keeps its name: another entry has or had this one, or another row names it"
            ruling = replace(ruling, problem=problem)  # noqa: PLW2901
        made.append(ruling)
    return tuple(made)


def _proofs(
    rows: Rows,
    clusters: Clusters,
    cluster_of: Mapping[str, str],
    kept: KeptProofs,
    anew: frozenset[str] | None,
) -> KeptProofs:
    """By cluster an expression that finds every member's own words and no other cluster's.

    Of clusters that are not among those told `anew` nobody reads the words, unless an expression is to be proven.
    """
    if anew is None:
        asked, gone, rest = list(clusters), frozenset(kept), None
    else:
        asked = clusters.of_ids(anew)
        gone = kept.without(clusters.ids) | anew
        texts = _Quotes(rows, clusters, cluster_of)
        rest = cluster.Untouched(gone, clusters.of_ids, texts, list(texts.owned(rows.words_that_came())))
    told = _Told(rows, clusters)
    told.read(asked)
    return kept.with_those_of(cluster.regexes_for(asked, told, kept, rest), gone=gone)


class _Told(dict[str, list[str]]):
    """The words of the events of clusters, read of those that somebody asks for."""

    def __init__(self, rows: Rows, clusters: Clusters) -> None:
        super().__init__()
        self._rows, self._clusters = rows, clusters

    def __missing__(self, cluster_id: str) -> list[str]:
        self.read(self._clusters.of_ids([cluster_id]))
        return self.setdefault(cluster_id, [])

    def read(self, clusters: Iterable[Cluster]) -> None:
        """Nothing; those of these clusters are here."""
        self._rows.of_members({member: one.cluster_id for one in clusters for member in one.members})
        self.update({owner: _messages(found) for owner, found in groupby(self._rows.quotes(), key=itemgetter(0))})


class _Quotes(grouping.Texts):
    """The words of all events, each with its cluster; of an official page also its form."""

    def __init__(self, rows: Rows, clusters: Clusters, cluster_of: Mapping[str, str]) -> None:
        events = rows.words_of_events()
        super().__init__(events["quote"], events["signature_id"])
        self._rows, self._events, self._clusters, self._cluster_of = rows, events, clusters, cluster_of
        self._members_of: dict[frozenset[str], frozenset[str]] = {}

    @cached_property
    def _forms(self) -> list[tuple[str, str]]:
        return _forms(self._events)

    def owned(self, events: pa.Table) -> Iterator[tuple[str, str]]:
        """The words of some events, each with its cluster; of an official page also its form."""
        cells = zip(events["signature_id"].to_pylist(), events["quote"].to_pylist(), strict=True)
        return self._owned(chain(cells, _forms(events)), self._cluster_of)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._owned(chain(super().__iter__(), self._forms), dict(self._cluster_of.items()))

    def holding(self, words: frozenset[str], but: frozenset[str]) -> Iterator[tuple[str, str]]:
        """See `cluster.proofs.Lying`."""
        if but not in self._members_of:  # a build asks of few sets, of each many times
            self._members_of[but] = frozenset(member for one in self._clusters.of_ids(but) for member in one.members)
        members = self._members_of[but]
        forms = (one for one in self._forms if one[0] not in members and words <= proofs.words_of(one[1]))
        return self._owned(chain(self._rows.holding(words, members), forms), self._cluster_of)

    def _owned(self, texts: Iterable[tuple[str, str]], cluster_of: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        return ((cluster_of[one], words) for one, words in texts if one and one in cluster_of)


def _forms(events: pa.Table) -> list[tuple[str, str]]:
    """The signatures and forms of those events that are of official pages."""
    pages = events.filter(pc.equal(events["severity"], "official"))
    cells = zip(pages["signature_id"].to_pylist(), pages["quote"].to_pylist(), strict=True)
    return [(signature_id, normalise.masked(words)) for signature_id, words in cells]


def _messages(quotes: Iterable[tuple[str, str, bool]]) -> list[str]:
    """The words of a cluster's events, each once."""
    found: set[str] = set()
    for _, words, is_official in quotes:
        # of an official page also its form, or its example values would stay
        found |= {words, normalise.masked(words)} if is_official else {words}
    return sorted(found)


def _worded(
    sketches: Sequence[_Sketch], rest: _Rest, work: _Work, assigned: ids.Assigned
) -> tuple[list[_Sketch], list[Skipped]]:
    """These and all others whose entries are asked anew, and those that break a rule, with the rules they break."""
    named_anew = _named_anew(sketches, rest, work.means.memory, assigned)
    sketches = work.with_more(sketches, rest.renamed(assigned, named_anew))
    _word(sketches, work, assigned, named_anew)
    rest = rest.without(sketches)
    own = pa.array([one.result.facts.shape for one in sketches], pa.list_(pa.string()))
    general = worded.too_general(pa.concat_arrays([own, rest.shapes]))
    sketches = work.with_more(sketches, rest.otherwise_general(general))
    explanations, lost = frozenset(general.to_pylist()), []
    for sketch in sketches:
        shape, cluster_id = sketch.result.facts.shape, sketch.cluster.cluster_id
        form = GENERAL if shape and shape[0] in explanations else WHOLE
        if sketch.result.accepted != form:
            found = making.verdict(work.entry(cluster_id, form), sketch.cluster)
            if isinstance(found, validate.Rejected):
                lost.append(_lost(found))
            sketch.result = replace(sketch.result, accepted=form if isinstance(found, validate.Accepted) else "")
    return sketches, lost


def _word(sketches: Sequence[_Sketch], work: _Work, assigned: ids.Assigned, named_anew: frozenset[str]) -> None:
    """Nothing; the results of the sketches are those of entries: made before, where nothing of them changed."""
    changed: dict[str, _Sketch] = {}
    orders, asked = [], []
    for sketch in sketches:
        was = sketch.result
        entry_id = assigned.ids[sketch.cluster.cluster_id]
        aliases = tuple(assigned.aliases_of(entry_id))
        is_named = (was.entry_id, was.aliases) == (entry_id, aliases) and named_anew.isdisjoint(was.others)
        if sketch.needed is not None or not is_named:
            asked.append((sketch, entry_id, aliases, work.needed(sketch)))
    names = assigned.ids.several({one for sketch, *_, needed in asked for one in _spoken_of(sketch, needed)})
    for sketch, entry_id, aliases, needed in asked:
        was, cluster_id = sketch.result, sketch.cluster.cluster_id
        named = {one: names[one] for one in _spoken_of(sketch, needed) if one in names}
        digest = work.means.memory.worded(needed, entry_id, aliases, named)
        sketch.result = replace(was, entry_id=entry_id, aliases=aliases)
        if not digest or was.worded != digest:
            changed[cluster_id] = sketch
            orders.append(work.order(sketch, making.Named(entry_id, aliases, named, digest)))
    for done, made in enumerate(work.maker.worded(orders), len(sketches) - len(orders) + 1):
        changed[made.result.cluster_id].result = made.result
        work.texts.add(made.result.cluster_id, made.body)
        if done % _REPORT_EVERY == 0:
            work.means.progress("entries", done, len(sketches))
    if sketches:
        work.means.progress("entries", len(sketches), len(sketches))


def _named_anew(
    sketches: Sequence[_Sketch], rest: _Rest, memory: results.Memory, assigned: ids.Assigned
) -> frozenset[str]:
    """The clusters whose entries are called otherwise than they were, or came, or are gone."""
    known = memory.results.rows(["cluster_id", "entry_id"])
    known = known.filter(pa.array(~keyed.is_in(known["cluster_id"], rest.table["cluster_id"])))
    before = dict(zip(*(column.to_pylist() for column in known.columns), strict=True))
    now = {one.cluster.cluster_id: assigned.ids[one.cluster.cluster_id] for one in sketches}
    differing = {one for one in before.keys() | now.keys() if before.get(one, "") != now.get(one, "")}
    return frozenset(differing.union(rest.called_otherwise(assigned)))


def _spoken_of(sketch: _Sketch, needed: results.Needed) -> list[str]:
    """The clusters whose entries a cluster's entry may name, sorted."""
    return sorted({sketch.cluster.cluster_id, *(cluster_id for _, cluster_id in needed.others)})


def _imported(rows: Rows, *, taken: ids.Taken) -> tuple[list[KnowledgeEntry], list[Skipped]]:
    """The entries that were made elsewhere, unproven, under a name that none of ours has."""
    accepted: list[KnowledgeEntry] = []
    lost: list[Skipped] = []
    for row in rows.foreign():
        assert row.payload is not None
        try:
            entry = validate.imported(row.payload)
        except ValueError as error:
            lost.append(Skipped("entries", row.document_id, "foreign_entry_unusable", str(error)[:300]))
            continue
        if entry.id in taken:
            entry = entry.model_copy(update={"id": f"{entry.id}-{row.raw_sha256[:6]}"})
        taken.add(entry.id)
        _sort(validate.verdict(entry), accepted, lost)
    return accepted, lost


def _unsaid(entries: Iterable[KnowledgeEntry]) -> Iterator[Skipped]:
    """One row for each statement that the import of an entry left out."""
    for entry in entries:
        for reason in ("addresses_models", "unsafe_action"):
            for _ in range(entry.provenance.rules.get(f"import.{reason}", 0)):
                yield Skipped(distil.STAGE, entry.id, reason, "imported")


def _sort(found: validate.Verdict, accepted: list[KnowledgeEntry], lost: list[Skipped]) -> None:
    if isinstance(found, validate.Accepted):
        accepted.append(found.entry)
    else:
        lost.append(_lost(found))


def _lost(found: validate.Rejected) -> Skipped:
    return Skipped("entries", found.entry_id, "breaks_a_rule", "; ".join(map(str, found.reasons))[:1000])


def _split(sketches: Iterable[_Sketch], min_documents: int) -> tuple[list[_Sketch], list[Skipped]]:
    enough: list[_Sketch] = []
    few: list[Skipped] = []
    for sketch in sketches:
        documents = sketch.result.document_count
        if documents >= min_documents:
            enough.append(sketch)
        else:
            few.append(_too_few(sketch.cluster.cluster_id, documents))
            sketch.result = replace(sketch.result, entry_id="", aliases=())  # meanwhile others may be called otherwise
    return enough, few


def _kept_aside(made: Iterable[results.Result]) -> Iterator[store.WithheldRow]:
    for one in made:
        for kept in one.withheld:
            yield store.WithheldRow(one.cluster_id, **asdict(kept))


def _unpublished(made: Iterable[results.Result]) -> Iterator[Skipped]:
    """What is not passed on of entries that enough report."""
    return (item for one in made if one.entry_id for item in one.unsaid)


def _set_aside(partition: cluster.Partition) -> dict[str, tuple[str, ...]]:
    """By cluster the signatures that people ignore."""
    found: dict[str, tuple[str, ...]] = {}
    for one in partition.ignored:
        found[one.cluster_id] = (*found.get(one.cluster_id, ()), one.signature_id)
    return found


def _wanted(
    found: Cluster, result: results.Result, names: Mapping[str, tuple[str, str]], set_aside: tuple[str, ...]
) -> ids.Wanted:
    name, reason = min((names[member] for member in found.members if member in names), default=("", ""))
    return ids.Wanted(
        cluster_id=found.cluster_id,
        domain=result.domain,
        slug=result.slugs[0],
        longer_slugs=result.slugs[1:],
        page_id=f"{result.domain}/{result.page_slug}" if result.page_slug else "",
        medoid=found.medoid,
        members=found.members,
        weight=result.document_count,
        name=name,
        name_reason=reason,
        set_aside=set_aside,
    )


def figures(grouped: Grouped, made: Made) -> dict[str, object]:
    """What a run's summary says of them: numbers of signatures, clusters and entries, tiers, how Chinese came to be."""
    tiers, answered, documented, known, every = (Counter[str]() for _ in range(5))
    for (tier, domain, is_answered, is_documented), count in made.entries.kinds().items():
        tiers[tier] += count
        every[domain] += count
        answered[domain] += count * is_answered
        documented[domain] += count * is_documented
        known[domain] += count * (is_answered or is_documented)
    changed = made.entries.changed_sources()
    return {
        **({"changed_sources": changed} if changed else {}),
        "signatures": len(grouped.table),
        "clusters": len(made.clusters),
        "entries": len(made.entries),
        "tiers": dict(sorted(tiers.items())),
        "answers": {
            name: {
                "entries": count,
                "answered": answered[name],
                "documented": documented[name],
                "known": known[name],
            }
            for name, count in sorted(every.items())
        },
        "zh": {row.field: dict(row.by_status) for row in made.entries.coverage()},
    }
