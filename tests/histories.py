"""Random histories of a home, step by step: what comes, changes and goes, and what people say meanwhile.

    python -m tests.histories 1000 [--seed 1] [--mutants]

At every step a build that remembers the last one is compared with one that remembers nothing: clusters, entries,
withheld statements, journal, registry and the results kept for the next. With `--mutants`, each rule that says what a
result depends on is switched off in turn, and the first step is told at which that shows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from pipeline import cluster, raw
from pipeline.cluster.people import Override, Overrides
from pipeline.providers import documents
from pipeline.records import DocLink, Document, LinkKind
from pipeline.run import shards
from pipeline.run.build import concerned, entries, mapping, narrow, results, rows
from pipeline.run.build.registry import Registered
from pipeline.run.shards.columns import Part
from pipeline.translate.remembered import Accepted
from tests import distil_factory
from tests.golden import SAMPLE

#: Messages that are near each other, that quote, that begin, that are typed and not: each has a tail of its own.
MESSAGES = (
    "RuntimeError: cannot place anvil {n} on shelf {n} of the northern store",
    "RuntimeError: cannot place anvil {n} on shelf {n} of the northern  store.",
    "RuntimeError: cannot place anvil {n} on shelf {n} of the southern store",
    "BeltError: the feeder lost its belt number {n} while the press was running",
    "the feeder lost its belt number {n} while the press was running",
    'WorkerError: worker {n} gave up: "the feeder lost its belt number {n} while the press was running"',
    "ValueError: tray {n} of the press is empty",
    "ValueError: tray {n} of the press is emptied",
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom: no vmem for {n} bytes",
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate {n} bytes.",
    "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: {n}, Hardware limit: 232448",
)
REPLIES = (
    "Upgrading presslib to 2.{m} fixed it for me.",
    "Setting PRESS_MODE={m} works around this.",
    "I tried downgrading presslib to 1.{m}, but it still fails.",
    "The reason is that the press allocates tray {m} twice.",
    "Fixed by #{m}.",
    "Thanks, closing this.",
)
ROLES = ("NONE", "MEMBER", "OWNER")
TRACE = '```\nTraceback (most recent call last):\n  File "/opt/press/{f}.py", line {n}, in {f}\n{error}\n```'
CHAIN = "\n\nDuring handling of the above exception, another exception occurred:\n\n"


@dataclass(frozen=True)
class Said:
    """What people said at a step."""

    rows: tuple[Override, ...] = ()
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)


class World:
    """Documents that come, change and go, drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.documents: dict[str, Document] = {}
        self.said = Said()
        self.known: list[str] = []  # texts of templates: what people speak of
        self.signatures: list[str] = []  # of entries: what people translate
        self.number = 0

    def step(self) -> str:
        """What happened."""
        weights = {self._add: 6, self._edit: 5, self._sample: 3, self._forget: 2, self._merge: 1, self._split: 1}
        weights |= {self._rename: 1, self._ignore: 1, self._take_back: 1, self._translate: 1}
        (act,) = self.rng.choices(list(weights), list(weights.values()))
        told = [act() for _ in range(self.rng.choice((1, 1, 3)) if act in (self._add, self._edit, self._sample) else 1)]
        return "; ".join(told)

    def _add(self) -> str:
        self.number += 1
        made = self._thread(self.number)
        self.documents[made.document_id] = made
        return f"{made.document_id} came"

    def _edit(self) -> str:
        own = sorted(self.documents)
        if not own:
            return self._add()
        name = self.rng.choice(own)
        self.documents[name] = self._changed(self.documents[name])
        return f"{name} changed"

    def _sample(self) -> str:
        made = self.rng.choice([one for one in sample() if one.record] if self.rng.random() < 0.5 else sample())
        if made.record is not None and self.rng.random() < 0.5:  # a page that shows no error of its own
            made = replace(made, record=replace(made.record, samples=()))
        self.documents[made.document_id] = made
        return f"{made.document_id} came"

    def _forget(self) -> str:
        for name in self.rng.sample(sorted(self.documents), min(len(self.documents), 2)):
            del self.documents[name]
        return "two went"

    def _texts(self, count: int) -> tuple[str, ...]:
        return tuple(self.rng.sample(self.known, count)) if len(self.known) >= count else MESSAGES[:count]

    def _merge(self) -> str:
        return self._rule(Override("merge", "one", self._texts(2), place=f"merge number {self.number}"))

    def _split(self) -> str:
        return self._rule(Override("split", "two", self._texts(2), place=f"split number {self.number}"))

    def _rename(self) -> str:
        name = self.rng.choice(("empty-tray", "lost-belt"))
        return self._rule(Override("rename", "a name", self._texts(1), name, place=f"rename number {self.number}"))

    def _ignore(self) -> str:
        return self._rule(Override("ignore", "noise", self._texts(1), place=f"ignore number {self.number}"))

    def _rule(self, row: Override) -> str:
        self.said = replace(self.said, rows=(row,))  # one at a time: two may contradict each other
        return f"{row.kind} {row.texts}"

    def _take_back(self) -> str:
        self.said = replace(self.said, rows=())
        return "no overrides"

    def _translate(self) -> str:
        if self.signatures:
            self.said = replace(self.said, texts={("signature", self.rng.choice(self.signatures)): "印刷机坏了。"})
        return "a translation"

    def _thread(self, number: int) -> Document:
        rng = self.rng
        day = f"20{rng.choice((19, 24, 25))}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 28):02d}T10:00:00Z"
        posts: list[dict[str, Any]] = [
            {"kind": "title", "text": f"press fails, report {number}", "at": day, "role": "NONE", "author": "a"},
            {"kind": "body", "text": f"It ends:\n\n{self._trace()}", "at": day, "role": "NONE", "author": "a"},
        ]
        for place in range(rng.randrange(4)):
            text = self._trace() if rng.random() < 0.2 else rng.choice(REPLIES).replace("{m}", str(rng.randrange(1, 5)))
            role = rng.choice(ROLES)
            posts.append({"kind": "comment", "text": text, "at": day, "role": role, "author": f"u{place}"})
        made = distil_factory.document(
            {"kind": rng.choice(("issue", "issue", "pull")), "number": number, "posts": posts}
        )
        if rng.random() < 0.3:
            made = replace(made, title=f"Fix #{rng.randrange(1, number + 1)}", is_merged=True, state="closed")
        return made

    def _trace(self) -> str:
        errors = [
            self.rng.choice(MESSAGES).replace("{n}", str(self.rng.randrange(9)))
            for _ in range(2 if self.rng.random() < 0.3 else 1)
        ]
        traces = [TRACE.replace("{f}", "press").replace("{n}", "7").replace("{error}", one) for one in errors]
        return CHAIN.join(traces).replace("\n```" + CHAIN + "```", CHAIN.rstrip())

    def _changed(self, made: Document) -> Document:
        kind = self.rng.randrange(6)
        if made.record is not None:
            said = f"{made.record.title or made.record.code} {self.rng.randrange(9)}"
            day = f"2026-0{self.rng.randrange(1, 6)}-01"
            return replace(made, record=replace(made.record, title=said, last_updated=day))
        if kind == 0 and made.opened_at:
            return replace(made, opened_at=made.opened_at - timedelta(days=700))
        if kind == 1:
            return replace(made, state="open" if made.state == "closed" else "closed", closed_at=made.opened_at)
        if kind == 2:
            target = f"github.com/{distil_factory.REPO}#{self.rng.randrange(1, self.number + 2)}"
            return replace(made, links=(DocLink(LinkKind.CLOSED_BY, target, None, None),), state="closed")
        if kind == 3:
            return replace(made, repo=self.rng.choice((distil_factory.REPO, "errmine-fixtures/pond")))
        if kind == 4 and made.number and made.document_id == f"github.com/{distil_factory.REPO}#{made.number}":
            return replace(self._thread(made.number), opened_at=made.opened_at)
        return replace(made, labels=(*made.labels, "bug"), raw_sha256=hashlib.sha256(repr(made).encode()).hexdigest())


