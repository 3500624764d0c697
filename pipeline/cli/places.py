"""Where a bundle is that a command was given: a folder, or an address of an object store."""

from __future__ import annotations

from pathlib import Path

from pipeline.records.leaves import is_remote


def bundle_at(place: str) -> Path:
    """The folder of the bundle at `place`; into that of one in a store what is asked of it is brought."""
    if not is_remote(place):
        return Path(place)
    from pipeline.export.remote import local  # imports what exports need: a fifth of a second

    return local(place)
