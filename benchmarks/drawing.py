"""The two plots of the figures: cost against messages, and time against length of hostile text. Needs matplotlib:

pip install "errmine[bench]"
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

#: Texts drawn by name; the others of the plot are one grey band.
NAMED = 6


class Cost(NamedTuple):
    """What a number of messages cost."""

    messages: int
    seconds: float  # of CPU
    floor_seconds: float  # of CPU, a plain GROUP BY over the same file
    peak_mb: float


def scaling(costs: Sequence[Cost], exponent: float, target: Path) -> None:
    """Draw CPU seconds of both engines and peak memory against the number of messages; log scales."""
    figure, left, right = _panels()
    sizes = [cost.messages for cost in costs]
    first = costs[0]
    left.plot(sizes, [cost.seconds for cost in costs], "o-", label=f"errmine, N^{exponent:.2f}")
    left.plot(sizes, [cost.floor_seconds for cost in costs], "s-", label="DuckDB GROUP BY of the raw text")
    left.plot(sizes, [first.seconds * size / first.messages for size in sizes], "k:", label="N^1")
    right.plot(sizes, [cost.peak_mb for cost in costs], "o-")
    for axes, label in ((left, "CPU seconds"), (right, "peak memory, MB")):
        axes.set(xscale="log", yscale="log", xlabel="messages", ylabel=label)
        axes.grid(visible=True, alpha=0.3)
    left.legend(fontsize=8)
    _save(figure, target, "Grouping of generated messages: Parquet in, cluster ids out")


def hostile(rows: Sequence[tuple[str, Sequence[float]]], sizes: Sequence[int], target: Path) -> None:
    """Draw CPU seconds against length, worst texts by name, and how much faster than its length each text grows.

    `rows`: name and CPU seconds at each of `sizes` characters, the most expensive first.
    """
    figure, left, right = _panels()
    lengths = [size / 1000 for size in sizes]
    for _, costs in rows[NAMED:60]:
        left.plot(lengths, costs, color="0.8", linewidth=0.5)
    for name, costs in rows[:NAMED]:
        left.plot(lengths, costs, "o-", label=name.replace("$", r"\$")[:44])
    left.set(xlabel="length, kB", ylabel="CPU seconds", xlim=(0, None), ylim=(0, None))
    left.legend(fontsize=6.5, title=f"the worst {NAMED} of {len(rows):,}", title_fontsize=7)
    # what costs less than a hundredth of a second is too short to tell how it grows
    slow = [costs for _, costs in rows if costs[0] >= 0.01]
    right.hist(
        [costs[-1] / costs[0] / (sizes[-1] / sizes[0]) for costs in slow], bins=[step / 10 for step in range(41)]
    )
    right.axvline(1, color="k", linestyle=":", label="linear")
    right.axvline(sizes[-1] / sizes[0], color="r", linestyle=":", label="quadratic")
    right.set(xlabel="growth of cost / growth of length", ylabel=f"texts, of {len(slow):,} over 0.01 s")
    right.legend(fontsize=8)
    _save(figure, target, f"Texts that repeat what makes a rule begin, up to {sizes[-1] // 1000} kB")


def _panels() -> tuple[Any, Any, Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.2))
    return figure, left, right


def _save(figure: Any, target: Path, title: str) -> None:
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    # no date and no version in the file: the same figures give the same bytes
    figure.savefig(target, dpi=75, metadata={"Software": None})
