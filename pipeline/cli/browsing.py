"""Which page on the web tells most of an entry, and the reader's browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pipeline.cli.output import complain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.ask import Digest


def best_page(told: Digest) -> str | None:
    """The address of what helped, else of the official page, else of a suggestion, else of a thread; None without."""
    from pipeline.text import is_web_address

    return next(filter(is_web_address, _pages(told)), None)


def _pages(told: Digest) -> Iterator[str]:
    yield from (said.url for one in told.confirmed for said in one.said)
    yield from filter(None, (told.official_url,))
    yield from (said.url for one in (*told.official, *told.suggested) for said in one.said)
    yield from (said.url for fix in told.fixed_in for said in fix.said)
    yield from (thread.url for thread in told.threads)


def open_in_browser(url: str) -> None:
    """Nothing; the page is open in the reader's browser, where there is one and a person at the terminal."""
    if not sys.stdout.isatty():
        return
    import webbrowser

    if not webbrowser.open(url):
        complain("no browser was found", hint="Open the address above by hand.")
