"""Headings and labels in English and Chinese, from data/headings.toml: the one table of all that people read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from pipeline import text
from pipeline.records import warm


@cache
def _tables() -> dict[str, dict[str, dict[str, str]]]:
    body = resources.files("pipeline").joinpath("data", "headings.toml").read_text("utf-8")
    tables: dict[str, Any] = warm.table(body)
    return tables


def everything() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Table -> key -> language -> label."""
    return MappingProxyType(_tables())


@cache
def table(name: str, lang: str) -> Mapping[str, str]:
    """Key -> label of one table ("roles", "said", ...) in "en" or "zh".

    Raises:
        KeyError: there is no such table, or a row of it lacks the language.
    """
    return MappingProxyType({key: row[lang] for key, row in _tables()[name].items()})


def label(name: str, key: str, lang: str) -> str:
    """The label of a key of a table; the key itself where the table has none."""
    return table(name, lang).get(key, key)


def both(name: str, key: str) -> str:
    """The label in both languages, with a dot between: "Helped · 有效的办法"."""
    return " · ".join(dict.fromkeys(label(name, key, lang) for lang in ("en", "zh")))


def reason(words: str, lang: str) -> str:
    """Why a text has no entry, in the language; as it was written where the table `reasons` has no such sentence."""
    return _in_language("reasons", words, lang)


def sentence(words: str, lang: str) -> str:
    """A sentence of errmine in an entry or a manifest, in the language; itself where `sentences` has none such."""
    return _in_language("sentences", words, lang)


def _in_language(name: str, words: str, lang: str) -> str:
    if lang == "zh":
        for pattern, chinese in _patterns(name):
            if found := pattern.fullmatch(words):
                slots = found.groupdict()
                return chinese.format(**{key: _gate(value) if key == "gate" else value for key, value in slots.items()})
    return words


def _gate(words: str) -> str:
    """A gate with the names of its keys and resources in Chinese; what else they are stays as programs print it."""
    keys = "|".join(map(re.escape, _tables()["gates"]))
    words = re.sub(r"(?<=resource: )[^;]+", lambda found: _resources(found[0]), words)
    return re.sub(
        rf"(\A|; )({keys}): ", lambda found: f"{'；' if found[1] else ''}{label('gates', found[2], 'zh')}：", words
    )


def _resources(names: str) -> str:
    """The resources that two errors name, "shared memory / threads"."""
    return " / ".join(label("resources", name, "zh") for name in names.split(" / "))


@cache
def _patterns(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = _tables()[name].values()
    return tuple((warm.pattern(_SLOT.sub(r"(?P<\1>.+)", re.escape(row["en"]))), row["zh"]) for row in rows)


#: A slot of a sentence, escaped as a pattern is.
_SLOT = warm.pattern(r"\\\{(\w+)\\\}")


def counted(key: str, number: int, lang: str) -> str:
    """A number with its noun, in its singular where English has one: 2 of `reports` are "2 份报告" in Chinese."""
    row = _tables()["counts"][key]
    form = row.get("one", row["en"]) if lang == "en" and number == 1 else row[lang]
    return form.replace("{n}", f"{number:,}")


def written_day(day: str, lang: str) -> str:
    """An ISO date as people write it: "11 March 2026", "2026 年 3 月 11 日"; what is no date stays as it is."""
    if lang == "zh":
        return text.written_day(day)
    parts = day.split("-")
    if len(parts) != 3 or not all(part.isdigit() for part in parts) or not 1 <= int(parts[1]) <= len(_MONTHS):
        return day
    return f"{int(parts[2])} {_MONTHS[int(parts[1]) - 1]} {int(parts[0])}"


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
