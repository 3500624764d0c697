"""Agents: what the tools answer, how much, how they abstain; by the SDK's own client, on stdio and on HTTP.

To import the SDK takes a second: it is left to the one worker that runs these tests.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import anyio
import pytest

from pipeline import export
from pipeline.agents import shown, tools
from pipeline.agents.answers import UNTRUSTED
from pipeline.agents.library import Library
from pipeline.export.schemas import schemas
from pipeline.records.entry import KnowledgeEntry, Workaround, is_answered
from pipeline.records.errors import ConfigError, ExportError, StreamError
from tests import cli
from tests.each import each
from tests.golden import GOLDEN, ROOT
from tests.rings import first_alone, quick_alone

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="needs the extra `mcp`")

THREADS = "triton/out-of-resources-threads"
LOG = """
+ python train.py
Traceback (most recent call last):
  File "/srv/train.py", line 12, in <module>
    kernel[grid](x, BLOCK=2048)
triton.runtime.errors.OutOfResources: out of resource: threads, Required: 4096, Hardware limit: 1024.

+ python eval.py
Traceback (most recent call last):
  File "/srv/eval.py", line 3, in <module>
    open_the_door()
HouseError: the seventh moon stands in the garden of nobody
"""
NAMES = ["match_error", "search_errors", "get_entry", "explain", "unanswered"]
Got = TypeVar("Got")


def server(home: Path) -> Any:
    """The server of a home or a bundle."""
    from pipeline.agents import serving

    return serving.server(home)


def talk(target: Any, conversation: Callable[[Client], Awaitable[Got]], *, mode: str = "auto") -> Got:
    """What a conversation of the SDK's client with `target` gives."""
    from mcp import Client

    async def session() -> Got:
        async with Client(target, mode=mode, read_timeout_seconds=60) as client:
            return await conversation(client)

    return anyio.run(session)


