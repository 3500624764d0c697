"""Which JSON is GitHub's: events of GH Archive, posts, threads, timelines. From content alone.

What `gh issue view --json …` and its kin print has other names for what the REST API calls otherwise; `as_rest` gives
it the API's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.providers.provider import Place, Rules, thread_key, unknown_key

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
#: The one API of which it is known whose web site has its threads: an Enterprise server may have them anywhere.
_NAMED_API = re.compile(r"https?://api\.github\.com/repos/", re.IGNORECASE)


#: The page of a release.
RELEASE_URL = re.compile(
    r"https?://(?P<host>[A-Za-z0-9.-]{1,253}(?::\d{1,5})?)/(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})/releases/tag/[^\s<>\"']{1,300}\Z",
    re.ASCII,
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


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


def event(value: Mapping[str, object], sha256: str) -> tuple[Place, ...] | str | None:
    """GH Archive: the issue and the comment of one event share its line."""
    payload, name = value.get("payload"), value.get("type")
    if not isinstance(payload, dict) or not isinstance(name, str) or not name.endswith("Event"):
        return None
    whole = payload.get("issue") or payload.get("pull_request")
    if not isinstance(whole, dict):
        return "event_without_thread"
    key = _key(whole)
    if key is None:
        return "event_without_thread"
    found: list[Place] = []
    # Since October 2025 the Events API cuts pull requests down to their numbers: such a stub must not hide a whole one.
    if isinstance(whole.get("title"), str):
        main = "pull" if "pull_request" in payload else "main"
        found.append(Place("gharchive-thread", key, main, _version(whole, "created_at"), _page(whole, key)))
    for part in ("comment", "review"):
        said = payload.get(part)
        if isinstance(said, dict) and isinstance(said.get("id"), int):
            kind = "review-comment" if part == "comment" and "pull_request_url" in said else part
            place = Place(
                f"gharchive-{part}",
                key,
                f"{kind}:{said['id']}",
                _version(said, "created_at", "submitted_at"),
                _page(said, key),
            )
            found.append(place)
    return tuple(found) or "event_without_thread"


def post(value: Mapping[str, object], sha256: str) -> tuple[Place, ...] | None:
    """A comment, a review or a review comment as its own object: it names its thread by an API URL."""
    key = thread_key(value.get("issue_url")) or thread_key(value.get("pull_request_url"))
    if key is None or "title" in value or not isinstance(value.get("id"), int):
        return None
    if "issue_url" in value:
        kind = "comment"
    elif "diff_hunk" in value or "pull_request_review_id" in value:
        kind = "review-comment"
    else:
        kind = "review"
    version = _version(value, "created_at", "submitted_at")
    return (Place(f"github-{kind}", key, f"{kind}:{value['id']}", version, _page(value, key)),)


def release(value: Mapping[str, object], sha256: str) -> tuple[Place, ...] | None:
    """A release as REST gives it; a draft has no date of publication and is none."""
    number, url = value.get("id"), _string(value.get("html_url"))
    found = RELEASE_URL.match(url or "")
    if found is None or not isinstance(value.get("tag_name"), str) or not isinstance(value.get("published_at"), str):
        return None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        return None
    key = f"{found['host']}/{found['repo']}/releases/{number}".lower()
    return (Place("github-release", key, "main", _version(value, "created_at", "published_at"), url),)


def thread(value: Mapping[str, object], sha256: str) -> tuple[Place, ...] | None:
    """An issue or a pull request, as REST or `gh` gives it or with its comments inside."""
    if not isinstance(value.get("title"), str):
        return None
    value = as_rest(value)
    key = _key(value) or _named_thread(value)
    if key is None and not ({"body", "comments"} & value.keys() and {"state", "created_at", "labels"} & value.keys()):
        return None
    part = "pull" if isinstance(value.get("head"), dict) and isinstance(value.get("base"), dict) else "main"
    version = _version(value, "created_at", "closed_at")
    return (Place("github-thread", key or unknown_key(sha256), part, version, _page(value, key)),)


def _key(value: Mapping[str, object]) -> str | None:
    """The key of a thread that gives an address: that of GitHub's own API counts before the page that it names."""
    api, page = thread_key(value.get("url")), thread_key(value.get("html_url"))
    is_named = _NAMED_API.match(_string(value.get("url")) or "") is not None
    return (api or page) if is_named else (page or api)


def _page(value: Mapping[str, object], key: str | None) -> str | None:
    """The page that an object names as its own; None if it is one of another thread or host."""
    url = _string(value.get("html_url"))
    return url if key is None or thread_key(url) == key else None


def _named_thread(value: Mapping[str, object]) -> str | None:
    """The key of a thread that gives its repository and number but no URL."""
    repo, number = value.get("repo"), value.get("number")
    api = value.get("repository_url")
    if isinstance(api, str) and isinstance(number, int):
        return thread_key(f"{api}/issues/{number}")
    if isinstance(repo, str) and repo.count("/") == 1 and isinstance(number, int) and not isinstance(number, bool):
        return thread_key(f"https://github.com/{repo}/issues/{number}")
    return None


def answer(value: Mapping[str, object]) -> str | None:
    """The field of an answer of the search API that holds what was found."""
    is_answer = isinstance(value.get("items"), list) and isinstance(value.get("total_count"), int)
    return "items" if is_answer else None


def timeline(value: list[object], sha256: str) -> tuple[Place, ...] | None:
    """A list kept whole: the timeline of one thread, which names itself in one of its comments."""
    if not is_timeline(value):
        return None
    events = [item for item in value if isinstance(item, dict)]
    for item in events:
        key = thread_key(item.get("issue_url"))
        if key:
            version = max((_version(each, "created_at", "submitted_at") for each in events), default="")
            return (Place("github-timeline", key, "timeline", version, None),)
    return ()


def is_timeline(value: list[object]) -> bool:
    """True for a list of timeline events, which only together tell whose timeline it is."""
    return bool(value) and all(isinstance(item, dict) and isinstance(item.get("event"), str) for item in value)


def _version(value: Mapping[str, object], *names: str) -> str:
    """The greatest time that `value` itself states; a thread without `updated_at` is as new as its last word."""
    updated = value.get("updated_at")
    if isinstance(updated, str) and updated:
        return updated
    times = [value.get(name) for name in names]
    comments = value.get("comments")
    if isinstance(comments, list):
        times += [comment.get("created_at") for comment in comments if isinstance(comment, dict)]
    return max((time for time in times if isinstance(time, str) and _DAY.match(time)), default="")


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


RULES = Rules(json=(event, post, release, thread), lists=(timeline,), wrappers=(answer,))
