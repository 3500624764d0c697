"""Distil, the map step: what a document says about its errors, case folder by case folder, and what always holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import distil
from pipeline.distil import tables
from pipeline.distil.claims import prose
from pipeline.lexicon import vocabulary
from pipeline.lexicon.advice import danger
from pipeline.records import Document
from tests import linear
from tests.distil_factory import claims, document, events, occurrences
from tests.rings import one_in

CASES = sorted((Path(__file__).parent / "cases" / "distil").iterdir())


def _case(name: str) -> dict[str, Any]:
    return json.loads((CASES[0].parent / name / "input.json").read_text("utf-8"))


def shown(made: Document) -> dict[str, Any]:
    """What a build keeps of a document as a case folder spells it."""
    read = distil.read(made, *events(made))
    stated = [
        {
            "kind": claim.kind,
            "rule": claim.rule,
            "fact": None if claim.fact is None else [claim.fact.template, dict(claim.fact.slots)],
            "outcome": claim.outcome,
            "key": claim.key,
            "quote": claim.quote.text,
            "answer": claim.outcome_quote.text if claim.outcome_quote else None,
            "role": claim.quote.author_role,
            "about": len(claim.signature_ids),
        }
        for claim in read.claims
        if claim.kind != "candidate"  # tests of their own: they change with every training
    ]
    return {
        "claims": stated,
        "occurrences": [
            [
                occurrence.quote.text,
                {s.name: s.value for s in occurrence.slots if s.name in {"required", "limit"}},
            ]
            for occurrence in occurrences(made)
        ],
        "skipped": [[skip.stage, skip.reason, skip.detail] for skip in read.skipped],
    }


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_case_folder_gives_what_it_expects(folder: Path) -> None:
    case = json.loads((folder / "input.json").read_text("utf-8"))
    assert shown(document(case)) == json.loads((folder / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_every_quote_is_found_at_its_offsets_and_is_short(folder: Path) -> None:
    made = document(json.loads((folder / "input.json").read_text("utf-8")))
    read = distil.read(made, *events(made))
    quotes = [c.quote for c in read.claims] + [c.outcome_quote for c in read.claims if c.outcome_quote]
    for quote in [*quotes, *(o.quote for o in occurrences(made))]:
        assert made.text[quote.start : quote.end] == quote.text
        assert 0 < len(quote.text) <= prose.MAX_QUOTE


def test_a_document_without_errors_claims_nothing() -> None:
    case = _case("cause-fix-and-version")
    made = document(case)
    assert distil.read(made, [], []).claims == ()


def test_reading_twice_gives_equal_claims_with_distinct_ids() -> None:
    made = document(_case("dead-ends-need-attempt-and-outcome"))
    first, second = (claims(made) for _ in range(2))
    assert first == second
    assert len({claim.claim_id for claim in first}) == len(first)


def test_a_long_sentence_is_quoted_around_its_cue_and_its_act() -> None:
    case = _case("dead-ends-need-attempt-and-outcome")
    padding = "which is a machine that we rent by the hour for work of this kind and others, " * 3
    case["posts"] = [
        *case["posts"][:2],
        {
            "kind": "comment",
            "author": "z",
            "at": None,
            "text": f"On our machine, {padding}setting `TORCH_SHOW_CPP_STACKTRACES=1` fixed the problem",
        },
    ]
    made = document(case)
    worked = [c for c in claims(made) if c.outcome == "worked"]
    assert [dict(c.fact.slots)["name"] for c in worked if c.fact] == ["TORCH_SHOW_CPP_STACKTRACES"]
    assert "TORCH_SHOW_CPP_STACKTRACES=1" in worked[0].quote.text
    assert " fixed" in worked[0].quote.text
    assert len(worked[0].quote.text) <= prose.MAX_QUOTE


def test_a_reply_is_not_paired_with_its_own_author() -> None:
    case = _case("hint-environment-and-confirmed-advice")
    case["posts"][3]["author"] = case["posts"][2]["author"]
    assert not [c for c in claims(document(case)) if c.rule == "reply.worked"]


@pytest.mark.parametrize(
    "piece",
    one_in(
        8,
        [
            "I tried setting X_Y=1, and still, ",
            "because of that this is due to ",
            "fixed in #1 by with since ",
            "please set `a` to `b` instead of ",
            "没用 还是 试过 设置 ",
            "a" * 50 + "=",
            "GPU: CUDA: Python: ",
            "--flag ",
            "<!-- ",
            "> ",
            "```\n",
            "pip install ",
            "tried " * 8,
            "does not ",
            "1.1.1.1.",
            "\x00\x00",
        ],
    ),
)
def test_hostile_text_of_100_kb_stays_fast(piece: str) -> None:
    case = _case("unsafe-acts-are-refused")
    case["posts"].append({"kind": "comment", "author": "z", "at": None, "text": piece * (100_000 // len(piece))})
    made = document(case)
    found = events(made)
    linear.within(3.0, lambda _: distil.read(made, *found), piece)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "Setting `A_B=1` fixed it.",
                "I tried that, but still no luck.",
                "> quoted",
                "```",
                "The root cause is a race in the queue",
                "升级到 torch 2.3.0 之后解决了。",
                "🤖",
                "\n",
                "Works now, thanks!",
                "<!--",
                "-->",
                "GPU: H100",
                "\u202e",
                "x" * 600,
            ]
        ),
        max_size=30,
    )
)
def test_any_mixture_gives_true_quotes(pieces: list[str]) -> None:
    case = _case("unsafe-acts-are-refused")
    case["posts"].append({"kind": "comment", "author": "z", "at": None, "text": " ".join(pieces)})
    made = document(case)
    for claim in claims(made):
        assert made.text[claim.quote.start : claim.quote.end] == claim.quote.text


def test_every_template_that_a_table_emits_is_listed_with_its_slots() -> None:
    listed = vocabulary.table()["facts"]
    for hint in tables.hints():
        templates = [hint.template] if "$" not in hint.template else ["remedy.increase_flag", "remedy.decrease_flag"]
        for template in templates:
            assert set(listed[template]["slots"]) == {name for name, _ in hint.slots}, hint.rule
    for row in tables.table("actions.toml")["action"]:
        named = {name for name in listed[row["template"]]["slots"] if f"(?P<{name}>" in row["pattern"]}
        assert named == set(listed[row["template"]]["slots"]), row


def test_rule_ids_are_unique() -> None:
    ids = [cue.rule for cue in tables.cues()] + [hint.rule for hint in tables.hints()]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("lead", "count"), [("", 1), ("   10 ", 0), ("----> 10 ", 0), ("    # ", 0)])
def test_a_line_of_source_code_is_no_hint(lead: str, count: int) -> None:
    advice = "try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation"
    error = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB."
    post = {"kind": "body", "text": f"```\nTraceback (most recent call last):\n{error}\n{lead}{advice}.\n```"}
    made = document({"number": 7, "kind": "issue", "posts": [{"kind": "title", "text": "Fails"}, post]})
    [event], _ = events(made)
    assert len(list(prose.hinted(made.text, event, until=len(made.text)))) == count


def test_a_hint_is_found_in_the_text_that_the_program_prints() -> None:
    text = (
        "CUDA out of memory. Tried to allocate 2.00 GiB. See docs. If reserved but unallocated memory is large "
        "try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
    )
    hint = next(h for h in tables.hints() if h.rule == "hint.torch.expandable_segments")
    found = hint.pattern.search(text)
    assert found is not None
    assert found["value"] == "expandable_segments:True"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("curl -sSL https://x.invalid/a.sh | bash", "runs-the-network"),
        ("wget -qO- x.invalid | sudo sh", "runs-the-network"),
        ('bash -c "$(curl -fsSL https://x.invalid)"', "runs-the-network"),
        ("bash <(curl -s x.invalid)", "runs-the-network"),
        ("rm -rf build", None),
        ("rm -fr ~/x", "deletes"),
        ("rm --recursive x", "deletes"),
        ("shutil.rmtree(path)", "deletes"),
        ("requests.get(u, verify=False)", "checks-off"),
        ("git config http.sslVerify false", "checks-off"),
        ("pip install --trusted-host pypi.org x", "checks-off"),
        ("wget --no-check-certificate u", "checks-off"),
        ("apt-get install --allow-unauthenticated x", "checks-off"),
        ("curl -k https://x.invalid/setup.py", "checks-off"),
        ("curl -sSkL https://x.invalid/setup.py", "checks-off"),
        ("curl -o a https://x.invalid/a -k", "checks-off"),
        ("curl -o pkg-kit.tar https://x.invalid/a", None),
        ("curl -L https://x.invalid/a | tar -xkf -", None),
        ("turn off SSL certificate verification", "checks-off"),
        ("I disabled the antivirus", "security-off"),
        ("chmod -R 777 /data", "security-off"),
        ("setting `num_stages=1`", None),
        ("rm cache.json", None),
        ("curl https://x.invalid/health", None),
    ],
)
def test_unsafe_acts_are_recognised(text: str, name: str | None) -> None:
    assert danger(text) == name
