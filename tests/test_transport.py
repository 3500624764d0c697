"""One request and its whole answer: what is cut, slow or large is no answer, and nobody's password is sent."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline.transport import Bounds, NoReply, Transport, Why, origin

BOUNDS = Bounds(connect_seconds=2.0, silence_seconds=2.0, answer_seconds=2.0, most_bytes=10_000)


@pytest.fixture
def transport() -> Iterator[Transport]:
    made = Transport()
    yield made
    made.close()


def why(transport: Transport, url: str, bounds: Bounds = BOUNDS) -> Why:
    with pytest.raises(NoReply) as raised:
        transport.send("GET", url, bounds=bounds, headers={"Authorization": "Bearer fixture"})
    assert "fixture" not in f"{raised.value!r} {raised.value} {raised.value.__cause__!r}"
    return raised.value.why


def test_a_whole_answer_has_status_headers_and_body(httpserver: HTTPServer, transport: Transport) -> None:
    httpserver.expect_request("/a").respond_with_data("here", status=404, headers={"X-Lamp": "on"})
    reply = transport.send("GET", httpserver.url_for("/a"), bounds=BOUNDS, headers={})
    assert (reply.status, reply.headers["x-lamp"], reply.body) == (404, "on", b"here")
    assert httpserver.log[0][0].headers["User-Agent"].startswith("errmine/")


def test_a_redirect_is_an_answer_and_a_cookie_is_not_kept(httpserver: HTTPServer, transport: Transport) -> None:
    away = {"Location": "/b", "Set-Cookie": "who=you"}
    httpserver.expect_request("/a").respond_with_data("", status=302, headers=away)
    for _ in range(2):
        assert transport.send("GET", httpserver.url_for("/a"), bounds=BOUNDS, headers={}).status == 302
    assert [(request.path, request.headers.get("Cookie")) for request, _ in httpserver.log] == [("/a", None)] * 2


def test_a_password_of_netrc_is_not_sent_in_the_place_of_a_key(
    httpserver: HTTPServer, transport: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text(f"machine {httpserver.host} login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    httpserver.expect_request("/a").respond_with_data("here")
    for headers in ({}, {"Authorization": "Bearer key"}):
        transport.send("GET", httpserver.url_for("/a"), bounds=BOUNDS, headers=headers)
    assert [request.headers.get("Authorization") for request, _ in httpserver.log] == [None, "Bearer key"]


def test_nobody_silence_size_and_a_cut_are_told_apart(httpserver: HTTPServer, transport: Transport) -> None:
    def cut(_request: Request) -> Response:
        return Response(iter([b"half"]), headers={"Content-Length": "5000"})

    def silent(_request: Request) -> Response:
        time.sleep(0.6)
        return Response("late")

    httpserver.expect_request("/cut").respond_with_handler(cut)
    httpserver.expect_request("/silent").respond_with_handler(silent)
    httpserver.expect_request("/large").respond_with_data("x" * 20_000)
    assert why(transport, "http://127.0.0.1:9/") is Why.UNREACHABLE
    assert why(transport, httpserver.url_for("/cut")) is Why.CUT
    assert why(transport, httpserver.url_for("/silent"), replace(BOUNDS, silence_seconds=0.2)) is Why.SILENT
    assert why(transport, httpserver.url_for("/large")) is Why.LARGE


class Drip:
    """A server on a real socket that sends one answer piece by piece and turns a clock on after each, never waiting."""

    def __init__(self, *pieces: bytes, tick: float = 1.0, pause: float = 0.0) -> None:
        self.now, self.sent = 0.0, 0
        self._pieces, self._tick, self._pause = pieces, tick, pause
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}/"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Drip:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        self._thread.join(5)

    def clock(self) -> float:
        return self.now

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection:
            connection.settimeout(5)
            connection.recv(65536)
            try:
                for piece in self._pieces:
                    connection.sendall(piece)
                    self.sent += 1
                    self.now += self._tick
                    time.sleep(self._pause or 0.001)
                connection.recv(1)  # until the other side has enough
            except OSError:
                pass


def letters(text: bytes) -> list[bytes]:
    return [text[place : place + 1] for place in range(len(text))]


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "pieces",
    [
        letters(b"HTTP/1.1 200 OK" + b" " * 500),
        letters(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 500),
        [b"HTTP/1.1 200 OK\r\n", *(b"X-%d: y\r\n" % n for n in range(90))],
        [b"HTTP/1.1 100 Continue\r\n\r\n"] * 500,
        [HEAD, *letters(b"x" * 499)],
        [CHUNKED, *([b"1\r\nx\r\n"] * 500)],
        [CHUNKED, *letters(b"1;" + b"a" * 500)],
        [CHUNKED + b"1\r\nx\r\n0\r\n", *([b"X-Trailer: y\r\n"] * 500)],
    ],
    ids=["status", "header", "headers", "continue", "body", "chunks", "chunk-size", "trailers"],
)
def test_whatever_part_of_an_answer_drips_it_ends_at_the_deadline(pieces: list[bytes]) -> None:
    """A second by the clock for each piece: no silence is too long, the whole is."""
    with Drip(*pieces) as server:
        made = Transport(clock=server.clock)
        assert why(made, server.url, replace(BOUNDS, answer_seconds=20.0, silence_seconds=5.0)) is Why.SLOW
        made.close()
        assert server.sent < 60


@pytest.mark.parametrize("target", ["http://[", "//[::1", "\xff", "http://a.example:x/", ""])
def test_a_redirect_to_what_is_no_address_is_an_answer_too(target: str) -> None:
    head = f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
    with Drip(head.encode("latin-1")) as server:
        made = Transport()
        assert made.send("GET", server.url, bounds=BOUNDS, headers={}).status == 302
        made.close()


def test_headers_that_drip_end_at_a_deadline_of_real_time() -> None:
    with Drip(*letters(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 90), pause=0.05) as server:
        made, begun = Transport(), time.monotonic()
        assert why(made, server.url, replace(BOUNDS, silence_seconds=0.2, answer_seconds=0.3)) is Why.SLOW
        made.close()
        assert 0.2 < time.monotonic() - begun < 1.5


def test_a_name_that_is_looked_up_for_ever_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: stuck.wait(10) and [])
    made, begun = Transport(), time.monotonic()
    assert why(made, "http://slow.example/", replace(BOUNDS, answer_seconds=0.2)) is Why.SLOW
    stuck.set()
    made.close()
    assert time.monotonic() - begun < 2


def test_many_addresses_that_do_not_answer_share_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes all the time that it is given, as a packet filter makes it."""
    given: list[float] = []
    now = [0.0]

    def connect(self: socket.socket, _address: object) -> None:
        given.append(self.gettimeout() or 0.0)
        now[0] += given[-1]
        raise TimeoutError

    made = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 9))] * 50
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: made)
    monkeypatch.setattr(socket.socket, "connect", connect)
    transport = Transport(clock=lambda: now[0])
    assert why(transport, "http://many.example/", replace(BOUNDS, connect_seconds=3.0, answer_seconds=10.0)) is Why.SLOW
    assert given == [3.0, 3.0, 3.0, 1.0]


