"""The student: the network that is shipped: python student.py FOLDER --tag S, or --tag SA --teachers A --hold 1,2.

It learns the labels of people, and what the teachers say of threads that nobody labelled. The folds of `--hold` are not
learned from: what it says of them is written as `TAG.held.npz`. Without `--hold` it learns from all labels, softened by
the teacher that had not seen them, and writes `TAG.net.npz` and `TAG.vocab.json`, of which `benchmarks.reader --train`
makes what is shipped. Runs with torch and numpy, behind `teacher.py`: 100 s on an H100. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  (as everybody calls it)
from teacher import HEADS, threads_of  # beside this file
from torch import Tensor, nn

EPOCHS, RATE, BATCH, DECAY = 16, 1.5e-3, 32, 0.01
WORDS, TRAITS = 40, 48  # of a unit, as in pipeline.distil.claims.candidates
WIDTH_OF_WORDS, WIDTH_OF_TRAITS, WIDTH = 96, 96, 192
DROPPED, DROPPED_WORDS = 0.2, 0.08
#: A word is known that stands in so many threads, a trait in so many.
LEAST_WORDS, LEAST_TRAITS = 8, 12
#: How much of a target is the label, where a teacher that did not see it speaks too; which teacher that is, by fold.
LABEL = 0.6
UNSEEN_BY = {1: "A", 2: "A", 3: "B", 4: "B"}
DILATIONS = (1, 2, 4)


@dataclass(eq=False)
class Example:
    """A thread: by unit its words, its traits, what the heads should say, and whether each half of them is learned."""

    document_id: str
    fold: int  # -1 without labels
    words: list[list[str]]
    traits: list[list[str]]
    targets: np.ndarray  # (units, heads)
    is_learned: np.ndarray  # (units, 2): what is right; the other heads
    rows: np.ndarray | None = None
    marks: np.ndarray | None = None


class Student(nn.Module):
    """`pipeline.distil.claims.candidates` says what it computes; this is the same in floats, with dropout."""

    def __init__(self, words: int, traits: int) -> None:
        super().__init__()
        self.w, self.t = nn.Embedding(words, WIDTH_OF_WORDS, padding_idx=0), nn.Embedding(traits, WIDTH_OF_TRAITS, 0)
        self.tb = nn.Parameter(torch.zeros(WIDTH_OF_TRAITS))
        for table, spread in ((self.w, 0.3), (self.t, 0.1)):
            nn.init.normal_(table.weight, std=spread)
            table.weight.data[0] = 0
        self.c1 = nn.Conv1d(WIDTH_OF_WORDS, WIDTH, 3, padding=1)
        self.c2 = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.u = nn.Linear(WIDTH + WIDTH_OF_TRAITS, WIDTH)
        self.s = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 5, padding=2 * d, dilation=d) for d in DILATIONS)
        self.o = nn.Linear(2 * WIDTH, HEADS)
        nn.init.constant_(self.o.bias, -3.0)

    def forward(self, words: Tensor, traits: Tensor, place: Tensor, threads: int, length: int) -> Tensor:
        """What the heads say of each unit; `place` is where it stands in (threads, length)."""
        is_word = (words > 0)[:, None]
        told = self.w(words)
        if self.training:
            told = told * (torch.rand(words.shape, device=words.device) > DROPPED_WORDS)[..., None]
        told = F.relu(self.c1(told.transpose(1, 2))) * is_word
        told = F.relu(self.c2(F.dropout(told, DROPPED / 2, self.training))) * is_word
        traits_told = F.relu(self.t(traits).sum(1) * 0.25 + self.tb)
        unit = F.relu(self.u(F.dropout(torch.cat([told.amax(2), traits_told], 1), DROPPED, self.training)))
        flow = torch.zeros(threads * length, WIDTH, device=unit.device, dtype=unit.dtype).index_copy(0, place, unit)
        is_unit = torch.zeros(threads * length, device=unit.device, dtype=unit.dtype).index_fill(0, place, 1.0)
        flow, is_unit = flow.view(threads, length, WIDTH).transpose(1, 2), is_unit.view(threads, 1, length)
        for layer in self.s:
            flow = (flow + F.dropout(F.relu(layer(flow)), DROPPED, self.training)) * is_unit
        flow = flow.transpose(1, 2).reshape(threads * length, WIDTH)[place]
        return self.o(F.dropout(torch.cat([unit, flow], 1), DROPPED, self.training))


def examples(folder: Path, teachers: Sequence[str], held: set[int], most: int | None) -> list[Example]:
    """The labelled threads, then the others."""
    found = []
    softened = {name: told_by(folder / f"{name}.labelled.npz") for name in ("A", "B")} if not held else {}
    for at, thread in enumerate(threads_of(folder / "labelled.jsonl.gz")[:most]):
        if not thread["words"]:  # no error is read in it any more, or it is a log of too many units
            continue
        one = _example(thread, thread["fold"])
        for unit, told in thread["targets"].items():
            one.targets[int(unit)] = told
        one.is_learned[:, 1] = [kind in ("sentence", "item") for kind, _, _ in thread["units"]]
        other = softened.get(UNSEEN_BY.get(thread["fold"], ""), {})
        for unit in range(len(one.words)):
            if (at, unit) in other:
                one.targets[unit] = LABEL * one.targets[unit] + (1 - LABEL) * other[at, unit]
        one.is_learned[thread["rows"], 0] = 1
        found.append(one)
    told = [told_by(folder / f"{name}.unlabelled.npz") for name in teachers]
    for at, thread in enumerate(threads_of(folder / "unlabelled.jsonl.gz")[:most]):
        one = _example(thread, -1)
        for unit in range(len(one.words)):
            if (at, unit) in told[0]:
                one.targets[unit] = sum(by[at, unit] for by in told) / len(told)
                one.is_learned[unit, 1] = 1
        rows = thread["rows"]
        one.is_learned[rows, 0] = one.is_learned[rows, 1]
        found.append(one)
    return found


def _example(thread: dict[str, Any], fold: int) -> Example:
    count = len(thread["words"])
    empty = np.zeros((count, HEADS), np.float32), np.zeros((count, 2), np.float32)
    return Example(thread["id"], fold, thread["words"], thread["traits"], *empty)


def told_by(path: Path) -> dict[tuple[int, int], np.ndarray]:
    """(thread, unit) -> what a teacher takes for how likely."""
    kept = np.load(path)
    likely = 1 / (1 + np.exp(-kept["heads"].astype(np.float32)))
    return {(int(thread), int(unit)): told for (thread, unit), told in zip(kept["keys"], likely, strict=True)}


def numbered(found: Sequence[Example], held: set[int], least: tuple[int, int]) -> tuple[dict[str, int], dict[str, int]]:
    """(words, traits) with their rows, and every example in rows."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for one in found:
        if one.fold not in held:
            for count, lists in zip(counts, (one.words, one.traits), strict=True):
                count.update({name for mine in lists for name in mine})
    words, traits = (
        {name: row for row, name in enumerate(sorted(n for n, c in count.items() if c >= few), start=start)}
        for count, few, start in zip(counts, least, (2, 1), strict=True)
    )
    for one in found:
        one.rows = _rows([[words.get(word, 1) for word in mine] for mine in one.words], WORDS)
        one.marks = _rows([[traits[name] for name in mine if name in traits] for mine in one.traits], TRAITS)
    return words, traits


