"""A site shown on this machine: 127.0.0.1 and nowhere else, files only, with the headers that a page asks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pipeline.records.errors import ConfigError

HOST = "127.0.0.1"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # the folder is exchanged while it is shown
}
_TYPES = {".pagefind": "application/wasm", ".js": "text/javascript", ".json": "application/json"}


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | _TYPES

    def end_headers(self) -> None:
        """The headers, and those that every answer has."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def list_directory(self, path: object) -> None:
        """Nothing: what lies in a folder is not told."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The site's own page where there is none."""
        page = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def guess_type(self, path: object) -> str:
        """The type of a file; what is text says that it is UTF-8."""
        kind = super().guess_type(str(path))
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def log_message(self, *_args: object) -> None:
        """Nothing: the terminal is not a log."""


@contextmanager
def server(folder: Path, port: int) -> Iterator[ThreadingHTTPServer]:
    """A server of `folder`; port 0 takes any that is free. Call its `serve_forever`.

    Raises:
        ConfigError: the port is taken.
    """
    try:
        made = ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        message = f"cannot listen on {HOST}:{port}: {error.strerror}"
        raise ConfigError(message, hint="Give another --port, or 0 for any.") from error
    with made:
        yield made
