"""What an event is: culprits, gates, slots, and what must not change them."""

import json
import tomllib
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import extract, normalise
from pipeline.ask import group_texts
from pipeline.extract import events
from pipeline.normalise import NORMALISER_VERSION, signature, signature_of_text
from pipeline.normalise.masks import masked, measure, template
from pipeline.records import Event, Frame, Link, Severity
from tests import linear

CASES = Path(__file__).parent / "cases" / "normalise"
SHARED = Path(__file__).parents[2] / "shared" / "corpus"


def event(
    message: str, *, kind: str | None = None, chain: tuple[Link, ...] = (), frames: tuple[Frame, ...] = ()
) -> Event:
    head = message.partition("\n")[0]
    return Event(
        "python", kind, head, message, frames, chain, (), 0, len(message), is_truncated=False, severity=Severity.ERROR
    )


def gate(text: str) -> dict[str, str]:
    return dict(signature_of_text(text).gate)


PAIRS = tomllib.loads((CASES / "pairs.toml").read_text(encoding="utf-8"))
SAME = [(pair["one"], pair["other"]) for pair in PAIRS["same"]]
DIFFERENT = [(pair["one"], pair["other"]) for pair in PAIRS["different"]]


@pytest.mark.parametrize("is_extracted", [False, True], ids=["words", "events"])
@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_error_in_two_wordings_has_one_gate(one: str, other: str, is_extracted: bool) -> None:
    left, right = (signature_of_text(text, events(text) if is_extracted else ()) for text in (one, other))
    assert left.gate == right.gate
    assert left.is_gate_complete == right.is_gate_complete
    if not left.is_gate_complete:
        assert left.text == right.text


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_look_alikes_have_different_gates(one: str, other: str) -> None:
    assert gate(one) != gate(other)


@pytest.mark.parametrize(
    "folder", sorted(path for path in CASES.iterdir() if (path / "input.txt").exists()), ids=lambda path: path.name
)
def test_a_whole_log_is_its_culprit(folder: Path) -> None:
    text = (folder / "input.txt").read_text(encoding="utf-8")
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    found = signature_of_text(text, events(text))
    slots = {slot.name: slot.number if slot.number is not None else slot.value for slot in found.slots}
    assert dict(found.gate) == expected["gate"]
    assert found.culprit == expected["culprit"]
    assert found.exception_type == expected["exception_type"]
    assert {name: slots.get(name) for name in expected["slots"]} == expected["slots"]
    assert expected["at"] in text[found.start : found.end]


def test_bytes_that_were_asked_for_stay_as_numbers() -> None:
    found = signature_of_text(
        "OutOfResources: out of resource: shared memory, Required: 526336, Hardware limit: 232448."
    )
    assert [(slot.name, slot.number) for slot in found.slots][:2] == [("required", 526336.0), ("limit", 232448.0)]
    assert measure("1.50 GiB") == (1.5 * 2**30, "byte")
    assert measure("0x10") == (16.0, None)


def test_a_root_cause_counts_before_the_wrapper_around_it() -> None:
    cause = Link("cause", "FileNotFoundError", "[Errno 2] No such file or directory: '/a'", 1)
    found = signature(event("cannot load config from /a", kind="RuntimeError", chain=(cause,)))
    assert dict(found.gate)["errno"] == "ENOENT"
    assert found.culprit == "root-cause"


def test_an_exception_during_handling_does_not_replace_the_last_one() -> None:
    context = Link("context", "KeyError", "'x'", 1)
    found = signature(event("the scheduler table has no free row left", kind="RuntimeError", chain=(context,)))
    assert found.culprit == "own-message"
    assert found.text == "the scheduler table has no free row left"


def test_a_tool_diagnostic_counts_before_the_traceback_that_quotes_it() -> None:
    text = "Internal Triton PTX codegen error\nptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'"
    found = signature(event(text, kind="RuntimeError"))
    assert found.culprit == "tool-diagnostic"
    assert dict(found.gate)["kind"] == "ptxas-gpu-name"


def test_an_assertion_without_words_is_known_by_its_function() -> None:
    frames = (Frame("/x/train.py", 3, "main"), Frame("/x/site-packages/torch/layer.py", 9, "forward"))
    found = signature(event("", kind="AssertionError", frames=frames))
    assert dict(found.gate) == {"exception": "AssertionError", "place": "layer:forward"}


