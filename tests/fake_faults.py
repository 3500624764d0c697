"""What can go wrong with an answer of the stand-in: one row a fault, each a maker of it for any request."""

from __future__ import annotations

import gzip
import json
import random
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from pipeline.providers.github.fetch import client
from tests.fake_github import Asked, FakeGithub, Fault

#: What the stand-in's clock is turned on by in the middle of a slow answer: a little more than an answer may take.
TICK_SECONDS = 3.1
#: What tests and benchmark let a body have in place of 64 MiB: a bomb need not be a large one to be one.
MOST_BYTES = 2 * 1024 * 1024
_BOMB = gzip.compress(bytes(16 * 1024 * 1024))


@dataclass
class Altered(Fault):
    """An answer that is changed before it is sent, or sent in another way."""

    kind: str = "altered"
    value: Callable[[Any], Any] = lambda value: value
    status: int = 0
    headers: Callable[[FakeGithub, Asked], dict[str, str]] = lambda _fake, _asked: {}
    body: Callable[[bytes], bytes] = lambda body: body
    length: Callable[[int], int] = lambda length: length
    pause_after: int = -1  # bytes of the whole answer, status line and all; then the clock is turned on
    pause_in_body: bool = False
    with_body: bool = True
    reset: bool = False
    extra: dict[str, str] = field(default_factory=dict)


