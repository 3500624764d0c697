"""Edges of the transition graph: which error led to which, by a program's word or a person's; from file to entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline import run
from pipeline.store import reading

CHAIN = """```
Traceback (most recent call last):
  File "/srv/app/cache.py", line 31, in load
    return json.loads(text)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/main.py", line 9, in <module>
    plan = load(path)
  File "/srv/app/cache.py", line 33, in load
    raise OSError("the plan file is not valid")
OSError: the plan file is not valid
```
"""
ALONE = """```
Traceback (most recent call last):
  File "/home/ann/plans/cache.py", line 40, in load
    return json.loads(text)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
```
"""
BARE = """```
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
```
"""
ELSEWHERE = ALONE.replace("in load", "in fetch")
ONE_AFTER_ANOTHER = Path(__file__).parent / "cases" / "distil" / "one-error-after-another" / "input.json"


def _issue(number: int, body: str, *comments: str) -> dict[str, Any]:
    url = f"https://github.com/errmine-fixtures/plans/issues/{number}"
    return {
        "number": number,
        "html_url": url,
        "url": url.replace("https://github.com/", "https://api.github.com/repos/"),
        "repository_url": "https://api.github.com/repos/errmine-fixtures/plans",
        "title": f"It fails, report {number}",
        "body": body,
        "state": "open",
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-02T10:00:00Z",
        "comments": len(comments),
        "labels": [],
        "user": {"login": "somebody", "type": "User"},
        "author_association": "NONE",
    }


def built(home: Path, *bodies: str) -> dict[str, dict[str, Any]]:
    """The entries that issues with these bodies give, by exception type."""
    lines = [json.dumps(_issue(number, body)) for number, body in enumerate(bodies, 1)]
    home.mkdir(exist_ok=True)
    (home / "issues.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    places = run.Places.of(home / "home")
    run.import_files(places.raw, [home / "issues.jsonl"])
    run.build(places, workers=1, partition_documents=500)
    return {row["exception_type"]: row for row in reading.entries(places.database)}


@pytest.mark.parametrize("alone", [ALONE, BARE], ids=["with-its-stack", "without"])
def test_a_chain_of_exceptions_is_an_edge_between_their_entries(tmp_path: Path, alone: str) -> None:
    entries = built(tmp_path, CHAIN, alone)
    first, second = entries["json.decoder.JSONDecodeError"], entries["OSError"]
    (leads,) = first["transition_graph"]["leads_to"]
    (preceded,) = second["transition_graph"]["preceded_by"]
    assert (leads["entry_id"], preceded["entry_id"]) == (second["id"], first["id"])
    assert leads["count"] == preceded["count"] == 1
    (piece,) = [e for e in first["evidence"] if e["evidence_id"] in leads["evidence"]]
    assert (piece["role"], piece["rule"]) == ("link", "link.chain_context")
    assert piece["quote"] == "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"


@pytest.mark.long
@pytest.mark.parametrize("others", [(), (ELSEWHERE,)], ids=["nowhere", "in-another-function"])
def test_an_earlier_error_that_has_no_entry_makes_no_edge(tmp_path: Path, others: tuple[str, ...]) -> None:
    assert built(tmp_path, CHAIN, *others)["OSError"]["transition_graph"]["preceded_by"] == []


def test_an_error_that_people_met_after_another_is_an_edge_in_the_built_entries(tmp_path: Path) -> None:
    body = json.loads(ONE_AFTER_ANOTHER.read_text("utf-8"))["posts"][1]["text"]
    entries = built(tmp_path, body)
    first, second = entries["triton.runtime.errors.OutOfResources"], entries["ImportError"]
    assert [edge["entry_id"] for edge in first["transition_graph"]["leads_to"]] == [second["id"]]
    assert [edge["entry_id"] for edge in second["transition_graph"]["preceded_by"]] == [first["id"]]


@pytest.mark.long
def test_two_errors_of_one_thread_are_no_edge_unless_somebody_says_so(tmp_path: Path) -> None:
    body = json.loads(ONE_AFTER_ANOTHER.read_text("utf-8"))["posts"][1]["text"]
    entries = built(tmp_path, body.replace("After I made the tiles smaller I get a new error:", "And the build log:"))
    assert len(entries) == 2
    for row in entries.values():
        assert row["transition_graph"]["leads_to"] == row["transition_graph"]["preceded_by"] == []
