"""A draft into an entry: each field in both languages, by template, memory or engine.

A statement in words comes first: a fact in both languages, a quote in its own, and how its Chinese came to be.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pipeline.lexicon import explanations, gates
from pipeline.records import Fact
from pipeline.records.draft import Draft, LocalCase, Remedy, Said, Statement
from pipeline.records.entry import (
    SCHEMA_VERSION,
    Case,
    CaseStatement,
    DeadEnd,
    KnowledgeEntry,
    Provenance,
    Translation,
    TranslationStatus,
    Workaround,
    rate,
)
from pipeline.text.sentences import sentences, titled
from pipeline.translate import causes, official
from pipeline.translate.engines import Engine, first_passing
from pipeline.translate.meaning import meaning, occurrences, titled_zh
from pipeline.translate.remembered import shipped_memory
from pipeline.translate.rendering import engine_name, marked, render

#: Rather than what a machine made of a quote stands the sentence of its type, which people wrote.
_BY_MACHINE = frozenset({"llm_checked", "mt_checked"})


#: Of these the draft has facts and quotes, the entry sentences.
_WORDED = frozenset({"workarounds", "dead_ends", "cases"})


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


# A draft into the published entry: facts in both languages, quotes in their own, null where there is neither.


def entry(
    draft: Draft,
    *,
    entry_id: str,
    aliases: Sequence[str] = (),
    engines: Sequence[Engine] = (),
    normaliser: str = "",
) -> KnowledgeEntry:
    """The published entry of a draft; its `translations` say of every Chinese field how it came to be."""
    asked = (shipped_memory(), *engines)
    signature = titled(draft.headline, place=draft.place, is_one_of_several=draft.title.is_one_of_several)
    explained = _signature_wording(draft, signature, asked)
    pages = {piece.evidence_id: piece.url for piece in draft.evidence if piece.role == "official"}

    def put(statement: Statement) -> Wording:
        urls = [pages[cited] for cited in statement.evidence if cited in pages]
        if statement.fact is None and urls:
            return of_page(statement.text, urls, asked)
        return statement_in_words(statement, asked)

    cause = _cause(draft.cause, put)
    cause, cause_type = typed_cause(draft.cause, cause)
    workarounds = [put(remedy.action) for remedy in draft.workarounds]
    dead_ends = [put(remedy.action) for remedy in draft.dead_ends]
    stated = [one for case in draft.cases for one in case.statements]
    typed = [typed_cause(one.remedy.action if one.kind == "cause" else None, put(one.remedy.action)) for one in stated]
    said = [wording for wording, _ in typed]
    translations = {"signature_zh": explained.translation, "root_cause_zh": cause.translation}
    for field, wordings in (("workarounds_zh", workarounds), ("dead_ends_zh", dead_ends), ("cases_zh", said)):
        translations |= {f"{field}[{index}]": wording.translation for index, wording in enumerate(wordings)}
    return KnowledgeEntry(
        **_as_drafted(draft),
        schema_version=SCHEMA_VERSION,
        id=entry_id,
        cluster_id=draft.cluster.cluster_id,
        signature=signature,
        signature_zh=explained.chinese,
        regex=draft.cluster.regex or None,
        exception_type=draft.title.exception_type,
        root_cause=cause.english,
        cause_type=cause_type,
        root_cause_zh=cause.chinese,
        root_cause_evidence=list(draft.cause.evidence) if draft.cause else [],
        dead_ends=[_dead_end(*pair) for pair in zip(draft.dead_ends, dead_ends, strict=True)],
        dead_ends_zh=[wording.chinese for wording in dead_ends],
        workarounds=[_workaround(*pair) for pair in zip(draft.workarounds, workarounds, strict=True)],
        workarounds_zh=[wording.chinese for wording in workarounds],
        cases=_cases(draft.cases, iter(typed)),
        transition_graph=draft.graph,
        verification_tier=draft.tier,
        evidence_count=len({piece.document_id for piece in draft.evidence}),
        locale="en",
        aliases=list(aliases),
        translations=translations,
        provenance=_provenance(draft, normaliser),
    )


def _as_drafted(draft: Draft) -> dict[str, Any]:
    """The fields of the entry that the draft has under the same names: a new one goes over by itself."""
    names = KnowledgeEntry.model_fields.keys() & {field.name for field in fields(Draft)}
    return {name: getattr(draft, name) for name in names - _WORDED}


def _provenance(draft: Draft, normaliser: str) -> Provenance:
    return Provenance(
        rules=draft.rules,
        rule_precision=draft.rule_precision,
        normaliser=normaliser,
        origin="mined" if draft.occurrence_count else "catalogue",
        imported_from=None,
        withheld=dict(sorted(Counter(kept.reason for kept in draft.withheld).items())),
    )


def _cause(cause: Statement | None, put: Callable[[Statement], Wording]) -> Wording:
    """As any statement, but the English field holds English or nothing."""
    if cause is None:
        absent = translation("not_applicable", "")
        return Wording(None, None, absent.model_copy(update={"reason": "no cause is known"}))
    wording = put(cause)
    if cause.fact is None and cause.lang not in ("en", "und"):
        return Wording(None, wording.chinese, wording.translation)
    return wording


def _signature_wording(draft: Draft, signature: str, engines: Sequence[Engine]) -> Wording:
    """The signature, which stays as it is, and what it means in Chinese."""
    found = meaning(draft, draft.headline, engines)
    if found is None:
        return Wording(signature, None, untranslated(signature, "the meaning of the message is not known"))
    chinese = titled_zh(found, draft)
    said = explanations.check(signature, chinese, occurrences(draft), is_fact=found.is_fact)
    failed = sorted(name for name, passed in said.items() if not passed)
    if failed:
        reason = f"{found.engine} failed {', '.join(failed)}"
        return Wording(signature, None, untranslated(signature, reason, said=said))
    return Wording(signature, chinese, translation(found.status, signature, engine=found.engine, said=said))


# ---------------------------------------------------------------- remedies


def _action(remedy: Remedy, wording: Wording) -> tuple[str, str]:
    language = "en" if remedy.action.fact is not None else remedy.action.lang
    return wording.english or "", language


def _how(remedy: Remedy, action: str) -> str | None:
    """A command or the quoted words, where they add to the action."""
    return remedy.how if remedy.how and remedy.how.strip() != action.strip() else None


def _support(remedy: Remedy) -> dict[str, Any]:
    """When it applies, who says so and where: the same fields wherever a remedy is published."""
    return {
        "condition": remedy.condition,
        "worked": remedy.worked,
        "failed": remedy.failed,
        "sources": list(remedy.sources),
        "evidence": list(remedy.action.evidence),
    }


def _workaround(remedy: Remedy, wording: Wording) -> Workaround:
    action, language = _action(remedy, wording)
    return Workaround(
        action=action,
        action_lang=language,
        how=_how(remedy, action),
        success_rate=rate(remedy.worked, remedy.failed),
        tier=remedy.tier,
        replies=list(remedy.replies),
        **_support(remedy),
    )


def _dead_end(remedy: Remedy, wording: Wording) -> DeadEnd:
    action, language = _action(remedy, wording)
    return DeadEnd(
        action=action,
        action_lang=language,
        why_fails=remedy.why_fails,
        fail_rate=rate(remedy.failed, remedy.worked),
        **_support(remedy),
    )


def _cases(found: Sequence[LocalCase], wordings: Iterator[tuple[Wording, str | None]]) -> list[Case]:
    """The cases in words; `wordings` are those of all their statements, in order, each with the type of a cause."""
    return [
        Case(
            repo=case.repo,
            frame=case.frame,
            library=case.library,
            documents=list(case.documents),
            statements=[_said(said, *next(wordings)) for said in case.statements],
        )
        for case in found
    ]


def _said(said: Said, wording: Wording, cause_type: str | None) -> CaseStatement:
    remedy = said.remedy
    text, language = _action(remedy, wording)
    return CaseStatement(
        kind=said.kind,
        text=text,
        text_lang=language,
        text_zh=wording.chinese,
        cause_type=cause_type,
        how=_how(remedy, text),
        why_fails=remedy.why_fails if said.kind == "dead_end" else None,
        tier=remedy.tier,
        replies=list(remedy.replies),
        **_support(remedy),
    )
