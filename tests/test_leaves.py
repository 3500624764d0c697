"""A large bundle in leaves: told by its content alone, read as a small one is, and made again only where it changed."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pipeline
from benchmarks import statements
from pipeline import export, run, validate
from pipeline.ask import Matcher
from pipeline.export import content, placing, writing
from pipeline.records import Cluster, Template, kept, leaves
from pipeline.records.bundle import Published, Registry
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError, PipelineError
from pipeline.run import Places
from pipeline.run.check import integrity
from pipeline.store import noted
from tests import entry_factory as make
from tests import golden
from tests.cli import run as errmine
from tests.killing import killed_at
from tests.rings import first_alone, quick_alone

#: A bundle that an errmine of before 2.0 wrote.
BEFORE = Path(__file__).parent / "cases" / "bundles" / "1.0"
#: Small enough for the sample, or for a few made-up entries, to stand in many leaves.
SMALL = 20_000
ERROR = "triton.runtime.errors.OutOfResources: out of resource: threads, Required: 2048, Hardware limit: 1024."
THREADS = "triton/out-of-resources-threads"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "LEAF_BYTES", SMALL)


@pytest.fixture(scope="module")
def split_home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's home with its bundle in leaves."""
    home = golden.copied(sample_home, tmp_path_factory.mktemp("split") / "home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(leaves, "LEAF_BYTES", SMALL)
        run.export(Places.of(home))
    return home


@pytest.fixture
def places(split_home: Path, tmp_path: Path) -> Places:
    home = Places.of(golden.copied(split_home, tmp_path / "home"))
    run.export(home)  # a copy's files are others: they are known from here on
    return home


def in_database(places: Places, sql: str, *values: object) -> list[tuple[object, ...]]:
    with duckdb.connect(str(places.database)) as connection:
        return connection.execute(sql, list(values)).fetchall()


def say_otherwise(places: Places, entry: KnowledgeEntry) -> None:
    """The row of the entry in the database says something else now."""
    in_database(places, "UPDATE entries SET json = ? WHERE entry_id = ?", content.line(content.fields_of(entry))[:-1],
                entry.id)  # fmt: skip


def entries(count: int) -> list[KnowledgeEntry]:
    return [
        make.entry(id=f"triton/entry-{n}", tags=[f"anvil-{n}"], cluster_id=f"cluster:{n:016x}", aliases=[])
        for n in range(count)
    ]


def facts(count: int, **more: object) -> export.Facts:
    """Clusters and a registry for these entries."""
    names = [(f"cluster:{n:016x}", f"signature:{n:016x}") for n in range(count)]
    ids = {f"triton/entry-{n}": Published(cluster_id=one, medoid=two) for n, (one, two) in enumerate(names)}
    registry = Registry(
        ids=ids,
        aliases={f"cuda/once-{n}": f"triton/entry-{n}" for n in range(0, count, 3)},
        withdrawn=["jax/gone"],
        cluster_aliases={"cluster:old": "cluster:0000000000000001"},
    )
    return export.Facts(
        normaliser="8",
        clusters=tuple(
            Cluster(one, two, "E", "anvil", gate=(), members=(two,), regex="", lowest_score=100.0) for one, two in names
        ),
        templates=tuple(
            Template(two, "E", f"anvil {n} fell", (), False, False, 1, "") for n, (_, two) in enumerate(names)
        ),
        registry=registry,
        sources={"import": count},
        **more,  # type: ignore[arg-type]
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def inodes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_ino for path in folder.rglob("leaves/*/*")}


# ---------------------------------------------------------------- which leaves there are


def split(sizes: dict[str, int]) -> list[str]:
    """The leaves of names whose lines are so long."""
    return leaves.split(leaves.places_of(list(sizes)), np.array(list(sizes.values()), np.int64), most=1000)


# names of few letters and a seed: to draw each letter of all, and each step of a shuffle, was what was slow
@settings(deadline=None)
@given(st.dictionaries(st.text("ab\u00e9\U0001f600", max_size=8), st.integers(0, 400), max_size=60), st.integers(0, 99))
def test_each_name_has_one_leaf_which_fits_and_whose_parent_does_not(sizes: dict[str, int], seed: int) -> None:
    rows = [(leaves.place_of(name), size) for name, size in sizes.items()]
    made = split(sizes)
    assert leaves.places_of(list(sizes)).tolist() == [int(place, 16) for place, _ in rows]
    shuffled = list(sizes.items())
    random.Random(seed).shuffle(shuffled)
    assert split(dict(shuffled)) == made
    own: dict[str, list[int]] = {prefix: [] for prefix in made}
    held = [made[number] for number in leaves.holders(leaves.places_of(list(sizes)), made).tolist()]
    ordered = sorted(place for place, _ in rows)
    starts = leaves.starts(np.array([int(place, 16) for place in ordered], np.uint64), made)
    assert starts == [sum(place < prefix for place in ordered) for prefix in made]
    for (place, size), prefix in zip(rows, held, strict=True):
        assert prefix == leaves.holding(own, place)
        assert sum(place.startswith(prefix) for prefix in made) == 1
        own[str(leaves.holding(own, place))].append(size)
    assert all(sum(sizes) <= 1000 or len(sizes) == 1 for sizes in own.values())
    for prefix in filter(None, made):
        beside = [size for other, sizes in own.items() if other.startswith(prefix[:-1]) for size in sizes]
        assert sum(beside) > 1000


def test_a_place_is_what_the_documentation_says() -> None:
    assert leaves.place_of("triton/out-of-resources-threads") == "1fe987975de33ff6"
    assert split({}) == [""]
    for place in ("c0", "b0", "00"):
        assert leaves.holding({"a", "b1"}, place) is None


# ---------------------------------------------------------------- read as a small one is


def test_the_reader_of_the_documentation_reads_every_kind_of_bundle(split_home: Path, sample_home: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (golden.ROOT / "docs" / "bundle.md").read_text("utf-8"), re.DOTALL)
    named: dict[str, Any] = {}
    exec(code, named)
    for folder in (Places.of(split_home).curated, Places.of(sample_home).curated, BEFORE):
        for entry in export.read_entries(folder):
            # what a later errmine added is not in what an earlier one wrote
            assert KnowledgeEntry.model_validate(named["entry"](folder, entry.id)) == entry
        assert named["entry"](folder, "triton/nowhere") is None


@pytest.mark.long
def test_every_reader_reads_leaves_as_it_reads_one(split_home: Path, sample_home: Path) -> None:
    whole, parted = Places.of(sample_home).curated, Places.of(split_home).curated
    assert len(export.read_manifest(parted).leaves) > 5
    assert not (parted / "entries").exists(), "no page of an entry, which nobody asked for"
    assert export.read_entries(parted) == export.read_entries(whole)
    assert export.read_index(parted) == export.read_index(whole)
    assert export.read_registry(parted) == export.read_registry(whole)
    told, before = export.read_manifest(parted), export.read_manifest(whole)
    same = ("counts", "sources", "chinese", "answers", "normaliser", "packs", "generator")
    assert [getattr(told, name) for name in same] == [getattr(before, name) for name in same]
    assert sum(leaf.entries for leaf in told.leaves) == told.counts["entries"]
    assert validate.check_path(parted).problems == ()
    rows = [row for path in sorted(parted.glob("leaves/*/entries.parquet")) for row in pq.read_table(path).to_pylist()]
    assert sorted(row["id"] for row in rows) == [entry.id for entry in export.read_entries(whole)]


def test_a_draw_for_readers_is_taken_from_leaves_too(split_home: Path, sample_home: Path) -> None:
    drawn = list(statements.published(split_home))
    assert drawn
    assert drawn == list(statements.published(sample_home))


def test_who_asks_gets_the_same_answers(split_home: Path, sample_home: Path) -> None:
    one, other = (pipeline.open_bundle(home) for home in (sample_home, split_home))
    assert repr(other).split(":")[1] == repr(one).split(":")[1]
    for entry in one.entries():
        for wanted in (entry.id, entry.cluster_id, *entry.aliases):
            assert other.entry(wanted or "") == one.entry(wanted or "")
        for piece in entry.evidence:
            assert other.match(piece.quote) == one.match(piece.quote)
    assert other.entry("triton/nothing") is None
    assert {entry.id for entry in other.entries()} == {entry.id for entry in one.entries()}
    assert other.top(limit=5) == one.top(limit=5)
    assert "leaves/<prefix>/" in other.llms()


def test_former_names_lead_to_their_entry(tmp_path: Path) -> None:
    export.write(tmp_path / "c", entries(60), facts=facts(60))
    bundle = pipeline.open_bundle(tmp_path / "c")
    for wanted in ("cuda/once-3", "cluster:0000000000000003", "triton/entry-3"):
        found = bundle.entry(wanted)
        assert found is not None
        assert found.id == "triton/entry-3"
    assert (bundle.entry("cluster:old") or make.entry()).id == "triton/entry-1"
    assert export.read_registry(tmp_path / "c") == facts(60).registry


def test_commands_ask_a_bundle_of_leaves_without_its_database(split_home: Path, tmp_path: Path) -> None:
    alone = shutil.copytree(Places.of(split_home).curated, tmp_path / "alone")
    (alone / "errmine.duckdb").unlink()
    found = errmine("match", "--bundle", alone, "-", "--json", stdin=ERROR)
    assert json.loads(found.out)["entry"]["id"] == THREADS
    assert THREADS in errmine("show", THREADS, "--bundle", alone).out
    assert THREADS in errmine("search", "threads", "--bundle", alone).out
    assert errmine("validate", alone, "--raw", Places.of(split_home).raw).code == 0


@pytest.mark.parametrize("has_pages", [False, True])
def test_pages_are_there_where_they_are_asked_for(tmp_path: Path, has_pages: bool) -> None:
    export.write(tmp_path / "c", entries(60), facts=facts(60, has_pages=has_pages))
    pages = sorted(path.stem for path in (tmp_path / "c").glob("entries/*/*.json"))
    assert len(pages) == (60 if has_pages else 0)
    assert validate.check_path(tmp_path / "c").problems == ()
    assert Matcher.read(tmp_path / "c").entry("triton/entry-7")["tags"] == ["anvil-7"]


def test_an_entry_that_the_bundle_has_not_is_named(tmp_path: Path) -> None:
    export.write(tmp_path / "c", entries(60), facts=facts(60))
    with pytest.raises(ExportError, match="has no entry triton/nowhere"):
        Matcher.read(tmp_path / "c").entry("triton/nowhere")


# ---------------------------------------------------------------- what is made again


def test_a_leaf_that_was_damaged_without_a_trace_is_made_again(places: Places) -> None:
    whole = golden.bundle_bytes(places.curated)
    for path in sorted(places.curated.rglob("leaves/*/*"))[:6]:
        times = path.stat()
        body = bytearray(path.read_bytes())
        body[len(body) // 2] ^= 4
        path.write_bytes(body)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert run.export(places).figures["made_leaves"] > 0
    assert golden.bundle_bytes(places.curated) == whole


def test_only_leaves_in_which_something_changed_are_made_again(places: Places, tmp_path: Path) -> None:
    before = inodes(places.curated)
    assert run.export(places).figures["made_leaves"] == 0
    assert inodes(places.curated) == before
    victim = export.read_entries(places.curated)[0]
    say_otherwise(places, victim.model_copy(update={"tags": ["changed"]}))
    assert run.export(places).figures["made_leaves"] == 1
    prefix = leaves.holding({leaf.prefix for leaf in export.read_manifest(places.curated).leaves}, place(victim.id))
    again = inodes(places.curated)
    assert {path for path in before if again[path] != before[path]} == {
        leaves.path(str(prefix), name) for name in leaves.NAMES
    }
    scratch = Places.of(golden.copied(places.home, tmp_path / "scratch"))
    shutil.rmtree(scratch.curated / "leaves")
    scratch.passed.unlink()
    assert run.export(scratch).figures["made_leaves"] > 5
    assert golden.bundle_bytes(scratch.curated) == golden.bundle_bytes(places.curated)


def test_what_did_not_change_keeps_its_file_and_is_not_read_again(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bundle before the last has the same files under second names, but for what changed since."""
    read: list[Path] = []
    checked = kept.checked

    def noted_when_checked(path: Path, wanted: str) -> bytes:
        read.extend([path] if leaves.FOLDER in path.parts else [])
        return checked(path, wanted)

    monkeypatch.setattr(kept, "checked", noted_when_checked)
    ordered = export.read_entries(places.curated)
    for victim in (ordered[0], ordered[-1], ordered[0]):
        before = inodes(places.curated)
        for number in range(2):
            say_otherwise(places, victim.model_copy(update={"tags": [f"changed {number}", str(len(before))]}))
            read.clear()
            assert run.export(places).figures["made_leaves"] == 1
            assert len(read) <= len(leaves.NAMES) * 3, read  # those made now, and those made before, which got a name
        again = inodes(places.curated)
        assert sum(again[path] == before[path] for path in before) >= len(before) - len(leaves.NAMES)
        listed = kept.Listing.of_bundle(places.spare).sums
        assert {str(path.relative_to(places.spare)) for path in places.spare.rglob("*") if path.is_file()} == {
            *listed, kept.MANIFEST
        }  # fmt: skip
    scratch = Places.of(golden.copied(places.home, places.home.with_name("scratch")))
    shutil.rmtree(scratch.curated / "leaves")
    shutil.rmtree(scratch.spare)
    run.export(scratch)
    assert golden.bundle_bytes(scratch.curated) == golden.bundle_bytes(places.curated)


@pytest.mark.parametrize("is_touched", [False, True])
def test_a_database_that_got_another_name_is_the_one_that_was_noted(
    places: Places, monkeypatch: pytest.MonkeyPatch, is_touched: bool
) -> None:
    noted.renew(places.state, noted.checksum(places.database), places.database)  # it is a copy
    read: list[Path] = []
    real = noted.checksum
    monkeypatch.setattr(noted, "checksum", lambda path: read.append(path) or real(path))
    if is_touched:
        swap = placing._swap
        monkeypatch.setattr(placing, "_swap", lambda *given: (os.utime(places.database, ns=(1, 1)), swap(*given)))
    before = places.database.stat().st_ctime_ns
    run.export(places)
    assert places.database.stat().st_ctime_ns != before
    read.clear()
    assert noted.signs(places.state, places.database)
    assert read == [places.database] * is_touched


@pytest.mark.parametrize("harm", quick_alone(["manifest", "file", "more", "less"], ["file"]))
def test_a_spare_that_something_touched_is_no_part_of_a_bundle(places: Places, harm: str) -> None:
    whole = golden.bundle_bytes(places.curated)
    path = sorted(places.spare.glob("leaves/*/index.json"))[0]
    match harm:
        case "manifest":
            (places.spare / kept.MANIFEST).write_bytes(b"{}")
        case "less":
            path.unlink()
        case _:
            path.unlink()
            path.write_bytes(b"other bytes")
    if harm == "more":
        path.with_name("entries.jsonl").unlink()
        path.with_name("entries.jsonl").mkdir()
    for _ in range(2):
        run.export(places)
        assert golden.bundle_bytes(places.curated) == whole


def test_what_was_forgotten_is_in_no_bundle_that_stays(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who made the database is another one then; until it is made, the bundle has it, and so may the one before."""
    assert places.spare.is_dir()
    victim = export.read_entries(places.curated)[0]
    say_otherwise(places, victim.model_copy(update={"tags": ["zebu"]}))
    for _ in range(2):
        run.export(places)
    assert "zebu" in str(tree(places.spare))
    say_otherwise(places, victim)
    monkeypatch.setattr(noted, "made_by", lambda _: "who knows that it was forgotten")
    run.export(places)
    assert "zebu" not in str(tree(places.spare)) + str(tree(places.curated / "leaves"))


def place(name: str) -> str:
    return leaves.place_of(name)


def test_a_change_of_the_index_alone_makes_its_leaf_again(places: Places) -> None:
    medoid = "SELECT signature_id FROM clusters WHERE entry_id = ?"
    in_database(places, f"UPDATE signatures SET event_count = event_count + 1 WHERE signature_id = ({medoid})", THREADS)
    assert run.export(places).figures["made_leaves"] == 1
    (row,) = [one for one in export.read_index(places.curated).entries if one.id == THREADS]
    (count,) = in_database(places, "SELECT event_count FROM signatures WHERE signature_id = ?", row.medoid)
    assert {one.signature_id: one.count for one in row.templates}[row.medoid or ""] == count[0]


@pytest.mark.parametrize("name", first_alone(leaves.NAMES))
@pytest.mark.parametrize("harm", quick_alone(["changed", "gone", "a link"], ["changed"]))
def test_a_file_of_a_leaf_that_something_touched_is_made_anew(
    places: Places, tmp_path: Path, name: str, harm: str
) -> None:
    whole = golden.bundle_bytes(places.curated)
    path = sorted(places.curated.glob(f"leaves/*/{name}"))[0]
    if harm == "changed":
        path.write_bytes(path.read_bytes()[:-1] + b" ")
    else:
        shutil.move(path, tmp_path / "aside")
    if harm == "a link":
        path.symlink_to(tmp_path / "aside")
    if name == leaves.REGISTRY:
        places.registry.published()  # a build restores it
    run.export(places)
    assert golden.bundle_bytes(places.curated) == whole
    assert not path.is_symlink()


def test_a_file_system_without_second_names_gets_copies(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = golden.bundle_bytes(places.curated)

    def refused(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(writing.os, "link", refused)
    monkeypatch.setattr(placing, "_exchange", lambda *_: False)
    for made in (0, 0):
        assert run.export(places).figures["made_leaves"] == made
    assert golden.bundle_bytes(places.curated) == whole


@pytest.mark.long
@pytest.mark.parametrize("has_spare", [True, False])
@pytest.mark.parametrize("exchanges", [True, False], ids=["in one call", "one by one"])
def test_an_export_that_was_killed_at_any_step_is_made_whole_by_the_next(
    tmp_path: Path, exchanges: bool, has_spare: bool
) -> None:
    """Also where leaves of the bundle before are taken over, or of the one before that."""
    folder, whole = tmp_path / "in" / "c", tmp_path / "whole"
    after = [one.model_copy(update={"tags": ["changed"]}) if one.id.endswith("7") else one for one in entries(12)]
    export.write(whole, after, facts=facts(12))
    before, rows = tmp_path / "before", writing._Given(entries(10), facts(10))
    spare, kept_spare = placing.Spare(tmp_path / "spare"), tmp_path / "kept spare"
    passed = export.write_rows(before, rows, facts=facts(10), passed=export.Passed("us"), spare=spare).passed
    spare.path.rename(kept_spare)
    (before / "errmine.duckdb").write_bytes(b"a database")
    step = 1
    while True:
        shutil.rmtree(folder.parent, ignore_errors=True)
        shutil.copytree(before, folder)
        shutil.rmtree(spare.path, ignore_errors=True)
        if has_spare:
            shutil.copytree(kept_spare, spare.path)

        def work() -> export.Written:
            given, beside = writing._Given(after, facts(12)), spare if has_spare else None
            return export.write_rows(folder, given, facts=facts(12), passed=passed, spare=beside)

        was_killed = killed_at(step, work, exchanges=exchanges)
        if exchanges and (folder / "manifest.json").exists():
            assert validate.check_path(folder).problems == (), step
        made = work()
        assert {**tree(whole), "errmine.duckdb": b"a database"} == tree(folder), step
        assert [path.name for path in folder.parent.iterdir()] == ["c"], step
        if not was_killed:
            assert made.made_count < made.leaf_count
            break
        step += 1 if "ERRMINE_KILLS" in os.environ else random.randint(5, 25)
    assert step > 20


def test_a_bundle_that_shrinks_is_one_leaf_with_pages_again(tmp_path: Path) -> None:
    export.write(tmp_path / "c", entries(60), facts=facts(60))
    export.write(tmp_path / "c", entries(3), facts=facts(3))
    export.write(tmp_path / "d", entries(3), facts=facts(3))
    assert tree(tmp_path / "c") == tree(tmp_path / "d")
    assert (tmp_path / "c" / "entries" / "triton" / "entry-1.json").is_file()


# ---------------------------------------------------------------- damage


def files(folder: Path) -> Iterator[Path]:
    """One file of each kind that a bundle of leaves has."""
    yield folder / "manifest.json"
    yield folder / leaves.HEAD
    yield from (sorted(folder.glob(f"leaves/*/{name}"))[0] for name in leaves.NAMES)


@pytest.mark.long
def test_every_flipped_bit_of_any_kind_of_file_is_refused_by_who_reads_it(tmp_path: Path) -> None:
    folder, draw = tmp_path / "c", random.Random(5)
    export.write(folder, entries(20), facts=facts(20))
    readers = {
        leaves.LINES: lambda: export.read_entries(folder),
        leaves.INDEX: lambda: Matcher.read(folder),
        leaves.REGISTRY: lambda: export.read_registry(folder),
        leaves.TABLE: lambda: kept.of_bundle(folder, str(path.relative_to(folder))),
        kept.MANIFEST: lambda: export.read_manifest(folder),
    }
    for path in files(folder):
        whole = path.read_bytes()
        for bit in draw.sample(range(len(whole) * 8), 12):
            body = bytearray(whole)
            body[bit // 8] ^= 1 << bit % 8
            path.write_bytes(body)
            with pytest.raises((PipelineError, kept.Damaged)):
                readers[path.name]()
            assert validate.check_path(folder).problems, (path, bit)
        path.write_bytes(whole)
    assert validate.check_path(folder).problems == ()


def test_damage_is_listed_by_its_file(places: Places) -> None:
    path = sorted(places.curated.glob("leaves/*/index.json"))[0]
    path.write_bytes(path.read_bytes()[:-1])
    bad = {file.path for file in integrity.kept_files(places) if file.verdict != kept.Verdict.OK}
    assert bad == {path}


def test_an_entry_in_the_leaf_of_others_and_a_leaf_too_many_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    export.write(folder, entries(60), facts=facts(60))
    one, other = sorted(folder.glob("leaves/*/entries.jsonl"))[:2]
    one.write_bytes(one.read_bytes() + other.read_bytes())
    (folder / "leaves" / "stranger.json").write_text("{}")
    found = {(problem.rule, problem.place) for problem in validate.check_path(folder).problems}
    path = str(one.relative_to(folder))
    assert {("bundle_leaves", path), ("bundle_files", path), ("bundle_files", "leaves/stranger.json")} <= found


def test_a_bundle_of_leaves_without_manifest_is_not_whole(tmp_path: Path) -> None:
    export.write(tmp_path / "c", entries(60), facts=facts(60))
    (tmp_path / "c" / "manifest.json").unlink()
    report = validate.check_path(tmp_path / "c")
    assert (report.kind, report.entry_count) == ("bundle", 60)
    assert {problem.rule for problem in report.problems} == {"bundle_manifest"}


def test_a_leaf_of_the_registry_is_restored_from_a_copy(places: Places) -> None:
    whole = golden.bundle_bytes(places.curated)
    registry = export.read_registry(places.curated)
    for copies in ("both", "database", "own"):
        own = places.registry.copy.read_bytes()
        if copies == "database":
            places.registry.copy.unlink()
        path = sorted(places.curated.glob("leaves/*/registry.json"))[1]
        path.write_bytes(b"{}")
        found, restored = places.registry.published()
        assert (found.record(), [file.path for file in restored]) == (registry, [path])
        assert golden.bundle_bytes(places.curated) == whole
        places.registry.copy.write_bytes(own)
    (places.curated / "manifest.json").unlink()
    assert places.registry.published()[0].record() == registry
    path.write_bytes(b"{}")
    with pytest.raises(ExportError, match="no copy is the same"):
        places.registry.published()


# ---------------------------------------------------------------- deltas

#: Of how many entries the bundle before and after consists: of one leaf or of many.
STEPS = [(24, 27), (3, 24), (24, 3), (24, 24)]


@pytest.fixture(scope="module")
def bundle_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A bundle of so many entries, with pages or without, as it is before or after a change; each is made once."""
    folder = tmp_path_factory.mktemp("bundles")

    @cache
    def made(count: int, *, has_pages: bool, changed: str = "") -> Path:
        wanted = [
            one.model_copy(update={"tags": ["changed"]}) if changed and one.id.endswith(changed) else one
            for one in entries(count)
        ]
        path = folder / f"{count}-{has_pages}-{changed}"
        export.write(path, wanted, facts=facts(count, has_pages=has_pages))
        return path

    return made


@pytest.mark.parametrize(("before", "after"), STEPS)
@pytest.mark.parametrize("pages", quick_alone([(False, False), (True, False), (False, True)], [(True, False)]))
def test_a_delta_leads_from_any_bundle_to_any(
    bundle_of: Callable[..., Path], tmp_path: Path, before: int, after: int, pages: tuple[bool, bool]
) -> None:
    older, folder = shutil.copytree(bundle_of(before, has_pages=pages[0]), tmp_path / "older"), tmp_path / "made"
    newer = bundle_of(after, has_pages=pages[1], changed="2")
    change = export.delta(older, newer)
    assert change.added == sorted(f"triton/entry-{n}" for n in range(before, after))
    assert change.removed == sorted(f"triton/entry-{n}" for n in range(after, before))
    assert change.changed == sorted(f"triton/entry-{n}" for n in range(min(before, after)) if str(n).endswith("2"))
    export.apply(older, change, into=folder)
    assert tree(folder) == tree(newer)
    export.apply(older, change, into=older)
    assert tree(older) == tree(newer)


def test_a_delta_brings_of_the_entries_only_those_that_changed(tmp_path: Path) -> None:
    older, newer = tmp_path / "older", tmp_path / "newer"
    export.write(older, entries(60), facts=facts(60))
    export.write(newer, [entries(60)[0].model_copy(update={"tags": ["changed"]}), *entries(60)[1:]], facts=facts(60))
    change = export.delta(older, newer)
    brought = [path for path in change.files if "entr" in path]
    assert brought == ["entries/triton/entry-0.json"]
    assert len(change.files) == 2


def test_a_delta_for_leaves_that_brings_what_it_does_not_name_is_refused(tmp_path: Path) -> None:
    older, newer = tmp_path / "older", tmp_path / "newer"
    export.write(older, entries(60), facts=facts(60))
    export.write(newer, entries(61), facts=facts(61))
    change, before = export.delta(older, newer), tree(older)
    page = change.files["entries/triton/entry-60.json"]
    for path, body in (
        ("entries/triton/entry-7.json", page.replace("entry-60", "entry-7")),
        ("entries/triton/entry-60.json", page.replace("entry-60", "entry-61")),
        ("leaves/zz/index.json", "{}"),
        ("leaves/0/../../x.json", "{}"),
        ("leaves/0/extra.json", "{}"),
    ):
        with pytest.raises(ExportError):
            export.apply(older, change.model_copy(update={"files": {**change.files, path: body}}), into=older)
        assert tree(older) == before, path
    assert sorted(one.name for one in tmp_path.iterdir()) == ["newer", "older"]


def test_since_a_manifest_alone_is_refused_where_it_names_no_pages(places: Places, tmp_path: Path) -> None:
    shutil.copy(places.curated / "manifest.json", tmp_path / "manifest.json")
    done = errmine("export", "--home", places.home, "--since", tmp_path / "manifest.json")
    assert done.code == 3
    assert "entries.jsonl" in done.err


# ---------------------------------------------------------------- bundles of before


@pytest.mark.long
def test_a_bundle_of_before_is_read_by_all_that_reads_bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    manifest = export.read_manifest(BEFORE)
    assert (manifest.bundle_version, manifest.leaves) == ("1.0", [])
    assert validate.check_path(BEFORE).problems == ()
    bundle = pipeline.open_bundle(BEFORE)
    every = list(bundle.entries())
    assert len(every) == manifest.counts["entries"] == len(export.read_index(BEFORE).entries)
    assert set(export.read_registry(BEFORE).ids) == {entry.id for entry in every}
    for entry in every:
        assert bundle.entry(entry.id) == bundle.entry(entry.cluster_id or "") == entry
    first = every[0]
    found = errmine("match", "--bundle", BEFORE, "--json", "-", stdin=first.evidence[0].quote)
    assert json.loads(found.out)["entry_id"] is not None
    for command in (["show", first.id], ["search", "error"], ["top"], ["list"], ["query", "FROM entries"]):
        assert errmine(*command, "--bundle", BEFORE).code == 0, command
    assert errmine("site", "--bundle", BEFORE, "--to", tmp_path / "site", "--quiet").code in {0, 2}
    assert tree(BEFORE).keys() == {*(file.path for file in manifest.files), "manifest.json"}, "nothing was written"


@pytest.mark.parametrize("size", [SMALL, 1 << 20])
def test_a_delta_leads_from_a_bundle_of_before_to_one_of_now(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaves, "LEAF_BYTES", size)
    every = export.read_entries(BEFORE)
    export.write(tmp_path / "newer", [every[0].model_copy(update={"tags": ["changed"]}), *every[1:]])
    older = Path(shutil.copytree(BEFORE, tmp_path / "older"))
    change = export.delta(older, tmp_path / "newer")
    # every line has a field more than what was written before 2.2
    assert (change.added, change.changed, change.removed) == ([], sorted(one.id for one in every), [])
    export.apply(older, change, into=older)
    assert tree(older) == tree(tmp_path / "newer")


def test_a_delta_of_before_is_refused_by_name(tmp_path: Path) -> None:
    export.write(tmp_path / "newer", export.read_entries(BEFORE))
    change = export.delta(BEFORE, tmp_path / "newer").model_copy(update={"bundle_version": "1.0"})
    with pytest.raises(ExportError, match=r"made for bundles 1\.0") as caught:
        export.apply(Path(shutil.copytree(BEFORE, tmp_path / "older")), change, into=tmp_path / "older")
    assert "whole new bundle" in caught.value.hint()
