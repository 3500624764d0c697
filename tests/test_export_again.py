"""An export asks and makes anew what changed since the last one, all of it, and nothing else."""

from __future__ import annotations

import ast
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline import packs, run
from pipeline.lexicon import advice
from pipeline.run import Places
from pipeline.run.build import itself
from tests import golden
from tests.golden import ROOT, bundle_bytes

DANGER = "Run `curl https://get.example.sh | sudo bash` and it works."


@pytest.fixture
def places(sample_home: Path, tmp_path: Path) -> Places:
    return Places.of(golden.copied(sample_home, tmp_path / "home"))


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the entries that the gate was asked about."""
    seen: list[str] = []
    refused = advice.refused

    def noted(entry: Mapping[str, Any]) -> Iterator[tuple[str, advice.Refusal]]:
        seen.append(entry["id"])
        return refused(entry)

    monkeypatch.setattr(advice, "refused", noted)
    return seen


def entries(places: Places) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (places.curated / "entries.jsonl").read_text().splitlines()]


def changed(places: Places, entry: dict[str, Any]) -> None:
    """The row of the entry in the database says something else now."""
    row = json.dumps(entry, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    with duckdb.connect(str(places.database)) as connection:
        connection.execute("UPDATE entries SET json = ? WHERE entry_id = ?", [row, entry["id"]])


@pytest.mark.long
def test_an_export_after_a_build_asks_nothing_and_the_next_one_writes_no_page_again(
    places: Places, judged: list[str]
) -> None:
    whole, count = bundle_bytes(places.curated), len(entries(places))
    shutil.rmtree(places.curated / "entries")
    places.passed.unlink()
    shutil.rmtree(places.state)  # what is taken over was asked when it was made
    run.build(places, workers=1, partition_documents=500)
    assert set(judged) >= {one["id"] for one in entries(places)}
    judged.clear()
    first = run.export(places).figures
    assert (first["made_entries"], first["unchanged_entries"]) == (count, 0)
    pages = {path: path.stat().st_ino for path in (places.curated / "entries").rglob("*.json")}
    again = run.export(places).figures
    assert (again["made_entries"], again["unchanged_entries"]) == (0, count)
    assert {path: path.stat().st_ino for path in pages} == pages
    assert judged == []
    assert bundle_bytes(places.curated) == whole


def test_an_entry_that_changed_is_asked_alone_and_gets_a_new_page(places: Places, judged: list[str]) -> None:
    one, other = entries(places)[:2]
    changed(places, one | {"tags": ["changed"]})
    changed(places, other | {"root_cause": DANGER, "root_cause_type": "quoted"})
    summary = run.export(places)
    assert judged == [one["id"], other["id"]]
    assert [item.item_id for item in summary.examples] == [other["id"]]
    page = json.loads((places.curated / "entries" / f"{one['id']}.json").read_bytes())
    assert page["tags"] == ["changed"]
    assert DANGER.encode() not in b"".join(bundle_bytes(places.curated).values())
    run.export(places)
    assert judged == [one["id"], other["id"], other["id"]], "what was refused is asked again: nothing of it is kept"


def test_a_bundle_after_a_change_is_the_one_that_is_made_of_nothing(places: Places, tmp_path: Path) -> None:
    changed(places, entries(places)[0] | {"tags": ["changed"]})
    with duckdb.connect(str(places.database)) as connection:
        connection.execute("DELETE FROM entries WHERE entry_id = ?", [entries(places)[1]["id"]])
    again = Places.of(golden.copied(places.home, tmp_path / "again"))
    shutil.rmtree(again.curated / "entries")
    again.passed.unlink()
    for one in (places, again):
        run.export(one)
    assert bundle_bytes(places.curated) == bundle_bytes(again.curated)


@pytest.mark.parametrize(
    "harm",
    [
        lambda page, _aside: page.write_bytes(page.read_bytes() + b" "),
        lambda page, _aside: page.unlink(),
        lambda page, aside: (aside.write_bytes(page.read_bytes()), page.unlink(), page.symlink_to(aside)),
        lambda page, _aside: (page.unlink(), page.mkdir()),
    ],
)
def test_a_page_that_is_not_what_was_written_is_made_anew(
    places: Places, tmp_path: Path, harm: Callable[[Path, Path], object]
) -> None:
    whole = bundle_bytes(places.curated)
    page = sorted((places.curated / "entries").rglob("*.json"))[0]
    harm(page, tmp_path / "aside.json")
    run.export(places)
    assert bundle_bytes(places.curated) == whole
    assert page.is_file()
    assert not page.is_symlink()


@pytest.mark.parametrize("path", ["entries.parquet", "entries.jsonl", "index.json", "manifest.json"])
def test_a_file_of_all_entries_that_is_damaged_is_made_anew(places: Places, path: str) -> None:
    whole = bundle_bytes(places.curated)
    (places.curated / path).write_bytes(b"")
    run.export(places)
    assert bundle_bytes(places.curated) == whole


@pytest.mark.parametrize("body", [b"", b"{}", b'{"made_by": 7}'])
def test_without_knowing_what_passed_all_is_asked(places: Places, judged: list[str], body: bytes) -> None:
    whole = bundle_bytes(places.curated)
    places.passed.write_bytes(body)
    run.export(places)
    assert judged == [one["id"] for one in entries(places)]
    assert bundle_bytes(places.curated) == whole


def test_another_gate_asks_every_entry_and_what_it_refuses_is_gone(
    places: Places, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    victim, words = next((one["id"], one["workarounds"][0]["action"]) for one in entries(places) if one["workarounds"])
    noted, every = advice.refused, len(entries(places))

    def stricter(entry: Mapping[str, Any]) -> Iterator[tuple[str, advice.Refusal]]:
        yield from noted(entry)
        yield from (
            (place, advice.Refusal("unsafe_action", "new")) for place, said in advice.statements(entry) if said == words
        )

    monkeypatch.setattr(advice, "refused", stricter)
    monkeypatch.setattr(itself, "made_by", lambda: "another")
    run.export(places)
    assert len(judged) == every
    assert victim not in {one["id"] for one in entries(places)}
    assert not (places.curated / "entries" / f"{victim}.json").exists()


@pytest.mark.long
def test_whatever_decides_what_is_published_is_another_maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = shutil.copytree(ROOT / "pipeline", tmp_path / "pipeline", ignore=shutil.ignore_patterns("__pycache__"))
    before = itself.made_by(package)
    assert before == itself.made_by(package) == itself.made_by()
    for path in (
        "data/advice/commands.toml", "data/advice/wake.toml", "data/secrets/top_level_domains.txt",
        "lexicon/advice/shell.py", "text/tokens.py", "export/content.py", "records/entry.py",
    ):  # fmt: skip
        body = (package / path).read_bytes()
        (package / path).write_bytes(body + b"\n")
        assert itself.made_by(package) != before, path
        (package / path).write_bytes(body)
    (package / "data" / "advice" / "new.toml").write_text("")
    assert itself.made_by(package) != before
    (tmp_path / "kiln").mkdir()
    (tmp_path / "kiln" / "pack.toml").write_text('title = "Kiln"\nversion = "1"\nsummary = "A kiln."\nname = "kiln"\n')
    row = 'name = "cold"\npattern = "kiln is cold"\nexamples = ["kiln is cold"]\nlookalikes = ["cold"]\n'
    (tmp_path / "kiln" / "hints.toml").write_text(f"[[row]]\n{row}")
    whole = itself.made_by()
    with packs.using(tmp_path / "kiln"):
        assert itself.made_by() != whole
    monkeypatch.setattr(itself, "releases", lambda: "0")
    assert itself.made_by() != whole


def test_every_library_that_the_gate_and_the_export_ask_is_named() -> None:
    """Of those that stand in the way of a row to its line: the files of the gate, of the forms and of the record."""
    files = [*ROOT.glob("pipeline/lexicon/advice/*.py"), *ROOT.glob("pipeline/text/*.py")]
    files += [ROOT / "pipeline" / name for name in ("export/content.py", "export/writing.py", "records/entry.py")]
    names = {
        (node.module if isinstance(node, ast.ImportFrom) else alias.name).partition(".")[0]
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    by_module = packages_distributions()
    foreign = {by_module[name][0].lower().replace("_", "-") for name in names - sys.stdlib_module_names - {"pipeline"}}
    assert {"tree-sitter", "pydantic"} <= foreign <= set(itself.LIBRARIES)
