"""Official codes on their way from a data file to entries and SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.lexicon import catalogues
from pipeline.run import Places
from pipeline.store import querying, reading
from tests.rings import one_in
from tests.test_distil_graph import built

BREAK = """```
Traceback (most recent call last):
  File "/srv/app/train.py", line 12, in <module>
    step(batch)
  File "/opt/venv/lib/python3.12/site-packages/torch/_dynamo/exc.py", line 601, in unimplemented_v2
    raise Unsupported(msg)
torch._dynamo.exc.Unsupported: Call to `torch._dynamo.graph_break()`
  Explanation: User-inserted graph break. Message: None
  Hint: Remove the `torch._dynamo.graph_break()` call.

  Developer debug context: Called `torch._dynamo.graph_break()` with args `[]`, kwargs `{}`

 For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0025.html
```
"""


@pytest.mark.long
def test_a_catalogue_of_561_graph_breaks_is_a_file_and_a_parser(tmp_path: Path) -> None:
    (row,) = built(tmp_path, BREAK).values()
    assert row["codes"] == ["gb:GB0025"]
    assert row["official_doc_url"] == "https://meta-pytorch.org/compile-graph-break-site/gb/gb0025.html"
    assert row["signature_zh"].startswith(
        "torch._dynamo.exc.Unsupported：torch.compile 发生图中断（graph break）GB0025：调用了 "
    )


TRACEBACK = """```
Traceback (most recent call last):
  File "/srv/app/train.py", line 12, in <module>
    step(batch)
{message}
```
"""


CODES = [
    ("RuntimeError: HIP error: an illegal memory access was encountered", "hip:hipErrorIllegalAddress"),
    ("RuntimeError: CUDA error: an illegal memory access was encountered", "cuda:cudaErrorIllegalAddress"),
    ("RuntimeError: CUDA driver error: CUDA_ERROR_ILLEGAL_ADDRESS", "cuda:cudaErrorIllegalAddress"),
    (
        "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(handle, n)`",
        "cublas:CUBLAS_STATUS_EXECUTION_FAILED",
    ),
    ("RuntimeError: cuDNN error: CUDNN_STATUS_MAPPING_ERROR", "cudnn:CUDNN_STATUS_MAPPING_ERROR"),
    (
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroup.cpp:12, unhandled system error",
        "nccl:ncclSystemError",
    ),
    (
        "jax.errors.JaxRuntimeError: E0200: RuntimeUnexpectedCoreHalt: Accelerator device halted prematurely",
        "xla:E0200",
    ),
    ("jax.errors.JaxRuntimeError: UNAVAILABLE: the peer went away while it sent its part", "absl:UNAVAILABLE"),
]


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of one issue for each message, numbered from 1."""
    folder = tmp_path_factory.mktemp("coded")
    built(folder, *(TRACEBACK.format(message=message) for message, _ in CODES))
    return Places.of(folder / "home").database


@pytest.mark.parametrize(("number", "code"), one_in(4, [(number, code) for number, (_, code) in enumerate(CODES, 1)]))
def test_a_code_has_one_spelling_in_event_gate_and_entry(coded: Path, number: int, code: str) -> None:
    shown = "events JOIN documents USING (document_id)"
    events = querying.query(coded, f"SELECT DISTINCT unnest(codes) FROM {shown} WHERE number = {number}").rows
    gates = querying.query(
        coded,
        f"""SELECT json_extract_string(gate, '$.code') FROM clusters JOIN (
            SELECT DISTINCT cluster_id FROM {shown} JOIN assignments USING (signature_id) WHERE number = {number}
        ) USING (cluster_id)""",
    ).rows
    assert events
    assert gates
    (entry,) = (one for one in reading.entries(coded) if number in {piece["number"] for piece in one["evidence"]})
    family = code.partition(":")[0]
    spelled = {one for (one,) in [*events, *gates] if one and one.startswith(family)} | {
        one for one in entry["codes"] if one.startswith(family)
    }
    assert spelled == {code}
    assert code in entry["codes"]


@pytest.mark.long
def test_sql_knows_every_code_also_those_without_entry_or_page(tmp_path: Path) -> None:
    built(tmp_path, BREAK)
    database = Places.of(tmp_path / "home").database
    sql = """SELECT family, count(*), count(*) FILTER (NOT is_documented) FROM catalogue
        WHERE family IN ('xla', 'gb', 'cuda') GROUP BY ALL ORDER BY 1"""
    assert querying.query(database, sql).rows == [("cuda", 141, 0), ("gb", 561, 0), ("xla", 28, 16)]
    sql = "SELECT e.entry_id FROM entries e JOIN catalogue c ON list_contains(e.codes, c.code) WHERE c.family = 'gb'"
    assert len(querying.query(database, sql).rows) == 1


def test_the_list_of_codes_names_each_once_with_its_former_numbers() -> None:
    rows = {row.code: row for row in catalogues.listed()}
    assert len(rows) == len(catalogues.listed())
    assert rows["xla:E0200"].aliases == ("xla:E0103",)
    assert "cuda:CUDA_ERROR_ILLEGAL_ADDRESS" in rows["cuda:cudaErrorIllegalAddress"].aliases
    assert rows["xla:E0000"].is_documented is False


@pytest.mark.parametrize("family", ["cuda", "nccl", "absl", "jax", "gb", "hip", "xla"])
def test_every_family_is_listed(family: str) -> None:
    assert any(row.family == family and row.name for row in catalogues.listed())


@pytest.mark.long
def test_an_entry_is_named_by_its_own_code_before_those_printed_with_it(tmp_path: Path) -> None:
    log = "```\nops.obj : error LNK2001: unresolved external symbol f\nops.pyd : fatal error LNK1120: 1 unresolved\n```"
    (row,) = built(tmp_path, log).values()
    assert row["codes"] == ["msvc:LNK1120", "msvc:LNK2001"]
    assert row["id"].endswith("/lnk2001")
