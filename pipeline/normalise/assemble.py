"""A signature made from an event: culprit, template, gates, slots, and the notes of every rule that acted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from pipeline.normalise import peel, values
from pipeline.normalise.culprit import Culprit, culprit
from pipeline.normalise.masks import FILES, masked
from pipeline.normalise.tables import RuntimeMessage, messages_of, wording
from pipeline.records import Event, Frame, Signature, Slot, content_id, short_class, warm
from pipeline.text.frames import (
    OF_OWNER,
    frame_key,
    innermost,
    installed,
    named_by,
    node_package,
    raising,
    raising_package,
)

#: Part of every signature id; raised whenever a rule or a data file changes what a signature is.
NORMALISER_VERSION = "46"

#: Longest template kept; longer messages carry data, and fuzzy comparison costs their length squared.
TEMPLATE_LENGTH = 240

#: How much of a culprit line is read at all.
LINE_LENGTH = 600

#: Words of a line that are looked for where the line itself does not stand in the text (first more: five may also stand
#: in the source line that raises it), their least length in all, and how many of its first words may be missing there.
PLACED_WORDS, PLACED_LETTERS, FIRST_WORDS = (8, 5), 12, 12
#: How far before its words a line may begin: with a type, a time, a status.
TYPE_LENGTH = 120
#: Between two words of a line that was broken stand at most so many other characters: a break, a prefix, a quote mark.
WIDEST_GAP = 40
#: The longest quote that is published; an event without a stack that is no longer stands for itself as a whole.
QUOTED = 300

_WORDS = warm.pattern(r"[^\W_]+")
_BETWEEN = r"[\W_]{1,40}?"
_LETTERS = warm.pattern(r"[^\W\d_]{2}")
_WORD = warm.pattern(r"[^\W\d_]{3}|[\u3040-\u30ff\u3400-\u9fff]{2}")
_SLOT = warm.pattern(r"<[a-z-]{1,12}>")
_CLOSING = ("'", '"', "`", "”", "’")
#: Slots that hold a file; and a line and a column behind its name.
_FILED = ("path", "quoted")
_BEHIND_NAME = warm.pattern(r"(?:[:(]\d{1,7}(?:[:,]\d{1,5})?\)?)\Z")
#: A missing file and no other word; and a path that begins at no folder of a machine.
_NO_FILE = warm.pattern(r"(?:FileNotFoundException: )(?:[\w.@-]{1,80}/){0,8}(?:[\w@-]{1,60}\.)?<path>")
_OF_STORE = warm.pattern(r"(?:\w[\w.@-]{0,80}/){0,12}\w[\w.@-]{0,80}\.\w{1,8}")
#: A name in quotes, no path, number or sentence.
_NAME = warm.pattern(r"-{0,2}[A-Za-z_$][\w$.:-]{1,80}")
_CUT = warm.pattern(r"(?:\.\.\.|…)\s*\Z")
#: A word that no sentence ends with: what follows it was cut off.
_DANGLING = warm.pattern(
    r"(?:\w (?=(?:an?|the|of|to|or|and|with|by|as|than|be|from|at|are|must|should|your|into|because|between|its|their"
    r"|has|have|only|when|which|that)\Z)|> (?=(?:in|on|for)\Z))(?P<last>\w+)"
)
#: Readers of Python's stacks.
_PYTHON = frozenset({"python", "ipython", "vscode", "pytest", "faulthandler"})
#: Classes of the JVM and of .NET.
_FOREIGN = warm.pattern(r"(?:javax?|jakarta|kotlin|scala|junit|android|org|com|System|Microsoft)\.")


#: What is called so is no function; a script's own level is told by its file.
_NAMELESS = (None, "", "<cell line>")
#: Names whose underscores are markup where a report shows them as text.
_DUNDER = warm.pattern(r"\b__(?P<name>[A-Za-z]\w{0,40}?)__\b")
#: A source of JavaScript: where its stack names no function, that is the file's own level.
_SCRIPT = warm.pattern(r"\.[cm]?[jt]sx?\Z")
#: A function that a library of tests calls: what it compares are its own values, whoever compares them for it.
_TEST = warm.pattern(r"(?:.{0,120}[.:])?_?(?:test_|Test[A-Z]|test[A-Z]|test\Z)")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a culprit's words amount to, before they get an id."""

    text: str
    line: str
    exception_type: str | None
    gate: tuple[tuple[str, str], ...]
    is_complete: bool
    slots: tuple[Slot, ...]
    notes: tuple[str, ...]


