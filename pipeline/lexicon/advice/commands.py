"""Where commands begin in prose, and which of them a parse from further in front has read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.lexicon.advice.spelling import folded
from pipeline.lexicon.advice.tables import heads

_WORD = re.compile(r"[^\s|;&()<>]+|(?<=[(;|&])\s*\)")
#: A variable or a substitution as a command, or what is set for later ones.
_COMPUTED = re.compile(r"[\"'`]?\$[({'\w]|[A-Za-z_]\w*=")
_OPENED = re.compile(r"(?:\w{1,20}\s?\(\)\s{0,2})?(?:[({]\s{0,4}){1,8}$")
#: What ends a command.
_BETWEEN = re.compile(r"[;|&\n`(){}]")
_BEFORE = 40
_MARKS = "`*!%:"


def begins(piece: str, *, is_code: bool) -> Iterator[int]:
    """Where commands may begin: a piece of code, a word that names a judged program, a word that is computed."""
    if is_code:
        yield 0
    last = -1  # where the last named program stands
    for found in _WORD.finditer(piece):
        word = found[0]
        is_named = folded(word) in heads()
        is_computed = not is_named and _COMPUTED.match(piece, found.start()) is not None
        if is_computed and last >= 0 and not _BETWEEN.search(piece, last, found.start()):
            continue  # a word of the command before
        last = found.start() if is_named else last
        if is_named or is_computed:
            opened = _OPENED.search(piece, max(0, found.start() - _BEFORE), found.start())
            if opened is not None:
                yield opened.start()
            bare = word.lstrip(_MARKS)
            is_open = bare[:1] in ("'", '"') and bare.count(bare[0]) == 1  # the quotes are around more than the word
            yield found.start() + len(word) - len(bare) + is_open


def places(code: str, start: int, offsets: set[int]) -> set[int]:
    """Places in the whole text of what stands so many bytes behind the begin of `code`, which is at `start`."""
    if code.isascii():
        return {start + offset for offset in offsets}
    raw = code.encode("utf-8", "replace")
    return {start + len(raw[:offset].decode("utf-8", "ignore")) for offset in offsets}


def closed(code: str) -> str:
    """`code` without the last of an odd number of backticks: it is Markdown's, and would hide what follows."""
    if code.count("`") % 2:
        before, _, after = code.rpartition("`")
        return before + " " + after
    return code
