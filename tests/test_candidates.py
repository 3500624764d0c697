"""Candidates: what the trained reader takes for a statement, with the share of such units that were right."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import distil
from pipeline.distil.claims import candidates
from pipeline.distil.claims.subjects import errors_of
from pipeline.records import Claim, ClaimKind, Document
from pipeline.records.entry import LEAST_LEAD_SHARE
from pipeline.text.units import units
from tests.cli import run
from tests.distil_factory import document, events

ERROR = "ValueError: the second wheel does not fit the fixture"
SHOWN = f'```\nTraceback (most recent call last):\n  File "a.py", line 3, in run\n{ERROR}\n```'
CAUSE = "This is because the wheel causes the loader to read the wrong key, so the check of its size is null."
FIX = "I committed the fix for this, now merged: #41"


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
    assert int(found.key) in {share for _, share in candidates.network().steps["cause"]}
    assert found.quote.text in made.text


SAID = "It reads the wrong key there, because the wheel uses the old name of it."


@pytest.mark.parametrize(
    ("before", "share", "told"), [(2, 60, 60), (3, 60, 30), (3, 50, 30), (3, 25, 25), (3, 70, 70), (2, 35, 35)]
)
def test_behind_the_third_comment_only_the_surest_finds_stay_sure(
    before: int, share: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _thread(*["Thanks."] * before, SAID)
    monkeypatch.setattr(candidates.Reader, "_shares", property(lambda self: [[share] * 4 for _ in self._seen]))
    assert ("reader.cause", str(told)) in {(one.rule, one.key) for one in _found(made) if one.quote.text == SAID}


ACT = "I put the wheel in before the loader and took the old key away."
BACK = "I put the wheel in before the loader and it ran for an hour, then the error came back."
FIXED = "It is in the main branch since the wheel was replaced by the new one."


def test_that_a_report_is_fixed_is_as_sure_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _thread(*["Thanks."] * 3, FIXED)
    monkeypatch.setattr(candidates.Reader, "_shares", property(lambda self: [[50] * 4 for _ in self._seen]))
    told = {(one.rule, one.key) for one in _found(made) if one.quote.text == FIXED}
    assert {("reader.fix", "50"), ("reader.remedy", "30")} <= told


AGAIN = '```\nTraceback (most recent call last):\n  File "b.py", line 9, in go\nKeyError: the pool is empty\n```'


@pytest.mark.parametrize(
    ("posts", "body", "rule", "is_lead"),
    [
        ((SAID, "Thanks."), SHOWN, "reader.cause", True),
        ((SAID, "Unfortunately I still see it."), SHOWN, "reader.cause", False),
        (("Thanks.",), f"{SHOWN}\n\n{SAID}", "reader.cause", False),
        ((ACT, "Thanks."), SHOWN, "reader.remedy", True),
        ((ACT, "That does not help me."), SHOWN, "reader.remedy", False),
        ((ACT, "Thanks.", AGAIN), SHOWN, "reader.remedy", False),
        ((BACK, "Thanks."), SHOWN, "reader.remedy", False),
    ],
    ids=["cause", "contested", "of who reports", "act", "contested act", "another error in the thread", "came back"],
)
def test_a_find_that_the_thread_speaks_against_is_no_lead(
    posts: tuple[str, ...], body: str, rule: str, is_lead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates.Reader, "_shares", property(lambda self: [[70] * 4 for _ in self._seen]))
    shares = [
        one.share or 0
        for one in _found(_thread(*posts, body=body))
        if one.rule == rule and one.quote.text in (SAID, ACT, BACK)
    ]
    assert [share >= LEAST_LEAD_SHARE for share in shares] == [is_lead]


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


def test_a_candidate_passes_the_gates_of_statements_or_is_no_lead() -> None:
    said = "It reads the wrong key there, because the wheel uses the old name of it."
    assert _found(_thread(said))
    (guessed,) = _found(_thread("I guess it reads the wrong key there, because the wheel uses the old name of it."))
    assert (guessed.share or 0) < LEAST_LEAD_SHARE
    assert _found(_thread(f"INFO: {said}")) == []
    hollow = _thread(said.replace("the wheel", "the  wheel"))
    assert _found(hollow)
    (lossy,) = _found(replace(hollow, is_lossy=True))
    assert (lossy.share or 0) < LEAST_LEAD_SHARE


def _seen(count: int) -> tuple[list[list[str]], list[list[str]]]:
    """Words and traits of units, of known and unknown names, none of them and many."""
    net, rng = candidates.network(), random.Random(7)
    words, traits = sorted(net.words), sorted(net.traits)
    return (
        [[rng.choice([*words, "unheard"]) for _ in range(rng.randrange(60))] for _ in range(count)],
        [rng.sample([*traits, "unheard"], rng.randrange(60)) for _ in range(count)],
    )


def test_the_score_is_the_same_in_any_order_of_the_traits() -> None:
    words, traits = _seen(30)
    told = candidates.scores(candidates.network(), words, traits)
    assert told == candidates.scores(candidates.network(), words, [mine[::-1] for mine in traits])
    assert all(isinstance(score, int) for scored in told for score in scored)
    assert len({score for scored in told for score in scored}) > 60


@pytest.mark.long
def test_scores_are_what_whole_numbers_of_any_size_give() -> None:
    # float64 is exact only as long as no sum is too large for it: integers of Python have no such limit
    words, traits = _seen(12)
    net = candidates.network()
    whole = replace(net, weights={name: value.astype(int).astype(object) for name, value in net.weights.items()})
    assert candidates.scores(net, words, traits) == _by_integers(whole, words, traits)


def _by_integers(net: candidates.Network, words: list[list[str]], traits: list[list[str]]) -> list[list[int]]:
    """The network in Python's integers, unit by unit and place by place; halves are rounded up, as there."""
    kept: Any = net.weights

    def rounded(value: Any, unit: int) -> Any:
        return (value * 2 + unit) // (2 * unit)

    def layer(row: Any, name: str) -> Any:
        told = rounded(row @ kept[name] + kept[f"{name}.bias"] * candidates.ACTIVE, candidates.WEIGHT)
        return np.maximum(told, 0)

    def beside(rows: list[Any], at: int, offsets: tuple[int, ...]) -> Any:
        nothing = rows[0] * 0
        near = [rows[at + o] if 0 <= at + o < len(rows) else nothing for o in offsets]
        return np.concatenate(near)

    known = [sorted({net.traits[t] for t in mine if t in net.traits})[: candidates.MOST_TRAITS] for mine in traits]
    units = []
    for mine, rows in zip(words, known, strict=True):
        said = [rounded(kept["words"][net.words.get(word, 1)], 4) for word in mine[: candidates.MOST_WORDS]]
        for name in ("first", "second"):
            said = [layer(beside(said, at, (-1, 0, 1)), name) for at in range(len(said))]
        most = np.max(said, axis=0) if said else kept["second.bias"] * 0
        told = kept["traits"][rows].sum(0) + kept["traits.bias"] * 4
        units.append(layer(np.concatenate([most, np.maximum(rounded(told, 16), 0)]), "unit"))
    thread = units
    for number, apart in enumerate(candidates.DILATIONS):
        offsets = tuple(apart * n for n in range(-2, 3))
        thread = [row + layer(beside(thread, at, offsets), f"thread.{number}") for at, row in enumerate(thread)]
    scores = []
    for unit, row, rows in zip(units, thread, known, strict=True):
        told = np.concatenate([unit, row]) @ kept["heads"] + kept["heads.bias"] * candidates.ACTIVE
        heads = np.clip(rounded(told, candidates.WEIGHT), -8 * candidates.ACTIVE, 4 * candidates.ACTIVE)
        last = heads @ kept["last.heads"] + (kept["last.traits"][rows].sum(0) + kept["last.bias"]) * candidates.ACTIVE
        scores.append([int(score * 100 // (candidates.ACTIVE * candidates.WEIGHT)) for score in last])
    return scores


def test_what_is_said_later_counts() -> None:
    said = "It reads the wrong key there, because the wheel uses the old name of it."
    before, after = _thread(said), _thread(said, "No, that is not it, the same error with the new name.")
    told = []
    for made in (before, after):
        shown, signatures = events(made)
        pieces = units(made, shown)
        read = list(candidates.seen(made, pieces, errors_of(shown, signatures), []))
        scored = candidates.scores(candidates.network(), [one.words for one in read], [one.traits for one in read])
        told.append(next(s for one, s in zip(read, scored, strict=True) if made.text.startswith(said, one.unit.start)))
    assert told[1][0] < told[0][0]


def test_weights_are_whole_numbers_and_shares_rise_with_the_score() -> None:
    net = candidates.network()
    assert all((value == np.rint(value)).all() for value in net.weights.values())
    assert len(net.weights["words"]) == len(net.words) + 2
    assert len(net.weights["traits"]) == len(net.weights["last.traits"]) == len(net.traits) + 1
    assert set(net.steps) == set(candidates.KINDS)
    for steps in net.steps.values():
        assert [least for least, _ in steps] == sorted(least for least, _ in steps)
        assert [share for _, share in steps] == sorted(share for _, share in steps)


def test_a_log_of_thousands_of_lines_is_not_read() -> None:
    body = SHOWN + "\n\n" + "\n\n".join(f"The loader reads the wrong key {n} there." for n in range(1_200))
    assert _found(_thread(CAUSE, body=body)) == []


def test_an_entry_says_nothing_by_a_candidate_but_shows_the_surest_as_leads(tmp_path: Path) -> None:
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
    [lead] = json.loads(entry["json"]).pop("leads") if row["share"] >= LEAST_LEAD_SHARE else [None]
    assert lead is None or (lead["claim_id"], lead["quote"]) == (row["claim_id"], row["quote"])
    assert "wrong key" not in json.dumps({**json.loads(entry["json"]), "leads": []})


def _rows(home: Path, sql: str) -> list[dict[str, Any]]:
    return json.loads(run("query", "--home", home, "--format", "json", sql).out)
