"""Drafts and entries made in batches of clusters: here, or by the processes of a pool; the same either way.

How one cluster becomes a draft and an entry stands first. The records that speak of the clusters of a batch are laid
out in files (`Rows.lay_out`), and whoever makes the batch reads those of one batch after the other. So neither a build
nor its workers hold the records of all documents.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pipeline import distil, normalise, packs, translate, validate
from pipeline.lexicon import advice
from pipeline.records import Claim, Cluster, Neighbour, Skipped
from pipeline.records.draft import Draft
from pipeline.records.entry import Evidence, KnowledgeEntry, Lead, Reply
from pipeline.records.errors import PipelineError
from pipeline.run import pool
from pipeline.run.build import reduce, results, rows
from pipeline.run.build.lean import uncollected
from pipeline.run.build.mapping import PRELOAD, partition_of
from pipeline.run.build.worded import WHOLE, Facts, Place, Texts, packed
from pipeline.translate.engines import Engine

#: A batch has at most so many clusters, and of more than one cluster at most so many documents that speak of them.
MOST_CLUSTERS, MOST_DOCUMENTS = 400, 2_000
#: Fewer clusters than this are made here: to start processes would cost more.
FEWEST_FOR_A_POOL = 600
#: Seconds that one cluster may take in a worker: nothing is given up, a worker that hangs is replaced once.
_SECONDS = 3600.0
_LIMITS = pool.Limits(_SECONDS, None)


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


def phrased(
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
    return made, packed(said)


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


def _cited(entry: KnowledgeEntry, place: str, words: str) -> Sequence[Evidence | Lead | Reply]:
    """The evidence of what stands at a place of an entry: that which says it in these words, else all that is named."""
    if ".replies[" in place:
        return [one for one in entry.replies if one.quote == words]
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


class Made(NamedTuple):
    """What became of one cluster."""

    result: results.Result
    body: bytes  # its draft, pickled, or the words of its entry, packed


@dataclass(frozen=True, slots=True)
class Shared:
    """What every batch needs."""

    folder: Path  # with the records of batches
    official: reduce.Knowledge  # of the official pages alone
    translators: Sequence[Engine] = ()
    pack_folders: tuple[str, ...] = ()
    pack_digest: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for a batch of clusters."""

    item: Item
    digest: str  # what its draft is made from
    placed: tuple[Claim, ...]  # claims about its errors that other documents than theirs make
    draft: Place | None = None  # where its draft is, if it was made before


@dataclass(slots=True)
class Maker:
    """Makes drafts and entries of the clusters of one build."""

    rows: rows.Rows
    shared: Shared
    workers: int = 1
    weights: dict[str, int] = field(default_factory=dict)  # by cluster id: documents that speak of it
    _batch_of: dict[str, str] = field(default_factory=dict)  # by cluster id: the batch it was laid out with
    _drafts: Texts = field(init=False)

    def __post_init__(self) -> None:
        self._drafts = Texts(self.shared.folder / "drafts")

    def drafted(self, orders: Sequence[Order]) -> Iterator[results.Result]:
        """The results of the drafts of clusters, in any order."""
        for made in self._made(orders, draft):
            self._drafts.add(made.result.cluster_id, made.body)
            yield made.result

    def worded(self, orders: Sequence[Order]) -> Iterator[Made]:
        """The results of the entries of clusters, with their packed words, in any order."""
        return self._made([replace(one, draft=self._drafts.place(one.item.cluster.cluster_id)) for one in orders], word)

    def _made(self, orders: Sequence[Order], make: Callable[..., Made]) -> Iterator[Made]:
        tasks = self._tasks(orders)
        if self.workers > 1 and len(orders) >= FEWEST_FOR_A_POOL:
            work = partial(map_task, self.shared, make)
            for found in pool.run(work, tasks, workers=self.workers, limits=_LIMITS, preload=PRELOAD):
                if isinstance(found, pool.Failure):
                    raise PipelineError(
                        f"{found.item.item.cluster.cluster_id} cannot be made: {found.reason}, {found.detail}",
                        hint="Run again with `--workers 1` to see the error itself.",
                    )
                yield from (one._replace(result=one.result.shared()) for one in found)
            return
        for task in tasks:
            known = _Known(self.shared, task)
            yield from (make(order, known, self.shared) for order in task.items)

    def _tasks(self, orders: Sequence[Order]) -> list[pool.Task[Order]]:
        """The orders in batches, whose records are laid out then."""
        new = [one for one in orders if one.item.cluster.cluster_id not in self._batch_of]
        if new:
            self._lay_out(list(_batches(new, self.weights)))
        batches: dict[str, list[Order]] = {}
        for order in orders:
            batches.setdefault(self._batch_of[order.item.cluster.cluster_id], []).append(order)
        return [pool.Task(name, tuple(found)) for name, found in batches.items()]

    def _lay_out(self, batches: Sequence[Sequence[Order]]) -> None:
        layer = len({name.partition("-")[0] for name in self._batch_of.values()})
        for number, batch in enumerate(batches):
            self._batch_of |= {one.item.cluster.cluster_id: f"{layer}-{number}" for one in batch}
        members = [[member for one in batch for member in one.item.cluster.members] for batch in batches]
        self.rows.lay_out(members, self.shared.folder / str(layer))


