"""Which error a sentence is about, and on what machine and versions it happened."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pipeline.distil import actions, tables
from pipeline.distil.claims.prose import is_prose
from pipeline.distil.project import Project, project
from pipeline.records import ClaimKind, Document, Event, Fact, PostKind, Severity, Signature, short_class, warm

# Which error of a thread a statement speaks about: the one it names, the one beside it, the one it answers.

Pair = tuple[Event, Signature]

#: How many errors one closing change may speak about where a report opens with several.
_MOST_SUBJECTS = 3
#: A title names one of several errors with its type, or with so many words of its message; a statement with its type,
#: or with so many. On 1,138 labelled threads three words were the right error's in 9 of 34 statements, five in 6 of 9.
_TITLED = 3
_NAMING = 5
#: Words that are the type of any error.
_ANY_TYPE = frozenset({"error", "exception"})
#: Between two errors of one log stands no fence and no sentence, in at most so many characters.
_MOST_LOG = 6_000
_WORD = warm.pattern(r"[A-Za-z_][\w.]{3,}")


def errors_of(events: Sequence[Event], signatures: Sequence[Signature]) -> list[Pair]:
    """The events that are errors, each with its signature."""
    return [(e, s) for e, s in zip(events, signatures, strict=True) if e.severity == Severity.ERROR]


def subject(document: Document, errors: Sequence[Pair], start: int, end: int) -> str | None:
    """The signature of the error that the words at `start` to `end` speak about, None where nothing says which.

    The one that the words name, or that of the report where they speak of "the original error". Else, where the thread
    shows one error alone, that: if the report shows it, or its title names what a comment shows. Else that of the
    report, as long as nobody else has shown one. People answer the report; which of several errors they mean cannot be
    seen from where they say it. Of the causes, acts and failures of 1,138 labelled threads the report's only error was
    the right one in 91 % (2,389 of 2,612), the only error where a comment shows it in 76 %, the last of a log in 33 %,
    the last that anybody showed in 42 %.
    """
    named = _named_by(document.text[start:end], errors, _NAMING)
    if len(named) == 1:
        return named[0]
    post = document.post_at(start)
    if len({s.signature_id for _, s in errors}) == 1:
        return None if _is_other(document, end, errors[0][0].start) else _only(document, errors, post)
    if tables.original().search(document.text, start, end):
        told = opening(document, errors)
        return told[0] if len(told) == 1 else None
    own = [(e, s) for e, s in errors if document.post_at(e.start) == post]
    if own:
        # who prints an error in answer to another tells of two; who reports one speaks of it, not before it is shown
        is_told = _is_opening(document, post) and own[0][0].start < start
        return own[0][1].signature_id if is_told and len({s.signature_id for _, s in own}) == 1 else None
    return _answered(document, errors, post)


def _only(document: Document, errors: Sequence[Pair], post: int) -> str | None:
    """The only error of a thread, where it is the one that people speak of; before anybody shows it, it is not."""
    event, signature = errors[0]
    shown = document.post_at(event.start)
    is_meant = _is_opening(document, shown) or _is_titled(document, event)
    return signature.signature_id if shown <= post and is_meant else None


def _is_other(document: Document, end: int, shown: int) -> bool:
    """True if who prints an error behind a statement announces it as another one."""
    return end < shown <= end + _MOST_LOG and bool(_announced().search(document.text, end, shown))


@cache
def _announced() -> re.Pattern[str]:
    return next(cue.pattern for cue in tables.cues() if cue.rule == "link.then_another")


def _is_titled(document: Document, event: Event) -> bool:
    """True if the title has a word of the error, or its type."""
    return _score(set(_WORD.findall((document.title or "").lower())), event) > 0


def _answered(document: Document, errors: Sequence[Pair], post: int) -> str | None:
    """The error of the report, where no other post before shows any; of a log's the one that the title names."""
    before = [(e, s) for e, s in errors if document.post_at(e.start) < post]
    if not all(_is_opening(document, document.post_at(e.start)) for e, _ in before):
        return None
    if len({s.signature_id for _, s in before}) == 1:
        return before[0][1].signature_id
    # a title tells in short what the body shows
    shown = [(e, s) for e, s in before if document.post_at(e.start) == document.post_at(before[-1][0].start)]
    title = document.title or ""
    named = _named_by(title, shown, _TITLED) or _named_by(title, before, _TITLED)
    return named[0] if len(named) == 1 and _is_log(document, shown) else None


