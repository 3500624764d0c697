"""A draft into an entry: each field in both languages, by template, memory or engine."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from pipeline.lexicon import gates
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
from pipeline.translate import official, rendering
from pipeline.translate.engines import Engine, Offer, first_passing
from pipeline.translate.meaning import GENERAL, meaning, occurrences, too_general
from pipeline.translate.rendering import engine_name, marked, pairs, render

# The translation memory: sentences that people translated, found again where only numbers and names differ.
#
# `memory/zh_Hans.po` is meant to be extended by hand. A sentence is keyed with its code, numbers and identifiers
# masked; only an exact match of the masked sentence counts. In the file a masked place is written `{1}`, `{2}`, ...
# in the order of the English sentence.

_MASKED = re.compile(rf"\{{\d\}}|{gates.PROTECTED.pattern}|\d+(?:[.,]\d+)*", re.ASCII)
_PLACE = re.compile(r"\{(\d)\}")


@dataclass(frozen=True, slots=True)
class Memory:
    """Masked English sentences with their Chinese."""

    pairs: Mapping[str, str]

    def offer(self, source: str) -> Offer | None:
        """The remembered translation of the sentence with its own numbers and names, None if it is not known."""
        spans = [match.group() for match in _MASKED.finditer(source)]
        remembered = self.pairs.get(key(source))
        if remembered is None:
            return None
        marked = _PLACE.sub(rendering.MARK, remembered)
        order = [int(number) - 1 for number in _PLACE.findall(remembered)]
        if any(index >= len(spans) for index in order):
            return None
        text = rendering.restore(rendering.set_marks(marked), [spans[index] for index in order])
        return Offer(text, "tm_exact", "tm")


def key(sentence: str) -> str:
    """What is compared: code, numbers and identifiers masked, case, spaces and the last full stop left out."""
    return " ".join(_MASKED.sub(" {} ", sentence).lower().split()).rstrip(" .。!")


def memory(po: str) -> Memory:
    """The memory that a PO text holds."""
    return Memory({key(english): chinese for english, chinese in pairs(po)})


@cache
def shipped_memory() -> Memory:
    """The memory that comes with the package."""
    path = files("pipeline") / "translate" / "memory" / "zh_Hans.po"
    return memory(path.read_text(encoding="utf-8"))


# A draft into the published entry: facts in both languages, quotes in their own, null where there is neither.


@dataclass(frozen=True, slots=True)
class Wording:
    """One statement in both languages: either side may be null."""

    english: str | None
    chinese: str | None
    translation: Translation


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
    signature = draft.cluster.headline
    explained = _signature_wording(draft, signature, asked)
    pages = {piece.evidence_id: piece.url for piece in draft.evidence if piece.role == "official"}

    def put(statement: Statement) -> Wording:
        urls = [pages[cited] for cited in statement.evidence if cited in pages]
        if statement.fact is None and urls:
            return _of_page(statement.text, urls, asked)
        return _statement(statement, asked)

    cause = _cause(draft.cause, put)
    workarounds = [put(remedy.action) for remedy in draft.workarounds]
    dead_ends = [put(remedy.action) for remedy in draft.dead_ends]
    said = [put(one.remedy.action) for case in draft.cases for one in case.statements]
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
        exception_type=draft.cluster.exception_type,
        root_cause=cause.english,
        root_cause_type=draft.cause_type,
        root_cause_zh=cause.chinese,
        root_cause_evidence=list(draft.cause.evidence) if draft.cause else [],
        dead_ends=[_dead_end(*pair) for pair in zip(draft.dead_ends, dead_ends, strict=True)],
        dead_ends_zh=[wording.chinese for wording in dead_ends],
        workarounds=[_workaround(*pair) for pair in zip(draft.workarounds, workarounds, strict=True)],
        workarounds_zh=[wording.chinese for wording in workarounds],
        cases=_cases(draft.cases, iter(said)),
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


def without_general(entries: Sequence[KnowledgeEntry]) -> list[KnowledgeEntry]:
    """The entries, of which an explanation that says too little is null and says why (`meaning.too_general`)."""
    general = too_general(entries)
    return [_nulled(entry) if entry.id in general else entry for entry in entries]


def _nulled(entry: KnowledgeEntry) -> KnowledgeEntry:
    said = _untranslated(entry.signature, GENERAL)
    return entry.model_copy(update={"signature_zh": None, "translations": {**entry.translations, "signature_zh": said}})


# ---------------------------------------------------------------- one statement


def _translation(
    status: TranslationStatus, source: str, *, engine: str | None = None, said: dict[str, bool] | None = None
) -> Translation:
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    return Translation(
        status=status, engine=engine, gates=said or {}, source_lang="en", source_sha256=digest, reason=None
    )


def _untranslated(source: str, reason: str, *, lang: str = "en", said: dict[str, bool] | None = None) -> Translation:
    found = _translation("untranslated", source, said=said)
    return found.model_copy(update={"reason": reason, "source_lang": lang})


def _statement(statement: Statement, engines: Sequence[Engine]) -> Wording:
    """The statement in both languages; a quote that is not English stands in its own language on the first side."""
    if statement.fact is not None:
        return _rendered(statement.fact)
    text = statement.text
    if statement.lang == "zh":
        translation = _translation("source", text).model_copy(update={"source_lang": "zh"})
        return Wording(text, text, translation)
    if statement.lang not in ("en", "und"):
        return Wording(text, None, _untranslated(text, "the quote is not English", lang=statement.lang))
    return _asked(text, engines)


def _of_page(text: str, urls: Sequence[str], engines: Sequence[Engine]) -> Wording:
    """Words of an official page: as they were translated by hand, or as any prose where the page says them anew."""
    offer = official.offer(text)
    if offer is not None:
        said = gates.check(text, offer.text, gates=gates.REVIEWED)
        if all(said.values()):
            return Wording(text, offer.text, _translation(offer.status, text, engine=offer.engine, said=said))
    made = _asked(text, engines)
    change = official.change(text, urls)
    if made.chinese is None and change is not None:
        return Wording(text, None, _untranslated(text, change))
    return made


def _rendered(fact: Fact) -> Wording:
    english, chinese = render(fact, "en"), render(fact, "zh")
    said = gates.check(render(marked(fact), "en"), render(marked(fact), "zh"))
    for name, passed in gates.check(english, chinese, gates=gates.UNMARKED).items():
        said[name] = said[name] and passed
    failed = sorted(name for name, passed in said.items() if not passed)
    if failed:
        reason = f"template {fact.template} failed {', '.join(failed)}"
        return Wording(english, None, _untranslated(english, reason, said=said))
    return Wording(english, chinese, _translation("template", english, engine=engine_name(fact.template), said=said))


def _asked(text: str, engines: Sequence[Engine]) -> Wording:
    checked = first_passing(text, engines)
    if checked.offer is None:
        return Wording(text, None, _untranslated(text, checked.reason or ""))
    offer = checked.offer
    translation = _translation(offer.status, text, engine=offer.engine, said=checked.gates)
    return Wording(text, offer.text, translation)


def _cause(cause: Statement | None, put: Callable[[Statement], Wording]) -> Wording:
    """As any statement, but the English field holds English or nothing."""
    if cause is None:
        absent = _translation("not_applicable", "")
        return Wording(None, None, absent.model_copy(update={"reason": "no cause is known"}))
    wording = put(cause)
    if cause.fact is None and cause.lang not in ("en", "und"):
        return Wording(None, wording.chinese, wording.translation)
    return wording


def _signature_wording(draft: Draft, signature: str, engines: Sequence[Engine]) -> Wording:
    """The signature, which stays as it is, and what it means in Chinese."""
    found = meaning(draft, signature, engines)
    if found is None:
        return Wording(signature, None, _untranslated(signature, "the meaning of the message is not known"))
    said = gates.check_explanation(signature, found.chinese, occurrences(draft))
    failed = sorted(name for name, passed in said.items() if not passed)
    if failed:
        reason = f"{found.engine} failed {', '.join(failed)}"
        return Wording(signature, None, _untranslated(signature, reason, said=said))
    return Wording(signature, found.chinese, _translation(found.status, signature, engine=found.engine, said=said))


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


def _cases(found: Sequence[LocalCase], wordings: Iterator[Wording]) -> list[Case]:
    """The cases in words; `wordings` are those of all their statements, in order."""
    return [
        Case(
            repo=case.repo,
            frame=case.frame,
            library=case.library,
            documents=list(case.documents),
            statements=[_said(said, next(wordings)) for said in case.statements],
        )
        for case in found
    ]


def _said(said: Said, wording: Wording) -> CaseStatement:
    remedy = said.remedy
    text, language = _action(remedy, wording)
    return CaseStatement(
        kind=said.kind,
        text=text,
        text_lang=language,
        text_zh=wording.chinese,
        how=_how(remedy, text),
        why_fails=remedy.why_fails if said.kind == "dead_end" else None,
        tier=remedy.tier,
        **_support(remedy),
    )
