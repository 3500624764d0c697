"""Connections none of whose waits goes beyond a deadline.

The timeouts of requests and urllib3 begin anew with each byte, so that a server which drips, in its headers too, would
hold us for ever. Here every wait of a connection, for an address, for TLS, to send, to read headers or a body, is cut
to what is left of one deadline. That needs no thread that shuts sockets from outside: a connection that is not made yet
is bounded too, and the clock can be a test's. Only the look-up of a name cannot be bounded so: it is waited for from
outside, and left behind in its thread.
"""

from __future__ import annotations

import io
import math
import queue
import socket
import threading
from collections.abc import Callable
from functools import partial
from http.client import HTTPResponse
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import allowed_gai_family


class Deadline:
    """When the answer that is being asked for must be there; a connection asks before each wait."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = self._silence = math.inf

    def begin(self, seconds: float, *, silence_seconds: float) -> None:
        """The next answer must be there within `seconds`, and never pause for longer than `silence_seconds`."""
        self._until = self._clock() + seconds
        self._silence = silence_seconds

    def is_over(self) -> bool:
        """True if no more may be waited for."""
        return self._clock() >= self._until

    def left(self, most: float | None = None) -> float:
        """Seconds that the next wait may take: `most`, or a silence, or what is left if that is less.

        Raises:
            TimeoutError: nothing is left.
        """
        left = min(self._until - self._clock(), self._silence if most is None else most)
        if left <= 0:
            raise TimeoutError("the whole answer takes longer than it may")
        return left


class _Timed(io.RawIOBase):
    """What a socket gives, each wait for more of it cut to what is left."""

    def __init__(self, raw: io.RawIOBase, sock: Any, deadline: Deadline) -> None:
        self._raw, self._sock, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        """True: it is a stream to read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """The number of bytes that came, 0 at the end."""
        self._sock.settimeout(self._deadline.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Lets go of the socket."""
        if not self.closed:
            self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """An answer whose status line, headers, chunk sizes and body are all read through :class:`_Timed`."""

    def __init__(self, deadline: Deadline, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp: Any = io.BufferedReader(_Timed(self.fp.detach(), sock, deadline))


class _Bounded(HTTPConnection):
    """A connection none of whose waits goes beyond the deadline."""

    deadline: Deadline

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.response_class: Any = partial(_TimedResponse, self.deadline)

    def _new_conn(self) -> socket.socket:
        """A connection to the first address that answers, as urllib3 makes it."""
        try:
            return self._connected(_addresses(self._dns_host, self.port, self.deadline.left()))
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"connecting to {self.host}: {error}") from error
        except (OSError, UnicodeError) as error:
            raise NewConnectionError(self, f"connecting to {self.host}: {error}") from error

    def _connected(self, addresses: list[Any]) -> socket.socket:
        failed: OSError = OSError("the name has no address")
        for family, kind, protocol, _, address in addresses:
            made = socket.socket(family, kind, protocol)
            try:
                for option in self.socket_options or ():
                    made.setsockopt(*option)
                made.settimeout(self.deadline.left(self.timeout))
                made.connect(address)
                made.settimeout(self.deadline.left(self.timeout))  # of the whole handshake, if TLS comes next
            except OSError as error:
                made.close()
                failed = error
            else:
                return made
        raise failed

    def send(self, data: Any) -> None:
        """Sends a piece of the request."""
        if self.sock is not None:
            self.sock.settimeout(self.deadline.left())
        super().send(data)


class BoundedAdapter(HTTPAdapter):
    """The connections of requests, each of them bounded; directly or through a proxy of the environment."""

    def __init__(self, deadline: Deadline) -> None:
        plain = type("_Plain", (_Bounded,), {"deadline": deadline})
        tls = type("_Tls", (_Bounded, HTTPSConnection), {"deadline": deadline})
        self._pools = {
            "http": type("_PlainPool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
            "https": type("_TlsPool", (HTTPSConnectionPool,), {"ConnectionCls": tls}),
        }
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Makes the pools of direct connections."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """The pools of connections through `proxy`."""
        manager = super().proxy_manager_for(proxy, **kwargs)
        if not proxy.lower().startswith("socks"):  # PySocks connects by itself, and is no dependency
            manager.pool_classes_by_scheme = self._pools
        return manager


def _addresses(host: str, port: int, seconds: float) -> list[Any]:
    """The addresses of a host, as `socket.getaddrinfo` gives them.

    The C library's look-up knows no deadline and cannot be broken off: its thread ends when /etc/resolv.conf says.

    Raises:
        OSError, UnicodeError: there are none; TimeoutError: nothing is known after `seconds`.
    """
    found: queue.SimpleQueue[list[Any] | OSError | UnicodeError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found.put(list(socket.getaddrinfo(host.strip("[]"), port, allowed_gai_family(), socket.SOCK_STREAM)))
        except (OSError, UnicodeError) as error:
            found.put(error)

    threading.Thread(target=look_up, daemon=True, name="look-up").start()
    try:
        answer = found.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError("the look-up of the name takes longer than it may") from None
    if isinstance(answer, list):
        return answer
    raise answer
