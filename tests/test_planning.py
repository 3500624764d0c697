"""A plan that is kept holds what raw does, whatever came, changed or went since; documents lie where they lay."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import raw, run
from pipeline.lexicon import repositories
from pipeline.raw import RawLayer
from pipeline.records import RawPage, kept
from pipeline.records.kept import Seen, Verdict
from pipeline.run.build import layout, mapping, planning
from pipeline.run.build.layout import Layout
from tests.golden import SAMPLE
from tests.rings import one_in, quick_alone

MOST = 3
WHEN = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug here."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def page(rng: random.Random, number: int) -> RawPage:
    """A version of a part of one of a few documents."""
    body = f"{number} {rng.randrange(4)}".encode()
    return RawPage(
        hashlib.sha256(body).hexdigest(),
        "import",
        None,
        "github-thread",
        f"github.com/errmine-fixtures/a#{number}",
        rng.choice(("main", "main", "comments")),
        rng.choice(("", "2026-01-01", "2026-02-01")),
        rng.choice((None, WHEN)),
        None,
        body,
    )


def told(partitions: list[mapping.Partition]) -> list[tuple[str, int, tuple[raw.DocumentRefs, ...]]]:
    return [(one.name, len(one.documents), tuple(one.documents)) for one in partitions]


def both(home: Path) -> tuple[list[object], list[object]]:
    """The plan that goes on from the kept one, and the one that is made from nothing but where documents lie."""
    went_on = planning.plan(home / "raw", partition_documents=MOST, folder=home / "plan")
    anew = planning.plan(home / "raw", partition_documents=MOST, like=home / "plan")
    return told(went_on), told(anew)  # type: ignore[return-value]


class World:
    """A raw folder to which things happen."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home, self.rng, self.layer = home, random.Random(seed), RawLayer(home / "raw")

    def step(self) -> None:
        kind = self.rng.choice(("add", "add", "add", "forget", "hide", "lose", "copy", "damage", "delete"))
        getattr(self, f"_{kind}")()

    def _add(self) -> None:
        pages = [page(self.rng, self.rng.randrange(30)) for _ in range(self.rng.choice((1, 1, 4, 9)))]
        RawLayer(self.home / "raw").append(pages)

    def _forget(self) -> None:
        self.layer.forget(f"github.com/errmine-fixtures/a#{self.rng.randrange(30)}")

    def _hide(self) -> None:
        """Who forgot a document was killed before its pages were erased."""
        key = f"forgotten\x1fgithub.com/errmine-fixtures/a#{self.rng.randrange(30)}"
        folder = self.home / "raw" / "forgotten"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha256(key.encode()).hexdigest()).touch()

    def _lose(self) -> None:
        """A segment goes: the plan must not remember its pages."""
        if found := self.layer.index.files():
            self.rng.choice(found).unlink()

    def _copy(self) -> None:
        """Somebody copies a segment here that has pages which are there already, in another order."""
        found = self.layer.index.files()
        if found:
            refs = self.layer.refs_of(self.rng.choice(found))
            pages = [self.layer.read([ref])[0] for ref in refs]
            more = [replace(one, fetched_at=WHEN, part="main") for one in pages[: len(pages) // 2]]
            self.layer.written(reversed([*pages, *more]))

    def _damage(self) -> None:
        if found := sorted((self.home / "plan").glob("*")):
            path = self.rng.choice(found)
            body = bytearray(path.read_bytes())
            body[self.rng.randrange(len(body))] ^= 1
            path.write_bytes(body)

    def _delete(self) -> None:
        if found := sorted((self.home / "plan").glob("*")):
            self.rng.choice(found).unlink()


def first_difference(home: Path, seed: int, steps: int) -> int | None:
    """The first step at which the plan that was kept is another than one from nothing."""
    world = World(home, seed)
    for number in range(steps):
        world.step()
        went_on, anew = both(home)
        lying = [refs for _, count, found in went_on for refs in found if count <= MOST]  # type: ignore[attr-defined]
        every = RawLayer(home / "raw").documents()
        if went_on != anew or sorted(lying, key=lambda refs: refs.document_key) != every:
            return number
    return None


@pytest.mark.parametrize("seed", quick_alone(range(4), [0]))
def test_a_plan_that_goes_on_is_the_plan_from_nothing(tmp_path: Path, seed: int) -> None:
    assert first_difference(tmp_path, seed, 25) is None


def test_the_plan_is_what_raw_says_of_itself(tmp_path: Path) -> None:
    world = World(tmp_path, 1)
    for _ in range(6):
        world._add()
    (went_on, anew), every = both(tmp_path), RawLayer(tmp_path / "raw").documents()
    assert went_on == anew
    keyed = [(mapping.hashed(one.document_key), one) for one in every]
    assert [one[2] for one in anew] == [tuple(found) for _, found in mapping.leaves(keyed, "", MOST)]  # type: ignore[index]
    assert [one[2] for one in both(tmp_path)[0]] == [one[2] for one in anew]  # type: ignore[index]


def test_documents_that_come_later_lie_together_and_stay_where_they_are(tmp_path: Path) -> None:
    rng, layer = random.Random(7), RawLayer(tmp_path / "raw")
    layer.append([page(rng, number) for number in range(8)])
    first, _ = both(tmp_path)
    layer.append([page(rng, number) for number in range(20, 24)])
    layer.append([replace(page(rng, 2), part="answers")])  # of one that was there
    later, anew = both(tmp_path)
    assert later == anew
    keys = [[refs.document_key for refs in found] for _, _, found in later]  # type: ignore[attr-defined]
    late = sorted(f"github.com/errmine-fixtures/a#{number}" for number in range(20, 24))
    assert [sorted(some) for some in keys[-2:]] == [late[:MOST], late[MOST:]]
    assert keys[:-2] == [[refs.document_key for refs in found] for _, _, found in first]  # type: ignore[attr-defined]
    assert len({one[0] for one in later} - {one[0] for one in first}) == 3  # type: ignore[index]
    layer.append([page(rng, number) for number in range(24, 28)])
    assert [one[1] for one in both(tmp_path)[0]][-3:] == [MOST, MOST, 2]  # type: ignore[index]


def test_documents_stay_where_they_lie_where_one_is_forgotten(tmp_path: Path) -> None:
    rng, layer = random.Random(8), RawLayer(tmp_path / "raw")
    for some in (range(8), range(20, 26)):
        layer.append([page(rng, number) for number in some])
        before, _ = both(tmp_path)
    layer.forget("github.com/errmine-fixtures/a#21")
    after, anew = both(tmp_path)
    assert after == anew
    assert len({one[0] for one in after} - {one[0] for one in before}) == 1  # type: ignore[index]


def without(rule: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Switches off a rule that says whether a plan may go on."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        real = planning.stands_by

        def mutated(*given: Any) -> dict[str, bool]:
            every = real(*given)
            # "made" is empty where nothing was kept: that is no rule to switch off
            return {name: holds or (name == rule and bool(given[0].made)) for name, holds in every.items()}

        monkeypatch.setattr(planning, "stands_by", mutated)

    return patch


def unordered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that came stand behind those that were there, whatever their segments are called."""
    monkeypatch.setattr(planning, "in_order", lambda there, came: [*there, *came])


def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in the folder is taken for what was written."""
    monkeypatch.setattr(kept, "checked", lambda path, _told: kept.read(path))


def unparted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late partition takes all that come."""
    real = Layout.with_those
    monkeypatch.setattr(Layout, "with_those", lambda self, came, made, most: real(self, came, made, 999))


def unlaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody compares where documents lie with what the plan was made of."""
    real = planning._Kept.read

    def read(folder: Path) -> planning._Kept:
        found = real(folder)
        return replace(found, layout=kept.sha256(Layout.read(folder / "layout", found.made).body()))

    monkeypatch.setattr(planning._Kept, "read", read)


MUTANTS = {
    "what was forgotten": without("forgotten"),
    "segments that went": without("segments"),
    "the order of pages": unordered,
    "bytes of the plan": unchecked,
    "late partitions that are full": unparted,
    "where documents lie": unlaid,
}


@pytest.mark.parametrize("mutant", one_in(6, MUTANTS))
def test_each_rule_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    MUTANTS[mutant](monkeypatch)
    assert any(is_wrong(tmp_path / str(seed), seed) for seed in (3, *range(20)))


def is_wrong(home: Path, seed: int) -> bool:
    """True if a history goes wrong, or breaks."""
    try:
        return first_difference(home, seed, 25) is not None
    except (OSError, ValueError, AssertionError):
        return True


def test_a_plan_reads_no_segment_that_it_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, 2)
    for _ in range(4):
        world._add()
    both(tmp_path)
    read: list[Path] = []
    real = RawLayer.refs_of
    monkeypatch.setattr(RawLayer, "refs_of", lambda self, path: read.append(path) or real(self, path))
    planning.plan(tmp_path / "raw", partition_documents=MOST, folder=tmp_path / "plan")
    assert read == []
    world._add()
    read.clear()  # who adds pages reads those that are there
    planning.plan(tmp_path / "raw", partition_documents=MOST, folder=tmp_path / "plan")
    assert len(read) == 1


@pytest.mark.long
def test_who_hands_out_partitions_of_a_kept_plan_reads_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.import_files(tmp_path / "raw", [SAMPLE])

    def made(name: str, folder: Path | None) -> dict[str, bytes]:
        partitions = planning.plan(tmp_path / "raw", partition_documents=8, folder=folder)
        with monkeypatch.context() as patch:
            patch.setattr(planning._Documents, "_read", None)
            done = mapping.map_partitions(
                partitions, raw_path=tmp_path / "raw", shard_folder=tmp_path / name, workers=1
            )
            assert sorted(done) == sorted(one.name for one in partitions)
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        return {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in files}

    assert made("kept", tmp_path / "plan") == made("not kept", None)


def test_where_nothing_was_built_no_partition_is_read_for_what_may_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = run.Places.of(tmp_path)
    run.import_files(places.raw, [SAMPLE])
    monkeypatch.setattr(planning._Documents, "_read", None)
    assert run.planned(places, partition_documents=8).partitions


def test_a_plan_of_other_code_or_of_other_names_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    World(tmp_path, 3)._add()
    both(tmp_path)
    monkeypatch.setattr(mapping, "code_digest", lambda: "another")
    went_on, anew = both(tmp_path)
    assert went_on == anew
    before = planning.plan(tmp_path / "raw", partition_documents=MOST, folder=tmp_path / "plan")
    monkeypatch.setattr(mapping, "code_digest", lambda: "a third")
    assert {one.name for one in before}.isdisjoint(
        one.name for one in planning.plan(tmp_path / "raw", partition_documents=MOST, folder=tmp_path / "plan")
    )


def test_a_large_first_plan_has_larger_partitions_and_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "_MOST_FIRST", 2)
    monkeypatch.setattr(layout, "_LARGEST", 12)
    world = World(tmp_path, 5)
    RawLayer(tmp_path / "raw").append([page(world.rng, number) for number in range(24)])
    went_on, anew = both(tmp_path)
    assert went_on == anew
    sizes = [size for _, size, _ in anew]
    assert MOST < max(sizes) <= 12
    for number in range(24, 24 + 3 * MOST):  # late ones, and one of the first again
        RawLayer(tmp_path / "raw").append([page(world.rng, number), page(world.rng, number - 24)])
        went_on, anew = both(tmp_path)
        assert went_on == anew
    assert sorted(size for _, size, _ in anew) == sorted([*sizes, *[MOST] * 3])


@pytest.mark.parametrize(("count", "most"), [(0, 500), (128_000, 500), (128_001, 1000), (300_000, 2000), (10**7, 4000)])
def test_how_many_documents_a_partition_of_a_first_plan_has(count: int, most: int) -> None:
    first = Layout("", np.arange(count, dtype=np.uint64), np.full(count, layout.FIRST, np.int32))
    assert first.most_first(500) == most
    assert first.with_those([count], "", 500).most_first(500) == most  # who comes later decides nothing
    assert first.most_first(5000) == 5000


def test_a_disk_that_takes_no_plan_plans_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    World(tmp_path, 4)._add()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept, "write", full)
    went_on, anew = both(tmp_path)
    assert went_on == anew


