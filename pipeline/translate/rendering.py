"""Facts into sentences of both languages: the catalogue, its PO file, typography, rendering."""

from __future__ import annotations

import gettext
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from pipeline.lexicon import gates, vocabulary
from pipeline.records import Fact, warm
from pipeline.records.errors import CatalogueError
from pipeline.translate import phrases

# Reading PO files at run time: the part of the format that our memories use.

_STRING = warm.pattern(r'^(msgctxt|msgid|msgstr)? ?"(.*)"$')
_ESCAPE = warm.pattern(r"\\(.)")
_FUZZY = warm.pattern(r"^#,.*\bfuzzy\b", re.MULTILINE)
#: A call, with what it is given.
_CALL = warm.pattern(r"\w\([^()\n]{1,160}\)", re.ASCII)


def given_to_calls(chinese: str) -> str:
    """The calls of a text: a value that stands in one keeps its quotes, without them it is another call."""
    return "".join(_CALL.findall(chinese))


def pairs(text: str) -> list[tuple[str, str]]:
    """(msgid, msgstr) of every entry that has both and is not fuzzy; strings may continue over lines."""
    found = []
    for block in re.split(r"\n[ \t]*\n", text):
        english, chinese = _pair(block)
        if english and chinese and not _FUZZY.search(block):
            found.append((english, chinese))
    return found


def _pair(block: str) -> tuple[str, str]:
    fields = {"msgid": "", "msgstr": "", "msgctxt": ""}
    name = "msgctxt"
    for line in block.splitlines():
        match = _STRING.match(line.strip())
        if match:
            name = match.group(1) or name
            fields[name] += _ESCAPE.sub(_unescaped, match.group(2))
    return fields["msgid"], fields["msgstr"]


