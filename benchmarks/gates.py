"""What the gates refuse of right answers: a person's labels of whole threads stand in for a model's answers.

    python -m benchmarks.gates [--split train] [--refused 30]

Every label of `tests/quality/knowledge.jsonl` that is no guess and of an error that errmine asks about becomes the
claim that a model would make; all of them stand, and the second question is answered with yes. So whatever is refused
is a loss of a right answer, but for what a label takes back. No model is asked, and what is measured is in the
repository.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from benchmarks.knowledge import KINDS, SPLITS, Label, Thread, error_digest, named, pieces, threads
from pipeline import distil
from pipeline.engines.chat import ChatModel, Said
from pipeline.engines.enrich import Reader
from pipeline.engines.enrich.prompt import questions
from pipeline.engines.enrich.reader import error_named
from pipeline.records import MODEL_RULES, Claim, Event, Signature, Skipped
from pipeline.run.build import mapping

#: What a model would call the labels that are pieces of knowledge, and those that say how something ended.
_STATED = frozenset({"cause", "remedy", "fix"})
_RELATED = {"confirmation": "worked", "failure": "failed", "refutation": "refuted"}
_NAME = f"{MODEL_RULES}person@labels"
_UNIT = re.compile(r"unit (\d+)")

Signed = Sequence[tuple[Event, Signature | None]]


@dataclass(frozen=True)
class Judged:
    """What became of the labels of one thread."""

    thread: Thread
    asked: frozenset[str]  # digests of the errors that a model is asked about
    claims: list[Claim]
    refused: list[Skipped]


def judged(thread: Thread, signed: Signed) -> Judged:
    """The claims that come of a thread's labels, and what was refused; `signed` is what the thread shows."""
    events = [event for event, _ in signed]
    asking = [number for number, (_, signature) in enumerate(signed) if signature is not None]
    messages = list(dict.fromkeys(error_named(events[number]) for number in asking))
    numbers = {error_digest(events[number]): messages.index(error_named(events[number])) + 1 for number in asking}
    if not asking:
        return Judged(thread, frozenset(), [], [])
    shown = {one.text: one.shown for one in questions(thread.document, thread.units, messages)[0]}
    person = _Person(list(_answers(thread.labels, numbers)), shown)
    agreeing = cast("ChatModel", _Agreeing())
    read = Reader(cast("ChatModel", person), agreeing, agreeing).read(thread.document, events, asking)
    if isinstance(read, Skipped):
        return Judged(thread, frozenset(numbers), [], [read])
    made: list[Claim] = []
    refused = list(read.refused)
    refuted = distil.refuted_places(thread.document, events, read.pointed)
    for number, pointed in enumerate(read.pointed):
        if number in refuted:
            place = f"{thread.document.document_id}@{pointed.start}"
            refused.append(Skipped("enrich-claims", place, "refuted, by a rule"))
            continue
        signature = cast("Signature", signed[pointed.event][1])
        claim = distil.pointed(thread.document, events, signature, pointed)
        if isinstance(claim, Claim):
            made.append(claim)
        else:
            refused.append(claim)
    return Judged(thread, frozenset(numbers), made, refused)


def _answers(labels: Sequence[Label], numbers: Mapping[str, int]) -> Iterator[dict[str, object]]:
    """The labels as a model would name them."""
    for label in labels:
        kind = label.kind if label.kind in _STATED else _RELATED.get(label.kind)
        error = numbers.get(label.error)
        if kind is None or error is None or set("go") & set(label.flags):
            continue
        of = -1 if kind in _STATED else label.unit if label.of is None else label.of
        if kind == "refuted" and of == label.unit:
            continue
        places = {"unit": label.unit, "until": label.unit, "error": error, "of": of}
        yield {"kind": kind, **places, "sure": "said", "statement": ""}


@dataclass(frozen=True)
class _Person:
    """Answers each window of one thread with what the labels say of the units in it."""

    claims: Sequence[Mapping[str, object]]
    shown: Mapping[str, frozenset[int]]

    def ask(self, text: str, *, shelf: str = "") -> Said:
        """The claims of the window."""
        there = self.shown[text]
        told = [c for c in self.claims if c["unit"] in there and (c["of"] == -1 or c["of"] in there)]
        return Said({"claims": told}, _NAME)


@dataclass(frozen=True)
class _Agreeing:
    """Lets every statement stand, and agrees to every second question."""

    def ask(self, text: str, *, shelf: str = "") -> Said:
        """Yes, and as many verdicts as there are statements."""
        count = text.count("\n")  # one a line, so never more than lines
        verdicts = [{"statement": number, "verdict": "stands"} for number in range(1, count + 1)]
        return Said({"answer": "yes", "verdicts": verdicts}, _NAME)


def lost(one: Judged) -> Iterator[tuple[Label, str]]:
    """The pieces of knowledge of a thread that become no claim, each with the reason of its gate."""
    told = named(one.thread, one.claims)
    why: dict[int, list[str]] = {}
    for skipped in one.refused:
        place = _UNIT.match(skipped.detail)
        at = skipped.item_id.rpartition("@")[2]
        unit = int(place[1]) if place else _unit_at(one.thread, int(at)) if at.isdigit() else -1
        why.setdefault(unit, []).append(skipped.reason)
    for piece, same in pieces(one.thread.labels):
        if not any((unit, piece.kind) in told for unit in same):
            # what is refused of a relation is named by the unit that describes the act
            reasons = why.get(piece.unit, []) or why.get(-1 if piece.of is None else piece.of, [])
            missing = "" if piece.error in one.asked else "of no event" if piece.error == "other" else "not asked about"
            yield piece, reasons[0] if reasons else missing


def _unit_at(thread: Thread, start: int) -> int:
    return next((unit.number for unit in thread.units if unit.start <= start < unit.end), -1)


def report(read: Iterable[Judged], *, refused: int = 0) -> None:
    """Print what becomes of the pieces, and what the gates take."""
    found, every, why = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for one in read:
        gone = list(lost(one))
        every.update(piece.kind for piece, _ in pieces(one.thread.labels))
        found.subtract(piece.kind for piece, _ in gone)
        why.update((reason, piece.kind) for piece, reason in gone)
        for piece, reason in gone[:refused]:
            unit = one.thread.units[piece.unit]
            words = " ".join(one.thread.document.text[unit.start : unit.end].split())[:200]
            print(f"{reason or '?'} {piece.kind} {one.thread.document.document_id} [{piece.unit}]: {words}")
    found.update(every)
    print("| | " + " | ".join(KINDS) + " | all |\n|---|" + "---|" * (len(KINDS) + 1))
    for name, count in (("pieces", every), ("claimed", found)):
        print(f"| {name} | " + " | ".join(str(count[kind]) for kind in KINDS) + f" | {count.total()} |")
    for reason in sorted({reason for reason, _ in why}, key=lambda one: -sum(why[one, kind] for kind in KINDS)):
        counts = [why[reason, kind] for kind in KINDS]
        print(f"| {reason or 'another piece stands for it'} | " + " | ".join(map(str, counts)) + f" | {sum(counts)} |")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", action="append", choices=SPLITS, help="default: train and tune")
    parser.add_argument("--refused", type=int, default=0, help="print so many refused pieces of a thread")
    options = parser.parse_args()
    everything, _ = threads(options.split or ["train", "tune"])
    report(
        (judged(one, mapping.signed(one.document)) for one in everything),
        refused=options.refused,
    )


if __name__ == "__main__":
    main()