@cache
def sample() -> tuple[Document, ...]:
    """Every document of the bundled sample, official pages among them."""
    from pipeline import run

    with tempfile.TemporaryDirectory() as folder:
        run.import_files(Path(folder) / "raw", [SAMPLE])
        layer = raw.RawLayer(Path(folder) / "raw")
        read = [documents.document(layer.read(one.refs)) for one in layer.documents()]
    return tuple(one for one in read if isinstance(one, Document))


_MAPPED: dict[str, shards.MapResult] = {}


def digest_of(made: Document) -> str:
    """What tells a document from any other."""
    return hashlib.blake2b(repr(made).encode(), digest_size=8).hexdigest()


def sharded(world: World, folder: Path) -> list[shards.ShardPaths]:
    """The rows of all documents, in two shards."""
    parts = [Part(name, digest_of(made), map_of(made)) for name, made in sorted(world.documents.items())]
    return [
        shards.write_parts(folder, f"p{bit}", [one for one in parts if int(one.digest[0], 16) % 2 == bit])
        for bit in (0, 1)
    ]


def map_of(made: Document) -> shards.MapResult:
    """The rows of a document."""
    digest = digest_of(made)
    if digest not in _MAPPED:
        _MAPPED[digest] = mapping.map_text(made)
    return _MAPPED[digest]


