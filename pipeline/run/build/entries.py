"""Shards into entries: cluster, prove expressions, draft, name, put into words, check; how much Chinese came of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

from pipeline import cluster, distil, normalise, packs, store, validate
from pipeline.records import Claim, Cluster, Skipped, Template
from pipeline.records.bundle import Registry
from pipeline.records.entry import KnowledgeEntry
from pipeline.run.build import concerned, grouping, ids, making, reduce, results
from pipeline.run.build.grouping import NOTHING, Kept
from pipeline.run.build.rows import TEMPLATES, Rows
from pipeline.run.build.worded import GENERAL, WHOLE, One, Texts, Worded, changed_sources, coverage
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
    cluster_of: Mapping[str, str]  # signature id -> cluster id
    rulings: tuple[cluster.Ruling, ...]  # the overrides, applied
    ignored: tuple[Skipped, ...]  # the events that people set aside
    proofs: tuple[tuple[cluster.Proof, ...], tuple[cluster.Proof, ...]] = ((), ())  # on templates, and on messages
    kept: Kept = NOTHING  # for the next build
    anew: frozenset[str] | None = None  # clusters that are not as they were, see `concerned`; None where any may be

    @property
    def templates(self) -> list[Template]:
        """All templates as records, read for who asks."""
        return TEMPLATES.read(self.table)


@dataclass(frozen=True, slots=True)
class Made:
    """What became of the clusters."""

    clusters: tuple[Cluster, ...]  # those of the partition, with their regular expressions
    entries: Worded  # in the order of their ids
    withheld: tuple[store.WithheldRow, ...]
    skipped: tuple[Skipped, ...]
    unsaid: tuple[Skipped, ...]  # statements that are not passed on: of imports, and of what claims came to
    registry: Registry
    journal: tuple[store.JournalRow, ...]
    rulings: tuple[cluster.Ruling, ...]  # the overrides, with those that asked for a name in vain
    results: tuple[results.Result, ...]  # for the memory of the next build
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
    last = standing.grouping
    templates = rows.template_table(last.templates if len(last.templates) else None)
    on_templates = {one.cluster_id: one for one in standing.on_templates}
    kept, rulings = NOTHING, tuple[cluster.Ruling, ...]()
    if overrides.rows:
        records = TEMPLATES.read(templates)
        partition = cluster.partition(records, overrides=overrides, kept=on_templates)
        rulings = cluster.rulings(overrides, records)
    else:
        partition, kept = grouping.grouped(templates, last, on_templates)
    cluster_of = partition.cluster_of()
    anew = concerned.told_anew(kept, cluster_of, standing, rows.touched)
    if anew is not None:
        anew |= concerned.proven_anew(partition.proofs, standing.on_templates)
    proven = _proofs(rows, partition, {one.cluster_id: one for one in standing.on_messages}, anew)
    clusters = tuple(found.proven(proven[found.cluster_id].regex) for found in partition.clusters)
    told = (partition.proofs, tuple(proven[found.cluster_id] for found in clusters))
    partition = replace(partition, clusters=clusters)
    if anew is not None:
        anew |= concerned.proven_anew(told[1], standing.on_messages)
    return Grouped(templates, partition, cluster_of, rulings, reduce.ignored(rows, partition), told, kept, anew)


@dataclass(frozen=True, slots=True)
class Means:
    """With what entries are made."""

    folder: Path  # for what is too much for memory; gone afterwards
    workers: int = 1
    translators: Sequence[Engine] = ()
    memory: results.Memory = results.NONE
    progress: Progress = lambda _stage, _done, _total: None


def make(rows: Rows, grouped: Grouped, means: Means, *, registry: Registry, min_documents: int) -> Made:
    """The entries of the clusters of `rows`; `registry` holds the ids published before.

    Their words are read when somebody asks for them, as long as the folder of `means` is there.
    """
    partition, rulings = grouped.partition, grouped.rulings
    work = _Work.of(rows, grouped, means)
    sketches = _sketched(work)
    enough, few = _split(sketches, min_documents)
    names, set_aside = reduce.name_of(rulings), _set_aside(partition)
    wanted = [_wanted(sketch, names, set_aside.get(sketch.cluster.cluster_id, ())) for sketch in enough]
    assigned = ids.assign(wanted, registry)
    rulings = _with_refused(rulings, enough, assigned)
    mined, broken, unsaid = _worded(enough, work, assigned)
    foreign, refused = _imported(rows, taken={*assigned.registry.ids, *assigned.registry.aliases})
    return Made(
        clusters=partition.clusters,
        entries=Worded([*mined, *(One.of(one, results.digest([one.model_dump_json()])) for one in foreign)]),
        withheld=tuple(_kept_aside(sketches)),
        skipped=(*few, *broken, *refused),
        unsaid=(*unsaid, *_unsaid(foreign)),
        registry=assigned.registry,
        journal=tuple(_journal(assigned, rulings, grouped.cluster_of)),
        rulings=rulings,
        results=tuple(sketch.result for sketch in sketches),
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
    partition: cluster.Partition
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
        return cls(rows, grouped.partition, around, means, maker, texts, placed, anew)

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

    def entry(self, sketch: _Sketch, form: str) -> KnowledgeEntry:
        """The entry, whole or without an explanation that says too little."""
        entry = results.entry_of(sketch.result, self.texts)
        return validate.without_general(entry) if form == GENERAL else entry


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
    """Each cluster, sorted by id, with the result of its draft: of the last build, or made now."""
    memory, sketches, weights = work.means.memory, [], work.maker.weights
    clusters = sorted(work.partition.clusters, key=lambda one: one.cluster_id)
    asked = [one for one in clusters if work.concerned is None or one.cluster_id in work.concerned]
    work.rows.of_members({member: one.cluster_id for one in asked for member in one.members})
    told = work.rows.decisive()
    for found in clusters:
        if work.concerned is not None and found.cluster_id not in work.concerned:
            sketches.append(_Sketch(found, None, memory.results[found.cluster_id]))
            continue
        decisive = next(told)
        assert found.cluster_id == decisive.cluster_id
        needed = memory.needed(found, decisive, work.around)
        sketches.append(_Sketch(found, needed, memory.of(found, needed) or _UNMADE))
        weights[found.cluster_id] = decisive.weight
    unmade = {one.cluster.cluster_id: one for one in sketches if one.result is _UNMADE}
    for result in work.maker.drafted([work.order(one) for one in unmade.values()]):
        unmade[result.cluster_id].result = result
    for one in sketches:
        if one.needed is not None:
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
    rows: Rows, partition: cluster.Partition, kept: Mapping[str, cluster.Proof], anew: frozenset[str] | None
) -> dict[str, cluster.Proof]:
    """By cluster an expression that finds every member's own words and no other cluster's.

    Of clusters that are not among those told `anew` nobody reads the words, unless an expression is to be proven.
    """
    told = _Told(rows, {one.cluster_id: one.members for one in partition.clusters})
    untouched = frozenset[str]() if anew is None else told.members.keys() - anew
    told.read(told.members.keys() - untouched)
    every = ((owner, words) for owner in sorted(untouched) for words in told[owner])
    return cluster.regexes_for(partition.clusters, told, kept, untouched=untouched, texts=told.of(every, untouched))


class _Told(dict[str, list[str]]):
    """The words of the events of clusters, read of those that somebody asks for."""

    def __init__(self, rows: Rows, members: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._rows = rows
        self.members = members

    def __missing__(self, cluster_id: str) -> list[str]:
        self.read([cluster_id])
        return self.setdefault(cluster_id, [])

    def read(self, clusters: Iterable[str]) -> None:
        """Nothing; those of these clusters are here."""
        self._rows.of_members({member: owner for owner in clusters for member in self.members[owner]})
        self.update({owner: _messages(found) for owner, found in groupby(self._rows.quotes(), key=itemgetter(0))})

    def of(self, every: Iterator[tuple[str, str]], clusters: Iterable[str]) -> Iterator[tuple[str, str]]:
        """`every`, with the words of these clusters read at once before the first."""
        if missing := [one for one in clusters if one not in self]:
            self.read(missing)
        yield from every


def _messages(quotes: Iterable[tuple[str, str, bool]]) -> list[str]:
    """The words of a cluster's events, each once."""
    found: set[str] = set()
    for _, words, is_official in quotes:
        # of an official page also its form, or its example values would stay
        found |= {words, normalise.masked(words)} if is_official else {words}
    return sorted(found)


