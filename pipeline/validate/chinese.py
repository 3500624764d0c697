"""Rules about Chinese: it is Chinese, it says the same, or it is null with a reason."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pipeline.lexicon import gates
from pipeline.validate.problem import Context, Finding, Raw, Rule, items, mapping, text, values

_LISTS = (("workarounds_zh", "workarounds"), ("dead_ends_zh", "dead_ends"))
_ABSENT = frozenset({"untranslated", "not_applicable"})


@dataclass(frozen=True, slots=True)
class _Pair:
    """One Chinese value with its other side."""

    place: str
    chinese: str | None
    source: str | None  # the unsuffixed field
    source_lang: str


def _pairs(raw: Raw) -> Iterator[_Pair]:
    for chinese, english in (("signature_zh", "signature"), ("root_cause_zh", "root_cause")):
        yield _Pair(chinese, text(raw, chinese), text(raw, english), "en")
    for chinese, english in _LISTS:
        translated = values(raw, chinese)
        for n, (_, item) in enumerate(items(raw, english)):
            value = translated[n] if n < len(translated) else None
            language = text(item, "action_lang") or "en"
            yield _Pair(f"{chinese}[{n}]", value if isinstance(value, str) else None, text(item, "action"), language)


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
    if pair.place == "signature_zh":
        return {**recorded, **gates.check_explanation(source, chinese)}
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


RULES = (
    Rule("zh_aligned", "Chinese lists have one value for each value of the other side.", _aligned),
    Rule("zh_is_chinese", "A Chinese value passes its gates and is no copy.", _is_chinese),
    Rule("zh_explained", "Every Chinese value says how it came to be; null says why.", _explained),
    Rule("zh_current", "A Chinese value was made from the text that stands beside it.", _current),
)
