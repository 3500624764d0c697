"""The network behind the trained reader: words and traits of every unit of a thread in, a score for each kind out.

Two convolutions over the words of a unit, their greatest values, the sum of its traits, three convolutions over the
units of the thread, so that what is answered and what is said later counts, and one linear layer. Everything is whole
numbers (`data/distil/reader.npz`): weights in units of 2^-12, what layers pass on in units of 2^-10. Products and their
sums stay under 2^53, so float64 holds them exactly, in whatever order a machine adds them up: the same words have the
same score everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

#: Units of what layers pass on, and of weights.
ACTIVE, WEIGHT = 1 << 10, 1 << 12
#: So many words of a unit are read, and so many traits.
MOST_WORDS, MOST_TRAITS = 40, 48
#: How far apart the units are that a convolution over the thread sees: itself, and two on each side at this distance.
DILATIONS = (1, 2, 4)
#: A head says no more than this, in units of a logit.
_HEAD = (-8.0, 4.0)


@dataclass(frozen=True, slots=True)
class Network:
    """Weights as they are kept, and which word and trait has which row; row 1 of the words is for unknown ones."""

    words: Mapping[str, int]
    traits: Mapping[str, int]
    steps: Mapping[str, Sequence[tuple[int, int]]]  # by kind: (least score, share), rising
    weights: Mapping[str, Numbers]


@cache
def network() -> Network:
    """The network that is shipped."""
    folder = resources.files("pipeline").joinpath("data", "distil")
    table: dict[str, Any] = json.loads(folder.joinpath("reader.json").read_text("utf-8"))
    with folder.joinpath("reader.npz").open("rb") as file, np.load(file, allow_pickle=False) as kept:
        weights = {name: kept[name].astype(np.float64) for name in kept.files}
    return Network(
        {word: row for row, word in enumerate(table["words"], start=2)},
        {trait: row for row, trait in enumerate(table["traits"], start=1)},
        {kind: tuple((least, share) for least, share in steps) for kind, steps in table["steps"].items()},
        weights,
    )


def scores(net: Network, words: Sequence[Sequence[str]], traits: Sequence[Iterable[str]]) -> list[list[int]]:
    """The score of each unit for each kind, in hundredths of a logit; `words` and `traits` are by unit, in order."""
    if not words:
        return []
    known = [sorted({net.traits[t] for t in mine if t in net.traits})[:MOST_TRAITS] for mine in traits]
    units = _units(net, words, known)
    heads = _heads(net.weights, units)
    told = heads @ net.weights["last.heads"] + np.stack([net.weights["last.traits"][rows].sum(0) for rows in known]) * (
        ACTIVE
    )
    told += net.weights["last.bias"] * ACTIVE
    return [[int(score) for score in row] for row in np.floor(told * 100 / (ACTIVE * WEIGHT))]


def heads_of(net: Network, words: Sequence[Sequence[str]], traits: Sequence[Iterable[str]]) -> Numbers:
    """What the heads say of each unit, in units of 2^-10 of a logit: (units, heads)."""
    known = [sorted({net.traits[t] for t in mine if t in net.traits})[:MOST_TRAITS] for mine in traits]
    return _heads(net.weights, _units(net, words, known))


def _units(net: Network, words: Sequence[Sequence[str]], traits: Sequence[Sequence[int]]) -> Numbers:
    """(units, channels): what each unit says by itself. All units stand in one row, a word of nothing between two."""
    flat, starts = [0], []
    for mine in words:
        starts.append(len(flat))
        flat += [net.words.get(word, 1) for word in mine[:MOST_WORDS]]
        flat.append(0)
    rows = np.array(flat)
    is_word = (rows > 0)[:, None]
    said = net.weights["words"][rows] * (ACTIVE / WEIGHT)
    for name in ("first", "second"):
        said = _active(_beside(np.floor(said + 0.5), (-1, 0, 1)), net.weights, name) * is_word
    most = np.maximum.reduceat(said, starts)
    # what is kept of the traits is a quarter of their weights
    told = np.stack([net.weights["traits"][mine].sum(0) for mine in traits]) / 4 + net.weights["traits.bias"]
    told = np.maximum(np.floor(told * (ACTIVE / WEIGHT) + 0.5), 0)
    return _active(np.hstack([most, told]), net.weights, "unit")


def _heads(weights: Mapping[str, Numbers], units: Numbers) -> Numbers:
    thread = units
    for number, apart in enumerate(DILATIONS):
        thread = thread + _active(_beside(thread, tuple(apart * n for n in range(-2, 3))), weights, f"thread.{number}")
    told = np.hstack([units, thread]) @ weights["heads"] + weights["heads.bias"] * ACTIVE
    return np.clip(np.floor(told / WEIGHT + 0.5), _HEAD[0] * ACTIVE, _HEAD[1] * ACTIVE)


def _beside(rows: Numbers, offsets: Sequence[int]) -> Numbers:
    """Each row with those that stand so far from it, nought where there is none."""
    most = max(map(abs, offsets))
    wide = np.pad(rows, ((most, most), (0, 0)))
    return np.hstack([wide[most + offset : most + offset + len(rows)] for offset in offsets])


def _active(rows: Numbers, weights: Mapping[str, Numbers], name: str) -> Numbers:
    told = rows @ weights[name] + weights[f"{name}.bias"] * ACTIVE
    active: Numbers = np.maximum(np.floor(told / WEIGHT + 0.5), 0)
    return active
