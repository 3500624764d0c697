"""From a text to the failures that it shows: tracebacks with their chains, native diagnostics, exception lines.

`events` joins the dialects. Each reader is called only where `scan` saw one of its marks, so a text without any
costs a few substring searches. Frames are counted as printed: `[Previous line repeated N more times]` adds none,
the `File` line of a SyntaxError is one. The last printed exception is the event's own, also in an exception group.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, takewhile

from pipeline import packs
from pipeline.extract import (
    bare,
    blocks,
    chain,
    displays,
    faulthandler,
    generic,
    head,
    lines,
    native,
    objects,
    places,
    pytest_,
    refusals,
    related,
    sight,
    stacks,
)
from pipeline.extract.rule import Rule
from pipeline.lexicon.codes import codes_in
from pipeline.records import Event, Severity, short_class, warm
from pipeline.text.needed import Literals, Seen

__all__ = ["GENERIC", "events", "is_heading"]

#: The dialect of a guess.
GENERIC = generic.DIALECT

is_heading = sight.is_heading

_HARD_SPACE = "\xa0"
#: Between a failure and the signal that ended its process stand at most this many characters.
WIDEST_AFTERMATH = 120
#: Between a traceback and a library's own line with the same code stand at most this many.
WIDEST_ECHO = 600
#: A message shorter than this may begin another one by chance; so many tracebacks of a text are compared.
SHORTEST_RETOLD = 8
WIDEST_RETOLD = 60
MOST_RETOLD, MOST_TOLD = 40, 8
#: Marks that are looked at inside one traceback, and the other streams whose tracebacks begin there.
MOST_BETWEEN, MOST_STREAMS = 400, 32
#: A line with more exception names than that is a list of names.
MOST_NAMES = 6
#: So many lines of stacks are looked at, for each sign of one, for what is put around all of them.
MOST_SIGNS = 12
#: Dialects whose trailing lines say of a command that it failed, and nothing of why.
_ENDINGS = frozenset({"docker", "build", "pip", "npm", "node-gyp", "gtest"})
#: Dialects of warnings that are told only where nothing failed.
_WARNING = frozenset({"exception-line", "cc-warning"})
_EXIT = warm.pattern(
    r"(?:\S{1,80} ){1,6}(?:exited|ended|finished|terminated|completed|failed) with (?:an? )?"
    r"(?:(?:exit|return|error|status|non-zero) ?){1,3}(?:code|status)?:? -?\d{1,6}\.?"
)
#: Of these a text tells what failed, or that something did.
_TELLING = frozenset((Severity.ERROR, Severity.WRAPPER, Severity.INTERRUPTION))


@packs.cached
def looked_for() -> Literals:
    """Everything that a reader of some dialect looks for; a text without any of it is read no further."""
    return Literals((*lines.literals(), *native.literals(), *stacks.literals(), *blocks.SIGNS, *objects.LITERALS))


@packs.cached
def _stacked() -> frozenset[str]:
    """What stands on lines of stacks: a text with none of it is read as it is decorated."""
    return frozenset((*stacks.literals(), *lines.frame_literals()))


def events(text: str) -> list[Event]:
    """The failures of a text, sorted by `start`, not overlapping. Warnings of Python and compilers if nothing failed.

    In a block in which no rule knows more than that a command failed, the line that states why, if one seems to, is an
    event of the dialect "generic"; so is, of a text in which nothing is known so, what looks most like an error.
    """
    # pages indent what was pasted with hard spaces; places stay what they are
    text = related.without_wraps(lines.without_marks(text.replace(_HARD_SPACE, " ")))
    seen = looked_for().seen(text)
    if not seen:
        return []
    if signs := _stacked().intersection(seen):  # a view of keys asks for each of the literals
        plain = related.without_margins(text, (at for sign in signs for at in seen[sign][:MOST_SIGNS]))
        if plain != text:
            text, seen = plain, looked_for().seen(plain)
    found, ends = _known(text, seen)
    telling = [one for one in found if one.severity in _TELLING]
    failures = [one for one in telling if one.start not in ends and not _is_mere_end(one)]
    has_reason = not all(map(_is_exit, telling))
    read = blocks.told(text, seen)
    guesses = sight.read(text, read, failures, found)
    if not has_reason and (guess := generic.read(read)) is not None and not _overlaps(guess, guesses):
        guesses.append(guess)
    guesses = [_with_codes(one) for one in guesses if refusals.refusal(one.detail) is None]
    guesses = [one for one in guesses if not _is_told_of(text, one)]
    new = [one for one in guesses if not _overlaps(one, found) and not _is_told_again(one, found)]
    whole = sorted([*found, *new], key=lambda one: one.start) if new else found
    return related.without_colours(text, places.added(text, whole))


def _is_told_of(text: str, guess: Event) -> bool:
    """Whether the line of a guess calls the error fixed, or one that may come."""
    named = text.find(guess.exception_type, guess.start, guess.end) if guess.exception_type else -1
    at = guess.start if named < 0 else named
    start = text.rfind("\n", 0, at) + 1
    return bare.is_told_of(text[start:at], is_first=start == 0)


def _is_told_again(guess: Event, found: Sequence[Event]) -> bool:
    """Whether the guess's words hold the message of an event, or of one in its chain."""
    told = (said for one in found[:MOST_RETOLD] for said in (one.message, *(link.message for link in one.chain)))
    return any(len(message) > SHORTEST_RETOLD and message[:WIDEST_RETOLD] in guess.detail for message in told)