def test_a_body_that_unpacks_to_more_than_it_may_is_given_up(httpserver: HTTPServer, transport: Transport) -> None:
    bomb = gzip.compress(bytes(64 * 1024 * 1024))
    twice = gzip.compress(bomb)
    many = gzip.compress(bytes(9_000)) * 5_000
    for path, body, coding, expected in (
        ("/bomb", bomb, "gzip", Why.LARGE),
        ("/many", many, "gzip", Why.LARGE),
        ("/twice", twice, "gzip, gzip", Why.UNUSABLE),  # nobody asked for it
    ):
        httpserver.expect_request(path).respond_with_data(body, headers={"Content-Encoding": coding})
        tracemalloc.start()
        assert why(transport, httpserver.url_for(path)) is expected
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 16 * 1024 * 1024, path  # the server's own memory is in it


def test_a_packed_body_that_is_damaged_or_cut_is_no_answer(httpserver: HTTPServer, transport: Transport) -> None:
    whole = gzip.compress(b"here " * 1000, mtime=0)
    damaged = whole[:20] + bytes(byte ^ 255 for byte in whole[20:])
    for path, body in (("/damaged", damaged), ("/cut", whole[:-12]), ("/tail", whole + b"tail"), ("/none", b"here")):
        httpserver.expect_request(path).respond_with_data(body, headers={"Content-Encoding": "gzip"})
        assert why(transport, httpserver.url_for(path)) in (Why.UNUSABLE, Why.CUT), path
    for path, body in (("/whole", whole), ("/two", whole[:] + gzip.compress(b"more")), ("/empty", b"")):
        httpserver.expect_request(path).respond_with_data(body, headers={"Content-Encoding": "gzip"})
        reply = transport.send("GET", httpserver.url_for(path), bounds=BOUNDS, headers={})
        assert reply.body == (gzip.decompress(body) if body else b"")


def test_what_stands_behind_an_answer_is_not_the_next_one() -> None:
    """A 304 has no body; what a server sends behind it must not be read as an answer to another question."""
    late = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
    with Drip(b"HTTP/1.1 304 Not Modified\r\n\r\n" + late) as server:
        made = Transport()
        assert made.send("GET", server.url, bounds=BOUNDS, headers={}).status == 304
        assert why(made, server.url, replace(BOUNDS, answer_seconds=0.3)) in (Why.SLOW, Why.UNREACHABLE)
        made.close()


@pytest.mark.parametrize(
    ("url", "expected"),
    [("https://Me:pw@A.example:8443/x?y", "https://a.example:8443"), ("http://a.example", "http://a.example")],
)
def test_an_origin_is_scheme_and_host_without_a_user(url: str, expected: str) -> None:
    assert origin(url) == expected
