"""Texts that quote another error whole: which of them join it, and which only look as if they did."""

from __future__ import annotations

import pytest

from pipeline import cluster
from pipeline.records import Signature, Template, content_id

INNER = "cannot reshape array of size <n> into shape <shape>"


def template(text: str, *gate: tuple[str, str], count: int = 1, complete: bool = False) -> Template:
    return Template(
        content_id("signature", repr(gate), text), None, text, tuple(sorted(gate)), complete, False, count, ""
    )


def together(*templates: Template) -> bool:
    return len(cluster.partition(templates).clusters) == 1


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        (INNER, f"key '<quoted>': failed to convert to numpy array: {INNER}"),
        (INNER, f"After the update I see {INNER} in every second run"),
        ("too many indices found", "too many indices found when using pyaudio"),
        ("Shared drum size limit exceeded", "Shared drum size limit exceeded: requested <n>, available"),
        ("file is not a database file", 'opening of the cache failed: "file is not a database file"'),
        (
            "Layer weights do not match the ones of the checkpoint",
            "Layer weights do not match the ones of the checkpoint on the second call",
        ),
    ],
)
def test_a_text_that_quotes_an_error_whole_joins_it(inner: str, outer: str) -> None:
    assert together(template(inner, count=3), template(outer))
    assert together(template(inner), template(outer, ("polarity", "negative")))  # the longer text has more words


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("no such file or directory", "opening of the model failed: no such file or directory"),  # too few words
        (
            "Job aborted due to stage failure: Task <n> failed",
            "Job aborted due to stage failure: Task <n> failed, most recent failure: Lost heap space of executor <n>",
        ),
        (
            "Error while loading the tokenizer of the model",
            "Error while loading the tokenizer of the model: <path> is empty",
        ),
        (
            "Cannot assign a device to the node of the graph",
            "Cannot assign a device to the node of the graph because no kernel supports it",
        ),
        ("too many indices found", "we asked why too many indices found no help"),
    ],
)
def test_a_headline_or_a_phrase_is_no_quotation(inner: str, outer: str) -> None:
    assert not together(template(inner, count=3), template(outer))


def test_a_quotation_never_crosses_a_gate() -> None:
    outer = f"worker <n> failed: {INNER}"
    assert not together(template(INNER, ("backend", "cuda")), template(outer, ("backend", "hip")))
    assert not together(template(INNER, ("kind", "known"), complete=True), template(outer))


def test_a_group_goes_over_with_its_leader_and_the_quoted_text_represents_it() -> None:
    outer = [template(f"worker <n> of the {name} pool failed: {INNER}", count=2) for name in ("first", "large")]
    found = cluster.partition([template(INNER), *outer])
    assert [one.text for one in found.clusters] == [INNER]
    rules = {one.signature_id: one.rule for one in found.assignments}
    assert {rules[one.signature_id] for one in outer} == {"quote"}
    assert all("quote" in one.explanation for one in found.assignments if one.rule == "quote")


def test_order_decides_nothing() -> None:
    rows = [template(INNER), template(f"a: {INNER}"), template(f"b failed in step <n>: {INNER}", count=9)]
    assert cluster.partition(rows) == cluster.partition(rows[::-1])


def test_a_new_message_that_quotes_a_known_error_is_matched() -> None:
    known = [template(INNER), template("file is not a database file")]
    index = cluster.Index(cluster.partition(known), known)
    text = f"step <n> failed: {INNER}"
    gate = (("polarity", "negative"),)
    signature = Signature("signature:x", None, text, gate, False, "", (), "own-message", 0, 0, False, ())
    found = index.assign(signature)
    assert isinstance(found, cluster.Match)
    assert found.rule == "quote"


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("Address family not supported by protocol", "accept tcp <n>: address family not supported by protocol"),
        (
            "cannot open <path>: No such file or directory",
            "the potter of the kiln: cannot open <path>: No such file or directory",
        ),
        ("open <path>: too many open files", "panic in kiln: open <path>: too many open files"),
    ],
)
def test_what_the_system_says_of_any_call_is_nobody_s_error(inner: str, outer: str) -> None:
    assert not together(template(inner, count=3), template(outer))


def test_a_program_s_own_words_before_what_the_system_says_are_its_error() -> None:
    inner = "unable to write to socket <shape>: Broken pipe"
    assert together(template(inner, count=3), template(f"socket_send() [function.socket-send]: {inner}"))
