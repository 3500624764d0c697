"""A text against a bundle: the entry of its error, or an abstention with the reason.

The error that the text tells of is asked first: as a build would read it, then with all that the text says of it, then
by its first line (in a log the lines that follow a message look as if they belonged to it); then the other errors of
the text, the last one first. A text without an error is answered only where its words are those of a known message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline import extract, normalise
from pipeline.ask.findings import Findings, gathered, of_words, telling
from pipeline.ask.known import KnownErrors, Row
from pipeline.ask.reading import Reading, of_classes, read_pasted, set_aside
from pipeline.packs import marked
from pipeline.records import Event, Frame, Signature, kept, leaves, short_class
from pipeline.records.errors import ExportError, unreadable
from pipeline.records.leaves import Opened, entry_of, page_path
from pipeline.text import frames

if TYPE_CHECKING:
    from pipeline.cluster import Abstention

# Measured with benchmarks/matching.py on a bundle of 5,890 entries and on 6,000 pieces of prose and source code.
#: Of 600 quotes of entries 40 are lines that only their surroundings make an error ("PC: SIGBUS", a line of a list).
NO_ERROR = "no error was found in the text; one line of a log may need those around it"
#: Rules that may name an entry for a text in which no error was found: the words are those of a known error.
SURE_RULES = ("equal", "gate")
#: The least likeness of an answer by gate to a text without an error. Prose that names a signal or an errno scored
#: 17 to 52 against the message it talks about, real messages 61 to 95.
UNSEEN_GATE_SCORE = 55.0
#: Words outside slots that a template needs to name an error. A lone quoted string was a known "message" of 1 entry and
#: answered 18 of 2,279 pieces of source code.
LEAST_WORDS = 1
#: Classes of an entry that a sentence names.
MOST_CLASSES = 3
#: Other errors of a log that are asked after the one that ended it: a log that failed in 20 ways is no one error.
OTHER_EVENTS = 20
#: From so many errors in a text on the whole index is made ready: 0.25 s, as much as 50 abstentions one by one.
MANY_ERRORS = 50
#: Dialects whose message has no end of its own: what a log prints next looks like its second line. Native programs
#: print what happened on the second line, their first says "terminate called" and is no answer.
OPEN_ENDED = ("python", "pytest", "ipython", "rich")

#: An id is also a path: one from a bundle made elsewhere must not lead out of it.
_ENTRY_ID = re.compile(r"[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9._-]*")
_SLOT = re.compile(r"<[a-z][a-z0-9_-]{0,30}>")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Answer:
    """The entry of a text, or an abstention: then `entry_id` is None and `reason` says why."""

    entry_id: str | None
    cluster_id: str | None
    score: float  # 0-100; of the nearest entry for an abstention
    rule: str  # equal, words, gate, ratio, slot, prefix, untyped, quote or abstained
    reason: str
    signature: str  # what the text was read as
    runner_up: str | None
    runner_up_reason: str
    frame: str | None = None  # "module:function" that raised the error answered, None where no frames are shown
    packages: tuple[str, ...] = ()  # installed packages whose frames it shows, the raising one first
    places: frozenset[str] = frozenset()  # the frame as each project of which it shows code would look it up
    start: int | None = None  # where the error answered stands in the text, made safe; None where none was found
    end: int | None = None
    other_classes: tuple[str, ...] = ()  # those that reports of the entry name, where the error here is of none

    def as_dict(self) -> dict[str, Any]:
        """For JSON; without what only finds the nearest case."""
        told = asdict(self)
        del told["places"]
        return told


class Matcher:
    """A bundle, ready to be asked. Needs no database: index.json and the entries' own files are enough."""

    def __init__(self, folder: Path, index: Mapping[str, Any]) -> None:
        self._folder = folder
        self._entry_of = {row["cluster_id"]: row["id"] for row in index["entries"] if row["cluster_id"]}
        self._known = KnownErrors(index["entries"])
        self._ignored = {row["signature_id"]: row["reason"] for row in index.get("ignored", ())}
        self._asked: dict[tuple[str, bool, str], Answer] = {}
        self._normaliser = str(index.get("normaliser", ""))

    @classmethod
    def read(cls, folder: Path) -> Matcher:
        """The matcher of the bundle in `folder`.

        Raises:
            ExportError: there is no bundle, or its index cannot be read.
        """
        path = folder / leaves.INDEX
        if not path.exists() and not (folder / kept.MANIFEST).exists():
            hint = "Run `errmine run` or `errmine export` first, or name a bundle with --bundle."
            raise ExportError(f"there is no bundle in {folder}", path=path, hint=hint)
        try:
            return cls(folder, Opened.of(folder).index())
        except kept.Damaged as error:
            raise unreadable(error.path, error) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise unreadable(path, error) from error

    def unlike(self) -> tuple[str, str] | None:
        """What of the bundle was made otherwise than texts are read now, and what to do; None where nothing was."""
        made, _, made_packs = self._normaliser.partition("+")
        if made_packs != marked("").partition("+")[2]:
            told = f"the bundle in {self._folder} was made with other packs than those of now, or changed ones"
            hint = "Read with its packs ([fields] packs, or --pack), or make it anew: build, export."
            return told, hint
        own = normalise.NORMALISER_VERSION
        if made and made != own:
            told = f"the bundle in {self._folder} was made by rules {made}, and texts are read by rules {own}"
            return told, "Many errors are not recognised so: fetch or make it anew (build, export), or use its errmine."
        return None

    def prepare(self) -> None:
        """Nothing; the whole index is ready then. Worth its time where many texts will be asked."""
        self._known.prepare()

    def match(self, text: str) -> Answer:
        """The entry of the error that `text` shows, or why there is none."""
        return self._read(text)[1]

    def findings(self, text: str) -> Findings:
        """Every error of `text`, most telling first, each with its entry or why there is none."""
        reading, answer = self._read(text, every=True)
        if reading.main is None:
            return of_words(answer, reading.text, is_ignored=reading.whole.signature_id in self._ignored)
        return gathered(reading, answer, lambda event: self._own(reading, event))

    def _read(self, text: str, *, every: bool = False) -> tuple[Reading, Answer]:
        """What the text shows, and the answer to it as one; `every`: all of its errors will be asked.

        Where nothing of it is known, lines count too that name a class of the bundle's errors before a known message.
        """
        reading = read_pasted(text)
        if every and len(reading.errors) > MANY_ERRORS:
            self.prepare()
        answer = self._as_one(reading)
        if answer.entry_id is None:
            named = [
                event
                for event in of_classes(reading, self._known.classes)
                if not _shown_with_its_stack(event, reading.errors)
                if self._answer(reading.signature(event)).entry_id is not None
            ]
            if named:
                reading = reading.with_these(named)
                answer = self._as_one(reading)
        return reading, answer

    def _as_one(self, reading: Reading) -> Answer:
        """The answer to a text that tells of one error."""
        self._asked = {}
        if reading.main is None:
            answer = self._answer(reading.whole)
            return answer if reading.whole.signature_id in self._ignored else self._unseen(answer)
        first = self._main(reading, reading.main)
        if first.entry_id is not None:
            return first
        alone = self._by_first_line(reading, reading.main, reading.whole)
        return alone or self._origin(reading, reading.main) or self._another(reading, reading.main) or first

    def _own(self, reading: Reading, event: Event) -> tuple[Answer, bool]:
        """The answer to one error of a text, whatever else the text shows, and whether people set it aside."""
        signature = reading.signature(event)
        read = reading.whole if event is reading.main else signature
        if not self._ignored.keys().isdisjoint((signature.signature_id, read.signature_id)):
            return _placed(self._answer(read if read.signature_id in self._ignored else signature), event), True
        answer = self._main(reading, event) if event is reading.main else _placed(self._answer(signature), event)
        if answer.entry_id is None:
            answer = self._by_first_line(reading, event, read) or answer
        return answer, False

    def _main(self, reading: Reading, event: Event) -> Answer:
        """The answer to the error that the text tells of: as a build reads it, or else by all that the text says."""
        if self._ignored and reading.whole.signature_id in self._ignored:
            return _placed(self._answer(reading.whole), event)
        if event.dialect == extract.GENERIC:
            return self._guessed(reading, event)
        signature = reading.signature(event)
        own = self._answer(signature)
        if own.rule != "equal" and signature.signature_id not in self._ignored:
            whole = self._answer(reading.whole)
            if whole.entry_id is not None and (whole.rule == "equal" or own.entry_id is None):
                return _placed(whole, _holding(reading.errors, reading.whole.start))
        return _placed(own, event)

    def _guessed(self, reading: Reading, event: Event) -> Answer:
        """The answer to the line that looks most like an error, or to all that the text says, if one is sure enough."""
        own = self._unseen(self._answer(reading.signature(event)))
        return _placed(own if own.entry_id is not None else self._unseen(self._answer(reading.whole)), event)

    def _origin(self, reading: Reading, main: Event) -> Answer | None:
        """The answer to what the error came of, the last raised first, where that is known."""
        for _, inner in reversed(list(reading.origins(main))):
            answer = self._answer(reading.signature(inner))
            if answer.entry_id is not None:
                reason = f"{answer.reason} The error that the text ends with came of it, and is not known."
                return _placed(replace(answer, reason=reason), inner)
        return None

    def _another(self, reading: Reading, main: Event) -> Answer | None:
        """The answer to another error of the text that is known, the most telling of the last ones."""
        places = [place for place, event in enumerate(reading.errors) if event is not main][-OTHER_EVENTS:]
        known = (self._answer(reading.signature(reading.errors[place])) for place in places)
        found = {place: answer for place, answer in zip(places, known, strict=True) if answer.entry_id is not None}
        if not found:
            return None
        place = max(found, key=lambda place: telling(reading.errors[place], place))
        answer = found[place]
        reason = f"{answer.reason} It is another error of this text: the main one is not known."
        return _placed(replace(answer, reason=reason), reading.errors[place])

    def _by_first_line(self, reading: Reading, event: Event, read: Signature) -> Answer | None:
        """The answer to the first line of a message, where that line is a whole known message."""
        if any(note.startswith("unwrap") for note in read.notes):  # the first line only wraps what was read
            return None
        first, _, rest = event.detail.strip().partition("\n")
        if event.dialect not in OPEN_ENDED or not rest or first.rstrip().endswith(":"):
            return None
        signature = reading.signature(replace(event, detail=first, is_truncated=False))
        answer = self._answer(signature)
        if answer.rule not in ("equal", "words"):
            return None
        return _placed(replace(answer, reason=f"{answer.reason} Read by the first line of its message."), event)

    def entry(self, entry_id: str) -> dict[str, Any]:
        """The entry as published."""
        path = self._folder / page_path(entry_id)
        if not _ENTRY_ID.fullmatch(entry_id):
            raise ExportError(
                f"{entry_id!r} is no id of an entry", path=path, hint="Check the bundle: errmine validate."
            )
        try:
            found = entry_of(self._folder, entry_id)
            if found is None:
                raise unreadable(path, ValueError(f"the bundle has no entry {entry_id}"))
            entry: dict[str, Any] = json.loads(found)
        except kept.Damaged as error:
            raise unreadable(error.path, error) from error
        except ValueError as error:
            raise unreadable(path, error) from error
        return entry

    def _answer(self, signature: Signature) -> Answer:
        """What is known of a signature; asked once for a text, which may show one error a thousand times."""
        asked, key = self._asked, (signature.signature_id, signature.is_truncated, signature.frame_key)
        if key not in asked:
            asked[key] = self._looked_up(signature)
        return asked[key]

    def _looked_up(self, signature: Signature) -> Answer:
        if _word_count(signature.text) < LEAST_WORDS:
            return _abstained(signature, "the text holds no word that could name an error")
        if signature.signature_id in self._ignored:
            return _abstained(signature, set_aside(self._ignored[signature.signature_id]))
        same = self._known.same(signature)
        if same is not None:
            reason = "The same signature was grouped before."
            answer = Answer(self._entry_of[same], same, 100.0, "equal", reason, signature.text, None, "")
            return self._with_classes(answer, signature)
        from pipeline.cluster import Match  # noqa: PLC0415  only here: costs 0.2 s that an equal answer saves

        found = self._known.assign(signature)
        if not isinstance(found, Match):
            return self._nothing(signature, found)
        second = found.runner_up
        answer = Answer(
            entry_id=self._entry_of[found.cluster_id],
            cluster_id=found.cluster_id,
            score=found.score,
            rule=found.rule,
            reason=found.explanation,
            signature=signature.text,
            runner_up=self._entry_of.get(second.cluster_id) if second else None,
            runner_up_reason=f"scored {second.score:.1f}" if second else "",
        )
        return self._with_classes(answer, signature)

    def _with_classes(self, answer: Answer, signature: Signature) -> Answer:
        """The answer, with a word where the error's class is none that reports of the entry name, nor a kind of one.

        A class that says nothing, or that passes on what another layer raised, differs from none.
        """
        own = signature.exception_type
        if answer.cluster_id is None or own is None or not normalise.is_specific(own):
            return answer
        others = self._known.classes_of(answer.cluster_id)
        if not others or own in others:
            return answer
        from pipeline.cluster import is_type  # noqa: PLC0415  only here: costs 0.2 s that an equal answer saves

        if any(is_type(one, own) or is_type(own, one) for one in others):
            return answer
        shown = tuple(dict.fromkeys(map(short_class, others)))
        told = f"the class differs: {short_class(own)} here, {' and '.join(shown[:MOST_CLASSES])} there"
        answer = replace(answer, reason=f"{answer.reason} But {told}.", other_classes=shown)
        if answer.rule != "equal":
            return answer
        words = 2 * len(signature.text)
        score = round(100 * words / (words + len(short_class(own)) + min(map(len, shown))), 1)
        return replace(answer, rule="words", score=score, reason=f"The same words were grouped before, but {told}.")

    def _nothing(self, signature: Signature, found: Abstention) -> Answer:
        near = found.nearest
        reason = f"nothing known is like enough: {found.reason}" if found.reason.startswith("score") else found.reason
        return replace(
            _abstained(signature, reason),
            score=near.score if near else 0.0,
            runner_up=self._entry_of.get(near.cluster_id) if near else None,
            runner_up_reason="looks like it, but not enough to be sure" if near else "",
        )

    def _unseen(self, answer: Answer) -> Answer:
        """The answer to a text in which no error was found, if it is sure enough."""
        if answer.rule == "equal" or (answer.rule in SURE_RULES and answer.score >= UNSEEN_GATE_SCORE):
            return answer
        return replace(answer, entry_id=None, cluster_id=None, rule="abstained", reason=NO_ERROR, runner_up=None)


