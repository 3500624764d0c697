"""Threads as GitHub's API gives them: an issue or pull request, its comments inside it or apart, reviews, timeline.

GH Archive wraps the same objects in events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib import resources
from typing import TypeGuard

from pipeline.lexicon import repositories
from pipeline.providers import assemble
from pipeline.providers.assemble import Piece, assembled, safe, utc
from pipeline.providers.github import FORMS
from pipeline.providers.github.recognise import RELEASE_URL, as_rest
from pipeline.providers.links import Home, description_of, mentions, url_target
from pipeline.providers.provider import json_value
from pipeline.records import DocLink, Document, DocumentKind, LinkKind, Post, PostKind, RawPage, Skipped, warm

JsonObject = Mapping[str, object]

_KEY = re.compile(r"([^/]+)/([^/]+/[^/#]+)#(\d+)")
_REPO_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_LINK = re.compile(r"[A-Za-z0-9_.:/#?=&%~+-]{1,500}")
_STATE = re.compile("open|closed")
_VERSION = re.compile(r"v?\d{1,4}(?:\.\d{1,8}){1,4}(?:[-.+]?[A-Za-z][\w.+-]{0,30})?", re.ASCII)
#: GitHub's `CommentAuthorAssociation`, whole: docs.github.com/en/graphql/reference/enums.
_ROLES = frozenset({
    "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "MEMBER", "NONE", "OWNER",
})  # fmt: skip
_REASON = re.compile("[a-z_]{1,30}")
_REPO = re.compile(r"https?://[^/]+/(?:api/v3/)?(?:repos/)?([^/]+/[^/?#]+)/(?:issues|pulls?)/(\d+)")
_RELEASE_KEY = re.compile(r"([^/]+)/([^/]+/[^/#]+)/releases/\d+")
_COMMIT_REPO = re.compile(r"https?://[^/]+/(?:api/v3/)?repos/([\w.-]{1,100}/[\w.-]{1,100})/commits/")
_WRAPPED = {
    "gharchive-thread": ("issue", "pull_request"),
    "gharchive-comment": ("comment",),
    "gharchive-review": ("review",),
}
_POST_KIND = {
    "comment": PostKind.COMMENT,
    "comments": PostKind.COMMENT,
    "review": PostKind.REVIEW,
    "reviews": PostKind.REVIEW,
    "review-comment": PostKind.REVIEW,
    "review-comments": PostKind.REVIEW,
}


def read(pages: Sequence[RawPage]) -> Document | Skipped:
    """The thread that the pages of one document make; without its main page, what its comments tell."""
    key = pages[0].document_key
    pages = [page for page in pages if page.form in FORMS]  # a saved copy of the same thread adds nothing
    try:
        values = {page.part: _value(page) for page in sorted(pages, key=lambda page: page.part)}
    except (ValueError, RecursionError) as error:
        return Skipped("document", key, "unreadable_page", str(error)[:200])
    thread = _merged(values)
    home, is_pull, url = _home(thread, values, key, pages)
    pieces = [*_head(thread, url), *_posts(thread, values, url)]
    text, posts, hidden = assembled(pieces, key)
    if not text:
        return Skipped("document", key, "no_text")
    main = next((page for page in pages if page.part in ("main", "pull")), pages[0])
    title = _string(thread.get("title"))
    reason = _word(thread.get("state_reason"), _REASON) or _resolution(thread.get("resolution"))
    return Document(
        document_id=key,
        kind=DocumentKind.PULL if is_pull else DocumentKind.ISSUE,
        url=url or f"urn:sha256:{main.sha256}",
        repo=home.repo,
        number=home.number,
        title=text[posts[0].start : posts[0].end] if title and posts[0].kind == PostKind.TITLE else None,
        text=text,
        posts=posts,
        hidden_count=hidden,
        state=_word(thread.get("state"), _STATE),
        state_reason=reason,
        fixed_in=_fix_versions(thread) if reason == "completed" else (),
        is_draft=_flag(thread.get("draft")),
        is_merged=_is_merged(thread, is_pull=is_pull),
        labels=_labels(thread.get("labels")),
        opened_at=utc(thread.get("created_at")),
        updated_at=utc(thread.get("updated_at")),
        closed_at=utc(thread.get("closed_at")),
        links=(*mentions(text, home, description=_description(thread, posts, is_pull)), *_stated_links(values, home)),
        record=None,
        payload=None,
        raw_sha256=main.sha256,
        source=main.source,
        form=main.form,
        is_lossy=thread.get("text_form") == "rendered-html" or not thread,
    )


def _value(page: RawPage) -> object:
    value = json_value(page.body)
    names = _WRAPPED.get(page.form)
    if names is None:
        return as_rest(value) if _is_object(value) else value
    payload = value.get("payload") if isinstance(value, dict) else None
    if not isinstance(payload, dict):
        return {}
    return next((payload[name] for name in names if isinstance(payload.get(name), dict)), {})


def _merged(values: Mapping[str, object]) -> JsonObject:
    """The thread's own object: the issue's, with what only the pull request's knows."""
    issue, pull = values.get("main"), values.get("pull")
    if not _is_object(issue):
        return pull if _is_object(pull) else {}
    if not _is_object(pull):
        return issue
    known = {name: value for name, value in issue.items() if value is not None}
    return {**pull, **known, "merged": pull.get("merged"), "merged_at": pull.get("merged_at"), "is_pull": True}


