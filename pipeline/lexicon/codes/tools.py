"""Codes of compilers and of OpenSSL: thousands, listed by nobody here. What the program prints is the code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.lexicon.codes.mention import Mention, Reader, Way

_MSVC = re.compile(r"\b[Ee]rror ((?:C|LNK|MSB)\d{4})\b")
_RUSTC = re.compile(r"\berror\[(E\d{4})\]: ")
#: OpenSSL's reason, as Python prints it.
_SSL = re.compile(r"\[SSL: ([A-Z][A-Z0-9_]{5,60})\]")


def _as_printed(family: str, pattern: re.Pattern[str]) -> Reader:
    def read(text: str) -> Iterator[Mention]:
        for match in pattern.finditer(text):
            yield Mention(f"{family}:{match[1]}", match.start(), match.end(1))

    return read


def ways() -> tuple[Way, ...]:
    """How these tools print their codes. The families of their diagnostics decide, which know more than the code."""
    return (
        Way("msvc", ("error c", "error lnk", "error msb"), _as_printed("msvc", _MSVC)),
        Way("rustc", ("error[e",), _as_printed("rustc", _RUSTC)),
        Way("openssl", ("[ssl: ",), _as_printed("ssl", _SSL)),
    )
