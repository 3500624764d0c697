"""Every row of the family tables hits what it shows and misses its look-alikes."""

import re._parser as re_parser
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pipeline.lexicon.codes import codes_in
from pipeline.lexicon.codes.printed import texts
from pipeline.normalise import signature_of_text, tables
from pipeline.normalise.tables import Family, families, wording
from tests.each import each

EQUIVALENCES = Path(tables.__file__).parents[1] / "data" / "normalise" / "equivalences.toml"
WORDINGS = tomllib.loads(EQUIVALENCES.read_text("utf-8"))["wording"]
ROWS = [row for tier in families().values() for row in tier]
EXAMPLES = [(row.family_id, text) for row in ROWS for text in row.examples]
COUNTERS = [(row.family_id, text) for row in ROWS for text in row.counters]


def unbounded(pattern: Iterable[tuple[Any, Any]]) -> bool:
    """Whether some repeat of the parsed pattern, other than of blanks, has no upper bound."""
    for name, argument in pattern:
        if str(name) in ("MAX_REPEAT", "MIN_REPEAT"):
            _least, most, inner = argument
            if str(most) == "MAXREPEAT" and r"CATEGORY_SPACE" not in str(inner):
                return True
            if unbounded(inner):
                return True
        inner = argument[1] if str(name) == "BRANCH" else argument[-1:] if isinstance(argument, tuple) else []
        if any(hasattr(part, "data") and unbounded(part) for part in inner):
            return True
    return False


def kind(text: str) -> str | None:
    return dict(signature_of_text(text).gate).get("kind")


@each("family_id, text", EXAMPLES, parts=3)
def test_an_example_is_recognised_as_its_family(family_id: str, text: str) -> None:
    assert kind(text) == family_id


@each("family_id, text", COUNTERS)
def test_a_look_alike_is_not_taken_for_the_family(family_id: str, text: str) -> None:
    assert kind(text) != family_id


@each("row", ROWS)
def test_a_family_has_an_example_and_a_bounded_pattern(row: Family) -> None:
    assert row.examples
    assert not unbounded(re_parser.parse(row.pattern.pattern))


@each("row", ROWS)
def test_groups_of_one_family_agree_on_the_gate_keys(row: Family) -> None:
    allowed = {
        "code", "resource", "space", "backend", "library", "assertion", "module", "symbol", "op", "status", "exception",
        "polarity", "feature", "tool", "errno", "signal",
    }  # fmt: skip
    assert {key for key, _ in row.gate} <= allowed


@pytest.mark.parametrize(("old", "now"), sorted(wording().types.items()))
def test_an_exception_type_of_another_version_gets_its_present_name(old: str, now: str) -> None:
    assert signature_of_text(f"{old}: the device ran into something unheard of today").exception_type in (now, None)
    assert wording().types.get(now, now) == now


@each("words, code", texts("cuda").items())
def test_every_cuda_text_gives_its_code_wherever_torch_triton_or_cupy_print_it(words: str, code: str) -> None:
    name = code.removeprefix("cuda:")
    printed = [f"RuntimeError: CUDA error: {words}", f"RuntimeError: Triton Error [CUDA]: {words}", f"{name}: {words}"]
    assert {dict(signature_of_text(text).gate)["code"] for text in printed} == {code}


@each("family_id, text", [(row.family_id, text) for row in ROWS if "code" in dict(row.gate) for text in row.examples])
def test_a_family_names_the_code_that_its_words_name(family_id: str, text: str) -> None:
    assert dict(signature_of_text(text).gate)["code"] in codes_in(text), family_id


@pytest.mark.parametrize("pair", WORDINGS, ids=lambda pair: pair["versions"][:40])
def test_a_wording_of_another_version_is_the_same_error(pair: dict[str, str]) -> None:
    assert signature_of_text(pair["was"]).gate == signature_of_text(pair["now"]).gate
    assert signature_of_text(pair["now"]).is_gate_complete