def test_a_text_without_any_event_is_its_own_message() -> None:
    found = signature_of_text("the queue of the collector overflowed again")
    assert found.text == "the queue of the collector overflowed again"
    assert signature_of_text("").text


def test_every_rule_that_acts_leaves_a_note() -> None:
    found = signature_of_text(
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nRuntimeError: PassManager::run failed"
    )
    assert any(note.startswith("unwrap-compiler-backend:") for note in found.notes)
    assert any(note.startswith("family-triton-pass-manager:") for note in found.notes)


def test_a_cut_text_says_so() -> None:
    assert signature_of_text("ValueError: the model wants more of the thing that...").is_truncated


def test_a_text_that_ends_inside_a_sentence_was_cut_and_one_that_goes_on_was_not() -> None:
    assert signature_of_text("ValueError: the ninth valve of the pump must be").is_truncated
    assert not signature_of_text("ValueError: the ninth valve of the pump must be shut").is_truncated
    assert not signature_of_text("ValueError: the ninth valve of the pump must be\nopen").is_truncated


def test_the_id_depends_on_version_gate_and_text_alone() -> None:
    one = signature_of_text("RuntimeError: the ninth valve of the pump is stuck")
    other = signature_of_text("[rank0]: RuntimeError: the ninth valve of the pump is stuck")
    assert NORMALISER_VERSION
    assert one.signature_id == other.signature_id


WORDS = st.sampled_from(
    [
        *["failed", "tensor", "12", "-3.5e4", "0x1f", "/a/b/c", "kernel.py:12", "[1, 2]", "(3, 4)", "cuda:0", "sm_90a"],
        *[
            "1.5 GiB",
            "torch.float32",
            "'x y'",
            '"abc"',
            "`tt.dot`",
            "v1.2.3",
            "_ZN3fooEv",
            "layer_12",
            "3x4",
            "f32[8,128]",
        ],
        *["<T at 0x7f>", "2024-01-02 03:04:05", "not", "报错", "50%"],
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=12))
@settings(max_examples=400, deadline=None)
def test_masking_a_template_again_changes_nothing(words: list[str]) -> None:
    once = masked(" ".join(words))[0]
    assert masked(once)[0] == once


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_gets_a_signature(text: str) -> None:
    found = signature_of_text(text)
    assert found.text
    assert found.signature_id.startswith("signature:")


