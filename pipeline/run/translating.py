"""What a home lacks in Chinese, out to translators and back."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from pathlib import Path

from pipeline.records.entry import KnowledgeEntry
from pipeline.run.build.places import Places
from pipeline.run.home import locking, translations
from pipeline.store import reading
from pipeline.translate import exchange


def lacking(places: Places, *, most: int | None = None) -> tuple[str, int, int]:
    """(a PO file, how many texts it has, how many have no Chinese), the most reported first.

    Raises:
        StoreError: there is no database.
    """
    rows = exchange.missing(_entries(places))
    shown = rows[:most]
    return exchange.written(shown), len(shown), len(rows)


def taken_back(places: Places, path: Path) -> list[exchange.Line]:
    """Every translated line of a PO file, accepted or with the reason; what is accepted is kept for the next build.

    Raises:
        ConfigError: it is no PO file, or what was kept before is damaged.
        StoreError: there is no database.
        HomeBusy: another import goes on in the home.
    """
    holder = locking.here(str(uuid.uuid4()), "translate import", now=datetime.now(UTC))
    with locking.sole(places.home, holder, name="lock.translate"):
        return _taken(places, path)


def _taken(places: Places, path: Path) -> list[exchange.Line]:
    known = {row.key: row for row in exchange.missing(_entries(places), also_known=True)}
    lines = exchange.judged(path, known)
    accepted = [line for line in lines if not line.reason]
    rows = [translations.Translated(one.context, one.text, one.chinese, one.documents) for one in accepted]
    if rows:
        translations.add(places.home, rows)
    return lines


def _entries(places: Places) -> list[KnowledgeEntry]:
    return [KnowledgeEntry.model_validate(row) for row in reading.entries(places.database)]
