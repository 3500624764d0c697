"""The reader of candidates: train it, or tell how much it finds: python -m benchmarks.reader [--train] [--split test].

Logistic regression, one for each kind, on the traits of a unit (`pipeline.distil.claims.candidates`), by scikit-learn,
liblinear, L2, fixed order of rows, no randomness; the weights are rounded to hundredths of a logit, and those that say
next to nothing are left out. A unit is an example if a person labelled it so, as no guess, about the error that
errmine would put it to, and nobody took it back later. The share of a score is what folds by owner of the repository
gave, of `train` and `tune` together, each scored by weights that its owner had no part in. `--train` writes
`pipeline/data/distil/reader.json`; it needs `pip install scikit-learn`, and the rest nothing. `test` is never learned
from.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.knowledge import SPLITS, Thread, error_digest, pieces, threads
from pipeline import normalise
from pipeline.distil.claims import rules
from pipeline.distil.claims.candidates import KINDS, scores, seen
from pipeline.distil.claims.prose import Prose
from pipeline.distil.claims.subjects import errors_of

WEIGHTS = Path(__file__).resolve().parent.parent / "pipeline" / "data" / "distil" / "reader.json"
#: A trait is learned from so many threads at least: a name of one project says nothing about the next.
LEAST_THREADS = 6
FOLDS = 5
C = 0.2
#: A unit's traits are scaled to this length, so that a long sentence weighs no more than a short one.
LENGTH = 6.0
#: Weights are whole hundredths of a logit; a trait none of whose weights reaches this is left out.
SCALE, LEAST_WEIGHT = 100, 20
#: Shares that are told apart, in hundredths; below the first a unit is no candidate.
SHARES = (25, 35, 50, 60)
#: A share is told of so many units at least.
_LEAST_UNITS = 100

Weights = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Row:
    """A unit in which a person speaks, with what people said of it."""

    thread: Thread
    unit: int
    traits: list[str]
    is_right: tuple[bool, ...]  # by kind: labelled so, no guess, about the error that it is put to, not taken back
    is_agreed: tuple[bool, ...]  # by kind: labelled so, of whatever error the thread shows


def main() -> None:
    """Train, or print the figures of what is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true", help="write the weights anew")
    parser.add_argument("--split", action="append", choices=SPLITS, help="default: tune")
    options = parser.parse_args()
    if options.train:
        found = threads(("train", "tune"))[0]
        WEIGHTS.write_text(_file(trained(list(rows(found)))), "utf-8")
        print(WEIGHTS)
        return
    found = threads(options.split or ["tune"])[0]
    report(found, list(rows(found)))


def rows(found: Iterable[Thread]) -> Iterator[Row]:
    """The units of threads that errmine reads, in order."""
    for thread in found:
        signatures = [normalise.signature(event, thread.document.text) for event in thread.events]
        errors = errors_of(thread.events, signatures)
        known = {error_digest(e): s.signature_id for e, s in zip(thread.events, signatures, strict=True)}
        findings = rules.findings(Prose(thread.document, thread.events))
        back = {label.of for label in thread.labels if label.kind == "refutation"}
        for unit, about, traits in seen(thread.document, thread.units, errors, findings):
            mine = [label for label in thread.labels if label.unit == unit.number]
            right, agreed = [], []
            for kind in KINDS:
                said = [label for label in mine if label.kind == kind and "o" not in label.flags]
                agreed.append(bool(said))
                sure = [label for label in said if "g" not in label.flags and known.get(label.error) in about[kind]]
                right.append(bool(sure) and unit.number not in back)
            yield Row(thread, unit.number, sorted(traits), tuple(right), tuple(agreed))


def trained(found: Sequence[Row]) -> dict[str, object]:
    """The content of the file of weights."""
    held_out = _held_out(found)
    weights, bias = _fitted(found)
    steps = {}
    for place, kind in enumerate(KINDS):
        steps[kind] = _steps(
            [(scored[place], row.is_right[place]) for scored, row in zip(held_out, found, strict=True)]
        )
    return {
        "made": "python -m benchmarks.reader --train",
        "threads": len({row.thread.document.document_id for row in found}),
        "kinds": KINDS,
        "bias": bias,
        "steps": steps,
        "weights": weights,
    }


def _file(table: dict[str, object]) -> str:
    """JSON with a line for each trait, so that two trainings can be compared."""
    weights = table.pop("weights")
    assert isinstance(weights, dict)
    head = json.dumps(table, ensure_ascii=False, indent=1)[:-2]
    lines = ",\n".join(
        f"  {json.dumps(trait, ensure_ascii=False)}: {json.dumps(row)}" for trait, row in sorted(weights.items())
    )
    return f'{head},\n "weights": {{\n{lines}\n }}\n}}\n'


def _owner(thread: Thread) -> str:
    return (thread.document.repo or "").partition("/")[0].lower()