def signature(event: Event, text: str = "", *, project: str = "") -> Signature:
    """What the event is, with what varies taken out; `text` is what `extract.events` was given.

    `project`: the repository, "owner/name", in whose tracker it is reported, "" if there is none. It is the place of a
    run time's words where no frames show one.
    """
    return signed(event, *_reading(replace(event, start=0, end=0), project), text, project=project)


def chosen_words(event: Event) -> Culprit:
    """The words of the event that are its error; at no cost where its signature was asked for just before."""
    return _culprit(replace(event, start=0, end=0))


@lru_cache(maxsize=64)  # ranks and retries print one error again and again: one event in twelve
def _culprit(event: Event) -> Culprit:
    return culprit(event)


@lru_cache(maxsize=64)
def _reading(event: Event, project: str) -> tuple[Culprit, Reading]:
    """The chosen words of an event and what they amount to, wherever in a text it stands."""
    found = _culprit(event)
    return found, read(found, event.frames, is_foreign=is_foreign(event), project=project)


def _names(quoted: str) -> bool:
    """Whether what stands in quotes is a name of a program's; that of a file is the reporter's."""
    return _NAME.fullmatch(quoted) is not None and not quoted.endswith(FILES)


def is_foreign(event: Event) -> bool:
    """Whether the error is none of Python's: by how it was read, a line alone by the package of its class."""
    if event.dialect == "exception-line":
        return _FOREIGN.match(event.exception_type or "") is not None
    return event.dialect not in _PYTHON


def read(
    found: Culprit, frames: Sequence[Frame] = (), *, is_foreign: bool = False, project: str | None = None
) -> Reading:
    """The template, gates and slots of chosen words; `frames` stand for an error without words.

    They also tell apart errors whose words a language says of any such mistake: of an `is_foreign` event, which is none
    of Python's, by the innermost function, of Python's by the package that raises, because the function is most often
    the user's own; where none is shown by `project`, the repository in which it is reported. Without one, of texts that
    stand for themselves (None, not ""), functions of nobody's package are anybody's and decide nothing.
    """
    line = _line(found)
    kind, words_only = peel.typed(line)
    kind = _unescaped(kind or found.exception_type)
    if kind is None and (bare := peel.bare_type(words_only)) is not None:
        kind, words_only = bare, ""
    status, words_only = peel.without_status(words_only)
    # what stands in brackets at the head is an exception's code, but an issue's key where no exception is named
    head = "" if kind else " "
    template, slots = masked(head + words_only[:LINE_LENGTH], found.hit.kept if found.hit else frozenset())
    notes = [*found.notes, f"{found.rule}: chose the culprit"]
    if status:
        slots = (*slots, Slot("status", status, None, None))
        notes.append(f"status: {status} is no part of the text")
    if found.hit is None:
        quoted = next((one.value for one in slots if one.name == "quoted" and _names(one.value)), "")
        template, gate = _unknown(template, kind, frames, notes, is_placed=is_foreign, quoted=quoted)
        if is_foreign and (asset := _asset(template, slots)):
            gate = tuple(sorted((*gate, ("symbol", asset))))
            notes.append("asset: a file of the program itself; its name says which error it is")
    else:
        gate = found.hit.gate
        if is_foreign and _happens_anywhere(dict(gate)):
            gate = _with_place(gate, frames, notes)
        named = {slot.value for slot in found.hit.slots}
        slots = (*found.hit.slots, *(slot for slot in slots if slot.value not in named))
        notes.append(f"family-{found.hit.rule}: known error")
        if kind and found.hit.is_typed:
            template = f"{short_class(kind)}: {template}"
    if PLACE not in dict(gate) and _NOWHERE not in notes and (message := _message(template, dict(gate))) is not None:
        if message.by != "package":
            notes.append(UNNAMED)
        if message.checks or (message.codes and message.by != "project"):
            notes.append(CHECKED)
        if message.names_type:
            gate = _with_type(gate, slots, notes)
        where = _origin(message, frames, is_foreign=is_foreign, project=project)
        if message.names_file and not where:
            gate = _with_file(gate, slots, notes)
        gate = _arisen(gate, where, project or "", notes)
    return Reading(
        text=_bounded(template) or kind or _wordless(gate),
        line=line,
        exception_type=_canonical(kind),
        gate=gate,
        is_complete=found.hit is not None and found.hit.is_complete,
        slots=slots,
        notes=tuple(notes),
    )


