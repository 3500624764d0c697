"""The reader of candidates: finish it, or tell how much it finds: python -m benchmarks.reader [--split test].

The network is learned on a machine with a GPU (`benchmarks/learning`, in three steps); what it wrote there is FOLDER.
`--train FOLDER` fits its last layer here: logistic regression, one for each kind, over what the heads say of a unit and
over its traits, by scikit-learn, lbfgs, L2, fixed order of rows, no randomness; every weight is rounded to a whole
number. A unit is an example if a person labelled it so, as no guess, about the error that errmine would put it to, and
nobody took it back later. The share of a score is what folds by owner of the repository gave, each scored by a network
and by a last layer that its owner had no part in. Written are `pipeline/data/distil/reader.json` and `reader.npz`. It
needs `pip install scikit-learn`, and the rest nothing. `test` is never learned from.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.knowledge import SPLITS, Thread, error_digest, pieces, threads
from pipeline import normalise
from pipeline.distil.claims import rules
from pipeline.distil.claims.candidates import KINDS, WEIGHT, network, scores, seen
from pipeline.distil.claims.prose import Prose
from pipeline.distil.claims.subjects import errors_of

FOLDER = Path(__file__).resolve().parent.parent / "pipeline" / "data" / "distil"
#: The last layer sees a trait that so many units have.
LEAST_UNITS = 60
C = 0.02
#: Shares that are told apart, in hundredths; below the first a unit is no candidate.
SHARES = (25, 35, 50, 60, 70)
#: A share is told of so many units at least.
_LEAST_UNITS = 100

#: By kind: (least score, share), rising.
Steps = Mapping[str, Sequence[Sequence[int]]]


@dataclass(frozen=True)
class Row:
    """A unit in which a person speaks, with what people said of it."""

    thread: Thread
    unit: int
    traits: list[str]
    scores: list[int]  # by kind, of the network that is shipped
    is_right: tuple[bool, ...]  # by kind: labelled so, no guess, about the error that it is put to, not taken back
    is_agreed: tuple[bool, ...]  # by kind: labelled so, of whatever error the thread shows


def main() -> None:
    """Train, or print the figures of what is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--train", type=Path, metavar="FOLDER", help="write the weights anew from what was learned there"
    )
    parser.add_argument("--split", action="append", choices=SPLITS, help="default: tune")
    options = parser.parse_args()
    if options.train:
        found = threads(("train", "tune"))[0]
        read, steps = train(options.train, list(rows(found)))
        held_out = {id(row.thread) for row in read}
        report([thread for thread in found if id(thread) in held_out], read, steps)
        return
    found = threads(options.split or ["tune"])[0]
    report(found, list(rows(found)), network().steps)


def rows(found: Iterable[Thread]) -> Iterator[Row]:
    """The units of threads that errmine reads, in order."""
    for thread in found:
        signatures = [normalise.signature(event, thread.document.text) for event in thread.events]
        errors = errors_of(thread.events, signatures)
        known = {error_digest(e): s.signature_id for e, s in zip(thread.events, signatures, strict=True)}
        findings = rules.findings(Prose(thread.document, thread.events))
        back = {label.of for label in thread.labels if label.kind == "refutation"}
        told = list(seen(thread.document, thread.units, errors, findings))
        scored = scores(network(), [one.words for one in told], [one.traits for one in told])
        for one, score in zip(told, scored, strict=True):
            unit, about = one.unit, one.about
            if not one.is_read:
                continue
            mine = [label for label in thread.labels if label.unit == unit.number]
            right, agreed = [], []
            for kind in KINDS:
                said = [label for label in mine if label.kind == kind and "o" not in label.flags]
                agreed.append(bool(said))
                sure = [label for label in said if "g" not in label.flags and known.get(label.error) in about[kind]]
                right.append(bool(sure) and unit.number not in back)
            yield Row(thread, unit.number, sorted(one.traits), score, tuple(right), tuple(agreed))


