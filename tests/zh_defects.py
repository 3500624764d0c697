"""Defects put into good translations, for the gates to find. Deterministic: no random choice anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pipeline import gates

HUMAN = Path(__file__).parent / "quality" / "zh_human.jsonl"
NEGATION = re.compile(r"无法|不能|没有|不会|不是|未能|[不没无未]")


def human_pairs() -> list[tuple[str, str]]:
    """The English and Chinese sentences of the human set."""
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
