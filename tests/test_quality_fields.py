"""Extraction on posts of other fields that readers labelled, where the internal threads lie beside the checkout."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks import fields

#: Shares that hold today on the stacks; measured: benchmarks/README.md.
FLOORS = {"found": 0.88, "type": 0.92, "message": 0.88, "frame": 0.80}


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


def test_labels_hold_no_text() -> None:
    for row in fields.labels():
        told = [value for key, value in row.items() if isinstance(value, str) and key not in {"type", "code"}]
        assert max(map(len, told)) <= 80
        assert set(row) >= {"uid", "post", "digest", "lang", "split", "kind", "at"}
