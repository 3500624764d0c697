"""Pages that list error codes, from a real server on a real socket into raw, and from there into entries."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline import raw, run, store
from pipeline.config import Settings
from pipeline.providers import documents
from pipeline.providers.catalogue import fetch as code_pages
from pipeline.providers.catalogue import pages as catalogue_pages
from pipeline.providers.catalogue.pages import Catalogue
from pipeline.records import Document, Skipped
from pipeline.records.errors import SourceChanged
from pipeline.run import Fetched, Places
from pipeline.run.ingest import sourcing
from tests import cli

CASES = Path(__file__).parent / "cases" / "code_pages"
NOW = datetime(2026, 5, 4, tzinfo=UTC)
LATER = datetime(2026, 6, 4, tzinfo=UTC)
ISSUES = [
    {
        "html_url": f"https://github.com/errmine-fixtures/pond/issues/{number}",
        "title": "Stops",
        "body": f"It stops:\n\n```\n{message}\n```\n",
        "state": "open",
        "created_at": "2026-04-01T00:00:00Z",
    }
    for number, message in enumerate(
        (
            "jax.errors.TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].",
            "RuntimeError: CUDA error: an illegal memory access was encountered",
        ),
        1,
    )
]
TYPES = {"html": "text/html; charset=utf-8", "json": "text/plain; charset=utf-8"}


def page(case: str) -> bytes:
    return next((CASES / case).glob("input.*")).read_bytes()


def catalogue(server: HTTPServer, name: str) -> Catalogue:
    """A shipped catalogue, on the test's server."""
    path = catalogue_pages.shipped()[name].url.split("/", 3)[3]
    return catalogue_pages.wanted(name, url=server.url_for(f"/{path}"))


def serve(server: HTTPServer, name: str, case: str, change: Callable[[bytes], bytes] = lambda body: body) -> Catalogue:
    """The catalogue `name` as a page of a case, with a validator made of its content."""
    made = catalogue(server, name)
    body = change(page(case))
    tag = f'"{zlib.crc32(body)}"'
    kind = TYPES["json" if case == "graph_breaks" else "html"]

    def answer(request: Request) -> Response:
        if request.headers.get("If-None-Match") == tag:
            return Response(status=304)
        return Response(body, content_type=kind, headers={"ETag": tag})

    server.expect_request(f"/{made.url.split('/', 3)[3]}").respond_with_handler(answer)
    return made


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    httpserver.expect_request("/robots.txt").respond_with_data("", status=404)
    return httpserver


def fetch(home: Path, *wanted: Catalogue, at: datetime = NOW) -> Fetched:
    return code_pages.ingest(raw.RawLayer(Places.of(home).raw), wanted, fetched_at=at, delay_seconds=0)


def found(home: Path) -> dict[str, Document | Skipped]:
    """What documents reads, by code ("" is the page itself)."""
    layer = raw.RawLayer(Places.of(home).raw)
    read = ((refs.document_key, documents.document(layer.read(refs.refs))) for refs in layer.documents())
    return {catalogue_pages.code_of_key(key): made for key, made in read}


def documented(home: Path) -> dict[str, str]:
    """What each code means by its official page."""
    return {
        code: made.record.summary for code, made in found(home).items() if isinstance(made, Document) and made.record
    }


@pytest.mark.parametrize(
    ("name", "case", "codes"),
    [
        ("jax-errors", "jax_errors", ["jax:jax.errors.KeyReuseError", "jax:jax.errors.TracerBoolConversionError"]),
        ("nccl", "nccl", ["nccl:ncclInvalidUsage", "nccl:ncclUnhandledCudaError"]),
        ("cuda-driver", "cuda_driver", ["cuda:CUDA_ERROR_ILLEGAL_ADDRESS", "cuda:CUDA_ERROR_UNKNOWN"]),
        ("graph-breaks", "graph_breaks", ["gb:GB0003", "gb:GB0004"]),
    ],
)
def test_each_code_of_a_page_becomes_a_document_with_address_and_meaning(
    site: HTTPServer, tmp_path: Path, name: str, case: str, codes: list[str]
) -> None:
    wanted = serve(site, name, case)
    fetched = fetch(tmp_path, wanted)
    assert fetched.error is None
    assert sorted(documented(tmp_path)) == codes
    for code in codes:
        made = found(tmp_path)[code]
        assert isinstance(made, Document)
        assert made.record is not None
        assert (made.kind, made.record.code) == ("doc", code)
        assert made.record.summary in made.text
        assert made.url.startswith(wanted.url if name != "graph-breaks" else "https://meta-pytorch.org/")
    whole = found(tmp_path)[""]
    assert isinstance(whole, Skipped)
    assert whole.reason == "not_an_error_page"
    assert len(list((tmp_path / "raw" / "segments").iterdir())) == 1


