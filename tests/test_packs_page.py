"""docs/packs.md leads to a working pack: what it shows is written out, proven, and carried through a home."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pipeline
from pipeline import normalise, packs, run
from pipeline.lexicon import vocabulary
from pipeline.run import shards
from tests import golden, packs_page
from tests.cli import run as command

CRASH = """glazer crashed: BurnerLost: burner 2 does not answer
  in light (src/burner.glz:41)
  in fire (src/kiln.glz:12)"""
TEXT = packs_page.PAGE.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    """Commands run in this process: the packs that one activated are not those of the next test."""
    yield
    packs.activate()


def written(folder: Path) -> Path:
    """The folder with everything that the page shows."""
    for name, text in packs_page.files(TEXT).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "errmine.toml").write_text(packs_page.settings(TEXT), encoding="utf-8")
    return folder


#: In a process of its own: a table that others loaded before is one that `errmine pack test` would not know.
LISTED = "from tests import packs_page; print(packs_page.filled(packs_page.PAGE.read_text('utf-8')), end='')"


def test_the_page_lists_the_tables_of_today() -> None:
    done = subprocess.run([sys.executable, "-c", LISTED], cwd=golden.ROOT, capture_output=True, check=True)
    assert done.stdout.decode() == TEXT, "run `python -m tests.packs_page`"


def test_the_pack_of_the_page_is_sound_and_reads_the_log_of_the_page(tmp_path: Path) -> None:
    folder = written(tmp_path)
    proven = command("pack", "test", folder / "glazer")
    assert (proven.code, proven.out.strip()) == (
        0,
        "glazer: sound; rows: codes 1, domains 1, lines 1, meanings 1, stacks 1; 10 texts tried",
    )
    assert proven.out.strip() in TEXT
    seen = command("extract", "--pack", folder / "glazer", "--json", folder / "glazer.log")
    one, two = json.loads(seen.out)["events"]
    assert (one["dialect"], one["message"], one["codes"]) == (
        "glazer",
        "shelf 7 is too cold: 312 C",
        ["glazer:GLZ-0412"],
    )
    assert (two["exception_type"], two["message"], len(two["frames"])) == ("BurnerLost", "burner 2 does not answer", 2)
    assert two["frames"][-1] == {"file": "src/burner.glz", "line": 41, "function": "light"}
    assert command("extract", "--json", folder / "glazer.log").code in (0, 1)
    assert "GLZ" not in command("extract", "--json", folder / "glazer.log").out


def _threads(folder: Path) -> Path:
    """Three reports of two errors of glazer."""
    bodies = [
        "```\n2026-03-04 09:12:07 ERR [GLZ-0412] shelf 7 is too cold: 312 C\n```\n`preheat=400` fixed it.",
        "```\n2026-04-01 10:00:00 ERR [GLZ-0412] shelf 12 is too cold: 290 C\n```",
        f"```\n{CRASH}\n```",
    ]
    rows = [
        {
            "url": f"https://api.github.com/repos/acme/glazer/issues/{number}",
            "html_url": f"https://github.com/acme/glazer/issues/{number}",
            "number": number,
            "title": "Firing stops",
            "body": body,
            "state": "open",
            "user": {"login": "potter", "type": "User"},
            "created_at": "2026-04-02T10:00:00Z",
            "updated_at": "2026-04-02T10:00:00Z",
            "labels": [],
            "comments": 0,
        }
        for number, body in enumerate(bodies, 1)
    ]
    path = folder / "threads.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Home:
    """A home as a person works in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.curated = folder / "curated"

    def __call__(self, *words: str | Path) -> dict:
        done = command(*words, "--home", self.folder, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    def built(self) -> dict[str, bytes]:
        """The bundle of a build by two processes."""
        self("build", "--workers", "2")
        self("export")
        return golden.bundle_bytes(self.curated)

    def shards(self) -> set[str]:
        return set(shards.names(run.Places.of(self.folder).shards))

    def entries(self) -> dict[str, dict]:
        lines = (self.curated / "entries.jsonl").read_text(encoding="utf-8").splitlines()
        return {row["id"]: row for row in map(json.loads, lines)}


@pytest.mark.long
def test_a_pack_in_a_home_from_the_first_build_to_its_end(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home("import", _threads(tmp_path))
    without = home.built()
    plain, made_without = home.entries(), home.shards()
    assert not any(name.startswith("glazer/") for name in plain)

    # with the pack
    written(tmp_path)
    with_pack = home.built()
    found = home.entries()
    cold = next(row for row in found.values() if row["codes"] == ["glazer:GLZ-0412"])
    lost = next(row for row in found.values() if row["exception_type"] == "BurnerLost")
    assert (cold["domain"], cold["evidence_count"], lost["domain"]) == ("glazer", 2, "glazer")
    assert cold["official_doc_url"] == "https://glazer.example/errors/GLZ-0412"
    manifest = json.loads(with_pack["manifest.json"])
    [pack] = packs.active().added
    assert manifest["packs"] == [{"name": "glazer", "version": "1", "sha256": pack.sha256}]
    assert manifest["normaliser"] == packs.marked(normalise.NORMALISER_VERSION)
    assert not home.shards() & made_without
    assert home("validate", home.curated)["problems"] == []

    # in another process, and from Python
    told = command("match", "--home", tmp_path, "--json", tmp_path / "glazer.log")
    assert told.code == 0
    assert {cold["id"], lost["id"]} <= set(json.dumps(json.loads(told.out)).replace('"', " ").split())
    bundle = pipeline.open_bundle(home.curated, packs=[tmp_path / "glazer"])
    assert bundle.match("2026-05-01 08:00:00 ERR [GLZ-0412] shelf 3 is too cold: 1 C").entry_id == cold["id"]
    other = command("match", "--home", tmp_path / "elsewhere", "--bundle", home.curated, tmp_path / "glazer.log")
    assert "was made with other packs" in other.err

    # the same again, and what only files entries
    made = home.shards()
    assert home.built() == with_pack
    domains = tmp_path / "glazer" / "domains.toml"
    domains.write_text(domains.read_text().replace('en = "Glazer"', 'en = "Glazer, fired"'))
    home.built()
    assert home.shards() == made
    assert home.entries() == found

    # a row that reads texts
    lines = tmp_path / "glazer" / "lines.toml"
    lines.write_text(lines.read_text().replace("(?P<msg>", "shelf (?P<msg>"))
    home.built()
    assert not home.shards() & made

    # without it again
    (tmp_path / "errmine.toml").unlink()
    after = home.built()
    assert home.entries() == plain
    assert home.shards() == made_without
    kept_history = {"manifest.json", "registry.json"}
    assert {name: body for name, body in after.items() if name not in kept_history} == {
        name: body for name, body in without.items() if name not in kept_history
    }
    assert json.loads(after["manifest.json"])["packs"] == []


@pytest.mark.long
def test_a_home_without_a_pack_that_ships_builds_and_files_errors_by_the_others(tmp_path: Path) -> None:
    home = Home(tmp_path)
    threads = _threads(tmp_path)
    rows = [json.loads(line) for line in threads.read_text(encoding="utf-8").splitlines()]
    said = [
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "ptxas fatal   : Unresolved extern function 'fire'",
        "Error response from daemon: No such container: kiln",
    ]
    for row, line in zip(rows, said, strict=True):
        row["body"] = f"It says\n```\n{line}\n```"
    threads.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "errmine.toml").write_text('[fields]\npacks = ["-ml"]\n', encoding="utf-8")
    home("import", threads)
    home("build", "--workers", "1")
    home("export")
    assert {row["domain"] for row in home.entries().values()} == {"python", "other", "docker"}
    manifest = json.loads((home.curated / "manifest.json").read_bytes())
    assert [row["name"] for row in manifest["packs"]] == ["-ml"]
    assert manifest["normaliser"] == packs.marked(normalise.NORMALISER_VERSION) != normalise.NORMALISER_VERSION
    assert home("validate", home.curated)["problems"] == []
    packs.activate()
    kept = [vocabulary.domain(vocabulary._clues(f" | {line}"))[0] for line in said]
    assert kept == ["cuda", "cuda", "other"]  # by the words of their messages
