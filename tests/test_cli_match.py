"""`errmine match`: every error of a log, in the forms for people, programs and CI."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pipeline import export, normalise
from pipeline.ask import Pasted, digest, template_of
from pipeline.ask.matcher import NO_ERROR, Matcher
from pipeline.ask.reading import read, set_aside
from pipeline.ask.telling import told_of
from pipeline.cli.findings_page import print_threads
from pipeline.cli.labels import Language
from pipeline.cli.summary import summary
from pipeline.cluster.leaders import FAR, apart_words, why_not
from pipeline.cluster.neighbours import gate_words
from pipeline.lexicon import headings
from pipeline.records import Cluster, kept
from tests import entry_factory as make
from tests import golden
from tests.cli import run

THREADS = """Traceback (most recent call last):
  File "/srv/bench/attention.py", line 88, in <module>
    kernel[grid](q, k, v)
triton.runtime.errors.OutOfResources: out of resource: threads, Required: 2048, Hardware limit: 1024. \
Reducing block sizes or `num_stages` may help.
"""
SHARED = THREADS.replace(
    "threads, Required: 2048, Hardware limit: 1024", "shared memory, Required: 9, Hardware limit: 8"
)
STRANGE = """Traceback (most recent call last):
  File "/srv/shop/till.py", line 3, in <module>
    basket.pay()
shop.errors.BasketError: the basket was lost on the way to the till
"""
SCHEMA = json.loads((golden.ROOT / "schemas" / "match-1.0.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.copied(sample_home, tmp_path_factory.mktemp("home"))


def test_every_error_of_a_log_is_told_of_with_its_lines_and_count(home: Path) -> None:
    done = run("match", "--home", home, stdin=f"start\n{SHARED}{STRANGE}{THREADS}{THREADS}")
    assert done.code == 0
    assert done.out.startswith("3 errors, 2 known\n")
    assert "1. triton/out-of-resources-threads\nlines 10–13, 2 times: " in done.out
    assert "2. triton/out-of-resources-shared-memory\nlines 2–5: " in done.out
    assert "3. no entry" in done.out
    assert done.out.index("Helped") < done.out.index("2. triton")


def test_a_bundle_that_other_rules_made_is_told_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of errors are of one version of the rules: by another one most would be unknown, in silence."""
    assert "rules" not in run("match", "--home", home, stdin=THREADS).err
    was = normalise.NORMALISER_VERSION
    monkeypatch.setattr(normalise, "NORMALISER_VERSION", "next")
    told = run("match", "--home", home, stdin=THREADS).err
    assert f"was made by rules {was}, and texts are read by rules next" in told
    assert "make it anew" in told


def test_remedies_say_who_said_so_and_where(home: Path) -> None:
    out = run("match", "--home", home, "--lang", "en", stdin=THREADS).out
    first = re.search(r"Helped\n  - Set num_warps to 16\.  \[worked 1, failed 0\]\n    (user, \S+): (\S+)\n", out)
    assert first is not None
    assert first[2] == "https://github.com/errmine-fixtures/tilelab/issues/21#issuecomment-21002"
    suggested = out.index("Suggested, nobody confirmed it")
    assert out.index("Set num_warps to 16") < suggested < out.index("Decrease num_warps to 32")
    assert "maintainer, 2026-03-01: https://" in out
    assert not re.search(r"[\u4e00-\u9fff]", out)


def test_chinese_alone_is_chinese(home: Path) -> None:
    out = run("match", "--home", home, "--lang", "zh", stdin=THREADS).out
    assert "有效的办法\n  - 将 num_warps 设为 16。  [有效 1，无效 0]" in out
    assert "Helped" not in out
    assert "known since" not in out


def test_the_json_form_obeys_its_schema(home: Path) -> None:
    for text in (f"{SHARED}{STRANGE}{THREADS}", STRANGE, "all is well\n", ""):
        found = json.loads(run("match", "--home", home, "--json", stdin=text).out)
        jsonschema.validate(found, SCHEMA)
    several = json.loads(run("match", "--home", home, "--json", stdin=f"{SHARED}{STRANGE}{THREADS}").out)
    assert [one["status"] for one in several["findings"]] == ["known", "known", "unknown"]
    assert several["findings"][several["finding"]]["entry_id"] == several["entry_id"] == several["entry"]["id"]
    assert several["findings"][0]["known"]["confirmed"][0]["said"][0]["url"].startswith("https://")


def test_exit_statuses_tell_known_from_unknown(home: Path) -> None:
    assert run("match", "--home", home, stdin=STRANGE + SHARED).code == 0
    unknown = run("match", "--home", home, stdin=STRANGE)
    assert (unknown.code, "no entry: " in unknown.out) == (1, True)
    none = run("match", "--home", home, stdin="all is well\n")
    assert (none.code, "no error was found" in none.out) == (1, True)
    assert run("match", "--home", home, "--json", "--markdown", stdin=SHARED).code == 2


