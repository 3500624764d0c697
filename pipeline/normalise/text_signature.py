"""One signature for a whole log or message: the event that is the error, or the text itself where there is no event."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pipeline.normalise import line_rank
from pipeline.normalise.added import EQUIVALENCES, FAMILIES, Known, Renamed
from pipeline.normalise.assemble import chosen_words, is_foreign, read, signed
from pipeline.normalise.culprit import WEAK_TIERS, Culprit, culprit, is_wrapping
from pipeline.normalise.tables import families_of, wording
from pipeline.records import Event, Severity, Signature, warm

#: A log with more events than this is read from both ends: what began it and what ended it stand there.
READ_EVENTS = 60

#: A text up to this length is one message, perhaps broken over lines; a longer one is a log.
MESSAGE_LENGTH = 1500

#: torchrun's report: which rank (in all, on its host) failed first.
_FIRST_FAILURE = "Root Cause (first observed failure)"
_FIRST_RANK = warm.pattern(r"\brank[ \t]{1,8}: (\d{1,6}) \(local_rank: (\d{1,6})\)")
_RANK = warm.pattern(r"\[(rank|default)[ _]?(\d{1,6})\]:")
#: A message that is longer says more than a status.
STATUS_MESSAGE = 300
#: A line's rank is looked for so far.
RANK_WIDTH = 60

#: A message that ends with the status of what it ran: `mpirun failed with exit code 1`, `command 'gcc' failed with exit
#: status 1`, `Error: Process completed with exit code 2.` A status of HTTP is greater.
_EXIT_STATUS = warm.pattern(
    r"\b(?:exit|exited|return|returned)(?:[ _-][\w-]{1,20}){0,4}?[ _-](?:code|status)\b"
    r"[ =:]{0,3}(?:-?\d{1,2}|[12]\d\d|\d{9,10})\W{0,3}\Z",
    re.IGNORECASE,
)

#: What stands before the words of a line that goes on: a quote mark, a comment's, a list's.
_MARKED = warm.pattern(r"\n[ \t]{0,80}(?:(?:>|#|//|\*)[ \t]{1,40}){0,3}")
#: Words that prose quotes, or that a table holds in a cell.
_QUOTED = warm.pattern(r"`[^`]{12,600}`|\"[^\"]{20,600}\"|“[^“”]{12,600}”|\|[^|]{12,600}(?=\|)")
#: A line that says no more than that a process died, and one that shows a place on a stack or a listing.
_DEATH = warm.pattern(
    r"\b(?:core dumped|Fatal Python error|SIG(?:SEGV|ABRT|KILL|BUS|ILL|FPE|TERM)|[Ss]egmentation fault)"
    r"|\bexit(?:ed with)? code|\b[Ss]ignal\b|\bexited\b"
    r"|^\W{0,8}(?:Aborted|Killed|Bus error|Illegal instruction|Floating point exception)\W{0,4}$"
    r"|^(?:\S{1,60} )?line \d{1,6}: {1,4}\d{1,8} (?:Aborted|Killed)"
)
_STACK = warm.pattern(
    r"\s{0,12}(?:File \"|#\d|@ |at \S|Thread 0x|Current thread|\[?<?0x|frame #|\[\w[\w:.-]{0,60}\] \[ ?\d|\+?0x"
    r"|Extension modules|Stack trace|\[bt\])"
)


@dataclass(frozen=True)
class ShortText:
    """A text that is one message, as it was first read: pasted with broken lines, in quotes, behind what followed."""

    text: str
    chosen: Event | None  # the event that is its error, if any is
    culprit: Culprit  # the words of that event, or of the most telling line
    has_others: bool  # other events of the text tell of errors too

    @cached_property
    def whole(self) -> Event:
        """The text as one message, from its first line on."""
        return own_event(self.text, at=0)

    @cached_property
    def whole_culprit(self) -> Culprit:
        """The words of the whole text."""
        return culprit(self.whole)


Reading = tuple[Event, Culprit]


def signature_of_text(text: str, events: Sequence[Event] = ()) -> Signature:
    """The signature of the text as a whole; a text without any event is its own message, so nothing stays ungrouped."""
    chosen = main_event(text, events)
    own = chosen or own_event(text)
    words = culprit(own)
    if len(text) <= MESSAGE_LENGTH:
        short = ShortText(text, chosen, words, sum(map(_says_an_error, events)) > 1)
        own, words = _better(short) or (own, words)
    is_shown = own is chosen
    return signed(
        own, words, read(words, own.frames if is_shown else (), is_foreign=is_shown and is_foreign(own)), text
    )


@EQUIVALENCES.tested
def _renamed(text: str) -> list[Renamed]:
    """The rows that gave the error of the text its name."""
    found = signature_of_text(text).exception_type
    return [row for row in EQUIVALENCES.rows() if found == row.now and any(old in text for old in row.was)]


@FAMILIES.tested
def _known(text: str) -> list[Known]:
    """The row that knows the error of the text by its words: the first that finds them."""
    kind = dict(signature_of_text(text).gate).get("kind")
    mine = [row for row in FAMILIES.rows() if (row.kind or row.name) == kind]
    return [row for row in mine if any(family.pattern.search(text) for family in families_of(row))][:1]


def main_event(text: str, events: Sequence[Event]) -> Event | None:
    """The event that tells what went wrong with a text that tells of one error; None if there is no event."""
    return _chosen(_of_first_rank(events, text))


def _better(short: ShortText) -> Reading | None:
    """What says more of a short text's error than the words found, by the first of the rules that knows better.

    A log is not looked through like this, since what else it holds are other errors.
    """
    for note, rule in BETTER:
        for event, words in rule(short):
            return event, replace(words, notes=(*words.notes, note))
    return None


def _before_death(short: ShortText) -> Iterator[Reading]:
    if short.chosen is None or short.culprit.hit is None or short.culprit.hit.rule not in wording().deaths:
        return
    lines = [line for line in short.text.split("\n") if line.strip() and not is_place_or_death(line)]
    best = max(lines, key=line_rank.line_rank, default="")
    if line_rank.line_rank(best):
        event = own_event("\n".join(lines), at=lines.index(best))
        yield event, culprit(event)


def _printed_cause(short: ShortText) -> Iterator[Reading]:
    if short.culprit.hit is None or short.culprit.hit.tier not in WEAK_TIERS:
        return
    for line in filter(line_rank.is_printed, short.text.split("\n")):
        event = replace(own_event(line, at=0), end=len(short.text))
        words = culprit(event)
        if words.hit is None or words.hit.tier not in WEAK_TIERS:
            yield event, words


def _known_elsewhere(short: ShortText) -> Iterator[Reading]:
    if short.chosen is None and short.culprit.hit is None and is_known(short.whole_culprit):
        yield short.whole, short.whole_culprit


def _assertion(short: ShortText) -> Iterator[Reading]:
    code = dict(short.culprit.hit.gate).get("code") if short.culprit.hit else None
    if short.chosen is not None and code in wording().asserting and _is_tool(short.whole_culprit):
        yield short.whole, short.whole_culprit


def _past_break(short: ShortText) -> Iterator[Reading]:
    if short.chosen is None or short.has_others or short.culprit.rule == "tool-diagnostic":
        return
    words = short.whole_culprit
    is_open = short.culprit.hit is None or short.culprit.hit.tier in WEAK_TIERS
    is_unwrapped = words.rule == "own-message" and any(note.startswith("unwrap-") for note in words.notes)
    is_known_now = _is_weak(short.culprit) and not _is_weak(words)
    if words.rule == "tool-diagnostic" or is_known_now or (is_open and is_unwrapped):
        yield short.whole, words


def _joined_lines(short: ShortText) -> Iterator[Reading]:
    if short.has_others or not _is_weak(short.culprit):
        return
    # what was logged before a traceback is something else
    is_traceback = short.chosen is not None and short.chosen.dialect == "python"
    text = short.text[short.chosen.start :] if short.chosen is not None and is_traceback else short.text
    for piece in (_joined(text), *quoted(text)):
        event = replace(own_event(piece), end=len(text))
        words = culprit(event)
        if is_known(words):
            yield event, words


#: Asked in this order; what the first rule gives is taken, with its note.
BETTER: tuple[tuple[str, Callable[[ShortText], Iterator[Reading]]], ...] = (
    ("last-words: what was printed before the process died says more", _before_death),
    ("whole-text: the event only says that something failed; another line says what", _printed_cause),
    ("whole-text: a known error stands behind the most telling line", _known_elsewhere),
    ("asserted: what the device asserted says more than that it did", _assertion),
    ("whole-text: the message goes on past a broken line", _past_break),
    ("joined-lines: the words are known where lines are joined or quotes are opened", _joined_lines),
)


def _joined(text: str) -> str:
    return " ".join(_MARKED.sub(" ", text).split())


def quoted(text: str) -> Iterator[str]:
    """The words that a text shows in quotes or in a cell of a table."""
    for found in _QUOTED.finditer(_joined(text)):
        yield found[0].strip('`"“”| ')


def _says_an_error(event: Event) -> bool:
    """Whether the event tells of an error; frames whose end was cut tell of none."""
    return event.severity == Severity.ERROR and bool(event.exception_type or event.message)


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
    ranked = [(rank(event, place), event) for place, event in enumerate(events)]
    return max(ranked, key=lambda pair: pair[0])[1] if ranked else None


def rank(event: Event, place: int) -> tuple[int, int, int]:
    """How much the event at `place` among a text's events tells of what went wrong: the greatest tells most."""
    severity = {Severity.ERROR: 2, Severity.INTERRUPTION: 1}.get(event.severity, 0)
    if event.exception_type is None and not event.message:
        return severity, -1, place  # a traceback whose end was cut says least
    found = chosen_words(event)
    if event.dialect == "signal" or is_wrapping(found.exception_type, found.message):
        return severity, 0, place  # it tells how another error ended
    if found.hit is not None and found.hit.tier == "tool":
        return severity, 3, -place  # the first diagnostic; later ones follow from it
    if found.hit is not None and found.hit.tier not in (*WEAK_TIERS, "head"):
        return severity, 2, place
    if found.hit is not None:
        return severity, 0, -place  # of wrappers the first
    return severity, 0 if event.message.endswith(("...", "…")) else 1, place  # a test's summary cuts the message


