"""How much of what threads say about an error is found, and how much of what is found is so: every reader on one truth.

    python -m benchmarks.knowledge [--split tune] [--home FOLDER] [--misses 30] [--confusions] [--funnel [--lost 5]]

The truth is `tests/quality/knowledge.jsonl`: whole threads read by people who did not know the rules. A thread is cut
into units (`pipeline.text.units`); each label says what a unit is, about which error, and which unit it answers. The
file holds ids, places and labels, no text: threads are taken from the internal corpus. It is split by owner of the
repository; rules and weights are made with `train` and `tune` in view, `test` is for one measurement at the end. `exam`
are 112 threads that two readers each labelled later, drawn when all of that was done: of corpus repositories nobody
learned.

Recall counts pieces of knowledge: a reader marked one best unit for each, and the piece is found if that unit, or one
that says the same nearest to it, is named as what it is. Agreement counts what a reader names: it is right if the unit
has that label. Guesses, and what is said of another problem than the thread's, are no pieces, and named they are wrong
unless a person labelled them so.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.internal import ROOT, SHARED
from pipeline import raw, run, store
from pipeline.config import read_settings
from pipeline.distil.drafts.support import wilson_lower
from pipeline.engines.batch import Replies
from pipeline.engines.enrich import Reader
from pipeline.engines.enrich.prompt import questions
from pipeline.engines.enrich.reader import error_named
from pipeline.lexicon import repositories
from pipeline.providers import documents
from pipeline.records import Claim, ClaimKind, Document, Event, Outcome, Skipped
from pipeline.records.entry import KnowledgeEntry
from pipeline.run import configured, shards
from pipeline.run.build.mapping import map_text, shards_of, signed
from pipeline.text.units import Unit, units

TRUTH = ROOT / "tests" / "quality" / "knowledge.jsonl"
SOURCES = (SHARED / "corpus" / "issues.jsonl.gz", SHARED / "fields" / "threads.jsonl.gz")
#: Kinds that are pieces of knowledge; the other labels are said about them.
KINDS = ("cause", "remedy", "fix", "failure")
SPLITS = ("train", "tune", "test", "exam")

#: What a reader names: (number of the unit, kind).
Named = set[tuple[int, str]]


@dataclass(frozen=True)
class Label:
    """What a person said of one unit."""

    unit: int
    kind: str
    error: str  # digest of the error, "other" for one that no event shows
    of: int | None  # the unit that it answers
    flags: str  # b: best place of a piece; g: a guess; t: says it only with its neighbours; o: another problem

    @property
    def is_piece(self) -> bool:
        """Whether it is the one best place of something worth knowing about the thread's error."""
        return self.kind in KINDS and "b" in self.flags and not set("go") & set(self.flags)


@dataclass(frozen=True)
class Thread:
    """A labelled thread with its text."""

    document: Document
    events: list[Event]
    units: list[Unit]
    split: str
    labels: list[Label]
    second: list[Label] | None  # of another reader, where two read it


def place(document: Document, unit: Unit) -> tuple[int, str]:
    """What finds a unit again: its post, and a digest of its words."""
    words = " ".join(document.text[unit.start : unit.end].split())[:200]
    return unit.post, hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def error_digest(event: Event) -> str:
    """What finds an error again."""
    named = f"{event.exception_type or ''}|{event.message[:150]}"
    return hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


@cache
def rows() -> tuple[dict[str, Any], ...]:
    """The truth as it is kept."""
    return tuple(json.loads(line) for line in TRUTH.read_text("utf-8").splitlines())


