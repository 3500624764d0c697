"""Documents are mapped singly: partitions follow from documents alone, and rows that a shard has are carried over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pipeline import raw, run
from pipeline.records import Skipped
from pipeline.run import Places, shards
from pipeline.run.build import itself, mapping, planning
from pipeline.run.check import quarantine
from tests import golden
from tests.test_shards import RESULTS

KEYS = st.sets(st.integers(0, 10**6), max_size=60).map(lambda found: sorted(f"github.com/o/r#{n}" for n in found))
MOST = 4


def leaves(keys: Sequence[str]) -> dict[str, list[str]]:
    """The keys of each partition by its bits."""
    hashed = [(mapping.hashed(key), raw.DocumentRefs(key, ())) for key in keys]
    return {bits: [refs.document_key for refs in found] for bits, found in mapping.leaves(hashed, "", MOST)}


@given(keys=KEYS, other=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None, database=None, phases=(Phase.generate, Phase.shrink))
def test_a_new_document_changes_the_partition_that_it_falls_into_and_no_other(keys: list[str], other: int) -> None:
    before, new = leaves(keys), f"github.com/o/r#{other}"
    after = leaves(sorted({*keys, new}))
    assert sorted(key for found in after.values() for key in found) == sorted({*keys, new})
    assert all(0 < len(found) <= MOST for found in after.values())
    (touched,) = [bits for bits, found in after.items() if new in found]
    changed = {bits for bits in before.keys() | after.keys() if before.get(bits) != after.get(bits)}
    assert all(bits.startswith(touched) or touched.startswith(bits) or bits[:-1] == touched[:-1] for bits in changed)
    assert len(changed - after.keys()) <= 1  # at most one parted, and into its own halves
    for parted in changed - after.keys():
        assert all(bits.startswith(parted) for bits in changed & after.keys())


def test_no_partition_is_empty_where_there_are_no_documents() -> None:
    assert leaves([]) == {}


@pytest.mark.long
@given(results=st.lists(RESULTS, max_size=5), data=st.data())
@settings(
    max_examples=20,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_carried_rows_give_the_bytes_of_mapped_ones(
    results: list[shards.MapResult], data: st.DataObject, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path, ignore_errors=True)
    parts = [shards.Part(f"key{number}", f"digest{number}", one) for number, one in enumerate(results)]
    whole = shards.write_parts(tmp_path / "whole", "p", parts)
    place = {part.document_key: data.draw(st.sampled_from(["one", "two", "mapped"])) for part in parts}
    sources = []
    for name in ("one", "two"):
        there = [part for part in parts if place[part.document_key] == name]
        also = shards.Part("another", "x", data.draw(RESULTS))  # which is not carried
        source = shards.write_parts(tmp_path / "kept", name, [also, *reversed(there)])
        sources.append(shards.Carried(source, frozenset(part.document_key for part in there)))
    mapped = [part for part in parts if place[part.document_key] == "mapped"]
    made = shards.write_parts(tmp_path / "made", "p", mapped[::-1], sources)
    for table in ("documents", "events", "claims", "skipped", "origins"):
        assert getattr(made, table).read_bytes() == getattr(whole, table).read_bytes(), table
    assert shards.count_documents(made) == len(parts)


# ---------------------------------------------------------------- homes


@pytest.fixture(scope="module")
def rows() -> list[str]:
    return (golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)


@pytest.fixture
def mapped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the documents that are mapped, in this process."""
    keys: list[str] = []
    real = mapping.map_document

    def noted(layer: raw.RawLayer, refs: raw.DocumentRefs) -> shards.MapResult:
        keys.append(refs.document_key)
        return real(layer, refs)

    def run_here(work: Any, tasks: Sequence[Any], **_: Any) -> Iterator[str]:
        return (work(task, lambda _number: None) for task in tasks)

    monkeypatch.setattr(mapping, "map_document", noted)
    monkeypatch.setattr(mapping.pool, "run", run_here)
    return keys