def _worded(
    sketches: Sequence[_Sketch], work: _Work, assigned: ids.Assigned
) -> tuple[list[One], list[Skipped], list[Skipped]]:
    """The entries that keep every rule, the others with the rules they break, and what is not passed on."""
    _word(sketches, work, assigned)
    ids_of = assigned.ids
    unsaid = [one for sketch in sketches for one in sketch.result.unsaid]
    general = validate.too_general({ids_of[one.cluster.cluster_id]: one.result.facts.shape for one in sketches})
    accepted: list[One] = []
    lost: list[Skipped] = []
    for sketch in sketches:
        entry_id = ids_of[sketch.cluster.cluster_id]
        form = GENERAL if entry_id in general else WHOLE
        if sketch.result.accepted != form:
            found = making.verdict(work.entry(sketch, form), sketch.cluster)
            if isinstance(found, validate.Rejected):
                lost.append(_lost(found))
            sketch.result = replace(sketch.result, accepted=form if isinstance(found, validate.Accepted) else "")
        if sketch.result.accepted:
            read = partial(work.entry, sketch, form)
            accepted.append(One(entry_id, sketch.result.facts.of_form(form), sketch.result.told, read))
    return accepted, lost, unsaid


def _word(sketches: Sequence[_Sketch], work: _Work, assigned: ids.Assigned) -> None:
    """Nothing; the results of the sketches are those of entries: made before, where nothing of them changed."""
    changed: dict[str, _Sketch] = {}
    orders = []
    named_anew = _named_anew(sketches, work.means.memory, assigned)
    for sketch in sketches:
        was, cluster_id = sketch.result, sketch.cluster.cluster_id
        entry_id = assigned.ids[cluster_id]
        aliases = tuple(assigned.aliases_of(entry_id))
        is_named = (was.entry_id, was.aliases) == (entry_id, aliases) and named_anew.isdisjoint(was.others)
        if sketch.needed is None and is_named:
            continue
        needed = work.needed(sketch)
        named = _names(sketch, needed, assigned)
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