def _is_log(document: Document, shown: Sequence[Pair]) -> bool:
    """True if the errors stand in one post, and nobody says a word between them."""
    if len({document.post_at(e.start) for e, _ in shown}) != 1:
        return False
    for (one, _), (two, _) in itertools.pairwise(shown):
        between = document.text[one.end : two.start]
        if len(between) > _MOST_LOG or "```" in between or any(map(is_prose, between.split("\n"))):
            return False
    return True


def names_one(document: Document, errors: Sequence[Pair], start: int, end: int) -> bool:
    """True if the words at `start` to `end` name one of the errors."""
    return len(_named_by(document.text[start:end], errors, _NAMING)) == 1


def named_words(text: str, errors: Sequence[Pair]) -> int:
    """How well `text` names the best named of the errors: words of its message, five more for its type."""
    words = set(_WORD.findall(text.lower()))
    return max((_score(words, event) for event, _ in errors), default=0)


def shown_by(document: Document, errors: Sequence[Pair], place: int) -> int:
    """How many different errors the posts show up to and with the one at `place`."""
    post = document.post_at(place)
    return len({s.signature_id for e, s in errors if document.post_at(e.start) <= post})


def is_beside(document: Document, errors: Sequence[Pair], place: int) -> bool:
    """True if the post at `place` shows an error behind it, and is not the report."""
    post = document.post_at(place)
    behind = any(document.post_at(e.start) == post and e.start >= place for e, _ in errors)
    return behind and not _is_opening(document, post)


def reported(document: Document, errors: Sequence[Pair], start: int, end: int) -> tuple[str, ...]:
    """What the words at `start` to `end` say is fixed: the error that they name, or those of the report.

    "Fixed" is said of a report as a whole, not of what its own post prints, nor of what somebody met on the way: so the
    errors of the report, where nobody else shows another before.
    """
    named = _named_by(document.text[start:end], errors, _NAMING)
    if len(named) == 1:
        return (named[0],)
    post = document.post_at(start)
    opened = {s.signature_id for e, s in errors if _is_opening(document, document.post_at(e.start))}
    others = {s.signature_id for e, s in errors if document.post_at(e.start) < post} - opened
    return () if others else tuple(sorted(opening(document, errors)))


def opening(document: Document, errors: Sequence[Pair]) -> list[str]:
    """The signatures of the errors that a report opens with; where its title names some of them, those."""
    opened = [(e, s) for e, s in errors if _is_opening(document, document.post_at(e.start))]
    named = _named_by(document.title or "", opened, _TITLED)
    return named or list(dict.fromkeys(s.signature_id for _, s in opened))[:_MOST_SUBJECTS]


def _named_by(text: str, errors: Sequence[Pair], least: int) -> list[str]:
    """The signatures of the errors that `text` names best: by the type, or by at least `least` words of the message."""
    words = set(_WORD.findall(text.lower()))
    scores = [_score(words, event) for event, _ in errors]
    most = max(scores, default=0)
    if most < least:
        return []
    return list(dict.fromkeys(s.signature_id for (_, s), score in zip(errors, scores, strict=True) if score == most))


def _score(words: set[str], event: Event) -> int:
    """How well words name an error: words of its message, its type as much as it takes."""
    kind = short_class(event.exception_type).lower()
    is_typed = kind in words and kind not in _ANY_TYPE
    return len(words.intersection(_WORD.findall(event.message.lower()))) + (_NAMING if is_typed else 0)


