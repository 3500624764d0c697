"""What people say of causes as typed facts, in both languages, or not at all."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pipeline.lexicon import gates, vocabulary
from pipeline.records import Fact
from pipeline.records.draft import Statement
from pipeline.translate import assembly, causes, render, rendering
from tests import cause_page, linear
from tests.each import each

ROWS = causes.table()["cause"]
SAID = [(row, text, english) for row in ROWS for text, english in row["examples"].items()]
LEFT = [(row, text) for row in ROWS for text in row.get("lookalikes", ())]


@each("row,text,english", SAID)
def test_every_row_reads_its_examples(row: dict[str, Any], text: str, english: str) -> None:
    found = causes.cause(text)
    assert found is not None
    assert (found.template, render(found, "en")) == (row["template"], english)


@each("row,text,english", SAID)
def test_what_a_type_says_passes_the_gates_in_chinese(row: dict[str, Any], text: str, english: str) -> None:
    found = causes.cause(text)
    assert found is not None
    chinese = render(found, "zh")
    said = gates.check(render(rendering.marked(found), "en"), render(rendering.marked(found), "zh"))
    assert all(said.values()), (chinese, said)


@each("row,text", LEFT)
def test_no_row_reads_its_look_alikes(row: dict[str, Any], text: str) -> None:
    found = causes.cause(text)
    assert found is None or found.template != row["template"], render(found, "en")


def test_every_type_is_named_in_both_languages_and_used():
    kinds = {causes.type_of_template(template) for template in rendering.templates()} - {None}
    assert kinds == set(vocabulary.ids("cause_types"))
    assert len(kinds) >= 60
    assert all(vocabulary.label("cause_types", kind, lang) for kind in kinds for lang in ("en", "zh"))


def test_every_template_has_a_row():
    used = {row["template"] for row in ROWS}
    assert set(causes.table()["facts"]) == used


@pytest.mark.parametrize(
    "text",
    [
        "It is not caused by a race condition.",  # negated
        "Is it because the batch size is larger than the dataset?",  # asked
        "I am not sure, perhaps it is caused by a race condition.",  # guessed
        "The cause is that the frobnication of the whatsit is empty.",  # words that nobody listed
        "It is because something is wrong.",  # names nothing
        "It is due to the wrong value.",  # would fit everything
        "The tiles are lost because of this.",
        "The cause is unlikely to be a race condition between the worker and the queue.",
        "The root cause is that CUDA_HOME was not set, we first thought.",
        "The problem is not that the GPU runs out of memory.",
        "The cause is that the driver is not too old.",
        "The kiln stops because the inputs and the weights are not on different devices.",
        "It could be due to a race condition between the worker and the queue.",
        "The stop might be due to a typo in the recipe.",
        "This may be due to a network problem of the kiln.",
        "I thought it was caused by a stale cache.",
        "I believe the tile pool is not initialised because of a race condition.",
        "We suspect that the driver is too old.",
        "My guess is that the driver is too old.",
        "Possibly a defect of PyTorch 1.8.",
        "Likely a bug in PyTorch 1.8.",
        "It is probably because the GPU runs out of memory.",
        "The problem is that it does not exist.",
        "",
        "因为这里写错了。",
    ],
)
def test_what_no_row_is_sure_of_has_no_type(text):
    assert causes.cause(text) is None


@each("row,text,english", SAID)
def test_what_is_said_not_to_be_the_cause_has_no_type(row: dict[str, Any], text: str, english: str) -> None:
    negated = _ANNOUNCED.sub(r"\1 not", text, count=1)
    assert negated == text or causes.cause(negated) is None


_ANNOUNCED = re.compile(r"\b((?:cause|reason|problem|issue|bug) (?:is|was)|(?:It|This) (?:is|was))\b")


def _stated(text: str, lang: str = "en") -> tuple[assembly.Wording, str | None]:
    statement = Statement(None, text, lang, ())
    return assembly.typed_cause(statement, assembly.Wording(text, None, _NONE))


_NONE = assembly.untranslated("", "no engine knows it")


def test_a_quote_stays_as_it_was_said_and_its_type_gives_the_chinese():
    quote = "It stops because the batch size is larger than the dataset, says the log of the kiln."
    made, kind = _stated(quote)
    assert (made.english, made.chinese, kind) == (quote, "批次大小大于数据集。", "out_of_range")
    assert (made.translation.status, made.translation.engine) == ("template", "template/said.compared@1")


def test_a_fact_that_a_program_states_has_a_type_too():
    fact = Fact("cause.exceeds_bytes", (("limit", "101376"), ("required", "147456"), ("resource", "shared memory")))
    said = assembly.Wording(render(fact, "en"), render(fact, "zh"), _NONE)
    assert assembly.typed_cause(Statement(fact, "", "", ()), said)[1] == "resource_limit"


def test_a_cause_without_a_type_keeps_the_reason_for_which_it_has_no_chinese():
    made, kind = _stated("The cause is that the frobnication of the whatsit is empty.")
    assert (made.chinese, made.translation.reason, kind) == (None, "no engine knows it", None)


@pytest.mark.parametrize(
    "unit", ["because the ", "caused by a ", "is not ", "a, ", "due to due to ", "`", "version of "]
)
def test_hostile_text_is_read_in_linear_time(unit):
    linear.check(causes.cause, unit, size=causes.LONGEST // 2)


def test_the_page_of_kinds_is_that_of_the_tables():
    assert cause_page.PAGE.read_text(encoding="utf-8") == cause_page.page()
