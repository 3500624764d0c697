"""Official codes: the right one, in its canonical spelling, or rightly none."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract import status
from pipeline.lexicon import catalogues
from tests.each import each

CASES = sorted((Path(__file__).parent / "cases" / "status").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_case_gives_the_expected_codes(case: Path) -> None:
    text = (case / "input.txt").read_text("utf-8")
    assert list(status.codes(text)) == json.loads((case / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("code", sorted(catalogues.xla_codes()))
def test_every_xla_code_is_read_from_number_and_name(code: str) -> None:
    name = catalogues.xla_codes()[code].name
    for form in (f"{code}: {name}: text", f'"{code}: {name}"', f"{code}: {name}:\\ntext", f"x op {code}: {name}:\n"):
        assert f"xla:{code}" in status.codes(form)


@pytest.mark.parametrize("code", sorted(catalogues.xla_codes()))
def test_no_xla_number_counts_alone(code: str) -> None:
    for form in (f"{code} 15:22:33.27 4353 a.cc:1]", f"a.py:1:0: {code}: text", f"error[{code}]: text", code):
        assert not [one for one in status.codes(form) if one.startswith("xla:")]


@each("name", sorted(catalogues.cuda_canonical()))
def test_every_cuda_name_gives_its_canonical_code(name: str) -> None:
    assert status.codes(f"failed with {name}") == (catalogues.cuda_canonical()[name],)


def test_every_cuda_string_is_read_behind_its_prefix() -> None:
    rows = [row for row in catalogues.cuda_errors().values() if row.string]
    doubled = {row.string for row in rows if sum(other.string == row.string for other in rows) > 1}
    for row in rows:
        if row.string not in doubled:
            assert row.code in status.codes(f"CUDA error: {row.string}"), row.string


@pytest.mark.parametrize("row", sorted(catalogues.hip_errors().values(), key=lambda row: row.code)[:20], ids=str)
def test_hip_names_give_no_cuda_code(row: catalogues.Entry) -> None:
    assert [code for code in status.codes(f"HIP error: {row.name}") if code.startswith("cuda:")] == []


def test_the_one_xla_code_of_a_message_is_named() -> None:
    assert status.xla_code("E0103: RuntimeUnexpectedCoreHalt: x") == "xla:E0200"
    assert status.xla_code("E1001 15:22:33.27 4353 a.cc:1350] x") is None


@given(
    st.lists(st.sampled_from(["CUDA error: ", "out of memory", "E1001", ": ", "CompileTimeHbmOom", "INTERNAL", "\n"]))
)
def test_codes_are_sorted_and_distinct(parts: list[str]) -> None:
    found = status.codes("".join(parts))
    assert list(found) == sorted(set(found))


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error at " * 7_000,
        "E1001: " * 14_000,
        "E1001" + ":" * 90_000,
        "E1001" + " " * 90_000 + ":",
        "NCCL error " * 9_000,
        "RESOURCE_EXHAUSTED: Executable(" * 3_000,
        "Error loading program " * 4_000,
        "Unsupported: " * 8_000,
        "exit code " * 9_000,
        "line 1: " * 12_000 + " " * 1_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_hostile_text_stays_fast(text: str) -> None:
    start = time.process_time()
    status.codes(text)
    assert time.process_time() - start < 1.5
