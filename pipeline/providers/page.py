"""What a saved HTML page says about itself in its head."""

from __future__ import annotations

import re

# How far into a page its head is searched: GitHub's <head> ends before 40 kB in the pages seen.
HEAD_CHARACTERS = 120_000

_HTML = re.compile(r"\s*(?:<!--[^>]{0,2000}-->\s*)?<(?:!doctype html|html|head)\b", re.IGNORECASE)
_CANONICAL = (
    re.compile(r'<link[^>]{0,200}rel="canonical"[^>]{0,200}href="([^"]{1,500})"'),
    re.compile(r'<meta[^>]{0,200}property="og:url"[^>]{0,200}content="([^"]{1,500})"'),
    re.compile(r"saved from url=\(\d{1,6}\)(\S{1,500})"),
)


def is_html(text: str) -> bool:
    """True for a page of HTML."""
    return bool(_HTML.match(text))


def canonical_url(head: str) -> str | None:
    """The address that a page of HTML gives as its own."""
    return next((match[1] for pattern in _CANONICAL if (match := pattern.search(head))), None)
