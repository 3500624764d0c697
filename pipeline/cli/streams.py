"""The standard streams of the process: one that is closed, or fails, ends every command in the same error of ours.

Otherwise each `print` of each library meets the error in its own way, and Python ends with status 1, with which `match`
says that nobody knows an error.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from pipeline.records.errors import StreamError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

_IN, _OUT, _ERR = range(3)
_READ_BYTES = 1 << 16
_TO_WRITE = "Check free space where the output goes; run again with standard output open: `errmine … > FILE`."
_TO_READ = "Give standard input something to read: `errmine … < FILE`."


class ReaderGone(Exception):
    """Nobody reads standard output any more, as behind `| head`."""


def secure() -> None:
    """Nothing; from here on what is read from and printed to the streams of `sys` raises `ReaderGone` or `StreamError`.

    The descriptors of closed ones are taken: the next file opened would get one, and what is printed would go there.
    A stream that is not the process's own (a notebook's, a test's) stays.
    """
    closed = [sys.__stdin__ is None, sys.__stdout__ is None, sys.__stderr__ is None]
    for _ in range(sum(not _is_open(number) for number in (_IN, _OUT, _ERR))):
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free one
    if sys.stdin is sys.__stdin__:
        sys.stdin = _like(sys.stdin, io.BufferedReader(_Input(_IN, was_closed=closed[_IN])))
    if sys.stdout is sys.__stdout__:
        sys.stdout = _like(sys.stdout, io.BufferedWriter(_Output(_OUT, was_closed=closed[_OUT])))
    if sys.stderr is sys.__stderr__:
        sys.stderr = _like(sys.stderr, io.BufferedWriter(_Silent(_ERR, was_closed=closed[_ERR])))


def needed() -> None:
    """Nothing, if standard input and output are there, for what reads and writes past those of `sys`.

    Raises:
        StreamError: one is closed.
    """
    for stream, name, hint in ((sys.stdin, "input", _TO_READ), (sys.stdout, "output", _TO_WRITE)):
        raw = getattr(getattr(stream, "buffer", None), "raw", None)
        if isinstance(raw, _Raw) and raw.was_closed:
            raise StreamError(f"standard {name} is closed", hint=hint)


def finish() -> None:
    """Nothing; what was printed has left the process.

    Raises:
        ReaderGone: nobody reads it.
        StreamError: it cannot be written.
    """
    sys.stdout.flush()


def drop() -> None:
    """Nothing; what waits to be printed goes nowhere: Python would try it once more, and fail at its end."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Raw):
        raw.was_closed = False
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, _OUT)
        os.close(null)
        finish()


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


class _Raw(io.FileIO):
    """A descriptor of the process; it stays open when this is not needed any more."""

    def __init__(self, number: int, *, was_closed: bool) -> None:
        super().__init__(number, "rb" if number == _IN else "wb", closefd=False)
        self.was_closed = was_closed  # by whoever started the process


class _Input(_Raw):
    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        if self.was_closed:
            raise StreamError("standard input is closed: there is nothing to read", hint=_TO_READ)
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise StreamError(f"standard input cannot be read: {error.strerror}", hint=_TO_READ) from error

    def readall(self) -> bytes:  # FileIO's own goes past `readinto`
        parts: list[bytes] = []
        part = bytearray(_READ_BYTES)
        while count := self.readinto(part):
            parts.append(bytes(part[:count]))
        return b"".join(parts)


class _Output(_Raw):
    def write(self, body: ReadableBuffer, /) -> int | None:  # type: ignore[override]
        if self.was_closed:
            raise StreamError("standard output is closed: nothing can be printed", hint=_TO_WRITE)
        try:
            return super().write(body)
        except BrokenPipeError as error:
            raise ReaderGone from error
        except OSError as error:
            raise StreamError(f"standard output cannot be written: {error.strerror}", hint=_TO_WRITE) from error


class _Silent(_Raw):
    """Standard error: where it takes nothing nobody can be told, and the status tells all the same."""

    def write(self, body: ReadableBuffer, /) -> int | None:  # type: ignore[override]
        with suppress(OSError):
            return super().write(body)
        return memoryview(body).nbytes


def _like(stream: TextIO | None, buffered: io.BufferedReader | io.BufferedWriter) -> TextIO:
    """A text stream over `buffered` with the encoding and the ways of `stream`; plain where that was closed."""
    newline = "\n" if buffered.writable() else None
    if not isinstance(stream, io.TextIOWrapper):
        return io.TextIOWrapper(buffered, encoding="utf-8", errors="backslashreplace", newline=newline)
    if buffered.writable():
        stream.flush()
    return io.TextIOWrapper(
        buffered,
        encoding=stream.encoding,
        errors=stream.errors,
        newline=newline,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
