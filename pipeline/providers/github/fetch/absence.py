"""What became of a thread that is no longer there: moved, deleted, or out of our sight. Kept as a page of its own."""

from __future__ import annotations

import hashlib
import json

from pipeline.providers.github.fetch import shapes
from pipeline.providers.github.fetch.answers import Answer, Refused
from pipeline.providers.github.fetch.conditional_pages import Desk
from pipeline.providers.provider import thread_key
from pipeline.records import RawPage
from pipeline.records.errors import SourceChanged

FORM = "github-tombstone"
PART = "tombstone"
#: What a status says about a thread that raw holds.
_STATES = {404: "gone_or_private", 410: "deleted", 451: "blocked"}
#: The page that takes a tombstone back.
RETURNED = b'{"state":"returned"}'


def look(desk: Desk, number: int) -> tuple[RawPage | None, Answer | None]:
    """The tombstone of a thread that is away, or the answer in which it lives on.

    Raises:
        Refused: for another reason than absence.
        SourceUnreachable, SourceChanged: nothing could be learnt.
    """
    url = desk.path(f"issues/{number}")

    def check(answer: Answer) -> None:
        found = thread_key(shapes.one(shapes.Thread, answer.body, answer.url).html_url)
        if found != desk.key(number) and (found is None or answer.final_url == answer.url):
            raise SourceChanged(f"{url}: answers with another thread, {found}", url=url)

    try:
        answer = desk.client.get(url, check=check)
    except Refused as error:
        if error.status not in _STATES:
            raise
        return _tombstone(desk, number, {"state": _STATES[error.status], "status": error.status}), None
    key = thread_key(shapes.one(shapes.Thread, answer.body, answer.url).html_url)
    if key != desk.key(number):
        return _tombstone(desk, number, {"state": "transferred", "status": 301, "to": key}), None
    return None, answer


def returned(desk: Desk, number: int, answer: Answer) -> RawPage | None:
    """The page that says that a thread is there again, None if it never was away."""
    held = desk.held.parts(number).get(PART)
    if held is None:
        return None
    return desk.page(number, PART, RETURNED, form=FORM, answer=answer)


def is_buried(desk: Desk, number: int) -> bool:
    """True if raw says already that the thread is away."""
    held = desk.held.parts(number).get(PART)
    return held is not None and held[1] != hashlib.sha256(RETURNED).hexdigest()


def _tombstone(desk: Desk, number: int, value: dict[str, object]) -> RawPage | None:
    body = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return desk.page(number, PART, body, form=FORM, answer=desk.client.unanswered(desk.path(f"issues/{number}")))


def moved(desk: Desk, number: int, to: str) -> RawPage | None:
    """The tombstone of a thread whose whole repository has another name now."""
    return _tombstone(desk, number, {"state": "transferred", "status": 301, "to": to})