def brought(home: Path, lines: Sequence[str], mapped: list[str], *, most: int = 6) -> list[str]:
    """The documents that were mapped to make the shards of `home`, into whose raw `lines` came."""
    path = home / "in.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
    places = Places.of(home)
    run.import_files(places.raw, [path])
    mapped.clear()
    partitions = run.plan(places.raw, partition_documents=most)
    for _ in run.map_partitions(partitions, raw_path=places.raw, shard_folder=places.shards, workers=1):
        pass
    mapping.drop_shards(
        places.shards,
        {mapping.partition_of(name) for name in shards.names(places.shards)} - {p.name for p in partitions},
    )
    return sorted(mapped)


def files(home: Path) -> Mapping[str, bytes]:
    folder = Places.of(home).shards
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def edited(line: str) -> str:
    row = json.loads(line)
    return json.dumps(row | {"title": f"{row['title']} again", "updated_at": "2026-06-01T00:00:00Z"}) + "\n"


def test_only_new_and_edited_documents_are_mapped_and_the_bytes_are_those_of_all_at_once(
    rows: list[str], mapped: list[str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert len(brought(home, rows[:10], mapped)) == 10
    assert len(brought(home, rows[10:], mapped)) == len(rows) - 10
    changed = brought(home, [edited(rows[3])], mapped)
    assert len(changed) == 1
    assert brought(home, [], mapped) == []
    at_once = tmp_path / "once"
    brought(at_once, [*rows, edited(rows[3])], mapped, most=6)
    assert files(home) == files(at_once)


@pytest.mark.long
def test_partitions_that_part_or_join_map_nothing(rows: list[str], mapped: list[str], tmp_path: Path) -> None:
    brought(tmp_path / "two", rows, mapped, most=2)
    brought(tmp_path, rows, mapped, most=500)
    assert brought(tmp_path, [], mapped, most=2) == []
    assert files(tmp_path) == files(tmp_path / "two")
    assert brought(tmp_path, [], mapped, most=500) == []


@pytest.mark.long
def test_another_version_of_the_code_maps_all(
    rows: list[str], mapped: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought(tmp_path, rows, mapped)
    monkeypatch.setattr(mapping, "code_digest", lambda: "another")
    assert len(brought(tmp_path, [], mapped)) == len(rows)


@pytest.mark.parametrize("name", ["data/secrets/top_level_domains.txt", "data/distil/reader.npz", "data/new.csv"])
def test_a_data_file_of_any_suffix_is_part_of_the_code(tmp_path: Path, name: str) -> None:
    for folder in ("data/secrets", "data/distil"):
        (tmp_path / folder).mkdir(parents=True)
    before = mapping._code_digest(itself.files_of(tmp_path))
    (tmp_path / name).write_bytes(b"one")
    one = mapping._code_digest(itself.files_of(tmp_path))
    (tmp_path / name).write_bytes(b"two")
    assert len({before, one, mapping._code_digest(itself.files_of(tmp_path))}) == 3
    (tmp_path / name).unlink()
    (tmp_path / "data" / "sample").mkdir()
    for pages in ("schema.sql", "sample/page.json"):  # no shard depends on them
        (tmp_path / "data" / pages).write_text("")
    assert mapping._code_digest(itself.files_of(tmp_path)) == before


def test_libraries_and_python_are_part_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before, told = mapping._code_digest([]), itself.releases()
    assert [line.partition(" ")[0] for line in told.split("\x1e")] == list(itself.LIBRARIES)
    for place, name in (mapping, "releases"), (mapping.platform, "python_version"):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, lambda: "0.0.1")
            assert mapping._code_digest([]) != before
    assert mapping._code_digest([]) == before
    monkeypatch.setattr(itself.metadata, "version", lambda _name: "0.0.1")
    assert itself.releases.__wrapped__() != told


def test_nothing_is_carried_from_a_damaged_shard(rows: list[str], mapped: list[str], tmp_path: Path) -> None:
    brought(tmp_path, rows, mapped, most=500)
    (events,) = (Places.of(tmp_path).shards / "events").glob("*.parquet")
    events.write_bytes(events.read_bytes()[:-9])
    assert len(brought(tmp_path, [edited(rows[0])], mapped, most=500)) == len(rows)


def test_a_page_that_was_damaged_is_read_again(rows: list[str], mapped: list[str], tmp_path: Path) -> None:
    (refs,) = _refs(tmp_path, rows[:1])
    digest = mapping.document_digest(refs, "")
    lost = shards.MapResult(skipped=(Skipped("raw", refs.document_key, "damaged_page"),))
    shards.write_parts(tmp_path / "kept", "p-1", [shards.Part(refs.document_key, digest, lost)])
    assert mapping.carriable("p-2", [refs], tmp_path / "kept", "") == []
    poisoned = shards.MapResult(skipped=(Skipped("extract", refs.document_key, "timeout"),))
    shards.write_parts(tmp_path / "kept", "p-1", [shards.Part(refs.document_key, digest, poisoned)])
    assert [one.keys for one in mapping.carriable("p-2", [refs], tmp_path / "kept", "")] == [{refs.document_key}]


def _refs(home: Path, lines: Sequence[str]) -> list[raw.DocumentRefs]:
    (home / "in.jsonl").write_text("".join(lines), encoding="utf-8")
    run.import_files(home / "raw", [home / "in.jsonl"])
    return raw.RawLayer(home / "raw").documents()


@pytest.mark.long
def test_a_document_in_quarantine_stays_there_when_others_come_and_goes_alone(
    rows: list[str], mapped: list[str], tmp_path: Path
) -> None:
    brought(tmp_path, rows[:5], mapped, most=500)
    places = Places.of(tmp_path)
    (name,) = mapping.shards_of(places.shards)
    (shard,) = mapping.shards_of(places.shards).values()
    poisoned = shards.origins(shard)[2]
    lost = shards.MapResult(skipped=(Skipped("extract", poisoned.document_key, "timeout"),))
    others = frozenset(one.document_key for one in shards.origins(shard)) - {poisoned.document_key}
    shards.write_parts(places.shards, name, (), [shards.Carried(shard, others)])
    shards.write_parts(places.shards, f"{name}.0", [shards.Part(poisoned.document_key, poisoned.digest, lost)])
    assert [one.document_key for one in quarantine.listed(places)] == [poisoned.document_key]
    assert len(brought(tmp_path, rows[5:6], mapped, most=500)) == 1
    assert [one.document_key for one in quarantine.listed(places)] == [poisoned.document_key]
    quarantine.retry(places)
    assert brought(tmp_path, [], mapped, most=500) == [poisoned.document_key]
    assert quarantine.listed(places) == []


def test_a_task_finds_its_partitions_laid_out_as_they_were_planned(rows: list[str], tmp_path: Path) -> None:
    _refs(tmp_path, rows)
    partitions = run.plan(tmp_path / "raw", partition_documents=6)
    names = [partition.name for partition in partitions][1:]
    assert planning.laid_out(tmp_path / "plan", names) is None
    planning.lay_out(tmp_path / "plan", partitions, names)
    assert planning.laid_out(tmp_path / "plan", names) == partitions[1:]
    (path,) = (tmp_path / "plan").glob("*.json")
    path.write_bytes(path.read_bytes()[:-3])
    assert planning.laid_out(tmp_path / "plan", names) is None


@pytest.mark.long
def test_a_home_that_grew_is_what_a_build_from_raw_alone_makes(rows: list[str], tmp_path: Path) -> None:
    places = Places.of(tmp_path / "home")
    for number, lines in enumerate((rows[:8], rows[8:], [edited(rows[3]), edited(rows[-1])])):
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(lines), encoding="utf-8")
        run.import_files(places.raw, [path])
        run.verified(places, lambda home: run.build(home, workers=1, partition_documents=6))
    assert any(name.startswith("pn") for name in shards.names(places.shards))
