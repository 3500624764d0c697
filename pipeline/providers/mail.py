"""Posts that came by mail: the quoted tail repeats what stands above it, and names people. It is dropped."""

from __future__ import annotations

import re

_WROTE = re.compile(
    r"^[ \t]{0,8}(?:On\b[^\n]{5,200}(?:\n[^\n]{0,200})?\bwrote:|在\s?[^\n]{5,200}写道[:：])[ \t]*$", re.MULTILINE
)
_TAIL = re.compile(
    r"^[ \t>]{0,8}(?:(?:—|--|-)?[ \t]?\n[ \t>]{0,8})?(?:You are receiving this because|Reply to this email directly)",
    re.MULTILINE,
)

#: Where none of these stands in a text, :func:`without_reply` leaves it and every part of it alone.
SIGNS = (" wrote:", "You are receiving this because", "Reply to this email", "写道")


def without_reply(text: str) -> str:
    """`text` without the mail that it answers and without the notification's last lines.

    An answer written below its quotation stays, if the quotation is marked with ">".
    """
    if not any(sign in text for sign in SIGNS):
        return text
    tail = _TAIL.search(text)
    if tail:
        text = text[: tail.start()]
    kept: list[str] = []
    position = 0
    for match in _WROTE.finditer(text):
        if match.start() < position:
            continue
        kept.append(text[position : match.start()])
        position = _after_quotation(text, match.end())
    kept.append(text[position:])
    return "".join(kept).rstrip() if len(kept) > 1 or tail else text


def _after_quotation(text: str, position: int) -> int:
    """Where the block of ">" lines ends that begins at `position`; the end of the text if nothing is marked."""
    end = position
    marked = False
    while end < len(text):
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end + 1
        line = text[end:line_end].strip()
        if line.startswith(">"):
            marked = True
        elif line:
            break
        end = line_end
    return end if marked else len(text)
