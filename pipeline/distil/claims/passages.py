"""Words and the block that they announce ("add this line:"), advise or confirm: neither says it without the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from pipeline.distil import actions, tables
from pipeline.distil.claims import replies
from pipeline.distil.claims.prose import MAX_QUOTE, Prose, Sentence, quote
from pipeline.distil.claims.rules import Finding
from pipeline.distil.project import Project, project
from pipeline.distil.tables import CueKind
from pipeline.records import Claim, ClaimKind, Document, Event, Outcome, PostKind, Quote, Skipped
from pipeline.text import language_of
from pipeline.text.needed import late
from pipeline.text.units import Unit, UnitKind, units

_FENCED = re.compile(r"[ \t>]{0,8}(?:`{3,40}|~{3,40})[^\n]*\n?|\{(?:code|noformat)[^}\n]{0,80}\}\n?")
_FENCE_ENDS = re.compile(r"\n?[ \t>]{0,8}(?:`{3,40}|~{3,40})[ \t]{0,40}\Z|\n?\{(?:code|noformat)\}\Z")
_ENDED = re.compile(r"[.!?:;。！？：；][\s*_)\"'`]{0,9}\Z")


class Passage(NamedTuple):
    """A statement that stands in two places: the words to quote, and what belongs to them."""

    start: int
    end: int
    beside: Quote
    is_cut: bool  # the block goes on behind what is quoted of it


def behind(document: Document, pieces: Sequence[Unit], start: int, end: int) -> Passage | None:
    """The words at a span with the block or the list that follows them at once; None where neither does."""
    following = next((piece for piece in pieces if piece.start >= end), None)
    if following is None or following.kind not in (UnitKind.CODE, UnitKind.ITEM):
        return None
    if following.post != document.post_at(start) or document.text[end : following.start].strip(" \t\n*_:：."):
        return None
    last = following
    if following.kind == UnitKind.ITEM:
        for piece in pieces[following.number + 1 :]:
            if piece.kind != UnitKind.ITEM or piece.post != following.post:
                break
            last = piece
    return _passage(document, (start, end), following.start, last.end)


#: Code that nobody fenced is lines of these.
_LINES = frozenset({UnitKind.SENTENCE, UnitKind.OUTPUT})
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def below(document: Document, pieces: Sequence[Unit], events: Sequence[Event], start: int, end: int) -> Passage | None:
    """The words at a span with the block, the list or the lines that follow them at once; None for an error's text."""
    found = behind(document, pieces, start, end)
    if found is not None:
        return found
    following = next((piece for piece in pieces if piece.start >= end), None)
    if following is None or following.kind not in _LINES or following.post != document.post_at(start):
        return None
    between = document.text[end : following.start]
    until = document.posts[following.post].end
    parted = _PARAGRAPH.search(document.text, following.start, until)
    until = len(document.text[: parted.start() if parted else until].rstrip())
    is_shown = any(event.start < until and following.start < event.end for event in events)
    if is_shown or "\n" not in between or between.strip(" \t\n*_:：."):
        return None
    return _passage(document, (start, end), following.start, until)


def pointed_at(document: Document, pieces: Sequence[Unit], start: int, end: int) -> Passage | None:
    """What a reader pointed at as a passage: words with the block behind them, a block or an item with the words that
    announce it; None for words that stand alone.
    """
    unit = next((piece for piece in pieces if piece.start <= start < piece.end), None)
    if unit is None:
        return None
    if unit.kind not in (UnitKind.CODE, UnitKind.ITEM):
        is_announced = replies.announces(document.text[start : unit.end])
        found = behind(document, pieces, start, unit.end) if end > unit.end or is_announced else None
        following = next((piece.start for piece in pieces[unit.number + 1 :] if piece.start < end), None)
        if found is not None or following is None or not is_announced:
            return found
        return _passage(document, (start, unit.end), following, end)
    before = next((p for p in reversed(pieces[: unit.number]) if p.kind != unit.kind or p.kind == UnitKind.CODE), None)
    if before is None or before.post != unit.post or not _announces(document, before):
        return None
    if unit.kind == UnitKind.CODE:
        return _passage(document, (before.start, before.end), unit.start, unit.end)
    return Passage(start, end, quote(document, before.start, before.end, post=unit.post), is_cut=False)


def led(document: Document, events: Sequence[Event], start: int, end: int) -> Quote | None:
    """The sentence right before the words at a span, of the same post, if it names what they may point at."""
    pieces = units(document, list(events))
    place = next((n for n, piece in enumerate(pieces) if piece.start <= start < piece.end), 0)
    before = pieces[place - 1] if place else None
    if before is None or before.kind != UnitKind.SENTENCE or before.post != pieces[place].post:
        return None
    begin = before.start
    for earlier in reversed(pieces[: before.number]):  # a sentence that was wrapped is a unit for each of its lines
        gap = document.text[earlier.end : begin]
        is_same = earlier.kind == UnitKind.SENTENCE and earlier.post == before.post and gap == "\n"
        if not is_same or _ENDED.search(document.text, earlier.start, earlier.end):
            break
        begin = earlier.start
    words = document.text[begin : before.end]
    is_shown = any(event.start < end and begin < event.end for event in events)
    if is_shown or document.text[before.end : start].strip() or words.rstrip().endswith(("?", "？", ":", "：")):
        return None
    is_named = actions.has_object(words) or '"' in words
    return quote(document, begin, before.end, post=before.post) if is_named and len(words) <= MAX_QUOTE else None


