"""What a linear reader learns from the labelled threads: python -m benchmarks.reader [--agreement 0.65].

Logistic regression, one for each kind, on the traits of a unit (`benchmarks.traits`), by scikit-learn, liblinear, L2,
fixed order of rows, no randomness. Every figure is of scores that no fold's own weights gave: folds by owner of the
repository, of `train` and `tune` together; `test` is never read. Needs `pip install scikit-learn`. Nothing of it is
part of errmine: read against their threads, too many of its statements are wrong (figures in benchmarks/README.md).
"""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import sqrt

from benchmarks.knowledge import KINDS as PIECES
from benchmarks.knowledge import Thread, pieces, threads
from benchmarks.traits import SPOKEN, View

#: What a unit can be.
KINDS = ("cause", "remedy", "fix", "failure", "confirmation")
#: A unit's traits are scaled to this length, so that a long sentence weighs no more than a short one.
LENGTH = 6.0
#: A trait is learned from so many threads at least: a name of one project says nothing about the next.
LEAST_THREADS = 3
FOLDS = 5
C = 0.3
#: Fewer units than this set no threshold.
_LEAST_NAMED = 8

Row = tuple[Thread, int, list[str]]  # a unit in which a person speaks, with its traits


def main() -> None:
    """Train by folds and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agreement", type=float, default=0.65, help="that the threshold of each kind is set for")
    options = parser.parse_args()
    found, _ = threads(("train", "tune"))
    rows = list(_rows(found))
    print(f"{len(found)} threads, {len(rows)} units")
    held_out = _held_out(found, rows)
    least = {
        kind: _threshold(rows, [one[place] for one in held_out], kind, options.agreement)
        for place, kind in enumerate(KINDS)
    }
    _report(found, rows, held_out, least)


def _rows(found: Sequence[Thread]) -> Iterator[Row]:
    for thread in found:
        view = View(thread.document, thread.events, thread.units)
        for unit in thread.units:
            if unit.kind in SPOKEN:
                yield thread, unit.number, view.traits(unit.number)


def _owner(thread: Thread) -> str:
    return (thread.document.repo or "").partition("/")[0].lower()


def _held_out(found: Sequence[Thread], rows: Sequence[Row]) -> list[list[float]]:
    """The scores of every row by weights that its owner's threads had no part in."""
    sizes = Counter(map(_owner, found))
    fold_of: dict[str, int] = {}
    load = [0] * FOLDS
    for owner in sorted(sizes, key=lambda o: (-sizes[o], hashlib.sha256(o.encode()).hexdigest())):
        fold_of[owner] = load.index(min(load))
        load[fold_of[owner]] += sizes[owner]
    scores: list[list[float]] = [[] for _ in rows]
    for fold in range(FOLDS):
        inside = [row for row in rows if fold_of[_owner(row[0])] != fold]
        table, bias = _trained(inside)
        for place, row in enumerate(rows):
            if fold_of[_owner(row[0])] == fold:
                scores[place] = _scored(row[2], table, bias)
    return scores


Table = dict[str, tuple[float, ...]]


def _trained(rows: Sequence[Row]) -> tuple[Table, tuple[int, ...]]:
    """(weights in thousandths, what every unit starts from)."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    seen: dict[str, set[str]] = defaultdict(set)
    for thread, _, traits in rows:
        for trait in traits:
            if len(seen[trait]) < LEAST_THREADS:
                seen[trait].add(thread.document.document_id)
    names = sorted(trait for trait, ids in seen.items() if len(ids) >= LEAST_THREADS)
    places = {name: place for place, name in enumerate(names)}
    indices, ends = [], [0]
    for _, _, traits in rows:
        indices += [places[trait] for trait in traits if trait in places]
        ends.append(len(indices))
    values = np.array([scale_of(name) for name in names], dtype=float)[indices]
    matrix = normalize(csr_matrix((values, indices, ends), shape=(len(rows), len(names)))) * LENGTH
    columns, bias = [], []
    for kind in KINDS:
        wanted = np.array([_is(thread, unit, kind) for thread, unit, _ in rows])
        counted = np.array([float(not _is_unsure(thread, unit, kind)) for thread, unit, _ in rows])
        model = LogisticRegression(C=C, solver="liblinear", max_iter=500, tol=1e-6)
        model.fit(matrix, wanted, sample_weight=counted)
        columns.append(model.coef_[0])
        bias.append(float(model.intercept_[0]))
    return {name: tuple(float(each[place]) for each in columns) for name, place in places.items()}, tuple(bias)


def _is(thread: Thread, unit: int, kind: str) -> bool:
    return any(label.unit == unit and label.kind == kind for label in thread.labels)


def _is_unsure(thread: Thread, unit: int, kind: str) -> bool:
    """True for guesses and for what is said of another problem: neither an example nor a counterexample."""
    return any(label.unit == unit and label.kind == kind and set("go") & set(label.flags) for label in thread.labels)


def _scored(traits: Sequence[str], table: Table, bias: Sequence[float]) -> list[float]:
    """The score of a unit with these traits for each kind, a logit."""
    known = [(scale_of(trait), table[trait]) for trait in traits if trait in table]
    length = LENGTH / sqrt(sum(scale * scale for scale, _ in known)) if known else 0.0
    return [
        first + length * sum(scale * weights[place] for scale, weights in known) for place, first in enumerate(bias)
    ]


def scale_of(trait: str) -> int:
    """How much a trait counts: a neighbour's words half as much as its own."""
    return 1 if trait[1:2] == ":" and trait[0] in "pnPN" else 2


def _threshold(rows: Sequence[Row], scores: Sequence[float], kind: str, agreement: float) -> float:
    """The least score from which on the units named agree with people as often as asked; never by fewer than eight."""
    ranked = sorted(zip(scores, rows, strict=True), key=lambda pair: -pair[0])
    right, least = 0, float("inf")
    for count, (score, (thread, unit, _)) in enumerate(ranked, 1):
        right += _agrees(thread, unit, kind)
        if count >= _LEAST_NAMED and right >= agreement * count:
            least = score
    return least


def _agrees(thread: Thread, unit: int, kind: str) -> bool:
    return any(label.unit == unit and label.kind == kind and "o" not in label.flags for label in thread.labels)


def _report(
    found: Sequence[Thread], rows: Sequence[Row], scores: Sequence[Sequence[float]], least: dict[str, float]
) -> None:
    told: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for (thread, unit, _), each in zip(rows, scores, strict=True):
        for kind, score in zip(KINDS, each, strict=True):
            if score >= least[kind]:
                told[thread.document.document_id].add((unit, kind))
    for kind in KINDS:
        named = [(t, u) for t in found for u, k in told[t.document.document_id] if k == kind]
        right = sum(_agrees(t, u, kind) for t, u in named)
        line = f"{kind}: threshold {least[kind]:.2f}, agreement {right}/{len(named)}"
        if kind in PIECES:
            mine = [(t, same) for t in found for piece, same in pieces(t.labels) if piece.kind == kind]
            hit = sum(any((u, kind) in told[t.document.document_id] for u in same) for t, same in mine)
            line += f", recall {hit}/{len(mine)}"
        print(line)
    every = [(t, p, s) for t in found for p, s in pieces(t.labels)]
    hit = sum(any((u, p.kind) in told[t.document.document_id] for u in s) for t, p, s in every)
    print(f"all: recall {hit}/{len(every)} = {hit / max(1, len(every)):.3f}")


if __name__ == "__main__":
    main()