def _is_mere_end(event: Event) -> bool:
    """Whether an event says how a program ended and nothing of why."""
    return (event.dialect == "signal" and not event.frames) or _is_exit(event)


def _is_exit(event: Event) -> bool:
    """Whether an event's words tell with which status a command ended, and no more."""
    return not event.chain and not event.codes and _EXIT.fullmatch(event.message) is not None


def _known(text: str, seen: Seen) -> tuple[list[Event], frozenset[int]]:
    """The failures that rules know, and where those begin that only tell how something ended."""
    tracebacks = _tracebacks(text, seen)
    others = stacks.events(text, seen, [(one.start, one.end) for one in tracebacks if one.frames])
    whole = _apart(tracebacks, others) if others else tracebacks
    shown = sorted([*whole, *_exception_lines(text, whole, seen)], key=lambda one: one.start)
    natives = native.found(text, seen)
    shown = [one for one in shown if not _is_line_of(one, natives)]
    found = related.with_native(text, related.with_stacks(text, _joined(text, shown, _told(text, shown, natives))))
    found = stacks.added(text, seen, related.with_nested(text, found))
    if any(literal in seen for literal in objects.LITERALS):
        found = objects.added(text, seen, found)
    if any(one.severity != Severity.WARNING for one in found):
        found = [one for one in found if one.severity != Severity.WARNING or one.dialect not in _WARNING]
    trailing = frozenset(event.start for event, rule in natives if rule.trails)
    ends = frozenset(event.start for event, rule in natives if rule.trails and event.dialect in _ENDINGS)
    exits = frozenset(event.start for event, rule in natives if rule.exits)
    return related.with_wrappers(found, trailing, exits), ends


def _apart(tracebacks: list[Event], others: list[Event]) -> list[Event]:
    """Both by start; a traceback without frames (an editor shows any language) gives way to the stack that it is."""
    kept = [one for one in tracebacks if one.frames or not _overlaps(one, others)]
    return sorted([*kept, *(one for one in others if not _overlaps(one, kept))], key=lambda one: one.start)


def _overlaps(event: Event, others: Sequence[Event]) -> bool:
    """Whether the event shares characters with one of the others, which stand apart and by start."""
    place = bisect_right(others, event.start, key=lambda one: one.start)
    return (place > 0 and others[place - 1].end > event.start) or (
        place < len(others) and others[place].start < event.end
    )


def _tracebacks(text: str, seen: Seen) -> list[Event]:
    found: list[Event] = []
    behind = 0
    tried: dict[str, int] = {}  # kind of mark -> end of the last line on which one led to nothing
    marks = lines.marks(text, seen)
    for place, mark in enumerate(marks):
        if mark.at < behind or mark.at < tried.get(mark.kind, 0) or not lines.is_mark(text, mark):
            continue
        event = _read(text, mark, behind)
        if event is not None and event.end > behind:
            found.append(replace(event, start=behind) if event.start < behind else event)
            behind = event.end
            for other in _others(text, marks, place, event):
                if other.end > behind:
                    if _identity(other) != _identity(event):
                        found.append(replace(other, start=behind + (text[behind] == "\n")))
                    behind = other.end
        else:
            stop = text.find("\n", mark.at)
            tried[mark.kind] = stop if stop >= 0 else len(text)
    return found


