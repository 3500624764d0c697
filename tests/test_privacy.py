"""What must not be anywhere: secrets outside raw, and a thread that was forgotten in any file of its home at all."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from ahocorasick_rs import AhoCorasick

from pipeline import text
from pipeline.export import read_registry
from pipeline.providers.github import fetch
from pipeline.records import shelf_of
from pipeline.run import Places
from tests import planted
from tests.cli import run
from tests.rings import first_alone
from tests.token_formats import FORMATS

REPO = "errmine-fixtures/pond"
#: Words of the thread that is forgotten, in each place that a thread has: title, log, prose, comment, remedy.
WORDS = ("Heron quarrel", "the heron stands", "my heron diary", "heron told me so", "feed_the_heron=7")


def contents(path: Path) -> str:
    """All that a file says, unpacked and as it lies on the disk."""
    told = path.read_bytes().decode("utf-8", "replace")
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            told += "".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())
    elif path.suffix == ".parquet":
        told += json.dumps(pq.read_table(path).to_pylist(), default=str, ensure_ascii=False)
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(path), read_only=True) as database:
            tables = [row[0] for row in database.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
            told += "".join(repr(database.execute(f'FROM "{name}"').fetchall()) for name in tables)
    return told


def saying(folder: Path, words: str) -> set[str]:
    """The first folder or file below `folder` of each file that says `words`."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        path.relative_to(folder).parts[-1 if path.suffix == ".duckdb" else 0]
        for path in files
        if words in contents(path)
    }


def thread(number: int, title: str, body: str, comment: str) -> dict[str, Any]:
    posted = {"created_at": "2026-04-02T00:00:00Z", "author_association": "MEMBER", "user": {"login": "someone"}}
    url = f"https://github.com/{REPO}/issues/{number}"
    return {
        "html_url": url,
        "title": title,
        "body": body,
        "state": "closed",
        "created_at": "2026-04-01T00:00:00Z",
        "comments": [{"id": number, "body": comment, "html_url": f"{url}#issuecomment-{number}", **posted}],
    }


def secret_threads() -> list[dict[str, Any]]:
    """A thread for each format: the secret in its title, its log and a remedy."""
    some = list(planted.texts())[::7]
    told = [
        thread(number, "Dry again", "\n\n".join(written for *_, written in some[at : at + 40]), "Same here.")
        for number, at in enumerate(range(0, len(some), 40), 301)
    ]
    log = '```\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nRuntimeError: pond {} is dry\n```\n'
    return told + [
        thread(number, f"Dry {written[:200]}", log.format(written), f"Set `x=1` and `{written}`, that fixed it.")
        for number, (written, _) in enumerate(FORMATS.values(), 101)
    ]


def build(home: Path, *threads: dict[str, Any]) -> None:
    if threads:
        (home / "issues.jsonl").write_text("\n".join(map(json.dumps, threads)), encoding="utf-8")
        assert run("import", home / "issues.jsonl", "--home", home, "-q").code == 0
        (home / "issues.jsonl").unlink()
    assert run("build", "--home", home, "-q", "--workers", "1").code == 0


@pytest.fixture(scope="module")
def forgotten(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str, dict[str, Any]]:
    """(home after a thread was forgotten, the bundle before it, the id of the thread's entry, the delta)."""
    home = tmp_path_factory.mktemp("home")
    title, log, prose, comment, remedy = WORDS
    trace = '```\nTraceback (most recent call last):\n  File "a.py", line 1, in f\n{}\n```\n'
    one = thread(
        1,
        f"{title} at night",
        f"From {prose}:\n\n{trace.format(f'HeronError: {log} alone')}",
        f"The root cause is that the {comment}. Set `{remedy}`, that fixed it.",
    )
    shared = "```\nRuntimeError: CUDA error: an illegal memory access was encountered\n```\n"
    two = thread(2, "Illegal access", shared, "Same here.")
    three = thread(3, f"Also {title}", f"{prose}\n\n{shared}", f"{comment}")
    build(home, one, two, three, *secret_threads())
    assert run("export", "--home", home, "-q").code == 0
    for words in WORDS:
        assert "raw" in saying(home, words), words
    assert {"raw", ".errmine", "curated", "errmine.duckdb"} <= saying(home, WORDS[1])
    before = tmp_path_factory.mktemp("before") / "bundle"
    shutil.copytree(home / "curated", before, ignore=shutil.ignore_patterns("*.duckdb"))
    pages = sorted(before.glob("entries/*/*.json"))
    (mine,) = [page for page in pages if WORDS[1] in page.read_text(encoding="utf-8")]
    addresses = [part for n in (1, 3) for part in ("--url", f"https://github.com/{REPO}/issues/{n}")]
    assert run("forget", *addresses, "--home", home).code == 0
    build(home)
    delta = home / "delta.json"
    assert run("export", "--home", home, "--since", before, "--to", delta, "-q").code == 0
    return home, before, f"{mine.parent.name}/{mine.stem}", json.loads(delta.read_text(encoding="utf-8"))


Forgotten = tuple[Path, Path, str, dict[str, Any]]


def test_a_forgotten_thread_is_withdrawn_in_the_next_bundle_and_delta(forgotten: Forgotten, tmp_path: Path) -> None:
    home, before, entry_id, delta = forgotten
    assert delta["removed"] == [entry_id]
    assert len(delta["changed"]) == 1  # the entry that lost one of two documents
    assert f"entries/{entry_id}.json" in delta["deleted_files"]
    assert entry_id not in delta["files"]["registry.json"]
    assert run("apply", home / "delta.json", "--bundle", before, "--to", tmp_path / "made").code == 0
    assert saying(tmp_path, WORDS[1]) == set()


