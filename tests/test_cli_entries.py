"""`errmine show`, `open`, `list`, `top`, `search`: entries one by one and in lists."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import typer
from rich.cells import cell_len

from pipeline.ask import digest
from pipeline.cli.browsing import best_page
from pipeline.cli.entry_page import Depth, print_entry
from pipeline.cli.fitting import write_fitting
from pipeline.cli.labels import Language
from pipeline.cli.listing import print_errors, print_hits
from pipeline.cli.near import did_you_mean, near
from pipeline.cli.query import query
from tests import entry_factory as make
from tests import golden
from tests.cli import run
from tests.each import each
from tests.model_server import thread

ENTRY = "triton/out-of-resources-threads"


@pytest.fixture(scope="module")
def home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.copied(sample_home, tmp_path_factory.mktemp("home"))


# ---------------------------------------------------------------- show


def test_show_tells_what_helped_before_what_is_suggested_and_machines_last(home: Path) -> None:
    out = run("show", ENTRY, "--home", home, "--lang", "en").out
    parts = [
        "1 remedy that helped, 2 suggestions",
        "\nHelped\n",
        "\nSuggested, nobody confirmed it\n",
        "\nCause",
        "Seen with: ",
    ]
    assert [out.index(part) for part in parts] == sorted(out.index(part) for part in parts)
    quotes = out[out.index("\nEvidence\n") :]
    assert quotes.index("worked: ") < quotes.index("reported: ")
    assert "site-packages" not in quotes
    assert re.search(r"… and \d+ more quotes: `errmine show triton/out-of-resources-threads --all`", quotes)


def test_show_names_the_thread_of_each_quote_by_its_title(home: Path) -> None:
    sql = "SELECT title, document_id FROM documents WHERE document_id = 'github.com/errmine-fixtures/tilelab#21'"
    (row,) = json.loads(run("query", sql, "--home", home, "--json").out)
    assert (
        f"    {' '.join(row['title'].split())} · 2026-03-01 · https://github.com/"
        in run("show", ENTRY, "--home", home).out
    )


def test_show_brief_has_no_evidence_and_all_has_every_quote(home: Path) -> None:
    brief = run("show", ENTRY, "--home", home, "--brief", "--lang", "en").out
    assert "Set num_warps to 16." in brief
    assert "Evidence" not in brief
    everything = run("show", ENTRY, "--home", home, "--all", "--lang", "en").out
    assert "environment: “/lib/python3.12/site-packages”" in everything
    assert "more quote" not in everything


def test_quotes_that_are_printed_once_are_counted_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = json.loads(run("show", ENTRY, "--home", home, "--json").out)
    many = [{**entry["evidence"][0], "role": "worked", "quote": f"quote {number}"} for number in range(12)]
    entry["evidence"] = [*many, *many]
    print_entry(entry, lang=Language.EN, depth=Depth.ALL)
    assert "more quote" not in capsys.readouterr().out
    print_entry(entry, lang=Language.ZH)
    assert f"  另有 4 条：`errmine show {ENTRY} --all`" in capsys.readouterr().out


def test_brief_and_all_are_not_both(home: Path) -> None:
    done = run("show", ENTRY, "--home", home, "--brief", "--all")
    assert (done.code, "--brief and --all" in done.err) == (2, True)


def test_an_id_that_is_misspelt_is_answered_with_those_that_are_like_it(home: Path) -> None:
    done = run("show", "triton/out-of-resource-thread", "--home", home)
    assert done.code == 1
    assert f"Did you mean {ENTRY}" in done.err
    assert "Did you mean" not in run("show", "zzz/qqq", "--home", home).err


# ---------------------------------------------------------------- open


def test_open_prints_the_page_of_what_helped(home: Path) -> None:
    done = run("open", ENTRY, "--home", home, "--print")
    assert (done.code, done.out) == (0, "https://github.com/errmine-fixtures/tilelab/issues/21#issuecomment-21002\n")
    assert json.loads(run("open", ENTRY, "--home", home, "--json").out) == {"url": done.out.strip()}
    assert run("open", "no/such", "--home", home, "--print").code == 1


def test_no_browser_is_given_what_is_no_address_of_the_web() -> None:
    entry = make.raw_entry()
    for piece in entry["evidence"]:
        piece["url"] = "javascript:alert(1)" if piece["role"] == "worked" else "urn:sha256:00"
    assert best_page(digest(entry)) is None
    entry["official_doc_url"] = "https://errmine.invalid/e1"
    assert best_page(digest(entry)) == "https://errmine.invalid/e1"


def test_an_open_without_a_terminal_starts_no_browser(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr("webbrowser.open", started.append)
    assert run("open", ENTRY, "--home", home).code == 0
    assert started == []


# ---------------------------------------------------------------- list


def rows(home: Path, *options: str) -> list[dict[str, object]]:
    """What `errmine list --json` gives."""
    out = run("list", "--home", home, "--json", "--limit", "1000", *options).out
    found = json.loads(out)
    assert isinstance(found, list)
    return found


def test_list_filters_by_domain_code_repository_answer_and_day(home: Path) -> None:
    every = rows(home)
    assert {row["domain"] for row in rows(home, "--domain", "triton")} == {"triton"}
    assert [row for row in every if not row["is_answered"]] == rows(home, "--unanswered") != []
    sql = (
        "SELECT entry_id, codes, list(DISTINCT repo) AS repos FROM entries JOIN evidence USING (entry_id) GROUP BY ALL"
    )
    facts = {one["entry_id"]: one for one in json.loads(run("query", sql, "--home", home, "--json").out)}
    reported = {row["entry_id"] for row in every}  # an official code that nobody reported is not listed
    code = min(code for name, one in facts.items() if name in reported for code in one["codes"])
    of_code = {row["entry_id"] for row in rows(home, "--code", code)}
    assert of_code == {name for name, one in facts.items() if code in one["codes"]} & reported != set()
    assert {row["entry_id"] for row in rows(home, "--code", code.partition(":")[2].upper())} >= of_code
    of_repo = {row["entry_id"] for row in rows(home, "--repository", "tilelab")}
    assert of_repo == {row["entry_id"] for row in rows(home, "--repository", "errmine-fixtures/tilelab")} != set()
    assert of_repo == {name for name, one in facts.items() if "errmine-fixtures/tilelab" in one["repos"]} & reported
    late = rows(home, "--since", "2026-04-01")
    assert late == [row for row in every if row["last_seen"] and str(row["last_seen"]) >= "2026-04-01"] != every


@pytest.mark.long
def test_an_error_that_is_not_published_is_no_unanswered_one(tmp_path: Path) -> None:
    (tmp_path / "errmine.toml").write_text("[publish]\nmin_documents = 2\n", encoding="utf-8")
    for command in (("import", golden.SAMPLE / "issues.jsonl"), ("build",)):
        assert run(*command, "--home", tmp_path, "--quiet").code == 0
    rows = [line.split("\t") for line in run("list", "--home", tmp_path).out.splitlines()]
    unpublished = [row for row in rows if row[1].startswith("cluster:")]
    assert unpublished
    assert {row[2] for row in unpublished} == {"not published"}
    unanswered = run("list", "--home", tmp_path, "--unanswered").out
    assert "cluster:" not in unanswered


@pytest.mark.long
def test_a_code_of_no_catalogue_lists_the_errors_that_it_tells_apart(tmp_path: Path) -> None:
    said = ("[KILN-4032] the kiln failed to heat its shelves", "[KILN-4033] the kiln failed to heat its shelves")
    file = tmp_path / "threads.jsonl"
    file.write_text("\n".join(json.dumps(thread(number, words)) for number, words in enumerate(said, 1)))
    small = tmp_path / "home"
    golden.make(small, source=file)
    (found,) = rows(small, "--code", "kiln-4032")
    assert "KILN-4032" in str(found["signature"])
    missed = run("list", "--home", small, "--code", "KILN-403")
    assert (missed.code, "Did you mean KILN-403" in missed.err) == (1, True)


def test_list_gives_programs_a_line_an_entry(home: Path) -> None:
    lines = run("list", "--home", home, "--limit", "3").out.splitlines()
    assert [line.split("\t")[1] for line in lines] == [row["entry_id"] for row in rows(home)[:3]]
    assert {len(line.split("\t")) for line in lines} == {5}


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("--domain", "tritn"), 1, "Did you mean triton?"),
        (("--domain", "'; DROP TABLE entries"), 1, "errmine status"),
        (("--repository", "errmine-fixtures/tilelb"), 1, "Did you mean errmine-fixtures/tilelab?"),
        (("--since", "yesterday"), 2, "2026-03-01"),
    ],
)
def test_a_filter_that_finds_nothing_says_what_may_be_meant(
    home: Path, options: tuple[str, ...], code: int, told: str
) -> None:
    done = run("list", "--home", home, *options)
    assert (done.code, told in done.err) == (code, True)


ROW = {
    "document_count": 1234,
    "entry_id": "cuda/out-of-memory",
    "cluster_id": None,
    "is_answered": False,
    "is_documented": False,
    "first_seen": "2026-01-02",
    "last_seen": "2026-03-04",
    "signature": "RuntimeError: 显存不足" * 40 + "\x1b[31m",
}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_list_on_a_terminal_is_as_wide_as_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    print_errors([ROW])
    print_hits([{"score": 3.5, "entry_id": "a/b", "signature": ROW["signature"], "signature_zh": "显存不足" * 60}])
    lines = capsys.readouterr().out.splitlines()
    long = [line for line in lines if "显存" in line]
    assert len(long) == 3
    assert all(width - 2 <= cell_len(line) <= width for line in long)
    assert all(line.endswith("…") for line in long)
    assert "\x1b[31m" not in "".join(long)


@pytest.mark.parametrize(("has_more", "ending"), [(True, "… and more: --limit 4"), (False, "显存不足")])
def test_a_list_on_a_terminal_says_that_there_is_more(
    has_more: bool, ending: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_errors([ROW | {"signature": "显存不足"}] * 2, has_more=has_more)
    assert capsys.readouterr().out.splitlines()[-1].endswith(ending)


# ---------------------------------------------------------------- the answer to a query on a terminal


def fitted(table: pa.Table, width: int) -> list[str]:
    """The lines of a table on a terminal."""
    out = io.BytesIO()
    write_fitting(table.schema, table.to_batches(), out, width=width)
    return out.getvalue().decode().splitlines()


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_table_is_as_wide_as_the_terminal_and_chinese_takes_two_places(width: int) -> None:
    table = pa.table({"id": ["a/b", "c"], "n": [7, 1234], "words": ["显存不足" * 40, "out of memory"]})
    lines = fitted(table, width)
    assert len(lines) == 4
    assert all(cell_len(line) <= width for line in lines)
    assert [cell_len(line[: line.index("显")]) for line in lines if "显" in line] == [lines[3].index("out of")]
    assert lines[2].split()[1] == "7"
    assert lines[2].index("7") == lines[3].index("1234") + 3


def test_more_columns_than_fit_are_a_block_for_each_row() -> None:
    table = pa.table({f"column_{n}": [f"value {n}" * 9, None] for n in range(16)})
    lines = fitted(table, 80)
    assert sum(line.startswith("-- row ") for line in lines) == 2
    assert len(lines) == 2 + 16
    assert all(cell_len(line) <= 80 for line in lines)


def test_a_query_on_a_terminal_is_cut_after_what_people_read(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(typer.Exit) as ended:
        query("SELECT n, '\x1b[31mred' AS words FROM range(201) AS t(n)", home=home)
    assert ended.value.exit_code == 0
    caught = capsysbinary.readouterr()
    assert len(caught.out.splitlines()) == 2 + 200
    assert b"\x1b[31m" not in caught.out
    assert b"cut after 200 rows" in caught.err


# ---------------------------------------------------------------- names


@each(
    "word, names, wanted",
    [
        ("tritn", ["triton", "cuda", "xla"], ["triton"]),
        ("TRITON", ["triton", "cuda"], ["triton"]),
        ("threads", ["triton/out-of-resources-threads", "cuda/oom"], ["triton/out-of-resources-threads"]),
        ("qqqq", ["triton", "cuda"], []),
        ("", ["triton"], []),
    ],
)
def test_what_may_have_been_meant(word: str, names: list[str], wanted: list[str]) -> None:
    assert near(word, names) == wanted
    assert ("Did you mean" in did_you_mean(word, names)) == bool(wanted)


def test_a_misspelt_command_is_answered_with_the_one_that_is_like_it() -> None:
    done = run("mtach")
    assert done.code == 2
    assert "match" in done.err


def test_the_shell_completes_ids_and_domains(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ERRMINE_COMPLETE", "complete_bash")
    for words, wanted in (
        (f"errmine show --home {home} triton/out-of", ENTRY),
        (f"errmine list --home {home} --domain tri", "triton"),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        done = run()
        assert wanted in done.out.split()


# ---------------------------------------------------------------- places that cannot be written


def test_a_place_that_cannot_be_written_is_named_with_the_option_to_change(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    done = run("init", "--home", file)
    assert (done.code, f"{file} is no folder" in done.err, "there already" in done.err) == (2, True, False)
    done = run("translate", "export", "--home", home, "-o", tmp_path)
    assert (done.code, f"cannot write {tmp_path}" in done.err, "--output" in done.err) == (2, True, True)
    done = run("report", "--home", home, "--to", file)
    assert (done.code != 0, f"cannot write to {file}" in done.err, "--to FOLDER" in done.err) == (True, True, True)
    assert "errmine export" not in done.err


def test_a_report_of_more_days_than_there_are_dates_is_refused(home: Path, tmp_path: Path) -> None:
    done = run("report", "--home", home, "--to", tmp_path, "--days", "999999999")
    assert (done.code, "--days" in done.err) == (2, True)