def is_empty(found: Signature) -> bool:
    """True if the signature says that something failed and not what: no words, a bare wrapper, that it stopped."""
    table, gate = wording(), dict(found.gate)
    if "code" in gate:
        return False
    if _NOWHERE in found.notes:
        return True
    if gate.get("kind") in table.empty_kinds or any(pattern.search(found.text) for pattern in table.empty):
        return True
    kind = short_class(found.exception_type)
    says_nothing = {*table.generic_types, *table.wrapper_types}
    if found.text == kind:
        return kind in says_nothing
    if kind and kind not in says_nothing:
        return False
    # a place says where, a name out of quotes stands for the words beside it: neither says what failed
    if gate.keys() <= {PLACE} and any(pattern.search(found.text) for pattern in table.empty_alone):
        return True
    return gate.keys() <= _SAYING_NOTHING and (found.text == _wordless(found.gate) or not _has_word(found.text))


def _has_word(template: str) -> bool:
    """Whether anything but slots, numbers and marks is left: a word of three letters, of two in Chinese or Japanese."""
    return _WORD.search(_SLOT.sub(" ", template)) is not None


def _wordless(gate: tuple[tuple[str, str], ...]) -> str:
    """What stands for an error without type and words: a traceback whose end was cut."""
    frame = dict(gate).get(PLACE)
    return f"no message in {frame}" if frame else "no message"