@dataclass
class History:
    """A home in memory: each step makes its entries twice, with and without what it remembers."""

    seed: int
    registry: Registered = field(default_factory=Registered.of)
    kept: results.State = field(default_factory=results.State)
    world: World = field(init=False)
    grouped: entries.Grouped = field(init=False)  # of the last step
    there: rows.Rows = field(init=False)  # of it, as far as they lie in columns

    def steps(self, count: int) -> Iterator[tuple[str, entries.Made, entries.Made, int]]:
        """Of each step what happened, what was made with and without memory, and how many entries were taken over."""
        self.world = World(self.seed)
        with tempfile.TemporaryDirectory() as folder:
            for number in range(count):
                told, place = self.world.step(), Path(folder) / str(number)
                used = sharded(self.world, place)
                with rows.opened(used, spill=place / "spill", last=self.kept.narrow) as there, mapping.uncollected():
                    yield told, *self._made(there, place)

    def _made(self, there: rows.Rows, place: Path) -> tuple[entries.Made, entries.Made, int]:
        world = self.world
        self.there = there
        overrides = Overrides(world.said.rows) if world.said.rows else cluster.NONE
        anew = entries.group(there, overrides)
        self.grouped = grouped = entries.group(there, overrides, standing=self.kept)
        world.known = sorted({one.text for one in grouped.templates})
        known = self.kept.results

        def make(grouped: entries.Grouped, name: str, memory: results.Memory) -> entries.Made:
            means = entries.Means(place / name, translators=[Accepted(world.said.texts)], memory=memory)
            return entries.make(there, grouped, means, registry=self.registry, min_documents=1)

        fingerprint = hashlib.blake2b(repr(sorted(world.said.texts.items())).encode()).hexdigest()
        fresh = make(anew, "fresh", results.Memory(fingerprint))
        found = make(grouped, "found", results.Memory(fingerprint, known, self.kept.texts, self.kept))
        before = {one.worded for one in known.every()} - {""}
        taken = [one for one in found.results.every() if one.worded in before]
        world.signatures = sorted({entry.signature for entry in fresh.entries})
        self.kept = results.State(
            found.results,
            *grouped.proofs,
            found.texts,
            grouped.kept,
            there.kept,
            concerned.placed_rows(there.placed),
            fingerprint,
        )
        if world.rng.random() < 0.8:  # otherwise nobody exported it: the next one starts from the same registry
            self.registry = fresh.registry
        return found, fresh, len(taken)


def differs(found: entries.Made, fresh: entries.Made) -> list[str]:
    """The fields in which two builds differ."""
    names = [name for name in fresh.__slots__ if name != "texts" and getattr(found, name) != getattr(fresh, name)]
    told = [[one.model_dump_json() for one in made.entries] for made in (found, fresh)]
    return [*names, *(["bytes"] if told[0] != told[1] else [])]


# ---------------------------------------------------------------- mutants

Patch = Callable[[], Callable[[], None]]


