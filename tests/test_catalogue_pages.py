"""Pages that list error codes: case folders (tests/cases/code_pages) in the form of the real pages; hostile pages."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.lexicon import catalogues
from pipeline.providers.catalogue import pages as catalogue_pages
from pipeline.providers.catalogue.pages import PARSERS, shipped, wanted
from pipeline.records.errors import ConfigError
from tests import linear
from tests.rings import first_alone, one_in

CASES = Path(__file__).parent / "cases" / "code_pages"
#: Case -> the catalogue whose page it is in the form of.
CATALOGUE = {
    "cuda_driver": "cuda-driver",
    "cuda_runtime": "cuda-runtime",
    "graph_breaks": "graph-breaks",
    "jax_errors": "jax-errors",
    "nccl": "nccl",
    "nccl_old": "nccl",
}


def body(case: str) -> bytes:
    return next((CASES / case).glob("input.*")).read_bytes()


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_the_page_of_a_case_lists_its_codes(case: str) -> None:
    found = catalogue_pages.selected(shipped()[CATALOGUE[case]], body(case))
    assert not isinstance(found, str)
    told = [{key: value for key, value in asdict(row).items() if value not in ("", None)} for row in found]
    assert told == json.loads((CASES / case / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("catalogue", shipped().values(), ids=lambda one: one.name)
def test_a_shipped_catalogue_selects_exactly_the_codes_that_errmine_knows(catalogue: catalogue_pages.Catalogue) -> None:
    pattern = wanted(catalogue.name).names
    drivers = [name for name in catalogues.by_name(catalogues.cuda_errors()) if name.startswith("CUDA_")]
    ours = [row.name for row in catalogues.listed() if row.family == catalogue.family]
    matching = {name for name in {*ours, *drivers} if re.fullmatch(pattern, name)}
    expected = {
        "cuda-driver": set(drivers),
        "cuda-runtime": {name for name in ours if not name.startswith("CUDA_")},
    }.get(catalogue.name, set(ours))
    assert matching == expected
    assert catalogue.url.startswith("https://")


@pytest.mark.parametrize("parser", sorted(PARSERS))
@pytest.mark.parametrize("text", ["", "words", "<html><dl><dt id=a>x</dt></dl></html>", "[]", '{"GB0001": [{}]}', "{}"])
def test_a_page_of_another_structure_says_what_was_expected(parser: str, text: str) -> None:
    assert isinstance(catalogue_pages.rows(parser, text.encode()), str)


def test_a_page_without_one_wanted_name_says_so() -> None:
    found = catalogue_pages.selected(wanted("cuda-driver"), body("cuda_runtime"))
    assert isinstance(found, str)
    assert "CUDA_ERROR_" in found


def test_a_catalogue_of_ones_own_is_the_same_keys_as_a_shipped_one() -> None:
    made = wanted("pond", url="https://docs.example/e.html", parser="sphinx", names=r"pond\.\w+", family="pond")
    assert made.family == "pond"
    assert wanted("nccl", url="https://mirror.example/types.html").parser == "sphinx"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, "no family, names, parser, url"),
        ({"url": "u", "parser": "guess", "names": "x", "family": "f"}, "no parser guess"),
        ({"url": "u", "parser": "sphinx", "names": "(", "family": "f"}, "names:"),
    ],
)
def test_a_catalogue_that_is_not_whole_is_an_error_of_the_settings(said: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        wanted("pond", **said)


@pytest.mark.parametrize("parser", first_alone(sorted(PARSERS)))
@pytest.mark.parametrize(
    "text",
    one_in(
        4,
        [
            "<dl>" * 25_000,
            "<dl><dt id=a>" * 8_000,
            "<dt id=c.a>x</dt><dd><p>(" * 4_000,
            "<a name=x><span class=enum-member-name-def>" * 2_000,
            "<dt><span class=enum-member-name-def>a = 1</span></dt>" * 2_000,
            "<a " * 30_000,
            "[" * 100_000,
            '{"a":' * 20_000,
            '{"GB0001": [{"Gb_type": "t", "Explanation": "' + "a " * 50_000 + '"}]}',
        ],
    ),
    ids=lambda text: text[:24],
)
def test_a_hostile_page_of_100_kB_is_read_quickly_and_never_raises(parser: str, text: str) -> None:
    def read(text: str) -> None:
        assert isinstance(catalogue_pages.rows(parser, text.encode()), str | tuple)

    linear.within(5.0, read, text)


@given(st.sampled_from(sorted(PARSERS)), st.binary(max_size=200))
@settings(deadline=None)
def test_no_bytes_make_a_parser_raise(parser: str, content: bytes) -> None:
    assert isinstance(catalogue_pages.rows(parser, content), str | tuple)
