"""What the trained reader of lines learns from, and what it learned: python -m benchmarks.learning.sight OUT [--learn].

`python -m benchmarks.learning.sight --more` asks no teacher: it goes on from the weights that are shipped, with what
readers said of single lines (`tests/quality/sight_lines.jsonl`) and of posts, and stays near them.

Without `--learn`, writes `silver.jsonl.gz` (posts with the lines that rules find, or that the thread's title repeats in
a block of code) and `gold.jsonl.gz` (posts with the lines that readers labelled) for `sight_teacher.py`, which runs
on a machine with a GPU and writes `told.jsonl.gz`: what it says of every line. With `--learn`, reads that, and writes
`pipeline/data/extract/sight.json`: the weights of a linear reader that follows the teacher where nobody labelled, and
the labels where somebody did. Posts of the `test` and `last` halves of the labels are in neither.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.fields import CORPUS, ROOT, THREADS, labels, posts
from pipeline import extract
from pipeline.extract import blocks, sight
from pipeline.records import Event, Severity
from pipeline.text import clean

SHIPPED = ROOT / "pipeline" / "data" / "extract" / "sight.json"
LINES = ROOT / "tests" / "quality" / "sight_lines.jsonl"
#: Posts shorter or longer are left out; so many comments of a thread are read, of the corpus a thread in so many.
_SHORTEST, _LONGEST, _COMMENTS, _SAMPLED = 60, 9_000, 14, 2
#: What a line counts for: found by rules, only an ending, beside a find, in a post without any, repeated by the title.
_FOUND, _ENDING, _BESIDE, _ALONE, _REPEATED = 1.0, 0.4, 0.7, 0.25, 0.7
#: Of the title's groups of three words so many have to stand in a line that repeats it.
_SHARED = 0.5
_WORDS = re.compile(r"[a-z][a-z_']+")

#: The gate may lose this share of all that errors weigh; what is seen of fewer lines, by gate and reader, is unknown.
_LOST, _GATE_LEAST, _LEAST = 0.02, 10, 12
#: A feature whose weight is less is not kept, in logits.
_SMALLEST, _GATE_SMALLEST = 0.08, 0.1


def main() -> None:
    """Write the material, or learn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--learn", action="store_true")
    parser.add_argument("--more", action="store_true")
    options = parser.parse_args()
    if options.more:
        _ship(continued())
        return
    if options.out is None:
        parser.error("OUT, the folder of the material, is missing")
    if options.learn:
        _ship(learned(options.out))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    for name, made in (("silver", silver()), ("gold", gold())):
        with gzip.open(options.out / f"{name}.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps({"id": post_id, "lines": lines}) + "\n" for post_id, _, lines in made)


def _ship(made: dict[str, Any]) -> None:
    SHIPPED.write_text(json.dumps(made, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def silver() -> Iterator[tuple[str, str, list[list[Any]]]]:
    """Posts that nobody labelled: id, text, lines as [text, place, label, weight, where the message begins, start]."""
    known = {row["uid"] for row in labels()}
    for path, sampled in ((THREADS, 1), (CORPUS, _SAMPLED)):
        with gzip.open(path, "rt", encoding="utf-8") as rows:
            for row in map(json.loads, rows):
                if row["uid"] in known or int(hashlib.sha256(row["uid"].encode()).hexdigest()[:8], 16) % sampled:
                    continue
                said = [one["body"] for one in row["comments"] or [] if not one.get("is_bot")][:_COMMENTS]
                for number, body in enumerate((row["body"], *said)):
                    text = clean(body or "")
                    if _SHORTEST < len(text) <= _LONGEST and blocks.lines(text):
                        title = row["title"] or "" if number == 0 else ""
                        yield f"{row['uid']}.{number}", text, _silver(text, title)


def _silver(text: str, title: str) -> list[list[Any]]:
    events = [one for one in extract.events(text) if one.dialect != extract.GENERIC]
    failures = [one for one in events if one.severity != Severity.WARNING]
    lines = _lines(text)
    for line in lines:
        start, end = line[5], line[5] + len(line[0])
        line[3] = _BESIDE if failures else _ALONE
        for event in (one for one in events if one.start <= end and one.end > start):
            at = line[0].find(event.message[:40]) if event.message and event in failures else -1
            if at >= 0:
                line[2:5] = 1, _weight(event), at
            elif not line[2]:
                line[3] = 0.3 if event in failures else 0.0
        if not line[2] and line[1] == "i" and _is_repeated(title, line[0]):
            line[2:4] = 1, _REPEATED
    return lines


def _weight(event: Event) -> float:
    return _ENDING if event.severity == Severity.WRAPPER else _FOUND


def _is_repeated(title: str, line: str) -> bool:
    one, other = (_WORDS.findall(said.lower()) for said in (title, line[:200]))
    wanted = set(zip(one, one[1:], one[2:], strict=False))
    there = list(zip(other, other[1:], other[2:], strict=False))[:12]
    return len(one) > 3 and bool(there) and sum(t in wanted for t in there) >= _SHARED * min(len(there), len(wanted))


def gold() -> Iterator[tuple[str, str, list[list[Any]]]]:
    """Posts that readers labelled: the lines that announce the error or its root are its own."""
    for post in posts(row for row in labels("tune")):
        ats = [one["at"] for one in (post.label, post.label["root"]) if one and one["at"] is not None]
        events = extract.events(post.text)
        lines = _lines(post.text)
        for line in lines:
            start, end = line[5], line[5] + len(line[0])
            line[2] = int(any(start <= at <= end for at in ats))
            if not line[2] and ats:  # other errors of the post have no label
                line[3] = 0.0 if any(one.start <= end and one.end > start for one in events) else 0.3
        yield f"{post.label['uid']}.{post.label['post']}", post.text, lines


def _lines(text: str) -> list[list[Any]]:
    """The lines of a text that are not blank, without labels: "f" begins or ends a block, "i" is inside, "o" out."""
    found: list[list[Any]] = []
    start, is_inside = 0, False
    for line in text.split("\n"):
        is_fence = blocks.is_fence(line)
        is_inside ^= is_fence
        if line.strip():
            found.append([line[:400], "f" if is_fence else "i" if is_inside else "o", 0, 1.0, 0, start])
        start += len(line) + 1
    return found


class Example(NamedTuple):
    """A line that may state an error: what is seen of it, by family, and how much it does."""

    seen: list[str]
    gate: list[str]
    target: float
    weight: float


def _examples(folder: Path) -> Iterator[Example]:
    with gzip.open(folder / "told.jsonl.gz", "rt", encoding="utf-8") as rows:
        told = dict(map(json.loads, rows))
    for _, _, looked, label, weight in _read(gold()):
        yield Example(_features(looked), _gate(looked), label, 2.0 if weight >= 1 else weight)
    for post_id, number, looked, _, _ in _read(silver()):
        if (said := told.get(post_id, {}).get(str(number))) is not None:
            yield Example(_features(looked), _gate(looked), 1 / (1 + np.exp(-said)), 1.0)


def _read(
    made: Iterator[tuple[str, str, list[list[Any]]]],
) -> Iterator[tuple[str, int, sight.Line, float, float]]:
    """The lines of posts that may state an error: (id of the post, number, the line, its label and weight)."""
    for post_id, text, lines in made:
        numbers = {line[5]: number for number, line in enumerate(lines)}
        leads: dict[int, str] = {}
        for line in blocks.lines(text):
            number, looked = numbers.get(line.start), sight.look(text, line, leads)
            if number is not None and looked is not None:
                yield post_id, number, looked, lines[number][2], lines[number][3]


def _gate(looked: sight.Line) -> list[str]:
    """What the gate sees of a line."""
    return sorted({f" {looked.kind}", *sight.words_of(looked.read)})


def learned(folder: Path) -> dict[str, Any]:
    """What is shipped, from what the teacher told in `folder`."""
    examples = list(_examples(folder))
    targets = np.array([one.target for one in examples])
    counts = np.array([one.weight for one in examples])
    bias, gate = _fitted([one.gate for one in examples], targets, counts, _GATE_LEAST)
    passed = np.array([bias + sum(gate.get(word, 0) for word in one.gate) for one in examples])
    order = np.argsort(passed)
    lost = (targets * counts)[order].cumsum() / (targets * counts).sum()
    least = passed[order][np.searchsorted(lost, _LOST)]
    kept = {word: weight for word, weight in gate.items() if abs(weight) >= _GATE_SMALLEST}
    kept |= {f" {kind}": gate.get(f" {kind}", 0.0) + bias - least for kind in sight.LEAST}
    bias, weights = _fitted([one.seen for one in examples], targets, counts, _LEAST)
    gates = {word: round(weight * 100) for word, weight in sorted(kept.items())}
    return {"bias": round(bias * 100), "gate": gates, **_tables(weights)}


#: The tables of what is shipped by the marks of their families.
_FAMILIES = {"w": "words", "b": "pairs", "t": "traits"}


def _tables(weights: Mapping[str, float]) -> dict[str, dict[str, int]]:
    """The weights that are large enough, by family, as whole numbers."""
    tables: dict[str, dict[str, int]] = {name: {} for name in _FAMILIES.values()}
    for feature, weight in sorted(weights.items()):
        if abs(weight) >= _SMALLEST:
            tables[_FAMILIES[feature[0]]][feature[1:]] = round(weight * 100)
    return tables


#: How a line counts by what a reader said of it: the error, only an end, a warning, none, another line is the error.
_VERDICTS = {"yes": 1.0, "end": 0.5, "warn": 0.0, "no": 0.0, "else": 0.0}
#: How near the weights stay to those that are shipped (chosen by folds of repositories), and how often they are fitted.
_NEAR, _EPOCHS = 0.6, 30


def judged() -> Iterator[Example]:
    """The lines that readers judged one by one, and those that they named instead; in the order of the file."""
    rows = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    texts = {(post.label["uid"], post.label["post"]): post.text for post in posts(rows)}
    for row in rows:
        text = texts[row["uid"], row["post"]]
        by_start = {line.start: line for line in blocks.lines(text)}
        leads: dict[int, str] = {}
        for start, target in ((row["start"], _VERDICTS[row["verdict"]]), (row.get("instead"), 1.0)):
            line = by_start.get(start)
            looked = None if line is None else sight.look(text, line, leads)
            if looked is not None:
                yield Example(_features(looked), [], target, 1.0)


def continued() -> dict[str, Any]:
    """What is shipped, gone on from by judged lines and labelled posts; the gate stays as it is."""
    table = json.loads(SHIPPED.read_text(encoding="utf-8"))
    shipped = {mark + one: value / 100 for mark, name in _FAMILIES.items() for one, value in table[name].items()}
    posted = (Example(_features(one), [], label, min(1.0, weight)) for *_, one, label, weight in _read(gold()))
    examples = [*judged(), *(one for one in posted if one.weight > 0)]
    often = Counter(feature for one in examples for feature in one.seen)
    known = sorted(feature for feature, count in often.items() if feature in shipped or count >= _LEAST)
    row_of = {feature: row for row, feature in enumerate(known)}
    start = np.array([shipped.get(feature, 0.0) for feature in known])
    weights, bias, own = start.copy(), table["bias"] / 100, table["bias"] / 100
    sums, own_sum = np.full(len(known), 1e-2), 1e-2
    random = np.random.RandomState(0)
    rows = [np.array([row_of[feature] for feature in one.seen if feature in row_of], np.int64) for one in examples]
    for epoch in range(_EPOCHS):
        rate = 0.08 * (1 - epoch / _EPOCHS) + 0.005
        for number in random.permutation(len(rows)):
            mine, one = rows[number], examples[number]
            missed = (1 / (1 + np.exp(-(weights[mine].sum() + own))) - one.target) * one.weight
            steps = missed + _NEAR * (weights[mine] - start[mine])
            sums[mine] += steps * steps
            weights[mine] -= rate * steps / np.sqrt(sums[mine])
            step = missed + _NEAR * (own - bias)
            own_sum += step * step
            own -= rate * step / np.sqrt(own_sum)
    made = shipped | dict(zip(known, map(float, weights), strict=True))
    return {**table, **_tables(made), "bias": round(own * 100)}


def _features(looked: sight.Line) -> list[str]:
    """What is seen of a line, each with the mark of its family."""
    what = sight.seen(looked)
    families = (("w", what.words), ("b", map(" ".join, what.pairs)), ("t", what.traits))
    return sorted({mark + one for mark, family in families for one in family})


def _fitted(
    seen: Sequence[Sequence[str]], targets: NDArray[np.float64], counts: NDArray[np.float64], least: int
) -> tuple[float, dict[str, float]]:
    """Bias and weights of a logistic regression: Adagrad, mean of four orders of the lines, features left out."""
    often = Counter(feature for mine in seen for feature in mine)
    row_of = {feature: row for row, feature in enumerate(sorted(one for one, count in often.items() if count >= least))}
    rows = [np.array([row_of[one] for one in mine if one in row_of], np.int64) for mine in seen]
    mean, bias = np.zeros(len(row_of)), 0.0
    for seed in range(4):
        random = np.random.RandomState(seed)
        weights, own, sums, own_sum = np.zeros(len(row_of)), -2.0, np.full(len(row_of), 1e-2), 1e-2
        for epoch in range(6):
            rate = 0.1 * (1 - epoch / 6) + 0.01
            order = random.permutation(len(rows))
            for at in range(0, len(rows), 128):
                batch = order[at : at + 128]
                flat = np.concatenate([rows[one] for one in batch])
                line = np.repeat(np.arange(len(batch)), [len(rows[one]) for one in batch])
                is_kept = random.rand(len(flat)) > 0.15
                flat, line = flat[is_kept], line[is_kept]
                told = np.bincount(line, weights[flat], len(batch)) / 0.85 + own
                missed = (1 / (1 + np.exp(-told)) - targets[batch]) * counts[batch]
                slope = np.bincount(flat, missed[line], len(row_of))
                touched = np.unique(flat)
                steps = slope[touched] + 0.06 * weights[touched]
                sums[touched] += steps * steps
                weights[touched] -= rate * steps / np.sqrt(sums[touched])
                own_sum += missed.sum() ** 2
                own -= rate * missed.sum() / np.sqrt(own_sum)
        mean += weights / 4
        bias += own / 4
    return bias, {feature: float(mean[row]) for feature, row in row_of.items()}


if __name__ == "__main__":
    main()
