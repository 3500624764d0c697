"""What terminals take for colours and a page shows as letters: `[31m`, where the character that begins it was lost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pipeline.records import Event, Link

#: What stands for the lost character makes a code sure; alone, codes are sure where the text ends one of them too.
_MARKED = r"(?:\ufffd|\^\[|\u241b)\[[0-9;]{0,16}[mK]"
_BARE = r"\[(?:[0-9]|[2-4][0-9]|9[0-7]|10[0-7])(?:;[0-9]{1,3}){0,4}m(?!\])"
_CODE, _MARKED_CODE = re.compile(f"{_MARKED}|{_BARE}"), re.compile(_MARKED)
_BEGINS = re.compile(r"\[(?:[1-9]|[2-4][0-9]|9[0-7])(?:;[0-9]{1,3}){0,4}m(?!\])")
_ENDS = ("[0m", "[39m", "[22m", "[00m")
_MARKS = ("\ufffd[", "^[[", "\u241b[")


def without(text: str, events: Iterable[Event]) -> list[Event]:
    """The events of the text, their words without colours."""
    pattern = _sure(text)
    return [_plain(one, pattern) for one in events] if pattern is not None else [*events]


def _sure(text: str) -> re.Pattern[str] | None:
    """What is surely a colour in the text, None if nothing is."""
    if any(end in text for end in _ENDS) and _BEGINS.search(text) is not None:
        return _CODE
    return _MARKED_CODE if any(mark in text for mark in _MARKS) else None


def _plain(event: Event, pattern: re.Pattern[str]) -> Event:
    if pattern.search(event.detail) is None and pattern.search(event.message) is None:
        return event
    chain = tuple(_link(one, pattern) for one in event.chain)
    message, detail = (pattern.sub("", words).strip() for words in (event.message, event.detail))
    return replace(event, message=message, detail=detail, chain=chain)


def _link(link: Link, pattern: re.Pattern[str]) -> Link:
    return replace(link, message=pattern.sub("", link.message), detail=pattern.sub("", link.detail))
