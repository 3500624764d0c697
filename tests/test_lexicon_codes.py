"""Official codes: the right one in its catalogue's spelling, or rightly none; for event, gate and entry the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import extract, normalise
from pipeline.extract.announced import of_natives
from pipeline.lexicon import catalogues
from pipeline.lexicon.codes import code_of, codes_in, mentions, ways
from pipeline.lexicon.codes.printed import rows, texts
from tests import linear
from tests.each import each

CASES = sorted((Path(__file__).parent / "cases" / "codes").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_case_gives_the_expected_codes(case: Path) -> None:
    text = (case / "input.txt").read_text("utf-8")
    assert list(codes_in(text)) == json.loads((case / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("code", sorted(catalogues.xla_codes()))
def test_every_xla_code_is_read_from_number_and_name(code: str) -> None:
    name = catalogues.xla_codes()[code].name
    for form in (f"{code}: {name}: text", f'"{code}: {name}"', f"{code}: {name}:\\ntext", f"x op {code}: {name}:\n"):
        assert f"xla:{code}" in codes_in(form)


@pytest.mark.parametrize("code", sorted(catalogues.xla_codes()))
def test_no_xla_number_counts_alone(code: str) -> None:
    for form in (f"{code} 15:22:33.27 4353 a.cc:1]", f"a.py:1:0: {code}: text", f"error[{code}]: text", code):
        assert not [one for one in codes_in(form) if one.startswith("xla:")]


#: What announces a printed text, by family; the others print their names, or a sentence that needs no announcement.
ANNOUNCED = {"cuda": "CUDA error: ", "hip": "HIP error: ", "nccl": "NCCL error in: a.cpp:1, "}
#: XLA names its own errors with their numbers, a status is followed by its text.
SHOWN = {"absl": "{name}: it failed", "gb": "see compile-graph-break-site/gb/{name}.html", "exit": "exit code {number}"}


def row_texts() -> list[tuple[str, str]]:
    """(code, text) for every name and printed text of every catalogue of errmine's own."""
    found: dict[str, str] = {f"{row.code}: {row.name}: x": f"xla:{row.code}" for row in catalogues.xla_codes().values()}
    for listed in catalogues.listed():
        row = catalogues.entry(listed.code)
        if row is None or not row.is_named or listed.family not in catalogues.own_families():
            continue  # a name alone is no code of a pack
        family = listed.family
        form = SHOWN.get(family, "it failed with {name}")
        for name in (row.name, *row.also):
            text = form.format(name=name.lower() if family == "gb" else name, number=row.number)
            found.setdefault(text, row.code)
    for family, announced in ANNOUNCED.items():
        found |= {announced + words: code for words, code in texts(family).items()}
    return [(code, text) for text, code in found.items()]


@each("code, text", row_texts())
@pytest.mark.long
def test_every_name_and_text_of_a_catalogue_is_one_code_for_event_and_gate(code: str, text: str) -> None:
    shown = f'Traceback (most recent call last):\n  File "/srv/a.py", line 1, in f\n    g()\nRuntimeError: {text}\n'
    (event,) = extract.events(shown)
    assert code in event.codes
    gate = dict(normalise.signature(event, shown).gate)
    assert gate.get("code", code) == code
    assert dict(normalise.signature_of_text(f"RuntimeError: {text}").gate).get("code", code) == code


@each("row", [row for family in ANNOUNCED for row in rows(family)])
def test_a_context_announces_its_examples_and_not_its_counters(row: dict[str, Any]) -> None:
    announced = f"{row['family']}: announced text"
    for text, code in row["examples"].items():
        assert code in {mention.code for way, mention in mentions(text) if way.name == announced}, text
        assert re.search(row["pattern"], text), text
    for text in row.get("counters", ()):
        assert not [way.name for way, _ in mentions(text) if way.name == announced], text


def every_text() -> list[str]:
    """What stands in the cases of all stages, in pieces."""
    files = [path for path in (Path(__file__).parent / "cases").rglob("*") if path.is_file()]
    whole = [path.read_text("utf-8", "replace") for path in files if path.suffix in (".txt", ".jsonl", ".toml", ".md")]
    return sorted({piece for text in whole for piece in (*text.splitlines(), *text.split("\n\n"))})


def test_the_code_of_a_message_is_among_its_codes_and_stands_where_it_says() -> None:
    for text in every_text():
        found = code_of(text)
        assert found is None or found.code in codes_in(text)
        for way, mention in mentions(text):
            assert 0 <= mention.start < mention.end <= len(text), way.name
            assert any(sign in text.lower() for sign in way.signs), way.name


@pytest.mark.long
def test_no_way_reads_a_text_that_lacks_its_signs() -> None:
    for text in [*every_text(), *(text for _, text in row_texts())]:
        every = {mention.code for way in ways() for mention in way.read(text)}
        assert every == set(codes_in(text)), text


def test_the_lines_that_extraction_takes_for_xlas_errors_are_those_of_the_catalogue() -> None:
    (rule,) = (one for one in of_natives(generic=False) if one.name == "ml/xla-code")
    for row in catalogues.xla_codes().values():
        is_own = row.name.startswith(("Runtime", "CompileTime"))
        shown = f"{row.code}: {row.name}: it failed so"
        assert bool(rule.pattern.search(shown)) == is_own
        assert any(trigger in shown for trigger in rule.triggers) == is_own


def test_a_gate_is_among_the_codes_of_its_event() -> None:
    for text in every_text():
        for event in extract.events(text):
            gate = dict(normalise.signature(event, text).gate)
            assert gate.get("code") is None or gate["code"] in event.codes, (gate, event.codes, text[:300])


