"""One statement in words: a fact in both languages, a quote in its own, and how its Chinese came to be."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.lexicon import gates
from pipeline.records import Fact
from pipeline.records.draft import Statement
from pipeline.records.entry import Translation, TranslationStatus
from pipeline.text.sentences import sentences
from pipeline.translate import causes, official
from pipeline.translate.engines import Engine, first_passing
from pipeline.translate.rendering import engine_name, marked, render

#: Rather than what a machine made of a quote stands the sentence of its type, which people wrote.
_BY_MACHINE = frozenset({"llm_checked", "mt_checked"})


@dataclass(frozen=True, slots=True)
class Wording:
    """One statement in both languages: either side may be null."""

    english: str | None
    chinese: str | None
    translation: Translation


def translation(
    status: TranslationStatus, source: str, *, engine: str | None = None, said: dict[str, bool] | None = None
) -> Translation:
    """How a Chinese value came to be, made from `source`."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    return Translation(
        status=status, engine=engine, gates=said or {}, source_lang="en", source_sha256=digest, reason=None
    )


def untranslated(source: str, reason: str, *, lang: str = "en", said: dict[str, bool] | None = None) -> Translation:
    """Why there is no Chinese value beside `source`."""
    found = translation("untranslated", source, said=said)
    return found.model_copy(update={"reason": reason, "source_lang": lang})


def statement_in_words(statement: Statement, engines: Sequence[Engine]) -> Wording:
    """The statement in both languages; a quote that is not English stands in its own language on the first side."""
    if statement.fact is not None:
        return rendered(statement.fact)
    text = statement.text
    if statement.lang == "zh":
        return Wording(text, text, translation("source", text).model_copy(update={"source_lang": "zh"}))
    if statement.lang not in ("en", "und"):
        return Wording(text, None, untranslated(text, "the quote is not English", lang=statement.lang))
    return asked(text, engines)


def of_page(text: str, urls: Sequence[str], engines: Sequence[Engine]) -> Wording:
    """Words of an official page: as they were translated by hand, or as any prose where the page says them anew."""
    offer = official.offer(text)
    if offer is not None:
        said = gates.check(text, offer.text, gates=gates.REVIEWED)
        if all(said.values()):
            return Wording(text, offer.text, translation(offer.status, text, engine=offer.engine, said=said))
    made = asked(text, engines)
    change = official.change(text, urls)
    if made.chinese is None and change is not None:
        return Wording(text, None, untranslated(text, change))
    return made


def rendered(fact: Fact) -> Wording:
    """The fact in both languages, each sentence from its template; no Chinese if a gate refuses it."""
    english, chinese = render(fact, "en"), render(fact, "zh")
    said = gates.check(render(marked(fact), "en"), render(marked(fact), "zh"))
    for name, passed in gates.check(english, chinese, gates=gates.UNMARKED).items():
        said[name] = said[name] and passed
    failed = sorted(name for name, passed in said.items() if not passed)
    if failed:
        reason = f"template {fact.template} failed {', '.join(failed)}"
        return Wording(english, None, untranslated(english, reason, said=said))
    return Wording(english, chinese, translation("template", english, engine=engine_name(fact.template), said=said))


def asked(text: str, engines: Sequence[Engine]) -> Wording:
    """Prose, with the Chinese that the first engine offers whose offer passes the gates."""
    checked = first_passing(text, engines)
    if checked.offer is None:
        return Wording(text, None, untranslated(text, checked.reason or ""))
    offer = checked.offer
    return Wording(text, offer.text, translation(offer.status, text, engine=offer.engine, said=checked.gates))


def typed_cause(cause: Statement | None, wording: Wording) -> tuple[Wording, str | None]:
    """(the cause with the sentence that its type has in each language, its type); as it is where no type is sure.

    A quote stays as it was said: the sentence of its type stands on the side on which there is nothing.
    """
    if cause is None:
        return wording, None
    if cause.fact is not None:
        return wording, causes.type_of(cause.fact)
    fact = causes.cause(cause.text)
    if fact is None:  # a quote may go on: its first sentence says of what kind the cause is, and not all of it
        first = next(sentences(cause.text), None)
        fact = causes.cause(cause.text[first.start : first.end]) if first else None
        return wording, causes.type_of(fact) if fact is not None else None
    made = rendered(fact)
    if made.chinese is None:
        return wording, None
    if wording.chinese is not None and wording.translation.status not in _BY_MACHINE:
        return wording, causes.type_of(fact)
    told = translation("template", cause.text, engine=made.translation.engine, said=made.translation.gates)
    return replace(wording, chinese=made.chinese, translation=told), causes.type_of(fact)