def _home(
    thread: JsonObject, values: Mapping[str, object], key: str, pages: Sequence[RawPage]
) -> tuple[Home, bool, str | None]:
    """Where the thread lives, whether it is a pull request, and its canonical URL."""
    is_pull = bool(
        "pull" in values
        or thread.get("kind") == "pull"
        or isinstance(thread.get("pull_request"), dict)
        or any("/pull/" in (page.url or "") for page in pages)
    )
    match = _KEY.fullmatch(key)
    if match is None:
        repo = thread.get("repo")
        known = repo if isinstance(repo, str) and _REPO_NAME.fullmatch(repo) else None
        return Home("github.com" if known else None, known, None), is_pull, None
    host, repo, number = match[1], _spelled(thread, pages, match[2]), int(match[3])
    return Home(host, repo, number), is_pull, f"https://{host}/{repo}/{'pull' if is_pull else 'issues'}/{number}"


def _spelled(thread: JsonObject, pages: Sequence[RawPage], lower: str) -> str:
    """The repository as its owner writes it; keys are lower case, and of the name that it has now."""
    urls = (thread.get("html_url"), thread.get("url"), *(page.url for page in pages))
    matches = (_REPO.match(url) for url in urls if isinstance(url, str))
    stated = [*(match[1] for match in matches if match), _string(thread.get("repo")) or lower]
    return next((name for name in map(repositories.current_name, stated) if name.lower() == lower), lower)


def _head(thread: JsonObject, url: str | None) -> Iterator[Piece]:
    opened = utc(thread.get("created_at"))
    role, (author, is_bot) = _role(thread), _author(thread)
    if title := _string(thread.get("title")):
        yield Piece(PostKind.TITLE, " ".join(title.split()), url, opened, role, author, is_bot)
    if body := _string(thread.get("body")):
        yield Piece(PostKind.BODY, body, url, opened, role, author, is_bot, _reactions(thread))


def _posts(thread: JsonObject, values: Mapping[str, object], url: str | None) -> Iterator[Piece]:
    """Comments and reviews, oldest first, each once however often the pages hold it."""
    found = _found_posts(thread, values)
    found.sort(key=lambda item: _time(item[1]))
    own = _repo_of(url)
    for kind, post in found:
        body = _string(post.get("body"))
        if body:
            author, is_bot = _author(post)
            link = _string(post.get("html_url"))
            if not (link and own and _repo_of(link) == own and _LINK.fullmatch(link)):
                link = None
            yield Piece(kind, body, link, utc(_time(post)), _role(post), author, is_bot, _reactions(post))


def _repo_of(url: str | None) -> str | None:
    """`host/owner/repo` of the thread that a web address belongs to, by the name that the repository has now."""
    target = url_target(url)
    return target.rpartition("#")[0] if target else None


