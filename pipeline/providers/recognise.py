"""What a piece of content is: its form, the document that it belongs to, its part and version. From content alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipeline.providers.saved import recognise as saved_page

_THREAD_URL = re.compile(
    r"https?://([A-Za-z0-9.-]{1,253}(?::\d{1,5})?)/(?:api/v3/)?(?:repos/)?"
    r"([A-Za-z0-9_.-]{1,100})/([A-Za-z0-9_.-]{1,100})/(?:issues|pulls?)/(\d{1,10})(?![\w.])"
)
_XLA_CODE = re.compile(r"E\d{4}")
_XLA_PAGE_FILE = re.compile(r"docs/errors/(error_\d{4})\.md")

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page belongs; the fields are those of :class:`pipeline.records.RawPage`."""

    form: str
    document_key: str
    part: str
    version_at: str
    url: str | None


def unknown_key(sha256: str) -> str:
    """The document key of a page that does not say where it comes from."""
    return f"page:{sha256[:16]}"


def thread_key(url: object) -> str | None:
    """`host/owner/repo#number`, lower case, of the web or API URL of a thread; None if it is no such URL."""
    match = _THREAD_URL.match(url) if isinstance(url, str) else None
    if match is None:
        return None
    host, owner, repo, number = match.groups()
    host = "github.com" if host.lower() in ("api.github.com", "www.github.com") else host.lower()
    return f"{host}/{owner.lower()}/{repo.lower()}#{int(number)}"


def places(value: object, sha256: str) -> tuple[Place, ...] | str:
    """The places that a JSON value takes (an event of GH Archive takes two), or the reason why it takes none."""
    if isinstance(value, list):
        return _timeline(value, sha256)
    if not isinstance(value, dict):
        return "unknown_json"
    for rule in _RULES:
        found = rule(value, sha256)
        if found is not None:
            return found
    return "unknown_json"


def text_place(text: str, sha256: str) -> Place | str:
    """The place that a page of text takes, or the reason why it takes none."""
    found = saved_page.recognise(text)
    if isinstance(found, str):
        return found
    key = thread_key(found.url) or saved_page.docs_key(found.url) or unknown_key(sha256)
    part = found.part
    if found.form == "xla-md" and "/errors/error_" in key and not found.version_at:
        # A file does not say how new it is: all versions are kept, and the page's history tells which one holds.
        part = f"{part}:{sha256[:16]}"
    return Place(found.form, key, part, found.version_at, found.url)


def _version(value: JsonObject, *names: str) -> str:
    """The greatest time that `value` itself states; a thread without `updated_at` is as new as its last word."""
    updated = value.get("updated_at")
    if isinstance(updated, str) and updated:
        return updated
    times = [value.get(name) for name in names]
    comments = value.get("comments")
    if isinstance(comments, list):
        times += [comment.get("created_at") for comment in comments if isinstance(comment, dict)]
    return max((time for time in times if isinstance(time, str)), default="")


def _event(value: JsonObject, sha256: str) -> tuple[Place, ...] | str | None:
    """GH Archive: the issue and the comment of one event share its line."""
    payload, event = value.get("payload"), value.get("type")
    if not isinstance(payload, dict) or not isinstance(event, str) or not event.endswith("Event"):
        return None
    thread = payload.get("issue") or payload.get("pull_request")
    if not isinstance(thread, dict):
        return "event_without_thread"
    key = thread_key(thread.get("html_url")) or thread_key(thread.get("url"))
    if key is None:
        return "event_without_thread"
    found: list[Place] = []
    # Since October 2025 the Events API cuts pull requests down to their numbers: such a stub must not hide a whole one.
    if isinstance(thread.get("title"), str):
        url = thread.get("html_url")
        part = "pull" if "pull_request" in payload else "main"
        found.append(Place("gharchive-thread", key, part, _version(thread, "created_at"), _string(url)))
    for name in ("comment", "review"):
        post = payload.get(name)
        if isinstance(post, dict) and isinstance(post.get("id"), int):
            kind = "review-comment" if name == "comment" and "pull_request_url" in post else name
            place = Place(
                f"gharchive-{name}",
                key,
                f"{kind}:{post['id']}",
                _version(post, "created_at", "submitted_at"),
                _string(post.get("html_url")),
            )
            found.append(place)
    return tuple(found) or "event_without_thread"


