"""One request and its whole answer: what is cut, slow or large is no answer, and nobody's password is sent."""

from __future__ import annotations

import socket
import threading
import time
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


def test_the_wall_clock_counts_from_the_request_on_and_bounds_an_answer_that_drips(transport: Transport) -> None:
    """Headers come late and the body byte by byte: no silence is too long, the whole is."""
    server = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        with server:
            connection, _ = server.accept()
        connection.recv(65536)
        try:
            for piece in (b"HTTP/1.1 200 OK\r\n", b"Content-Length: 99\r\n", b"\r\n", *[b"x"] * 99):
                connection.sendall(piece)
                time.sleep(0.1)
        except OSError:
            pass
        connection.close()

    port = server.getsockname()[1]
    thread = threading.Thread(target=drip)
    thread.start()
    begun = time.monotonic()
    bounds = replace(BOUNDS, silence_seconds=1.0, answer_seconds=0.6)
    assert why(transport, f"http://127.0.0.1:{port}/", bounds) is Why.SLOW
    assert time.monotonic() - begun < 3
    thread.join(15)


@pytest.mark.parametrize(
    ("url", "expected"),
    [("https://Me:pw@A.example:8443/x?y", "https://a.example:8443"), ("http://a.example", "http://a.example")],
)
def test_an_origin_is_scheme_and_host_without_a_user(url: str, expected: str) -> None:
    assert origin(url) == expected
