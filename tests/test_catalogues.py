"""The catalogues hold facts that agree with each other."""

from __future__ import annotations

import re

import pytest

from pipeline.lexicon import catalogues

FAMILIES = (
    catalogues.absl_statuses,
    catalogues.cuda_errors,
    catalogues.libraries,
    catalogues.hip_errors,
    catalogues.nccl_results,
    catalogues.jax_errors,
    catalogues.graph_breaks,
    catalogues.signals,
)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_code_has_a_name_and_an_https_address(family: object) -> None:
    assert callable(family)
    rows = family()
    assert len(rows) > 5
    for code in rows:
        assert catalogues.code_name(code)
        assert (catalogues.official_url(code) or "").startswith("https://")


def test_xla_has_28_codes_and_12_pages() -> None:
    rows = catalogues.xla_codes().values()
    assert len(rows) == 28
    assert sum(row.is_documented for row in rows) == 12
    assert all((row.url is not None) == row.is_documented for row in rows)


def test_the_retired_number_leads_to_todays_code() -> None:
    assert catalogues.code_name("xla:E0103") == "RuntimeUnexpectedCoreHalt"
    assert catalogues.official_url("xla:E0103") == "https://openxla.org/xla/errors/error_0200"
    assert "E0103" not in catalogues.xla_codes()


def test_a_code_without_a_page_has_no_address() -> None:
    assert catalogues.official_url("xla:E0012") is None
    assert catalogues.code_name("xla:E0012") == "Internal"


def test_driver_and_runtime_name_one_error() -> None:
    names = catalogues.by_name(catalogues.cuda_errors())
    assert names["CUDA_ERROR_ILLEGAL_ADDRESS"] == "cuda:cudaErrorIllegalAddress"
    assert catalogues.explains("cuda:CUDA_ERROR_ILLEGAL_ADDRESS") == "an illegal memory access was encountered"
    assert "driver-api" in (catalogues.official_url("cuda:CUDA_ERROR_ILLEGAL_ADDRESS") or "")
    assert "runtime-api" in (catalogues.official_url("cuda:cudaErrorIllegalAddress") or "")


def test_exit_statuses_are_128_plus_the_signal() -> None:
    for row in catalogues.signals().values():
        if row.code.startswith("exit:"):
            number = catalogues.signals()[f"signal:{row.name}"].number
            assert number is not None
            assert row.number == 128 + number


@pytest.mark.parametrize(
    "code", ["xla:E9999", "cuda:cudaErrorNonsense", "nothing:x", "plain", "cuda:CUDA_ERROR_NONSENSE"]
)
def test_unknown_codes_give_none(code: str) -> None:
    assert catalogues.code_name(code) is None
    assert catalogues.official_url(code) is None
    assert catalogues.explains(code) is None


def test_signatures_name_known_codes_and_have_no_unbounded_gap() -> None:
    for row in catalogues.xla_signatures():
        assert row.code in catalogues.xla_codes()
        assert re.search(row.pattern, row.example)
        assert row.sign in row.example.lower()
        assert ".*" not in row.pattern
        assert ".+" not in row.pattern


@pytest.mark.parametrize("row", catalogues.xla_signatures(), ids=lambda row: row.sign)
def test_a_signature_is_not_found_without_its_sign(row: catalogues.XlaSignature) -> None:
    """The sign is a literal of the pattern: what the reader is woken by can never miss what it would read."""
    assert row.sign in row.pattern.lower().replace("\\", "").replace("[cc]", "c")


def test_every_status_begins_as_its_library_says() -> None:
    for code, row in catalogues.libraries().items():
        prefixes = catalogues.library_prefixes()[code.partition(":")[0]]
        assert all(name.startswith(prefixes) for name in (row.name, *row.also)), code


def test_no_name_stands_in_two_rows() -> None:
    for family in FAMILIES:
        names = [name for row in family().values() for name in {row.name, *row.also}]
        names = [name for name in names if not name.startswith("SIG")]  # a signal and its exit status share one
        assert len(names) == len(set(names))


def test_graph_break_hints_are_kept_as_printed() -> None:
    row = catalogues.graph_breaks()["gb:GB0025"]
    assert row.string == "Call to `torch._dynamo.graph_break()`"
    assert row.hints == ("Remove the `torch._dynamo.graph_break()` call.",)
