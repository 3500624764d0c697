"""Distil: an act that stands in a block of code, beside words that advise it or say that it helped."""

from __future__ import annotations

from typing import Any

from pipeline import distil
from pipeline.distil import tables
from pipeline.distil.claims import passages
from pipeline.records import Claim, ClaimKind, Document, Outcome
from tests.distil_factory import document, events
from tests.each import each

TABLE = tables.table("blocks.toml")
ERROR = "ValueError: shard 7 does not fit the mesh of the fixture"
INSTALL = "```\npip install fixture_mesh==2.5\n```"


def _thread(*comments: tuple[str, str], role: str | None = None) -> Document:
    rows: list[dict[str, Any]] = [
        {"kind": "title", "text": "It fails"},
        {"kind": "body", "text": f"It ends with\n\n```\n{ERROR}\n```\n", "author": "asks"},
    ]
    rows += [{"kind": "comment", "text": text, "author": who, "role": role} for who, text in comments]
    return document({"number": 1, "kind": "issue", "posts": rows})


def _acts(made: Document) -> list[Claim]:
    return [claim for claim in distil.read(made, *events(made)).claims if claim.kind == ClaimKind.REMEDY]


@each("row,text", [(row, text) for row in TABLE["row"] for text in row["examples"]])
def test_every_row_reads_its_examples(row: dict[str, Any], text: str) -> None:
    cue = passages.told_beside(text, row["place"])
    assert cue is not None
    assert cue.rule == row["id"]


@each("row,text", [(row, text) for row in TABLE["row"] for text in row["lookalikes"]])
def test_no_row_reads_a_look_alike(row: dict[str, Any], text: str) -> None:
    assert passages.told_beside(text, row["place"]) is None


@each(
    "text,is_asked",
    [(one, True) for one in TABLE["asks"]["examples"]] + [(one, False) for one in TABLE["asks"]["lookalikes"]],
)
def test_a_post_that_wants_to_know_advises_nothing(text: str, is_asked: bool) -> None:
    assert passages.is_asking(text) is is_asked


STATED: list[tuple[str, str, Outcome | None]] = [
    ("helps", f"Please run\n\n{INSTALL}", None),
    ("helps", f"{INSTALL}\nThis should fix it.", None),
    ("asks", f"This solved the issue for me:\n\n{INSTALL}", Outcome.WORKED),
    ("helps", f"{INSTALL}\n\nThat did the trick, thanks!", Outcome.WORKED),
    ("helps", "Try this:\n\n```\n$ sudo pip install fixture_mesh==2.5\n```", None),
    ("helps", "请运行\n\n```\npip install fixture_mesh==2.5\n```", None),
    ("asks", "用以下命令解决了：\n\n```\npip install fixture_mesh==2.5\n```", Outcome.WORKED),
]


@each("who,text,outcome", STATED)
def test_words_beside_a_block_state_its_act(who: str, text: str, outcome: Outcome | None) -> None:
    (claim,) = _acts(_thread((who, text), role="MEMBER"))
    assert claim.outcome == outcome
    assert claim.fact is not None
    assert dict(claim.fact.slots) == {"package": "fixture_mesh", "version": "2.5"}
    assert claim.quote.text.endswith("pip install fixture_mesh==2.5")
    assert claim.passage is not None
    assert claim.passage.text in text


SILENT = [
    ("helps", f"I ran\n\n{INSTALL}"),
    ("helps", f"Please run\n\n{INSTALL}\n\nand paste the output."),
    ("asks", f"Please run\n\n{INSTALL}"),
    ("helps", "Please run\n\n```\npython -m fixture_mesh --version\n```"),
    ("helps", "Please run\n\n```\npip install fixture_mesh==2.5\npython train.py\n```"),
    ("helps", "Please run\n\n```\nFIXTURE_JOBS=2 pip install .\n```"),
    ("helps", f"This did not solve it:\n\n{INSTALL}"),
    ("helps", f"{INSTALL}\n\nThis did not help."),
    ("helps", f"To reproduce, run:\n\n{INSTALL}"),
]


@each("who,text", SILENT)
def test_other_words_beside_a_block_state_nothing(who: str, text: str) -> None:
    assert _acts(_thread((who, text), role="MEMBER")) == []


def test_a_reply_answers_the_act_of_a_block() -> None:
    made = _thread(("helps", f"Please run\n\n{INSTALL}"), ("asks", "This solved the issue for me."), role="MEMBER")
    advised, answered = sorted(_acts(made), key=lambda claim: claim.outcome is not None)
    assert advised.outcome is None
    assert answered.outcome == Outcome.WORKED
    assert answered.outcome_quote is not None
    assert answered.passage == advised.passage
