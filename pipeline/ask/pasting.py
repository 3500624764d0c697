"""How much of a text is read: all of a log as people have them, the first and the last of one that never ends.

What ended a program stands at the end of its log, what began the trouble often at its beginning;
the middle is left out.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.text import safe

#: Bytes of a log that are read. A CI log of 50 MB takes 1.3 s and 210 MiB, so it is read whole.
MOST_BYTES = 64 << 20
#: Of them the first; the others are the last.
FIRST_BYTES = 16 << 20
_CHUNK_BYTES = 1 << 20
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Gap:
    """What was left out of a text."""

    at: int  # offset in the text as read and made safe: everything from there on stood behind the gap
    bytes: int
    lines: int
    after_line: int

    def __str__(self) -> str:
        return f"{self.bytes:,} bytes behind line {self.after_line:,} ({self.lines:,} lines) were left out"

    def line(self, number: int) -> int:
        """The line of the log that is line `number` of the text as read; the gap itself is an empty line."""
        return number if number <= self.after_line else number - 1 + self.lines


@dataclass(frozen=True, slots=True)
class Pasted:
    """A text as it was read; `gap` is what was left out, None where it is whole."""

    text: str
    gap: Gap | None = None

    def line(self, number: int) -> int:
        """The line of the log that is line `number` of the text."""
        return self.gap.line(number) if self.gap else number


def pasted(stream: BinaryIO, *, most: int = MOST_BYTES, first: int = FIRST_BYTES) -> Pasted:
    """What is read of `stream`, in memory of `most` bytes and their text; what is no UTF-8 becomes U+FFFD.

    UTF-16 with its mark, as PowerShell's `>` writes it, is read as such; its bytes are counted as UTF-8 has them.
    """
    head, read = _begun(stream, first)
    chunks: deque[bytes] = deque()
    kept = dropped = lines = 0
    while chunk := read(_CHUNK_BYTES):
        chunks.append(chunk)
        kept += len(chunk)
        while kept - len(chunks[0]) >= most - first:
            gone = chunks.popleft()
            kept -= len(gone)
            dropped += len(gone)
            lines += gone.count(b"\n")
    tail = b"".join(chunks)
    if not dropped:
        return Pasted((head + tail).decode("utf-8", "replace"))
    return _with_gap(head, tail, dropped, lines)


def _begun(stream: BinaryIO, first: int) -> tuple[bytes, Callable[[int], bytes]]:
    """The first bytes of a stream, and what reads the others: both as UTF-8 has them if the stream is of UTF-16."""
    head = stream.read(first)
    # of two bytes for a blank, a letter of a program or the end of a line one is nought
    if not head.startswith(_UTF16) or b"\0" not in head:
        return head, stream.read
    decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read(size: int) -> bytes:
        data = stream.read(size)
        return decoder.decode(data, final=not data).encode()

    return decoder.decode(head).encode(), read


def _with_gap(head: bytes, tail: bytes, dropped: int, lines: int) -> Pasted:
    """Both parts in whole lines, with an empty line between them: no message goes on across it."""
    end = head.rfind(b"\n") + 1 or len(head)
    begin = tail.find(b"\n") + 1
    dropped += len(head) - end + begin
    lines += head.count(b"\n", end) + tail.count(b"\n", 0, begin)
    before = head[:end].decode("utf-8", "replace")
    before += "\n" * (not before.endswith("\n"))
    seen = safe(before)
    gap = Gap(at=len(seen) + 1, bytes=dropped, lines=lines, after_line=seen.count("\n"))
    return Pasted(f"{before}\n{tail[begin:].decode('utf-8', 'replace')}", gap)
