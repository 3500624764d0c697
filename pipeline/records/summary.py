"""The counts of a run: what went in, what came out, what was skipped and why. In = out + skipped, at every stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Protocol

from pipeline.records import Skipped, warm
from pipeline.records.errors import RateLimited, SourceError

#: Skipped items that a summary names one by one; the table `skipped` has them all.
MOST_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class StageCount:
    """What one stage did."""

    stage: str
    taken: int
    given: int
    reasons: tuple[tuple[str, int], ...] = ()  # why the others did not come out, most frequent first

    @property
    def skipped(self) -> int:
        """The items that did not come out; always the sum of `reasons`."""
        return sum(count for _, count in self.reasons)


@dataclass(slots=True)
class Summary:
    """One run: its stages in order, and figures worth a line."""

    stages: list[StageCount] = field(default_factory=list)
    examples: tuple[Skipped, ...] = ()  # the first few skipped items, for people
    figures: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; the order of the stages is that of the run."""
        return {
            "stages": [
                {**asdict(stage), "skipped": stage.skipped, "reasons": dict(stage.reasons)} for stage in self.stages
            ],
            "examples": [asdict(item) for item in self.examples],
            **self.figures,
        }


def from_dict(told: Mapping[str, Any]) -> Summary:
    """The summary that `as_dict` told of."""
    stages = [
        StageCount(row["stage"], row["taken"], row["given"], tuple(row["reasons"].items())) for row in told["stages"]
    ]
    figures = {name: value for name, value in told.items() if name not in ("stages", "examples")}
    return Summary(stages, tuple(Skipped(**item) for item in told["examples"]), figures)


@cache
def reason_meanings() -> Mapping[str, str]:
    """What each reason for a skip means, one sentence each."""
    body = (resources.files("pipeline") / "data" / "skip_reasons.toml").read_text(encoding="utf-8")
    return MappingProxyType(warm.table(body)["reasons"])


def count(stage: str, *, taken: int, given: int, lost: Iterable[Skipped | str]) -> StageCount:
    """The count of a stage.

    Raises:
        AssertionError: taken is not given + lost; a stage that loses an item in silence is a bug.
    """
    reasons = Counter(item if isinstance(item, str) else item.reason for item in lost)
    made = StageCount(stage, taken, given, tuple(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))))
    assert taken == given + made.skipped, f"{stage}: {taken} in, {given} out, {made.skipped} skipped"
    return made


def joined_summary(*summaries: Summary) -> Summary:
    """One summary of a run's parts, in their order; what several of them counted is added up."""
    figures: dict[str, Any] = {}
    for summary in summaries:
        for name, value in summary.figures.items():
            figures[name] = _added(figures.get(name), value)
    examples = tuple(item for summary in summaries for item in summary.examples)
    return Summary([stage for summary in summaries for stage in summary.stages], examples[:MOST_EXAMPLES], figures)


def _added(before: Any, value: Any) -> Any:
    if isinstance(before, dict) and isinstance(value, dict):
        return {**before, **value}
    return before + value if isinstance(before, int) and isinstance(value, int) else value


class Outcome(Protocol):
    """How far an ingest came with one repository, or one of whatever it reads one after the other."""

    @property
    def is_complete(self) -> bool:
        """False if the next run has to go on with it."""


@dataclass(slots=True)
class Fetched:
    """What an ingest did, and what ended it early, if anything did."""

    summary: Summary
    error: SourceError | None = None
    outcomes: Sequence[Outcome] = ()

    @property
    def is_partial(self) -> bool:
        """Whether the next run has to go on where this one stopped, though nothing is broken."""
        if self.error is not None:
            return isinstance(self.error, RateLimited)
        return not all(outcome.is_complete for outcome in self.outcomes)

    @property
    def failure(self) -> SourceError | None:
        """What is broken; a limit is not."""
        return None if self.is_partial else self.error


def status_of(fetched: Sequence[Fetched]) -> str:
    """How a run ended that fetched these: "failed" if any is broken, "partial" if any has to go on, or "completed"."""
    if any(each.failure is not None for each in fetched):
        return "failed"
    return "partial" if any(each.is_partial for each in fetched) else "completed"