def send(handler: Any, fake: FakeGithub, asked: Asked, fault: Altered, answer: tuple[int, dict[str, str], Any]) -> None:
    """Sends the altered answer over the handler's connection."""
    status, headers, value = answer
    body = fault.body(json.dumps(fault.value(value)).encode() if value is not None else b"[]")
    if fault.status:
        status = fault.status
    asked.status = status
    if fault.value is not Altered.value or fault.body is not Altered.body:
        headers = {name: text for name, text in headers.items() if name != "ETag"}
    whole = {
        "Date": formatdate(fake.now(), usegmt=True),
        "Content-Type": "application/json; charset=utf-8",
        "Connection": "close",  # said, since it is: who is not told asks the next question on a line that is going
        **headers,
        **fault.headers(fake, asked),
        "Content-Length": str(max(0, fault.length(len(body)))),
    }
    head = f"HTTP/1.1 {status} Sent\r\n" + "".join(f"{name}: {text}\r\n" for name, text in whole.items()) + "\r\n"
    sent = head.encode("latin-1") + body
    place = len(head) + 1 if fault.pause_in_body else fault.pause_after
    if fault.reset:
        handler.wfile.write(sent[: len(head) + len(body) // 2])
        handler.wfile.flush()
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True
        return
    if place >= 0:
        handler.wfile.write(sent[:place])
        handler.wfile.flush()
        fake.ticks += TICK_SECONDS
        sent = sent[place:]
    handler.wfile.write(sent)
    handler.wfile.flush()
    handler.close_connection = True


def _other_shape(value: Any) -> Any:
    return {"message": "unexpected"} if isinstance(value, list) else [value]


def _one_bad_item(value: Any) -> Any:
    """One item of a list, or one field of an object, is null, missing or of another type."""
    if isinstance(value, list):
        return [*value[:-1], _one_bad_item(value[-1])] if value else value
    if isinstance(value, dict) and isinstance(value.get("data"), dict):
        threads = value["data"]["repository"]["threads"]
        nodes = [*threads["nodes"][:-1], {"number": "7"}]
        return {"data": {"repository": {"threads": {**threads, "nodes": nodes}}}}
    if not isinstance(value, dict):
        return value
    lost = {"title": None, "id": None, "event": None, "full_name": 7, "merged": "perhaps", "updated_at": 12}
    return {name: lost.get(name, inner) for name, inner in value.items() if name not in ("number", "html_url")}


def _twice(value: Any) -> Any:
    return [*value, *value[: len(value) // 2]] if isinstance(value, list) else value


def _own_address(fake: FakeGithub, asked: Asked) -> str:
    return f"http://{fake.host}{asked.path}"


def _next(address: Callable[[FakeGithub, Asked], str]) -> Callable[[FakeGithub, Asked], dict[str, str]]:
    return lambda fake, asked: {"Link": f'<{address(fake, asked)}>; rel="next"'}


#: Name of a fault -> a fault of that kind.
FAULTS: dict[str, Callable[[], Fault]] = {
    "502": lambda: Fault("status", 502),
    "no answer": lambda: Fault("drop"),
    "reset in the body": lambda: Altered(reset=True),
    "cut body": lambda: Fault("cut"),
    "HTML with 200": lambda: Fault("html"),
    "bad JSON": lambda: Fault("garbage"),
    "UTF-16": lambda: Altered(body=lambda body: body.decode().encode("utf-16")),
    "empty body": lambda: Altered(body=lambda _body: b""),
    "another shape": lambda: Altered(value=_other_shape),
    "one bad item": lambda: Altered(value=_one_bad_item),
    "items twice": lambda: Altered(value=_twice),
    "byte-order mark": lambda: Altered(body=lambda body: b"\xef\xbb\xbf" + body),
    "slow body": lambda: Altered(pause_in_body=True),
    "slow headers": lambda: Altered(pause_after=40),
    "slow status line": lambda: Altered(pause_after=4),
    "Date a year ahead": lambda: Altered(
        headers=lambda fake, _asked: {"Date": formatdate(fake.now() + 366 * 86_400, usegmt=True)}
    ),
    "Date an hour ahead": lambda: Altered(
        headers=lambda fake, _asked: {"Date": formatdate(fake.now() + 3_600, usegmt=True)}
    ),
    "next is itself": lambda: Altered(headers=_next(_own_address)),
    "next is the first": lambda: Altered(
        headers=_next(lambda fake, asked: f"http://{fake.host}{asked.path.partition('?')[0]}?per_page=100")
    ),
    "length too long": lambda: Altered(length=lambda length: length + 7),
    "length too short": lambda: Altered(length=lambda length: length - 7),
    "304 with a body": lambda: Altered(status=304),
    "gzip bomb": lambda: Altered(body=lambda _body: _BOMB, headers=lambda _fake, _asked: {"Content-Encoding": "gzip"}),
    "damaged gzip": lambda: Altered(
        body=lambda body: gzip.compress(body)[:18] + b"\xff" * 20,
        headers=lambda _fake, _asked: {"Content-Encoding": "gzip"},
    ),
    "cut gzip": lambda: Altered(
        body=lambda body: gzip.compress(body)[:-9], headers=lambda _fake, _asked: {"Content-Encoding": "gzip"}
    ),
    "429": lambda: Fault("secondary", 429, retry_after="2"),
    "403, a limit": lambda: Fault("secondary", 403),
    "redirects in a ring": lambda: Altered(
        status=302, headers=lambda fake, asked: {"Location": _own_address(fake, asked)}
    ),
}


def at_rate(name: str, rate: float, seed: int) -> Callable[[int, Asked], Fault | None]:
    """The fault of that name on a share of all answers, the same ones for the same seed."""
    chance = random.Random(f"{name} {rate} {seed}")
    return lambda _count, _asked: FAULTS[name]() if chance.random() < rate else None


def of_all(rate: float, seed: int) -> Callable[[int, Asked], Fault | None]:
    """Any of the faults on a share of all answers."""
    chance = random.Random(f"{rate} {seed}")
    names = sorted(FAULTS)
    return lambda _count, _asked: FAULTS[chance.choice(names)]() if chance.random() < rate else None


def small_bodies() -> Any:
    """A context in which no body may be larger than `MOST_BYTES`."""
    from unittest.mock import patch

    return patch.object(client, "MAX_BODY_BYTES", MOST_BYTES)
