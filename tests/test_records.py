"""Kinds: what becomes of each stands in one table, and what is stored is the word."""

from __future__ import annotations

import json

import pytest

from pipeline.distil import tables
from pipeline.records import ClaimKind, DocumentKind, LinkKind, Outcome, PostKind, Severity
from pipeline.records.bundle import answers
from pipeline.records.entry import KnowledgeEntry, is_answered
from tests import entry_factory as make


@pytest.mark.parametrize("kind", ClaimKind)
def test_every_kind_of_claim_has_its_treatment(kind: ClaimKind) -> None:
    assert kind.role
    assert kind.is_statement or not kind.is_act  # who says what to do says something


@pytest.mark.parametrize("kinds", [ClaimKind, DocumentKind, LinkKind, Outcome, PostKind, Severity, tables.CueKind])
def test_what_is_stored_of_a_kind_is_its_word(kinds: type[ClaimKind]) -> None:
    for kind in kinds:
        assert json.dumps(kind) == f'"{kind}"' == f'"{kind.name.lower()}"'


def test_a_cue_that_pairs_no_posts_states_what_a_claim_of_its_name_says() -> None:
    pairing = {tables.CueKind.ASK, tables.CueKind.REPLY}
    assert {kind.value for kind in set(tables.CueKind) - pairing} < {kind.value for kind in ClaimKind}


# ---------------------------------------------------------------- an answer

_FIXED = {
    "version": "kernels 2.3.1",
    "introduced": None,
    "deprecated": None,
    "removed": None,
    "behavior_change": None,
    "count": 1,
    "evidence": [make.evidence(2)["evidence_id"]],
}


def silent(**changes: object) -> KnowledgeEntry:
    """An entry with a dead end and nothing else that anybody says, but for the changes."""
    raw = make.raw_entry(workarounds=[], workarounds_zh=[])
    return KnowledgeEntry.model_validate(raw | changes)


def in_a_case(kind: str) -> KnowledgeEntry:
    raw = make.raw_entry_with_case(workarounds=[], workarounds_zh=[])
    raw["cases"][0]["statements"][0]["kind"] = kind
    return KnowledgeEntry.model_validate(raw)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (silent(), False),
        (silent(root_cause="It asks for too much."), True),
        (silent(root_cause_zh="它要求太多。"), True),
        (silent(root_cause="It asks for 5, the limit is 3.", root_cause_type="program"), False),
        (make.entry(), True),
        (silent(versions=[{**_FIXED, "status": "fixed"}]), True),
        (silent(versions=[{**_FIXED, "status": "affected"}]), False),
        (silent(evidence=[make.evidence(1, role="official")]), True),
        (silent(official_doc_url="https://docs.errmine.invalid/e1"), False),
        (in_a_case("cause"), True),
        (in_a_case("workaround"), True),
        (in_a_case("dead_end"), False),
    ],
)
def test_an_entry_has_an_answer_if_it_says_why_or_what_helps(entry: KnowledgeEntry, expected: bool) -> None:
    assert is_answered(entry) is expected


def test_answers_are_counted_by_domain() -> None:
    told = answers([silent(), make.entry(), silent(domain="cuda")])
    assert [(row.domain, row.entries, row.answered) for row in told] == [("cuda", 1, 0), ("triton", 2, 1)]