def _unescaped(escape: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(escape.group(1), escape.group(1))


# House style of Chinese text: full-width marks between Han, one space between Han and Latin, code untouched.

#: Stands for a protected span while the text around it is set; of the private use area, so no text has it by right.
MARK = "\ue000"

_HAN = r"[\u3400-\u4dbf\u4e00-\u9fff]"
_WIDE = r"[，。：；！？（）、“”‘’《》【】]"
_LATIN = rf"[A-Za-z0-9{MARK}]"
_FULL_WIDTH = {",": "，", ";": "；", ":": "：", "!": "！", "?": "？"}
_HALF = warm.pattern(rf"(?<={_HAN}) ?([,;:!?]) ?(?={_HAN})")
_STOP = warm.pattern(rf"(?<={_HAN})\.(?=\s*$)")
_HAN_LATIN = warm.pattern(rf"(?<={_HAN}) *(?={_LATIN})")
_LATIN_HAN = warm.pattern(rf"(?<=[A-Za-z0-9+#{MARK}]) *(?={_HAN})")
_HAN_HAN = warm.pattern(rf"(?<={_HAN}) +(?={_HAN})")
#: What stands in brackets behind Chinese: one word, or Chinese; a shape such as (16, 128) keeps its own.
_BRACKETS = warm.pattern(rf"(?<={_HAN}) ?\(((?=[^()\n]{{0,80}}{_HAN})[^()（）\n]{{1,80}}|[^()（）,，\s]{{1,40}})\)")
_WIDE_SPACE = warm.pattern(rf" +(?={_WIDE})|(?<={_WIDE}) +")


def polish(text: str) -> str:
    """The text in house style; what is polished stays as it is."""
    if MARK in text:
        return text
    spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        spans.append(match.group())
        return MARK

    masked = _BRACKETS.sub(r"（\1）", gates.PROTECTED.sub(hide, text))
    return restore(set_marks(masked), spans)


def set_marks(masked: str) -> str:
    """House style for a text whose code is hidden behind MARK."""
    text = _HALF.sub(lambda match: _FULL_WIDTH[match.group(1)], masked)
    text = _STOP.sub("。", text)
    text = _HAN_HAN.sub("", text)
    text = _LATIN_HAN.sub(" ", _HAN_LATIN.sub(" ", text))
    return _WIDE_SPACE.sub("", text)


def restore(masked: str, spans: list[str]) -> str:
    """The text with its hidden spans back, in order."""
    parts = masked.split(MARK)
    return "".join(part + (spans[index] if index < len(spans) else "") for index, part in enumerate(parts))


# The message catalogue: every fact's English and Chinese sentence.
#
# English and slot types are the contract with `distil`, `pipeline/data/facts.toml`; what messages say by their
# shape is in `pipeline/data/message_shapes.toml`, what people say of causes in `pipeline/data/causes.toml`. Chinese is
# a gettext catalogue, `locale/zh_Hans/LC_MESSAGES/errmine.po`: msgctxt is the template id, msgid the English sentence,
# msgstr the Chinese one.
# Other contexts: `term.<list>` for the closed lists of facts.toml, `code.<namespace>:<code>` for what a code means.
#
# The standard library reads the compiled `.mo`. After an edit of the `.po` run
# `python -m pipeline.translate.compile_catalogue` (needs polib, extra `dev`) and commit both; a test compares them. A
# fuzzy entry is not compiled: what nobody reviewed is not shown.

_PACKAGE = files("pipeline")
_MO = _PACKAGE / "translate" / "locale" / "zh_Hans" / "LC_MESSAGES" / "errmine.mo"
_SHAPES = _PACKAGE / "data" / "message_shapes.toml"
_CAUSES = _PACKAGE / "data" / "causes.toml"

#: Where a bare code may be listed, in this order ("cudaErrorAssert" is found as "cuda:cudaErrorAssert").
NAMESPACES = ("", "cuda:", "hip:", "nccl:", "xla:", "absl:", "jax:", "jax:jax.errors.", "signal:", "python:", "gb:")
_LIBRARIES = ("cublas:", "cudnn:", "cusolver:", "cusparse:", "cufft:", "curand:", "nvrtc:")


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """One fact's sentence: English with `{slot}` places, and the type of each slot."""

    template_id: str
    english: str
    slots: Mapping[str, str]


@cache
def templates() -> Mapping[str, MessageTemplate]:
    """Every template by id: those that `distil` may use, what messages say by their shape, people of causes."""
    rows = {key: fact for table in _tables() for key, fact in table["facts"].items()}
    return {key: MessageTemplate(key, fact["en"], fact["slots"]) for key, fact in rows.items()}


@cache
def _tables() -> tuple[dict[str, Any], ...]:
    return vocabulary.table(), *(warm.table(path.read_text(encoding="utf-8")) for path in (_SHAPES, _CAUSES))


@cache
def term_lists() -> Mapping[str, tuple[str, ...]]:
    """The closed lists of terms, by name."""
    return {name: tuple(values) for table in _tables() for name, values in table["terms"].items()}


def template_of(template_id: str) -> MessageTemplate:
    """The template of that id; an unknown id is a broken catalogue, not bad input."""
    found = templates().get(template_id)
    if found is None:
        raise CatalogueError(f"no template {template_id!r} in facts.toml", path=vocabulary.PATH)
    return found


@cache
def _translations() -> gettext.GNUTranslations:
    try:
        with as_file(_MO) as path, path.open("rb") as handle:
            return gettext.GNUTranslations(handle)
    except OSError as error:
        raise CatalogueError(f"cannot read the Chinese catalogue: {error}", path=Path(str(_MO))) from error


def chinese(context: str, english: str) -> str | None:
    """The Chinese of `english` in that context, None if the catalogue does not have it."""
    key = f"{context}\x04{english}"
    found = _translations().gettext(key)
    return None if found == key else found


@cache
def _code_explanations() -> Mapping[str, str]:
    # gettext looks up by (context, English); a code is all that we have, so the contexts are read once from the file
    with as_file(_MO) as path:
        found = dict(_code_contexts(path.read_bytes()))
    short = {
        f"python:{code.rsplit('.', 1)[-1]}": text
        for code, text in sorted(found.items())
        if code.startswith("python:") and "." in code
    }
    return short | found


def _code_contexts(mo: bytes) -> list[tuple[str, str]]:
    count, originals, translations = (int.from_bytes(mo[at : at + 4], "little") for at in (8, 12, 16))
    found = []
    for index in range(count):
        context, _, _ = _mo_string(mo, originals + 8 * index).partition("\x04")
        if context.startswith("code."):
            found.append((context.removeprefix("code."), _mo_string(mo, translations + 8 * index)))
    return found


def _mo_string(mo: bytes, at: int) -> str:
    length, start = (int.from_bytes(mo[place : place + 4], "little") for place in (at, at + 4))
    return mo[start : start + length].decode("utf-8")


def explanation(code: str) -> str | None:
    """What a code, signal or exception type means, as a Chinese clause without a full stop; None if not listed."""
    known = _code_explanations()
    if f"java:{code}" in known:  # the full name only: its short one means other things elsewhere
        return known[f"java:{code}"]
    short = code.rsplit(".", 1)[-1]
    for name in (code, short):
        for namespace in (*NAMESPACES, *_LIBRARIES):
            if namespace + name in known:
                return known[namespace + name]
    return None


def is_listed(code: str) -> bool:
    """Whether the catalogue explains exactly this code, with its namespace."""
    return code in _code_explanations()


def annotated(name: str) -> str:
    """A name of a message; a code among them followed by what it means, without what it is often due to."""
    text = explanation(name) if name.isupper() or name.startswith(("cudaError", "nccl", "hipError")) else None
    return f"{name}（{plain(text)}）" if text else name


#: What a code is as a rule due to, or an example of it: no message that prints the code says so.
_OFTEN = warm.pattern("，(?:通常|常见于|常见原因|例如)[^。（）]{0,80}|（例如[^（）]{0,40}）")


def plain(explained: str) -> str:
    """What a code means without what it is often due to."""
    return _OFTEN.sub("", explained)


def term(slot: str, value: str) -> str | None:
    """The Chinese of a value that a list has; the list's name is, or ends with, the slot's. None for a plain name."""
    names = [name for name in (*term_lists(), "package", "signal") if name.endswith(slot)]
    written = (value, value.lower())
    found = (chinese(f"term.{name}", form) for name in names for form in written)
    return next((text for text in found if text is not None), None)


def po_path() -> Path:
    """Where the Chinese catalogue is edited."""
    return Path(str(_MO)).with_suffix(".po")


# Facts into sentences, in English and in Chinese.

Lang = Literal["en", "zh"]

#: Part of the engine's name: what a sentence says may change with it.
TEMPLATES_VERSION = 1

_PLACE = warm.pattern(r"\{(\w+)(?::(\w+))?\}")


def engine_name(template_id: str) -> str:
    """How provenance names a template: "template/remedy.set_env@1"."""
    return f"template/{template_id}@{TEMPLATES_VERSION}"


def render(fact: Fact, lang: Lang) -> str:
    """The fact as one sentence. Identifiers and numbers stay as they are; terms are looked up."""
    template = template_of(fact.template)
    atoms = {name: " ".join(value.split()) for name, value in fact.slots}
    missing = template.slots.keys() - atoms.keys()
    if missing:
        raise ValueError(f"{fact.template}: no value for {sorted(missing)}")
    if lang == "en":
        return _english(template, atoms)
    sentence = chinese(fact.template, template.english)
    if sentence is None:
        raise CatalogueError(f"{fact.template} has no Chinese", path=po_path())
    return fill(sentence, atoms, template)


def _english(template: MessageTemplate, atoms: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if template.slots.get(name) == "vocabulary":
            return vocabulary.label("domains", atoms[name], "en") or atoms[name]
        return atoms[name].rstrip(".") if template.slots.get(name) == "official" else atoms[name]

    return _PLACE.sub(value, template.english)


def marked(fact: Fact) -> Fact:
    """The fact with its identifiers written as code, so that gates count only the words around them."""
    kinds = template_of(fact.template).slots
    return Fact(fact.template, tuple((name, _marked(value, kinds.get(name, ""))) for name, value in fact.slots))


def _marked(value: str, kind: str) -> str:
    if kind in ("identifier", "path"):
        return f"`{value.replace('`', '')}`"
    if kind == "identifiers":
        return ", ".join(_marked(one, "identifier") for one in value.split(", "))
    _, names = (phrases.masked(value) or ("", [])) if kind == "phrase" else ("", [])
    for name in names:
        value = re.sub(rf"(?<![\w`]){re.escape(name)}(?![\w`])", lambda found: f"`{found.group()}`", value, count=1)
    return value


def fill(sentence: str, atoms: dict[str, str], template: MessageTemplate) -> str:
    """The Chinese sentence with its slots filled and its spaces set; identifiers are hidden while that is done."""
    spans: list[str] = []

    def value(match: re.Match[str]) -> str:
        name, how = match.groups()
        if template.slots.get(name) == "phrase":
            words, names = phrases.masked(atoms[name]) or (MARK, [atoms[name]])
            spans.extend(names)
            return f"该{words}" if how == "this" and not names else words
        chinese = _explained(atoms[name]) if how == "explain" else _atom(template, name, atoms)
        if chinese is not None:
            return chinese
        if template.slots.get(name) == "identifiers":
            several = atoms[name].split(", ")
            spans.extend(several)
            return "、".join(MARK for _ in several)
        is_official = template.slots.get(name) == "official"
        spans.append(f"“{atoms[name].rstrip('.')}”" if is_official else atoms[name])
        return MARK

    filled = restore(set_marks(_PLACE.sub(value, sentence)), spans)
    return filled.replace(".。", "。")  # a value that ended its English sentence


def _explained(code: str) -> str:
    text = explanation(code.strip("`"))
    return f"：{text}" if text else ""


def _atom(template: MessageTemplate, name: str, atoms: dict[str, str]) -> str | None:
    """The Chinese of a slot's value, None where the value itself is to stand."""
    kind = template.slots.get(name)
    if kind == "term" or name in ("package", "signal"):
        return term(name, atoms[name])
    if kind == "official":
        return explanation(atoms.get("code", "").strip("`"))
    if kind == "vocabulary":
        return vocabulary.label("domains", atoms[name], "zh")
    return None