def test_every_way_has_a_name_of_its_own_and_signs_in_lower_case() -> None:
    names = [way.name for way in ways()]
    assert len(names) == len(set(names))
    assert all(way.signs and all(sign == sign.lower() for sign in way.signs) for way in ways())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Check failed: err == CUBLAS_STATUS_SUCCESS (7 vs. 0)", "cublas:CUBLAS_STATUS_INVALID_VALUE"),
        ("status == CUDNN_STATUS_SUCCESS (8 vs. 0)", "cudnn:CUDNN_STATUS_EXECUTION_FAILED"),
        ("cusolver error: 7, when calling `cusolverDnCreate(handle)`", "cusolver:CUSOLVER_STATUS_INTERNAL_ERROR"),
        ("RuntimeError: cufft error: 5, when calling `cufftExecC2C`", "cufft:CUFFT_INTERNAL_ERROR"),
        ("operation f(&h) failed: cuSolver internal error", "cusolver:CUSOLVER_STATUS_INTERNAL_ERROR"),
        ("[700] Call to cuMemcpyDtoH results in UNKNOWN_CUDA_ERROR", "cuda:cudaErrorIllegalAddress"),
        ("CUDA initialization failure with error: 35", "cuda:cudaErrorInsufficientDriver"),
        (
            "terminate called after throwing an instance\n  what():  driver shutting down",
            "cuda:cudaErrorCudartUnloading",
        ),
        ("rocBLAS error: ROCBLAS_STATUS_INTERNAL_ERROR", "rocblas:rocblas_status_internal_error"),
        ("RuntimeError: miopenStatusUnknownError", "miopen:miopenStatusUnknownError"),
        ("failed with HIP_ERROR_ILLEGAL_ADDRESS", "hip:hipErrorIllegalAddress"),
        ("Triton Error [HIP]:  Code: 1, Messsage: invalid argument", "hip:hipErrorInvalidValue"),
        ("Triton Error [ZE]: 0x70000001", "oneapi:UR_RESULT_ERROR_DEVICE_LOST"),
        ("Native API returns: -999 (Unknown PI error)", "oneapi:UR_RESULT_ERROR_UNKNOWN"),
        ("Native API returns: -5 (CL_OUT_OF_RESOURCES)", "oneapi:UR_RESULT_ERROR_OUT_OF_RESOURCES"),
        ("Native API returns: -5 (PI_ERROR_OUT_OF_RESOURCES)", "oneapi:UR_RESULT_ERROR_OUT_OF_RESOURCES"),
        ("clBuildProgram failed: BUILD_PROGRAM_FAILURE", "cl:CL_BUILD_PROGRAM_FAILURE"),
        ("OpenCL error (-54)", "cl:CL_INVALID_WORK_GROUP_SIZE"),
        ("what():  vk::Queue::submit: ErrorDeviceLost", "vk:VK_ERROR_DEVICE_LOST"),
        ("vk::Queue::presentKHR: ErrorOutOfDateKHR", "vk:VK_ERROR_OUT_OF_DATE_KHR"),
    ],
)
def test_a_code_is_known_by_number_or_words_in_its_catalogues_spelling(text: str, code: str) -> None:
    assert codes_in(text) == (code,)
    found = code_of(text)
    assert found is not None
    assert found.code == code


@pytest.mark.parametrize(
    "text",
    [
        "failed call to cuInit: UNKNOWN ERROR (-1)",  # TensorFlow's words: there is no driver
        "CUDA error (10): invalid device ordina",  # until CUDA 10.0 another error had the number
        "Decoding failed. Invalid image file.",
        "Invalid device ordinal value (1). Valid range is [0, 0].",  # TensorFlow's own check
        "CUBLAS_STATUS_SUCCESS",
        "CUFFT_FORWARD",
        "chip: an illegal memory access was",
        "status != CUDNN_STATUS_NOT_SUPPORTED",
    ],
)
def test_a_look_alike_names_no_code(text: str) -> None:
    assert codes_in(text) == ()
    assert code_of(text) is None


@pytest.mark.parametrize("row", sorted(catalogues.hip_errors().values(), key=lambda row: row.code)[:20], ids=str)
def test_hip_names_give_no_cuda_code(row: catalogues.Entry) -> None:
    assert [code for code in codes_in(f"HIP error: {row.name}") if code.startswith("cuda:")] == []


@each("row", catalogues.xla_signatures())
def test_a_signature_gives_its_code_to_event_and_gate(row: catalogues.XlaSignature) -> None:
    assert codes_in(row.example)[-1] == f"xla:{row.code}"
    gate = dict(normalise.signature_of_text(row.example).gate)
    assert gate.get("code", f"xla:{row.code}") == f"xla:{row.code}"


@given(
    st.lists(st.sampled_from(["CUDA error: ", "out of memory", "E1001", ": ", "CompileTimeHbmOom", "INTERNAL", "\n"]))
)
def test_codes_are_sorted_and_distinct(parts: list[str]) -> None:
    found = codes_in("".join(parts))
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
        "CUDA error: out of memory: " * 4_000,
        "CUDA error 1 at " + "x" * 100_000,
        "cudaMalloc(" * 9_000,
        "error: 'out of memory' cuda " * 3_500,
        "OpenCL error clBuildProgram (" * 3_500,
        "vk::a::" * 14_000,
        "API returns: -5 (CL_" * 5_000,
        "misaligned address\n" * 5_000,
        ") failed: cuSolver " * 5_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_hostile_text_stays_fast(text: str) -> None:
    linear.within(1.5, codes_in, text)
