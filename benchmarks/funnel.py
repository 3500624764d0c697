"""Where the pieces of knowledge of labelled threads are lost on their way to what an entry shows.

    python -m benchmarks.knowledge --split tune --home FOLDER --funnel [--lost 5]

A piece takes the last step that any unit comes to which says it: an entry states it or shows it as a lead; it is cut by
a rule of leads; a gate refuses it, whatever reader found it; no reader names it; or no event shows its error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.knowledge import KINDS, STATED, Label, Named, Thread, pieces, threads, unit_at
from benchmarks.knowledge import of_home as readers_of
from pipeline import cluster, distil, normalise, run
from pipeline.distil.claims import candidates, reading, rules
from pipeline.distil.claims.candidates import kind_of
from pipeline.distil.claims.claiming import claim_at, refusal_of
from pipeline.distil.claims.prose import Prose
from pipeline.distil.claims.subjects import errors_of
from pipeline.distil.drafts.leads import judged
from pipeline.distil.drafts.reach import Reach
from pipeline.distil.drafts.reduce import occurrences_of
from pipeline.records import Claim, ClaimKind, Cluster, Skipped
from pipeline.records.draft import Draft, Remedy
from pipeline.records.entry import LEAST_LEAD_SHARE
from pipeline.run import shards
from pipeline.run.build import reduce
from pipeline.run.build import rows as rows_of_shards
from pipeline.run.build.mapping import shards_of

#: Steps from the last to the first; what is behind a colon says more.
STEPS = (
    "stated",
    "shown",
    "lead:",
    "share:",
    "gate:",
    "withheld:",
    "refused:",
    "no candidate:",
    "no event",
)
#: Why a claim is no lead, from what comes to most to what comes to least.
_NO_LEAD = (
    "most",
    "same_thread",
    "same_words",
    "told",
    "cited",
    "reach",
    "announces",
    "short",
    "untold",
    "other_sign",
)


@dataclass(frozen=True)
class Fates:
    """What becomes of the claims of a home, by document."""

    of_claims: Mapping[str, Sequence[tuple[Claim, str]]]  # claims, each with the step that it comes to
    refused: Mapping[str, Sequence[Skipped]]


def of_home(home: Path) -> Fates:
    """The fates of what the shards of a home claim; its clusters are made anew of them.

    Raises:
        StoreError: the home was not built.
    """
    places = run.Places.of(home)
    paths = [one for _, one in sorted(shards_of(places.shards).items())]
    result = shards.read(paths)
    with rows_of_shards.opened(paths, spill=places.shards.parent / "spill") as there:
        partition = cluster.partition(there.templates())
    known = reduce.knowledge(result)
    drafting = reduce.Drafting(known, partition.cluster_of(), reduce.near_of(partition))
    best: dict[str, tuple[Claim, str]] = {}
    for found in partition.clusters:
        for claim, step in _of_cluster(drafting, found):
            if claim.claim_id not in best or order(step) < order(best[claim.claim_id][1]):
                best[claim.claim_id] = claim, step
    by_document: dict[str, list[tuple[Claim, str]]] = defaultdict(list)
    for claim, step in best.values():
        by_document[claim.quote.document_id].append((claim, step))
    refused: dict[str, list[Skipped]] = defaultdict(list)
    for skipped in result.skipped:
        refused[skipped.item_id.rpartition("@")[0]].append(skipped)
    return Fates(by_document, refused)


def order(step: str) -> tuple[int, int]:
    """The place of a step, from the last one on."""
    number = next(n for n, one in enumerate(STEPS) if step.startswith(one))
    detail = step.partition(":")[2]
    return number, _NO_LEAD.index(detail) if detail in _NO_LEAD else 0


def _of_cluster(drafting: reduce.Drafting, found: Cluster) -> Iterator[tuple[Claim, str]]:
    """Each claim about the errors of a cluster, with the step that it comes to there; "stated" is not looked at."""
    material = drafting.material(found)
    draft = distil.draft(found, material)
    documents = {one.document_id: one for one in material.documents}
    reach = Reach(found, occurrences_of(found, material), documents, domain=draft.domain, category=draft.category)
    told = frozenset(one.key for one in _told(draft))
    for claim, reason in judged(material.candidates, reach=reach, evidence=draft.evidence, told=told):
        share = f"share:{claim.share}"
        yield claim, "shown" if not reason else share if reason == "share" else f"lead:{reason}"
    withheld = {one.claim_id: one.reason for one in draft.withheld}
    for claim in material.claims:
        if claim.kind.is_statement:
            yield claim, f"withheld:{withheld.get(claim.claim_id, 'not cited')}"


def _told(draft: Draft) -> Iterator[Remedy]:
    yield from draft.workarounds
    yield from draft.dead_ends
    yield from (said.remedy for case in draft.cases for said in case.statements)


def of_thread(thread: Thread, fates: Fates) -> Iterator[tuple[int, str, str]]:
    """(unit, kind, step) of all that any reader names in a thread or that a gate refuses there."""
    name = thread.document.document_id
    for claim, step in fates.of_claims.get(name, ()):
        kind = kind_of(claim)
        if kind in KINDS:
            quotes = (claim.quote, claim.outcome_quote) if kind == "failure" else (claim.quote,)
            for quote in filter(None, quotes):
                unit = unit_at(thread, quote.start, quote.end)
                yield from () if unit is None else ((unit, kind, step),)
    yield from _found(thread)
    for skipped in fates.refused.get(name, ()):
        at, kind = skipped.item_id.rpartition("@")[2], _KIND_OF_RULE.get(skipped.detail.partition(".")[0])
        unit = unit_at(thread, int(at), int(at) + 1) if at.isdigit() else None
        if unit is not None:
            yield from ((unit, one, f"refused:{skipped.reason}") for one in ((kind,) if kind else KINDS))


#: What rules are called that find a kind.
_KIND_OF_RULE = {"cause": "cause", "worked": "remedy", "advice": "remedy", "fix": "fix", "failed": "failure"}


def _found(thread: Thread) -> Iterator[tuple[int, str, str]]:
    """What the trained reader names, with what its gates say of it."""
    document = thread.document
    signed = [(event, normalise.signature(event, document.text)) for event in thread.events]
    events, signatures = [event for event, one in signed if one], [one for _, one in signed if one]
    errors, text = errors_of(events, signatures), Prose(document, events)
    reader = candidates.Reader(document, thread.units, errors, list(rules.findings(text)))
    for one in reader.candidates():
        share, place = one.share, (one.unit.start, one.unit.end)
        claim = claim_at(document, ClaimKind.CANDIDATE, candidates.RULE, fact=None, span=place, about=one.about)
        refusal = refusal_of(document, claim)
        fault = reading.fault_of_unit(text, one.unit, one.kind) or (refusal.reason if refusal else "taken back")
        yield one.unit.number, one.kind, f"gate:{fault}" if share >= LEAST_LEAD_SHARE else f"share:{share}"


def steps(read: Iterable[tuple[Thread, Named]], fates: Fates) -> Iterator[tuple[Thread, Label, str]]:
    """Each piece of threads with the last step that it comes to; `read`: what entries state."""
    for thread, stated in read:
        told: dict[tuple[int, str], list[str]] = defaultdict(list)
        is_shown = any(normalise.signature(event, thread.document.text) for event in thread.events)
        for unit, kind, step in of_thread(thread, fates):
            told[unit, kind].append(step)
        for piece, same in pieces(thread.labels):
            mine = [step for unit in same for step in told.get((unit, piece.kind), ())]
            mine += ["stated" for unit in same if (unit, piece.kind) in stated]
            best = min(mine, key=order, default="")
            if best not in ("stated", "shown") and (piece.error == "other" or not is_shown):
                best = "no event of its error" if is_shown else "no event at all"
            yield thread, piece, best or _unread(thread, same, told)


def _unread(thread: Thread, same: Iterable[int], told: Mapping[tuple[int, str], Sequence[str]]) -> str:
    """Why no reader names a piece."""
    mine = [thread.units[unit] for unit in same]
    if any("shown" in told.get((unit.number, kind), ()) for unit in mine for kind in KINDS):
        return "no candidate:shown as another kind"
    if all(unit.kind not in candidates.SPOKEN for unit in mine):
        return "no candidate:in a block"
    if all(unit.post > candidates.LAST_POST for unit in mine):
        return "no candidate:far on"
    return "no candidate:other"


def report(splits: Iterable[str], home: Path, *, lost: int = 0) -> None:
    """Print how many pieces come to each step, and some that a step keeps."""
    count: Counter[tuple[str, str]] = Counter()
    stated = readers_of(home)[STATED]
    read = ((thread, stated(thread)) for thread in threads(splits)[0])
    for thread, piece, step in steps(read, of_home(home)):
        count[step, piece.kind] += 1
        if step not in ("stated", "shown") and count[step, piece.kind] <= lost:
            unit = thread.units[piece.unit]
            words = " ".join(thread.document.text[unit.start : unit.end].split())[:200]
            print(f"{step} | {piece.kind} | {thread.document.document_id} [{piece.unit}]: {words}")
    print("\n| step | " + " | ".join(KINDS) + " | all |\n|---|" + "---:|" * (len(KINDS) + 1))
    for step in sorted({step for step, _ in count}, key=lambda one: (order(one), one)):
        counts = [count[step, kind] for kind in KINDS]
        print(f"| {step} | " + " | ".join(map(str, counts)) + f" | {sum(counts)} |")