def _found_posts(thread: JsonObject, values: Mapping[str, object]) -> list[tuple[PostKind, JsonObject]]:
    inline = thread.get("comments")
    found: list[tuple[PostKind, JsonObject]] = []
    if isinstance(inline, list):
        found += ((PostKind.COMMENT, post) for post in inline if _is_object(post))
    if len(values) == 1 and thread:
        return found
    for part, value in sorted(values.items()):
        kind = _POST_KIND.get(part.partition(":")[0])
        posts = [post for post in (value if isinstance(value, list) else [value]) if _is_object(post)]
        if part.partition(":")[0] == "timeline":
            found += ((PostKind.COMMENT, post) for post in posts if post.get("event") == "commented")
        elif kind:
            found += ((kind, post) for post in posts)
    once: dict[object, tuple[PostKind, JsonObject]] = {}
    for kind, post in found:
        number = post.get("id")
        identity = (kind, number) if isinstance(number, int) else (_time(post), _string(post.get("body")))
        once.setdefault(identity, (kind, post))
    return sorted(once.values(), key=lambda item: str(item[1].get("id") or ""))


def _description(thread: JsonObject, posts: Sequence[Post], is_pull: bool) -> tuple[int, int]:
    """Where the words of a pull request name what its merge closes; nowhere if it goes to another branch than main."""
    base = thread.get("base")
    branch, repo = (base.get("ref"), base.get("repo")) if _is_object(base) else (None, None)
    default = repo.get("default_branch") if _is_object(repo) else None
    if not is_pull or (branch and default and branch != default):
        return (0, 0)
    return description_of(posts)


def _stated_links(values: Mapping[str, object], home: Home) -> tuple[DocLink, ...]:
    """Edges that the API states, each once: what closes what, who refers to this thread, and by which commit."""
    events: list[JsonObject] = []
    for part in sorted((part for part in values if part.partition(":")[0] == "timeline"), key=_page_number):
        page = values[part]
        events += filter(_is_object, page if isinstance(page, list) else ())
    return tuple(dict.fromkeys([*_closing_links(values.get("references")), *_timeline_links(events, home)]))


def _page_number(part: str) -> int:
    number = part.partition(":")[2]
    return int(number) if number.isdigit() else 1


def _closing_links(references: object) -> Iterator[DocLink]:
    """What GraphQL says: only a merged pull request has closed anything, another one merely speaks of it."""
    for kind in (LinkKind.CLOSED_BY, LinkKind.CLOSES):
        edges = references.get(kind) if _is_object(references) else None
        for edge in edges if isinstance(edges, list) else ():
            target = url_target(edge.get("url")) if _is_object(edge) else None
            if target:
                is_meant = kind == LinkKind.CLOSED_BY and edge.get("merged") is not True
                title = safe(" ".join((_string(edge.get("title")) or "").split())) or None
                yield DocLink(LinkKind.CROSS_REFERENCE if is_meant else kind, target, None, None, title)


def _timeline_links(events: Sequence[JsonObject], home: Home) -> Iterator[DocLink]:
    """Who refers to this thread, and which commit closed it; a thread that was reopened was not closed by what it had.

    A commit may be another repository's: its URL says whose.
    """
    reopened = max((place for place, event in enumerate(events) if event.get("event") == "reopened"), default=-1)
    for place, event in enumerate(events):
        source = event.get("source")
        issue = source.get("issue") if _is_object(source) else None
        if event.get("event") == "cross-referenced" and _is_object(issue):
            target = url_target(issue.get("html_url"))
            if target:
                yield DocLink(LinkKind.CROSS_REFERENCE, target, None, None)
        commit = event.get("commit_id")
        if isinstance(commit, str) and re.fullmatch(r"[0-9a-f]{7,64}", commit) and home.host and home.repo:
            owner = _COMMIT_REPO.match(_string(event.get("commit_url")) or "")
            repo = (owner[1] if owner else home.repo).lower()
            is_closed = event.get("event") == "closed" and place > reopened
            kind = LinkKind.CLOSED_BY if is_closed else LinkKind.COMMIT_REF
            yield DocLink(kind, f"{home.host}/{repo}@{commit}", None, None)


def _author(value: JsonObject) -> tuple[str | None, bool]:
    user = value.get("user") or value.get("author")
    login = _string(user.get("login")) if _is_object(user) else _string(user)
    is_bot = (_is_object(user) and (user.get("type") == "Bot" or user.get("is_bot") is True)) or bool(
        login and assemble.is_bot_login(login)
    )
    return login, is_bot


def _role(value: JsonObject) -> str | None:
    role = value.get("author_association")
    return _known_role(role) if isinstance(role, str) else None


@lru_cache(maxsize=64)  # there are eight
def _known_role(role: str) -> str | None:
    return role.upper() if role.upper() in _ROLES else None


