"""A test over many rows fails with every row that fails, and with none to look at."""

import pytest

from tests.each import each


@each("number, word", [(1, "one"), (2, "two"), (3, "three")])
def test_rows_are_given_by_name(number: int, word: str) -> None:
    assert len(word) >= number


def test_every_row_that_fails_is_named_with_what_was_wrong_and_no_other() -> None:
    @each("number", range(5))
    def check(number: int) -> None:
        assert 6 % number == 0

    with pytest.raises(pytest.fail.Exception) as caught:
        check()
    told = str(caught.value).split("\n\n")
    assert told[0] == "2 of 5 rows fail"
    assert told[1] == "number='0'\nZeroDivisionError: integer modulo by zero"
    assert told[2].startswith("number='4'\nAssertionError: assert (6 % 4) == 0")


def test_a_table_without_rows_is_no_success() -> None:
    check = each("row", [])(lambda row: None)
    with pytest.raises(pytest.fail.Exception, match="0 of 0"):
        check()


def test_parts_are_all_rows_and_the_first_alone_is_quick() -> None:
    seen: list[int] = []

    @each("number", range(7), parts=3)
    def check(number: int) -> None:
        seen.append(number)

    (mark,) = check.pytestmark  # type: ignore[attr-defined]
    parts = [
        (one, False) if isinstance(one, int) else (*one.values, one.marks[0].name == "long") for one in mark.args[1]
    ]
    assert parts == [(0, False), (1, True), (2, True)]
    for part, _ in parts:
        check(part)
    assert (sorted(seen), seen[:3]) == (list(range(7)), [0, 3, 6])
