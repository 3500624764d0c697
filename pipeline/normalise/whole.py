"""One signature for a whole log or message: the event that is the error, or the text itself where there is no event."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipeline.normalise import told
from pipeline.normalise.assemble import read, signature, signed
from pipeline.normalise.culprit import WEAK_TIERS, Culprit, culprit, is_wrapping
from pipeline.records import Event, Signature

#: A log with more events than this is read from both ends: what began it and what ended it stand there.
READ_EVENTS = 60

#: A text up to this length is one message, perhaps broken over lines; a longer one is a log.
MESSAGE_LENGTH = 1500

#: torchrun's report: which rank (in all, on its host) failed first.
_FIRST_FAILURE = "Root Cause (first observed failure)"
_FIRST_RANK = re.compile(r"\brank[ \t]{1,8}: (\d{1,6}) \(local_rank: (\d{1,6})\)")
_RANK = re.compile(r"\[(rank|default)[ _]?(\d{1,6})\]:")
#: A line's rank is looked for so far.
RANK_WIDTH = 60

#: What stands before the words of a line that goes on: a quote mark, a comment's, a list's.
_MARKED = re.compile(r"\n[ \t]{0,80}(?:(?:>|#|//|\*)[ \t]{1,40}){0,3}")
#: Words that prose quotes, or that a table holds in a cell.
_QUOTED = re.compile(r"`[^`]{12,600}`|\"[^\"]{20,600}\"|“[^“”]{12,600}”|\|[^|]{12,600}(?=\|)")
#: A line that says no more than that a process died, and one that shows a place on a stack or a listing.
_DEATH = re.compile(
    r"\b(?:core dumped|Fatal Python error|SIG(?:SEGV|ABRT|KILL|BUS|ILL|FPE|TERM)|[Ss]egmentation fault)"
    r"|\bexit(?:ed with)? code|\b[Ss]ignal\b|\bexited\b"
    r"|^\W{0,8}(?:Aborted|Killed|Bus error|Illegal instruction|Floating point exception)\W{0,4}$"
    r"|^(?:\S{1,60} )?line \d{1,6}: {1,4}\d{1,8} (?:Aborted|Killed)"
)
_STACK = re.compile(
    r"\s{0,12}(?:File \"|#\d|@ |at \S|Thread 0x|Current thread|\[?<?0x|frame #|\[\w[\w:.-]{0,60}\] \[ ?\d|\+?0x"
    r"|Extension modules|Stack trace|\[bt\])"
)


def signature_of_text(text: str, events: Sequence[Event] = ()) -> Signature:
    """The signature of the text as a whole; a text without any event is its own message, so nothing stays ungrouped."""
    chosen = _chosen(_of_first_rank(events, text))
    if chosen is None:
        return _of_own_words(text)
    found = culprit(chosen)
    if _only_died(found) and len(text) <= MESSAGE_LENGTH:
        last_words = _before_death(text)
        if last_words is not None:
            again = culprit(last_words)
            note = "last-words: what was printed before the process died says more than its signal"
            return signed(last_words, replace(again, notes=(*again.notes, note)), read(again), text)
    if ("code", "cuda:cudaErrorAssert") in (found.hit.gate if found.hit else ()) and len(text) <= MESSAGE_LENGTH:
        whole = _own_event(text, at=0)
        asserted = culprit(whole)
        if asserted.hit is not None and asserted.hit.tier == "tool":
            note = "asserted: what the device asserted says more than that it did"
            return signed(whole, replace(asserted, notes=(*asserted.notes, note)), read(asserted), text)
    cause = _cause(text) if _only_failed(found) else None
    if cause is not None:
        return cause
    is_one = sum(_says_an_error(event) for event in events) <= 1  # what stands elsewhere is no other error
    if len(text) <= MESSAGE_LENGTH and is_one and found.rule != "tool-diagnostic":
        whole = _own_event(text, at=0)
        again = culprit(whole)
        is_unwrapped = again.rule == "own-message" and any(note.startswith("unwrap-") for note in again.notes)
        is_better = again.rule == "tool-diagnostic" or (_is_weak(found) and not _is_weak(again))
        if is_better or (found.hit is None and is_unwrapped):
            note = "whole-text: the message goes on past a broken line"
            again = replace(again, notes=(*again.notes, note))
            return signed(whole, again, read(again), text)
    otherwise = _otherwise(text) if is_one and _is_weak(found) else None
    return otherwise or signed(chosen, found, read(found, chosen.frames), text)


def _otherwise(text: str) -> Signature | None:
    """The known error that a short text says when its lines are joined, or that it quotes; None if it says none."""
    if len(text) > MESSAGE_LENGTH:
        return None
    joined = " ".join(_MARKED.sub(" ", text).split())
    for words in (joined, *(found[0].strip('`"“”| ') for found in _QUOTED.finditer(joined))):
        event = replace(_own_event(words), end=len(text))
        found = culprit(event)
        if found.hit is not None and found.hit.tier not in (*WEAK_TIERS, "head", "late"):
            note = "joined-lines: the words are known where lines are joined or quotes are opened"
            return signed(event, replace(found, notes=(*found.notes, note)), read(found), text)
    return None


def _says_an_error(event: Event) -> bool:
    """Whether the event tells of an error; frames whose end was cut tell of none."""
    return event.severity == "error" and bool(event.exception_type or event.message)


def _is_weak(found: Culprit) -> bool:
    """Whether better words may stand elsewhere: nothing is known, or only a wrapper, or that the process ended."""
    return found.hit is None or found.hit.tier in (*WEAK_TIERS, "head")


def _of_own_words(text: str) -> Signature:
    """The signature of a text without an event: its most telling line, else a known error wherever it stands."""
    event = _own_event(text)
    found = culprit(event)
    cause = _cause(text) if _only_failed(found) else None
    if cause is not None:
        return cause
    if len(text) <= MESSAGE_LENGTH and found.hit is None:
        whole = _own_event(text, at=0)
        again = culprit(whole)
        if again.hit is not None and again.hit.tier not in (*WEAK_TIERS, "head", "late"):
            return signed(whole, again, read(again), text)
    otherwise = _otherwise(text) if _is_weak(found) else None
    return otherwise or signature(event, text)


def _only_failed(found: Culprit) -> bool:
    """Whether the words only say that something failed."""
    return found.hit is not None and found.hit.tier in WEAK_TIERS


def _cause(text: str) -> Signature | None:
    """The signature of the first line of a message that prints an error of its own."""
    for line in text.split("\n") if len(text) <= MESSAGE_LENGTH else ():
        if told.is_printed(line):
            event = replace(_own_event(line, at=0), end=len(text))
            found = culprit(event)
            if not _only_failed(found):
                note = "whole-text: the event only says that something failed; another line says what"
                return signed(event, found, read(replace(found, notes=(*found.notes, note))), text)
    return None


def _chosen(events: Sequence[Event]) -> Event | None:
    """Tool diagnostic, then the last error of a known kind, then the last error, then what is left."""
    if len(events) > READ_EVENTS:
        events = (*events[: READ_EVENTS // 2], *events[-READ_EVENTS // 2 :])
    ranked = [(_rank(event, place), event) for place, event in enumerate(events)]
    return max(ranked, key=lambda pair: pair[0])[1] if ranked else None


def _rank(event: Event, place: int) -> tuple[int, int, int]:
    severity = {"error": 2, "interruption": 1}.get(event.severity, 0)
    if event.exception_type is None and not event.message:
        return severity, -1, place  # a traceback whose end was cut says least
    found = culprit(event)
    if event.dialect == "signal" or is_wrapping(found.exception_type, found.message):
        return severity, 0, place  # it tells how another error ended
    if found.hit is not None and found.hit.tier == "tool":
        return severity, 3, -place  # the first diagnostic; later ones follow from it
    if found.hit is not None and found.hit.tier not in (*WEAK_TIERS, "head"):
        return severity, 2, place
    return severity, 1 if found.hit is None else 0, place


def _of_first_rank(events: Sequence[Event], text: str) -> Sequence[Event]:
    """The events without those of other ranks, where a launcher says which rank failed first: theirs follow from it."""
    told = text.find(_FIRST_FAILURE)
    first = _FIRST_RANK.search(text, told, told + 900) if told >= 0 else None
    if first is None:
        return events
    kept = [event for event in events if _rank_of(event, text) in (None, ("rank", first[1]), ("default", first[2]))]
    return kept or events


def _rank_of(event: Event, text: str) -> tuple[str, str] | None:
    """What the prefix of the event's first line says of the process that printed it."""
    line = text.rfind("\n", 0, event.start) + 1
    named = _RANK.findall(text, line, event.start + RANK_WIDTH)
    return named[-1] if named else None


def _only_died(found: Culprit) -> bool:
    """Whether all that is known is the signal by which a process ended."""
    return found.hit is not None and found.hit.rule in ("exit-signal", "python-fatal-signal")


def _before_death(text: str) -> Event | None:
    """The most telling line that is neither a signal nor a place on a stack, as an event; None if there is none."""
    lines = [line for line in text.split("\n") if line.strip() and not _DEATH.search(line) and not _STACK.match(line)]
    best = max(lines, key=told.line_rank, default="")
    return _own_event("\n".join(lines), at=lines.index(best)) if told.line_rank(best) else None


def _own_event(text: str, at: int | None = None) -> Event:
    """The text's own message as an event: from its most telling line, or from line `at`."""
    body = text.strip("\n")
    lines = [line for line in body.split("\n") if line.strip()] or [text.strip()]
    best = max(range(len(lines)), key=lambda index: (told.line_rank(lines[index]), -index)) if at is None else at
    detail = "\n".join(lines[best : best + 40])
    return Event(
        dialect="message",
        exception_type=None,
        message=lines[best],
        detail=detail,
        frames=(),
        chain=(),
        codes=(),
        start=0,
        end=len(text),
        is_truncated=text.rstrip().endswith(("...", "…")),
        severity="error",
    )