def _others(text: str, marks: list[lines.Mark], place: int, event: Event) -> list[Event]:
    """What other streams printed between the lines of the event, by end; what ends inside it is left out."""
    between = takewhile(lambda mark: mark.at < event.end, islice(marks, place + 1, place + 1 + MOST_BETWEEN))
    inside = [mark.at for mark in between if mark.kind == "header"]
    prefix = head.learn(text, marks[place].at).peeler.prefix if inside else None
    if prefix is None:
        return []
    others = [at for at in inside if not prefix.match(text, text.rfind("\n", 0, at) + 1)][:MOST_STREAMS]
    found = [chain.traceback(text, at) for at in others]
    return sorted((one for one in found if one is not None and one.end > event.end), key=lambda one: one.end)


def _identity(event: Event) -> tuple[str | None, str, int]:
    return event.exception_type, event.message, len(event.frames)


def _read(text: str, mark: lines.Mark, floor: int) -> Event | None:
    if mark.kind == "header":
        stop = text.find("\n", mark.at)
        stop = stop if stop >= 0 else len(text)
        if head.is_escaped(text, mark.at, stop) and (whole := chain.traceback(text, mark.at)) and whole.frames:
            return whole
        flat = head.read_one_line(text, mark.at, stop)
        if flat is not None and not flat.is_truncated:
            return flat
        whole = chain.traceback(text, mark.at)
        if flat is None or whole is None or whole.exception_type is None:
            return whole if flat is None else flat
        # only the first frame stands on the header's line
        return whole if whole.chain else replace(whole, frames=(*flat.frames, *whole.frames))
    if mark.kind == "frame":
        return chain.orphan(text, mark.at)
    if mark.kind == "arrow":
        return chain.notebook_orphan(text, mark.at, floor=floor)
    if mark.kind == "pytest":
        return pytest_.read(text, mark.at, floor=floor)
    return displays.read_vscode(text, mark.at) if mark.kind == "vscode" else faulthandler.read(text, mark.at)


def _exception_lines(text: str, tracebacks: list[Event], seen: Seen) -> list[Event]:
    """Exceptions named outside every stack, each once, and none that a stack shows already; a stack beats a line."""
    ends = lines.name_ends(text, seen)
    if not ends:
        return []
    starts = [one.start for one in tracebacks]
    known = {_key(*said) for one in tracebacks for said in _said(one)}
    fences = displays.Fences(text)
    found: list[Event] = []
    told: dict[tuple[str, str], Event] = {}  # by key, those that stand behind other words
    behind = stop = tries = 0
    for colon in ends:
        at = bisect_right(starts, colon)
        if colon <= behind or (at and tracebacks[at - 1].end >= colon):
            continue
        if colon >= stop:
            stop, tries = text.find("\n", colon), 0
            stop = len(text) if stop < 0 else stop
        tries += 1
        if tries > MOST_NAMES:
            continue
        ceiling = starts[at] if at < len(starts) else len(text)
        event = bare.read(text, colon, ceiling=ceiling, fences=fences)
        if event is None or _retells(event, tracebacks):
            continue
        key = _key(event.exception_type, event.message)
        if key in known and not (key in told and _begins_line(text, event.start)):
            continue
        if key in told:  # a sentence named what a program printed further down
            found.remove(told.pop(key))
        event = replace(event, end=ceiling) if event.end > ceiling else event
        if key not in known and not _begins_line(text, event.start):
            told[key] = event
        known.add(key)
        found.append(event)
        behind = event.end
    return found


def _begins_line(text: str, start: int) -> bool:
    """Whether nothing but marks of quoting and code stands before a place on its line."""
    return not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t>`*")


def _retells(event: Event, tracebacks: list[Event]) -> bool:
    """Whether a line names a traceback's exception again: it goes on behind its message, or breaks off inside it."""
    last = short_class(event.exception_type)
    begun = event.message.removesuffix("…").removesuffix("...")
    is_cut = len(begun) < len(event.message) and len(begun) > SHORTEST_RETOLD
    return any(
        len(message) > SHORTEST_RETOLD
        and (event.message.startswith(message[:60]) or (is_cut and message.startswith(begun)))
        and short_class(kind) == last
        for one in tracebacks[:MOST_RETOLD]
        for kind, message in _said(one)
    )


def _said(event: Event) -> list[tuple[str | None, str]]:
    """Type and message of an event, and of the exceptions that it came from."""
    told = ((link.exception_type, link.message) for link in event.chain[:MOST_TOLD])
    return [(event.exception_type, event.message), *told]


def _key(exception_type: str | None, message: str) -> tuple[str, str]:
    return short_class(exception_type), message[:60]


def _is_aftermath(diagnostic: Event, before: Event, text: str) -> bool:
    """Whether a diagnostic tells nothing new about the failure just above: how it ended, or its codes again."""
    if diagnostic.dialect == "signal":
        widest = WIDEST_AFTERMATH
    elif diagnostic.codes and set(diagnostic.codes) <= set(before.codes):
        widest = WIDEST_ECHO
    else:
        return False
    between = text[before.end : diagnostic.start]
    return len(between) < widest and between.count("\n") <= 2 + widest // WIDEST_AFTERMATH and "```" not in between


