"""Pairs of near messages of real threads, labelled by reading: the same error or another. Kept as places, not texts.

The pairs were drawn from what was split (ratio 75 and more between representatives of unknown families), so recall on
them starts at nothing: what counts is that no pair of different errors is joined while rules are made wider.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pipeline import cluster, extract, normalise
from pipeline.providers import documents
from pipeline.providers import files as archive
from pipeline.records import Document, Signature, Skipped, Template

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "issues.jsonl.gz"
LABELS = Path(__file__).parent / "quality" / "near_pairs.jsonl"
#: Of 130 pairs read: joins of different errors that may stand, and least joins of the same error.
MOST_WRONG, LEAST_RIGHT = 0, 6

Place = tuple[str, int, int]


def _texts(wanted: set[str]) -> dict[str, str]:
    found = {}
    for page in archive.pages([CORPUS]):
        if isinstance(page, Skipped) or page.document_key not in wanted:
            continue
        document = documents.document([page])
        if isinstance(document, Document):
            found[document.document_id] = document.text
    return found


def _signatures(texts: dict[str, str], places: set[Place]) -> dict[Place, Signature]:
    found = {}
    for document_id, text in texts.items():
        starts = {place[1]: place for place in places if place[0] == document_id}
        for event in extract.events(text):
            if event.start in starts:
                found[starts[event.start]] = normalise.signature(event, text)
    return found


@pytest.mark.shared
def test_near_pairs_of_different_errors_stay_apart_and_some_of_the_same_error_are_joined() -> None:
    if not CORPUS.exists():
        pytest.skip("the internal corpus is not here")
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    places = {tuple(row[side]) for row in rows for side in ("one", "other")}
    found = _signatures(_texts({place[0] for place in places}), places)
    templates = {
        one.signature_id: Template(
            one.signature_id, one.exception_type, one.text, one.gate, one.is_gate_complete, one.is_truncated, 1, ""
        )
        for one in found.values()
    }
    where = cluster.partition(list(templates.values())).cluster_of()
    joined: Counter[str] = Counter()
    for row in rows:
        one, other = found.get(tuple(row["one"])), found.get(tuple(row["other"]))
        if one and other and where[one.signature_id] == where[other.signature_id]:
            joined[row["verdict"]] += 1
    assert joined["different"] <= MOST_WRONG, joined
    assert joined["same"] >= LEAST_RIGHT, joined
