"""One signature for a whole log or message: the event that is the error, or the text itself where there is no event."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.normalise import line_rank
from pipeline.normalise.assemble import read, signed
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
    chosen = main_event(text, events)
    own = chosen or own_event(text)
    found = culprit(own)
    if len(text) <= MESSAGE_LENGTH:
        for event, said, why in _better(text, events, found, chosen):
            noted = replace(said, notes=(*said.notes, why))
            return signed(event, noted, read(noted), text)
    return signed(own, found, read(found, own.frames), text)


def main_event(text: str, events: Sequence[Event]) -> Event | None:
    """The event that tells what went wrong with a text that tells of one error; None if there is no event."""
    return _chosen(_of_first_rank(events, text))


def _better(
    text: str, events: Sequence[Event], found: Culprit, chosen: Event | None
) -> Iterator[tuple[Event, Culprit, str]]:
    """What says more of a short text's error than the words found, the best first, and why; `chosen`: its event.

    A message is pasted with its lines broken, in quotes, behind the signal that followed from it; a log is not looked
    through like this, since what else it holds are other errors.
    """
    is_own = chosen is None
    if chosen is not None and _only_died(found):
        event = _before_death(text)
        if event is not None:
            yield (
                event,
                culprit(event),
                "last-words: what was printed before the process died says more",
            )
    if found.hit is not None and found.hit.tier in WEAK_TIERS:
        yield from _causes(text)
    whole = own_event(text, at=0)
    said = culprit(whole)
    if is_own:
        if found.hit is None and is_known(said):
            yield whole, said, "whole-text: a known error stands behind the most telling line"
    else:
        if ("code", "cuda:cudaErrorAssert") in (found.hit.gate if found.hit else ()) and _is_tool(said):
            yield whole, said, "asserted: what the device asserted says more than that it did"
        if sum(map(_says_an_error, events)) > 1:
            return  # what stands elsewhere is another error
        is_unwrapped = said.rule == "own-message" and any(note.startswith("unwrap-") for note in said.notes)
        is_better = said.rule == "tool-diagnostic" or (_is_weak(found) and not _is_weak(said))
        is_open = found.hit is None or found.hit.tier in WEAK_TIERS
        if found.rule != "tool-diagnostic" and (is_better or (is_open and is_unwrapped)):
            yield whole, said, "whole-text: the message goes on past a broken line"
    if _is_weak(found):
        # what was logged before a traceback is something else
        yield from _reread(text[chosen.start :] if chosen is not None and chosen.dialect == "python" else text)


def _causes(text: str) -> Iterator[tuple[Event, Culprit, str]]:
    """The lines that print an error of their own beside words that only say that something failed."""
    for line in filter(line_rank.is_printed, text.split("\n")):
        event = replace(own_event(line, at=0), end=len(text))
        said = culprit(event)
        if said.hit is None or said.hit.tier not in WEAK_TIERS:
            yield event, said, "whole-text: the event only says that something failed; another line says what"


def _reread(text: str) -> Iterator[tuple[Event, Culprit, str]]:
    """The known errors that the text says when its lines are joined, or that it quotes."""
    for words in (_joined(text), *quoted(text)):
        event = replace(own_event(words), end=len(text))
        said = culprit(event)
        if is_known(said):
            yield event, said, "joined-lines: the words are known where lines are joined or quotes are opened"


def _joined(text: str) -> str:
    return " ".join(_MARKED.sub(" ", text).split())


def quoted(text: str) -> Iterator[str]:
    """The words that a text shows in quotes or in a cell of a table."""
    for found in _QUOTED.finditer(_joined(text)):
        yield found[0].strip('`"“”| ')


def _says_an_error(event: Event) -> bool:
    """Whether the event tells of an error; frames whose end was cut tell of none."""
    return event.severity == "error" and bool(event.exception_type or event.message)


def _is_weak(found: Culprit) -> bool:
    """Whether better words may stand elsewhere: nothing is known, or only a wrapper, or that the process ended."""
    return found.hit is None or found.hit.tier in (*WEAK_TIERS, "head")


def is_known(found: Culprit) -> bool:
    """Whether the words are a known error wherever they stand in a text."""
    return not _is_weak(found) and found.hit is not None and found.hit.tier != "late"


def _is_tool(found: Culprit) -> bool:
    return found.hit is not None and found.hit.tier == "tool"


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
    if found.hit is not None:
        return severity, 0, -place  # of wrappers the first
    return severity, 0 if event.message.endswith(("...", "…")) else 1, place  # a test's summary cuts the message


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
    return found.hit is not None and found.hit.rule == "exit-signal"


def is_place_or_death(line: str) -> bool:
    """Whether a line says no more than that a process died, or shows a place on a stack."""
    return bool(_DEATH.search(line) or _STACK.match(line))


def _before_death(text: str) -> Event | None:
    """The most telling line that is neither a signal nor a place on a stack, as an event; None if there is none."""
    lines = [line for line in text.split("\n") if line.strip() and not is_place_or_death(line)]
    best = max(lines, key=line_rank.line_rank, default="")
    return own_event("\n".join(lines), at=lines.index(best)) if line_rank.line_rank(best) else None


def own_event(text: str, at: int | None = None) -> Event:
    """The text's own message as an event: from its most telling line, or from line `at`."""
    body = text.strip("\n")
    lines = [line for line in body.split("\n") if line.strip()] or [text.strip()]
    best = max(range(len(lines)), key=lambda index: (line_rank.line_rank(lines[index]), -index)) if at is None else at
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
