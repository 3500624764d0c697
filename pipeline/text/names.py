"""Names and passwords that stand where a row of people.toml says: who wrote, who is logged in, a column of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.records import warm
from pipeline.text.needed import late
from pipeline.text.tokens import SECRET, PlaceGate, Span

#: Rows of a table that are looked at, and characters of a line of it.
_MOST_ROWS, _LONGEST_ROW = 200, 2000
#: A cell of fewer characters, or one that is masked, is no password.
_LEAST_CELL = 4
_MASKED = warm.pattern(r"[*xX.•-]+$|<[^<>]*>$|(?i:null|none|true|false|string|text|varchar.*|char.*|n/?a)$")
_RULE = warm.pattern(r"[-+|:=\s]+$")


@dataclass(frozen=True, slots=True)
class Named:
    """A name of a person behind or in front of what says that it is one."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    pattern: re.Pattern[str]
    keep: frozenset[str]  # names of nobody, in small letters
    written: str

    def spans(self, text: str) -> Iterator[Span]:
        """The places of the names."""
        for match in self.pattern.finditer(text):
            name = match["name"]
            if not any(word in self.keep for word in (name.lower(), *name.lower().split())):
                yield (*match.span("name"), self.written)


@dataclass(frozen=True, slots=True)
class Column:
    """The cells of a table below a heading that says that secrets stand there."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    heading: re.Pattern[str]  # a line with the heading between two bars, in the group `cell`

    def place_gate(self, keyword: str) -> PlaceGate:
        """A rule of a table, which is made of dashes, stands below the heading."""
        return lambda bare, start: b"--" in bare[start : start + _LONGEST_ROW // 4]

    def spans(self, text: str) -> Iterator[Span]:
        """The places of the cells."""
        done = 0
        for match in self.heading.finditer(text):
            line_start = text.rfind("\n", 0, match.start()) + 1
            if line_start < done or match.start() - line_start > _LONGEST_ROW:
                continue
            column = text.count("|", line_start, match.start("cell"))
            done = line_start
            for start, end in _rows(text, match.end()):
                done = end
                yield from _cell(text, start, end, column)


def _rows(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Where the lines of a table begin and end that stand below a place."""
    end = text.find("\n", position)
    for _ in range(_MOST_ROWS):
        start = end + 1
        if not start or start >= len(text):
            return
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        if len(line) > _LONGEST_ROW or ("|" not in line and not _RULE.match(line)):
            return
        if "|" in line and not _RULE.match(line):
            yield start, start + len(line)


def _cell(text: str, start: int, end: int, column: int) -> Iterator[Span]:
    for _ in range(column):
        start = text.find("|", start, end) + 1
        if not start:
            return
    stop = text.find("|", start, end)
    cell = text[start : stop if stop >= 0 else end]
    value = cell.strip(" \t`*")
    if len(value) < _LEAST_CELL or _MASKED.match(value) or " " in value or len(set(value)) == 1:
        return
    first = start + cell.index(value)
    yield (first, first + len(value), SECRET)


def named_rules(table: Mapping[str, Any]) -> tuple[Named | Column, ...]:
    """The rows of `named` and of `column`."""
    nobody = frozenset(table["machines"]["names"])
    return (
        *(
            Named(
                name=row["name"],
                keywords=tuple(row["keywords"]),
                gate=late(row["gate"]) if "gate" in row else None,
                pattern=late(row["pattern"].replace("{person}", _PERSON).replace("{login}", _LOGIN), re.MULTILINE),
                keep=nobody | frozenset(row.get("keep", ())),
                written=row.get("written", "user"),
            )
            for row in table["named"]
        ),
        *(
            Column(
                name="column of secrets",
                keywords=tuple(row["keywords"]),
                gate=warm.pattern(r"\|"),
                heading=warm.pattern(rf"\|[ \t`*]{{0,20}}(?P<cell>(?:{row['heading']})[ \t`*]{{0,60}})(?=\|)"),
            )
            for row in table["column"]
        ),
    )


# A word that begins with a capital, or one of a script that has none; two to four of them.
_WORD = r"(?:[A-Z\u00c0-\u00de\u0386-\u03ab\u0410-\u042f\u0401\u0404\u0406\u0407\u0490][^\W\d_]*(?:[-'’][^\W\d_]+)?\.?)"
_BETWEEN = r"(?:(?:van|von|de|der|den|da|di|del|la|le|bin|al|ten) ){0,2}"
_PERSON = (
    rf"(?P<name>{_WORD}(?: {_BETWEEN}{_WORD}){{1,3}}"
    r"|[\u4e00-\u9fff]{2,4}(?![\u4e00-\u9fff])|[\uac00-\ud7af]{2,4}(?![\uac00-\ud7af]))"
)
_LOGIN = r"(?P<name>[A-Za-z_][\w.-]{1,31})"
