"""That a list which is read page by page comes to an end: no address twice, no row of pages without news, a cap."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from pipeline.records.errors import SourceChanged

#: Pages of a repository's listing: a million threads; the largest repositories have some 300,000.
MOST_PAGES = 10_000
#: Pages of one list of one thread: 100,000 comments; GitHub takes 2,500.
MOST_PART_PAGES = 1_000
# A page may be empty where GitHub hides what it would list; ten in a row were never seen.
MOST_BARREN = 10


class Paging:
    """The way through one list."""

    def __init__(self, first: str, *, most_pages: int = MOST_PAGES) -> None:
        self._first, self._most_pages = first, most_pages
        self._addresses, self._items = {first}, set[bytes]()
        self._pages = self._barren = 0

    def has(self, address: str | None) -> bool:
        """True if the way led there already."""
        return address in self._addresses

    def check(self, following: str | None) -> None:
        """Returns if the way may go on there.

        Raises:
            SourceChanged: it was there already.
        """
        if self.has(following):
            raise SourceChanged(f"{self._first}: its pages lead round in circles", url=self._first)

    def follow(self, following: str | None, items: Iterable[bytes] | None) -> None:
        """Goes on to `following` from a page with these items; None: it is the page that is known already.

        Raises:
            SourceChanged: the pages bring nothing new any more, or there are too many.
        """
        self._pages += 1
        if following is None:
            return
        fresh = None if items is None else {hashlib.sha256(item).digest() for item in items} - self._items
        self._items |= fresh or set()
        self._barren = self._barren + 1 if fresh is not None and not fresh else 0
        if self._barren >= MOST_BARREN or self._pages >= self._most_pages:
            what = "bring nothing new" if self._barren >= MOST_BARREN else "do not end"
            raise SourceChanged(f"{self._first}: its pages {what} ({self._pages} were read)", url=self._first)
        self.check(following)
        self._addresses.add(following)