def _named_anew(sketches: Sequence[_Sketch], memory: results.Memory, assigned: ids.Assigned) -> frozenset[str]:
    """The clusters whose entries are called otherwise than they were, or came, or are gone."""
    before = {cluster_id: made.entry_id for cluster_id, made in memory.results.items() if made.entry_id}
    now = {one.cluster.cluster_id: assigned.ids[one.cluster.cluster_id] for one in sketches}
    return frozenset(one for one, _ in before.items() ^ now.items())


def _names(sketch: _Sketch, needed: results.Needed, assigned: ids.Assigned) -> dict[str, str]:
    """The ids of the entries that a cluster's entry may name, by cluster."""
    spoken = {sketch.cluster.cluster_id, *(cluster_id for _, cluster_id in needed.others)}
    return {cluster_id: assigned.ids[cluster_id] for cluster_id in sorted(spoken) if cluster_id in assigned.ids}


def _imported(rows: Rows, *, taken: set[str]) -> tuple[list[KnowledgeEntry], list[Skipped]]:
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
            few.append(Skipped("entries", sketch.cluster.cluster_id, "too_few_documents", f"{documents} documents"))
            sketch.result = replace(sketch.result, entry_id="", aliases=())  # meanwhile others may be called otherwise
    return enough, few


def _kept_aside(sketches: Iterable[_Sketch]) -> Iterator[store.WithheldRow]:
    for sketch in sketches:
        for kept in sketch.result.withheld:
            yield store.WithheldRow(sketch.cluster.cluster_id, **asdict(kept))


def _set_aside(partition: cluster.Partition) -> dict[str, tuple[str, ...]]:
    """By cluster the signatures that people ignore."""
    found: dict[str, tuple[str, ...]] = {}
    for one in partition.ignored:
        found[one.cluster_id] = (*found.get(one.cluster_id, ()), one.signature_id)
    return found


def _wanted(sketch: _Sketch, names: Mapping[str, tuple[str, str]], set_aside: tuple[str, ...]) -> ids.Wanted:
    found, result = sketch.cluster, sketch.result
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
    facts = made.entries.facts
    tiers, answered, documented, known, every = (Counter[str]() for _ in range(5))
    kinds = Counter((one.tier, one.domain, one.is_answered, one.is_documented) for one in facts)
    for (tier, domain, is_answered, is_documented), count in kinds.items():
        tiers[tier] += count
        every[domain] += count
        answered[domain] += count * is_answered
        documented[domain] += count * is_documented
        known[domain] += count * (is_answered or is_documented)
    changed = changed_sources(made.entries)
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
        "zh": {row.field: dict(row.by_status) for row in coverage(facts)},
    }
