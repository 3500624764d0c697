"""Names of entries: what a slug keeps of a message, and where it ends."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from pipeline.distil.drafts import slugs
from pipeline.records import Cluster
from tests.cli import run
from tests.test_overruling import built, issue

SAMPLE = Path(__file__).parent.parent / "raw" / "sample" / "docs"


def cluster(text: str, *, kind: str | None = None, gate: dict[str, str] | None = None) -> Cluster:
    return Cluster("cluster:1", "signature:1", kind, text, tuple(sorted((gate or {}).items())), (), "", 100.0)


def slug(text: str, *, domain: str = "other", **more: object) -> str:
    return slugs.wanted(cluster(text, **more), (), domain=domain)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No gradient defined for operation '<quoted>'", "no-gradient-defined-operation"),
        ("can't load weights for '<quoted>'", "cannot-load-weights"),
        ("The linking API did not work", "linking-api-did-not-work"),
        ("couldn't open the valve", "could-not-open-valve"),
        ("'<quoted>' does not name a type", "does-not-name-type"),
        ("cannot run without a valve", "cannot-run-without-valve"),
        ("un-initialized valve <n>", "un-initialized-valve"),
        ("No such valve: the tray has no widget", "no-such-valve-tray-no-widget"),
        ("The outlet that was handed out in the tray was not a <type>", "outlet-handed-out-tray-not"),
        ("daemonic valves of the innermost feeder with its seven trays and outlets are not allowed", None),
        ("valve is encrypted or is not a database", "valve-encrypted-not-database"),
    ],
)
def test_a_slug_keeps_negation(text: str, expected: str | None) -> None:
    assert slug(text) == expected or (expected is None and slug(text).endswith("-not-allowed"))


def test_what_a_code_or_a_long_type_leaves_no_room_for_is_denied_all_the_same() -> None:
    assert slug("'TrayItem': identifier not found", gate={"symbol": "TrayItem"}) == "tray-item-not-found"
    long = "HandOutTheOutletValveOfTheInnermostTrayException"
    assert slug("the valve of the tray was not opened by the outlet", kind=long).endswith("-not-opened")
    said = slug("'TrayItem' of the feeder is not there", kind="NoSuchValveException", gate={"symbol": "TrayItem"})
    assert said == "no-such-valve-exception-tray-item"


def test_addresses_and_arguments_of_one_run_are_no_part_of_a_name() -> None:
    where = {"signal": "SIGSEGV", "place": "tray:heat_valve (av=0x7ffff74a8760, n=4)"}
    assert slug("segmentation fault", gate=where) == "tray-heat-valve-sigsegv-segmentation-fault"
    assert slug("member is lost", gate={"errno": "0x80020003"}).startswith("0x80020003-member")


def test_a_function_or_a_project_tells_apart_what_has_the_same_words() -> None:
    made = slugs.wanted(cluster("the tray is full"), (), domain="other", places=("outlet:heat_valve", "feeder"))
    assert made == ("tray-full", "tray-full-outlet-heat-valve", "tray-full-feeder")


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (
            "Unable to resolve the outlet valve of the feeder, because no widget could be handed out in the tray",
            None,
            "unable-resolve-outlet-valve-feeder",
        ),
        (
            "The valve was opened by a request that could not be told from another request of the same client",
            None,
            "valve-opened-request-could-not-told-another-same-client",
        ),
        ("Parameter gamma of the tray does not exist", "InvalidFeederConfigurationException", None),
    ],
)
def test_a_slug_ends_where_a_phrase_ends(text: str, kind: str | None, expected: str | None) -> None:
    made = slug(text, kind=kind)
    assert len(made) <= slugs.MAX_SLUG
    assert made.rpartition("-")[2] not in {"not", "no", "could", "the", "of", "does"}
    assert expected in (made, None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MXNet", "mxnet"),
        ("OpenCV", "opencv"),
        ("PyTorch", "pytorch"),
        ("TensorFlow", "tensorflow"),
        ("cuBLAS", "cublas"),
        ("cuDNN", "cudnn"),
        ("DL4J", "dl4j"),
        ("NumPy", "numpy"),
        ("DataLoader", "dataloader"),
        ("OutOfRange", "out-of-range"),
        ("NoSuchElement", "no-such-element"),
        ("MXNetError", "mxnet-error"),
        ("ND4JIllegalStateException", "nd4j-illegal-state-exception"),
        ("OSError", "os-error"),
        ("MAX_PROTO_INDEX", "max-proto-index"),
    ],
)
def test_names_of_products_stay_whole_and_other_names_are_words(name: str, expected: str) -> None:
    assert slug(f"{name} was lost today") == f"{expected}-lost-today"


def test_an_identifier_is_taken_whole_or_not_at_all() -> None:
    long = "Assertion `ClassTemplate->ProtoLengths[ActualProtoNum] < SMALLEST_UPPER_BOUND_OF_INDEX' failed"
    bound = "SMALLEST_UPPER_BOUND_OF_INDEX"
    made = slug(long, gate={"assertion": f"ClassTemplate->ProtoLengths[ActualProtoNum] < {bound}"})
    assert made == "class-template-proto-lengths-actual-proto-num"


def test_of_a_dotted_name_the_end_says_most() -> None:
    gate = {"kind": "no-attribute", "symbol": "feeder.cython.cy_model.UnityModel.get"}
    text = "'feeder.cython.cy_model.UnityModel' object has no attribute 'get'"
    assert slug(text, kind="AttributeError", gate=gate) == "attribute-error-no-attribute-unity-model-get"


def test_the_operator_of_an_operation_is_told() -> None:
    gate = {"kind": "unsupported-operand", "op": "-", "symbol": "int,NoneType"}
    one = slug("unsupported operand type(s) for -: 'int' and 'NoneType'", kind="TypeError", gate=gate)
    two = slug("unsupported operand type(s) for /: 'int' and 'NoneType'", kind="TypeError", gate=gate | {"op": "/"})
    assert (one[-5:], two[-10:]) == ("minus", "divided-by")


def test_the_id_of_a_notebooks_cell_is_no_part_of_a_name() -> None:
    made = slugs.wanted(cluster("x", gate={"symbol": "<ipython-input-16-cd011cae2d61>:train_all"}), (), domain="other")
    assert made[0] == "train-all"


def test_where_a_slug_is_taken_the_next_ones_say_more() -> None:
    text = "Job aborted due to stage failure: task of stage lost, most recent failure: the tray of the feeder is full"
    made = slugs.wanted(cluster(text, kind="feeder.FeederException"), (), domain="java")
    assert made[0].startswith("feeder-exception-job-aborted-due-stage-failure")
    assert made[-1].endswith("tray-full")
    assert len(set(made)) == len(made) > 1
    assert all(len(one) <= slugs.MAX_LONGER for one in made)


def test_a_hostile_message_costs_little() -> None:
    begun = time.process_time()
    for piece in ("not ", "aB", "can't", "_", "<a", "ipython-input-1-", "A" * 5 + "."):
        assert re.fullmatch(r"[a-z0-9-]{1,80}", slug(piece * (100_000 // len(piece))))
    assert time.process_time() - begun < 1.0


@pytest.mark.long
def test_an_official_entry_has_its_pages_name_words_and_category_whatever_reports_joined_it(tmp_path: Path) -> None:
    """The reports come first, as a ValueError, and the page joins them: the entry moves, and its old id leads on."""
    home = tmp_path / "home"
    message = (
        "ValueError: E1001: CompileTimeScopedVmemOom: RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while "
        "allocating on stack for %fusion.3"
    )
    home.mkdir()
    (home / "issues.jsonl").write_text("\n".join(issue(number, message) for number in (1, 2, 3)), encoding="utf-8")
    assert run("import", "--home", home, home / "issues.jsonl").code == 0
    built(home)
    [before] = json.loads(run("query", "--home", home, "--format", "json", "SELECT entry_id FROM entries").out)
    assert run("import", "--home", home, SAMPLE / "error_1001.html").code == 0
    built(home)
    shown = json.loads(run("show", before["entry_id"], "--home", home, "--json").out)
    assert (shown["id"], shown["aliases"]) == ("xla/e1001-compile-time-scoped-vmem-oom", [before["entry_id"]])
    assert (shown["domain"], shown["category"], shown["error_code"]) == ("xla", "out_of_memory", "E1001")
    assert shown["signature"].startswith("Ran out of memory in memory space vmem")
    assert shown["exception_type"] is None
    assert shown["occurrence_count"] == 3
