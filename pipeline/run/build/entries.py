"""Shards into entries: cluster, prove expressions, draft, name, put into words, check; how much Chinese came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from pipeline import cluster, distil, normalise, packs, store, translate, validate
from pipeline.lexicon import advice
from pipeline.records import Cluster, Severity, Skipped, Template
from pipeline.records.bundle import Registry
from pipeline.records.draft import Draft
from pipeline.records.entry import Evidence, KnowledgeEntry, Lead
from pipeline.run import shards
from pipeline.run.build import ids, reduce, results
from pipeline.run.build.worded import GENERAL, WHOLE, Facts, One, Worded, changed_sources, coverage
from pipeline.translate.engines import Engine

#: Told of (stage, items done, items in all).
Progress = Callable[[str, int, int], None]
#: Entries between two reports of progress.
_REPORT_EVERY = 500


@dataclass(frozen=True, slots=True)
class Grouped:
    """The rows of all shards, and the clusters that their errors make."""

    known: reduce.Knowledge
    templates: tuple[Template, ...]
    partition: cluster.Partition
    cluster_of: Mapping[str, str]  # signature id -> cluster id
    rulings: tuple[cluster.Ruling, ...]  # the overrides, applied
    proofs: tuple[tuple[cluster.Proof, ...], tuple[cluster.Proof, ...]] = ((), ())  # on templates, and on messages

    @property
    def ignored(self) -> tuple[Skipped, ...]:
        """The events that people set aside."""
        return reduce.ignored(self.known, self.partition)


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


def group(
    result: shards.MapResult,
    overrides: cluster.Overrides = cluster.NONE,
    *,
    proofs: tuple[Iterable[cluster.Proof], Iterable[cluster.Proof]] = ((), ()),
) -> Grouped:
    """The clusters of all errors in `result`, as the texts alone and the people of `overrides` say.

    `proofs` are those of the last build: what they prove still is not proven again.

    Raises:
        ConfigError: two rows of `overrides` contradict each other.
    """
    known = reduce.knowledge(result)
    templates = tuple(sorted(reduce.templates(known), key=lambda template: template.signature_id))
    on_templates, on_messages = ({one.cluster_id: one for one in each} for each in proofs)
    partition = cluster.partition(templates, overrides=overrides, kept=on_templates)
    proven = _proofs(known, partition, on_messages)
    clusters = tuple(replace(found, regex=proven[found.cluster_id].regex) for found in partition.clusters)
    rulings = cluster.rulings(overrides, templates)
    told = (partition.proofs, tuple(proven[found.cluster_id] for found in clusters))
    return Grouped(known, templates, replace(partition, clusters=clusters), partition.cluster_of(), rulings, told)


def make(
    grouped: Grouped,
    *,
    registry: Registry,
    min_documents: int,
    progress: Progress,
    translators: Sequence[Engine] = (),
    memory: results.Memory = results.NONE,
) -> Made:
    """The entries of the clusters; `registry` holds the ids published before, `memory` what was made before."""
    known, partition, rulings = grouped.known, grouped.partition, grouped.rulings
    drafting = reduce.Drafting.of(known, partition)
    sketches = [_sketch(found, drafting, memory) for found in sorted(partition.clusters, key=lambda c: c.cluster_id)]
    enough, few = _split(sketches, min_documents)
    names, set_aside = reduce.name_of(rulings), _set_aside(partition)
    wanted = [_wanted(sketch, names, set_aside.get(sketch.cluster.cluster_id, ())) for sketch in enough]
    assigned = ids.assign(wanted, registry)
    rulings = _with_refused(rulings, enough, assigned)
    work = _Work(grouped, drafting, assigned, translators, memory, progress)
    mined, broken, unsaid = _worded(enough, work)
    foreign, refused = _imported(known, taken={*assigned.registry.ids, *assigned.registry.aliases})
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
    )


@dataclass(slots=True)
class _Sketch:
    """A cluster with what is known of its draft, which is made only where somebody needs all of it."""

    cluster: Cluster
    needed: results.Needed
    result: results.Result
    drafted: Draft | None
    entry: KnowledgeEntry | None = None  # as it was put into words now

    def worded(self, form: str) -> KnowledgeEntry:
        """The entry, whole or without an explanation that says too little."""
        entry = self.entry or results.entry_of(self.result)
        return translate.without_general(entry) if form == GENERAL else entry

    def draft(self, drafting: reduce.Drafting) -> Draft:
        """The draft."""
        if self.drafted is None:
            self.drafted = drafting.draft(self.cluster)
        return self.drafted


def _sketch(found: Cluster, drafting: reduce.Drafting, memory: results.Memory) -> _Sketch:
    needed = memory.needed(found, drafting)
    known = memory.of(needed)
    if known is not None:
        return _Sketch(found, needed, known, None)
    draft = drafting.draft(found)
    result = results.Result(
        cluster_id=found.cluster_id,
        drafted=needed.digest,
        domain=draft.domain,
        slugs=draft.slugs,
        page_slug=draft.page_slug,
        document_count=reduce.document_count(draft),
        withheld=draft.withheld,
    )
    return _Sketch(found, needed, result, draft)


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
    known: reduce.Knowledge, partition: cluster.Partition, kept: Mapping[str, cluster.Proof]
) -> dict[str, cluster.Proof]:
    """By cluster an expression that finds every member's own words and no other cluster's."""
    quotes = {
        found.cluster_id: sorted(
            {words for member in found.members for row in known.events[member] for words in _words(row)}
        )
        for found in partition.clusters
    }
    return cluster.regexes_for(partition.clusters, quotes, kept)


def _words(row: shards.EventRow) -> Iterator[str]:
    """The words that an expression must find; of an official sample also its form, or its example values would stay."""
    yield row.quote
    if row.event.severity == Severity.OFFICIAL:
        yield normalise.masked(row.quote)


def _regexes(partition: cluster.Partition) -> frozenset[str]:
    return frozenset(found.regex for found in partition.clusters if found.regex)


@dataclass(frozen=True, slots=True)
class _Work:
    """What putting drafts into words needs."""

    grouped: Grouped
    drafting: reduce.Drafting
    assigned: ids.Assigned
    translators: Sequence[Engine]
    memory: results.Memory
    progress: Progress

    @property
    def names(self) -> reduce.Naming:
        """What entries are called."""
        return reduce.Naming(self.assigned.ids, self.assigned.registry.aliases)

    def worded(self, draft: Draft) -> KnowledgeEntry:
        """The entry of a draft."""
        entry_id = self.assigned.ids[draft.cluster.cluster_id]
        return translate.entry(
            reduce.with_names(draft, self.names),
            entry_id=entry_id,
            aliases=self.assigned.aliases_of(entry_id),
            engines=self.translators,
            normaliser=packs.marked(normalise.NORMALISER_VERSION),
        )


def _worded(sketches: Sequence[_Sketch], work: _Work) -> tuple[list[One], list[Skipped], list[Skipped]]:
    """The entries that keep every rule, the others with the rules they break, and what is not passed on."""
    ids_of = work.assigned.ids
    unsaid: list[Skipped] = []
    shapes: dict[str, tuple[str, ...]] = {}
    for number, sketch in enumerate(sketches, 1):
        _word(sketch, work)
        unsaid += sketch.result.unsaid
        shapes[ids_of[sketch.cluster.cluster_id]] = sketch.result.facts.shape
        if number % _REPORT_EVERY == 0 or number == len(sketches):
            work.progress("entries", number, len(sketches))
    general = translate.too_general(shapes)
    context = validate.Context(proven=_regexes(work.grouped.partition))
    accepted: list[One] = []
    lost: list[Skipped] = []
    for sketch in sketches:
        entry_id = ids_of[sketch.cluster.cluster_id]
        form = GENERAL if entry_id in general else WHOLE
        if sketch.result.accepted != form:
            found = validate.verdict(sketch.worded(form), context)
            if isinstance(found, validate.Rejected):
                lost.append(_lost(found))
            sketch.result = replace(sketch.result, accepted=form if isinstance(found, validate.Accepted) else "")
        if sketch.result.accepted:
            read = partial(sketch.worded, form)
            accepted.append(One(entry_id, sketch.result.facts.of_form(form), sketch.result.told, read))
    return accepted, lost, unsaid


def _word(sketch: _Sketch, work: _Work) -> None:
    """Nothing; the result of a sketch holds its entry then: the one that was made before, if nothing of it changed."""
    entry_id = work.assigned.ids[sketch.cluster.cluster_id]
    digest = work.memory.worded(sketch.needed, entry_id, work.assigned.aliases_of(entry_id), work.names)
    if digest and sketch.result.worded == digest:
        return
    draft = sketch.draft(work.drafting)
    entry, unsaid = _passed_on(work.worded(draft), draft, work)
    sketch.entry = entry
    sketch.result = replace(
        sketch.result,
        worded=digest,
        entry=entry.model_dump_json(),
        facts=Facts.of(entry),
        unsaid=tuple(unsaid),
        accepted="",
    )


def _passed_on(entry: KnowledgeEntry, draft: Draft, work: _Work) -> tuple[KnowledgeEntry, list[Skipped]]:
    """The entry without the claims of which something must not be passed on, and those: no stranger's words take the
    others of an entry with them. Claims were asked one by one before; here what was made of them is.
    """
    drafting, gone = work.drafting, []
    while refusals := dict(advice.refused(entry.model_dump())):
        told = dict(advice.statements(entry.model_dump()))
        pieces = [piece for place in refusals for piece in _cited(entry, place, told[place])]
        known, claims = reduce.without(drafting.known, draft.cluster, pieces)
        if not claims:
            break  # no person's claim says it: `validate` names the entry
        why = next(iter(refusals.values()))
        gone += [Skipped(distil.STAGE, f"{c.quote.document_id}@{c.quote.start}", *why) for c in claims]
        drafting = replace(drafting, known=known)
        draft = drafting.draft(draft.cluster)
        entry = work.worded(draft)
    return entry, gone


def _cited(entry: KnowledgeEntry, place: str, words: str) -> Sequence[Evidence | Lead]:
    """The evidence of what stands at a place of an entry: that which says it in these words, else all that is named."""
    field, _, number = place.partition("]")[0].partition("[")
    listed = getattr(entry, field.removesuffix("_zh"), None)
    if field in ("evidence", "leads"):
        return [getattr(entry, field)[int(number)]]
    if field.startswith("root_cause"):
        named = entry.root_cause_evidence
    elif field == "cases":
        said = int(place.rpartition("[")[2].partition("]")[0])
        named = entry.cases[int(number)].statements[said].evidence
    else:
        named = listed[int(number)].evidence if isinstance(listed, list) and number else []
    behind = [piece for piece in entry.evidence if piece.evidence_id in named]
    saying = [piece for piece in behind or entry.evidence if words in piece.quote and piece.role != "occurrence"]
    return saying or behind


def _imported(known: reduce.Knowledge, *, taken: set[str]) -> tuple[list[KnowledgeEntry], list[Skipped]]:
    """The entries that were made elsewhere, unproven, under a name that none of ours has."""
    accepted: list[KnowledgeEntry] = []
    lost: list[Skipped] = []
    for row in sorted(known.documents.values(), key=lambda row: row.document_id):
        if row.payload is None:
            continue
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


def error_counts(result: shards.MapResult) -> Counter[str]:
    """Errors by signature."""
    return Counter(
        row.signature.signature_id
        for row in result.events
        if row.signature is not None and row.event.severity == Severity.ERROR
    )


def figures(grouped: Grouped, made: Made) -> dict[str, object]:
    """What a run's summary says of them: numbers of signatures, clusters and entries, tiers, how Chinese came to be."""
    facts = made.entries.facts
    tiers, answered = Counter(one.tier for one in facts), Counter(one.domain for one in facts if one.is_answered)
    changed = changed_sources(made.entries)
    return {
        **({"changed_sources": changed} if changed else {}),
        "signatures": len(grouped.templates),
        "clusters": len(made.clusters),
        "entries": len(made.entries),
        "tiers": dict(sorted(tiers.items())),
        "answers": {
            name: {"entries": count, "answered": answered[name]}
            for name, count in sorted(Counter(one.domain for one in facts).items())
        },
        "zh": {row.field: dict(row.by_status) for row in coverage(facts)},
    }