def _held_out(found: Sequence[Row]) -> list[list[int]]:
    """The scores of every row by weights that its owner's threads had no part in."""
    sizes = Counter(_owner(row.thread) for row in found)
    fold_of: dict[str, int] = {}
    load = [0] * FOLDS
    for owner in sorted(sizes, key=lambda o: (-sizes[o], hashlib.sha256(o.encode()).hexdigest())):
        fold_of[owner] = load.index(min(load))
        load[fold_of[owner]] += sizes[owner]
    told: list[list[int]] = [[] for _ in found]
    for fold in range(FOLDS):
        weights, bias = _fitted([row for row in found if fold_of[_owner(row.thread)] != fold])
        for place, row in enumerate(found):
            if fold_of[_owner(row.thread)] == fold:
                told[place] = scores(row.traits, bias, weights)
    return told


def _fitted(found: Sequence[Row]) -> tuple[Weights, tuple[int, ...]]:
    """(weights, what every unit starts from)."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    having: dict[str, set[str]] = defaultdict(set)
    for row in found:
        for trait in row.traits:
            if len(having[trait]) < LEAST_THREADS:
                having[trait].add(row.thread.document.document_id)
    names = sorted(trait for trait, ids in having.items() if len(ids) >= LEAST_THREADS)
    places = {name: place for place, name in enumerate(names)}
    indices, ends = [], [0]
    for row in found:
        indices += [places[trait] for trait in row.traits if trait in places]
        ends.append(len(indices))
    matrix = normalize(csr_matrix((np.ones(len(indices)), indices, ends), shape=(len(found), len(names)))) * LENGTH
    columns, bias = [], []
    for place in range(len(KINDS)):
        model = LogisticRegression(C=C, solver="liblinear", max_iter=500, tol=1e-6)
        model.fit(matrix, np.array([row.is_right[place] for row in found]))
        columns.append(model.coef_[0] * LENGTH * SCALE)
        bias.append(round(float(model.intercept_[0]) * SCALE))
    table = {name: tuple(round(float(column[at])) for column in columns) for name, at in places.items()}
    return {name: row for name, row in table.items() if max(map(abs, row)) >= LEAST_WEIGHT}, tuple(bias)


def _steps(scored: Iterable[tuple[int, bool]]) -> list[tuple[int, int]]:
    """(least score, share) of each of `SHARES` that is reached; shares rise with the score (pooled)."""
    by_score: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for score, right in scored:
        by_score[score][0] += right
        by_score[score][1] += 1
    blocks: list[list[int]] = []  # least score, right, all
    for score in sorted(by_score):
        blocks.append([score, *by_score[score]])
        while len(blocks) > 1 and (
            blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2] or blocks[-2][2] < _LEAST_UNITS
        ):
            _, right, every = blocks.pop()
            blocks[-1][1] += right
            blocks[-1][2] += every
    if len(blocks) > 1 and blocks[-1][2] < _LEAST_UNITS:
        _, right, every = blocks.pop()
        blocks[-1][1] += right
        blocks[-1][2] += every
    steps: list[tuple[int, int]] = []
    for share in SHARES:
        least = next((start for start, right, every in blocks if right * 100 >= share * every), None)
        if least is not None:
            steps = [step for step in steps if step[0] < least]
            steps.append((least, share))
    return steps


def report(found: Sequence[Thread], read: Sequence[Row]) -> None:
    """Print what the kept weights find, by least share."""
    table = json.loads(WEIGHTS.read_text("utf-8"))
    weights = {trait: tuple(row) for trait, row in table["weights"].items()}
    told: dict[tuple[str, int, str], int] = {}
    right: dict[tuple[str, int, str], tuple[bool, bool]] = {}
    for row in read:
        for place, score in enumerate(scores(row.traits, table["bias"], weights)):
            share = max((share for least, share in table["steps"][KINDS[place]] if least <= score), default=0)
            if share:
                key = (row.thread.document.document_id, row.unit, KINDS[place])
                told[key], right[key] = share, (row.is_right[place], row.is_agreed[place])
    everything = [(t.document.document_id, piece.kind, same) for t in found for piece, same in pieces(t.labels)]
    print("| share from | kind | candidates | right | agreed | recall |\n|---|---|---|---|---|---|")
    for kind in ("all", *KINDS):
        for share in SHARES if kind == "all" else (SHARES[0], 50):
            chosen = [key for key, known in told.items() if known >= share and kind in ("all", key[2])]
            mine = [piece for piece in everything if kind in ("all", piece[1])]
            hit = sum(
                any((one, unit, of) in told and told[one, unit, of] >= share for unit in same) for one, of, same in mine
            )
            if chosen:
                sure, agreed = (sum(right[key][n] for key in chosen) for n in (0, 1))
                print(
                    f"| {share} | {kind} | {len(chosen)} | {sure / len(chosen):.2f} | {agreed / len(chosen):.2f}"
                    f" | {hit / len(mine):.3f} ({hit}/{len(mine)}) |"
                )


if __name__ == "__main__":
    main()
