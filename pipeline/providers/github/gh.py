"""What `gh issue view --json …` and its kin print, under the names that GitHub's REST API has for the same things."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.providers.provider import thread_key

JsonObject = Mapping[str, object]

_REST = {
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "closedAt": "closed_at",
    "mergedAt": "merged_at",
    "authorAssociation": "author_association",
    "stateReason": "state_reason",
    "isDraft": "draft",
    "author": "user",
}
_REACTIONS = {"THUMBS_UP": "+1", "THUMBS_DOWN": "-1"}
_COMMENT = re.compile(r"#issuecomment-(\d{1,18})\Z", re.ASCII)
_API = re.compile(r"https?://[^/]+/(?:api/v3/)?repos/")


def as_rest(value: JsonObject) -> JsonObject:
    """A thread by REST's names, with the comments that it holds; what is of REST is given back as it is."""
    comments = value.get("comments")
    held = [item for item in comments if isinstance(item, dict)] if isinstance(comments, list) else []
    if value.keys().isdisjoint(_REST) and all(item.keys().isdisjoint(_REST) for item in held):
        return value
    named = _named(value)
    if value.get("state") == "MERGED":
        named |= {"state": "closed", "merged": True}
    if held:
        named["comments"] = [_comment(item) for item in held]
    return named


def _named(value: JsonObject) -> dict[str, object]:
    """The object with REST's names beside its own; what it says under REST's own stays."""
    named = {_REST[name]: said for name, said in value.items() if name in _REST} | dict(value)
    url = value.get("url")
    if isinstance(url, str) and thread_key(url) and not _API.match(url):
        named.setdefault("html_url", url)
    groups = value.get("reactionGroups")
    if isinstance(groups, list):
        named.setdefault("reactions", dict(filter(None, map(_reaction, groups))))
    return named


def _comment(value: JsonObject) -> dict[str, object]:
    """A comment with the number that its address ends in: by it the same comment is known in other pages."""
    named = _named(value)
    number = _COMMENT.search(str(named.get("html_url") or ""))
    return named if isinstance(value.get("id"), int) or number is None else {**named, "id": int(number[1])}


def _reaction(group: object) -> tuple[str, object] | None:
    users = group.get("users") if isinstance(group, dict) else None
    if not isinstance(group, dict) or not isinstance(users, dict):
        return None
    name = _REACTIONS.get(str(group.get("content")))
    return (name, users.get("totalCount")) if name else None
