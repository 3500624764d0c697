"""What belongs to one thread besides its main page: timeline, comments, and of a pull request its state and reviews."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pipeline.providers.github.fetch import shapes
from pipeline.providers.github.fetch.conditional_pages import Desk
from pipeline.records import RawPage

#: As many cross-references of one thread as a mark looks at; GraphQL gives the newest ones.
MARKED = 50


def bring(desk: Desk, thread: shapes.Thread) -> tuple[list[RawPage], str | None]:
    """The pages of a thread that raw lacks, its main page excepted, and the mark of its cross-references.

    The mark is None if the timeline, or a page of it, is the one that raw holds. A list is not asked for where an
    answer that we have says that it is empty, and raw holds nothing of it either.
    """
    number, issue = thread.number, f"issues/{thread.number}"
    timeline = desk.collect(number, "timeline", f"{issue}/timeline", shapes.TimelineEvent)
    pages = list(timeline.pages)
    kinds = _kinds(timeline.bodies)
    if thread.comments or "commented" in kinds or _holds(desk, number, "comments"):
        pages += desk.collect(number, "comments", f"{issue}/comments", shapes.Comment).pages
    if thread.pull_request is not None:
        pages += _of_pull(desk, number, kinds)
    return pages, mark(timeline.bodies) if timeline.is_whole else None


def bring_timeline(desk: Desk, number: int) -> tuple[list[RawPage], str | None]:
    """The pages of the timeline alone, and its mark."""
    timeline = desk.collect(number, "timeline", f"issues/{number}/timeline", shapes.TimelineEvent)
    return list(timeline.pages), mark(timeline.bodies) if timeline.is_whole else None


def mark(bodies: Sequence[bytes]) -> str:
    """How many cross-references a timeline has, and when the newest came: what GraphQL tells of it too."""
    times = sorted(
        str(event.get("created_at"))
        for body in bodies
        for event in json.loads(body)
        if isinstance(event, dict) and event.get("event") == "cross-referenced"
    )
    return cross_mark(times)


def cross_mark(times: Sequence[str]) -> str:
    """The mark of cross-references that were made at these times."""
    return f"{min(len(times), MARKED)}:{times[-1] if times else ''}"


def _of_pull(desk: Desk, number: int, kinds: frozenset[str]) -> list[RawPage]:
    pull = f"pulls/{number}"
    page, found = desk.one(number, "pull", pull, shapes.Pull, form="github-thread")
    pages = [page] if page else []
    has_comments = _holds(desk, number, "review-comments")
    if found is not None:
        has_comments = has_comments or found.review_comments > 0
    if "reviewed" in kinds or _holds(desk, number, "reviews"):
        pages += desk.collect(number, "reviews", f"{pull}/reviews", shapes.Review).pages
    if has_comments:
        pages += desk.collect(number, "review-comments", f"{pull}/comments", shapes.ReviewComment).pages
    return pages


def _holds(desk: Desk, number: int, part: str) -> bool:
    return part in desk.held.parts(number)


def _kinds(bodies: Sequence[bytes]) -> frozenset[str]:
    events = (event for body in bodies for event in json.loads(body))
    return frozenset(str(event.get("event")) for event in events if isinstance(event, dict))