def test_damage_to_a_kept_plan_is_named(tmp_path: Path) -> None:
    world = World(tmp_path, 5)
    world._add()
    both(tmp_path)
    assert {file.verdict for file in planning.kept_files(tmp_path / "plan")} == {Verdict.OK}
    for path in sorted((tmp_path / "plan").glob("*")):
        body = path.read_bytes()
        path.write_bytes(body[:-2] + bytes([body[-2] ^ 1]) + body[-1:])
        assert Verdict.DAMAGED in {file.verdict for file in planning.kept_files(tmp_path / "plan")}
        path.write_bytes(body)


def test_a_thread_of_a_renamed_repository_is_one_document_in_a_kept_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(6)
    layer = RawLayer(tmp_path / "raw")
    old, new = page(rng, 1), replace(page(rng, 1), document_key="github.com/errmine-fixtures/renamed#1")
    real = repositories.current_key
    monkeypatch.setattr(repositories, "current_key", lambda key: real(key).replace("renamed#", "a#"))
    layer.append([old])
    both(tmp_path)
    layer.append([new, page(rng, 2)])
    went_on, anew = both(tmp_path)
    assert went_on == anew
    assert sum(len(one.documents) for one in planning.plan(tmp_path / "raw", partition_documents=MOST)) == 2