def train(folder: Path, found: Sequence[Row]) -> tuple[list[Row], Steps]:
    """Write the network of `folder` with a last layer; (rows with scores of weights that did not see them, steps)."""
    told = _held_out(folder)
    known = [(row, *told[key]) for row in found if (key := (row.thread.document.document_id, row.unit)) in told]
    read, heads, folds = [k[0] for k in known], np.stack([k[1] for k in known]), np.array([k[2] for k in known])
    counts = Counter(trait for row in read for trait in row.traits)
    names = sorted(trait for trait, count in counts.items() if count >= LEAST_UNITS)
    places = {name: place for place, name in enumerate(names)}
    having = np.zeros((len(read), len(names)))
    for number, row in enumerate(read):
        having[number, [places[trait] for trait in row.traits if trait in places]] = 1
    seen_by_last = np.hstack([np.clip(heads, -8, 4), having])
    table = json.loads((folder / "S.vocab.json").read_text("utf-8"))
    weights = _kept(folder / "S.net.npz")
    last = np.zeros((seen_by_last.shape[1], len(KINDS)))
    bias, of_rows = np.zeros(len(KINDS)), np.zeros((len(read), len(KINDS)), int)
    steps: dict[str, list[tuple[int, int]]] = {}
    for place, kind in enumerate(KINDS):
        right = np.array([row.is_right[place] for row in read])
        last[:, place], bias[place] = _fitted(seen_by_last, right)
        held_out = np.zeros(len(read))
        for fold in sorted(set(folds)):
            by, start = _fitted(seen_by_last[folds != fold], right[folds != fold])
            held_out[folds == fold] = seen_by_last[folds == fold] @ by + start
        of_rows[:, place] = np.floor(held_out * 100)
        steps[kind] = _steps(zip(of_rows[:, place].tolist(), right.tolist(), strict=True))
    rows_of = {trait: row for row, trait in enumerate(_in_order(table["traits"]), start=1)}
    of_traits = np.zeros((len(rows_of) + 1, len(KINDS)))
    for name, place in places.items():
        if name in rows_of:
            of_traits[rows_of[name]] = last[heads.shape[1] + place]
    weights |= {"last.heads": last[: heads.shape[1]], "last.traits": of_traits, "last.bias": bias}
    whole = {name: np.rint(value * WEIGHT).astype(np.int32) for name, value in sorted(weights.items())}
    np.savez_compressed(FOLDER / "reader.npz", **{n: _small(value) for n, value in whole.items()})
    made = {
        "made": "python -m benchmarks.reader --train",
        "kinds": KINDS,
        "steps": steps,
        "traits": _in_order(table["traits"]),
        "words": _in_order(table["words"]),
    }
    (FOLDER / "reader.json").write_text(json.dumps(made, ensure_ascii=False, indent=0) + "\n", "utf-8")
    return [replace(row, scores=row_scores) for row, row_scores in zip(read, of_rows.tolist(), strict=True)], steps


def _small(value: NDArray[np.int32]) -> NDArray[Any]:
    least = np.iinfo(np.int16)
    return value.astype(np.int16) if least.min <= value.min() and value.max() <= least.max else value


def _in_order(rows_of: dict[str, int]) -> list[str]:
    return sorted(rows_of, key=rows_of.__getitem__)


def _held_out(folder: Path) -> dict[tuple[str, int], tuple[NDArray[np.float32], int]]:
    """(document, unit) -> what the heads of a network say that its owner had no part in, and the fold of the owner."""
    found = {}
    for name in ("SA", "SB"):
        with np.load(folder / f"{name}.held.npz", allow_pickle=False) as kept:
            for document_id, unit, fold, heads in zip(
                *(kept[n] for n in ("ids", "units", "folds", "heads")), strict=True
            ):
                found[str(document_id), int(unit)] = (heads, int(fold))
    return found


def _kept(path: Path) -> dict[str, NDArray[np.float64]]:
    """The weights of the network as `pipeline.distil.claims.candidates` multiplies with them: inputs by outputs."""
    with np.load(path, allow_pickle=False) as file:
        kept = {name: file[name].astype(np.float64) for name in file.files}
    found = {"words": kept["w.weight"], "traits": kept["t.weight"], "traits.bias": kept["tb"]}
    layers = {"first": "c1", "second": "c2", "unit": "u", "heads": "o"} | {f"thread.{n}": f"s.{n}" for n in range(3)}
    for name, theirs in layers.items():
        weight = kept[f"{theirs}.weight"]  # outputs, inputs, places
        if weight.ndim > 2:
            weight = weight.transpose(0, 2, 1).reshape(len(weight), -1)
        found[name], found[f"{name}.bias"] = weight.T, kept[f"{theirs}.bias"]
    return found


def _fitted(told: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C, max_iter=3000).fit(told, right)
    return model.coef_[0], float(model.intercept_[0])


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


def report(found: Sequence[Thread], read: Sequence[Row], steps: Steps) -> None:
    """Print what is found in these threads, by least share."""
    told: dict[tuple[str, int, str], int] = {}
    right: dict[tuple[str, int, str], tuple[bool, bool]] = {}
    for row in read:
        for place, kind in enumerate(KINDS):
            share = max((share for least, share in steps[kind] if least <= row.scores[place]), default=0)
            if share:
                key = (row.thread.document.document_id, row.unit, kind)
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