def test_markdown_tells_the_same_and_links_to_who_said_so(home: Path) -> None:
    out = run("match", "--home", home, "--markdown", "--lang", "en", stdin=f"{SHARED}{STRANGE}{THREADS}").out
    assert out.startswith("## errmine: 3 errors, 2 known\n")
    assert "### 1. `triton/out-of-resources-threads` (lines 9–12)" in out
    assert "- Set num\\_warps to 16. (worked 1, failed 0) [user, 2026-03-01](https://github.com/" in out
    assert "### 3. no entry" in out
    nothing = run("match", "--home", home, "--markdown", stdin="all is well\n")
    reason = "no error was found in the text; one line of a log may need those around it"
    assert (nothing.code, nothing.out) == (1, f"## errmine\n\nno entry: {reason}\n")


def bundle(folder: Path, text: str, **changes: Any) -> Matcher:
    """A bundle of one entry for the one error of `text`."""
    (signature,) = [one for _, one in read(text).signed() if one is not None]
    template = template_of(signature, 1)
    cluster = Cluster(
        make.CLUSTER.cluster_id, template.signature_id, template.exception_type, template.text, gate=template.gate,
        members=(template.signature_id,), regex="", lowest_score=100.0,
    )  # fmt: skip
    facts = export.Facts(clusters=(cluster,), templates=(template,))
    export.write(folder, [make.entry(**changes)], facts=facts)
    return Matcher.read(folder)


def test_where_nobody_knows_the_threads_to_read_are_named(tmp_path: Path) -> None:
    nothing = {"workarounds": [], "workarounds_zh": [], "dead_ends": [], "dead_ends_zh": [], "translations": {}}
    bundle(tmp_path / "b", STRANGE, **nothing)
    done = run("match", "--bundle", tmp_path / "b", "--lang", "en", stdin=STRANGE)
    assert done.code == 0
    assert "known since 2026-03-01, in 3 documents; nobody reported a fix" in done.out
    assert (
        "errmine-fixtures/kernels#2 (closed, 2026-03-02)  https://github.com/errmine-fixtures/kernels/issues/2"
        in done.out
    )


HOSTILE = "](https://evil.invalid) <img src=x> @everyone ``` # x | <!-- "


def test_hostile_words_stay_words_in_markdown(tmp_path: Path) -> None:
    entry = make.raw_entry()
    entry["workarounds"][0]["action"] = f"Do {HOSTILE}"
    text = STRANGE.replace("the basket", f"the basket {HOSTILE}")
    matcher = bundle(tmp_path / "b", text, workarounds=entry["workarounds"])
    log = Pasted(text)
    shown = summary(told_of(matcher, matcher.findings(text), log), lang=Language.BOTH, everything=True)
    blocks = re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", shown)
    spans = re.sub(r"`[^`\n]*`", "", re.sub(r"\\.", "", blocks))
    assert "evil.invalid" in shown
    assert "<img" not in spans
    assert "<!--" not in spans
    assert [url for _, url in re.findall(r"\[([^\]]*)\]\(([^)]*)\)", spans) if "evil" in url] == []
    assert "```" not in spans


def test_a_bundle_that_ignores_an_error_tells_so_and_nothing_else_of_it(tmp_path: Path) -> None:
    (signature,) = [one for _, one in read(STRANGE).signed() if one is not None]
    row = {"signature_id": signature.signature_id, "text": signature.text, "reason": "printed by a healthy start"}
    body = json.dumps({"entries": [], "ignored": [row]}).encode()
    (tmp_path / "index.json").write_bytes(body)
    (tmp_path / "manifest.json").write_bytes(kept.sealed_json({"files": kept.listed([("index.json", body)])}))
    done = run("match", "--bundle", tmp_path, stdin=STRANGE)
    assert done.code == 1
    assert done.out.startswith("set aside by overrides.toml: printed by a healthy start")
    assert "no entry" not in done.out


def test_a_long_list_is_told_in_full_then_in_lines_then_in_a_number(home: Path) -> None:
    kinds = ["Axle", "Belt", "Crank", "Drum", "Edge", "Fan"]
    text = "".join(
        f'Traceback (most recent call last):\n  File "/srv/a.py", line 1, in f\n    g()\nmill.{one}{two}Error: bent\n'
        for one in kinds
        for two in kinds
    )
    out = run("match", "--home", home, "--lang", "en", stdin=text).out
    assert out.startswith("36 errors, 0 known\n")
    assert len(re.findall(r"(?m)^\d+\. no entry: ", out)) == 5
    assert len(re.findall(r"(?m)^\d+\. mill\.\S+Error: ", out)) == 20
    assert out.rstrip().endswith("… and 11 more errors (--all)")
    assert (
        len(re.findall(r"(?m)^\d+\. no entry: ", run("match", "--home", home, "--all", "--lang", "en", stdin=text).out))
        == 36
    )