def _shown_with_its_stack(event: Event, errors: Sequence[Event]) -> bool:
    """Whether a line that names a class is the last one of a stack that is read as an error of that class."""
    return any(
        one.frames
        and one.start <= event.start < one.end
        and short_class(one.exception_type) == short_class(event.exception_type)
        for one in errors
    )


def _holding(found: Sequence[Event], place: int) -> Event:
    return next((event for event in found if event.start <= place < event.end), found[-1])


def _placed(answer: Answer, event: Event) -> Answer:
    packages = frames.packages(event.frames)
    places = [_shown(event.frames, normalise.place_name(project)) for project in ("", *packages)]
    return replace(
        answer,
        start=event.start,
        end=event.end,
        frame=places[0] or None,
        packages=packages,
        places=frozenset(filter(None, places)),
    )


def _shown(shown: Sequence[Frame], project: str) -> str:
    """The function that a reader who knows the project looks up; a script's own level where there is no other."""
    return frames.frame_key(shown, project).rpartition(" > ")[2] or frames.innermost(shown)


def nearest_case(cases: Sequence[Row], answer: Answer) -> int | None:
    """The number of the case of an entry that was raised where the text's error was; None if none was.

    The same frame of the same project or library says most, then the project, then the library. A frame alone says
    nothing: many programs have a `main`.
    """
    ranked = []
    for number, case in enumerate(cases):
        is_project = _named(case["repo"].rpartition("/")[2]) in map(_named, answer.packages)
        is_library = case["library"] is not None and case["library"] in answer.packages[:1]
        is_place = case["frame"] is not None and case["frame"] in answer.places
        if is_project or is_library:
            ranked.append((-is_place, -is_project, number))
    return min(ranked)[2] if ranked else None


def _named(project: str) -> str:
    """A project's name as a package spells it."""
    return project.lower().replace("-", "_")


def _word_count(template: str) -> int:
    return len(_WORD.findall(_SLOT.sub(" ", template)))


def _abstained(signature: Signature, reason: str) -> Answer:
    return Answer(None, None, 0.0, "abstained", reason, signature.text, None, "")
