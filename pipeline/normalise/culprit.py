"""Which words of an event are the error: a tool's diagnostic, else the root cause, else the outer wrapper.

Every choice carries the name of its rule; :data:`RULES` lists them in the order in which they are tried.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.normalise import peel
from pipeline.normalise.families import TOOL_SEARCHED, Hit, known_error, official_code, tool_error
from pipeline.normalise.tables import Clues, Wrapper, clues, wording
from pipeline.records import Event, short_class, warm

RULES = (
    "tool-diagnostic",  # ptxas, nvcc, LLVM, MLIR, a device assert, wherever the event quotes it
    "known-error",  # the last printed exception is a known error
    "official-code",  # the event names one official code whose sentence is no known error
    "wrapped-cause",  # the last printed exception only wraps; the newest known error under it
    "root-cause",  # an unknown exception raised from a known one
    "wrapper",  # a known wrapper and nothing known inside
    "own-message",  # nothing is known: the last printed exception's own message
)

#: A known error of these tiers gives way to a better one inside the same event.
WEAK_TIERS = ("wrapper",)

#: The place in a kernel's source that Triton prints before the message of the error there.
_PLACE_ONLY = warm.pattern(r"at \d{1,7}:\d{1,6}:(?=\s|\Z)")
_NESTED = "Traceback (most recent call last)"
_RAISED = warm.pattern(r"^(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{2,80}(?:: [^\n]{0,2000})?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Level:
    """One exception of an event: its type and its message without wrapping words."""

    exception_type: str | None
    message: str
    notes: tuple[str, ...]
    clues: Clues


@dataclass(frozen=True, slots=True)
class Culprit:
    """The words that are the error, the rule that chose them, and the known error that they are, if one."""

    rule: str
    exception_type: str | None
    message: str  # searched text; `hit` counts in it
    hit: Hit | None
    notes: tuple[str, ...]


def culprit(event: Event) -> Culprit:
    """The words of the event that are its error."""
    is_wordless = event.exception_type is not None and not event.message  # its detail is a stack
    own = _level(event.exception_type, "" if is_wordless else event.detail or event.message)
    tool = _tool(event, own)
    if tool is not None:
        return tool
    text, hit = _known(own)
    if hit is not None and hit.tier not in WEAK_TIERS:
        return Culprit("known-error", own.exception_type, text, hit, own.notes)
    official = official_code(event.codes)
    if official is not None:
        return Culprit("official-code", own.exception_type, own.message, official, own.notes)
    inner = _inner(event, own, hit)
    if inner is not None:
        return inner
    if hit is None and own.exception_type is None:
        own, text, hit = _in_sentence(own)
    rule = "own-message" if hit is None else "wrapper" if hit.tier in WEAK_TIERS else "known-error"
    return Culprit(rule, own.exception_type, text if hit else own.message, hit, own.notes)


def _in_sentence(own: Level) -> tuple[Level, str, Hit | None]:
    """The error that a person's sentence tells of, as its own level, where it tells of one."""
    head, newline, rest = own.message.partition("\n")
    raised = peel.raised_in(head)
    if raised == head:
        return own, own.message, None
    kind, words = peel.typed(raised)
    level = Level(
        kind, words + newline + rest, (*own.notes, "told: took the error out of a sentence about it"), own.clues
    )
    return level, *_known(level)


def is_wrapping(exception_type: str | None, message: str) -> bool:
    """Whether an exception only says that another one was raised somewhere: by its type, or no more than a place."""
    return short_class(exception_type) in wording().wrapper_types or _PLACE_ONLY.match(message) is not None


def _tool(event: Event, own: Level) -> Culprit | None:
    text = peel.spaced(event.detail or event.message)
    if event.exception_type is not None and " " in event.exception_type:
        text = f"{event.exception_type}: {text}"  # words of the tool: `internal compiler error`
    hit = tool_error(text, own.clues)
    if hit is not None:
        return Culprit("tool-diagnostic", event.exception_type, text, hit, own.notes)
    for link in event.chain:
        text = peel.spaced(link.detail or link.message)
        hit = tool_error(text, clues(text[:TOOL_SEARCHED]))
        if hit is not None:
            return Culprit("tool-diagnostic", event.exception_type, text, hit, own.notes)
    return None


def _known(level: Level) -> tuple[str, Hit | None]:
    """The level's words as they are searched, with the type before them, and the known error in them."""
    named = f"{level.exception_type}: {level.message}" if level.exception_type else level.message
    return named, known_error(named, level.clues, wraps=is_wrapping(level.exception_type, level.message))


def _inner(event: Event, own: Level, hit: Hit | None) -> Culprit | None:
    is_wrapper = hit is not None or is_wrapping(own.exception_type, own.message)
    for link in reversed(event.chain):
        if not is_wrapper and link.link == "context":
            continue
        level = _level(link.exception_type, link.detail or link.message)
        text, found = _known(level)
        if found is not None and found.tier not in WEAK_TIERS:
            rule = "wrapped-cause" if is_wrapper else "root-cause"
            return Culprit(rule, level.exception_type, text, found, (*own.notes, *level.notes))
        if is_wrapper and level.message and not is_wrapping(level.exception_type, level.message):
            return Culprit("wrapped-cause", level.exception_type, level.message, None, (*own.notes, *level.notes))
    return None


def _level(exception_type: str | None, message: str) -> Level:
    """The exception with boilerplate, prefixes and wrapping words taken off."""
    message = peel.spaced(message[:TOOL_SEARCHED].strip())
    found = clues(f"{exception_type}: {message}")
    text = peel.without_boilerplate(message, found.stops)
    notes: list[str] = []
    if len(text) < len(message):
        notes.append("boilerplate: dropped words that belong to many errors")
    kind, text = peel.typed(text)
    exception_type = kind or exception_type
    if _NESTED in text:
        exception_type, text = _last_raised(exception_type, text, notes)
    for _ in range(5):
        unwrapped = _unwrapped(text, found.wrappers)
        if unwrapped is None:
            break
        rule, kind, text = unwrapped
        exception_type = kind or exception_type
        notes.append(f"unwrap-{rule}: took the message inside")
    head, newline, rest = text.partition("\n")
    head = peel.without_foreign_words(peel.without_prefix(head))
    kind, head = peel.typed(peel.without_prefix(head))
    bare = peel.bare_type(head) if rest.strip() else None
    if bare is not None:
        kind, head, newline, rest = bare, "", "", rest.strip()
    return Level(kind or exception_type, head + newline + rest, tuple(notes), found)


def _unwrapped(text: str, wrappers: Sequence[Wrapper]) -> tuple[str, str | None, str] | None:
    for wrapper in wrappers:
        found = wrapper.pattern.search(text)
        if found is not None and found["inner"].strip():
            named = found.groupdict()
            kind, inner = named.get("type"), found["inner"].strip()
            if "quote" in named:  # as Python prints a string
                inner = inner.replace("\\'", "'").replace('\\"', '"').replace("\\n", "\n")
            again, rest = peel.typed(inner)
            return wrapper.wrapper_id, again or kind, rest
    return None


def _last_raised(exception_type: str | None, text: str, notes: list[str]) -> tuple[str | None, str]:
    """A message that quotes a whole traceback: the exception that this one ends with."""
    place = text.rfind(_NESTED)
    raised = list(_RAISED.finditer(text, place + len(_NESTED)))
    if not raised:
        return exception_type, text
    kind, rest = peel.typed(raised[-1][0] + ("" if ":" in raised[-1][0] else ": -"))
    notes.append("nested-traceback: took the exception that the quoted traceback ends with")
    return kind or exception_type, rest + text[raised[-1].end() :]
