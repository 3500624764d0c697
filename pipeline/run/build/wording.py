"""One cluster into a draft and into an entry, from the records that speak of it: what workers do, and nobody else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline import distil, normalise, packs, translate, validate
from pipeline.lexicon import advice
from pipeline.records import Cluster, Neighbour, Skipped
from pipeline.records.draft import Draft
from pipeline.records.entry import Evidence, KnowledgeEntry, Lead
from pipeline.run.build import reduce, results, texts
from pipeline.run.build.worded import WHOLE, Facts
from pipeline.translate.engines import Engine


@dataclass(frozen=True, slots=True)
class Named:
    """What an entry and those that it leads to are called."""

    entry_id: str
    aliases: tuple[str, ...]
    others: Mapping[str, str]  # cluster id -> entry id
    worded: str  # digest of what the entry is made from


@dataclass(frozen=True, slots=True)
class Item:
    """A cluster, with what its draft needs besides the records that speak of it."""

    cluster: Cluster
    near: tuple[Neighbour, ...]
    others: tuple[tuple[str, str], ...]  # see `results.Needed`
    result: results.Result | None = None  # of its draft
    named: Named | None = None

    def drafting(self, known: reduce.Knowledge) -> reduce.Drafting:
        """What the draft is made from."""
        own = self.cluster.cluster_id
        return reduce.Drafting(
            known, {**dict(self.others), **dict.fromkeys(self.cluster.members, own)}, {own: self.near}
        )


def drafted(item: Item, known: reduce.Knowledge, digest: str) -> tuple[results.Result, Draft]:
    """The result of the draft of a cluster, and the draft; `digest` tells what it is made from."""
    draft = item.drafting(known).draft(item.cluster)
    made = results.Result(
        cluster_id=item.cluster.cluster_id,
        drafted=digest,
        domain=draft.domain,
        slugs=draft.slugs,
        page_slug=draft.page_slug,
        document_count=reduce.document_count(draft),
        withheld=draft.withheld,
    )
    return made, draft


def worded(
    item: Item, draft: Draft, known: Callable[[], reduce.Knowledge], translators: Sequence[Engine]
) -> tuple[results.Result, bytes]:
    """The result of the entry of a cluster, and its words, packed."""
    assert item.named is not None
    assert item.result is not None
    work = _Work(item.named, lambda: item.drafting(known()), translators)
    entry, unsaid = _passed_on(work.worded(draft), draft, work)
    said = entry.model_dump_json()
    made = replace(
        item.result,
        worded=item.named.worded,
        said=results.digest([said]),
        facts=Facts.of(entry),
        unsaid=tuple(unsaid),
        accepted=WHOLE if isinstance(verdict(entry, item.cluster), validate.Accepted) else "",
    )
    return made, texts.packed(said)


def verdict(entry: KnowledgeEntry, found: Cluster) -> validate.Verdict:
    """Whether the entry of a cluster keeps every rule."""
    return validate.verdict(entry, validate.Context(proven=frozenset(filter(None, [found.regex]))))


@dataclass(frozen=True, slots=True)
class _Work:
    """What putting a draft into words needs."""

    named: Named
    drafting: Callable[[], reduce.Drafting]  # asked for only where a draft is to be made anew
    translators: Sequence[Engine]

    def worded(self, draft: Draft) -> KnowledgeEntry:
        """The entry of a draft."""
        return translate.entry(
            reduce.with_names(draft, self.named.others),
            entry_id=self.named.entry_id,
            aliases=list(self.named.aliases),
            engines=self.translators,
            normaliser=packs.marked(normalise.NORMALISER_VERSION),
        )


def _passed_on(entry: KnowledgeEntry, draft: Draft, work: _Work) -> tuple[KnowledgeEntry, list[Skipped]]:
    """The entry without the claims of which something must not be passed on, and those: no stranger's words take the
    others of an entry with them. Claims were asked one by one before; here what was made of them is.
    """
    drafting: reduce.Drafting | None = None
    gone: list[Skipped] = []
    while refusals := dict(advice.refused(entry.model_dump())):
        told = dict(advice.statements(entry.model_dump()))
        pieces = [piece for place in refusals for piece in _cited(entry, place, told[place])]
        drafting = drafting or work.drafting()
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
