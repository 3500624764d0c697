"""A build that remembers the last one gives what one gives that remembers nothing, whatever happened in between."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pipeline import cluster, run, store
from pipeline.cluster.people import Override, Overrides
from pipeline.records.bundle import Named
from pipeline.records.errors import StoreError
from pipeline.run import Places
from pipeline.run.build import building, concerned, entries, grouping, making, mapping, reduce, results
from pipeline.run.build.registry import Registered
from pipeline.run.build.rows import opened
from pipeline.run.check import integrity
from pipeline.store import replacing
from tests import cli, distil_factory, golden, histories
from tests.test_closings import pull, thread


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 16])  # people ignore errors in the second
def test_no_step_of_a_history_shows_that_anything_was_remembered(seed: int) -> None:
    made = taken = 0
    for told, found, fresh, taken_over in histories.History(seed).steps(10):
        assert histories.differs(found, fresh) == [], told
        made, taken = made + len(fresh.entries), taken + taken_over
    assert taken > made * 0.4


#: A history that catches each mutant early; what is read of its texts may change, then another one does.
CAUGHT_BY = {
    "draft: cluster": 92,
    "draft: documents": 5,
    "draft: pages": 7,
    "draft: neighbours": 48,
    "words: id": 45,
    "words: names": 99,
    "concerned: said": 9,
    "concerned: shown, grouped": 3,
    "concerned: near": 9,
    "concerned: spoken": 9,
    "rows: before": 5,
    "rows: now": 5,
    "rows: words that came": 9,
    "what people translated": 35,
}


@pytest.mark.long
@pytest.mark.parametrize("mutant", sorted(CAUGHT_BY))
def test_what_a_result_depends_on_cannot_be_left_out(mutant: str) -> None:
    undo = histories.MUTANTS[mutant]()
    try:
        seeds = (CAUGHT_BY[mutant], *range(1, 30))
        assert any(histories.first_difference(seed, 9) is not None for seed in seeds)
    finally:
        undo()


def test_a_claim_that_others_place_is_part_of_what_a_draft_is_made_from(tmp_path: Path) -> None:
    world = histories.World(5)
    report = replace(thread(number=2), document_id="github.com/errmine-fixtures/pond#2")
    world.documents = {one.document_id: one for one in (report, pull("Fixes #2"))}
    used = histories.sharded(world, tmp_path / "rows")
    with opened(used, spill=tmp_path / "spill") as there:
        grouped = building.entries.group(there)
        (placed,) = there.placed
        there.of_members(grouped.cluster_of)
        told = {one.cluster_id: one for one in there.decisive()}
    with opened(used, spill=tmp_path / "spill") as there:
        there.placed = ()
        there.of_members(grouped.cluster_of)
        untold = {one.cluster_id: one for one in there.decisive()}
    found = next(one for one in grouped.partition.clusters if set(placed.signature_ids) & set(one.members))
    memory, around = results.Memory("x"), results.Around(grouped.cluster_of, {}, {})
    one, other = told[found.cluster_id], untold[found.cluster_id]
    assert memory.needed(found, one, around) == memory.needed(found, replace(one), around)
    assert memory.needed(found, one, around).digest != memory.needed(found, other, around).digest
    assert one.claims != other.claims


def test_of_an_error_that_too_few_report_nobody_takes_the_name_for_the_one_of_its_words(tmp_path: Path) -> None:
    world = histories.World(3)
    for _ in range(4):
        world.step()
    memory, registry, named = results.Memory("x"), Registered.of(), []
    with opened(histories.sharded(world, tmp_path / "rows"), spill=tmp_path / "spill") as there:
        grouped = building.entries.group(there)
        for number, least in enumerate((1, 9, 1)):
            means = entries.Means(tmp_path / str(number), memory=memory)
            found = entries.make(there, grouped, means, registry=registry, min_documents=least)
            named.append([one.entry_id for one in found.results.every()])
            memory, registry = replace(memory, results=found.results, texts=found.texts), found.registry
    assert all(named[0])
    assert not any(named[1])
    assert named[2] == named[0]


@pytest.mark.parametrize("is_mutant", [False, True])
def test_who_names_an_entry_that_is_called_otherwise_is_worded_anew(
    is_mutant: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, state, registry = histories.World(1), results.NOTHING, Registered.of()
    for number, words in enumerate(("northern", "southern"), 1):
        made = thread(number=number, body=f"RuntimeError: cannot place anvil 3 on shelf 4 of the {words} store")
        world.documents[f"p#{number}"] = replace(made, document_id=f"p#{number}")
    used = histories.sharded(world, tmp_path / "rows")
    if is_mutant:
        monkeypatch.setattr(entries, "_named_anew", lambda *_: frozenset())
    for number in range(2):
        with opened(used, spill=tmp_path / "spill", last=state.narrow) as there:
            grouped = entries.group(there, standing=state)
            assert grouped.anew == (frozenset() if number else None)

            make = partial(entries.make, there, grouped, registry=registry, min_documents=1)
            memory = results.Memory("x", state.results, state.texts, state)
            found = make(entries.Means(tmp_path / f"found{number}", memory=memory))
            if number:
                fresh = make(entries.Means(tmp_path / "fresh", memory=results.Memory("x")))
                assert (histories.differs(found, fresh) == []) != is_mutant
            placed = concerned.placed_rows(there.placed)
            state = results.State(found.results, *grouped.proofs, found.texts, grouped.kept, there.kept, placed, "x")
            was = found.registry[min(found.registry)]
            other = f"{was.name}-2"
            now = Named.of(other, was.state, None, was.cluster_id, was.medoid, was.renamed_from, other)
            registry = found.registry.with_those_of({other: now}, gone=[was.name])


def test_a_cluster_whose_expression_is_another_one_is_drafted_anew() -> None:
    one, other, new = (cluster.Proof(name, "", regex, "", ()) for name, regex in (("a", "x"), ("b", "x"), ("c", "x")))
    before = grouping.KeptProofs.of({"a": one, "b": replace(other, regex="y")})
    now = before.with_those_of({"a": one, "b": other, "c": new})
    assert concerned.proven_anew(now, before) == {"b", "c"}


@pytest.mark.parametrize("is_mutant", [False, True])
def test_what_closes_a_report_that_stays_as_it_is_concerns_its_errors(
    is_mutant: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = replace(thread(number=2), document_id="github.com/errmine-fixtures/pond#2")
    coming = iter([[report], [pull("Fixes #2")], [thread(number=3)]])

    def step(self: histories.World) -> str:
        self.documents |= {one.document_id: one for one in next(coming)}
        return "one more came"

    monkeypatch.setattr(histories.World, "step", step)
    undo = histories.MUTANTS["concerned: placed"]() if is_mutant else lambda: None
    try:
        assert (histories.first_difference(1, 3) is not None) == is_mutant
    finally:
        undo()


def test_a_link_to_an_error_that_people_ignore_is_cited_no_more(tmp_path: Path) -> None:
    world, (inner, outer) = histories.World(1), (f"{error} at the press" for error in ("ValueError: tray", "E: belt"))
    trace = histories.TRACE.replace("{f}", "press").replace("{n}", "7")
    alone = trace.replace("{error}", inner)
    chain = alone.removesuffix("\n```") + histories.CHAIN + trace.replace("{error}", outer).removeprefix("```\n")
    for number, body in enumerate((alone, chain), 1):
        posts = [{"kind": "body", "text": body, "at": "2024-01-02T10:00:00Z", "role": "NONE", "author": "a"}]
        made = distil_factory.document({"kind": "issue", "number": number, "posts": posts})
        world.documents[made.document_id] = made
    ignored = Overrides((Override("ignore", "noise", ("belt at the press",), place="row 1"),))
    memory, told = results.Memory("x"), []
    with opened(histories.sharded(world, tmp_path / "rows"), spill=tmp_path / "spill") as there:
        for said in (cluster.NONE, ignored):
            grouped = building.entries.group(there, said)

            def make(remembered: results.Memory, name: str, grouped: entries.Grouped = grouped) -> entries.Made:
                means = entries.Means(tmp_path / name, memory=remembered)
                return entries.make(there, grouped, means, registry=Registered.of(), min_documents=1)

            fresh = make(replace(memory, results=results.NONE.results), f"fresh{len(told)}")
            found = make(memory, f"found{len(told)}")
            memory = replace(memory, results=found.results, texts=found.texts)
            assert histories.differs(found, fresh) == []
            told.append(sorted(one.document_count for one in found.results.every()))
    assert told == [[1, 2], [1]]


def test_former_ids_are_part_of_what_an_entry_is_made_from() -> None:
    memory = results.Memory("x")
    one, other = (memory.worded(results.Needed("d"), "a/b", former, {}) for former in ([], ["a/old"]))
    assert one != other


# ---------------------------------------------------------------- homes


def state(home: Path) -> tuple[dict[str, bytes], str, bytes]:
    """The bytes of the bundle, the digest of the database, and the bytes of the results that are kept."""
    places = Places.of(home)
    names = ["placed.arrow", *(f"grouped_{name}.arrow" for name in grouping.SCHEMAS)]
    kept = b"".join((places.state / name).read_bytes() for name in names)
    found = results.read(places.state, building._code())  # in files that follow from all builds
    # of proofs a witness is told, which is not the only one there may be
    kept += repr(found.results.every()).encode()
    kept += b"".join(found.texts[name] for name in sorted(found.texts))
    return golden.bundle_bytes(places.curated), store.digest(places.database), kept


def cloned(home: Path, folder: Path) -> Path:
    """A copy of a home that remembers no result and has no shard."""
    made = golden.copied(home, folder)
    shutil.rmtree(Places.of(made).shards)
    shutil.rmtree(Places.of(made).state, ignore_errors=True)
    return made


def made(home: Path, *, workers: int = 1, most: int = 500, overrides: Path | None = None) -> None:
    run.build(Places.of(home), workers=workers, partition_documents=most, overrides=overrides)
    run.export(Places.of(home))


def rows() -> list[str]:
    return (golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def few_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sample's pages of documentation and a third of its threads: those that tests edit and forget."""
    source = tmp_path_factory.mktemp("few")
    shutil.copytree(golden.SAMPLE / "docs", source / "docs")
    (source / "issues.jsonl").write_text("\n".join([*rows()[:9], rows()[15]]) + "\n", encoding="utf-8")
    home = tmp_path_factory.mktemp("few-home")
    golden.make(home, source=source)
    return home