@pytest.mark.long
def test_a_home_just_exported_is_asked_without_a_word_on_standard_error(tmp_path: Path) -> None:
    for command in (("import", golden.SAMPLE), ("build",), ("export",)):
        assert run(*command, "--home", tmp_path, "--quiet").code == 0
    assert run("match", "--home", tmp_path, stdin=THREADS).err == ""


@pytest.mark.parametrize("seconds", ["inf", "1e300", "86401"])
def test_a_time_that_no_timer_takes_is_refused(home: Path, seconds: str) -> None:
    done = run("match", "--home", home, "--seconds", seconds, stdin=THREADS)
    assert (done.code, "--seconds" in done.err) == (2, True)


def test_a_line_of_json_that_cannot_be_read_or_written_costs_no_other_line(home: Path) -> None:
    rows = [json.dumps({"id": "\ud800", "text": THREADS}), '{"id": %s, "text": "x"}' % ("9" * 5000)]
    rows.append(json.dumps({"id": "last", "text": THREADS}))
    done = run("match", "--home", home, "--jsonl", stdin="\n".join(rows))
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["\ud800", "last"]
    assert "standard input:2: a number of too many digits" in done.err
    assert done.code == 0


NO_ERROR_ZH = "文本中没有发现错误；日志中的一行可能需要连同上下文一起给出"


def test_a_text_without_an_error_is_answered_in_chinese(home: Path) -> None:
    assert run("match", "--home", home, "--lang", "zh", stdin="all is well").out == f"没有条目：{NO_ERROR_ZH}\n"
    out = run("match", "--home", home, "--lang", "zh", "--markdown", stdin="all is well").out
    assert out == f"## errmine\n\n没有条目：{NO_ERROR_ZH}\n"


def test_a_summary_in_chinese_has_chinese_marks(home: Path) -> None:
    out = run("match", "--home", home, "--lang", "zh", "--markdown", stdin=THREADS).out
    assert "（第 1–4 行）" in out
    assert "有效的办法：\n" in out
    assert not re.search(r"[\u4e00-\u9fff]:", out)


def test_a_thread_without_an_address_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    page = f"urn:sha256:{'7' * 64}"
    piece = make.evidence(1, repo=None, url=page) | {"number": None}
    print_threads(digest(make.raw_entry(evidence=[piece])), Language.EN)
    assert capsys.readouterr().out.count(page) == 1


def test_every_reason_that_the_matching_gives_reads_in_chinese() -> None:
    reasons = [
        NO_ERROR,
        "the text holds no word that could name an error",
        "looks like it, but not enough to be sure",
        f"nothing known is like enough: {why_not(84.0, '')}",
        why_not(90.0, "row / column"),
        why_not(90.0, FAR),
        why_not(90.0, apart_words("reworded")),
        set_aside("printed by a healthy start"),
        "no known error of the same code or names is worded like it",
        "no known error without a code or a name is worded like it",
        f"no known error names {gate_words((('exception', 'TillError'),))}",
        "a cut text that no known text alone continues",
        "scored 88.1",
    ]
    told = [headings.reason(one, "zh") for one in reasons]
    assert [one for one in told if not re.search(r"[\u4e00-\u9fff]", one)] == []
    assert told[3] == "没有足够相似的已知错误：相似度 84.0，低于 85"
    assert [headings.reason(one, "en") for one in reasons] == reasons
    written = "\n".join(
        path.read_text("utf-8")
        for room in ("ask", "cluster")
        for path in (golden.ROOT / "pipeline" / room).glob("*.py")
    )
    rows = headings.everything()["reasons"].values()
    assert [row["en"] for row in rows if re.split(r"[{:]", row["en"])[0].strip() not in written] == []


REFUSED = "redis.exceptions.ConnectionError: Connection refused\n"


def test_of_an_error_that_nobody_reported_documentation_is_told(home: Path) -> None:
    plain = run("match", "--home", home, "--lang", "en", stdin=REFUSED)
    assert plain.code == 1  # it is unknown all the same
    assert re.search(r"no entry: .*\nline 1: .*\n\nWhat it means, by its documentation\n  \S", plain.out)
    markdown = run("match", "--home", home, "--lang", "zh", "--markdown", stdin=REFUSED).out
    assert "含义（依据其文档）：" in markdown
    told = json.loads(run("match", "--home", home, "--json", stdin=REFUSED).out)
    assert told["findings"][0]["documentation"]["url"].startswith("https://")
    jsonschema.validate(told, SCHEMA)
