"""Facts into sentences, in English and in Chinese."""

from __future__ import annotations

import re
from typing import Literal

from pipeline.lexicon import vocabulary
from pipeline.records import Fact
from pipeline.records.errors import CatalogueError
from pipeline.translate import catalogue, phrases, typography

Lang = Literal["en", "zh"]

#: Part of the engine's name: what a sentence says may change with it.
TEMPLATES_VERSION = 1

_PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")


def engine_name(template_id: str) -> str:
    """How provenance names a template: "template/remedy.set_env@1"."""
    return f"template/{template_id}@{TEMPLATES_VERSION}"


def render(fact: Fact, lang: Lang) -> str:
    """The fact as one sentence. Identifiers and numbers stay as they are; terms are looked up."""
    template = catalogue.template(fact.template)
    atoms = {name: " ".join(value.split()) for name, value in fact.slots}
    missing = template.slots.keys() - atoms.keys()
    if missing:
        raise ValueError(f"{fact.template}: no value for {sorted(missing)}")
    if lang == "en":
        return _english(template, atoms)
    sentence = catalogue.chinese(fact.template, template.english)
    if sentence is None:
        raise CatalogueError(f"{fact.template} has no Chinese", path=catalogue.po_path())
    return fill(sentence, atoms, template)


def _english(template: catalogue.MessageTemplate, atoms: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if template.slots.get(name) == "vocabulary":
            return vocabulary.label("domains", atoms[name], "en") or atoms[name]
        return atoms[name].rstrip(".") if template.slots.get(name) == "official" else atoms[name]

    return _PLACE.sub(value, template.english)


def marked(fact: Fact) -> Fact:
    """The fact with its identifiers written as code, so that gates count only the words around them."""
    kinds = catalogue.template(fact.template).slots
    code = ("identifier", "path")
    slots = ((name, f"`{value.replace('`', '')}`" if kinds.get(name) in code else value) for name, value in fact.slots)
    return Fact(fact.template, tuple(slots))


def fill(sentence: str, atoms: dict[str, str], template: catalogue.MessageTemplate) -> str:
    """The Chinese sentence with its slots filled and its spaces set; identifiers are hidden while that is done."""
    spans: list[str] = []

    def value(match: re.Match[str]) -> str:
        name, how = match.groups()
        if template.slots.get(name) == "phrase":
            words, names = phrases.masked(atoms[name]) or (typography.MARK, [atoms[name]])
            spans.extend(names)
            return f"该{words}" if how == "this" and not names else words
        chinese = _explained(atoms[name]) if how == "explain" else _atom(template, name, atoms)
        if chinese is not None:
            return chinese
        is_official = template.slots.get(name) == "official"
        spans.append(f"“{atoms[name].rstrip('.')}”" if is_official else atoms[name])
        return typography.MARK

    filled = typography.restore(typography.set_marks(_PLACE.sub(value, sentence)), spans)
    return filled.replace(".。", "。")  # a value that ended its English sentence


def _explained(code: str) -> str:
    text = catalogue.explanation(code.strip("`"))
    return f"：{text}" if text else ""


def _atom(template: catalogue.MessageTemplate, name: str, atoms: dict[str, str]) -> str | None:
    """The Chinese of a slot's value, None where the value itself is to stand."""
    kind = template.slots.get(name)
    if kind == "term" or name in ("package", "signal"):
        return catalogue.term(name, atoms[name])
    if kind == "official":
        return catalogue.explanation(atoms.get("code", "").strip("`"))
    if kind == "vocabulary":
        return vocabulary.label("domains", atoms[name], "zh")
    return None