def threads(splits: Iterable[str] = SPLITS) -> tuple[list[Thread], int]:
    """(the labelled threads of `splits`, how many labels have no unit any more)."""
    chosen = [row for row in rows() if row["split"] in set(splits)]
    texts = {document.document_id: document for document in read_documents({row["id"] for row in chosen})}
    found: list[Thread] = []
    lost = 0
    for row in chosen:
        document = texts.get(row["id"])
        if document is None:
            lost += len(row["labels"])
            continue
        events = [event for event, _ in signed(document)]  # what a build shows its readers
        pieces = units(document, events)
        numbers: dict[tuple[int, str], int] = {}
        for unit in pieces:
            numbers.setdefault(place(document, unit), unit.number)
        first, missing = _labels(row["labels"], numbers)
        second = _labels(row["second"], numbers)[0] if "second" in row else None
        lost += missing
        found.append(Thread(document, events, pieces, row["split"], first, second))
    return found, lost


def _labels(kept: Sequence[Sequence[Any]], numbers: dict[tuple[int, str], int]) -> tuple[list[Label], int]:
    made = []
    for post, words, kind, error, of, flags in kept:
        unit = numbers.get((post, words))
        if unit is not None:
            answered = numbers.get((of[0], of[1])) if of else None
            made.append(Label(unit, kind, error, answered, flags))
    return made, len(kept) - len(made)


