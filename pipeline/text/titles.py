"""What stands behind a message in the title of an error, and the message alone."""

from __future__ import annotations

import re

#: Behind a message that does not stand for all others: too few of its words are theirs.
SEVERAL = "(one of several)"
_BEHIND = re.compile(rf"(?: \(in \S{{2,120}}\))?(?: {re.escape(SEVERAL)})?\Z")


def titled(message: str, *, place: str = "", is_one_of_several: bool = False) -> str:
    """A message with the function that tells which error it is, if one does, and that others say it otherwise."""
    behind = (f"(in {place})" if place else "", SEVERAL if is_one_of_several else "")
    return " ".join(filter(None, (message, *behind)))


def bare(title: str) -> str:
    """The message alone: what `titled` put behind it is no word of it."""
    return _BEHIND.sub("", title, count=1)
