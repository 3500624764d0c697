"""Posts and pairs of other fields that readers labelled, where the internal threads lie beside the checkout."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from benchmarks import fields
from pipeline import cluster, extract, normalise
from pipeline.providers import documents
from pipeline.providers import files as archive
from pipeline.records import Document, Signature, Skipped, Template

#: Shares that hold today on the stacks; measured: benchmarks/README.md.
FLOORS = {"found": 0.88, "type": 0.92, "message": 0.88, "frame": 0.80}
#: The same of reports as they come, of all fields; they were mended with these labels in view.
FRESH_FLOORS = {"found": 0.84, "type": 0.78, "message": 0.72, "frame": 0.84}
PAIRS = Path(__file__).parent / "quality" / "pairs_fields.jsonl"
#: Of the pairs that readers judged: joins of different errors that may stand, and least joins of the same error.
#: Two calls of `path.join` in two commands of one tool, the same to those readers, are two errors to a later one.
MOST_WRONG, LEAST_RIGHT = 2, 37

Place = tuple[str, int, int]


@pytest.mark.shared
def test_stacks_of_other_fields_are_read() -> None:
    if not fields.THREADS.exists():
        pytest.skip("the internal threads of other fields are not here")
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for post in fields.posts(row for row in fields.labels("tune") if row["set"] == "stacks" and row["kind"] == "stack"):
        for field, verdict in fields.judged(post).items():
            asked[field] += verdict is not None
            right[field] += bool(verdict)
    assert asked["found"] >= 50
    assert {field: right[field] / asked[field] >= floor for field, floor in FLOORS.items()} == dict.fromkeys(
        FLOORS, True
    )


@pytest.mark.shared
def test_reports_of_all_fields_are_read() -> None:
    if not (fields.THREADS.exists() and fields.CORPUS.exists()):
        pytest.skip("the internal threads are not here")
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for post in fields.posts(row for row in fields.labels() if row["set"] == "fresh"):
        for field, verdict in fields.judged(post).items():
            asked[field] += verdict is not None
            right[field] += bool(verdict)
    assert asked["found"] >= 140
    held = {field: right[field] / asked[field] >= floor for field, floor in FRESH_FLOORS.items()}
    assert held == dict.fromkeys(FRESH_FLOORS, True), (right, asked)


def _texts(wanted: set[str]) -> dict[str, tuple[str, str]]:
    """The text of each thread as a build reads it, and its repository."""
    found = {}
    for page in archive.pages([fields.THREADS]):
        if isinstance(page, Skipped) or (uid := page.body[9:25].decode()) not in wanted:
            continue
        document = documents.document([page])
        if isinstance(document, Document):
            found[uid] = document.text, document.repo or ""
    return found


def _signatures(places: set[Place]) -> dict[Place, Signature]:
    """The signature of the event that stands at each place."""
    asked: dict[str, list[Place]] = defaultdict(list)
    for place in sorted(places):
        asked[place[0]].append(place)
    found: dict[Place, Signature] = {}
    for uid, (text, project) in _texts(set(asked)).items():
        for event in extract.events(text):
            for place in asked[uid]:
                if event.start < place[2] and event.end > place[1] and place not in found:
                    found[place] = normalise.signature(event, text, project=project)
    return found


@pytest.mark.shared
def test_pairs_of_different_errors_of_other_fields_stay_apart_and_those_of_the_same_are_joined() -> None:
    if not fields.THREADS.exists():
        pytest.skip("the internal threads of other fields are not here")
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    found = _signatures({tuple(row[side]) for row in rows for side in ("one", "other")})
    templates = {
        one.signature_id: Template(
            one.signature_id, one.exception_type, one.text, one.gate, one.is_gate_complete, one.is_truncated, 1, ""
        )
        for one in found.values()
        if not normalise.is_empty(one)
    }
    where = cluster.partition(list(templates.values())).cluster_of()
    joined: Counter[str] = Counter()
    for row in rows:
        ids = [one.signature_id for side in ("one", "other") if (one := found.get(tuple(row[side])))]
        if len(ids) == 2 and all(one in where for one in ids) and where[ids[0]] == where[ids[1]]:
            joined[row["verdict"]] += 1
    assert joined["different"] <= MOST_WRONG, joined
    assert joined["same"] >= LEAST_RIGHT, joined


def test_labels_hold_no_text() -> None:
    for row in fields.labels():
        told = [value for key, value in row.items() if isinstance(value, str) and key not in {"type", "code"}]
        assert max(map(len, told)) <= 80
        assert set(row) >= {"uid", "post", "digest", "lang", "split", "kind", "at"}