def test_a_code_of_which_the_page_says_nothing_is_no_document(site: HTTPServer, tmp_path: Path) -> None:
    fetch(tmp_path, serve(site, "jax-errors", "jax_errors"))
    made = found(tmp_path)["jax:jax.errors.JaxprTypeError"]
    assert isinstance(made, Skipped)
    assert made.reason == "no_text"


def test_an_unchanged_page_costs_one_conditional_request(site: HTTPServer, tmp_path: Path) -> None:
    wanted = serve(site, "cuda-runtime", "cuda_runtime")
    fetch(tmp_path, wanted)
    again = fetch(tmp_path, wanted, at=LATER)
    assert dict(again.summary.stages[0].reasons) == {"unchanged_page": 1}
    assert [answer.status_code for _, answer in site.log if answer.status_code != 404] == [200, 304]


def test_a_page_without_a_validator_is_known_by_its_content(site: HTTPServer, tmp_path: Path) -> None:
    wanted = catalogue(site, "nccl")
    site.expect_request("/deeplearning/nccl/user-guide/docs/api/types.html").respond_with_data(
        page("nccl"), content_type=TYPES["html"]
    )
    fetch(tmp_path, wanted)
    again = fetch(tmp_path, wanted, at=LATER)
    assert (again.summary.figures["new_pages"], dict(again.summary.stages[0].reasons)) == (0, {"unchanged_page": 1})


def test_what_a_newer_page_says_takes_the_place_of_what_an_older_one_said(site: HTTPServer, tmp_path: Path) -> None:
    fetch(tmp_path, serve(site, "cuda-runtime", "cuda_runtime"))
    site.clear()
    site.expect_request("/robots.txt").respond_with_data("", status=404)

    def change(body: bytes) -> bytes:
        gone = b"cudaErrorProfilerNotInitialized"
        return body.replace(b"must be ended", b"should be ended").replace(gone, b"cudaProfilerPond")

    fetched = fetch(tmp_path, serve(site, "cuda-runtime", "cuda_runtime", change), at=LATER)
    assert "should be ended" in documented(tmp_path)["cuda:cudaErrorIllegalAddress"]
    assert [item.reason for item in fetched.summary.examples] == ["unlisted_code"]
    assert fetched.summary.examples[0].item_id.endswith("#cuda:cudaErrorProfilerNotInitialized")
    assert isinstance(found(tmp_path)["cuda:cudaErrorProfilerNotInitialized"], Document)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda body: body.replace(b"enum-member-name-def", b"renamed"), "span.enum-member-name-def"),
        (lambda body: body.replace(b"cudaError", b"pondError"), "names such as cudaError"),
        (lambda _: b"<a " * 3_000, "closes its tags"),
    ],
)
def test_a_page_of_another_structure_is_kept_and_says_what_was_expected(
    site: HTTPServer, tmp_path: Path, change: Callable[[bytes], bytes], told: str
) -> None:
    broken = serve(site, "cuda-runtime", "cuda_runtime", change)
    whole = serve(site, "jax-errors", "jax_errors")
    fetched = fetch(tmp_path, broken, whole)
    assert isinstance(fetched.error, SourceChanged)
    assert told in str(fetched.error)
    assert fetched.error.url == broken.url
    layer = raw.RawLayer(Places.of(tmp_path).raw)
    (kept,) = [ref for ref in layer.refs() if "cuda" in ref.document_key]
    assert layer.read([kept])[0].body == change(page("cuda_runtime"))
    assert "jax:jax.errors.KeyReuseError" in documented(tmp_path)
    asked = len(site.log)
    fetch(tmp_path, broken, at=LATER)
    assert site.log[asked + 1][1].status_code == 200  # what gave nothing is asked for without its validator


def test_a_page_that_lost_most_of_its_codes_is_not_believed(site: HTTPServer, tmp_path: Path) -> None:
    fetch(tmp_path, serve(site, "cuda-runtime", "cuda_runtime"))
    site.clear()
    site.expect_request("/robots.txt").respond_with_data("", status=404)

    def shorten(body: bytes) -> bytes:
        return body.replace(b"cudaErrorInvalidValue", b"cudaPond").replace(b"cudaErrorIllegal", b"cudaPondIllegal")

    fetched = fetch(tmp_path, serve(site, "cuda-runtime", "cuda_runtime", shorten), at=LATER)
    assert "expected about 3 codes" in str(fetched.error)
    assert len(documented(tmp_path)) == 3


@pytest.mark.parametrize(("status", "kind"), [(404, "text/html"), (200, "application/json")])
def test_another_answer_is_an_error_with_its_address(site: HTTPServer, tmp_path: Path, status: int, kind: str) -> None:
    wanted = catalogue(site, "jax-errors")
    site.expect_request("/en/latest/errors.html").respond_with_data("{}", status=status, content_type=kind)
    fetched = fetch(tmp_path, wanted)
    assert isinstance(fetched.error, SourceChanged)
    assert f"expected text/html from {wanted.url}, got {status}, {kind}" in str(fetched.error)


