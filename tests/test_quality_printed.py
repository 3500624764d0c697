"""What programs of many fields print, in texts written for this: that the error, its type and its frame are read."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks import fields, printed

#: So many of each half are right today, of those that are asked; the half that is kept aside is the honest one.
LEAST = {
    "read": {"found": 84, "type": 42, "message": 72, "frame": 45},
    "kept": {"found": 79, "type": 40, "message": 68, "frame": 39},
}


@pytest.mark.parametrize("half", LEAST)
def test_what_programs_print_is_read(half: str) -> None:
    right: Counter[str] = Counter()
    for case in printed.cases():
        if case["half"] == half:
            right.update(field for field, verdict in fields.judged(printed.post(case)).items() if verdict)
    assert right["false"] == 0
    assert {field: right[field] >= least for field, least in LEAST[half].items()} == dict.fromkeys(LEAST[half], True)