def _batches(orders: Sequence[Order], weights: Mapping[str, int]) -> Iterator[list[Order]]:
    batch: list[Order] = []
    weight = 0
    for order in orders:
        own = weights.get(order.item.cluster.cluster_id, 1)
        if batch and (len(batch) == MOST_CLUSTERS or weight + own > MOST_DOCUMENTS):
            yield batch
            batch, weight = [], 0
        batch.append(order)
        weight += own
    if batch:
        yield batch


class _Known:
    """The records of a batch, read when the first of its clusters needs them."""

    def __init__(self, shared: Shared, task: pool.Task[Order]) -> None:
        self._shared, self._task = shared, task
        self._found: reduce.Knowledge | None = None

    def __call__(self) -> reduce.Knowledge:
        if self._found is None:
            layer, number = partition_of(self._task.name).split("-")
            placed = {claim.claim_id: claim for order in self._task.items for claim in order.placed}
            found = rows.laid_out(self._shared.folder / layer, int(number))
            own, pages = reduce.gathered(found, placed.values()), self._shared.official
            self._found = replace(own, documents={**pages.documents, **own.documents}, official=pages.official)
        return self._found


def map_task(
    shared: Shared, make: Callable[..., Made], task: pool.Task[Order], report: Callable[[int], None]
) -> list[Made]:
    """What becomes of the clusters of a batch, in a worker.

    Raises:
        PackError: a pack is not what it was when the build began.
    """
    packs.activated(shared.pack_folders, shared.pack_digest, *packs.Stage)
    found: list[Made] = []
    known = _Known(shared, task)
    with uncollected():
        for number, order in enumerate(task.items):
            report(number)
            found.append(make(order, known, shared))
    return found


def draft(order: Order, known: Callable[[], reduce.Knowledge], _shared: Shared) -> Made:
    """The result of the draft of a cluster, and the draft."""
    result, made = drafted(order.item, known(), order.digest)
    return Made(result, pickle.dumps(made, pickle.HIGHEST_PROTOCOL))


def word(order: Order, known: Callable[[], reduce.Knowledge], shared: Shared) -> Made:
    """The result of the entry of a cluster, and its words."""
    if order.draft is None:
        made = order.item.drafting(known()).draft(order.item.cluster)
    else:
        made = pickle.loads(order.draft.read())  # noqa: S301  (written by this build, a moment ago)
    return Made(*phrased(order.item, made, known, shared.translators))


def clear(folder: Path) -> None:
    """Nothing; the records of batches are gone, those of a build that was killed as well: they quote documents."""
    shutil.rmtree(folder, ignore_errors=True)
