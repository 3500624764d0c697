"""Every failure of a text, once: what is the same is counted, what only follows stands with its cause.

Most telling first: a known error before an unknown one, what says what failed before what says that something did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pipeline import normalise
from pipeline.lexicon import meanings
from pipeline.records import short_class

if TYPE_CHECKING:
    from pipeline.ask.matcher import Answer
    from pipeline.ask.reading import Reading
    from pipeline.records import Event

#: Places of one failure that are kept; `count` has them all.
MOST_SPANS = 20
#: A wrapper, a signal or an exit status follows from an error that ended within so many lines before it. Launchers
#: print their report 1 to 40 lines below the last traceback of a rank; a "Killed" far from any error is one of its own.
FOLLOWS_WITHIN_LINES = 60

Status = Literal["known", "unknown", "ignored"]
#: An error of the text -> what is known of it, and whether people set it aside.
Ask = Callable[["Event"], tuple["Answer", bool]]


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure of a text, however often the text shows it."""

    answer: Answer  # its entry, or why none; `start` and `end` are those of the place that was read
    status: Status  # known: it has an entry; ignored: people set it aside
    is_consequence: bool  # a wrapper, a signal or an exit status, and nothing near it says what failed
    count: int
    spans: tuple[tuple[int, int], ...]  # places in the text made safe, the first `MOST_SPANS`
    lines: tuple[tuple[int, int], ...]  # the same places as lines, first and last, counted from 1
    dialect: str
    exception_type: str | None
    message: str
    codes: tuple[str, ...]
    followed_by: tuple[str, ...] = ()  # signatures of what only says that this ended something
    documentation: dict[str, Any] | None = None  # of one without an entry: what a pack's documentation says it means

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the answer's fields beside the others."""
        told = asdict(self)
        del told["answer"]
        return {**self.answer.as_dict(), **told}


@dataclass(frozen=True, slots=True)
class Findings:
    """What a text shows, most telling first."""

    answer: Answer  # to the text as one
    findings: tuple[Finding, ...]
    main: int | None  # the number of the finding that `answer` is about; None where it is about none

    @property
    def known(self) -> tuple[Finding, ...]:
        """Those that have an entry."""
        return tuple(one for one in self.findings if one.status == "known")


@dataclass(slots=True)
class _Group:
    """The events of one failure."""

    shown: Event
    place: int  # of `shown` among the errors of the text
    answer: Answer
    is_ignored: bool
    events: list[Event]
    follows: list[str] = field(default_factory=list)
    origin: str = ""  # the cluster of the known error that caused it, by the program's own word


def gathered(reading: Reading, answer: Answer, ask: Ask) -> Findings:
    """The findings of a text whose answer as one is `answer`; `ask` gives the answer to one of its errors."""
    return _Gathering(reading, ask).findings(answer)