def _rows(lists: Iterable[list[int]], most: int) -> np.ndarray:
    return np.array([(mine + [0] * most)[:most] for mine in lists], np.int32).reshape(-1, most)


def heads_of(model: Student, mine: Sequence[Example]) -> Tensor:
    """What the model says of every unit of these threads, one after the other."""
    device = model.tb.device
    length = max(len(one.words) for one in mine)
    place = np.concatenate([at * length + np.arange(len(one.words)) for at, one in enumerate(mine)])
    parts = (np.concatenate([one.rows for one in mine]), np.concatenate([one.marks for one in mine]), place)
    return model(*(torch.as_tensor(part).to(device) for part in parts), len(mine), length)


def learn(model: Student, found: Sequence[Example], rng: random.Random) -> None:
    """Labelled threads count as often as others do, up to four times."""
    device = model.tb.device.type
    labelled, others = [o for o in found if o.fold >= 0], [o for o in found if o.fold < 0]
    every = others + labelled * max(1, min(4, len(others) // max(1, 3 * len(labelled))))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    steps = math.ceil(len(every) / BATCH) * EPOCHS
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: (
            min(1, (step + 1) / (0.05 * steps)) * max(0.01, (1 + math.cos(math.pi * min(1, step / steps))) / 2)
        ),
    )
    model.train()
    for epoch in range(EPOCHS):
        rng.shuffle(every)
        order = sorted(every, key=lambda one: len(one.words) // 16 + rng.random() * 2)
        batches = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
        rng.shuffle(batches)
        for mine in batches:
            targets = torch.as_tensor(np.concatenate([one.targets for one in mine])).to(device)
            right, rest = torch.as_tensor(np.concatenate([one.is_learned for one in mine])).to(device).T
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                told = heads_of(model, mine)
            lost = F.binary_cross_entropy_with_logits(told.float(), targets, reduction="none")
            loss = (lost[:, :4].sum(1) * right).sum() / right.sum().clamp(min=1)
            loss = loss + 0.5 * (lost[:, 4:].sum(1) * rest).sum() / rest.sum().clamp(min=1)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        print("epoch", epoch, round(loss.item(), 3), flush=True)


@torch.no_grad()
def tell(model: Student, found: Sequence[Example], path: Path) -> None:
    """Write what the model says of threads that it did not learn from."""
    model.eval()
    told = [heads_of(model, [one]).float().cpu().numpy() for one in found]
    np.savez_compressed(
        path,
        ids=np.array([one.document_id for one in found for _ in one.words]),
        units=np.concatenate([np.arange(len(one.words)) for one in found]),
        folds=np.array([one.fold for one in found for _ in one.words]),
        heads=np.concatenate(told),
    )


def main() -> None:
    """Learn, then write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--teachers", default="A,B")
    parser.add_argument("--hold", default="", help="folds that are not learned from, as 1,2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, help="take so many threads only, to try it")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    held = {int(fold) for fold in options.hold.split(",") if fold}
    found = examples(options.folder, options.teachers.split(","), held, options.most)
    words, traits = numbered(found, held, (LEAST_WORDS, LEAST_TRAITS))
    model = Student(len(words) + 2, len(traits) + 1).to("cuda" if torch.cuda.is_available() else "cpu")
    learn(model, [one for one in found if one.fold not in held], random.Random(options.seed))
    if held:
        tell(model, [one for one in found if one.fold in held], options.folder / f"{options.tag}.held.npz")
        return
    kept = {name: value.cpu().numpy().astype(np.float16) for name, value in model.state_dict().items()}
    np.savez_compressed(options.folder / f"{options.tag}.net.npz", **kept)
    (options.folder / f"{options.tag}.vocab.json").write_text(json.dumps({"words": words, "traits": traits}), "utf-8")


if __name__ == "__main__":
    main()
