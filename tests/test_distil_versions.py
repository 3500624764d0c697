"""Distil: which version a text states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline import distil
from pipeline.distil import actions, tables
from pipeline.distil.claims import subjects
from tests.distil_factory import document, events
from tests.each import each

DESCRIBED = [
    # (line of an environment block, the versions that it states)
    ("TensorFlow version: v1.12.0-9492-g2c319fb415 2.0.0-alpha0", [("TensorFlow", "2.0.0-alpha0")]),
    ("TensorFlow version: ('v1.12.0-10426-g4b1ee1a7b1', '1.14.1-dev20190319')", [("TensorFlow", "1.14.1-dev20190319")]),
    ("TensorFlow version: b'v1.0.0-2171-gbaa85cb' 1.0.1", [("TensorFlow", "1.0.1")]),
    ("TensorFlow version: v2.2.0-rc4-8-g2b96f3662b 2.2.0", [("TensorFlow", "2.2.0")]),
    ("TensorFlow version: GIT_VERSION='v1.12.1-4759-g9856697d8b' TF_VERSION='2.0.0-dev20190622'",
     [("TensorFlow", "2.0.0-dev20190622")]),
    # a commit behind a tag is part of no version
    ("TensorFlow version: v1.12.0-9492-g2c319fb415", []),
    ("OpenCV => 4.3.0-527-ga711e2aa41 (master)", []),
    # the tag itself is
    ("TensorFlow version: v1.13.1-0-g6612da8951", [("TensorFlow", "1.13.1")]),
    ("TensorFlow version: 2.2.0 (v2.2.0-0-g2b96f3662b)", [("TensorFlow", "2.2.0")]),
    # a project's commit under the heading of another
    ("Python version: v1.12.1-17291-ga2a3b22 2.1.0-dev20191103", []),
    ("Python version: 3.7.3", [("Python", "3.7.3")]),
    # look-alikes: parts of a version, not commits behind it
    ("PyTorch version: 1.9.0a0+git1234567", [("PyTorch", "1.9.0a0")]),
    ("TensorFlow version: 2.1.0-dev20191103", [("TensorFlow", "2.1.0-dev20191103")]),
    # the address of a machine
    ("Ray: 130.20.133.226", []),
    ("Ray: 0.8.7.1", [("Ray", "0.8.7.1")]),
    ("OpenCV => 4.1.2.30", [("OpenCV", "4.1.2.30")]),
]  # fmt: skip


@each("row", DESCRIBED)
def test_a_line_states_a_version_and_nothing_that_looks_like_one(row: tuple[str, list[tuple[str, str]]]) -> None:
    line, stated = row
    made = document({"number": 1, "kind": "issue", "posts": [
        {"kind": "title", "text": "Fixture"}, {"kind": "body", "text": f"System\n{line}\n"},
    ]})  # fmt: skip
    assert [(seen.name, seen.value) for seen in subjects.seen(made)] == stated


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("It fails since TensorFlow v1.12.0-9492-g2c319fb415.", None),
        ("It fails since TensorFlow v1.13.1-0-g6612da8951.", ("TensorFlow", "1.13.1")),
        ("It fails since TensorFlow 1.13.1.", ("TensorFlow", "1.13.1")),
    ],
)
def test_a_sentence_names_no_version_by_a_commit_behind_it(sentence: str, named: tuple[str, str] | None) -> None:
    assert actions.versioned(sentence) == named


LISTED = tables.table("environment.toml")["listed"]


def _seen(line: str) -> dict[str, str]:
    posts = [{"kind": "title", "text": "Fixture"}, {"kind": "body", "text": f"It fails.\n\n- {line}\n\nWhy?"}]
    made = replace(document({"number": 1, "kind": "issue", "posts": posts}), repo="fixture/widget")
    found = [one for one in subjects.seen(made) if one.rule in ("environment.listed", "environment.own")]
    assert all(made.text[one.start : one.end] in line for one in found)
    return {one.name: one.value for one in subjects.seen(made)} if found else {}


@each("row", LISTED["examples"])
def test_a_line_of_a_report_lists_versions(row: dict[str, Any]) -> None:
    assert _seen(row["line"]) == row["named"]


@each("line", LISTED["lookalikes"])
def test_a_line_that_tells_of_something_else_lists_none(line: str) -> None:
    assert _seen(line) == {}


def test_only_a_report_lists_versions() -> None:
    posts = [{"kind": "title", "text": "Fixture"}, {"kind": "body", "text": "It fails."},
             {"kind": "comment", "text": "On Python 3.11, PyTorch 2.5.1"}]  # fmt: skip
    assert subjects.seen(document({"number": 1, "kind": "issue", "posts": posts})) == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I confirm that the issue is resolved in the tf-nightly", ("fix.on_nightly_of", {})),
        ("The issue was fixed in the nightly version.", ("fix.on_nightly_of", {})),
        ("This works with tf-nightly.", ("fix.on_nightly_of", {})),
        ("The issue was fixed in the master branch.", ("fix.on_branch_of", {"branch": "master"})),
        ("Fixed in dev.", ("fix.on_branch_of", {"branch": "dev"})),
    ],
)
def test_builds_of_each_night_are_no_branch(said: str, fact: tuple[str, dict[str, str]]) -> None:
    made = document({"number": 1, "kind": "issue", "posts": [
        {"kind": "title", "text": "The wheel stops"}, {"kind": "body", "text": "```\nKeyError: the second wheel\n```"},
        {"kind": "comment", "text": said},
    ]})  # fmt: skip
    stated = [claim.fact for claim in distil.read(made, *events(made)).claims if claim.kind == "fix" and claim.fact]
    assert [(one.template, dict(one.slots)) for one in stated] == [(fact[0], fact[1] | {"repo": made.repo})]