def came(home: Path, lines: Sequence[str]) -> None:
    (home / "in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run.import_files(Places.of(home).raw, [home / "in.jsonl"])
    (home / "in.jsonl").unlink()


def edited(place: int, **changed: object) -> str:
    return json.dumps(json.loads(rows()[place]) | {"updated_at": f"2026-06-{place + 1:02d}T00:00:00Z"} | changed)


MERGE = '[[merge]]\nreason = "one limit"\ntexts = ["out of resource: threads", "out of resource: shared memory"]\n'


@pytest.mark.long
@pytest.mark.usefixtures("never_few")
def test_a_home_is_what_a_clone_without_memory_makes_of_it(
    few_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, said = golden.copied(few_home, tmp_path / "home"), tmp_path / "overrides.toml"
    said.write_text(MERGE, encoding="utf-8")
    new = {"number": 901, "html_url": "https://github.com/errmine-fixtures/tilelab/issues/901"}
    new["url"] = "https://api.github.com/repos/errmine-fixtures/tilelab/issues/901"
    old = {"created_at": "2019-01-01T00:00:00Z"}

    def killed(*_: object, **_named: object) -> None:
        raise StoreError("killed", path=home)

    steps: list[Callable[[], object]] = [
        lambda: came(home, [edited(0, **new), edited(5, state="open", closed_at=None)]),
        lambda: came(home, [edited(1, **new, **old), edited(7, comments=[])]),
        lambda: run.forget(home, Places.of(home).raw, "https://github.com/errmine-fixtures/gemmforge/issues/9"),
    ]
    left = Places.of(home).shards.parent / "verify-killed"
    left.mkdir()
    whole, real = [], replacing._written
    monkeypatch.setattr(replacing, "_written", lambda path, contents: whole.append(path) or real(path, contents))
    for number, step in enumerate(steps):
        step()
        assert left.exists() == (number < 2)  # a clone holds what is forgotten, too
        options = {"overrides": said if number == 1 else None, "workers": number + 1, "most": (500, 6, 9)[number]}
        clone = cloned(home, tmp_path / f"clone{number}")
        if number == 1:
            with monkeypatch.context() as patch:
                patch.setattr(store, "bring", killed)
                with pytest.raises(StoreError, match="killed"):
                    made(home, **options)
        made(home, **options)
        # of a thread that is forgotten nothing stays, nor in what is deleted in the old file
        assert whole == ([Places.of(home).database] if number == 2 else [])
        made(clone, **options)
        assert state(home) == state(clone), number
        whole.clear()


@pytest.mark.long
def test_damaged_results_are_named_and_nothing_is_taken_from_them(sample_home: Path, tmp_path: Path) -> None:
    home = golden.copied(sample_home, tmp_path / "home")
    before, places = state(home), Places.of(home)
    (path,) = (places.state / "results").iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    left = path.with_name(f".{path.name}.{uuid.uuid4().hex}")  # of a build that was killed: it holds quotes
    left.write_bytes(b"half")
    assert results.read(places.state, building._code()) == results.State()
    assert [file.kind for file in integrity.kept_files(places) if file.verdict != "ok"] == ["results"]
    summary = run.build(places, workers=1, partition_documents=500)
    assert [Path(row["path"]).name for row in summary.figures["made_anew"]] == [path.name]
    assert not left.exists()
    run.export(places)
    assert state(home) == before


@pytest.mark.long
def test_nothing_is_worded_anew_where_nothing_came(
    sample_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = golden.copied(sample_home, tmp_path / "home")
    before = state(home)
    monkeypatch.setattr(making.translate, "entry", None)
    monkeypatch.setattr(making.validate, "verdict", None)
    monkeypatch.setattr(reduce.distil, "draft", None)
    monkeypatch.setattr(mapping, "map_document", None)
    made(home)
    assert state(home) == before


@pytest.mark.long
def test_verify_makes_all_of_it_a_second_time_and_clears_what_one_that_was_killed_left(
    few_home: Path, tmp_path: Path
) -> None:
    home = golden.copied(few_home, tmp_path / "home")
    came(home, [edited(5, state="open", closed_at=None)])
    leftover = Places.of(home).shards.parent / "verify-killed"
    (leftover / "curated").mkdir(parents=True)
    assert cli.run("build", "--verify", "--home", home, "--workers", "1", "--quiet").code == 0
    assert not list(Places.of(home).shards.parent.glob("verify-*"))


@pytest.mark.long
def test_verify_names_what_differs(few_home: Path, tmp_path: Path) -> None:
    home = cloned(few_home, tmp_path / "home")  # or digests of before would stand
    undo = histories.MUTANTS["draft: documents"]()
    try:
        made(home)
        came(home, [edited(place) for place in range(8)])  # the same words on another page
        done = cli.run("build", "--verify", "--home", home, "--workers", "1", "--quiet")
    finally:
        undo()
    assert (done.code, "entries" in done.err) == (4, True)
