"""The memory of what translators wrote: known by template, filled with a message's own values, gated."""

from __future__ import annotations

import re
import time
from pathlib import Path

import polib
import pytest

from pipeline.lexicon import explanations, gates
from pipeline.translate import compile_memory, exchange, remembered
from pipeline.translate.meaning import worded
from pipeline.translate.remembered import SIGNATURE, STATEMENT, key, memory, template
from tests.rings import quick_alone

ROWS = compile_memory.rows()
JAMMED = "Drawer {1} of the till {2} is jammed"
JAMMED_ZH = "收银台 {2} 的抽屉 {1} 卡住"


def memory_of(context: str, english: str, chinese: str) -> remembered.Memory:
    return memory("", f"{key(context, english)}\t{chinese}\n")


# ---------------------------------------------------------------- templates


@pytest.mark.parametrize(
    ("text", "said", "values"),
    [
        ("Drawer <n> of the till 'north' is jammed", JAMMED, ("<n>", "'north'")),
        ("symbol not found for architecture x86_<n>", "symbol not found for architecture {1}", ("x86_<n>",)),
        ("can't open it, doesn't exist", "can't open it, doesn't exist", ()),
        ("Unable to parse <name>.ply.", "Unable to parse {1}.", ("<name>.ply",)),
        ("-1 is no size of torch.int8", "{1} is no size of {2}", ("-1", "torch.int8")),
        ("Use {1} before {2}", "Use {1} before {2}", ("{1}", "{2}")),
    ],
)
def test_values_are_places_and_words_are_not(text, said, values):
    found = template(text)
    assert (found.text, found.values) == (said, values)


def test_a_template_has_one_key_whatever_its_case_spaces_and_last_mark():
    assert key(SIGNATURE, JAMMED) == key(SIGNATURE, f" {JAMMED.upper()}  .")
    assert key(SIGNATURE, JAMMED) != key(STATEMENT, JAMMED)
    assert key(SIGNATURE, JAMMED) != key(SIGNATURE, JAMMED.replace("jammed", "locked"))


def test_type_file_and_tail_of_a_message_are_none_of_its_template():
    assert worded("shop.TillError: <path>:<n>: error: Drawer <n> is jammed [Op:Sell]", "shop.TillError") == (
        "Drawer <n> is jammed"
    )
    assert worded("x" * 1_000, None) == ""


def test_a_message_of_too_many_values_or_words_has_no_template():
    assert template("1 " * 100) is None
    assert template("word " * 2_000) is None


@pytest.mark.parametrize("unit", ["<n>", "a.", "'", "`", "x/", "-", "1.", '"', "<n", "{1}"])
def test_a_template_is_found_in_bounded_time(unit):
    started = time.process_time()
    template((unit * gates.LONGEST)[: gates.LONGEST])
    assert time.process_time() - started < 0.5


# ---------------------------------------------------------------- what is remembered


def test_a_message_is_explained_with_its_own_values_in_the_order_of_the_chinese():
    offer = memory_of(SIGNATURE, JAMMED, JAMMED_ZH).explanation("drawer 7 of the till `south` is jammed.")
    assert (offer.text, offer.status, offer.engine) == ("收银台 south 的抽屉 7 卡住", "tm_exact", "tm/signatures")


def test_code_of_several_words_stays_code_in_an_explanation():
    offer = memory_of(SIGNATURE, "Check {1} of {2} failed", "{2} 的检查 {1} 失败").explanation(
        "Check `a < b` of `x` failed"
    )
    assert offer.text == "x 的检查 `a < b` 失败"


def test_a_message_is_no_statement_and_a_place_without_a_value_is_never_filled():
    said = "Drawer 7 of the till 'south' is jammed"
    assert memory_of(SIGNATURE, JAMMED, JAMMED_ZH).offer(said) is None
    assert memory_of(SIGNATURE, JAMMED, "收银台 {3} 的抽屉 {1} 卡住").explanation(said) is None


@pytest.mark.parametrize(
    ("chinese", "gate"),
    [
        ("抽屉 {1} 卡住", "places"),
        ("收银台 {2} 的抽屉 {1} 卡住，位于 {3}", "places"),
        ("收銀台 {2} 的抽屜 {1} 卡住", "simplified"),
        ("{1} {2} is jammed", "script"),
    ],
)
def test_a_row_that_fails_a_gate_is_refused_by_its_name(chinese, gate):
    assert all(remembered.refusals(SIGNATURE, JAMMED, JAMMED_ZH).values())
    assert remembered.refusals(SIGNATURE, JAMMED, chinese)[gate] is False


