"""Acts that stand in a block of code beside words that advise them or say that they helped: "Please run", a command.

Neither says it alone. The command is what is quoted, the words stand with it as its passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pipeline.distil import actions, tables
from pipeline.distil.claims.passages import Passage, inside
from pipeline.distil.claims.prose import MAX_QUOTE, Prose, Sentence, quote
from pipeline.distil.claims.rules import Finding
from pipeline.distil.project import Project, project
from pipeline.distil.tables import CueKind
from pipeline.records import Outcome, PostKind
from pipeline.text import language_of
from pipeline.text.needed import late
from pipeline.text.units import Unit, UnitKind

#: A block of more lines is a script, a log or a configuration.
_MOST_LINES = 3
#: What a longer post advises is one step of several.
_MOST_ADVISING = 1_500
_PROMPT = re.compile(r"^\s*(?:[$>%#] |!(?=\w)|PS [^>]{0,60}> |sudo )*\s*")
_COMMENT = re.compile(r"^\s*(?:#|//|REM )")
_SAID = frozenset({UnitKind.SENTENCE, UnitKind.ITEM, UnitKind.HEADING})


@dataclass(frozen=True, slots=True)
class _Row:
    cue: tables.Cue
    is_before: bool


@cache
def _rows() -> tuple[_Row, ...]:
    return tuple(
        _Row(
            tables.Cue(
                rule=row["id"],
                kind=CueKind.REMEDY,
                outcome=Outcome(row["outcome"]) if "outcome" in row else None,
                lang=row["lang"],
                stems=(),
                pattern=late(row["pattern"], re.IGNORECASE),
                then=None,
                refuse=late(row["refuse"], re.IGNORECASE),
                needs="fact",
                only=frozenset(row.get("only", ())),
                answers=True,
                act="before",
            ),
            row["place"] == "before",
        )
        for row in tables.table("blocks.toml")["row"]
    )


@cache
def _asks() -> re.Pattern[str]:
    return late(tables.table("blocks.toml")["asks"]["pattern"], re.IGNORECASE)


def reads(words: str, place: str) -> tables.Cue | None:
    """The row that reads `words` "before" or "after" a block, None if they say nothing of it."""
    lang = language_of(words)
    for row in _rows():
        if row.is_before != (place == "before") or (row.cue.lang != lang and lang in {"en", "zh"}):
            continue
        if row.cue.pattern.search(words) and not (row.cue.refuse and row.cue.refuse.search(words)):
            return row.cue
    return None


def asks(post: str) -> bool:
    """True if a post wants to know something: what it has run is no advice."""
    return _asks().search(post) is not None


def findings(prose: Prose) -> Iterator[tuple[Finding, Passage]]:
    """Every act of a block in a comment with the words that say of it what it is for."""
    document = prose.document
    if not _has_block(document.text):
        return
    asking = {post.author_hash for post in document.posts if post.kind == PostKind.BODY} - {None}
    pieces = prose.units
    known = project(document)
    for block in pieces:
        post = document.posts[block.post] if block.post >= 0 else None
        if block.kind != UnitKind.CODE or post is None or post.kind != PostKind.COMMENT or post.is_bot:
            continue
        span = inside(document.text, block.start, block.end)
        if span is None or span[1] - span[0] > MAX_QUOTE:
            continue
        act = _act(document.text[slice(*span)], known)
        if act is None:
            continue
        told = _told(prose, pieces, block)
        if told is None:
            continue
        cue, words = told
        if cue.only and act.fact.template not in cue.only:
            continue
        is_advice = cue.outcome is None
        is_long = post.end - post.start > _MOST_ADVISING
        if is_advice and (is_long or post.author_hash in asking or asks(document.text[post.start : post.end])):
            continue
        sentence = Sentence(*span, document.text[slice(*span)].replace("\n", " "), block.post)
        beside = quote(document, words.start, words.end, post=block.post)
        yield Finding(cue, sentence, *span, act.fact, act.key, cue.lang), Passage(*span, beside, is_cut=False)


def _has_block(text: str) -> bool:
    return "```" in text or "~~~" in text or "{code" in text or "{noformat" in text


def _told(prose: Prose, pieces: list[Unit], block: Unit) -> tuple[tables.Cue, Unit] | None:
    """(the row, the unit) of the words right before the block, else right behind it."""
    for place, number in (("before", block.number - 1), ("after", block.number + 1)):
        unit = pieces[number] if 0 <= number < len(pieces) else None
        if unit is None or unit.post != block.post or unit.kind not in _SAID or unit.end - unit.start > MAX_QUOTE:
            continue
        cue = reads(prose.document.text[unit.start : unit.end].replace("\n", " "), place)
        if cue is not None:
            return cue, unit
    return None


def _act(block: str, known: Project | None) -> actions.Action | None:
    """The one act that the lines of a block type; None for several, and where a line is of no act."""
    lines = [_PROMPT.sub("", line) for line in block.split("\n") if line.strip() and not _COMMENT.match(line)]
    if not 0 < len(lines) <= _MOST_LINES:
        return None
    acts = [actions.action(f"`{line.strip()}`", known) for line in lines]
    told = [act for act in acts if act is not None]
    return told[0] if len(told) == len(lines) and len({act.key for act in told}) == 1 else None