def _unknown(
    template: str, kind: str | None, frames: Sequence[Frame], notes: list[str], *, is_placed: bool, quoted: str
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text and the gates of words that are no known error; `quoted` is a name that they show."""
    sentence = values.without_ends(peel.first_sentence(peel.without_tail(values.folded(template))))
    if sentence != template:
        notes.append("first-sentence: dropped what follows it")
    gate = peel.gates(sentence, kind)
    is_placeless = short_class(kind) in wording().placeless
    frame = "" if sentence or is_placeless else _where(frames)
    if frame:
        gate = tuple(sorted((*gate, (PLACE, frame))))
        notes.append("frame: there is no message; the innermost function stands for it")
    elif not is_placeless and _is_compared(sentence):
        gate = _with_place(gate, frames, notes, _test(frames))
    elif not is_placeless and is_placed and _is_said_anywhere(sentence or short_class(kind)):
        gate = _with_place(gate, frames, notes)
    elif is_placed and kind is None and quoted and peel.counted(sentence) < peel.TELLING_WORDS:
        gate = tuple(sorted((*gate, ("symbol", quoted))))
        notes.append("quoted: the words say too little without what they quote")
    if any(key == "exception" for key, _ in gate):
        sentence = f"{short_class(kind)}: {sentence}" if sentence else short_class(kind)
        notes.append("type: the words do not say enough without the exception type")
    return sentence, gate


def _happens_anywhere(gate: Mapping[str, str]) -> bool:
    """Whether a known error is one that a language says of any such mistake."""
    return gate.get("kind") in wording().placed_kinds or _is_said_anywhere(gate.get("feature", ""))


def _is_said_anywhere(template: str) -> bool:
    return bool(template) and any(row.match(template) for row in wording().placed)


def _is_compared(template: str) -> bool:
    """Whether there is nothing but values: which were compared, in any language, only the place says."""
    return bool(template) and any(row.match(template) for row in wording().compared)


def _where(frames: Sequence[Frame]) -> str:
    """The innermost function that is neither plumbing nor a run time's, "" if none is named."""
    rows = wording().runtime
    named = ((one, named_by(one)) for one in frames)
    return innermost([one for one, name in named if not any(row.match(name) for row in rows)])


def _test(frames: Sequence[Frame]) -> str:
    """The innermost function of a test, "" if there is none."""
    return next((named_by(one) for one in reversed(frames) if one.function and _TEST.match(one.function)), "")


#: The gate that holds where an error arises: `owner/module:function`, `module:function`, a package or a project.
PLACE = "place"
#: Gates that do not say what failed: where, and what a template quotes.
_SAYING_NOTHING = frozenset({PLACE, "symbol"})
#: The notes of a run time's words: the frames say which error they are, or the tracker of the report, or nothing does.
ARISEN = "arisen: any program of the language prints these words; where the stack says that they arise decides"
REPORTED = "reported: any program of the language prints these words; without a stack the project decides"
CHECKED = "checked: a library says of values that they do not fit, which is the error of who hands them over"
UNNAMED = "unnamed: these words name nothing of the program's own"
FILED = "filed: nothing shows where these words arise; the name of the file says which error it is"
UNPLACED = "unplaced: any program of the language prints these words, and nothing shows where they arise"

_AS_SHOWN = "as-shown: the same words stand elsewhere in the text with a stack, which says where they arise"

#: The note of an error whose words a language says of any such mistake, and that shows no place.
_NOWHERE = "nowhere: the words say what went wrong and not which, and no place is shown"


def _with_place(
    gate: tuple[tuple[str, str], ...], frames: Sequence[Frame], notes: list[str], known: str = ""
) -> tuple[tuple[str, str], ...]:
    """The gate with the function in which it happened (`known`, if it is), where no other symbol decides."""
    where = known or _where(frames)
    if any(key == "symbol" for key, _ in gate):
        return gate
    if not where:
        notes.append(_NOWHERE)
        return gate
    notes.append("place: the words say what went wrong and not which; the innermost function does")
    return tuple(sorted((*gate, (PLACE, where))))


def _message(template: str, gate: Mapping[str, str]) -> RuntimeMessage | None:
    """The row of a run time's words that these are."""
    return next((row for row in messages_of(gate.get("kind")) if row.says(template, gate)), None)


def _origin(message: RuntimeMessage, frames: Sequence[Frame], *, is_foreign: bool, project: str | None) -> str:
    """Where the frames say that a run time's words arise, "" where they do not.

    A function stands behind whose it is, as far as that is known: its package, or the project in which it is reported.
    """
    if message.by == "project":
        return ""
    if message.by == "file":
        file = _file_name(frames[-1].file or "") if frames and project is not None else ""
        return f"{place_name(project)}{OF_OWNER}{file}" if project and file else file
    frames = [one for one in frames if installed(one) not in message.checks]
    package = place_name(node_package(frames) if is_foreign else raising_package(frames))
    if message.by == "package" or not (is_foreign or package or project is not None):
        return package
    function = _function(message, frames, is_foreign=is_foreign)
    owner = package or place_name(project or "")
    return f"{owner}{OF_OWNER}{function}" if owner and function else function or package


def _function(message: RuntimeMessage, frames: Sequence[Frame], *, is_foreign: bool) -> str:
    """The function in which a run time's words arise, "" where none is named."""
    if message.by == "test" and (test := _test(frames)):
        return test
    if is_foreign:
        where = _where(frames)
        is_nobody = where.endswith(":?") and _SCRIPT.search(frames[-1].file or "") is None
        return "" if is_nobody else where
    own = raising(frames)
    named = named_by(own) if own is not None and own.function not in _NAMELESS else ""
    return _DUNDER.sub(r"\g<name>", named)


def _with_type(
    gate: tuple[tuple[str, str], ...], slots: Sequence[Slot], notes: list[str]
) -> tuple[tuple[str, str], ...]:
    """The gate with the type of the value that the words quote last."""
    named = [one.value for one in slots if one.name == "quoted" and _NAME.fullmatch(one.value)]
    if not named or any(key == "symbol" for key, _ in gate):
        return gate
    notes.append("type-quoted: the type of the value says which error it is")
    return tuple(sorted((*gate, ("symbol", short_class(named[-1])))))


def _with_file(
    gate: tuple[tuple[str, str], ...], slots: Sequence[Slot], notes: list[str]
) -> tuple[tuple[str, str], ...]:
    """The gate with the name of the file that the words quote first, where no other symbol decides."""
    name = next((_file_name(one.value) for one in slots if one.name in _FILED), "")
    if not name or any(key == "symbol" for key, _ in gate):
        return gate
    notes.append(FILED)
    return tuple(sorted((*gate, ("symbol", name))))


def _asset(template: str, slots: Sequence[Slot]) -> str:
    """The name of the file that a program's own store has not: by a path from nowhere; "" of a machine's."""
    if _NO_FILE.fullmatch(template) is None:
        return ""
    path = next((one.value for one in slots if one.name == "path"), "")
    return _file_name(path) if _OF_STORE.fullmatch(path) else ""


def _file_name(path: str) -> str:
    """The last part of a path of any system, without a line; "" where it has none."""
    return _BEHIND_NAME.sub("", path.strip("'\"`").rstrip("/\\")).replace("\\", "/").rpartition("/")[2]


def place_name(project: str) -> str:
    """A package or a repository as a place: a project's own package and its repository are one."""
    name = project.rpartition("/")[2].lower().replace("-", "_")
    return wording().alias[PLACE].get(name, name)


def is_arisen(found: Signature) -> bool:
    """Whether the frames say where an error of a run time's words arises."""
    return ARISEN in found.notes


def is_named(found: Signature) -> bool:
    """Whether a run time's words name something of the program's, or what a library or a device refuses."""
    return CHECKED in found.notes or ("symbol" in dict(found.gate) and UNNAMED not in found.notes)


def is_elsewhere(found: Signature) -> bool:
    """Whether an error has a run time's words and no frames that say where they arise."""
    return REPORTED in found.notes or UNPLACED in found.notes


def placed_as(found: Signature, others: Sequence[Signature]) -> Signature:
    """The error with the place of the others that have the same words, if these arise in one place only."""
    gate = tuple(pair for pair in found.gate if pair[0] != PLACE)
    same = {one.gate for one in others if tuple(pair for pair in one.gate if pair[0] != PLACE) == gate}
    if len(same) != 1:
        return found
    (gate,) = same
    return replace(found, gate=gate, signature_id=_id(gate, found.text), notes=(*found.notes, _AS_SHOWN))


def _id(gate: tuple[tuple[str, str], ...], text: str) -> str:
    flat = "\x1e".join(f"{key}\x1f{value}" for key, value in gate)
    return content_id("signature", NORMALISER_VERSION, flat, text)


def _arisen(
    gate: tuple[tuple[str, str], ...], origin: str, project: str, notes: list[str]
) -> tuple[tuple[str, str], ...]:
    """The gate of a run time's words with the place where they arise."""
    where = origin or place_name(project)
    if not where:
        notes.append(UNPLACED)
        return gate
    notes.append(ARISEN if origin else REPORTED)
    return tuple(sorted((*gate, (PLACE, where))))


def signed(event: Event, found: Culprit, reading: Reading, text: str, *, project: str = "") -> Signature:
    """The signature of a reading: its id, its frames, and where its words stand in `text`; `project` as `signature`."""
    start, end = _place(event, reading, text)
    return Signature(
        signature_id=_id(reading.gate, reading.text),
        exception_type=reading.exception_type,
        text=reading.text,
        gate=reading.gate,
        is_gate_complete=reading.is_complete,
        frame_key=frame_key(event.frames, place_name(project)),
        slots=reading.slots,
        culprit=found.rule,
        start=start,
        end=end,
        is_truncated=event.is_truncated or not reading.line or _is_cut(reading, event.detail or event.message),
        notes=reading.notes,
    )


def _is_cut(reading: Reading, text: str) -> bool:
    """Whether the line says that it goes on, or its words end inside a sentence where the text ends."""
    inside = _DANGLING.search(reading.text)
    return bool(_CUT.search(reading.line)) or (inside is not None and text.rstrip().endswith(inside["last"]))


def _line(found: Culprit) -> str:
    """The line of the culprit's text that the hit stands on; the first one that says something if there is none."""
    text = found.message
    if found.hit is None:
        line = next((line for line in text.split("\n") if _LETTERS.search(line)), text.partition("\n")[0])
    else:
        begin = text.rfind("\n", 0, found.hit.start) + 1
        if text[found.hit.start : found.hit.start + 1] == "\n":
            begin = found.hit.start + 1
        if not found.hit.is_complete:
            begin = found.hit.start  # its text is compared: words before the diagnostic are no part of it
        end = text.find("\n", max(found.hit.end, begin))
        line = text[begin : end if end >= 0 else len(text)]
    line = peel.without_markup(" ".join(line.split()))
    line = peel.without_foreign_words(peel.without_prefix(line.removeprefix(": ")))
    return peel.without_prefix(peel.without_prose(line)) if found.hit is None else line


def _bounded(template: str) -> str:
    if len(template) > TEMPLATE_LENGTH:
        template = template[:TEMPLATE_LENGTH].rpartition(" ")[0] or template[:TEMPLATE_LENGTH]
    return peel.unmarked(template) or template


def _unescaped(exception_type: str | None) -> str | None:
    """The class without what a log in JSON doubles in the names of PHP's."""
    return exception_type.replace("\\\\", "\\") if exception_type else exception_type


def _canonical(exception_type: str | None) -> str | None:
    return wording().types.get(exception_type, exception_type) if exception_type else None


def _place(event: Event, reading: Reading, text: str) -> tuple[int, int]:
    """Where the error's words stand in the text, so that they alone are read as the same error again."""
    if not text or (not event.frames and event.end - event.start <= QUOTED):
        return event.start, event.end
    if not reading.line or any(note.startswith("frame:") for note in reading.notes):
        return _last_words(event, text)
    return _verbatim(event, reading, text) or _reassembled(event, reading.line, text) or (event.start, event.end)


def _verbatim(event: Event, reading: Reading, text: str) -> tuple[int, int] | None:
    """The line with the type, the time or the place that is printed before it; the last one of an exception.

    A traceback shows the message in the source line that raises it, before it is printed.
    """
    begun = reading.line[:80]
    kind = short_class(reading.exception_type or event.exception_type)
    place = text.rfind(f"{kind}: {begun}", event.start, event.end) if kind else -1
    if place < 0:
        look = text.rfind if event.exception_type else text.find
        place = look(begun, event.start, event.end)
    if place < 0:
        return None
    return _line_start(event, text, place), _line_end(event, reading.line, text, place)


def _line_start(event: Event, text: str, place: int) -> int:
    """Where the printed line begins that holds `place`, with the type, the time or the file before it."""
    begin = max(event.start, text.rfind("\n", 0, place) + 1)
    return begin if place - begin <= TYPE_LENGTH else place


def _line_end(event: Event, line: str, text: str, place: int) -> int:
    """Where the last word of the line stands, with what follows it there: a message may be printed on several lines."""
    behind, read = place, 0
    for word in _WORDS.finditer(line[:LINE_LENGTH]):
        at = text.find(word[0], behind, min(event.end, behind + len(word[0]) + WIDEST_GAP))
        if at < 0:
            break
        behind, read = at + len(word[0]), word.end()
    rest = behind + len(line) - read
    if text.startswith(line[read:], behind, event.end) and text[rest : rest + 1] in _CLOSING:
        return rest  # whoever quotes the message goes on behind it
    end = text.find("\n", behind, event.end)
    return min(end if end >= 0 else event.end, behind + TYPE_LENGTH)


def _last_words(event: Event, text: str) -> tuple[int, int]:
    """The exception's type with the frame that stands for an error without words, as far as a quote reaches."""
    named = text.rfind(short_class(event.exception_type), event.start, event.end) if event.exception_type else -1
    if 0 <= named <= event.start + TYPE_LENGTH:
        return event.start, event.end  # its stack follows it
    end = text.find("\n", named, event.end) if named >= 0 else event.end
    end = end if end >= 0 else event.end
    floor = max(event.start, end - QUOTED)
    name = innermost(event.frames).rpartition(":")[2]
    frame = text.rfind(name, floor, end) if name else -1
    begin = text.rfind("\n", floor, frame) + 1 if frame >= 0 else 0
    return begin or (floor if floor == event.start else text.find("\n", floor, end) + 1 or floor), end


def _reassembled(event: Event, line: str, text: str) -> tuple[int, int] | None:
    """Where the words of a line stand that was put together: from several lines, or without its time or status."""
    line = peel.typed(line)[1]
    places = list(_WORDS.finditer(line[:LINE_LENGTH]))
    words = [place[0] for place in places]
    for count, first in product(PLACED_WORDS, range(min(FIRST_WORDS, len(words)))):
        some = words[first : first + count]
        if sum(map(len, some)) < PLACED_LETTERS:
            continue
        # the last one: before it they may stand in the source line that raises them
        found = None
        for found in re.compile(_BETWEEN.join(map(re.escape, some))).finditer(text, event.start, event.end):  # noqa: B007
            pass
        if found is not None:
            end = _line_end(event, line[places[first].start() :], text, found.start())
            return _line_start(event, text, found.start()), end
    return None