def is_consequence(event: Event) -> bool:
    """Whether the event tells no more than that another error ended something: a wrapper, a signal, an exit status,
    that a device asserted something.
    """
    if event.dialect == "signal" or (event.exception_type is None and not event.message):
        return True
    found = chosen_words(event)
    if is_wrapping(found.exception_type, found.message):
        return True
    if found.hit is None:
        return len(found.message) <= STATUS_MESSAGE and _EXIT_STATUS.search(found.message) is not None
    is_asserting = dict(found.hit.gate).get("code") in wording().asserting
    return is_asserting or found.hit.tier in WEAK_TIERS or found.hit.rule in wording().deaths


def _of_first_rank(events: Sequence[Event], text: str) -> Sequence[Event]:
    """The events without those of other ranks, where a launcher says which rank failed first: theirs follow from it."""
    report = text.find(_FIRST_FAILURE)
    first = _FIRST_RANK.search(text, report, report + 900) if report >= 0 else None
    if first is None:
        return events
    kept = [event for event in events if _rank_of(event, text) in (None, ("rank", first[1]), ("default", first[2]))]
    return kept or events


def _rank_of(event: Event, text: str) -> tuple[str, str] | None:
    """What the prefix of the event's first line says of the process that printed it."""
    line = text.rfind("\n", 0, event.start) + 1
    named = _RANK.findall(text, line, event.start + RANK_WIDTH)
    return named[-1] if named else None


def is_place_or_death(line: str) -> bool:
    """Whether a line says no more than that a process died, or shows a place on a stack."""
    return bool(_DEATH.search(line) or _STACK.match(line))


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
        severity=Severity.ERROR,
    )