def _reactions(value: JsonObject) -> int:
    reactions = value.get("reactions")
    if not _is_object(reactions):
        return 0
    up, down = reactions.get("+1"), reactions.get("-1")
    return (up if isinstance(up, int) else 0) - (down if isinstance(down, int) else 0)


def _is_merged(thread: JsonObject, *, is_pull: bool) -> bool | None:
    if not is_pull:
        return None
    inner = thread.get("pull_request")
    merged_at = thread.get("merged_at") or (inner.get("merged_at") if _is_object(inner) else None)
    if merged_at:
        return True
    merged = thread.get("merged")
    if isinstance(merged, bool):
        return merged
    return False if "merged_at" in thread or (_is_object(inner) and "merged_at" in inner) else None


def _labels(value: object) -> tuple[str, ...]:
    names = []
    for label in value if isinstance(value, list) else ():
        name = label.get("name") if _is_object(label) else label
        if isinstance(name, str) and name:
            names.append(safe(name))
    return tuple(names)


def _resolution(value: object) -> str | None:
    """The reason for which another tracker closed a report, by GitHub's word for it."""
    word = (_string(value.get("name")) if _is_object(value) else _string(value)) or ""
    return _resolutions().get(" ".join(word.lower().split()))


@cache
def _resolutions() -> Mapping[str, str]:
    table = warm.table(resources.files("pipeline").joinpath("data/resolutions.toml").read_text("utf-8"))
    return {word: reason for reason, words in table.items() for word in words}


def _fix_versions(thread: JsonObject) -> tuple[str, ...]:
    """The versions that a tracker names as those with the fix; what is no number of a version ("Sprint 14") is none."""
    listed = thread.get("fix_versions") or thread.get("fixVersions")
    named = (_string(one.get("name")) if _is_object(one) else _string(one) for one in _items(listed))
    return tuple(sorted({one for one in named if one and _VERSION.fullmatch(one)}))


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _time(post: JsonObject) -> str:
    return _string(post.get("created_at")) or _string(post.get("submitted_at")) or ""


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _string(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _word(value: object, pattern: re.Pattern[str]) -> str | None:
    """The word in lower case, None if it is none of the kind: what an object claims may be anything."""
    word = value.lower() if isinstance(value, str) else ""
    return word if pattern.fullmatch(word) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def release(pages: Sequence[RawPage]) -> Document | Skipped:
    """A release: its tag is the title, its notes the body. Who may publish one speaks for the project."""
    page = pages[0]
    key = _RELEASE_KEY.fullmatch(page.document_key)
    try:
        value = json_value(page.body)
    except (ValueError, RecursionError) as error:
        return Skipped("document", page.document_key, "unreadable_page", str(error)[:200])
    if key is None or not _is_object(value):
        return Skipped("document", page.document_key, "unreadable_page", "no release")
    url = _string(value.get("html_url")) or page.url or ""
    named = RELEASE_URL.match(url)
    is_own = named is not None and f"{named['host']}/{named['repo']}".lower() == f"{key[1]}/{key[2]}"
    repo = named["repo"] if named and is_own else key[2]
    address = url if is_own else f"https://{key[1]}/{key[2]}/releases"
    published = utc(value.get("published_at"))
    tag, name = (_string(value.get(field)) or "" for field in ("tag_name", "name"))
    pieces = [Piece(PostKind.TITLE, " ".join(tag.split()), address, published)]
    if name and name != tag:
        pieces.append(Piece(PostKind.SECTION, " ".join(name.split()), address, published))
    if notes := _string(value.get("body")):
        pieces.append(Piece(PostKind.BODY, notes, address, published))
    text, posts, hidden = assembled(pieces, page.document_key)
    if not text:
        return Skipped("document", page.document_key, "no_text")
    made = assemble.page_document(
        page,
        kind=DocumentKind.RELEASE,
        url=address,
        title=safe(tag),
        text=text,
        posts=posts,
        opened_at=published,
        updated_at=utc(value.get("updated_at")),
        hidden_count=hidden,
    )
    state = "prerelease" if value.get("prerelease") is True else "released"
    return replace(made, repo=repo, state=state, links=mentions(text, Home(key[1], repo, None)))


READERS = {**dict.fromkeys(FORMS, read), "github-release": release}