def _told(text: str, shown: list[Event], natives: list[tuple[Event, Rule]]) -> list[Event]:
    """The diagnostics, without lines of packs that announce the exception right below or end the one right above."""
    starts = [one.start for one in shown]
    told: list[Event] = []
    for event, rule in natives:
        at = bisect_left(starts, event.end)
        below = text[event.end : starts[at]] if at < len(starts) and starts[at] - event.end < WIDEST_AFTERMATH else None
        is_ended = rule.trails and at > 0 and 0 <= event.start - shown[at - 1].end < WIDEST_AFTERMATH
        is_announced = rule.yields and below is not None and "```" not in below
        if not rule.is_of_pack or not (is_ended or is_announced):
            told.append(event)
    return told


def _joined(text: str, shown: list[Event], natives: list[Event]) -> list[Event]:
    """Native diagnostics inside another event's span give it their codes; the others stand for themselves."""
    shown = [_with_codes(one) for one in shown]
    owned: list[list[Event]] = [[] for _ in shown]
    alone: list[Event] = []
    at = 0
    for diagnostic in sorted(natives, key=lambda one: (one.start, one.end)):
        while at < len(shown) and shown[at].end <= diagnostic.start:
            at += 1
        if at < len(shown) and diagnostic.end > shown[at].start:
            owned[at].append(diagnostic)
        elif at and _is_next(alone, shown[at - 1]) and _is_aftermath(diagnostic, shown[at - 1], text):
            owned[at - 1].append(diagnostic)
        elif not alone or alone[-1].end <= diagnostic.start:
            alone.append(diagnostic)
    ceilings = [*(one.start for one in shown), len(text)][1:]
    whole = [_with_diagnostics(*one) for one in zip(shown, owned, ceilings, strict=True)]
    return sorted([*whole, *alone], key=lambda one: (one.start, one.end))


def _is_line_of(event: Event, natives: list[tuple[Event, Rule]]) -> bool:
    """Whether a line that begins with "Error: " is one of the further lines of a diagnostic, or one that is named.

    So is one that only announces with a colon what the diagnostic of its class goes on to say.
    """
    if event.dialect != "exception-line" or event.frames:
        return False
    if event.exception_type != "Error":
        return event.message.endswith((":", "：")) and any(
            one.start <= event.start < one.end
            and one.exception_type == event.exception_type
            and one.message != event.message
            for one, _ in natives
        )
    place = bisect_right(natives, event.start, key=lambda one: one[0].start)
    if not place or natives[place - 1][0].end <= event.start:
        return False
    holder = natives[place - 1][0]
    return holder.start < event.start or (holder.exception_type is not None and holder.severity == Severity.ERROR)


def _is_next(alone: list[Event], before: Event) -> bool:
    """Whether no diagnostic of its own stands behind the event yet."""
    return not alone or alone[-1].start < before.start


def _with_codes(event: Event) -> Event:
    codes = {*event.codes, *codes_in(f"{event.exception_type or ''}: {event.detail}")}
    for one in event.chain:
        codes.update(codes_in(f"{one.exception_type or ''}: {one.detail or one.message}"))
    return replace(event, codes=tuple(sorted(codes))) if codes else event


def _with_diagnostics(event: Event, inside: list[Event], ceiling: int) -> Event:
    if not inside:
        return event
    codes = set(event.codes).union(*(one.codes for one in inside))
    end = max(event.end, *(one.end for one in inside))
    # the line of a log that names it has below where the program died
    logged = (one.frames for one in inside if one.dialect == "glog" and len(one.frames) > 1 and one.start < event.start)
    frames = event.frames or next(logged, ())
    return replace(event, codes=tuple(sorted(codes)), end=min(end, ceiling), frames=frames)


@head.EXCEPTIONS.tested
def _named(text: str) -> list[head.Exceptions]:
    """The rows of `exceptions` that know the type of an event of the text."""
    types = [one.exception_type for one in events(text) if one.exception_type]
    return [row for row in head.EXCEPTIONS.rows() if any(map(row.knows, types))]