class _Gathering:
    """The errors of one text on their way to findings."""

    def __init__(self, reading: Reading, ask: Ask) -> None:
        self._reading = reading
        self._ask = ask

    def findings(self, answer: Answer) -> Findings:
        """Same events first, then same errors, then those that are only a part or a consequence of others."""
        groups = self._without_cut(self._joined(self._same()))
        kept = self._folded(groups)
        kept.sort(key=self._order)
        found = tuple(map(self._finding, kept))
        return Findings(answer, found, self._main(kept, answer))

    def _same(self) -> list[_Group]:
        """The events that are one template, each with the answer to the one that is shown."""
        events: dict[str, list[int]] = {}
        for place, event in enumerate(self._reading.errors):
            events.setdefault(self._reading.signature(event).signature_id, []).append(place)
        groups = []
        for places in events.values():
            own = [self._reading.errors[place] for place in places]
            number = next((number for number, event in enumerate(own) if event is self._reading.main), 0)
            groups.append(_Group(own[number], places[number], *self._ask(own[number]), own))
        return [*groups, *self._origins(groups)]

    def _origins(self, groups: Sequence[_Group]) -> list[_Group]:
        """What errors of the text came of, where that is known and another error than they are."""
        found = []
        for group in groups:
            for link, inner in self._reading.origins(group.shown):
                answer, is_ignored = self._ask(inner)
                if answer.entry_id is None or is_ignored or answer.cluster_id == group.answer.cluster_id:
                    continue
                found.append(_Group(inner, group.place, answer, False, [inner]))
                if link.link == "cause" and not group.is_ignored and group.answer.entry_id is None:
                    group.origin = answer.cluster_id or ""
        return found

    def _joined(self, groups: Iterable[_Group]) -> list[_Group]:
        """Templates of one cluster as one group; the text's own error is shown before others, then the first."""
        joined: dict[str, _Group] = {}
        for number, group in enumerate(groups):
            key = group.answer.cluster_id or str(number)
            first = joined.setdefault(key, group)
            if first is not group:
                first.events += group.events
                if group.shown is self._reading.main:
                    first.shown, first.place, first.answer = group.shown, group.place, group.answer
        return list(joined.values())

    def _without_cut(self, groups: Sequence[_Group]) -> list[_Group]:
        """The groups without those whose words are another's beginning, as a test's summary cuts them."""
        whole = [group for group in groups if not _cut(group.shown)]
        kept = []
        for group in groups:
            words = _cut(group.shown)
            other = next((one for one in whole if words and _begins(one.shown, words)), None)
            if other is None:
                kept.append(group)
        return kept

    def _folded(self, groups: Sequence[_Group]) -> list[_Group]:
        """The groups without those that only say how another one ended something, which that one then has."""
        causes = [group for group in groups if not self._is_consequence(group) and not group.is_ignored]
        kept = []
        for group in groups:
            cause = next((one for one in causes if group.origin and one.answer.cluster_id == group.origin), None)
            if cause is None and self._is_consequence(group) and not group.is_ignored:
                cause = self._cause(group, causes)
            if cause is None or (group.answer.entry_id and not cause.answer.entry_id):
                kept.append(group)
            else:
                cause.follows.append(group.answer.signature)
        return kept

    def _cause(self, group: _Group, causes: Iterable[_Group]) -> _Group | None:
        """The failure that ended last before the first of the group, near enough."""
        begin = group.events[0].start
        ends = [
            (event.end, place, cause)
            for place, cause in enumerate(causes)
            for event in cause.events
            if event.start <= begin
        ]
        if not ends:
            return None
        end, _, cause = max(ends, key=lambda row: row[:2])
        is_near = self._reading.text.count("\n", min(end, begin), begin) <= FOLLOWS_WITHIN_LINES
        return cause if is_near else None

    def _order(self, group: _Group) -> tuple[object, ...]:
        says_what, *rank = telling(group.shown, group.place)
        return group.is_ignored, not says_what, group.answer.entry_id is None, [-part for part in rank]

    def _is_consequence(self, group: _Group) -> bool:
        return normalise.is_consequence(group.shown)

    def _documented(self, group: _Group) -> dict[str, Any] | None:
        """What documentation says that an error means which nobody reported."""
        if group.answer.entry_id or group.is_ignored:
            return None
        own = self._reading.signature(group.shown)
        named = meanings.Named(own.exception_type or "", dict(own.gate), group.shown.codes, own.text)
        told = meanings.documentation(named)
        return told.model_dump() if told is not None else None

    def _finding(self, group: _Group) -> Finding:
        event = group.shown
        spans = tuple(sorted((one.start, one.end) for one in group.events)[:MOST_SPANS])
        return Finding(
            answer=group.answer,
            status="ignored" if group.is_ignored else "known" if group.answer.entry_id else "unknown",
            is_consequence=self._is_consequence(group),
            count=len(group.events),
            spans=spans,
            lines=_lines(self._reading.text, spans),
            dialect=event.dialect,
            exception_type=event.exception_type,
            message=event.message,
            codes=event.codes,
            followed_by=tuple(dict.fromkeys(group.follows)),
            documentation=self._documented(group),
        )

    def _main(self, groups: Sequence[_Group], answer: Answer) -> int | None:
        for number, group in enumerate(groups):
            if answer.cluster_id is not None and group.answer.cluster_id == answer.cluster_id:
                return number
        for number, group in enumerate(groups):
            if any(event.start <= (answer.start or 0) < event.end for event in group.events):
                return number
        return None


def telling(event: Event, place: int) -> tuple[bool, int, int, int]:
    """How much the error at `place` of a text tells, whether it is known or not: the greatest tells most."""
    return (not normalise.is_consequence(event), *normalise.rank(event, place))


def of_words(answer: Answer, text: str, *, is_ignored: bool) -> Findings:
    """The findings of a text without an error: its words are those of a known message, or of none."""
    if answer.entry_id is None and not is_ignored:
        return Findings(answer, (), None)
    one = Finding(
        answer=answer,
        status="ignored" if is_ignored else "known",
        is_consequence=False,
        count=1,
        spans=((0, len(text)),),
        lines=_lines(text, ((0, len(text)),)),
        dialect="message",
        exception_type=None,
        message=answer.signature,
        codes=(),
    )
    return Findings(answer, (one,), 0)


def _lines(text: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The first and the last line of each span; spans are sorted by their beginnings."""
    lines, at, number = [], 0, 1
    for start, end in spans:
        number += text.count("\n", at, start)
        at = start
        lines.append((number, number + text.count("\n", start, max(start, end - 1))))
    return tuple(lines)


def _cut(event: Event) -> str:
    """The words of an event whose end was cut, "" of any other."""
    words = event.message.rstrip()
    return words.rstrip(".…").rstrip() if words.endswith(("...", "…")) else ""


def _begins(event: Event, words: str) -> bool:
    """Whether an event's message, with its type or without, begins with `words`."""
    kind = short_class(event.exception_type)
    detail = event.detail or event.message
    return any(text.startswith(words) for text in (detail, f"{event.exception_type}: {detail}", f"{kind}: {detail}"))
