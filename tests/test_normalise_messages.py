"""Sentences that programs print, as data: which error one is does not hang on its values or on what stands around."""

from collections.abc import Iterator

import pytest

from pipeline.normalise import signature_of_text, tables
from pipeline.normalise.added import FAMILIES
from pipeline.normalise.masks import printed
from pipeline.normalise.tables import _toml
from pipeline.records import Signature
from tests.each import each


def _programs() -> Iterator[tuple[str, list[tables.Said]]]:
    """(kind, errors) of each program: those of the package's tables, and those of packs."""
    for name in ("messages", "messages_compilers"):
        yield from ((f"{one['id']}-message", list(tables.errors_said(one))) for one in _toml(name)["program"])
    for row in FAMILIES.rows():
        if row.messages:
            yield row.kind or row.name, list(tables.messages_said(row))


PROGRAMS = list(_programs())
ROWS = [
    (kind, tables._HOLE.sub("x_1", said)) for kind, errors in PROGRAMS for error in errors for said in error.wordings
]


def read(text: str) -> Signature:
    return signature_of_text(text)


@each("kind, sentence", ROWS, parts=3)
def test_a_sentence_is_read_as_itself_in_a_title_and_behind_a_type(kind: str, sentence: str) -> None:
    gates = {read(text).gate for text in (sentence, f"RuntimeError: {sentence}", f"[Bug]: {sentence} on two machines")}
    assert len(gates) == 1, gates
    assert dict(gates.pop())["kind"] == kind


@pytest.mark.parametrize("errors", [errors for _, errors in PROGRAMS], ids=lambda errors: errors[0].wordings[0][:40])
def test_wordings_in_one_list_are_one_error_and_all_others_are_others(errors: list[tables.Said]) -> None:
    found = [{read(tables._HOLE.sub("x_1", wording)).gate for wording in error.wordings} for error in errors]
    assert all(len(gates) == 1 for gates in found)
    assert len({gate for gates in found for gate in gates}) == len(found)


def test_a_hole_takes_any_value_quotes_and_line_breaks_vary_and_a_named_hole_decides() -> None:
    assert (
        read("cannot reassign constexpr N in the loop").gate
        == read("Cannot reassign\n  constexpr a_b in the loop").gate
    )
    assert read("`other` cannot be provided without `mask`").gate == read("other cannot be provided without mask").gate
    assert read("atomic_add does not support bf16").gate == read("ValueError('atomic_add does not support fp8e5')").gate
    assert read("atomic_add does not support bf16").gate != read("atomic_max does not support bf16").gate


def test_a_need_is_words_of_the_sentence_in_lower_case() -> None:
    for _, sentence in ROWS:
        need = tables._need(sentence.replace("x_1", "{}"))
        assert need == need.lower()
        assert need in sentence.lower()
        assert sum(letter.isalpha() for letter in need) >= 8


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Instruction 'tcgen05.alloc' not supported on .target 'sm_120a'", "Instruction _ not supported on .target _"),
        ("Illegal vector size: 8. Try 4", "Illegal vector size: _"),
        ("value 0x1a000 does not fit", "value _ does not fit"),
        ("‘struct A’ {aka ‘B’} has no member named ‘x’; did you mean ‘y’? [-Werror]", "_ has no member named _"),
        ("expected ‘,’, ‘;’ or ‘)’ before ‘PRIx64’", "expected _ before _"),
        ("no matching function for call to 'ens::LRSDPFuncti", "no matching function for call to _"),
        ("Broken module found, compilation aborted!` in `vmlinux.o`", "Broken module found, compilation aborted"),
    ],
)
def test_what_a_tool_prints_is_told_from_what_it_shows(words: str, kept: str) -> None:
    assert printed(words) == kept


def test_an_assertion_broken_over_lines_is_the_same_assertion() -> None:
    flat = "python: a.cpp:503: int f(int) const: Assertion `n == size( x.begin(), 1)' failed."
    broken = "python: a.cpp:503: int \nf(int) \nconst: Assertion `n == size( x.begin(), \n1)' failed."
    assert read(flat).gate == read(broken).gate
    assert dict(read(flat).gate)["assertion"] == "n == size( x.begin(), 1)"


def test_a_row_that_knows_a_diagnostic_counts_before_one_that_knows_its_tool_and_both_before_later_lines() -> None:
    known = "a.hpp:3:1: error: #error -- unsupported GNU version! gcc versions later than 8 are not supported!"
    assert dict(read(known).gate)["kind"] == "nvcc-unsupported-host-compiler"
    first = "a.cpp:9:2: error: ‘f’ is not a member of ‘g’\nb.cpp:3: undefined reference to `h'"
    assert dict(read(first).gate) == {"kind": "compiler-no-member", "symbol": "f"}


def test_the_option_that_a_compiler_does_not_know_decides() -> None:
    for told in ("clang: error: unknown argument: '{}'", 'gcc: error: unrecognized command line option "{}"'):
        for option in ("-fheat", "--clay"):
            assert dict(read(told.format(option)).gate)["symbol"] == option


def test_functions_of_an_unnamed_namespace_are_told_apart_and_undefined_all_the_same() -> None:
    for told in ("main.o: undefined reference to `{}(int)'", "ld.lld: error: undefined symbol: {}(int)"):
        for name in (
            "(anonymous namespace)::heat",
            "kiln::(anonymous namespace)::heat",
            "kiln::(anonymous namespace)::cool",
        ):
            found = dict(read(told.format(name)).gate)
            assert found == {"kind": "linker-undefined-reference", "symbol": name}