# ---------------------------------------------------------------- files that are known


def old(path: Path, body: bytes) -> Path:
    path.write_bytes(body)
    return path


def test_a_file_is_known_until_something_touches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, seen = old(tmp_path / "a", b"abc"), Seen()
    seen.note(path, "x")
    assert not seen.is_whole(path, "x")  # it was changed a moment ago: the next change might leave no trace
    monkeypatch.setattr("pipeline.records.kept._SETTLED", -1)
    seen.note(path, "x")
    assert seen.is_whole(path, "x")
    assert not seen.is_whole(path, "y")
    seen.write(tmp_path / "seen.json")
    assert Seen.read(tmp_path / "seen.json").is_whole(path, "x")
    before = path.stat()
    path.write_bytes(b"abd")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # who hides a change cannot hide that there was one
    assert not Seen.read(tmp_path / "seen.json").is_whole(path, "x")


def test_what_nobody_asked_for_is_not_known_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.records.kept._SETTLED", -1)
    one, two, seen = old(tmp_path / "a", b"1"), old(tmp_path / "b", b"2"), Seen()
    seen.note(one)
    seen.note(two)
    seen.write(tmp_path / "seen.json")
    again = Seen.read(tmp_path / "seen.json")
    assert again.is_whole(one)
    again.write(tmp_path / "seen.json")
    assert not Seen.read(tmp_path / "seen.json").is_whole(two)
    body = (tmp_path / "seen.json").read_bytes()
    (tmp_path / "seen.json").write_bytes(body.replace(b"1", b"2", 1))
    assert not Seen.read(tmp_path / "seen.json").is_whole(one)
