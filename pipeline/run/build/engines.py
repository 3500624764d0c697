"""The engines of one build: what a user switched on beside the rules, and what they added."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.records import Claim, Skipped, shelf_of
from pipeline.records.summary import StageCount
from pipeline.run import shards

if TYPE_CHECKING:
    from pipeline.engines.enrich import Reader
    from pipeline.engines.http import Tally
    from pipeline.translate.engines import Engine


@dataclass(frozen=True, slots=True)
class Translator:
    """One engine for Chinese, its name in provenance, and what was asked of it; no tally where nothing is sent."""

    name: str
    engine: Engine
    tally: Tally | None


@dataclass(frozen=True, slots=True)
class Engines:
    """Nothing at all, unless the settings say otherwise."""

    reader: Reader | None = None
    reads_all: bool = False  # also threads in which the rules found an answer
    translators: tuple[Translator, ...] = ()

    def told(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What was asked of each engine in this build, by its name, for the summary."""
        tallies = [(self.reader.chat.name, self.reader.tally)] if self.reader else []
        tallies += [(one.name, one.tally) for one in self.translators if one.tally is not None]
        for name, tally in tallies:
            yield name, {"calls": tally.calls, "kept": tally.kept, "tokens": tally.tokens, **_refused(tally)}


def drop_answers(folder: Path, document_ids: Callable[[], Iterable[str]]) -> None:
    """Nothing; of what models answered in `folder` only that about the documents named is left.

    A thread that was forgotten or withdrawn takes along what was answered about it, also while engines are off.
    """
    shelves = list(folder.glob("thread-*"))
    current = {shelf_of(document_id) for document_id in document_ids()} if shelves else set()
    for shelf in shelves:
        if shelf.name not in current:
            shutil.rmtree(shelf)


def _refused(tally: Tally) -> dict[str, Any]:
    """The questions without an answer, by why; an engine that has any gave only a part of what it could."""
    return {"is_partial": True, "refused": dict(sorted(tally.refused.items()))} if tally.refused else {}


@dataclass(frozen=True, slots=True)
class Added:
    """What the reader added to the rows of the shards; nothing where it is off."""

    claims: tuple[Claim, ...] = ()
    skipped: tuple[Skipped, ...] = ()  # threads without an answer, refused claims
    stages: tuple[StageCount, ...] = ()
    files: tuple[shards.ShardPaths, ...] = ()  # the same rows, for the database


NO_ENGINES = Engines()
NOTHING_ADDED = Added()