def read_documents(wanted: set[str]) -> Iterator[Document]:
    """The documents of these ids, read as an import reads them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "threads.jsonl"
        with file.open("w", encoding="utf-8") as out:
            for source in SOURCES:
                with gzip.open(source, "rt", encoding="utf-8") as lines:
                    out.writelines(line for line in lines if _id(json.loads(line)) in wanted)
        run.import_files(Path(folder) / "raw", [file])
        layer = raw.RawLayer(Path(folder) / "raw")
        for refs in layer.documents():
            document = documents.document(layer.read(refs.refs))
            if not isinstance(document, Skipped):
                yield document


def _id(row: dict[str, Any]) -> str:
    return repositories.current_key(f"github.com/{row['repo']}#{row['number']}".lower())


# Readers: a thread in, what it names out.


def by_rules(thread: Thread) -> Named:
    """What the map step claims, before anything is withheld for its cluster."""
    return named(thread, map_text(thread.document).claims)


def named(thread: Thread, claims: Iterable[Claim]) -> Named:
    """The units that claims quote, as what they state."""
    found: Named = set()
    for claim in claims:
        kind = kind_of_claim(claim)
        if kind and not claim.rule.startswith("hint."):
            unit = unit_at(thread, claim.quote.start, claim.quote.end)
            if unit is not None:
                found.add((unit, kind))
            if kind == "failure" and claim.outcome_quote is not None:
                told = unit_at(thread, claim.outcome_quote.start, claim.outcome_quote.end)
                found |= {(told, kind)} - {(None, kind)}  # type: ignore[arg-type]
                found.discard((unit, kind))  # type: ignore[arg-type]  (where it is said that it failed)
    return found


def kind_of_claim(claim: Claim) -> str | None:
    """What a statement is, None for what is none of `KINDS`."""
    if claim.kind == ClaimKind.REMEDY:
        return "failure" if claim.outcome == Outcome.FAILED else "remedy"
    return {ClaimKind.CAUSE: "cause", ClaimKind.FIX: "fix"}.get(claim.kind)


def unit_at(thread: Thread, start: int, end: int) -> int | None:
    """The unit that has most of a span, None where none has any of it."""
    shared = [(min(end, unit.end) - max(start, unit.start), -unit.number) for unit in thread.units]
    most = max(shared, default=(0, 0))
    return -most[1] if most[0] > 0 else None


# Figures.


@dataclass
class Score:
    """Counts by kind."""

    pieces: Counter[str]
    found: Counter[str]
    named: Counter[str]
    right: Counter[str]
    confused: Counter[tuple[str, str]]  # (named as, what a person says of the unit)

    def line(self, kind: str | None = None) -> str:
        """Recall and agreement of one kind, or of all, with their lower bounds."""
        kinds = KINDS if kind is None else (kind,)
        pieces, found, told, right = (
            sum(counter[k] for k in kinds) for counter in (self.pieces, self.found, self.named, self.right)
        )
        return f"{_share(found, pieces)} | {_share(right, told)}"


def _share(good: int, everything: int) -> str:
    if not everything:
        return "-"
    bound = wilson_lower(good, everything) or 0.0
    return f"{good / everything:.3f} ({good}/{everything}, >= {bound:.2f})"


def pieces(labels: Sequence[Label]) -> list[tuple[Label, set[int]]]:
    """Each piece of knowledge with the units that say it: of one kind, and nearer to it than to another piece."""
    found = []
    for kind in KINDS:
        mine = [label for label in labels if label.kind == kind]
        best = [label for label in mine if label.is_piece]
        for piece in best:
            same = {
                label.unit
                for label in mine
                if min(best, key=lambda other: (abs(other.unit - label.unit), other.unit)).unit == piece.unit
            }
            found.append((piece, same))
    return found


def score(read: Sequence[tuple[Thread, Named]]) -> Score:
    """The figures of what a reader named in each thread."""
    total = Score(Counter(), Counter(), Counter(), Counter(), Counter())
    for thread, told in read:
        for piece, same in pieces(thread.labels):
            total.pieces[piece.kind] += 1
            total.found[piece.kind] += any((unit, piece.kind) in told for unit in same)
        for unit, kind in told:
            said = {label.kind for label in thread.labels if label.unit == unit and "o" not in label.flags}
            total.named[kind] += 1
            total.right[kind] += kind in said
            if kind not in said:
                for other in said or {"nothing"}:
                    total.confused[kind, other] += 1
    return total


def agreement(read: Sequence[Thread]) -> dict[str, tuple[int, int, int]]:
    """Kind -> (units that both readers labelled so, the first, the second), over threads that two read."""
    found: dict[str, tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    for thread in read:
        if thread.second is None:
            continue
        for kind in sorted({label.kind for label in (*thread.labels, *thread.second)}):
            one = {label.unit for label in thread.labels if label.kind == kind}
            two = {label.unit for label in thread.second if label.kind == kind}
            both, first, second = found[kind]
            found[kind] = (both + len(one & two), first + len(one), second + len(two))
    return dict(found)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", action="append", choices=SPLITS, help="default: tune")
    parser.add_argument("--confusions", action="store_true")
    parser.add_argument("--misses", type=int, default=0, help="print so many pieces that no reader found")
    parser.add_argument("--home", type=Path, help="a home built from the threads: what it claims and publishes")
    parser.add_argument("--funnel", action="store_true", help="where pieces are lost on their way to what entries show")
    parser.add_argument("--lost", type=int, default=0, help="with --funnel: print so many pieces that each step keeps")
    options = parser.parse_args()
    splits = options.split or ["tune"]
    if options.funnel and options.home is None:
        parser.error("--funnel wants --home")
    if options.funnel:
        from benchmarks import funnel  # reads what stands here

        funnel.report(splits, options.home, lost=options.lost)
        return
    report(splits, confusions=options.confusions, misses=options.misses, home=options.home)


def quick() -> None:
    """The figures on `tune`."""
    if not all(map(Path.is_file, SOURCES)):
        print("skipped: the internal corpus is absent")
        return
    report(["tune"])


READERS: dict[str, Callable[[Thread], Named]] = {"rules": by_rules}


# A built home: what its entries say, what its claims were, and what the kept answers of a model name before any gate.


def of_home(home: Path) -> dict[str, Callable[[Thread], Named]]:
    """The readers of a home that was built from the threads: a build with `[enrich]` keeps the model's answers.

    Nobody is asked: "answers" takes the kept ones alone, and is there only if the home's settings name a model.

    Raises:
        StoreError: the home was not built.
        ConfigError: its settings cannot be used.
    """
    places = run.Places.of(home)
    claims: dict[str, list[Claim]] = defaultdict(list)
    for folder in (places.shards, places.shards.parent / "enriched"):
        files = [paths for _, paths in sorted(shards_of(folder).items())]
        for claim in shards.read(files).claims if files else ():
            claims[claim.quote.document_id].append(claim)
    published = _published(places.database, [claim for said in claims.values() for claim in said])
    leads = _leads(places.database)
    readers: dict[str, Callable[[Thread], Named]] = {
        "home, claims": lambda thread: named(thread, claims[thread.document.document_id]),
        STATED: lambda thread: _units(thread, published[thread.document.document_id]),
        "home, leads": lambda thread: _shown(thread, leads[thread.document.document_id]),
        "home, shown": lambda thread: readers[STATED](thread) | readers["home, leads"](thread),
    }
    settings = read_settings(home=home)
    if settings.enrich is not None:
        reader = configured.reader(settings.enrich, settings, lambda answers, host: Replies({}, answers, host))
        readers = {"home, answers": lambda thread: by_answers(reader, thread)} | readers
    return readers


#: The reader of a home that names what its entries and cases state.
STATED = "home, published"


#: What quotes state, by the statement that cites them and the role in which it does.
_PUBLISHED = """
WITH told AS (
    SELECT c.entry_id, c.part, c.ordinal, v.document_id, v.start_offset, v.end_offset, v.role, v.rule,
        coalesce(s.kind, c.part) AS kind
    FROM citations c JOIN evidence v ON v.entry_id = c.entry_id AND v.evidence_id = c.evidence_id
    LEFT JOIN case_statements s ON c.part = 'case_statement' AND s.entry_id = c.entry_id AND s.ordinal = c.ordinal)
