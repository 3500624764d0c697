"""How a terminal shows what single projects said of an error."""

from __future__ import annotations

import pytest

from pipeline.cli.entry_page import print_entry
from pipeline.cli.labels import Language
from pipeline.cli.output import place_of_case
from tests import entry_factory as factory

THREAD = {
    "documents": ["github.com/mill/feeder#7"],
    "repo": "mill/feeder",
    "frame": None,
    "library": None,
    "statements": [
        {
            "kind": "workaround",
            "text": "Add this to the settings of the feeder:",
            "text_zh": None,
            "how": "feeder:\n  retries: 3",
            "condition": None,
            "worked": 1,
            "failed": 0,
        }
    ],
}


def test_a_case_without_frames_is_named_by_its_thread() -> None:
    assert place_of_case(THREAD) == "github.com/mill/feeder#7"
    framed = {**THREAD, "frame": "belt:load", "library": "belt"}
    assert place_of_case(framed) == "mill/feeder · belt:load · belt"


def test_a_case_in_chinese_shows_its_thread_and_the_block_that_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    entry = factory.raw_entry_with_case()
    (case,) = entry["cases"]
    statement = {**case["statements"][0], **THREAD["statements"][0], "worked": 1}
    print_entry({**entry, "cases": [{**case, **THREAD, "statements": [statement]}]}, lang=Language.ZH)
    told = capsys.readouterr().out
    assert "  github.com/mill/feeder#7\n" in told
    assert "    | feeder:\n    |   retries: 3\n" in told
    assert "有效 1" in told
