"""Exceptions that a line names: a class of the JVM behind other words of a log, one inside another, escaped lines."""

from __future__ import annotations

import pytest

from pipeline import extract
from pipeline.records import Severity


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (
            "2012-01-06 00:17:31,599 INFO org.kiln.Fire: Gave up on shelf of oven java.io.IOException:  no clay there",
            "java.io.IOException",
            "no clay there",
        ),
        ("AlreadyLitError (see above for traceback): There is a fire", "AlreadyLitError", "There is a fire"),
        ("On line 7 it said LidError: lid is shut.", "LidError", "lid is shut."),
        ('It runs into a LidError: "lid is shut" when lit', "LidError", '"lid is shut" when lit'),
        ("org.kiln.Shell$ExitException: line 7: no clay", "org.kiln.Shell$ExitException", "line 7: no clay"),
        (
            "E/KilnHandler( 7825):\norg.kiln.Lid$BadLidException: lid is open",
            "org.kiln.Lid$BadLidException",
            "lid is open",
        ),
    ],
)
def test_what_names_an_exception_shows_it(line: str, kind: str, message: str) -> None:
    (event,) = extract.events(f"It is cold.\n{line}")
    assert (event.exception_type, event.message) == (kind, message)


@pytest.mark.parametrize(
    "line",
    [
        "we gave up on shelf 7 of oven java.io.IOException: no clay there",
        "2012-01-06 00:17:31,599 INFO org.kiln.Fire: catch (java.io.IOException: no clay there",
        "2012-01-06 00:17:31,599 INFO org.kiln.Fire: retries on java.io.IOException: if there is clay",
    ],
)
def test_prose_and_code_that_name_such_a_class_show_none(line: str) -> None:
    assert not [one for one in extract.events(f"It is cold.\n{line}") if one.dialect == "exception-line"]


@pytest.mark.parametrize(
    ("lead", "is_shown"),
    [
        ("- Fixed: ", False),
        ("* fix(oven): ", False),
        ("- Fixes the crash with `", False),
        ("If you see ", False),
        ("In case you run into the error ", False),
        ("修复了 ", False),
        ("如果看到 ", False),
        ("It is not fixed, I still get ", True),
        ("When I light it I see ", True),
        ("Suffix: ", True),
        ("After the fix: ", True),
        ("修复之后还是报错：", True),
        ("如果加热就会看到 ", True),
    ],
)
def test_what_is_told_as_fixed_or_as_one_that_may_come_is_no_error(lead: str, is_shown: bool) -> None:
    found = extract.events(f"Kiln 1.2.3\n\n{lead}LidError: the lid is open\n\nIt is cold.")
    assert [one.exception_type for one in found] == ["LidError"] * is_shown


def test_a_title_that_says_fixed_names_the_error_of_its_thread() -> None:
    (event,) = extract.events("fix: LidError: the lid is open\n\nIt is cold.")
    assert event.exception_type == "LidError"


def test_a_list_of_changes_names_no_error_of_its_own_on_its_first_line_either() -> None:
    assert extract.events("Changelog of kiln 2: Fixed: LidError: the lid is open\n\nIt is warm.") == []
    assert (
        extract.events("更新日志：修复了 LidError: the lid is open 的问题\n如果看到 LidError: no lid，请先合上。\n")
        == []
    )


def test_a_traceback_whose_breaks_are_escaped_is_read_where_a_terminal_cut_off_its_head() -> None:
    text = (
        r" import sign\n  File \"/opt/kiln/sign.py\", line 8, in <module>\n    from kiln import Fire\n"
        r"  File \"/opt/kiln/fire.py\", line 5, in <module>\n    from ._fire import lid\n"
        r"ImportError : No module named \'kiln._fire\'\n',"
    ).replace(r"\"", '"')
    (event,) = extract.events(text)
    assert (event.exception_type, event.message) == ("ImportError", "No module named 'kiln._fire'")
    assert [one.line for one in event.frames] == [8, 5]


def test_a_phones_fatal_signal_is_an_error_whatever_level_its_carrier_gives_it() -> None:
    (event,) = extract.events("[INFO] :   libc: Fatal signal 6 (SIGABRT) at 0x000007c7 (code=-6), thread 2007 (Kiln)")
    assert (event.codes, event.severity) == (("signal:SIGABRT",), Severity.ERROR)


def test_a_log_line_that_names_an_exception_has_the_stack_below_it() -> None:
    text = (
        "F0220 22:58:56.524958 230891520 kiln_fire.cc:154] Lost the lid. Error: IOError: 8: lid is larger than max\n"
        "*** Check failure stack trace: ***\n    @        0x11d15fce2  kiln::Fire::~Fire()\n"
        "    @        0x11ce44b35  kiln::Oven::heat()\n"
    )
    (event,) = extract.events(text)
    assert event.exception_type == "IOError"
    assert [one.function for one in event.frames if one.function] == ["kiln::Oven::heat()", "kiln::Fire::~Fire()"]