def without(where: str, rule: str) -> Patch:
    """Switches a rule off: what it names decides nothing."""

    def patch() -> Callable[[], None]:
        real = getattr(results, where)

        def mutated(*given: Any) -> dict[str, Any]:
            every = real(*given)
            assert rule in every
            return {name: lines for name, lines in every.items() if name != rule}

        setattr(results, where, mutated)
        return lambda: setattr(results, where, real)

    return patch


def without_fingerprint() -> Callable[[], None]:
    """What people translated decides nothing."""
    real = results.Memory.needed

    def mutated(self: results.Memory, *given: Any) -> results.Needed:
        return real(replace(self, fingerprint="x"), *given)

    results.Memory.needed = mutated  # type: ignore[method-assign]
    return lambda: setattr(results.Memory, "needed", real)


def without_rule(rule: str) -> Patch:
    """Switches off what says that a draft may be another one."""

    def patch() -> Callable[[], None]:
        real = concerned.by_rule

        def mutated(*given: Any) -> dict[str, set[str]]:
            every = real(*given)
            assert rule in every
            return {**every, rule: set()}

        concerned.by_rule = mutated
        return lambda: setattr(concerned, "by_rule", real)

    return patch


def without_answer(where: Any, name: str) -> Patch:
    """Puts in the place of a function that tells whom a change concerns one that tells of nobody."""

    def patch() -> Callable[[], None]:
        real = getattr(where, name)
        setattr(where, name, lambda *given: None if real(*given) is None else frozenset())
        return lambda: setattr(where, name, real)

    return patch


def without_rows(which: str) -> Patch:
    """What documents showed before they changed, or what they show now, touches nothing."""

    def patch() -> Callable[[], None]:
        real = narrow.Found.touched

        def mutated(self: narrow.Found) -> narrow.Touched | None:
            found = real(self)
            return found and replace(found, **{which: {**getattr(found, which), "events": narrow.EMPTY["events"]}})

        narrow.Found.touched = mutated  # type: ignore[method-assign]
        return lambda: setattr(narrow.Found, "touched", real)

    return patch


def without_words() -> Callable[[], None]:
    """What documents say now refutes no expression."""
    real = narrow.Touched.came
    narrow.Touched.came = property(lambda _: narrow.EMPTY["events"])  # type: ignore[assignment]
    return lambda: setattr(narrow.Touched, "came", real)


MUTANTS: dict[str, Patch] = {
    **{f"draft: {rule}": without("drafted_from", rule) for rule in ("cluster", "documents", "pages", "neighbours")},
    **{f"words: {rule}": without("worded_from", rule) for rule in ("id", "names")},
    **{f"concerned: {rule}": without_rule(rule) for rule in ("said", "placed", "near", "spoken")},
    "concerned: shown, grouped": without_answer(concerned, "told_anew"),
    **{f"rows: {which}": without_rows(which) for which in ("before", "now")},
    "rows: words that came": without_words,
    "what people translated": without_fingerprint,
}


def first_difference(seed: int, steps: int) -> tuple[int, str, list[str]] | None:
    """The first step of a history at which memory changes something: its number, what happened, what differs."""
    number, history = 0, History(seed)
    try:
        for number, (told, found, fresh, _) in enumerate(history.steps(steps), 1):
            if names := differs(found, fresh):
                return number, told, names
    except AssertionError as error:  # what was remembered does not fit what is there
        return number + 1, repr(error), ["assertion"]
    return None


def search(
    mutants: Mapping[str, Patch],
    first: Callable[[int, int], tuple[int, str, list[str]] | None],
    *,
    told: str | None,
    steps: int,
) -> None:
    """What the command line asks for: histories run, or searched for what each of `mutants` breaks.

    `first` gives the first difference in the history of a seed with so many steps; `told` is the help.
    """
    parser = argparse.ArgumentParser(description=told, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", type=int)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", action="store_true")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.histories)
    for name, patch in (mutants if options.mutants else {"": lambda: lambda: None}).items():
        undo = patch()
        try:
            found = next(((seed, one) for seed in seeds if (one := first(seed, options.steps))), None)
        finally:
            undo()
        print(json.dumps({"mutant": name, "histories": options.histories, "first": found}), flush=True)


if __name__ == "__main__":
    search(MUTANTS, first_difference, told=__doc__, steps=12)