def _announces(document: Document, unit: Unit) -> bool:
    is_said = unit.kind in (UnitKind.SENTENCE, UnitKind.HEADING, UnitKind.ITEM)
    return is_said and tables.ends_open(document.text[max(unit.start, unit.end - 10) : unit.end])


def _passage(document: Document, words: tuple[int, int], start: int, end: int) -> Passage | None:
    """`words` and the block at `start`, its fence left out, cut at the end of a line; None for an empty block."""
    text = document.text
    found = inside(text, start, end)
    if found is None:
        return None
    start, end = found
    until = end
    if end - start > MAX_QUOTE:
        line = text.rfind("\n", start, start + MAX_QUOTE)
        until = line if line > start else start + MAX_QUOTE
    if not text[start:until].strip():
        return None
    return Passage(*words, quote(document, start, until, post=document.post_at(words[0])), is_cut=until < end)


def inside(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of what stands in the fence of a block; None for an empty one."""
    opened = _FENCED.match(text, start, end)
    start = opened.end() if opened else start
    closed = _FENCE_ENDS.search(text, start, end)
    end = closed.start() if closed else end
    return (start, end) if text[start:end].strip() else None


def announced(text: Prose, finding: Finding) -> Passage | None:
    """The finding's words with the block that they announce, None if they announce none."""
    sentence = finding.sentence
    if (finding.start, finding.end) != (sentence.start, sentence.end):
        return None
    if not replies.announces(sentence.text):
        return None
    return behind(text.document, text.units, finding.start, finding.end)


def with_block(text: Prose, finding: Finding, claim: Claim | Skipped) -> Claim | Skipped:
    """The claim of an act with the block that its words announce."""
    if isinstance(claim, Skipped) or claim.kind != ClaimKind.REMEDY:
        return claim
    found = announced(text, finding)
    return claim if found is None else with_passage(claim, found)


def with_passage(claim: Claim, found: Passage) -> Claim:
    """The claim with what belongs to its quote; a block of one line is a command, and may type the act."""
    act = actions.action(f"`{found.beside.text.strip()}`") if "\n" not in found.beside.text.strip() else None
    if claim.fact is None and claim.kind == ClaimKind.REMEDY and act is not None and not found.is_cut:
        claim = replace(claim, fact=act.fact, key=act.key)
    return replace(claim, passage=found.beside, is_passage_cut=found.is_cut)


# Acts that stand in a block of code beside words that advise them or say that they helped: "Please run", a command.
# Neither says it alone. The command is what is quoted, the words stand with it as its passage.

#: A block of more lines is a script, a log or a configuration.
_MOST_LINES = 3
#: What a longer post advises is one step of several.
_MOST_ADVISING = 1_500
_PROMPT = re.compile(r"^\s*(?:[$>%#] |!(?=\w)|PS [^>]{0,60}> |sudo )*\s*")
_COMMENT = re.compile(r"^\s*(?:#|//|REM )")
#: What is set for one command alone is part of that command.
_SETS = "remedy.set_env"
_ASSIGNED = re.compile(
    r"(?:export |set |setx |declare -x |\$env:)?\s*\w+(?:\s?=\s?|\s+)(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"']+)", re.I
)
_SAID = frozenset({UnitKind.SENTENCE, UnitKind.ITEM, UnitKind.HEADING})


@dataclass(frozen=True, slots=True)
class _Beside:
    cue: tables.Cue
    is_before: bool


@cache
def _beside_rows() -> tuple[_Beside, ...]:
    return tuple(
        _Beside(
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


def told_beside(words: str, place: str) -> tables.Cue | None:
    """The row that reads `words` "before" or "after" a block, None if they say nothing of it."""
    lang = language_of(words)
    for row in _beside_rows():
        if row.is_before != (place == "before") or (row.cue.lang != lang and lang in {"en", "zh"}):
            continue
        if row.cue.pattern.search(words) and not (row.cue.refuse and row.cue.refuse.search(words)):
            return row.cue
    return None


def is_asking(post: str) -> bool:
    """True if a post wants to know something: what it has run is no advice."""
    return _asks().search(post) is not None


def acts(prose: Prose) -> Iterator[tuple[Finding, Passage]]:
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
        told = _told(prose, pieces, block)
        span = inside(document.text, block.start, block.end)
        if told is None or span is None or span[1] - span[0] > MAX_QUOTE:
            continue
        cue, words = told
        act = _act(document.text[slice(*span)], known)
        if act is None or (cue.only and act.fact.template not in cue.only):
            continue
        is_advice = cue.outcome is None
        is_long = post.end - post.start > _MOST_ADVISING
        if is_advice and (is_long or post.author_hash in asking or is_asking(document.text[post.start : post.end])):
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
        cue = told_beside(prose.document.text[unit.start : unit.end].replace("\n", " "), place)
        if cue is not None:
            return cue, unit
    return None


def _act(block: str, known: Project | None) -> actions.Action | None:
    """The one act that the lines of a block type; None for several, and where a line is of no act."""
    lines = [_PROMPT.sub("", line) for line in block.split("\n") if line.strip() and not _COMMENT.match(line)]
    if not 0 < len(lines) <= _MOST_LINES:
        return None
    acts = [actions.action(f"`{line.strip()}`", known) for line in lines]
    told = [
        act
        for act, line in zip(acts, lines, strict=True)
        if act is not None and (act.fact.template != _SETS or _ASSIGNED.fullmatch(line.strip()))
    ]
    return told[0] if len(told) == len(lines) and len({act.key for act in told}) == 1 else None
