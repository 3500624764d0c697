"""Kinds: what becomes of each stands in one table, and what is stored is the word."""

from __future__ import annotations

import json

import pytest

from pipeline.distil import tables
from pipeline.records import ClaimKind, DocumentKind, LinkKind, Outcome, PostKind, Severity


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
