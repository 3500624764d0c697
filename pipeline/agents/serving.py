"""The tools as a server of the official SDK: on stdio, or on HTTP of this machine."""

from __future__ import annotations

import asyncio
import functools
import inspect
import ipaddress
import logging
import re
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import ValidationError
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from pipeline import __version__
from pipeline.agents.answers import UNTRUSTED
from pipeline.agents.library import Library
from pipeline.agents.tools import MOST_TEXT, Tools
from pipeline.records.errors import ConfigError, PipelineError, StreamError

INSTRUCTIONS = (
    "What public bug reports say about errors: grouped, counted, cited, in English "
    "and Chinese. Ask match_error first, with the whole error text. Cite the evidence URLs of what you pass on; say "
    '"suggested" of what nobody confirmed; where an answer abstains, say that nothing is known. ' + UNTRUSTED
)
#: Bytes of a request: a text as long as may be, every character written as six.
MOST_REQUEST = 6 * MOST_TEXT + 100_000
#: Where the server listens; no other page, program or name gets an answer from it.
PATH = "/mcp"
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")

#: So long a client may take to say a request, or to read what waits for it: 64 silent ones kept all others out.
CLIENT_SECONDS = 10.0

_Asked = TypeVar("_Asked", bound=Callable[..., Any])


#: What is said of an argument, by what pydantic calls its fault; the rest it says well enough itself.
_FAULTS = {
    "missing": "{name} is missing",
    "string_too_short": "{name} is empty",
    "string_too_long": "{name} has at most {max_length:,} characters",
    "less_than_equal": "{name} is {le} at most",
    "greater_than_equal": "{name} is {ge} at least",
}
_LONG_LOG = ": give the end of a long log"


class _Server(MCPServer):
    """A server that refuses an argument with what would do, not with the words of a library."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError("; ".join(map(_advice, error.__cause__.errors()))) from None
            raise


def _advice(fault: Any) -> str:
    name = ".".join(map(str, fault["loc"]))
    words = _FAULTS.get(fault["type"], "{name}: {fault}")
    told = words.format(name=name, fault=fault["msg"], **fault.get("ctx", {}))
    return told + (_LONG_LOG if (name, fault["type"]) == ("text", "string_too_long") else "")


def server(folder: Path) -> Any:
    """The server of the bundle in `folder`, or of a home.

    Raises:
        ExportError: there is no bundle, or it cannot be read.
    """
    tools = Tools(Library(folder))
    made = _Server("errmine", title="errmine", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR")
    told = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    for ask in (tools.match_error, tools.search_errors, tools.get_entry, tools.explain, tools.unanswered):
        made.add_tool(_told(ask, ToolError, folder), description=inspect.getdoc(ask), annotations=told)
    of_json = made.resource("errmine://entry/{domain}/{slug}", name="entry", mime_type="application/json")
    of_json(_told(tools.entry, ResourceError, folder))
    for address, read, kind in (
        ("errmine://schema/{name}", tools.schema, "application/json"),
        ("errmine://manifest", tools.manifest, "application/json"),
        ("errmine://llms.txt", tools.llms, "text/plain"),
    ):
        made.resource(address, name=read.__name__, mime_type=kind)(_told(read, ResourceError, folder))
    return made


def _without(folder: Path, words: str) -> str:
    """`words` without where the bundle lies, however it was named."""
    names = sorted({str(folder.resolve()), str(folder)} - {"."}, key=len, reverse=True)
    found = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![\w.-])(?:{found})(?![\w.-])", "the bundle", words)


def _told(ask: _Asked, kind: Any, folder: Path) -> _Asked:
    """`ask`, whose refusals reach the client as errors of the SDK: what is wrong and what to do, without our paths."""

    @functools.wraps(ask)
    def asked(*arguments: Any, **named: Any) -> Any:
        try:
            return ask(*arguments, **named)
        except PipelineError as error:
            words = f"{error}. {error.hint()}"
            raise kind(_without(folder, words)) from None

    return asked  # type: ignore[return-value]


def serve_stdio(folder: Path) -> None:
    """Nothing, once the client has closed standard input or reads no answers any more.

    Raises:
        StreamError: an answer cannot be written.
    """
    try:
        anyio.run(server(folder).run_stdio_async)
    except BaseExceptionGroup as group:  # the SDK reads and writes beside each other, past the streams of `sys`
        failed = _first(group, OSError)
        if failed is None:
            raise
        if not isinstance(failed, BrokenPipeError | ConnectionError):
            hint = "The client has to read the answers; no file or full disk may stand in its place."
            raise StreamError(f"an answer cannot be written: {failed.strerror}", hint=hint) from group


def _first(group: BaseExceptionGroup, kind: type[OSError]) -> OSError | None:
    """The first of a kind in a group all of whose errors are of it, or None."""
    of_kind, others = group.split(kind)
    first: BaseException | None = None if others else of_kind
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, kind) else None


def serve_http(
    folder: Path, *, host: str, port: int, names: Iterable[str] = (), listening: Callable[[str], object]
) -> None:
    """Nothing, once the server was told to stop. `listening` hears its address when it answers there.

    A request is answered only if its `Host` is a name of this machine or one of `names`, and its `Origin`, which pages
    in a browser send, is such a name too: a page elsewhere that has its name resolve to this machine gets 421 or 403.

    Raises:
        ConfigError: others could reach it and no name was given, or the address cannot be had.
    """
    extra = tuple(names)
    if not _is_local(host) and not extra:
        hint = "Name the host that clients will use, --allow-host, and put what asks for a password before it."
        raise ConfigError(f"{host} can be reached from other machines", hint=hint)
    app = server(folder).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=MOST_REQUEST,
        transport_security=_security([*extra, *([f"[{host}]" if ":" in host else host] if _is_local(host) else [])]),
    )
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_news)
    with _listening(host, port) as open_socket:
        address = open_socket.getsockname()
        shown_host = f"[{address[0]}]" if ":" in address[0] else address[0]
        listening(f"http://{shown_host}:{address[1]}{PATH}")
        config = uvicorn.Config(
            app,
            http=_Punctual,
            log_level="error",
            access_log=False,
            server_header=False,
            limit_concurrency=64,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=5,
        )
        uvicorn.Server(config).run(sockets=[open_socket])


class _Punctual(H11Protocol):
    """A connection that ends where its client neither says a whole request nor reads its answer in time."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_client()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state.__name__ in ("IDLE", "SEND_BODY"):
            self._await_client()
        else:
            self._heard()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_client()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._heard()

    def _await_client(self) -> None:
        if self._late is None:  # what drips does not move the end
            self._late = self.loop.call_later(CLIENT_SECONDS, self.transport.abort)

    def _heard(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def _is_news(record: logging.LogRecord) -> bool:
    """False of a client that went away before it had said all: the SDK prints a traceback for each."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


def _security(extra: Iterable[str]) -> Any:
    hosts = [*_LOCAL_NAMES, *extra]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[form for name in hosts for form in (name, f"{name}:*")],
        allowed_origins=[
            f"{way}://{form}" for way in ("http", "https") for name in hosts for form in (name, f"{name}:*")
        ],
    )


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        hint = "Choose another --port (0: any that is free), or stop what holds it."
        raise ConfigError(f"cannot listen on {host}:{port}: {error}", hint=hint) from error