def test_a_page_that_is_wrong_once_is_asked_for_again(site: HTTPServer, tmp_path: Path) -> None:
    path = catalogue_pages.shipped()["jax-errors"].url.split("/", 3)[3]
    for body, kind in (("{}", "application/json"), ("<html>Unicorn!</html>", TYPES["html"])):
        site.expect_oneshot_request(f"/{path}").respond_with_data(body, content_type=kind)
    wanted = serve(site, "jax-errors", "jax_errors")
    done = fetch(tmp_path, wanted)
    assert done.error is None
    assert len(found(tmp_path)) > 2


def test_robots_txt_is_obeyed(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/robots.txt").respond_with_data("User-agent: *\nDisallow: /en/\n")
    fetched = fetch(tmp_path, serve(httpserver, "jax-errors", "jax_errors"))
    assert dict(fetched.summary.stages[0].reasons) == {"robots_disallowed": 1}
    assert [request.path for request, _ in httpserver.log] == ["/robots.txt"]


def test_a_catalogue_that_errmine_does_not_know_is_a_row_of_settings(site: HTTPServer, tmp_path: Path) -> None:
    text = '<dl class="py exception"><dt class="sig" id="pond.Dry"></dt><dd><p>No water is left.</p></dd></dl>'
    site.expect_request("/pond.html").respond_with_data(f"<html>{text}</html>", content_type=TYPES["html"])
    url = site.url_for("/pond.html")
    fetch(tmp_path, catalogue_pages.wanted("pond", url=url, parser="sphinx", names=r"pond\.\w+", family="pond"))
    made = found(tmp_path)["pond:pond.Dry"]
    assert isinstance(made, Document)
    assert (made.url, documented(tmp_path)) == (f"{url}#pond.Dry", {"pond:pond.Dry": "No water is left."})


def test_entries_have_address_and_meaning_of_their_codes_from_the_live_pages(site: HTTPServer, tmp_path: Path) -> None:
    places = Places.of(tmp_path)
    wanted = [serve(site, "jax-errors", "jax_errors"), serve(site, "cuda-runtime", "cuda_runtime")]
    (tmp_path / "issues.jsonl").write_text("\n".join(map(json.dumps, ISSUES)))
    run.import_files(places.raw, [tmp_path / "issues.jsonl"])
    assert fetch(tmp_path, *wanted).error is None
    summary = run.build(places, workers=1, partition_documents=100)
    assert not [item for item in summary.examples if item.reason == "breaks_a_rule"]
    rows = store.query(places.database, "SELECT codes, json FROM entries ORDER BY entry_id").rows
    entries = {code: json.loads(row) for codes, row in rows for code in codes}
    for one, code, anchor, words in (
        (wanted[0], "jax:jax.errors.TracerBoolConversionError", "jax.errors.TracerBoolConversionError", "truth value"),
        (wanted[1], "cuda:cudaErrorIllegalAddress", "group__CUDART__TYPES_1gabcdef1", "no memory of the pond"),
    ):
        entry = entries[code]
        assert entry["official_doc_url"] == f"{one.url}#{anchor}"
        assert words in entry["root_cause"]
        assert (entry["root_cause_type"], entry["verification_tier"]) == ("documented", "documented")
        quoted = [piece for piece in entry["evidence"] if piece["kind"] == "doc"]
        assert [piece["quote"] for piece in quoted] == [entry["root_cause"]]
    known = store.query(places.database, "SELECT code, url FROM official_docs WHERE code LIKE 'cuda:%' ORDER BY 1").rows
    assert len(known) == 3


@pytest.mark.long
def test_the_command_reads_the_catalogues_of_the_settings_or_those_named(site: HTTPServer, tmp_path: Path) -> None:
    wanted = [serve(site, "jax-errors", "jax_errors"), serve(site, "nccl", "nccl")]
    rows = [f'[[sources.catalogues]]\nname = "{one.name}"\nurl = "{one.url}"\n' for one in wanted]
    (tmp_path / "errmine.toml").write_text("".join(rows))
    one = cli.run("ingest", "docs", "--catalogue", "nccl", "--home", tmp_path, "--json")
    assert (one.code, json.loads(one.out)["new_pages"]) == (0, 3)
    assert {code.partition(":")[0] for code in documented(tmp_path)} == {"nccl"}
    everything = cli.run("ingest", "--home", tmp_path, "--json")
    assert everything.code == 0
    assert {code.partition(":")[0] for code in documented(tmp_path)} == {"nccl", "jax"}
    assert cli.run("ingest", "docs", "--catalogue", "pond", "--home", tmp_path).code == 2


@pytest.mark.long
def test_a_flow_of_the_docs_reads_the_catalogues_too(site: HTTPServer, tmp_path: Path) -> None:
    one = serve(site, "nccl", "nccl")
    settings = Settings.model_validate(
        {"home": tmp_path, "sources": {"catalogues": [{"name": "nccl", "url": one.url}]}}
    )
    assert sourcing.configured(settings) == ("docs",)
    assert sourcing.bring(settings, "docs").error is None
    assert len(documented(tmp_path)) == 2