UNITS = [
    *[
        "a",
        "'",
        "/a",
        "1,",
        "[",
        "A.b",
        "Error: ",
        "at 1:1:\n ^\n",
        "CUDA error: ",
        "NCCL error ",
        "in user code:\n",
        "[rank0]:",
    ],
    *[
        "LLVM ERROR: ",
        "\\",
        "failed to legalize operation '",
        "Check failed: ",
        "(1,",
        "error: ",
        "a/",
        "\n",
        " ",
        "<",
        "0",
        "{{node ",
    ],
]
HOSTILE = [unit * (100_000 // len(unit)) for unit in UNITS]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_hostile_text_costs_no_more_than_its_length(text: str) -> None:
    linear.within(2.0, signature_of_text, text)


def pair_scores(labels: list[str], keys: list[str | None]) -> tuple[float, float]:
    both: dict[str, int] = defaultdict(int)
    for (label, key), (other, another) in combinations(zip(labels, keys, strict=True), 2):
        both["found"] += key == another
        both["true"] += label == other
        both["right"] += key == another and label == other
    return both["right"] / both["found"], both["right"] / both["true"]


@pytest.mark.parametrize("name", ["messages.jsonl", "later.jsonl", "latest.jsonl", "last.jsonl"])
def test_families_of_real_wordings_group_well(name: str) -> None:
    rows = [json.loads(line) for line in (CASES / "families" / name).read_text(encoding="utf-8").splitlines()]
    found = [label.cluster_id for label in group_texts([row["message"] for row in rows])]
    precision, recall = pair_scores([row["cluster"] for row in rows], found)
    assert precision >= 0.98
    assert recall >= 0.90


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the labelled corpus is not beside this checkout")
def test_labelled_messages_group_well() -> None:
    rows = [json.loads(line) for line in (SHARED / "labelled_messages.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [label.cluster_id for label in group_texts([row["message"] for row in rows])]
    precision, recall = pair_scores([row["cluster"] for row in rows], found)
    assert precision >= 0.98
    assert recall >= 0.90


@pytest.mark.parametrize(
    ("tail", "shown"),
    [
        (
            'RuntimeError: Error(s) in loading state_dict for Widget:\n\tMissing key(s) in state_dict: "arm.weight".',
            "RuntimeError: Error(s) in loading state_dict for Widget:",
        ),
        (
            "feeder.FeederError: [14:22:00] src/feeder/tray.h:1022: Check failed: (*end <= axis_size) Invalid begin",
            "Check failed: (*end <= axis_size) Invalid begin",
        ),
    ],
)
def test_words_that_were_put_together_are_quoted_where_they_stand(tail: str, shown: str) -> None:
    frame = "    raise RuntimeError('Error(s) in loading state_dict for {}:'.format(name))\n"
    text = f'Traceback (most recent call last):\n  File "/srv/a.py", line 1, in load\n{frame}{tail}\n'
    [failure] = events(text)
    found = signature(failure, text)
    assert shown in text[found.start : found.end]
    assert "Traceback" not in text[found.start : found.end]


def test_the_form_of_a_sample_holds_none_of_its_values() -> None:
    sample = (
        "Ran out of memory while allocating on stack for %pond-kernel = bf16[4096,4096]{1,0} custom-call()\nUsed 12.5M"
    )
    form = template(sample)
    assert form.startswith("Ran out of memory while allocating on stack for <name> = <shape>")
    assert not any(value in form for value in ("pond", "4096", "12.5"))


@pytest.mark.parametrize(
    ("message", "read"),
    [("AttributeError: __exit__", "AttributeError: __exit__"), ("KeyError: the drum is __", "KeyError: the drum is")],
)
def test_a_name_that_ends_in_underscores_keeps_them(message: str, read: str) -> None:
    (event,) = events(f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    with x:\n{message}')
    assert signature(event).text == read


@pytest.mark.parametrize("place", ["", " 2", " at /build/ops.cu:123", " 2 at /build/ops.cu:123", " in ops.cu:7"])
def test_a_cuda_error_is_the_same_wherever_it_says_that_it_happened(place: str) -> None:
    read = signature_of_text(f"CUDA error{place}: out of memory")
    assert read.gate == (("code", "cuda:cudaErrorMemoryAllocation"),)


@pytest.mark.parametrize(
    ("prose", "message"),
    [
        (
            'I run compile.sh,got "the weights directory is not set. Please set it"',
            "the weights directory is not set. Please set it",
        ),
        (
            '"Data adapters should be mutually exclusive" error when calling fit',
            "Data adapters should be mutually exclusive",
        ),
        ("Build fails with `Could not convert the tensor`", "Could not convert the tensor"),
    ],
)
def test_a_message_that_prose_quotes_is_the_message(prose: str, message: str) -> None:
    assert signature_of_text(prose).text == signature_of_text(message).text


@pytest.mark.parametrize(
    "text", ['Nothing happens with "use_fast=True" set here', 'the layer "conv 1 a" is not connected']
)
def test_a_quoted_value_is_no_message(text: str) -> None:
    assert "<quoted>" in signature_of_text(text).text


def test_a_report_of_pytest_is_read_from_its_first_line() -> None:
    report = (
        "E       triton.compiler.errors.CompilationError: at 33:15:\n"
        "E           acc = f(p)\n"
        "E                 ^\n"
        "E       tensors cannot be shared here"
    )
    assert signature_of_text(report, events(report)).text == "tensors cannot be shared here"


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ("The error is RuntimeError: Graph of flowers is watered and cannot be moved", "cannot be moved"),
        ("garden.py:ValueError: Petals cannot be loaded when the garden is closed", "garden is closed"),
        ("flower bed - (ValueError: planting a whole garden with one seed)", "one seed"),
    ],
)
def test_a_sentence_about_an_error_is_read_as_the_error(told: str, error: str) -> None:
    read = signature_of_text(told)
    assert read.text.endswith(error)
    assert any(note.startswith("told:") for note in read.notes)


def test_a_long_name_costs_no_more_than_its_letters() -> None:
    name = "".join(f"Embedding_Dropout_{word}_Fused" for word in ("add", "cast", "mul", "norm", "less")) * 6
    text = f"mxnet.base.MXNetError: Error in operator {name}1_node_{name}2: shape"
    linear.within(2, signature_of_text, text)  # tens of seconds where a part of the name may be read in many ways


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("an integer is required (got type NoneType)", "an integer is required (got type list)"),
        ("sequence item 0: expected str instance, bytes found", "sequence item 1: expected str instance, int found"),
    ],
)
def test_the_type_that_was_found_is_a_value(one: str, other: str) -> None:
    assert signature_of_text(f"TypeError: {one}").text == signature_of_text(f"TypeError: {other}").text


@pytest.mark.parametrize(
    ("message", "gate"),
    [
        ("qwen模型出现CUBLAS_STATUS_INVALID_VALUE错误", ("code", "cublas:CUBLAS_STATUS_INVALID_VALUE")),
        ("训练到一半报CUDA error: misaligned address了怎么办", ("code", "cuda:cudaErrorMisalignedAddress")),
        ("一运行就ncclInternalError", ("code", "nccl:ncclInternalError")),
        ("実行するとNo module named 'drumkit'と言われます", ("module", "drumkit")),
    ],
)
def test_a_name_may_touch_words_of_another_script(message: str, gate: tuple[str, str]) -> None:
    assert gate in signature_of_text(message, events(message)).gate


def test_a_cut_line_of_a_summary_and_a_remark_before_the_traceback_are_not_the_error() -> None:
    summary = (
        "E   drum.DrumFailure: the axle of mixer 4 is bent beyond repair\n\ntests/test_drum.py:7: DrumFailure\n"
        "=== short test summary info ===\nFAILED tests/test_drum.py::test_step - drum.DrumFailure: the axle of mi...\n"
    )
    assert "beyond repair" in signature_of_text(summary, events(summary)).text
    log = (
        "[I2026-11-22 07:12:18,900 894 bridge.py:837] Unable to initialize backend 'tpu': INTERNAL: Failed to open "
        "libtpu.so: libtpu.so: cannot open shared object file: No such file or directory\n"
        'Traceback (most recent call last):\n  File "eval.py", line 13, in <module>\n    mix(8)\n'
        "ValueError: Number of drums 1 must be >= the product of the mixers (8,)\n"
    )
    assert signature_of_text(log, events(log)).text.startswith("Number of drums <n> must be")


_STACK = "Traceback (most recent call last):\n" + "".join(
    f'  File "/srv/press/step{n}.py", line {n}, in turn{n}\n    raise PressError("the sheet is torn")\n'
    for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        # with the type that is printed before the words, and not in the source line that raises them
        (f"{_STACK}PressError: the sheet is torn\n", "PressError: the sheet is torn"),
        (f"{_STACK}press.errors.PressError: the sheet is torn\n", "press.errors.PressError: the sheet is torn"),
        # with what makes it a diagnostic
        ("In file a.cc:\na.cc:3:1: error: 'drum' was not declared in this scope\n   3 | drum();\n",
         "a.cc:3:1: error: 'drum' was not declared in this scope"),
        # a message that is printed on two lines, both of which the gate is made from
        (f'{_STACK}RuntimeError: Error(s) in loading state_dict for Drum:\n\tMissing key(s) in state_dict: "axle". \n',
         'RuntimeError: Error(s) in loading state_dict for Drum:\n\tMissing key(s) in state_dict: "axle".'),
        # without words the innermost frame stands for the error
        (f"{_STACK}PressError\n",
         '  File "/srv/press/step8.py", line 8, in turn8\n    raise PressError("the sheet is torn")\nPressError'),
    ],
)  # fmt: skip
def test_what_stands_for_an_error_is_read_as_that_error_again(text: str, quote: str) -> None:
    (event,) = events(text)
    signed = signature(event, text)
    assert text[signed.start : signed.end].rstrip() == quote
    alone = text[signed.start : signed.end]
    again = signature_of_text(alone, events(alone))
    assert again.text == signed.text
    if normalise.is_elsewhere(again):  # words that a library prints of values do not say who handed them over
        assert again.gate == tuple(pair for pair in signed.gate if pair[0] != normalise.PLACE)
    else:
        assert again.signature_id == signed.signature_id