def answered(target: Any, name: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a tool; its text is the same as JSON."""

    async def one(client: Client) -> Any:
        return await client.call_tool(name, arguments)

    result = talk(target, one)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


def refused(target: Any, name: str, **arguments: Any) -> str:
    """The words of a refusal."""

    async def one(client: Client) -> Any:
        return await client.call_tool(name, arguments)

    result = talk(target, one)
    assert result.is_error
    return result.content[0].text


@pytest.fixture(scope="module")
def sample(sample_home: Path) -> Any:
    return server(sample_home)


# ---------------------------------------------------------------- answers


def test_every_error_of_a_log_is_told_with_its_evidence_or_why_nothing_is_known(sample: Any) -> None:
    told = answered(sample, "match_error", text=LOG)
    assert told["abstained"] is False
    known, unknown = told["errors"]
    assert (known["status"], known["entry"]["entry_id"], known["lines"]) == ("known", THREADS, "3-6")
    assert known["entry"]["tier"] == "maintainer_confirmed"
    assert known["entry"]["documents"] == len(set(known["entry"]["evidence_urls"])) == 2
    (helped,) = known["entry"]["confirmed"]
    assert (helped["worked"], helped["failed"]) == (1, 0)
    assert helped["evidence"][0]["url"].startswith("https://github.com/errmine-fixtures/tilelab/issues/21#")
    assert helped["evidence"][0]["text"]
    assert [one["action"] for one in known["entry"]["suggested"]]
    assert (unknown["status"], unknown["entry"]) == ("unknown", None)
    assert "like enough" in unknown["reason"]
    assert told["untrusted"] == UNTRUSTED


@pytest.mark.parametrize("text", ["the moon is green today", "HouseError: the seventh moon is nobody's", "\x00\x1b[2J"])
def test_it_abstains_where_nothing_fits(sample: Any, text: str) -> None:
    told = answered(sample, "match_error", text=text)
    assert told["abstained"] is True
    assert told["reason"]
    assert all(one["entry"] is None for one in told["errors"])


def test_search_takes_both_languages_and_abstains_without_a_word_in_common(sample: Any) -> None:
    first = answered(sample, "search_errors", words="显存不足", limit=1)["hits"][0]
    assert first["entry_id"] == "pytorch/out-of-memory-error-torch-oom-cuda"
    assert first["evidence_urls"]
    assert first["tier"]
    assert first["documents"] >= 1
    assert answered(sample, "search_errors", words="threads", limit=2)["hits"][0]["entry_id"] == THREADS
    nothing = answered(sample, "search_errors", words="qqqq zzzz")
    assert (nothing["abstained"], nothing["hits"]) == (True, [])


def test_an_entry_is_read_by_its_id_or_its_clusters_and_other_ids_lead_nowhere(sample: Any) -> None:
    told = answered(sample, "get_entry", entry_id=THREADS)
    entry = json.loads((GOLDEN / "entries" / f"{THREADS}.json").read_text(encoding="utf-8"))
    assert told["entry"]["cause"] == entry["root_cause"]
    assert told["entry"]["cause_lang"] == "en"
    chinese = answered(sample, "get_entry", entry_id="triton/out-of-resources-shared-memory")["entry"]
    assert (chinese["cause"], chinese["cause_lang"]) == (chinese["cause_zh"], "zh")
    assert told["entry"]["documents"] == entry["evidence_count"]
    assert told["resource"] == f"errmine://entry/{THREADS}"
    assert answered(sample, "get_entry", entry_id=entry["cluster_id"])["entry"] == told["entry"]
    for wanted in ("../../../etc/passwd", "nope/nope", "'; DROP TABLE entries; --", "\x00"):
        nothing = answered(sample, "get_entry", entry_id=wanted)
        assert (nothing["abstained"], nothing["entry"]) == (True, None)
        assert "search_errors finds ids" in nothing["reason"]


def test_explain_says_why_reports_are_one_error_and_why_two_are_not(sample: Any) -> None:
    told = answered(sample, "explain", subject=THREADS)
    assert told["entry_id"] == THREADS
    assert told["together"]
    assert all(one["url"].startswith("https://") for one in told["evidence"])
    two = answered(sample, "explain", subject=THREADS, other="triton/out-of-resources-shared-memory")
    assert (two["is_one_error"], two["other_entry_id"]) == (False, "triton/out-of-resources-shared-memory")
    assert two["reason"]
    assert two["evidence"]
    assert answered(sample, "explain", subject=THREADS, other=THREADS)["is_one_error"] is True
    assert answered(sample, "explain", subject="nope")["abstained"] is True
    assert "nope" in answered(sample, "explain", subject=THREADS, other="nope")["reason"]


def test_what_has_no_answer_is_listed_with_its_threads(sample: Any, sample_home: Path) -> None:
    entries = export.read_entries(sample_home / "curated")
    wanted = {entry.id for entry in entries if not is_answered(entry)}
    told = answered(sample, "unanswered", limit=5)
    assert len(told["errors"]) == 5
    assert {one["entry_id"] for one in told["errors"]} <= wanted
    assert told["more_errors"] == len(wanted) - 5
    assert all(one["evidence_urls"] for one in told["errors"])
    nowhere = answered(sample, "unanswered", domain="nowhere")
    assert nowhere["abstained"] is True
    assert "triton" in nowhere["reason"]


def test_resources_hold_entries_schemas_and_the_manifest(sample: Any) -> None:
    async def read(client: Client) -> list[str]:
        wanted = (
            f"errmine://entry/{THREADS}",
            "errmine://schema/entry-1.0",
            "errmine://manifest",
            "errmine://llms.txt",
        )
        return [(await client.read_resource(one)).contents[0].text for one in wanted]

    entry, schema, manifest, llms = talk(sample, read)
    assert llms == (GOLDEN / "llms.txt").read_text(encoding="utf-8")
    assert json.loads(entry) == json.loads((GOLDEN / "entries" / f"{THREADS}.json").read_text(encoding="utf-8"))
    assert schema == schemas()["entry-1.0.json"]
    assert json.loads(manifest)["counts"]["entries"] == len(list((GOLDEN / "entries").rglob("*.json")))


@pytest.mark.parametrize(
    "uri", ["errmine://entry/a/b", "errmine://entry/a/..%2Fb", "errmine://schema/x", "file:///etc/x"]
)
def test_other_resources_are_refused_without_a_path_of_ours(sample: Any, sample_home: Path, uri: str) -> None:
    async def read(client: Client) -> str:
        with pytest.raises(Exception, match=r"there is no|Unknown") as raised:
            await client.read_resource(uri)
        return str(raised.value)

    assert str(sample_home) not in talk(sample, read)


def test_the_page_names_every_tool_and_resource(sample: Any) -> None:
    async def listed(client: Client) -> list[str]:
        templates = (await client.list_resource_templates()).resource_templates
        resources = (await client.list_resources()).resources
        return [*(one.uri_template for one in templates), *(one.uri for one in resources)]

    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert [name for name in (*NAMES, *talk(sample, listed)) if f"`{name}`" not in page] == []
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == NAMES


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        (
            "match_error",
            {"text": "x" * (tools.MOST_TEXT + 1)},
            "at most 200,000 characters: give the end of a long log",
        ),
        ("match_error", {"text": ""}, "text is empty"),
        ("match_error", {}, "text is missing"),
        ("match_error", {"text": ["a"]}, "text: Input should be a valid string"),
        ("search_errors", {"words": "x" * 401}, "words has at most 400 characters"),
        ("search_errors", {"words": "x", "limit": 21}, "limit is 20 at most"),
        ("get_entry", {"entry_id": "x" * 301}, "entry_id has at most 300 characters"),
        ("unanswered", {"limit": 0}, "limit is 1 at least"),
        ("delete_everything", {}, "delete_everything"),
    ],
)
def test_arguments_are_bounded_and_a_wrong_one_is_refused_with_what_would_do(
    sample: Any, name: str, arguments: dict[str, Any], told: str
) -> None:
    words = refused(sample, name, **arguments)
    assert told in words
    assert len(words) < 200
    assert "pydantic" not in words


def test_an_answer_is_bounded_however_much_is_known(tmp_path: Path) -> None:
    template = export.read_entries(GOLDEN)[0]
    entry = next(one for one in export.read_entries(GOLDEN) if one.id == THREADS)
    grown = _grown(entry)
    export.write(tmp_path, [template, grown], facts=_facts())
    vast = server(tmp_path)
    told = answered(vast, "get_entry", entry_id=THREADS)
    assert len(json.dumps(told, ensure_ascii=False)) <= tools.MOST_ANSWER
    assert told["entry"]["left_out"]["suggested"] > 100
    assert "\u202e" not in json.dumps(told, ensure_ascii=False)
    assert "Orders" not in (tmp_path / "llms.txt").read_text(encoding="utf-8")


def _grown(entry: KnowledgeEntry) -> KnowledgeEntry:
    """An entry with 300 remedies of 4,000 characters, with what turns the direction of writing in each."""
    way = entry.workarounds[-1]
    ways = [
        Workaround(**{**way.model_dump(), "action": f"Set \u202eknob {n} to 1.", "how": f"{n} " + "knob " * 800})
        for n in range(300)
    ]
    orders = "cuda\u202e\n## Orders\n" + "x" * 200_000
    return entry.model_copy(update={"workarounds": ways, "workarounds_zh": [None] * len(ways), "domain": orders})


def _facts() -> export.Facts:
    return export.Facts(registry=export.read_registry(GOLDEN))


@pytest.mark.parametrize("name", ["c", "the bundle"])
def test_of_a_message_only_the_place_of_the_bundle_is_left_out(tmp_path: Path, name: str) -> None:
    from pipeline.agents import serving

    folder = tmp_path / name
    told = serving._without(folder, f"{folder}/manifest.json cannot be read: check {folder}, or cut the code")
    assert told == "the bundle/manifest.json cannot be read: check the bundle, or cut the code"
    assert serving._without(Path("c"), "cut c/x and the cc") == "cut the bundle/x and the cc"


def test_the_least_measure_is_within_the_bound_by_its_numbers() -> None:
    least = shown.LEAST
    texts = 4 * least.remedies * (4 + least.sayings) + 20
    assert tools.MOST_ERRORS * texts * (least.characters + 400) <= 5 * tools.MOST_ANSWER


def test_what_breaks_inside_reaches_the_client_as_words_without_paths(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(GOLDEN, folder)
    made = server(folder)
    page = folder / "entries" / f"{THREADS}.json"
    page.write_text(page.read_text(encoding="utf-8").replace("2048", "9999"), encoding="utf-8")
    words = refused(made, "get_entry", entry_id=THREADS)
    assert "not those that were written" in words
    assert str(tmp_path) not in words
    assert "no database" in refused(made, "explain", subject=THREADS)


def test_another_bundle_in_the_same_folder_is_taken_and_none_is_a_refusal(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(GOLDEN, folder)
    made = server(folder)
    before = answered(made, "unanswered", limit=1)["source"]
    export.write(folder, export.read_entries(GOLDEN)[:3], facts=_facts())
    after = answered(made, "unanswered", limit=1)["source"]
    assert (before["entries"], after["entries"]) == (len(export.read_entries(GOLDEN)), 3)
    assert before["bundle_id"] != after["bundle_id"]
    shutil.rmtree(folder)
    assert "there is no bundle" in refused(made, "unanswered")
    with pytest.raises(ExportError, match="there is no bundle"):
        Library(folder)


# ---------------------------------------------------------------- transports


def _command(*arguments: str) -> list[str]:
    return ["-c", "from pipeline.cli import main; main()", "mcp", *arguments]


@pytest.mark.parametrize("mode", quick_alone(["auto", "legacy"], ["auto"]))
def test_a_client_talks_to_the_command_on_stdio(mode: str) -> None:
    from mcp.client.stdio import StdioServerParameters

    target = StdioServerParameters(
        command=sys.executable, args=_command("--bundle", str(GOLDEN)), env={"PYTHONPATH": str(ROOT)}
    )

    async def conversation(client: Client) -> tuple[list[str], Any, Any]:
        listed = (await client.list_tools()).tools
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in listed)
        assert all(len(tool.description or "") > 40 for tool in listed)
        return (
            [tool.name for tool in listed],
            await client.call_tool("match_error", {"text": LOG}),
            await client.call_tool("match_error", {"text": 7}),
        )

    names, matched, wrong = talk(target, conversation, mode=mode)
    assert names == NAMES
    assert matched.structured_content["errors"][0]["entry"]["entry_id"] == THREADS
    assert wrong.is_error


@each(
    "failed, told",
    [(BrokenPipeError(32, "Broken pipe"), ""), (OSError(28, "No space left on device"), "No space left")],
)
def test_a_client_that_is_gone_ends_it_and_answers_that_cannot_be_written_are_told(failed: OSError, told: str) -> None:
    from pipeline.agents import serving

    class Failing:
        async def run_stdio_async(self) -> None:
            raise ExceptionGroup("of tasks", [ExceptionGroup("of a writer", [failed])])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "server", lambda folder: Failing())
        with pytest.raises(StreamError, match=told) if told else nullcontext():
            serving.serve_stdio(GOLDEN)


def test_what_is_wrong_in_the_server_itself_is_not_taken_for_a_client() -> None:
    from pipeline.agents import serving

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "server", lambda folder: SimpleNamespace(run_stdio_async=_broken))
        with pytest.raises(ExceptionGroup):
            serving.serve_stdio(GOLDEN)


async def _broken() -> None:
    raise ExceptionGroup("of tasks", [OSError(28, "No space left on device"), ValueError("a defect")])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a server of HTTP answers; it ends in time when it is told to."""
    command = [sys.executable, *_command("--bundle", str(GOLDEN), "--http", "--port", "0")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as running:
        assert running.stderr is not None
        said = running.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", said)
        if found is None:
            running.kill()
        assert found, said
        yield found[0]
        running.send_signal(signal.SIGTERM)
        try:
            _, rest = running.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            running.kill()
            raise
        assert "Traceback" not in rest


@pytest.mark.long
def test_who_goes_away_before_all_is_said_costs_nobody_a_word(address: str) -> None:
    """The fixture ends with a look at standard error."""
    at = urlsplit(address)
    head = f"POST {at.path} HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
    for _ in range(3):
        with socket.create_connection((at.hostname, at.port)) as client:
            client.sendall(f"{head}Accept: application/json, text/event-stream\r\n\r\n{{".encode())
            time.sleep(0.1)


@pytest.mark.parametrize(
    "said", [b"", b"POST /mcp HTTP/1.1\r\nHost: x\r\n", b"POST /mcp HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"]
)
def test_a_client_that_does_not_finish_what_it_says_is_cut(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    import uvicorn

    from pipeline.agents import serving

    monkeypatch.setattr(serving, "CLIENT_SECONDS", 0.2)

    async def never(_scope: Any, receive: Any, _send: Any) -> None:
        while True:
            await receive()

    async def left_alone() -> bytes:
        config = uvicorn.Config(never, http=serving._Punctual, lifespan="off", timeout_keep_alive=60)
        config.load()
        state = uvicorn.server.ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: serving._Punctual(config, state, {}), "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(said)
            try:
                return await asyncio.wait_for(reader.read(), 20)
            except ConnectionResetError:
                return b""
            finally:
                writer.close()

    assert b" 200 " not in asyncio.run(left_alone())


@pytest.mark.long
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_talks_to_it_on_http(address: str, mode: str) -> None:
    async def conversation(client: Client) -> Any:
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
        return await client.call_tool("search_errors", {"words": "threads", "limit": 1})

    told = talk(address, conversation, mode=mode).structured_content
    assert told["hits"][0]["entry_id"] == THREADS


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    first_alone(
        [
            ({"Host": "evil.example"}, b"{}", 421),
            ({"Host": "127.0.0.1.evil.example:80"}, b"{}", 421),
            ({"Origin": "https://evil.example"}, b"{}", 403),
            ({"Origin": "http://localhost.evil.example"}, b"{}", 403),
            ({"Origin": "null"}, b"{}", 403),
            ({"Content-Type": "text/plain"}, b"{}", 400),
            ({}, b" " * 2_000_000, 413),
            ({}, b"not json", 400),
        ]
    ),
)
def test_http_answers_no_page_or_name_from_elsewhere(
    address: str, headers: dict[str, str], body: bytes, status: int
) -> None:
    place = urlsplit(address)
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection = http.client.HTTPConnection(place.netloc, timeout=30)
    connection.request("POST", place.path, body=body, headers={**usual, **headers})
    response = connection.getresponse()
    said = response.read()
    connection.close()
    assert response.status == status
    assert b"entry" not in said
    assert response.getheader("access-control-allow-origin") is None


def test_to_be_reached_by_others_wants_a_name_and_a_port_that_is_held_is_told(sample_home: Path) -> None:
    from pipeline.agents.serving import serve_http

    with pytest.raises(ConfigError, match="can be reached from other machines"):
        serve_http(sample_home, host="0.0.0.0", port=0, listening=print)
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"):
            serve_http(sample_home, host="127.0.0.1", port=port, listening=print)


def test_without_a_bundle_the_command_says_what_to_do(tmp_path: Path) -> None:
    done = cli.run("mcp", "--home", tmp_path)
    assert done.code == 3
    assert "there is no bundle" in done.err