@pytest.mark.long
def test_no_id_of_an_entry_keeps_the_words_of_a_forgotten_thread(forgotten: Forgotten) -> None:
    home, _, entry_id, _ = forgotten
    (home / "delta.json").unlink(missing_ok=True)  # it tells older copies what to remove
    registry = read_registry(home / "curated")
    assert entry_id not in {*registry.ids, *registry.withdrawn, *registry.aliases, *registry.merged}
    slug = entry_id.partition("/")[2]
    assert "heron" in slug
    assert saying(home, slug) == saying(home, "heron") == set()
    (left,) = duckdb.connect(str(home / "curated" / "errmine.duckdb"), read_only=True).execute(
        "SELECT count(*) FROM journal WHERE subject_id = 'forgotten'"
    ).fetchall()  # fmt: skip
    assert left == (1,)
    build(home)  # nor does it come back, from the last bundle or the last database
    assert run("export", "--home", home, "-q").code == 0
    assert saying(home, "heron") == set()


def test_no_address_of_a_forgotten_thread_stays_in_what_a_home_remembers(tmp_path: Path) -> None:
    address = f"https://api.github.com/repos/{REPO}/issues/"
    path = fetch.ledger_path(tmp_path / ".errmine" / "github", "api.github.com", REPO)
    ledger = fetch.Ledger(path)
    urls = [f"{address}{number}{end}" for number in (7, 77) for end in ("", "/timeline", "/comments?page=2")]
    validators = [fetch.Validator(url, "t", f"etag{url[-30:]}", "0" * 64, None) for url in urls]
    ledger.save(fetch.Progress(mentioned=(7, 77)), validators, [(7, "1:x"), (77, "1:x")])
    ledger.close()
    work = tmp_path / ".errmine"
    rows = [
        {"flow": "import", "detail": {"examples": [{"item_id": f"github.com/{REPO}#{n}"} for n in (7, 77)], "n": 1}},
        {"flow": "x", "detail": {"error": f"https://github.com/{REPO}/issues/7: no"}},
    ]
    for name in ("runs.jsonl", "runs.jsonl.damaged"):
        (work / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    for kept in ("enrich/" + shelf_of(f"github.com/{REPO}#7"), "translate/ab"):
        (work / "answers" / kept).mkdir(parents=True)
        (work / "answers" / kept / "x.json").write_text("{}")
    assert run("forget", "--url", f"https://github.com/{REPO}/issues/7", "--home", tmp_path).code == 0
    told = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"issues/7/" not in told
    assert f"{REPO}#7".encode() + b'"' not in told
    assert b"issues/77/comments" in told
    assert f"{REPO}#77".encode() in told
    assert not list((work / "answers").rglob("*.json"))
    ledger = fetch.Ledger(path)
    assert (ledger.progress.mentioned, ledger.crossings()) == ((77,), {77: "1:x"})
    ledger.close()


@pytest.mark.parametrize("words", first_alone(WORDS))
def test_no_file_of_the_home_has_a_word_of_a_forgotten_thread(forgotten: Forgotten, words: str) -> None:
    assert saying(forgotten[0], words) == set()


def test_what_was_not_forgotten_is_still_there(forgotten: Forgotten) -> None:
    assert Places.of(forgotten[0]).database.exists()
    assert "errmine.duckdb" in saying(forgotten[0], "an illegal memory access was encountered")


# ---------------------------------------------------------------- secrets


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("around", ["{}", "see {} (old)", "x = '{}'", "文本{}。", "a\n{}\nb"])
def test_a_secret_of_a_published_format_is_redacted_wherever_it_stands(name: str, around: str) -> None:
    written, secret = FORMATS[name]
    redacted = text.redact(around.format(written))
    assert secret[:12] not in redacted
    assert "<secret>" in redacted
    assert text.redact(redacted) == redacted


@pytest.mark.parametrize(
    "harmless",
    [
        "https://user:password@proxy:3128",
        "mysql://root:root@localhost/test",
        "postgres://username:xxxx@db.example/x",
        "risk_live_stream and task_test_case_of_the_whole_suite",
        "-----BEGIN PUBLIC KEY-----",
        "https://hooks.slack.com/services/",
        "secret_access_key = <yours>",
    ],
)
def test_what_only_looks_like_a_secret_stays(harmless: str) -> None:
    assert text.redact(harmless) == harmless


def test_no_secret_of_any_published_format_leaves_raw(forgotten: Forgotten) -> None:
    home = forgotten[0]
    outside = {path: contents(path) for path in home.rglob("*") if path.is_file() and "raw" not in path.parts}
    assert any(path.suffix == ".parquet" for path in outside)
    kept = "".join(contents(path) for path in (home / "raw" / "segments").iterdir())
    everything = "".join(outside.values())
    secrets = AhoCorasick([one.secret[:12] for one, *_ in list(planted.texts())[::7]])
    assert secrets.find_matches_as_strings(kept)
    assert secrets.find_matches_as_strings(everything) == []
    for name, (_, secret) in FORMATS.items():
        assert secret[:12] in kept, name
        assert [str(path) for path, told in outside.items() if secret[:12] in told] == [], name
