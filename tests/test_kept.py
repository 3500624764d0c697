"""A kept file that is not what was written is named, made anew, restored from a copy or refused; never published."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import flips
from pipeline import export as bundles
from pipeline import run, store, validate
from pipeline.ask import Matcher
from pipeline.engines.answers import Answer, Answers, question_id
from pipeline.providers.github.fetch.ledger import Ledger, Progress, Validator, read_progress
from pipeline.records import kept, leaves
from pipeline.records.errors import ExportError, PipelineError, StoreError
from pipeline.run import Places
from pipeline.run.build.registry import Registered
from pipeline.run.check import integrity
from tests import golden
from tests.cli import run as errmine
from tests.rings import one_in, quick_alone

#: Not kept: what a run says of itself, line by line, and who holds which lock.
NO_DATA = {".errmine/runs.jsonl"}
Damage = Callable[[Path], object]


def flipped(path: Path, bit: int | None = None) -> None:
    """`path` with one bit turned, in the middle unless it is said where."""
    body = bytearray(path.read_bytes())
    bit = len(body) * 4 if bit is None else bit
    body[bit // 8] ^= 1 << bit % 8
    path.write_bytes(body)


DAMAGE: dict[str, Damage] = {
    "a flipped bit": flipped,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "emptied": lambda path: path.write_bytes(b""),
    "gone": Path.unlink,
}


@pytest.fixture(scope="module")
def built(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.copied(sample_home, tmp_path_factory.mktemp("built"))


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "home"))


@pytest.fixture
def places(home: Path) -> Places:
    return Places.of(home)


def build(places: Places) -> dict[str, str]:
    """The kept files that a build says were damaged or missing."""
    summary = run.build(places, workers=1, partition_documents=500)
    return {row["path"]: row["verdict"] for row in summary.figures.get("made_anew", ())}


def bad(places: Places) -> dict[str, str]:
    return {
        str(file.path.relative_to(places.home)): str(file.verdict)
        for file in integrity.kept_files(places)
        if file.verdict != "ok"
    }


# ---------------------------------------------------------------- seals


def test_a_seal_is_the_sha256_of_the_file_with_its_digits_as_zeros(tmp_path: Path) -> None:
    inner = kept.sealed_json({"of": "a text"}).decode()
    path = tmp_path / "a.json"
    path.write_bytes(kept.sealed_json({"text": inner, "nested": {"seal": "a" * 64}, "zeros": "0" * 64}))
    assert kept.unsealed_json(path) == {"text": inner, "nested": {"seal": "a" * 64}, "zeros": "0" * 64}


def test_every_single_flipped_bit_of_a_sealed_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.json"  # never read: the bytes are given
    whole = kept.sealed_json({"name": "a", "count": 7, "text": "有"})
    for bit in range(len(whole) * 8):
        body = bytearray(whole)
        body[bit // 8] ^= 1 << bit % 8
        with pytest.raises(kept.Damaged):
            kept.unsealed_json(path, bytes(body))


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"seal": 7}', b"\xff\xfe"])
def test_what_has_no_seal_is_damaged(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "a.json").write_bytes(body)
    with pytest.raises(kept.Damaged):
        kept.unsealed_json(tmp_path / "a.json")


def test_a_list_that_says_otherwise_than_lists_do_is_damaged(tmp_path: Path) -> None:
    for files in (7, [{"path": "a"}], [[]], None):
        (tmp_path / "list.json").write_bytes(kept.sealed_json({"files": files}))
        with pytest.raises(kept.Damaged, match="lists no files"):
            kept.Listing.of(tmp_path, "list.json")


# ---------------------------------------------------------------- the list of all


def test_a_sound_home_has_a_verdict_for_every_file_and_all_are_ok(places: Places) -> None:
    found = {file.path for file in integrity.kept_files(places)}
    files = {path for folder in (places.curated, places.shards.parent) for path in folder.rglob("*") if path.is_file()}
    assert files == found | {places.shards.parent / "journal.jsonl"}  # its lines check themselves
    assert bad(places) == {}


@pytest.mark.long
def test_damage_to_any_kept_file_is_listed_and_what_can_is_made_anew(places: Places) -> None:
    every = integrity.kept_files(places)
    assert {file.kind for file in every} == {"bundle", "database", "passed", "plan", "registry", "results", "shard"}
    for file in [*every[::15], *(file for file in every if file.kind in ("registry", "database"))]:
        whole = file.path.read_bytes()
        flipped(file.path)
        assert bad(places) == {str(file.path.relative_to(places.home)): "damaged"}
        file.path.write_bytes(whole)
    flipped(next((places.shards / "events").glob("*.parquet")))
    assert [file.kind for file in integrity.drop_damaged(places)] == ["shard"]
    assert not list((places.shards / "events").glob("*.parquet"))
    build(places)
    assert bad(places) == {}


# ---------------------------------------------------------------- answers of engines


def test_a_kept_answer_that_is_damaged_or_to_another_question_is_asked_for_again(places: Places) -> None:
    answers = Answers(places.shards.parent / "answers" / "enrich")
    one, other = question_id("one"), question_id("other")
    given = Answer({"text": "half \ud800", "seal": "f" * 64}, "host.invalid")
    for question in (one, other):
        answers.keep(question, given, shelf="thread-1")
    path = answers.folder / "thread-1" / f"{one}.json"
    whole = path.read_bytes()
    for damage in [*DAMAGE.values(), lambda path: path.write_bytes(path.with_stem(other).read_bytes())]:
        damage(path)
        assert answers.kept(one, shelf="thread-1") is None
        path.write_bytes(whole)
    assert answers.kept(one, shelf="thread-1") == replace(given, is_kept=True)
    flipped(path)
    assert list(bad(places)) == [str(path.relative_to(places.home))]
    assert [file.path for file in integrity.drop_damaged(places)] == [path]
    assert bad(places) == {}


def test_an_answer_of_before_has_no_seal_and_is_taken(tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "abc.json").write_text('{"body": {"text": "yes"}, "host": "h"}')
    assert Answers(tmp_path).kept("abc") == Answer({"text": "yes"}, "h", is_kept=True)


# ---------------------------------------------------------------- the memory of an ingest


def remembered(path: Path, progress: Progress) -> None:
    ledger = Ledger(path)
    validators = [Validator(f"https://host.invalid/{n}", "t", "e", "0" * 64, None) for n in range(40)]
    ledger.save(progress, validators, [(n, "mark") for n in range(40)])
    ledger.close()


def test_a_ledger_with_any_flipped_bit_is_made_anew_or_says_the_same(tmp_path: Path) -> None:
    path, known = tmp_path / "ledger" / "r.sqlite", Progress(watermark="2026-03-01T00:00:00Z", threads=7)
    remembered(path, known)
    whole = path.read_bytes()
    draw = random.Random(14)
    places = [whole.index(b"2026-03-01") * 8 + bit for bit in range(0, 80, 4)]  # the watermark itself
    for bit in [*places, *(draw.randrange(len(whole) * 8) for _ in range(30))]:
        path.write_bytes(whole)
        flipped(path, bit)
        ledger = Ledger(path)
        told = (ledger.progress, len(ledger.crossings()), ledger.validator("https://host.invalid/7", "t") is not None)
        ledger.close()
        assert told in ((known, 40, True), (Progress(), 0, False)), bit
        assert bit not in places or told[0] == Progress()


def test_a_ledger_that_a_killed_run_left_has_no_seal_and_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    remembered(path, Progress(threads=7))
    killed = Ledger(path)
    killed.save(Progress(threads=8))
    (tmp_path / "copy.sqlite").write_bytes(path.read_bytes())
    assert read_progress(tmp_path / "copy.sqlite").threads == 8
    killed.close()


def test_a_damaged_ledger_is_listed_and_taken_away(places: Places) -> None:
    path = places.shards.parent / "github" / "github.com" / "o" / "r.sqlite"
    remembered(path, Progress(watermark="2026-03-01T00:00:00Z"))
    assert bad(places) == {}
    flipped(path, path.read_bytes().index(b"2026-03-01") * 8)
    assert list(bad(places)) == [str(path.relative_to(places.home))]
    assert [file.kind for file in integrity.drop_damaged(places)] == ["ledger"]
    assert bad(places) == {}


# ---------------------------------------------------------------- the bundle and its readers

PAGE = "entries/triton/out-of-resources-threads.json"
ERROR = "triton.runtime.errors.OutOfResources: out of resource: threads, Required: 2048, Hardware limit: 1024."
#: What reads a bundle, and the files that it reads.
READERS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "read_manifest": (bundles.read_manifest, ["manifest.json"]),
    "read_index": (bundles.read_index, ["manifest.json", "index.json"]),
    "read_registry": (bundles.read_registry, ["manifest.json", "registry.json"]),
    "read_entries": (bundles.read_entries, ["manifest.json", "entries.jsonl"]),
    "match": (lambda folder: Matcher.read(folder).entry(PAGE[8:-5]), ["manifest.json", "index.json", PAGE]),
    "delta": (
        lambda folder: bundles.delta_since(bundles.Before(OLDER, {}, has_pages=True), folder),
        ["manifest.json", "index.json", "registry.json", PAGE],
    ),
    "form": (
        lambda folder: bundles.write_form(folder.parent / "form", bundles.read_entries(folder), "markdown"),
        ["manifest.json", "entries.jsonl"],
    ),
}
#: A manifest of nothing: every file is new since.
OLDER = bundles.read_manifest(golden.GOLDEN).model_copy(update={"files": []})


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_of_a_bundle_takes_a_file_that_the_manifest_does_not_mean(reader: str, built: Path) -> None:
    read, names = READERS[reader]
    folder = Places.of(built).curated
    for name in names:
        whole = (folder / name).read_bytes()
        for what, damage in DAMAGE.items():
            try:
                damage(folder / name)
                with pytest.raises(PipelineError) as caught:
                    read(folder)
            finally:
                (folder / name).write_bytes(whole)
            assert Path(name).name in str(caught.value) or "no bundle" in str(caught.value), (name, what)
            assert "errmine" in caught.value.hint()
    read(folder)


@pytest.mark.parametrize(
    "name", one_in(3, ["manifest.json", "index.json", "registry.json", "entries.jsonl", "entries.parquet", PAGE])
)
def test_validate_names_each_damaged_file(name: str, places: Places) -> None:
    whole = (places.curated / name).read_bytes()
    for damage in DAMAGE.values():
        damage(places.curated / name)
        problems = validate.check_path(places.curated).problems
        assert any(
            name in (problem.place, problem.message) or problem.rule == "bundle_manifest" for problem in problems
        )
        (places.curated / name).write_bytes(whole)
    assert validate.check_path(places.curated).problems == ()


def test_pages_that_were_exchanged_are_refused(places: Places) -> None:
    one, other = sorted((places.curated / "entries").rglob("*.json"))[:2]
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    matcher = Matcher.read(places.curated)
    for path in (one, other):
        with pytest.raises(ExportError, match="its bytes are not those that were written"):
            matcher.entry(str(path.relative_to(places.curated / "entries"))[:-5])


def test_a_manifest_whose_counts_were_changed_is_refused(places: Places) -> None:
    path = places.curated / "manifest.json"
    path.write_text(path.read_text().replace('"entries": ', '"entries": 1', 1))
    with pytest.raises(ExportError, match=r"manifest\.json"):
        bundles.read_manifest(places.curated)
    assert "bundle_manifest" in {problem.rule for problem in validate.check_path(places.curated).problems}


def unsealed(folder: Path) -> None:
    """The bundle in `folder` with a manifest as errmine wrote it before there were seals."""
    path = folder / "manifest.json"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"seal"' not in line))


def test_a_bundle_of_before_has_no_seal_and_is_read_and_its_files_are_checked(places: Places) -> None:
    unsealed(places.curated)
    assert bundles.read_manifest(places.curated).seal is None
    assert Matcher.read(places.curated).match(ERROR).entry_id == PAGE[8:-5]
    flipped(places.curated / "index.json")
    with pytest.raises(ExportError, match=r"index\.json"):
        Matcher.read(places.curated)


@pytest.mark.long
def test_match_and_export_name_the_file_on_the_command_line(home: Path, places: Places) -> None:
    flipped(places.curated / "index.json")
    done = errmine("match", "--home", home, "-", stdin=ERROR)
    assert done.code == 3
    assert "index.json" in done.err
    assert "errmine export" in done.err
    flipped(next((places.shards / "claims").glob("*.parquet")))
    done = errmine("build", "--home", home)
    assert done.code == 0
    assert "claims" in done.err
    assert "was damaged, and is made anew" in done.err


# ---------------------------------------------------------------- the database


def blocks(path: Path) -> Iterator[int]:
    """A bit in every third block of a DuckDB file."""
    for place in range(3 * 4096 + 100, path.stat().st_size, 3 * 262144):
        yield place * 8


@pytest.mark.long
def test_a_damaged_block_of_the_database_is_named_by_who_reads_it(places: Places) -> None:
    whole, sound = places.database.read_bytes(), store.digests(places.database)
    for bit in blocks(places.database):
        flipped(places.database, bit)
        told = [outcome(look, places.database) for look in (store.check, store.digests)]
        assert told in ([None, sound], ["damaged", "damaged"]), bit  # a block that no table uses is the other case
        places.database.write_bytes(whole)


def outcome(look: Callable[[Path], object], database: Path) -> object:
    try:
        return look(database)
    except StoreError as error:
        return "damaged" if "errmine.duckdb is " in str(error) and "errmine build" in error.hint() else error


# ---------------------------------------------------------------- the registry


def ids(places: Places) -> dict[str, str]:
    registry = bundles.read_registry(places.curated)
    return {name: error.cluster_id for name, error in registry.ids.items()}


@pytest.mark.parametrize("what", [*DAMAGE, "nothing in it", "another one"])
def test_a_registry_that_is_not_what_was_published_is_restored_from_a_copy(what: str, places: Places) -> None:
    damage = {**DAMAGE, "nothing in it": lambda path: path.write_text("{}"),
              "another one": lambda path: path.write_text('{"ids": {}, "withdrawn": ["a/b"]}')}[what]  # fmt: skip
    path = places.curated / "registry.json"
    whole = path.read_bytes()
    own = places.registry.copy.read_bytes()
    for copy in ("both", "database", "own"):
        if copy == "database":
            places.registry.copy.unlink()
        if copy == "own":
            places.registry.copy.write_bytes(own)
            places.database.unlink()
        damage(path)
        registry, restored = places.registry.published()
        assert [(file.path, file.verdict) for file in restored] == [(path, "missing" if what == "gone" else "damaged")]
        assert path.read_bytes() == whole == bundles.registry_text(registry.record()).encode()


def test_a_build_says_that_it_restored_the_registry_and_ids_stay(places: Places) -> None:
    before = ids(places)
    (places.curated / "registry.json").write_text("{}")
    assert build(places) == {str(places.curated / "registry.json"): "damaged"}
    run.export(places)
    assert ids(places) == before


def test_a_registry_that_no_copy_has_is_refused_by_name(places: Places) -> None:
    before = golden.bundle_bytes(places.curated)
    flipped(places.curated / "registry.json")
    places.registry.copy.unlink()
    places.database.unlink()
    with pytest.raises(ExportError, match=r"registry\.json: its bytes are not") as caught:
        build(places)
    assert "errmine export" in caught.value.hint()
    assert before.keys() == golden.bundle_bytes(places.curated).keys()


def with_a_withdrawn_id(places: Places) -> None:
    """A bundle in which an id was withdrawn: what no build makes anew from raw."""
    registry = bundles.read_registry(places.curated)
    registry = registry.model_copy(update={"withdrawn": ["cuda/gone"]})
    bundles.write(places.curated, bundles.read_entries(places.curated), facts=bundles.Facts(registry=registry))
    places.registry.keep(Registered.of(registry))


@pytest.mark.parametrize("gone", quick_alone([["manifest.json"], ["manifest.json", "registry.json"], ["."]], [["."]]))
def test_ids_outlive_the_bundle(gone: list[str], places: Places) -> None:
    with_a_withdrawn_id(places)
    for name in gone:
        if name == ".":
            shutil.rmtree(places.curated)
        else:
            (places.curated / name).unlink()
    assert str(places.curated / "manifest.json") in build(places)
    run.export(places)
    assert bundles.read_registry(places.curated).withdrawn == ["cuda/gone"]
    assert bad(places) == {}


@pytest.mark.long
def test_a_registry_without_manifest_that_is_no_copy_is_refused(places: Places) -> None:
    (places.curated / "manifest.json").unlink()
    (places.curated / "registry.json").write_text("{}")
    with pytest.raises(ExportError, match="no copy is the same"):
        build(places)
    run.export(places)
    assert build(places) == {}


def test_an_older_bundle_in_the_place_of_the_newer_one_is_refused(places: Places, tmp_path: Path) -> None:
    shutil.copytree(places.curated, tmp_path / "older")
    with_a_withdrawn_id(places)
    shutil.rmtree(places.curated)
    shutil.copytree(tmp_path / "older", places.curated)
    with pytest.raises(ExportError, match=r"does not know 1 ids that this home published, such as cuda/gone") as caught:
        build(places)
    assert "published.json" in caught.value.hint()
    with pytest.raises(ExportError, match="does not know 1 ids"):  # nor does a database that is older
        run.export(places)
    places.registry.copy.unlink()
    assert build(places) == {}


@pytest.mark.long
def test_a_damaged_copy_of_the_registry_is_made_anew_by_the_next_export(places: Places) -> None:
    flipped(places.registry.copy)
    assert build(places) == {}
    assert list(bad(places).values()) == ["damaged"]
    run.export(places)
    assert bad(places) == {}


def test_a_home_of_before_has_its_copy_as_json_and_goes_on(places: Places) -> None:
    before = golden.bundle_bytes(places.curated)
    registry = bundles.read_registry(places.curated)
    shutil.rmtree(places.shards.parent / "published")
    places.registry.copy.write_bytes(kept.sealed_json({"registry": registry.model_dump_json()}))
    assert bad(places) == {}
    (places.curated / "registry.json").write_text("{}")
    assert places.registry.published()[0].record() == registry
    run.export(places)
    assert golden.bundle_bytes(places.curated) == before
    assert "registry" not in kept.unsealed_json(places.registry.copy)
    assert places.registry.published()[0].record() == registry
    assert bad(places) == {}


def test_a_registry_that_is_its_copy_is_not_parsed(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = bundles.read_registry(places.curated)
    monkeypatch.setattr(bundles, "registry_of", None)
    assert places.registry.published()[0].record() == registry


def test_a_home_of_before_has_no_copy_of_its_registry_and_goes_on(places: Places) -> None:
    places.registry.copy.unlink()
    unsealed(places.curated)
    before = ids(places)
    assert build(places) == {}
    run.export(places)
    assert ids(places) == before
    assert json.loads((places.curated / "manifest.json").read_bytes())["seal"]


# ---------------------------------------------------------------- a draw over all of it


def test_flips_know_every_kind_of_file_that_a_home_holds(sample_home: Path) -> None:
    sound = flips._sound(Places.of(sample_home))
    known = {path for paths in sound.files.values() for path in paths}
    held = (path for path in sample_home.rglob("*") if path.is_file() and path.stat().st_size)
    assert {path.relative_to(sample_home).as_posix() for path in held} - {path.as_posix() for path in known} <= NO_DATA


@pytest.mark.long
def test_no_bit_that_is_turned_in_a_kept_file_is_published_or_read_without_a_word() -> None:
    """Each kind of file once or twice, three with a whole build; `python -m benchmarks.flips` tries 1,200."""
    found = flips.measure(30, seed=1, whole=12)
    assert set(found) >= {"answer", "ledger", "shard", "database", "registry", "raw segment", "bundle: registry.json"}
    assert {f"bundle: leaf: {name}" for name in ("head", *leaves.NAMES)} <= set(found)
    assert {kind: counts["silent"] for kind, counts in found.items() if counts["silent"]} == {}
    # what an answer, a ledger, a plan, a copy of the registry or what passed would have said is asked again, or by none
    for kind in set(found) - {"answer", "ledger", "passed", "plan", "registry"}:
        assert found[kind]["refused"] + found[kind]["repaired"] == found[kind].total(), kind