def _entry(value: JsonObject, sha256: str) -> tuple[Place, ...] | None:
    """A knowledge entry made elsewhere: a signature, and what to do about it."""
    knows = {"root_cause", "workarounds", "dead_ends", "regex", "verification_tier", "evidence_count"} & value.keys()
    if not isinstance(value.get("signature"), str) or len(knows) < 2:
        return None
    version = value.get("last_updated")
    return (Place("entry", unknown_key(sha256), "main", version if isinstance(version, str) else "", None),)


def _post(value: JsonObject, sha256: str) -> tuple[Place, ...] | None:
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
    return (Place(f"github-{kind}", key, f"{kind}:{value['id']}", version, _string(value.get("html_url"))),)


def _thread(value: JsonObject, sha256: str) -> tuple[Place, ...] | None:
    """An issue or a pull request, as REST gives it or with its comments inside."""
    if not isinstance(value.get("title"), str):
        return None
    key = thread_key(value.get("html_url")) or thread_key(value.get("url")) or _named_thread(value)
    if key is None and not ({"body", "comments"} & value.keys() and {"state", "created_at", "labels"} & value.keys()):
        return None
    part = "pull" if isinstance(value.get("head"), dict) and isinstance(value.get("base"), dict) else "main"
    version = _version(value, "created_at", "closed_at")
    return (Place("github-thread", key or unknown_key(sha256), part, version, _string(value.get("html_url"))),)


def _named_thread(value: JsonObject) -> str | None:
    """The key of a thread that gives its repository and number but no URL."""
    repo, number = value.get("repo"), value.get("number")
    api = value.get("repository_url")
    if isinstance(api, str) and isinstance(number, int):
        return thread_key(f"{api}/issues/{number}")
    if isinstance(repo, str) and repo.count("/") == 1 and isinstance(number, int) and not isinstance(number, bool):
        return thread_key(f"https://github.com/{repo}/issues/{number}")
    return None


def _catalogue_row(value: JsonObject, sha256: str) -> tuple[Place, ...] | None:
    """A row of XLA's list of error codes."""
    code = value.get("code")
    if not isinstance(code, str) or not _XLA_CODE.fullmatch(code) or not isinstance(value.get("absl_status"), str):
        return None
    url = f"https://openxla.org/xla/errors/error_{code[1:]}"
    return (Place("xla-catalog", f"openxla.org/xla/errors/error_{code[1:]}", "catalog", "", url),)


def _history(value: JsonObject, sha256: str) -> tuple[Place, ...] | None:
    """When files landed: of one docs page, or of a repository's files. Each error page of OpenXLA takes its dates."""
    files = value.get("files", {value["path"]: value} if isinstance(value.get("path"), str) else None)
    if not isinstance(files, dict) or value.get("repository", "openxla/xla") != "openxla/xla":
        return None
    found = []
    for path, row in sorted(files.items()):
        name = _XLA_PAGE_FILE.fullmatch(path)
        if name and isinstance(row, dict) and isinstance(row.get("last_updated"), str):
            key = f"openxla.org/xla/errors/{name[1]}"
            found.append(Place("xla-history", key, "history", row["last_updated"], f"https://{key}"))
    return tuple(found) or None


def _timeline(value: list[object], sha256: str) -> tuple[Place, ...] | str:
    """A list kept whole: the timeline of one thread, which names itself in one of its comments."""
    events = [item for item in value if isinstance(item, dict)]
    for event in events:
        key = thread_key(event.get("issue_url"))
        if key:
            version = max((_version(item, "created_at", "submitted_at") for item in events), default="")
            return (Place("github-timeline", key, "timeline", version, None),)
    return "unknown_json"


def is_timeline(value: list[object]) -> bool:
    """True for a list of timeline events, which only together tell whose timeline it is."""
    return bool(value) and all(isinstance(item, dict) and isinstance(item.get("event"), str) for item in value)


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


_RULES: tuple[Callable[[JsonObject, str], tuple[Place, ...] | str | None], ...] = (
    _event,
    _entry,
    _post,
    _thread,
    _catalogue_row,
    _history,
)
