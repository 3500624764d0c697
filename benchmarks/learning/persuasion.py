"""Teaching the reader of advice in plain words (`pipeline/lexicon/advice/persuasion.py`).

    python -m benchmarks.learning.persuasion [--home FOLDER]... [--threads FILE.jsonl.gz]

Taught is a logistic regression over the places of a sentence: sentences of persuasion.toml, `harm` against `fine`, the
published statements of built homes and sentences of comments, all of which are in good faith. A fifth of the published
statements is kept apart; what part of them each threshold refuses is printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.internal import ISSUES, ROOT
from pipeline.lexicon import advice
from pipeline.lexicon.advice import persuasion

WEIGHTS = ROOT / "pipeline" / "data" / "advice" / "persuasion.bin"
#: Each pattern is filled so often; so many sentences of comments are read; passes over all of them.
FILLED, COMMENTS, PASSES = 60, 20_000, 6
RATE, DECAY = 0.5, 2e-6
#: A sentence written for the teaching counts so many times: there are as few of them as anybody can write.
HARM, FINE = 5, 4
#: What the tables have in words is shown so many times.
KNOWN = 12
CASES = ROOT / "tests" / "cases" / "advice"
_SLOT = re.compile(r"\{(\w+)\}")


def written(kind: str) -> list[str]:
    """The sentences of one kind, filled with a fixed seed."""
    table = tomllib.loads(Path(__file__).with_name("persuasion.toml").read_text("utf-8"))
    lists: Mapping[str, Sequence[str]] = {**table["lists"], **table["more"]}
    drawn = random.Random(14)

    def fill(slot: re.Match[str]) -> str:
        name = slot[1] if slot[1] in lists else slot[1].lower()
        return drawn.choice(lists[name])

    found = {_SLOT.sub(fill, pattern) for pattern in sorted(table[kind]["sentences"]) for _ in range(FILLED)}
    return sorted(found)


def known() -> tuple[list[str], list[str]]:
    """What the tables and the tests of the gate have in words: what is refused, and what looks like it and is not."""
    table = tomllib.loads((WEIGHTS.parent / "prose.toml").read_text("utf-8"))
    pairs = [*table["row"], *table["loose"]["pair"]]
    good = [line for row in pairs for line in row.get("lookalikes", ())]
    for name in ("passed_on", "of_models", "understood"):
        good += (CASES / f"{name}.txt").read_text("utf-8").splitlines()
    bad = [line for row in pairs if "act" in row or "thing" in row for line in row["examples"]]
    bad += (CASES / "to_models.txt").read_text("utf-8").splitlines()
    return [line for line in bad if line] * KNOWN, [line for line in good if line and line[0] not in "[#"] * KNOWN


def published(homes: Sequence[Path]) -> list[str]:
    """The statements of built homes."""
    found: dict[str, None] = {}
    for home in homes:
        with (home / "curated" / "entries.jsonl").open(encoding="utf-8") as lines:
            found.update(dict.fromkeys(words for line in lines for _, words in advice.statements(json.loads(line))))
    return list(found)


def commented(path: Path) -> Iterator[str]:
    """Sentences of comments."""
    drawn = random.Random(15)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for thread in map(json.loads, lines):
            for comment in thread["comments"] or ():
                for sentence in persuasion.sentences((comment["body"] or "")[:4000]):
                    if drawn.random() < 0.12 and 20 < len(sentence) < 400:
                        yield sentence


def rows(texts: Sequence[str]) -> list[np.ndarray]:
    """The places of each sentence of the texts."""
    found = (persuasion.places(one) for text in texts for one in persuasion.sentences(text))
    return [np.fromiter(sorted(one), dtype=np.int64) for one in found if one]


def taught(harm: Sequence[np.ndarray], fine: Sequence[np.ndarray], real: Sequence[np.ndarray]) -> np.ndarray:
    """The weights: stochastic gradient descent, each sentence by the root of its length."""
    weights = np.zeros(persuasion.PLACES)
    squares = np.full(persuasion.PLACES, 1e-2)
    examples = [*((one, 1, HARM) for one in harm), *((one, 0, FINE) for one in fine), *((one, 0, 1) for one in real)]
    order = np.random.default_rng(16)
    for _ in range(PASSES):
        for number in order.permutation(len(examples)):
            places, label, times = examples[number]
            root = len(places) ** -0.5
            error = (1 / (1 + np.exp(-(weights[places].sum() * root - 1))) - label) * root * times
            gradient = error + DECAY * len(examples) * weights[places]
            squares[places] += gradient * gradient
            weights[places] -= RATE * gradient / np.sqrt(squares[places])
    return weights


def whole(weights: np.ndarray) -> np.ndarray:
    """The weights as signed bytes."""
    scale = 127 / np.quantile(np.abs(weights[weights != 0]), 0.999)
    return np.clip(np.rint(weights * scale), -127, 127).astype(np.int8)


def show(name: str, weights: np.ndarray, texts: Sequence[str]) -> None:
    """Print what part of the texts each threshold refuses."""
    tops = []
    for text in texts:
        found = rows([text])
        tops.append(max((int(weights[one].astype(int).sum()) / len(one) ** 0.5 for one in found), default=-999.0))
    scores = np.array(tops)
    print(name, len(texts), {level: f"{(scores >= level).mean():.4f}" for level in range(-60, 70, 10)})


def main() -> None:
    """Teach, write the weights, print what they refuse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, action="append", default=[])
    parser.add_argument("--threads", type=Path, default=ISSUES)
    options = parser.parse_args()
    statements = published(options.home)
    random.Random(17).shuffle(statements)
    kept, seen = statements[: len(statements) // 5], statements[len(statements) // 5 :]
    harm, fine = written("harm"), written("fine")
    bad, good = known()
    comments = sorted(set(commented(options.threads)))
    random.Random(18).shuffle(comments)
    print(len(harm), len(fine), len(statements), len(comments))
    weights = whole(taught(rows(harm + bad), rows(fine + good), rows(seen) + rows(comments[:COMMENTS])))
    WEIGHTS.write_bytes(weights.tobytes())
    show("published, not seen", weights, kept)
    show("comments, not seen", weights, comments[COMMENTS : COMMENTS + 8_000])
    show("known, refused", weights, sorted(set(bad)))
    show("known, passed on", weights, sorted(set(good)))
    show("harm", weights, harm[::7])
    show("fine", weights, fine[::7])


if __name__ == "__main__":
    main()
