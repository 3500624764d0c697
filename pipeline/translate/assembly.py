"""A draft into an entry: each field in both languages, by template, memory or engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from pipeline.lexicon import explanations
from pipeline.records.draft import Draft, LocalCase, Remedy, Said, Statement
from pipeline.records.entry import (
    SCHEMA_VERSION,
    Case,
    CaseStatement,
    DeadEnd,
    KnowledgeEntry,
    Provenance,
    Workaround,
    rate,
)
from pipeline.text.titles import titled
from pipeline.translate.engines import Engine
from pipeline.translate.meaning import meaning, occurrences, titled_zh
from pipeline.translate.remembered import shipped_memory
from pipeline.translate.wording import Wording, of_page, statement_in_words, translation, typed_cause, untranslated

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


#: Of these the draft has facts and quotes, the entry sentences.
_WORDED = frozenset({"workarounds", "dead_ends", "cases"})


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
        **_support(remedy),
    )
