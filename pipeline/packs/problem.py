"""What is wrong with a pack: the file, the line, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.records.errors import PipelineError

#: Problems that an error's message tells; the others are counted.
_MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a pack, and its place."""

    path: Path
    line: int | None  # from 1; None: the file or folder as a whole
    message: str
    advice: str

    def __str__(self) -> str:
        place = str(self.path) if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"


class PackError(PipelineError):
    """A pack is missing or cannot be read; `problems` says where, and what to do."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        told = [str(one) for one in problems[:_MOST_TOLD]]
        if len(problems) > _MOST_TOLD:
            told.append(f"and {len(problems) - _MOST_TOLD} more")
        super().__init__("; ".join(told), hint=problems[0].advice)
        self.problems = tuple(problems)

    @classmethod
    def of(cls, path: Path, line: int | None, message: str, advice: str) -> PackError:
        """The error of one problem."""
        return cls([Problem(path, line, message, advice)])