def test_a_message_that_is_quoted_ends_where_the_quotation_does() -> None:
    text = f'{_STACK}PressError: the sheet is torn", "at": "noon"}}\n'
    (event,) = events(text)
    signed = signature(replace(event, message="the sheet is torn", detail="the sheet is torn"), text)
    assert text[signed.start : signed.end] == "PressError: the sheet is torn"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (
            "java.lang.AssertionError: wrong number of pots expected:<7> but was:<9>",
            "wrong number of pots expected:<n> but was:<n>",
        ),
        (
            "java.lang.IllegalArgumentException: pots must be round at org.kiln.Pot.<init>(Pot.java:7)",
            "pots must be round",
        ),
        (
            "java.lang.IllegalStateException: the lid is open; Titanium 5.2.0,2016/02/19 12:45,fd837d1",
            "the lid is open",
        ),
        ("RuntimeError: the kiln got a wrong number of pots: 7", "the kiln got a wrong number of pots"),
    ],
)
def test_what_a_program_puts_behind_its_message_is_no_part_of_it(shown: str, text: str) -> None:
    (event,) = events(shown)
    assert text in signature(event, shown).text
    assert "Pot.java" not in signature(event, shown).text
    assert "Titanium" not in signature(event, shown).text


def test_a_name_that_few_words_quote_decides_and_that_of_a_file_does_not() -> None:
    (name,), (file,) = (extract.events(f"error: failed to load kiln, '{one}'") for one in ("fire.Clay", "fire-Q4.gguf"))
    assert ("symbol", "fire.Clay") in normalise.signature(name).gate
    assert normalise.signature(file).gate == ()