SELECT DISTINCT entry_id, part, ordinal, document_id, role, start_offset, end_offset FROM told
WHERE rule NOT LIKE 'hint.%' AND role IN ('cause', 'workaround', 'worked', 'failed', 'fix')
    AND kind IN ('root_cause', 'cause', 'workaround', 'dead_end', 'version')
    AND NOT (role = 'workaround' AND kind = 'dead_end')
ORDER BY ALL
"""
_ROLES = {"cause": "cause", "workaround": "remedy", "worked": "remedy", "failed": "failure", "fix": "fix"}


def _published(database: Path, claims: Sequence[Claim]) -> dict[str, list[tuple[int, int, str]]]:
    """(start, end, kind) of every quote that an entry or a case cites for what it says, by document.

    What is only shown beside the words of a claim (the block that they announce, the sentence that they need) states
    nothing by itself.
    """
    acts = [claim for claim in claims if claim.kind.is_act]
    said = {
        (one.document_id, one.start, one.end) for claim in acts for one in (claim.quote, claim.outcome_quote) if one
    }
    beside = {(one.document_id, one.start, one.end) for one in (claim.passage for claim in acts) if one} - said
    rows = [
        row for row in store.query(database, _PUBLISHED).rows if row[4] == "cause" or (row[3], *row[5:]) not in beside
    ]
    # of an act that another post confirms, the act is what is known
    told = {row[:4] for row in rows if row[4] == "workaround"}
    found: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for *_, document_id, role, start, end in (row for row in rows if row[4] != "worked" or row[:4] not in told):
        found[document_id].append((start, end, _ROLES[role]))
    return found


@dataclass(frozen=True)
class _Shown:
    """Words that an entry shows and counts nowhere, (start, end), with the passage that belongs to them."""

    kind: str
    quote: tuple[int, int]
    passage: tuple[int, int] | None = None


def _leads(database: Path) -> dict[str, list[_Shown]]:
    """What entries show and count nowhere, by document: leads, and replies that deny an act."""
    found: dict[str, list[_Shown]] = defaultdict(list)
    for (words,) in store.query(database, "SELECT json FROM entries ORDER BY entry_id").rows:
        entry = KnowledgeEntry.model_validate_json(words)
        for lead in entry.leads:
            passage = (lead.passage.start, lead.passage.end) if lead.passage is not None else None
            found[lead.document_id].append(_Shown(lead.kind, (lead.start, lead.end), passage))
        for reply in entry.replies:
            if reply.outcome == "failed":  # who confirms an act says again what is stated
                found[reply.document_id].append(_Shown("failure", (reply.start, reply.end)))
    return found


def _shown(thread: Thread, leads: Iterable[_Shown]) -> Named:
    """The units that leads quote. Who reads one with its passage reads both: it names the one of them that says it."""
    found: Named = set()
    for lead in leads:
        beside = lead.passage or lead.quote
        told = [unit_at(thread, *lead.quote)]
        told += [unit.number for unit in thread.units if unit.start < beside[1] and beside[0] < unit.end]
        said = {label.unit for label in thread.labels if label.kind == lead.kind and "o" not in label.flags}
        best = next((unit for unit in told if unit in said), told[0])
        found |= set() if best is None else {(best, lead.kind)}
    return found


def _units(thread: Thread, quotes: Iterable[tuple[int, int, str]]) -> Named:
    told = ((unit_at(thread, start, end), kind) for start, end, kind in quotes)
    return {(unit, kind) for unit, kind in told if unit is not None}


def by_answers(reader: Reader, thread: Thread) -> Named:
    """The units that the kept answers about a thread name of an error that was asked about, before any gate."""
    errors = [error_named(event) for event, signature in signed(thread.document) if signature is not None]
    found: Named = set()
    for question in questions(thread.document, thread.units, errors)[0]:
        said = reader.answers(question, thread.document, thread.units)
        claims = [claim for each in said if not isinstance(each, Skipped) for claim in each.claims if claim is not None]
        failed = {claim.of for claim in claims if claim.kind == "failed"}  # what was tried there is no remedy
        stated = {claim.unit for claim in claims if claim.kind in ("cause", "fix")}  # who says "right" adds no act
        for claim in claims:
            if claim.error > 0 and claim.kind == "worked" and claim.of not in stated:
                found.add((claim.of, "remedy"))
            elif claim.error > 0 and claim.kind in _ANSWERED and not (claim.kind == "remedy" and claim.unit in failed):
                found.add((claim.unit, _ANSWERED[claim.kind]))
    return found


_ANSWERED = {"cause": "cause", "remedy": "remedy", "fix": "fix", "failed": "failure"}


def report(splits: Sequence[str], *, confusions: bool = False, misses: int = 0, home: Path | None = None) -> None:
    """Print the figures of every reader on these splits."""
    readers = READERS | (of_home(home) if home else {})
    everything, lost = threads(splits)
    told = Counter(label.kind for thread in everything for label in thread.labels)
    print(
        f"{len(everything)} threads of {', '.join(splits)}; labels: {dict(told.most_common())}; without a unit: {lost}"
    )
    for kind, (both, first, second) in sorted(agreement(everything).items()):
        print(f"two readers, {kind}: both {both}, one {first}, other {second}, F1 {2 * both / (first + second):.2f}")
    print("\n| reader | kind | recall | agreement |\n|---|---|---|---|")
    for name, reader in readers.items():
        read = [(thread, reader(thread)) for thread in everything]
        figures = score(read)
        print(f"| {name} | all | {figures.line()} |")
        for kind in KINDS:
            print(f"| {name} | {kind} | {figures.line(kind)} |")
        if confusions:
            print(f"{name}, wrong: {figures.confused.most_common(12)}")
        for thread, piece in _missed(read)[:misses]:
            unit = thread.units[piece.unit]
            words = " ".join(thread.document.text[unit.start : unit.end].split())[:160]
            print(f"missed {piece.kind} {thread.document.document_id} [{piece.unit}]: {words}")


def _missed(read: Sequence[tuple[Thread, Named]]) -> list[tuple[Thread, Label]]:
    return [
        (thread, piece)
        for thread, told in read
        for piece, same in pieces(thread.labels)
        if not any((unit, piece.kind) in told for unit in same)
    ]


if __name__ == "__main__":
    main()
