"""Records by key in files that never change: whatever came and went, they are those of a dict."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pipeline.run.build import keyed
from pipeline.run.build.keyed import Keyed, Segment
from pipeline.run.shards.columns import Table


@dataclass(frozen=True, slots=True)
class Goose:
    """A record."""

    name: str
    farm: str
    friends: tuple[str, ...] = ()


GEESE = Table(Goose)


@dataclass
class Pond:
    """A folder with geese, and the geese that it should have."""

    folder: Path
    known: dict[str, dict[str, Any]]
    there: dict[str, Goose]
    kept: Keyed[Goose]

    def step(self, changed: Mapping[str, Goose], gone: list[str], *, is_purged: bool = False) -> list[str]:
        """The files that were written."""
        now = self.kept.with_those_of(changed, gone=gone)
        self.there = {key: one for key, one in {**self.there, **changed}.items() if key in changed or key not in gone}
        assert dict(now) == self.there
        assert (len(now), list(now)) == (len(self.there), sorted(self.there))
        before = set(self.known)
        names = [one["path"] for one in now.write(self.folder, "geese", self.known, is_purged=is_purged)]
        segments = [Segment(name, keyed.opened(self.folder / name, Keyed.schema(GEESE))) for name in names]
        self.kept = Keyed(GEESE, segments)
        assert self.kept == self.there
        assert self.kept.every() == [self.there[key] for key in sorted(self.there)]
        return [name for name in names if name not in before]


@pytest.fixture
def pond(tmp_path: Path) -> Pond:
    return Pond(tmp_path, {}, {}, Keyed(GEESE))


def drawn(rng: random.Random, count: int) -> dict[str, Goose]:
    names = [f"goose {rng.randrange(400):03}" for _ in range(count)]
    return {name: Goose(name, rng.choice("abc"), tuple(rng.sample(names, rng.randrange(3) % count))) for name in names}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_came_and_went_is_what_a_dict_has(seed: int, pond: Pond) -> None:
    rng = random.Random(seed)
    for number in range(30):
        gone = rng.sample(sorted(pond.there), min(len(pond.there), rng.choice((0, 0, 3, 20))))
        pond.step(drawn(rng, rng.choice((1, 2, 60))), [*gone, "nobody"], is_purged=number % 9 == 8)
        asked = {f"goose {rng.randrange(400):03}" for _ in range(3)}
        found = pond.kept.naming("friends", asked)
        assert sorted(one.name for one in found) == sorted(
            key for key, one in pond.there.items() if not asked.isdisjoint(one.friends)
        )
        sizes = [len(one.table) for one in pond.kept.segments]
        assert all(one > 2 * other for one, other in pairwise(sizes))


def test_a_few_that_changed_are_a_small_file_and_none_is_written_where_nothing_did(pond: Pond) -> None:
    every = {f"goose {number:03}": Goose(f"goose {number:03}", "a") for number in range(300)}
    first = pond.step(every, [])
    (second,) = pond.step({"goose 007": Goose("goose 007", "b")}, ["goose 008"])
    assert [one.name for one in pond.kept.segments] == [*first, second]
    assert len(pond.kept.segments[1].table) == 2
    assert pond.step({"goose 007": Goose("goose 007", "b")}, ["goose 008"]) == []


def test_where_something_is_forgotten_no_row_stays_that_does_not_count(pond: Pond) -> None:
    pond.step({name: Goose(name, "the farm of before") for name in map(str, range(99))}, [])
    pond.step({"7": Goose("7", "another")}, [str(number) for number in range(8, 99)])
    written = pond.step({}, [], is_purged=True)
    assert [one.name for one in pond.kept.segments] == written
    assert len(pond.kept.segments[0].table) == len(pond.there) == 8


def test_a_file_with_other_columns_is_refused(tmp_path: Path, pond: Pond) -> None:
    pond.step({"7": Goose("7", "a")}, [])
    with pytest.raises(ValueError, match="has other columns"):
        keyed.opened(tmp_path / pond.kept.segments[0].name, GEESE.schema)


@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_rows_that_replace_others_stand_where_their_keys_do(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed, "_A_PIECE", piece)
    rng = random.Random(piece)
    for _ in range(60):
        names = sorted({str(rng.randrange(60)) for _ in range(rng.randrange(40))})
        last = GEESE.write([Goose(one, "old", (one, "a")) for one in names])
        is_gone = np.array([rng.random() < 0.3 for _ in names], bool)
        stay = [one for one, away in zip(names, is_gone, strict=True) if not away]
        made = {str(rng.randrange(60)) for _ in range(rng.randrange(9))} - {*stay}
        found = keyed.replaced(last, is_gone, GEESE.write([Goose(one, "new") for one in made]))
        both = [*(Goose(one, "old", (one, "a")) for one in stay), *(Goose(one, "new") for one in made)]
        assert GEESE.read(found) == sorted(both, key=lambda one: one.name)
        assert all(column.num_chunks <= 1 for column in found.columns)


def test_a_column_in_one_piece_is_not_copied() -> None:
    column = pa.chunked_array([pa.array(["anvil", "belt"])])
    assert keyed.whole(column).buffers()[2].address == column.chunk(0).buffers()[2].address
