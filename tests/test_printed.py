"""The usual forms in which tools of all fields print an error: found, named and placed, however they are shown."""

from __future__ import annotations

from collections import Counter

from benchmarks import fields, printed
from tests.each import each

#: The shares that the texts have had, a little below (benchmarks/README.md).
_LEAST = {"found": 0.98, "type": 0.94, "frame": 0.96}
_LEAST_CARRIED = {"found": 0.83, "type": 0.77, "frame": 0.65}
#: Every so many texts is shown by each carrier.
_STEP = 13


def _shares(posts: list[fields.Post]) -> tuple[dict[str, float], int]:
    right, asked = Counter[str](), Counter[str]()
    for post in posts:
        for field, verdict in fields.judged(post).items():
            if verdict is not None:
                asked[field] += 1
                right[field] += verdict
    return {field: right[field] / asked[field] for field in asked if field != "false"}, right["false"]


def test_the_forms_of_each_tool_are_read() -> None:
    shares, false = _shares([printed.post(case) for case in printed.cases()])
    assert {field: shares[field] >= least for field, least in _LEAST.items()} == dict.fromkeys(_LEAST, True), shares
    assert not false


@each("carrier", [*printed.CARRIERS])
def test_a_form_is_read_however_it_is_shown(carrier: str) -> None:
    shares, false = _shares([printed.post(case, carrier) for case in list(printed.cases())[::_STEP]])
    least = {field: shares[field] >= least for field, least in _LEAST_CARRIED.items()}
    assert least == dict.fromkeys(_LEAST_CARRIED, True), shares
    assert not false


def test_names_of_forms_are_told_apart() -> None:
    assert [name for name, count in Counter(case["name"] for case in printed.cases()).items() if count > 1] == []