#: The words of a class's name, and what every class ends in.
_PARTS = warm.pattern(r"[A-Z][a-z]+|[A-Z]+(?![a-z])")
_ENDING = warm.pattern(r"(?:Exception|Error)$")
#: Initials of fewer letters, and stems of fewer, are anything's.
_INITIALS, _STEM = 3, 6
#: A title that has so many words of a message names it.
_TOLD = 2


def is_titled(title: str, event: Event) -> bool:
    """True if a title names the error: words of its message, its type however it is written, or the type's initials."""
    if _score(set(_WORD.findall(title.lower())), event) >= _TOLD:
        return True
    kind = re.split(r"[.$]", event.exception_type or "")[-1]
    initials = "".join(part[0] for part in _PARTS.findall(kind))
    short = {initials, initials[:-1]} if len(initials) > _INITIALS else {initials}  # "OOM" as well as "OOME"
    if len(initials) >= _INITIALS and short.intersection(re.findall(r"[A-Z]{3,}", title)):
        return True
    stem = _ENDING.sub("", kind).lower()
    return len(stem) >= _STEM and stem in "".join(filter(str.isalpha, title.lower()))


def _is_opening(document: Document, post: int) -> bool:
    return post < 0 or document.posts[post].kind in (PostKind.TITLE, PostKind.BODY)


# Where an error was seen: GPU, driver, CUDA, OS, Python, packages; from blocks, lists and paths, not sentences.