def test_a_sentence_that_would_fit_any_message_is_refused():
    assert remembered.refusals(SIGNATURE, "The tensor has a wrong shape", "某项设置无效")["specific"] is False
    assert all(remembered.refusals(SIGNATURE, "The tensor has a wrong shape", "张量的形状有误").values())


# ---------------------------------------------------------------- how rows come to be


def po(*rows: tuple[str, str, str], fuzzy: bool = False) -> polib.POFile:
    file = polib.POFile()
    for context, english, chinese in rows:
        file.append(polib.POEntry(msgctxt=context, msgid=english, msgstr=chinese, flags=["fuzzy"] if fuzzy else []))
    return file


def learnt(file: polib.POFile, folder: Path, known: dict[str, str] | None = None) -> tuple[dict[str, str], list[str]]:
    path = folder / "zh.po"
    file.save(str(path))
    found, refused = compile_memory.learnt(known or {}, exchange.judged(path))
    return found, [line.reason for line in refused]


def test_what_translators_wrote_becomes_rows_without_the_english(tmp_path):
    said = "The till 4 was jammed by `coin.drop()`."
    found, refused = learnt(
        po((SIGNATURE, JAMMED, JAMMED_ZH), (STATEMENT, said, "收银台 4 被 `coin.drop()` 卡住。")), tmp_path
    )
    assert refused == []
    assert found == {
        key(SIGNATURE, JAMMED): JAMMED_ZH,
        key(STATEMENT, "The till {1} was jammed by {2}"): "收银台 {1} 被 {2} 卡住。",
    }
    text = compile_memory.written(found)
    assert not re.search(r"jammed|till|coin|Drawer", text)
    again = memory("", text)
    assert again.offer("The till 5 was jammed by `key.drop()`.").text == "收银台 5 被 `key.drop()` 卡住。"


def test_a_row_stays_one_row_where_a_translator_broke_the_line(tmp_path):
    found, refused = learnt(po((SIGNATURE, JAMMED, "收银台 {2} 的\n抽屉 {1}\t卡住")), tmp_path)
    assert refused == []
    assert memory("", compile_memory.written(found)).pairs == {key(SIGNATURE, JAMMED): "收银台 {2} 的 抽屉 {1} 卡住"}


def test_a_refused_line_makes_no_row_and_a_fuzzy_one_takes_its_row_out(tmp_path):
    found, [reason] = learnt(po((SIGNATURE, JAMMED, "抽屉 {1} 卡住")), tmp_path)
    assert (found, "places" in reason) == ({}, True)
    known = {key(SIGNATURE, JAMMED): JAMMED_ZH, "0" * 16: "其他"}
    assert learnt(po((SIGNATURE, JAMMED, JAMMED_ZH), fuzzy=True), tmp_path, known) == ({"0" * 16: "其他"}, [])


# ---------------------------------------------------------------- what ships


@pytest.mark.parametrize("part", quick_alone(range(8), [0]))
def test_every_shipped_row_has_a_key_places_in_a_row_and_chinese_that_passes_what_needs_no_english(part, monkeypatch):
    only = {name: gate for name, gate in explanations.GATES.items() if name in _ALONE}
    monkeypatch.setattr(explanations, "GATES", only)  # what the others say of thousands of rows nobody looks at
    wrong = [
        (name, chinese)
        for name, chinese in list(ROWS.items())[part::8]
        if not re.fullmatch(r"[0-9a-f]{16}", name)
        or chinese != chinese.strip()
        or not _is_consecutive(chinese)
        or not all(remembered.refusals(SIGNATURE, chinese, chinese)[gate] for gate in _ALONE)
    ]
    assert wrong == []


_ALONE = ("script", "repetition", "simplified", "punctuation")


def _is_consecutive(chinese: str) -> bool:
    places = {int(number) for number in remembered.PLACE.findall(chinese)}
    return places == set(range(1, len(places) + 1))


def test_the_shipped_file_is_what_its_rows_write_and_below_a_megabyte():
    text = compile_memory.TSV.read_text(encoding="utf-8")
    assert text == compile_memory.written(ROWS)
    assert len(text.encode()) < 1_000_000
