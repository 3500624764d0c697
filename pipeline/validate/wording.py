"""The rules of what stands in an entry: expressions, Chinese, actions.

What stands for many sentences says none of them: an explanation that would fit other messages as well is refused. That
is known when all entries are made, not of one alone (`is_too_general`).
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import duckdb

from pipeline.lexicon import advice, explanations, gates
from pipeline.records.entry import KnowledgeEntry
from pipeline.text.sentences import bare
from pipeline.validate.problem import (
    Context,
    Finding,
    Raw,
    Rule,
    items,
    mapping,
    names,
    omitted,
    statements,
    text,
    values,
)

# Rules about the regex: RE2, bounded, quick, and right about members and strangers.

#: Escapes that match one character of a wide class: repeated without bound they run over whole logs.
_WIDE_ESCAPES = frozenset("SDWNX")
#: Hostile text: 100 kB of the regex's own words.
_HOSTILE_CHARACTERS = 100_000
#: RE2 needs 2 ms for the longest of our regexes on a loaded machine; a hundred times that is no accident.
_MOST_SECONDS = 0.5
_SLOT = re.compile(r"<[a-z_]+>")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|\(\?[a-zA-Z:<>=!-]*|.", re.DOTALL)
_LITERAL = re.compile(r"[A-Za-z][A-Za-z0-9 :,_]{2,80}")


_LISTS = (("workarounds_zh", "workarounds"), ("dead_ends_zh", "dead_ends"))
_ABSENT = frozenset({"untranslated", "not_applicable"})
_REMEDIES = ("workarounds", "dead_ends")
#: Flags and environment variables: what a reader would copy.
_COPIED = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{1,80}|\b[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}\b")
#: A Chinese sentence that stands for more English ones than this names too little of them.
MOST_SENTENCES = 2
GENERAL = "too general: it would fit other messages as well"


@lru_cache(maxsize=1)
def _engine() -> duckdb.DuckDBPyConnection:
    """DuckDB in memory: its regexp functions are RE2."""
    return duckdb.connect(":memory:", config={"threads": 1})


def _matches(regex: str, texts: tuple[str, ...]) -> list[bool]:
    sql = "SELECT regexp_matches(t, $regex) FROM (SELECT unnest($texts::VARCHAR[]) AS t)"
    return [found for (found,) in _engine().execute(sql, {"regex": regex, "texts": list(texts)}).fetchall()]


@lru_cache(maxsize=4096)
def _examined(regex: str) -> tuple[str | None, float]:
    """(why RE2 refuses `regex` or None, seconds spent on hostile text): one compilation for both questions."""
    began = time.process_time()  # a rule may look at how long it takes; the time itself goes nowhere
    try:
        _matches(regex, (hostile(regex),))
    except duckdb.Error as error:
        return str(error).splitlines()[0].removeprefix("Invalid Input Error: "), 0.0
    return None, time.process_time() - began


def compile_error(regex: str) -> str | None:
    """Why RE2 refuses `regex`, None if it takes it."""
    return _examined(regex)[0]


def _usable(raw: Raw, context: Context) -> str | None:
    regex = text(raw, "regex")
    is_good = regex in context.proven or (bool(regex) and compile_error(regex or "") is None)
    return regex if is_good else None


def _compiles(raw: Raw, context: Context) -> Iterator[Finding]:
    regex = text(raw, "regex")
    if regex is None or regex in context.proven:
        return
    reason = "an empty regex matches everything" if not regex else compile_error(regex)
    if reason:
        yield "regex", f"RE2 refuses it: {reason}"


def _bounded(raw: Raw, _context: Context) -> Iterator[Finding]:
    for gap in unbounded_gaps(text(raw, "regex") or ""):
        yield "regex", f"{gap} has no bound; write {{0,200}} or less"


def unbounded_gaps(regex: str) -> list[str]:
    """The parts of `regex` that can run over any length of text: wide classes and groups, repeated without bound."""
    gaps = []
    tokens = _TOKEN.findall(regex)
    for atom, repeat in pairwise(tokens):
        is_open = repeat in ("*", "+") or (repeat.startswith("{") and repeat.endswith(",}"))
        if is_open and _is_wide(atom):
            gaps.append(atom + repeat)
    return gaps


def _is_wide(atom: str) -> bool:
    if atom in (".", ")"):  # a group may hold a gap or a repeat
        return True
    if atom.startswith("[^"):
        return True
    return len(atom) == 2 and atom[0] == "\\" and atom[1] in _WIDE_ESCAPES


def _quick(raw: Raw, context: Context) -> Iterator[Finding]:
    regex = text(raw, "regex")
    if regex is None or regex in context.proven or _usable(raw, context) is None:
        return
    spent = _examined(regex)[1]
    if spent > _MOST_SECONDS:
        yield "regex", f"took {spent:.1f} s on {_HOSTILE_CHARACTERS // 1000} kB of hostile text"


def hostile(regex: str) -> str:
    """100 kB of the words that `regex` looks for, so that it begins to match everywhere and ends nowhere."""
    words = " ".join(_LITERAL.findall(regex)[:-1]) or "a"
    return (words * (_HOSTILE_CHARACTERS // len(words) + 1))[:_HOSTILE_CHARACTERS]


def _members(raw: Raw, context: Context) -> Iterator[Finding]:
    regex, signature = _usable(raw, context), text(raw, "signature")
    if regex is None:
        return
    own = () if signature is None or context.members or _SLOT.search(signature) else (bare(signature),)
    wanted = own + context.members
    for message, found in zip(wanted, _matches(regex, wanted) if wanted else [], strict=True):
        if not found:
            yield "regex", f"it does not match its own {message[:120]!r}"


def _strangers(raw: Raw, context: Context) -> Iterator[Finding]:
    regex = _usable(raw, context) if context.foreign else None
    if regex is None:
        return
    for message, found in zip(context.foreign, _matches(regex, context.foreign), strict=True):
        if found:
            yield "regex", f"it matches another error: {message[:120]!r}"


PATTERNS = (
    Rule("regex_compiles", "The regex is one that RE2 takes.", _compiles),
    Rule("regex_bounded", "No gap of the regex is unbounded.", _bounded),
    Rule("regex_linear", "The regex takes linear time on hostile text.", _quick),
    Rule("regex_matches_members", "The regex matches every member.", _members),
    Rule("regex_no_strangers", "The regex matches no other cluster's member.", _strangers),
)


# Rules about Chinese: it is Chinese, it says the same, or it is null with a reason.


@dataclass(frozen=True, slots=True)
class _Pair:
    """One Chinese value with its other side."""

    place: str
    chinese: str | None
    source: str | None  # the unsuffixed field
    source_lang: str
    quotes: tuple[str, ...] = ()  # of a signature: the occurrences that are cited


def _pairs(raw: Raw) -> Iterator[_Pair]:
    shown = (text(piece, "quote") for _, piece in items(raw, "evidence") if text(piece, "role") == "occurrence")
    quotes = tuple(filter(None, shown))
    yield _Pair("signature_zh", text(raw, "signature_zh"), text(raw, "signature"), "en", quotes)
    yield _Pair("root_cause_zh", text(raw, "root_cause_zh"), text(raw, "root_cause"), "en")
    for chinese, english in _LISTS:
        translated = values(raw, chinese)
        for n, (_, item) in enumerate(items(raw, english)):
            value = translated[n] if n < len(translated) else None
            language = text(item, "action_lang") or "en"
            yield _Pair(f"{chinese}[{n}]", value if isinstance(value, str) else None, text(item, "action"), language)
    for n, (_, item) in enumerate(statements(raw)):
        language = text(item, "text_lang") or "en"
        yield _Pair(f"cases_zh[{n}]", text(item, "text_zh"), text(item, "text"), language)


def _aligned(raw: Raw, _context: Context) -> Iterator[Finding]:
    for chinese, english in _LISTS:
        if not isinstance(raw.get(chinese), list) or not isinstance(raw.get(english), list):
            continue  # the schema's affair
        if len(raw[chinese]) != len(raw[english]):
            yield chinese, f"has {len(raw[chinese])} values beside {len(raw[english])} {english}"


def _is_chinese(raw: Raw, _context: Context) -> Iterator[Finding]:
    for pair in _pairs(raw):
        if pair.chinese is None:
            continue
        made = mapping(mapping(raw, "translations"), pair.place)
        if pair.chinese == pair.source and pair.source_lang != "zh":
            yield pair.place, "a copy of the other side, not Chinese"
            continue
        failed = [name for name, passed in _said(pair, made).items() if not passed]
        if failed:
            yield pair.place, f"fails {', '.join(failed)}"


def _said(pair: _Pair, made: Raw) -> Mapping[str, bool]:
    """What the gates say; how many are asked depends on how the value came to be."""
    chinese, source, status = pair.chinese or "", pair.source or "", text(made, "status")
    recorded = {name: passed is True for name, passed in mapping(made, "gates").items()}
    if status == "source" or pair.source_lang == "zh":
        return gates.check(chinese, chinese, gates={"script": gates.GATES["script"]})
    if status == "template":
        return {**recorded, **gates.check(source, chinese, gates=gates.UNMARKED)}
    if status == "reviewed":
        return {**recorded, **gates.check(source, chinese, gates=gates.REVIEWED)}
    if pair.place == "signature_zh":
        return {**recorded, **explanations.check(source, chinese, pair.quotes)}
    return {**recorded, **gates.check(source, chinese)}


def _explained(raw: Raw, _context: Context) -> Iterator[Finding]:
    told = mapping(raw, "translations")
    for pair in _pairs(raw):
        if pair.chinese is None and pair.source is None:
            continue
        status = text(mapping(told, pair.place), "status")
        if status is None:
            yield f"translations.{pair.place}", "nothing says how the Chinese value came to be, or why it is null"
        elif (pair.chinese is None) != (status in _ABSENT):
            yield f"translations.{pair.place}", f"{status} does not fit a value that is {_state(pair.chinese)}"


def _state(value: str | None) -> str:
    return "null" if value is None else "there"


def _current(raw: Raw, _context: Context) -> Iterator[Finding]:
    told = mapping(raw, "translations")
    for pair in _pairs(raw):
        made = mapping(told, pair.place)
        if pair.source is None or not made or text(made, "source_lang") != pair.source_lang:
            continue
        digest = hashlib.sha256(pair.source.encode("utf-8", "surrogatepass")).hexdigest()
        if text(made, "source_sha256") != digest:
            yield f"translations.{pair.place}", "was made from another text than the one that stands there now"


CHINESE = (
    Rule("zh_aligned", "Chinese lists have one value for each value of the other side.", _aligned),
    Rule("zh_is_chinese", "A Chinese value passes its gates and is no copy.", _is_chinese),
    Rule("zh_explained", "Every Chinese value says how it came to be; null says why.", _explained),
    Rule("zh_current", "A Chinese value was made from the text that stands beside it.", _current),
)


# Rules about remedies: said by somebody, safe to follow.


def _told(raw: Raw) -> Iterator[tuple[str, str, Raw]]:
    """(place, name of the field that says it, object) of every remedy, and of every statement of a case."""
    for name in _REMEDIES:
        yield from ((place, "action", item) for place, item in items(raw, name))
    yield from ((place, "text", item) for place, item in statements(raw))


def _present(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, field, item in _told(raw):
        if not (text(item, field) or "").strip():
            yield f"{place}.{field}", f"the {field} is empty"


def _adds(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, field, item in _told(raw):
        how = text(item, "how")
        if how is not None and " ".join(how.split()) == " ".join((text(item, field) or "").split()):
            yield f"{place}.how", f"how repeats the {field}"


def _quoted(raw: Raw, _context: Context) -> Iterator[Finding]:
    quotes = {text(piece, "evidence_id"): text(piece, "quote") or "" for _, piece in items(raw, "evidence")}
    for place, field, item in _told(raw):
        cited = " ".join(quotes.get(name, "") for name in names(item, "evidence"))
        if text(item, "tier") == "ai_generated" or omitted(raw):
            continue  # says of itself that nothing stands behind it, or that not all of it is shown
        for name in sorted(set(_COPIED.findall(text(item, field) or ""))):
            if name not in cited:
                yield f"{place}.{field}", f"no quote behind it names {name}"


def _cited(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, _, item in _told(raw):
        if not values(item, "evidence") and text(item, "tier") != "ai_generated":
            yield f"{place}.evidence", "nobody is quoted for it"


def _safe(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, refusal in advice.refused(raw):
        yield place, f"must not be passed on: {refusal.detail or 'it addresses language models'}"


WORDING = (
    Rule("action_present", "No action and no statement is empty.", _present),
    Rule("action_cited", "Somebody is quoted for every remedy and statement.", _cited),
    Rule("how_adds", "How says more than the action or statement.", _adds),
    Rule("action_names_quoted", "Flags and environment variables of an action occur in its quotes.", _quoted),
    Rule(
        "action_safe", "Nothing that is said of the error is dangerous advice, or an order to language models.", _safe
    ),
)


def is_too_general(messages: int) -> bool:
    """Whether an explanation, made from words, says too little: that of so many English messages, values aside.

    Measured on the home itself: messages differ if their words differ, see `translate.shape_of`.
    """
    return messages > MOST_SENTENCES


def without_general(entry: KnowledgeEntry) -> KnowledgeEntry:
    """An entry whose explanation says too little: it is null and says why."""
    made = entry.translations["signature_zh"]
    refused = made.model_copy(update={"status": "untranslated", "engine": None, "gates": {}, "reason": GENERAL})
    told = {**entry.translations, "signature_zh": refused}
    return entry.model_copy(update={"signature_zh": None, "translations": told})