def test_where_an_error_happened_says_the_first_function_that_is_no_run_times() -> None:
    killed = replace(event("Program received signal SIGABRT, Aborted"), dialect="signal")
    named = ("main ()", "kiln::heat (door=7)", "abort ()", "raise ()", "?? ()")
    frames = tuple(Frame(None, None, name) for name in named)
    assert dict(signature(replace(killed, frames=frames)).gate)["place"] == "?:kiln::heat"
    nowhere = signature(replace(killed, frames=frames[2:]))
    assert "place" not in dict(nowhere.gate)
    assert normalise.is_empty(nowhere)


def test_a_class_that_a_log_in_json_escapes_is_the_same_class() -> None:
    plain, escaped = (signature(event("the kiln is cold", kind=name)) for name in ("Kiln\\Fire", "Kiln\\\\Fire"))
    assert escaped.exception_type == plain.exception_type == "Kiln\\Fire"
    assert escaped.signature_id == plain.signature_id


def test_a_stack_without_words_says_where_and_not_what() -> None:
    frames = tuple(Frame(None, None, name) for name in ("main ()", "kiln::heat (clay=0x6e80c008, n=4)"))
    bare = signature(replace(event("", kind=None), dialect="cpp", frames=frames))
    assert dict(bare.gate) == {"place": "?:kiln::heat"}
    assert normalise.is_empty(bare)
    null = replace(event("", kind="java.lang.NullPointerException"), dialect="java", frames=frames)
    assert dict(signature(null).gate)["place"] == "?:kiln::heat"
    assert not normalise.is_empty(signature(null))
    assert not normalise.is_empty(signature(event("no message in the kiln's queue", kind=None)))


def test_values_that_a_test_compared_are_told_apart_by_their_place_and_what_is_raised_anywhere_is_not() -> None:
    places = [(Frame("/x/test_kiln.py", 3, name),) for name in ("test_heat", "test_fire")]
    compared = [signature(event("assert 3 == 4", kind="AssertionError", frames=frames)) for frames in places]
    assert compared[0].gate != compared[1].gate
    ended = [signature(event("", kind="KeyboardInterrupt", frames=frames)) for frames in places]
    assert ended[0].gate == ended[1].gate
