"""The bundle that a server answers from: opened again when another takes its place, and asked by one at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.api import Bundle, open_bundle
from pipeline.records import kept


class Library:
    """A bundle for many questions."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._bundle = open_bundle(folder)
        self._seen = _stamp(self._bundle)

    @contextmanager
    def bundle(self) -> Iterator[Bundle]:
        """The bundle of now, for this thread alone: a match is work for the processor, two at a time are no quicker.

        Raises:
            ExportError: there is none any more, or it cannot be read.
        """
        with self._lock:
            if _stamp(self._bundle) != self._seen:
                self._bundle = open_bundle(self._folder)
                self._seen = _stamp(self._bundle)
            yield self._bundle


def _stamp(bundle: Bundle) -> tuple[int, int, int] | None:
    """What changes when another bundle takes the folder: its manifest is written last."""
    try:
        told = (bundle.folder / kept.MANIFEST).stat()
    except OSError:
        return None
    return told.st_mtime_ns, told.st_ino, told.st_size
