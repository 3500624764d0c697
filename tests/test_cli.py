"""The command line: help, exit statuses, JSON forms, and messages that say what to do next."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.text import Text

from pipeline import cli
from pipeline.cli.entry_page import Depth, print_entry
from pipeline.cli.labels import Language
from pipeline.cli.look import did
from pipeline.cli.query import query
from pipeline.cli.work import tell_of_build
from pipeline.config import read_settings
from pipeline.records.errors import ConfigError
from pipeline.records.summary import count
from pipeline.run import Places, Summary, import_files, recorded
from pipeline.run.home import locking
from pipeline.run.home.recording import short_ids
from pipeline.run.ingest import sourcing
from tests import entry_factory as make
from tests import golden, readme
from tests.cli import process, run
from tests.rings import one_in, quick_alone

ERROR = """Traceback (most recent call last):
  File "/srv/bench/attention.py", line 88, in <module>
    kernel[grid](q, k, v)
triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 999424, Hardware limit: 232448. \
Reducing block sizes or `num_stages` may help.
"""
INSTALLED = golden.ROOT / "pipeline" / "cli" / "installed.py"
PLAIN = "INFO all is well\n"


@pytest.fixture(scope="module")
def home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.copied(sample_home, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def entry_id(home: Path) -> str:
    found = json.loads(run("match", "--home", home, "--json", stdin=ERROR).out)["entry_id"]
    assert isinstance(found, str)
    return found


# ---------------------------------------------------------------- help, version, completion


@pytest.mark.parametrize("name", sorted(readme.commands()))
def test_every_command_has_help_that_names_its_options(name: str) -> None:
    done = run(*name.split(), "--help")
    assert done.code == 0
    assert "--help" in done.out


@pytest.mark.parametrize("name", one_in(6, ["", *sorted(readme.commands())]))
def test_help_shows_every_word_of_its_text_and_no_type_behind_a_switch(name: str) -> None:
    out = run(*name.split(), "--help").out
    assert "<bool>" not in out
    assert "``" not in out  # a word in brackets would be read as markup
    assert [words for words in readme.help_texts(name) if Text.from_markup(words).plain != words] == []


def test_words_of_a_log_are_printed_as_they_are_written(home: Path) -> None:
    line = "ValueError: key:100:value is :key: [bold]wrong[/bold]"
    assert line in run("match", "--home", home, stdin=f"{line}\n").out
    assert "x:100:.log" in run("match", "x:100:.log", "--home", home).err


def test_version_and_help_answer_without_a_home(tmp_path: Path) -> None:
    env = {"ERRMINE_HOME": str(tmp_path / "none")}
    assert process("--version", env=env).out.startswith("errmine ")
    done = process("-h", env=env)
    assert done.code == 0
    assert all(name in done.out for name in ("run", "match", "query", "apply"))


@pytest.mark.parametrize("other", ["pipeline/__init__.py", "pipeline.py"])
def test_another_package_called_pipeline_is_not_taken_for_ours(other: str, tmp_path: Path) -> None:
    (tmp_path / other).parent.mkdir(exist_ok=True)
    (tmp_path / other).write_text("raise SystemExit('the wrong one')\n")
    env = {**os.environ, "PYTHONPATH": f".{os.pathsep}{golden.ROOT}"}
    command = [
        sys.executable,
        "-c",
        f"import runpy; runpy.run_path({str(INSTALLED)!r}, run_name='__main__')",
        "--version",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.stdout.split()[:1], done.returncode) == (["errmine"], 0), done.stderr


def test_the_installed_command_is_the_one_that_finds_its_own_package() -> None:
    project = tomllib.loads((golden.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"errmine": "errmine:main"}
    assert (
        project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]["pipeline/cli/installed.py"]
        == "errmine.py"
    )


def test_no_command_shows_the_help_and_is_a_usage_error() -> None:
    assert run().code == 2


def test_an_unknown_command_or_option_is_a_usage_error() -> None:
    assert run("mach").code == 2
    assert run("match", "--nosuch").code == 2


def test_each_command_is_where_it_is_looked_for() -> None:
    app = cli.application()
    own = {cli._name(one): one.callback.__module__ for one in app.registered_commands if one.callback}
    groups = {one.name for one in app.registered_groups}
    listed = {command: f"pipeline.cli.{name}" for name, commands in cli._MODULES.items() for command in commands}
    assert {command: place for command, place in listed.items() if command not in groups} == own
    assert groups < listed.keys()


def test_a_command_loads_no_module_of_another() -> None:
    script = (
        "import sys; from pipeline import cli; cli.application('import'); print('pipeline.cli.match' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", script], cwd=golden.ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_the_shell_can_ask_for_completions() -> None:
    env = {"_ERRMINE_COMPLETE": "complete_bash", "COMP_WORDS": "errmine va", "COMP_CWORD": "1"}
    done = process(env=env)
    assert "validate" in done.out.split()


# ---------------------------------------------------------------- colour


@pytest.mark.long
@pytest.mark.parametrize(
    "env", one_in(3, [{}, {"NO_COLOR": "1", "FORCE_COLOR": ""}, {"NO_COLOR": "1", "TERM": "xterm-256color"}])
)
def test_no_colour_where_the_output_is_no_terminal_or_no_color_is_set(
    home: Path, entry_id: str, env: dict[str, str]
) -> None:
    assert "\x1b[" not in process("show", entry_id, "--home", home, env=env).out


@pytest.mark.long
@pytest.mark.parametrize("encoding", quick_alone(["latin-1", "ascii"], ["ascii"]))
def test_a_terminal_without_chinese_gets_what_it_can_show(home: Path, entry_id: str, encoding: str) -> None:
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = process("show", entry_id, "--home", home, env=env)
    assert (done.code, done.err) == (0, "")
    assert entry_id in done.out
    assert json.loads(process("show", entry_id, "--home", home, "--json", env=env).out)["signature_zh"]


# ---------------------------------------------------------------- extract, group


def test_extract_prints_the_events_of_a_text_as_json() -> None:
    done = run("extract", "--json", stdin=ERROR)
    [event] = json.loads(done.out)["events"]
    assert done.code == 0
    assert event["exception_type"] == "triton.runtime.errors.OutOfResources"
    assert event["frames"] == [{"file": "/srv/bench/attention.py", "line": 88, "function": "<module>"}]
    assert (event["start"], event["truncated"]) == (0, False)


def test_extract_reads_lines_and_answers_each_with_its_id() -> None:
    lines = [{"id": "a", "text": ERROR}, {"id": 7, "text": PLAIN}]
    done = run("extract", "--jsonl", stdin="\n".join(map(json.dumps, lines)))
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [(row["id"], len(row["events"])) for row in rows] == [("a", 1), (7, 0)]


def test_extract_without_an_error_exits_with_1_and_a_hint() -> None:
    done = run("extract", stdin=PLAIN)
    assert done.code == 1
    assert "errmine reads tracebacks" in done.err


def test_bytes_that_are_no_utf8_are_read_all_the_same() -> None:
    done = run("extract", "--json", stdin=b"\xff\xfe\n" + ERROR.encode() + b"\xff")
    assert done.code == 0


def test_group_gives_each_line_its_cluster_in_the_order_of_the_input() -> None:
    lines = [{"id": 1, "text": ERROR}, {"id": 2, "text": PLAIN}, {"id": 3, "text": ERROR.replace("999424", "5")}]
    done = run("group", stdin="\n".join(map(json.dumps, lines)))
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["id"] for row in rows] == [1, 2, 3]
    assert rows[0]["cluster_id"] == rows[2]["cluster_id"] != rows[1]["cluster_id"]
    assert all(row["signature"] and row["explanation"] for row in rows)


def test_a_line_that_is_no_json_is_named_by_its_number_and_passed_over() -> None:
    done = run("group", stdin=f'{{"id": 1, "text": "x failed"}}\nnonsense\n[]\n{json.dumps({"id": 2, "text": ERROR})}')
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == [1, 2]
    assert "standard input:2: not JSON" in done.err
    assert "standard input:3" in done.err


def test_group_hears_people(tmp_path: Path) -> None:
    other, noise = "RuntimeError: the lamp of the hall is out", "ValueError: told to fail by the test"
    decided = tmp_path / "overrides.toml"
    decided.write_text(
        f"[[merge]]\nreason = 'one lamp'\ntexts = [{json.dumps(ERROR)}, {json.dumps(other)}]\n"
        f"[[ignore]]\nreason = 'on purpose'\ntexts = [{json.dumps(noise)}]\n"
    )
    lines = "\n".join(json.dumps({"id": n, "text": text}) for n, text in enumerate((ERROR, other, noise)))
    rows = [json.loads(line) for line in run("group", "--overrides", decided, stdin=lines).out.splitlines()]
    assert rows[0]["cluster_id"] == rows[1]["cluster_id"]
    assert rows[2]["cluster_id"] is None
    assert "on purpose" in rows[2]["explanation"]
    plain = [json.loads(line)["cluster_id"] for line in run("group", stdin=lines).out.splitlines()]
    assert len({*plain}) == 3


def test_group_of_nothing_exits_with_1() -> None:
    assert run("group", stdin="").code == 1


@pytest.mark.parametrize("command", ["extract", "group", "match"])
def test_a_file_that_is_not_there_is_a_usage_error_with_a_hint(command: str, home: Path) -> None:
    extra = ("--home", home) if command == "match" else ()
    done = run(command, "/nowhere/at/all.log", *extra)
    assert done.code == 2
    assert "/nowhere/at/all.log" in done.err
    assert "readable file" in done.err


# ---------------------------------------------------------------- match


def test_match_prints_the_entry_in_both_languages(home: Path, entry_id: str) -> None:
    done = run("match", "--home", home, stdin=ERROR)
    assert done.code == 0
    assert done.out.startswith(f"{entry_id}\nlines 1–4: ")
    assert "known since 20" in done.out
    assert "起已知" in done.out
    assert "https://github.com/errmine-fixtures/" in done.out


def test_match_as_json_holds_the_whole_entry(home: Path, entry_id: str) -> None:
    answer = json.loads(run("match", "--home", home, "--json", stdin=ERROR).out)
    assert answer["entry"]["id"] == entry_id
    assert answer["rule"] in {"equal", "gate", "ratio"}


def test_match_abstains_with_a_reason_and_status_1(home: Path) -> None:
    done = run("match", "--home", home, stdin=PLAIN)
    assert done.code == 1
    assert "no entry: no error was found in the text" in done.out
    as_json = run("match", "--home", home, "--json", stdin=PLAIN)
    assert as_json.code == 1
    assert json.loads(as_json.out)["entry"] is None


def test_match_answers_many_lines(home: Path, entry_id: str) -> None:
    lines = [{"id": "a", "text": ERROR}, {"id": "b", "text": PLAIN}]
    done = run("match", "--home", home, "--jsonl", stdin="\n".join(map(json.dumps, lines)))
    assert [json.loads(line)["entry_id"] for line in done.out.splitlines()] == [entry_id, None]


@pytest.mark.long
def test_match_needs_nothing_but_a_bundle(home: Path, entry_id: str, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    (bundle / "entries" / entry_id).parent.mkdir(parents=True)
    for name in ("manifest.json", "index.json", f"entries/{entry_id}.json"):
        (bundle / name).write_bytes((Places.of(home).curated / name).read_bytes())
    done = process("match", "--bundle", bundle, "--json", stdin=ERROR)
    assert json.loads(done.out)["entry_id"] == entry_id


def test_match_without_a_bundle_says_how_to_make_one(tmp_path: Path) -> None:
    done = run("match", "--home", tmp_path, stdin=ERROR)
    assert done.code == 3
    assert "errmine run" in done.err


# ---------------------------------------------------------------- show, explain


def test_show_finds_an_entry_by_id_and_by_cluster(home: Path, entry_id: str) -> None:
    entry = json.loads(run("show", entry_id, "--home", home, "--json").out)
    assert entry["id"] == entry_id
    assert json.loads(run("show", entry["cluster_id"], "--home", home, "--json").out) == entry


def test_show_of_an_unknown_id_says_how_to_find_one(home: Path) -> None:
    done = run("show", "nothing/here", "--home", home)
    assert done.code == 1
    assert "errmine list" in done.err


def test_explain_says_why_templates_stand_together(home: Path, entry_id: str) -> None:
    found = json.loads(run("explain", entry_id, "--home", home, "--json").out)
    assert found["entry_id"] == entry_id
    assert all(template["explanation"] for template in found["templates"])
    by_template = run("explain", found["templates"][0]["signature_id"], "--home", home, "--json")
    assert json.loads(by_template.out)["cluster_id"] == found["cluster_id"]


def test_a_bundle_explains_as_its_home_does(home: Path, entry_id: str) -> None:
    of_home = run("explain", entry_id, "--home", home, "--json")
    of_bundle = run("explain", entry_id, "--bundle", Places.of(home).curated, "--json")
    assert of_bundle.code == 0
    assert json.loads(of_bundle.out) == json.loads(of_home.out)


def test_explain_of_a_bundle_without_a_database_says_what_is_missing(entry_id: str) -> None:
    for asked in ((entry_id,), (entry_id, entry_id)):
        done = run("explain", *asked, "--bundle", golden.GOLDEN)
        assert (done.code, done.out) == (3, "")
        assert "errmine.duckdb" in done.err


def test_explain_of_an_unknown_id_exits_with_1(home: Path) -> None:
    assert run("explain", "cluster:none", "--home", home).code == 1


def test_explain_of_a_misspelt_id_says_which_was_meant(home: Path, entry_id: str) -> None:
    for asked in ((entry_id[:-1],), (entry_id, entry_id[:-1])):
        done = run("explain", *asked, "--home", home)
        assert (done.code, f"Did you mean {entry_id}" in done.err) == (1, True)


def test_brief_shows_what_helped_single_projects_with_who_and_where(capsys: pytest.CaptureFixture[str]) -> None:
    entry = make.raw_entry_with_case(workarounds=[], workarounds_zh=[])
    print_entry(entry, depth=Depth.BRIEF, lang=Language.EN)
    out = " ".join(capsys.readouterr().out.split())
    assert "1 remedy that helped a single project" in out
    told = out.split("Helped single projects")[1]
    assert "Keep two stages. [worked 1, failed 0] in errmine-fixtures/kernels" in told
    assert "https://github.com/" in told


def test_chinese_says_that_it_is_where_english_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    entry = make.raw_entry(root_cause=None, root_cause_zh="原因是共享内存超过了硬件上限。")
    print_entry(entry, lang=Language.EN)
    assert "in Chinese: 原因是共享内存超过了硬件上限。" in capsys.readouterr().out
    print_entry(entry, lang=Language.ZH)
    assert "in Chinese" not in capsys.readouterr().out


def test_a_build_says_that_its_bundle_is_to_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    done = Summary([count("documents", taken=1, given=1, lost=())])
    chosen = read_settings(home=tmp_path, environ={})
    tell_of_build(done, chosen, is_quiet=False, as_json=False)
    first = capsys.readouterr().out
    assert ("export writes its bundle" in first, "last export" in first, "bundle    " in first) == (True, False, False)
    chosen.curated_path.mkdir()
    (chosen.curated_path / "manifest.json").write_text("{}")
    tell_of_build(done, chosen, is_quiet=False, as_json=False)
    assert "until then that of the last export answers" in capsys.readouterr().out


def test_an_import_tells_how_many_pages_it_has_read(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    summary = import_files(tmp_path / "raw", [golden.ROOT / "raw/sample"], progress=lambda *one: told.append(one))
    assert told == [("import", summary.stages[0].taken, 0)]


@pytest.mark.long
def test_top_of_a_home_with_no_errors_says_what_brings_some(tmp_path: Path) -> None:
    assert run("build", "--home", tmp_path).code == 1
    done = run("top", "--home", tmp_path)
    assert (done.code, "errmine import" in done.err) == (1, True)


def test_a_site_of_a_home_without_a_bundle_says_what_to_do(tmp_path: Path) -> None:
    done = run("site", "--home", tmp_path, "--no-search")
    assert (done.code, "there is no bundle" in done.err, "errmine run" in done.err) == (3, True, True)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- query


def test_a_query_answers_in_every_form(home: Path, tmp_path: Path) -> None:
    sql = "SELECT entry_id, evidence_count, tags FROM entries ORDER BY entry_id LIMIT 3"
    as_json = json.loads(run("query", sql, "--home", home, "--format", "json").out)
    assert list(as_json[0]) == ["entry_id", "evidence_count", "tags"]
    rows = list(csv.DictReader(io.StringIO(run("query", sql, "--home", home, "--format", "csv").out)))
    assert [row["entry_id"] for row in rows] == [row["entry_id"] for row in as_json]
    table = pq.read_table(pa.BufferReader(run("query", sql, "--home", home, "--format", "parquet").out_bytes))
    assert table.to_pylist() == as_json
    assert run("query", sql, "--home", home).out.splitlines()[0].split() == ["entry_id", "evidence_count", "tags"]


@pytest.mark.parametrize("comment", ["-- how many = many?", "--how many?", "--"])
def test_a_query_may_begin_with_a_comment(home: Path, comment: str) -> None:
    done = run("query", f"{comment}\nSELECT count(*) AS n FROM entries", "--home", home, "--json")
    assert json.loads(done.out)[0]["n"] > 0


def test_a_misspelt_option_of_query_is_no_comment(home: Path) -> None:
    assert run("query", "--josn", "--home", home).code == 2


def test_a_query_may_come_from_standard_input(home: Path) -> None:
    done = run("query", "-", "--home", home, "--json", stdin="SELECT count(*) AS n FROM entries")
    assert json.loads(done.out)[0]["n"] > 10


@pytest.mark.parametrize(
    "sql",
    one_in(
        4,
        [
            "SELECT * FROM read_csv('/etc/passwd')",
            "SELECT * FROM read_text('/etc/hostname')",
            "SELECT * FROM '/etc/passwd'",
            "SELECT * FROM read_parquet('https://example.invalid/x.parquet')",
            "COPY entries TO '/tmp/errmine-must-not-exist.csv'",
            "ATTACH '/tmp/errmine-must-not-exist.duckdb' AS other",
            "INSTALL httpfs",
            "LOAD httpfs",
            "EXPORT DATABASE '/tmp/errmine-must-not-exist'",
            "SET enable_external_access = true",
            "PRAGMA enable_external_access = true",
            "DROP TABLE entries",
            "DELETE FROM entries",
            "CREATE TABLE mine AS SELECT 1",
            "SELECT getenv('HOME')",
        ],
    ),
)
def test_a_query_reaches_no_file_no_network_and_changes_nothing(home: Path, sql: str) -> None:
    done = run("query", sql, "--home", home)
    assert done.code == 2
    assert "the query failed" in done.err
    assert not list(Path("/tmp").glob("errmine-must-not-exist*"))


def test_a_query_that_fails_says_how_to_find_names(home: Path) -> None:
    done = run("query", "SELECT nosuch FROM entries", "--home", home)
    assert done.code == 2
    assert "DESCRIBE entries" in done.err


def test_an_unknown_format_is_a_usage_error(home: Path) -> None:
    assert run("query", "SELECT 1", "--home", home, "--format", "xml").code == 2


@pytest.mark.parametrize("command", [("query", "SELECT 1"), ("show", "a/b"), ("explain", "a/b")])
def test_without_a_database_the_message_says_what_to_run(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run(*command, "--home", tmp_path)
    assert done.code in {2, 3}
    assert "errmine" in done.err.split("\n", 1)[1]


# ---------------------------------------------------------------- validate, status


def test_validate_holds_for_the_sample_and_its_quotes_stand_in_raw(home: Path) -> None:
    places = Places.of(home)
    done = run("validate", places.curated, "--raw", places.raw)
    assert done.code == 0
    assert "every rule holds" in done.out
    assert "stand in raw as cited" in done.out


def test_validate_names_each_rule_that_a_file_breaks(home: Path, entry_id: str, tmp_path: Path) -> None:
    entry = json.loads((Places.of(home).curated / "entries" / f"{entry_id}.json").read_bytes())
    entry["evidence_count"] += 1
    path = tmp_path / "entry.json"
    path.write_text(json.dumps(entry))
    done = run("validate", path, "--json")
    report = json.loads(done.out)
    assert done.code == 1
    assert [problem["rule"] for problem in report["problems"]]
    assert report["kind"] == "entry"


def test_validate_of_one_entry_does_not_repeat_its_id_in_each_row(home: Path, entry_id: str, tmp_path: Path) -> None:
    entry = json.loads((Places.of(home).curated / "entries" / f"{entry_id}.json").read_bytes())
    (tmp_path / "e.json").write_text(json.dumps({**entry, "evidence_count": 99, "confidence": 7}))
    assert entry_id not in run("validate", tmp_path / "e.json").out


def test_validate_of_nothing_is_a_usage_error(tmp_path: Path) -> None:
    done = run("validate", tmp_path / "none")
    assert done.code == 2
    assert "no such file or folder" in done.err


def test_validate_without_that_raw_folder_is_a_usage_error(home: Path, tmp_path: Path) -> None:
    assert run("validate", Places.of(home).curated, "--raw", tmp_path / "none").code == 2
    wrong = run("validate", Places.of(home).curated, "--raw", home)
    assert wrong.code == 2
    assert "holds no raw pages" in wrong.err


def test_status_tells_how_much_chinese_there_is_and_how_it_came_to_be(home: Path) -> None:
    told = json.loads(run("status", "--home", home, "--json").out)["chinese"]
    bundle = json.loads((golden.ROOT / "curated" / "sample" / "manifest.json").read_text(encoding="utf-8"))
    manifest = {row["field"]: row["by_status"] for row in bundle["chinese"]}
    shown: dict[str, dict[str, int]] = {}
    for row in told:
        if row["status"] != "not_applicable":
            shown.setdefault(row["field"], {})[row["status"]] = row["items"]
    assert shown == manifest
    assert "Chinese, by how it came to be" in run("status", "--home", home).out


def test_status_and_the_manifest_tell_how_many_entries_of_each_domain_have_an_answer(home: Path) -> None:
    told = json.loads(run("status", "--home", home, "--json").out)["answers"]
    bundle = json.loads((Places.of(home).curated / "manifest.json").read_text(encoding="utf-8"))
    counted = [
        {
            "domain": r["domain"],
            "entries": r["entry_count"],
            "answered": r["answered_count"],
            "documented": r["documented_count"],
            "known": r["known_count"],
        }
        for r in told
    ]
    assert counted == bundle["answers"]
    for name in ("documented", "known"):
        assert sum(row[name] for row in counted) == bundle["counts"][name]
    assert bundle["counts"]["answered"] < bundle["counts"]["known"]
    assert sum(row["answered"] for row in counted) == bundle["counts"]["answered"] < bundle["counts"]["entries"]
    assert "entries with an answer" in run("status", "--home", home).out


def test_top_lists_the_most_reported_and_those_without_an_answer(home: Path) -> None:
    every = json.loads(run("top", "--home", home, "--limit", "1000", "--json").out)
    silent = json.loads(run("top", "--home", home, "--limit", "1000", "--unanswered", "--json").out)
    assert [row for row in every if not row["is_answered"]] == silent != []
    counts = [row["document_count"] for row in every]
    assert counts == sorted(counts, reverse=True)
    index = json.loads((Places.of(home).curated / "index.json").read_text(encoding="utf-8"))["entries"]
    answered = {entry["id"]: entry["answered"] for entry in index}
    assert all(answered[row["entry_id"]] == row["is_answered"] for row in every)
    domain = silent[0]["domain"]
    of_one = json.loads(run("top", "--home", home, "--domain", domain, "--json").out)
    assert {row["domain"] for row in of_one} == {domain}
    lines = run("top", "--home", home, "--unanswered").out.splitlines()
    shown = [str(silent[0]["document_count"]), silent[0]["entry_id"], "no answer", silent[0]["last_seen"]]
    assert lines[0].split("\t") == [*shown, " ".join(silent[0]["signature"].split())]


def test_top_of_a_domain_that_is_none_says_where_they_are_listed(home: Path) -> None:
    done = run("top", "--home", home, "--domain", "'; DROP TABLE entries")
    assert done.code == 1
    assert "errmine status" in done.err


def test_status_counts_every_stage_in_and_out(home: Path) -> None:
    stages = json.loads(run("status", "--home", home, "--json").out)["stages"]
    assert stages
    assert all(stage["in_count"] == stage["out_count"] + stage["skipped_count"] for stage in stages)


def test_runs_of_one_minute_are_told_apart_and_can_be_asked_for_by_what_is_shown(tmp_path: Path) -> None:
    ids = [f"0197f3c2-1a2b-7{x}0-8000-000000000000" for x in ("0a", "1a", "2a")]
    for number, run_id in enumerate(ids):
        with recorded(tmp_path, "import", run_id=run_id) as record:
            record.summary = Summary([count("import", taken=number, given=number, lost=())])
    table = run("status", "--home", tmp_path).out
    shown = [re.findall(rf"{run_id[:16]}\S*", table) for run_id in ids]
    assert [[run_id[:16]] for run_id in ids] == shown
    assert f"{ids[2]}  import  completed" in run("status", ids[2][:16], "--home", tmp_path).out
    assert json.loads(run("status", ids[1], "--home", tmp_path, "--json").out)["detail"]["stages"][0]["taken"] == 1
    assert run("status", ids[0][:9], "--home", tmp_path).code == 2
    assert run("status", "fffff", "--home", tmp_path).code == 1


def test_a_run_is_called_by_as_little_of_its_id_as_tells_it_apart() -> None:
    names = short_ids(["0197f3c2-1a2b-7", "0197f3c2-1a2c-7", "0197f3c2-9", "aaaa0000-1"])
    assert list(names.values()) == ["0197f3c2-1a2b", "0197f3c2-1a2c", "0197f3c2-9", "aaaa0000"]


def test_reconcile_in_a_folder_that_is_no_home_says_so_and_makes_nothing(tmp_path: Path) -> None:
    done = run("reconcile", "--home", tmp_path)
    assert (done.code, "nothing of errmine is here" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_one_document_is_one_and_unknown_dates_are_left_out(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = json.loads((golden.ROOT / "curated" / "sample" / "entries.jsonl").read_text().splitlines()[0])
    print_entry({**entry, "evidence_count": 1, "occurrence_count": 1, "first_seen": None, "last_confirmed": None})
    out = " ".join(capsys.readouterr().out.split())
    assert "1 document, 1 occurrence" in out
    assert "1 documents" not in out
    assert "?" not in out.split("1 occurrence")[1].split("·")[0][:20]


def test_cases_are_shown_with_their_place_and_the_readers_own_first(capsys: pytest.CaptureFixture[str]) -> None:
    entry = make.raw_entry_with_case()
    (case,) = entry["cases"]
    block = {"text": "Keep two stages like this:", "how": "stages = 2"}
    more = [case["statements"][0] | block]
    entry["cases"].append({**case, "repo": "errmine-fixtures/other", "frame": None, "statements": more})
    print_entry(entry, nearest=1)
    out = " ".join(capsys.readouterr().out.split())
    assert "helped · 有效: Keep two stages. [worked 1, failed 0] condition · 条件: on my card" in out
    assert "Keep two stages like this: [worked 1, failed 0] | stages = 2" in out
    own = out.index(f"{case['documents'][0]} · fixture_torch (yours)")
    assert own < out.index("errmine-fixtures/kernels · attention:forward · fixture_torch")


def test_an_entry_reads_in_chinese_first_with_headings_labels_and_dates(capsys: pytest.CaptureFixture[str]) -> None:
    lines = (golden.ROOT / "curated" / "sample" / "entries.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [one for one in map(json.loads, lines) if one["workarounds"] and one["signature_zh"]]
    entry = next(one for one in entries if one["workarounds"][0]["worked"])
    dates = {"first_seen": "2026-03-11", "last_confirmed": "2026-04-02"}
    print_entry({**entry, **dates, "root_cause": "the pond is wet", "root_cause_zh": "池塘是湿的"}, lang=Language.ZH)
    out = capsys.readouterr().out
    assert out.index(entry["signature_zh"][:20]) < out.index(f"原文：{entry['signature'][:20]}")
    assert "2026 年 3 月 11 日 至 2026 年 4 月 2 日" in out
    assert "\n原因" in out
    assert out.index("池塘是湿的") < out.index("原文：the pond is wet")
    assert "\n有效的办法\n" in out
    assert f"[有效 {entry['workarounds'][0]['worked']}，无效 {entry['workarounds'][0]['failed']}" in out
    assert not {"Helped", "Evidence", "Cause", "worked", "document"} & set(re.findall(r"\w+", out.split("证据")[0]))


def test_what_has_no_chinese_stands_in_its_own_language(capsys: pytest.CaptureFixture[str]) -> None:
    lines = (golden.ROOT / "curated" / "sample" / "entries.jsonl").read_text(encoding="utf-8").splitlines()
    entry = {**json.loads(lines[0]), "signature_zh": None, "first_seen": "unknown", "last_confirmed": None}
    print_entry(entry, lang=Language.ZH)
    out = capsys.readouterr().out
    assert out.splitlines()[1] == " ".join(entry["signature"].split())
    assert "unknown" in out


def test_parquet_is_not_written_to_a_terminal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cli.query.sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
    with pytest.raises(ConfigError, match="Parquet is no text"):
        query("SELECT 1", home=home, form="parquet")


# ---------------------------------------------------------------- quiet, import


@pytest.mark.long
def test_quiet_prints_nothing_where_all_went_well(tmp_path: Path) -> None:
    done = process("import", golden.SAMPLE, "--home", tmp_path, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_import_of_a_path_that_is_not_there_says_so(tmp_path: Path) -> None:
    done = run("import", tmp_path / "none.jsonl", "--home", tmp_path)
    assert done.code == 2
    assert "no such file or folder" in done.err


def test_what_an_import_could_not_read_stands_in_the_list_of_runs(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"html_url": "https://github.com/o/r/iss\n{"kiln": 1}\n', encoding="utf-8")
    assert run("import", broken, "--home", tmp_path / "home").code == 1
    assert run("import", tmp_path / "none", "--home", tmp_path / "home").code == 2
    assert run("import", tmp_path / "none", broken, golden.SAMPLE, "--home", tmp_path / "home").code == 0
    assert run("import", golden.SAMPLE, "--home", tmp_path / "home").code == 0
    runs = json.loads(run("status", "--home", tmp_path / "home", "--json").out)["runs"]
    assert [row["status"] for row in runs] == ["completed", "completed", "failed", "failed"]
    told = [did(row["detail"]) for row in runs]
    assert "not read" not in told[0]
    assert told[1].endswith(f"2 not read: invalid_json 1, unknown_json 1, not there: {tmp_path / 'none'}")
    assert told[2] == f"{tmp_path / 'none'}: no such file or folder"
    assert told[3] == "nothing could be read; 2 not read: invalid_json 1, unknown_json 1"


def test_the_help_begins_with_what_a_newcomer_needs() -> None:
    shown = [line.split()[1] for line in run("--help").out.splitlines() if line.startswith("│ ") and line[2] != " "]
    commands = [name for name in shown if not name.startswith("-")]
    assert commands[:4] == ["run", "match", "search", "show"]


def test_match_says_in_which_lines_of_a_log_the_error_stands(home: Path) -> None:
    done = run("match", "--home", home, stdin=PLAIN * 30 + ERROR)
    assert done.out.splitlines()[1].startswith("lines 31–34: ")


# ---------------------------------------------------------------- run, serve


@pytest.mark.long
def test_a_path_that_matches_nothing_is_said_in_a_line_before_prefect_starts(tmp_path: Path) -> None:
    (tmp_path / "errmine.toml").write_text('[sources]\npaths = ["nothing/*.json"]\n')
    done = process("run", "--home", tmp_path)
    assert done.code == 2
    assert done.err.splitlines() == [
        f"errmine: {tmp_path}/errmine.toml: [sources] paths: nothing there: nothing/*.json",
        "  Correct the path; it is relative to the settings file.",
    ]
    assert not (tmp_path / ".errmine").exists()


def test_a_run_without_settings_and_pages_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no source is configured and nothing was imported") as raised:
        sourcing.check_home(read_settings(home=tmp_path, environ={}))
    assert str(tmp_path / "errmine.toml") in raised.value.hint()
    run("import", golden.SAMPLE, "--home", tmp_path)
    sourcing.check_home(read_settings(home=tmp_path, environ={}))


def test_a_run_without_sources_brings_the_sample_into_no_home_that_holds_something_else(tmp_path: Path) -> None:
    settings = read_settings(home=tmp_path, environ={})
    assert sourcing.is_for_sample(settings)
    run("import", golden.SAMPLE, "--home", tmp_path)
    assert sourcing.is_for_sample(settings)
    own = tmp_path / "own.json"
    own.write_text(
        (golden.SAMPLE / "issues.jsonl").read_text("utf-8").partition("\n")[0].replace("errmine-fixtures", "acme")
    )
    run("import", own, "--home", tmp_path / "other")
    assert not sourcing.is_for_sample(read_settings(home=tmp_path / "other", environ={}))


def test_serve_names_the_file_and_the_key_of_a_cron_line_that_is_none(tmp_path: Path) -> None:
    settings = tmp_path / "errmine.toml"
    settings.write_text(f'[sources]\npaths = ["{golden.SAMPLE}"]\n[schedule]\ningest = "hourly"\n')
    done = run("serve", "--home", tmp_path)
    assert done.code == 2
    assert f"{settings}: schedule.ingest: 'hourly' is no cron line" in done.err


def test_a_second_serve_of_a_home_is_told_of_the_first(tmp_path: Path) -> None:
    """It would take the runs of the first for those of a killed process, and start each twice."""
    (tmp_path / "errmine.toml").write_text(f'[sources]\npaths = ["{golden.SAMPLE}"]\n')
    first = locking.Holder("r", "serve", 4711, "2026-01-01T00:00:00+00:00")
    with locking.sole(tmp_path, first, name="lock.serve"):
        done = run("serve", "--home", tmp_path)
    assert done.code != 0
    assert "serve (process 4711, since 2026-01-01" in done.err