#: Environment blocks stand in the first post nearly always; a log of megabytes behind it is not searched.
_MOST = 60_000
_MAX_VALUE = 60
_SITE = warm.pattern(r"[/\\](?:lib|Lib)[/\\]python(\d\.\d{1,2})[/\\](?:site|dist)-packages")
_SMI = warm.pattern(r"Driver Version: (\d{3}\.\d{2,3}(?:\.\d{2})?)\s{1,12}CUDA Version: (\d{1,2}\.\d)")
_HOME = warm.pattern(r"/usr/local/cuda-(\d{1,2}\.\d)\b")
_PIN = warm.pattern(
    r"^(?:\[(?:pip3?|conda)\] )?([A-Za-z][\w.-]{1,40})(?:==|[ \t]{1,40})v?(\d{1,4}\.\d[\w.+]{0,24})(?=[\s,]|$)"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One fact about the environment with the place that says it."""

    rule: str
    name: str
    value: str
    start: int
    end: int


@cache
def _line() -> re.Pattern[str]:
    start = tables.trie(tables.table("environment.toml")["start"])
    return warm.pattern(rf"\n[ \t>*#|+`_-]{{0,8}}({start}[^\n]{{0,200}})(?=\n|\Z)", re.IGNORECASE)


_ENTRY = warm.pattern(r"^\[?([^\n:=|\]]{1,70}?)\]?[*_`]{0,3}\s{0,6}(?:==?>?|:|=>|\|)[*_`]{0,3}\s{0,6}(\S.{0,120})$")


@cache
def _rows() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (
            row["name"],
            warm.pattern(row["key"], re.IGNORECASE),
            tables.gpu_pattern() if row["value"] == "gpu" else warm.pattern(row["value"]),
        )
        for row in tables.table("environment.toml")["row"]
    )


@cache
def machine_names() -> frozenset[str]:
    """Names that describe the machine; other products' versions are versions of the entry."""
    return frozenset(tables.table("environment.toml")["environment"]["names"])


def seen(document: Document) -> list[Seen]:
    """The first value of each name that the document gives, in the order of the text; at most one value a name."""
    text = document.text
    least = document.posts[0].end if document.posts and document.posts[0].kind == PostKind.TITLE else 0
    most = min(len(text), least + _MOST)
    found: dict[str, Seen] = {}
    own = project(document)
    told = [*_listed(text, least, most), *_elsewhere(text, most), *_in_report(document, own)]
    for item in sorted(told, key=lambda s: (s.start, s.name)):
        # what a block says outranks what a path shows
        if item.name not in found or (found[item.name].rule == "environment.path" and item.rule != "environment.path"):
            found[item.name] = item
    return sorted(found.values(), key=lambda s: (s.start, s.name))


def _listed(text: str, least: int, most: int) -> Iterator[Seen]:
    # the literal line break in front lets the search leap; a text that begins with such a line gets one
    text, shift = (text, 0) if least else ("\n" + text, 1)
    for line in _line().finditer(text, max(0, least - shift), most):
        start, content = line.start(1) - shift, line.group(1).rstrip()
        entry = _ENTRY.match(content)
        read = _entry(entry) if entry else None
        if read is not None:
            yield Seen("environment.line", *read, start, start + len(content))
            continue
        pin = _PIN.match(content)
        name = tables.products().get(pin.group(1).lower()) if pin else None
        if pin and name:
            yield Seen("environment.package", name, pin.group(2), start, start + pin.end())


def _entry(entry: re.Match[str]) -> tuple[str, str] | None:
    key = entry.group(1).strip(" \t*_`-#>").lower()
    stated = actions.without_describe(entry.group(2))
    for name, keys, values in _rows():
        matched = keys.fullmatch(key)
        if matched is None:
            continue
        named = tables.products().get(matched["product"].strip()) if name == "$product" else name
        if named in machine_names() and stated != entry.group(2):
            continue  # a project describes its own commits: the line was filled in under the wrong heading
        value = values.search(stated) if named else None
        if named and value:
            return named, (value.group(1) if value.groups() else value.group()).strip()[:_MAX_VALUE]
    return None


#: A line that names versions one beside the other, or the project's own, is no longer.
_MOST_LINE = 200
_MARKS_BEFORE = warm.pattern(r"[ \t>*#|+`_-]{0,8}")
_BETWEEN = warm.pattern(r"[,;|，；、](?:\s*and\s)?|\s(?:/|and|on|with|under|\+)\s")
#: Behind a name or a version: "(from conda)", a full stop.
_ASIDE = warm.pattern(r"(?:\s*\([^()\n]{1,40}\))?[\s.`*_]*\Z")
_IN_BRACKETS = warm.pattern(r"\([^()\n]{1,40}\)")
_STATED = (
    r"(?P<name>[A-Za-z][\w.@/+-]{1,40}(?: [A-Za-z][\w.+-]{1,20}){0,2}?)[*_`]{0,3}(?: ?\(?[Vv]ersion\)?)?[*_`]{0,3}"
    r"(?:\s*(?:==?|:|@|\s-\s)[*_`]{0,3}\s*|\s+|(?=v\d))"
    r"(?P<version>v?\d{1,4}\.\d{1,4}(?:\.\d{1,5}){0,2}(?:[.+-]?(?:rc|dev|post|alpha|beta|a|b|cu|rocm)[\w.]{0,16})?)"
)
_NAMED = warm.pattern(_STATED)
#: "Java 17": a version without a point, of what is named so (`whole` of the table).
_WHOLE = warm.pattern(r"(?P<name>[A-Za-z.][\w.+-]{1,40}(?: [A-Za-z][\w.+-]{1,20}){0,2}?) v?(?P<version>\d{1,3})")
#: So many parts of a line name a version, a system or a card, and at least half of all.
_LEAST_PARTS = 2


def _in_report(document: Document, own: Project | None) -> Iterator[Seen]:
    """Versions that stand in one line of the report ("widget 2.3.1, Python 3.11, CUDA 12.4"), and the project's own."""
    for post in document.posts:
        at = post.start
        if post.kind != PostKind.BODY:
            continue
        for line in document.text[at : min(post.end, at + _MOST)].split("\n"):
            if "." in line and len(line) <= _MOST_LINE:
                marks = _MARKS_BEFORE.match(line)
                start = at + (marks.end() if marks else 0)
                yield from versions_of(document.text[start : at + len(line.rstrip())], start, own)
            at += len(line) + 1


def versions_of(words: str, start: int, own: Project | None) -> Iterator[Seen]:
    """What a line that begins at `start` states: the project's own version, or several names with theirs."""
    end = start + len(words)
    alone = _NAMED.fullmatch(_ASIDE.sub("", words))
    if alone is not None:
        if own is not None and own.is_called(alone["name"]):
            yield Seen("environment.own", own.name, alone["version"].lstrip("v"), start, end)
        return
    lead, refuse = _listing()
    if not _BETWEEN.search(words) or refuse.search(_IN_BRACKETS.sub("", words)):
        return
    led = lead.match(words)
    parts = [part.strip() for part in _BETWEEN.split(words[led.end() if led else 0 :]) if part.strip()]
    read = [one for one in (_part(part, own) for part in parts) if one is not None]
    names = {name for name, _ in read}
    if len(read) >= _LEAST_PARTS and 2 * len(read) >= len(parts) and len(names) == len(read):
        for name, value in read:
            yield Seen("environment.listed", name, value, start, end)


def _part(part: str, own: Project | None) -> tuple[str, str] | None:
    """(name, value) of one of the things that a line lists: software with its version, a system, a card."""
    words = _ASIDE.sub("", part)
    named = _NAMED.fullmatch(words)
    if named is not None:
        name = own.name if own is not None and own.is_called(named["name"]) else _product(named["name"])
        if name is not None:
            return name, named["version"].lstrip("v")
    whole = _WHOLE.fullmatch(words)
    name = _product(whole["name"]) if whole is not None else None
    if whole is not None and name in _counted_whole():
        return str(name), whole["version"]
    for name, _, values in _rows():
        if name == "OS" and (system := values.fullmatch(words)):
            return name, system.group(1).strip()
        if name == "GPU" and (card := values.search(words)) and _CARD.fullmatch(words[: card.start()]):
            return (name, card.group().strip()) if not words[card.end() :].strip() else None
    return None


#: What may stand before a card's name: "GPU: 2 x".
_CARD = warm.pattern(r"(?:(?:gpus?|显卡)\s*[:：=]?\s*)?(?:\d{1,2}\s?[x*×]\s?)?", re.IGNORECASE)


def _product(spelling: str) -> str | None:
    return tables.products().get(spelling.lower()) or _software().get(spelling.lower())


@cache
def _software() -> dict[str, str]:
    """Names of software by their spellings, which only a list of versions tells from everyday words."""
    rows = tables.table("environment.toml")["listed"]["software"]
    return {spelling: name for name, spellings in rows.items() for spelling in spellings}


@cache
def _counted_whole() -> frozenset[str]:
    return frozenset(tables.table("environment.toml")["listed"]["whole"])


@cache
def _listing() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """(how a line begins that lists what somebody uses, words by which it tells of something else)."""
    rows = tables.table("environment.toml")["listed"]
    return warm.pattern(rows["lead"], re.IGNORECASE), warm.pattern(rows["refuse"], re.IGNORECASE)


def _elsewhere(text: str, most: int) -> Iterator[Seen]:
    if "-packages" in text and (site := _SITE.search(text, 0, most)):
        yield Seen("environment.path", "Python", site.group(1), *site.span())
    if "CUDA Version: " in text and (smi := _SMI.search(text, 0, most)):
        yield Seen("environment.line", "NVIDIA driver", smi.group(1), *smi.span())
        yield Seen("environment.line", "CUDA", smi.group(2), *smi.span())
    if "/usr/local/cuda-" in text and (home := _HOME.search(text, 0, most)):
        yield Seen("environment.path", "CUDA", home.group(1), *home.span())


def facts(item: Seen) -> Iterator[tuple[ClaimKind, Fact]]:
    """(kind of claim, fact) for one finding: the machine's part, the product's part, or both (CUDA)."""
    if item.name in machine_names():
        yield ClaimKind.ENVIRONMENT, Fact("environment.seen", (("name", item.name), ("value", item.value)))
    if item.name not in {"GPU", "OS", "NVIDIA driver"}:
        yield ClaimKind.VERSION, Fact("version.affected", (("product", item.name), ("version", item.value)))
