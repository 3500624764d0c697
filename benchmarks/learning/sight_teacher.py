"""The teacher of the reader of lines: an encoder of 12 layers that reads posts: python sight_teacher.py FOLDER.

The encoder of `teacher.py`, beside this file. A window holds as many lines of a post as 512 tokens do, each behind a
mark of its place; what a line states is told from its mark and the mean of its tokens, so it is read with what stands
around it. It learns first what rules found, with announcing words dropped in half of the lines, then readers' labels.
Two are taught, each on half of the threads, and each tells the lines of the other's half: `told.jsonl.gz`.

FOLDER holds what `sight.py` wrote, and the weights and tokenizer that `teacher.py` asks for. 220 s on an H100.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  (as everybody calls it)
from teacher import Teacher, weights  # beside this file
from tokenizers import Tokenizer
from torch import Tensor, nn

LINE, WINDOW, TOKENS = 56, 512, 16 * 512  # tokens of a line, of a window, of a batch
RATES, EPOCHS = (4e-5, 2.5e-5), (1, 3)  # of what rules found, of what was labelled
DROPPED = (0.25, 0.5)  # how often announcing words are dropped: of other lines, of errors'
REHEARSED, LABELLED = 1500, 3.0  # posts of rules beside labelled ones, which count so much more
_ANNOUNCED = re.compile(
    r"^\s*(?:[\w.$/\\:-]*(?:[Ee]rror|ERROR|ERR!?|Exception|fatal|FATAL|[Ff]ailure|warning|panic|CRITICAL)\b[^:]{0,30}:+\s*)+"
)


class Window(NamedTuple):
    """Tokens of some lines of a post, and where each begins and ends: (start, end, number of the line)."""

    post: dict[str, Any]
    tokens: list[int]
    lines: list[tuple[int, int, int]]


class Cutter:
    """Cuts posts into windows."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        known = self._tokenizer.get_vocab()
        self.start, self.end, self.nothing = known["<s>"], known["</s>"], known["<pad>"]
        self._mark = {kind: known[f"[unused{number}]"] for number, kind in enumerate("oif", start=10)}

    def cut(self, posts: Sequence[dict[str, Any]]) -> None:
        """Give each post the tokens of its lines, as printed and without announcing words."""
        lines = [line for post in posts for line in post["lines"]]
        bare = [line[0][line[4] :] if line[2] and line[4] else _ANNOUNCED.sub("", line[0]) or line[0] for line in lines]
        whole, short = (
            [made.ids for made in self._tokenizer.encode_batch(texts, add_special_tokens=False)]
            for texts in ([line[0] for line in lines], bare)
        )
        made = zip(whole, short, strict=True)
        for post in posts:
            post["tokens"] = [next(made) for _ in post["lines"]]

    def windows(self, post: dict[str, Any], rng: random.Random | None) -> list[Window]:
        """The windows of a post; with `rng`, announcing words are dropped at random."""
        flow = []
        for (_, kind, label, *_), tokens in zip(post["lines"], post["tokens"], strict=True):
            is_bare = rng is not None and rng.random() < DROPPED[label]
            mine = tokens[is_bare]
            flow.append([self._mark[kind], *(mine if len(mine) <= LINE else mine[:44] + mine[-12:])])
        found, at = [], 0
        while at < len(flow):
            tokens, places, stop = [self.start], [], at
            while stop < len(flow) and len(tokens) + len(flow[stop]) < WINDOW:
                places.append((len(tokens), len(tokens) + len(flow[stop]), stop))
                tokens += flow[stop]
                stop += 1
            found.append(Window(post, [*tokens, self.end], places))
            if stop >= len(flow):
                break
            at = max(at + 1, stop - max(3, (stop - at) // 4))
        return found


def batches(windows: list[Window], rng: random.Random) -> list[list[Window]]:
    """Windows of about the same length together, in no order."""
    windows.sort(key=lambda window: len(window.tokens) // 64 + rng.random())
    found: list[list[Window]] = [[]]
    for window in windows:
        longest = max(len(one.tokens) for one in (*found[-1], window))
        if found[-1] and (len(found[-1]) + 1) * longest > TOKENS:
            found.append([])
        found[-1].append(window)
    rng.shuffle(found)
    return found


def said(model: Teacher, windows: Sequence[Window], nothing: int) -> Tensor:
    """A logit for each line of the windows."""
    length = -(-max(len(window.tokens) for window in windows) // 8) * 8
    tokens = np.full((len(windows), length), nothing)
    for row, window in enumerate(windows):
        tokens[row, : len(window.tokens)] = window.tokens
    places = np.array([(row, start, end) for row, window in enumerate(windows) for start, end, _ in window.lines])
    made, where = torch.as_tensor(tokens).cuda(), torch.as_tensor(places).cuda()
    with torch.autocast("cuda", torch.bfloat16):
        return model(made, (made != nothing).long(), *where.T).float()[:, 0]


def teach(model: Teacher, posts: Sequence[dict[str, Any]], cutter: Cutter, step: int, seed: int) -> None:
    """Fine-tune the model on the posts."""
    rng = random.Random(seed)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), RATES[step], weight_decay=0.01)
    drawn = [batches([w for post in posts for w in cutter.windows(post, rng)], rng) for _ in range(EPOCHS[step])]
    count = sum(map(len, drawn))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda at: min(1, (at + 1) / (0.08 * count)) * max(0.02, 1 - at / count)
    )
    for windows in (batch for epoch in drawn for batch in epoch):
        lines = [(w.post, w.post["lines"][number]) for w in windows for _, _, number in w.lines]
        labels = torch.tensor([float(line[2]) for _, line in lines]).cuda()
        counts = torch.tensor([line[3] * (LABELLED if post["is_gold"] else 1) for post, line in lines]).cuda()
        told = said(model, windows, cutter.nothing)
        loss = (F.binary_cross_entropy_with_logits(told, labels, reduction="none") * counts).sum() / 60
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


@torch.no_grad()
def tell(model: Teacher, posts: Sequence[dict[str, Any]], cutter: Cutter) -> dict[str, dict[int, float]]:
    """What the model says of each line, from the window with most around it."""
    model.eval()
    best: dict[str, dict[int, tuple[int, float]]] = {}
    for windows in batches([w for post in posts for w in cutter.windows(post, None)], random.Random(0)):
        told = iter(said(model, windows, cutter.nothing).cpu().tolist())
        for window in windows:
            mine = best.setdefault(window.post["id"], {})
            for place, (_, _, number) in enumerate(window.lines):
                around, logit = min(place, len(window.lines) - 1 - place, 6), next(told)
                if around >= mine.get(number, (-1,))[0]:
                    mine[number] = around, logit
    return {post: {number: round(logit, 2) for number, (_, logit) in mine.items()} for post, mine in best.items()}


def main() -> None:
    """Teach two, and let each tell what the other learned from."""
    folder = Path(sys.argv[1])
    cutter = Cutter(folder / "mpnet.tok.json")
    read = {}
    for name in ("silver", "gold"):
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            read[name] = [json.loads(line) | {"is_gold": name == "gold"} for line in lines]
        cutter.cut(read[name])
    halves: list[list[dict[str, Any]]] = [[], []]
    for post in read["silver"]:
        halves[hashlib.sha256(post["id"].partition(".")[0].encode()).digest()[0] % 2].append(post)
    told: dict[str, dict[int, float]] = {}
    for number, (mine, others) in enumerate((halves, halves[::-1])):
        torch.manual_seed(number + 1)
        model = Teacher(weights(folder))
        model.heads = nn.Sequential(
            nn.Dropout(0.1), nn.Linear(1536, 384), nn.GELU(), nn.Dropout(0.1), nn.Linear(384, 1)
        )
        nn.init.constant_(model.heads[-1].bias, -3.0)
        model = model.cuda()
        teach(model, mine, cutter, 0, number + 1)
        teach(
            model, read["gold"] + random.Random(number).sample(mine, min(REHEARSED, len(mine))), cutter, 1, number + 7
        )
        told |= tell(model, others, cutter)
    with gzip.open(folder / "told.jsonl.gz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps([post, told[post]]) + "\n" for post in sorted(told))


if __name__ == "__main__":
    main()
