"""GitHub's thread page saved as HTML: the server-made page of old, and the one that carries its data as JSON.

Nothing is run and nothing is fetched: scripts are read as data or dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag

from pipeline.providers import assemble
from pipeline.providers.assemble import Piece, utc
from pipeline.providers.saved.thread import Thread, page_text, saved_document
from pipeline.records import Document, PostKind, RawPage, Skipped
from pipeline.text import markup

_BLOCK_NAMES = "p div section article ul ol li h1 h2 h3 h4 h5 h6 blockquote details summary br hr pre table tr dl dt dd"
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_DROPPED = frozenset(["script", "style", "template", "noscript", "svg", "button", "form", "nav"])
# A page's tree is not followed deeper than this; real pages stay under 60.
MAX_DEPTH = 200
_NUMBER = re.compile(r"#?(\d{1,10})")


def read(pages: Sequence[RawPage]) -> Document | Skipped:
    """The thread that a saved HTML page shows."""
    tree = markup.soup(page_text(pages[0]))
    if tree is None:
        return Skipped("document", pages[0].document_key, "unreadable_page", "tags that never close")
    try:
        thread = _embedded(tree) or _rendered(tree)
    except RecursionError:
        return Skipped("document", pages[0].document_key, "unreadable_page", "nested too deep")
    return saved_document(thread, pages)


# ---------------------------------------------------------------- the page with its data as JSON


def _embedded(soup: BeautifulSoup) -> Thread | None:
    for script in soup.find_all("script", attrs={"type": "application/json"}):
        try:
            data = json.loads(script.string or "")
        except ValueError:
            continue
        issue = _find_issue(data, MAX_DEPTH)
        if issue is not None:
            return _from_data(issue)
    return None


def _find_issue(value: object, depth: int) -> dict[str, object] | None:
    """The object that holds an issue: the first with a title, a number and a body."""
    if depth == 0:
        return None
    if isinstance(value, dict):
        is_thread = isinstance(value.get("title"), str) and isinstance(value.get("number"), int)
        if is_thread and {"body", "bodyHTML"} & value.keys():
            return value
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        found = _find_issue(item, depth - 1)
        if found is not None:
            return found
    return None


def _from_data(issue: dict[str, object]) -> Thread:
    title, number = str(issue["title"]), issue["number"]
    labels = issue.get("labels")
    state = str(issue.get("state") or "").lower()
    comments = [post for post in _nodes(issue) if post is not issue]
    return Thread(
        is_pull="PullRequest" in str(issue.get("__typename") or ""),
        title=title,
        number=number if isinstance(number, int) else None,
        pieces=(
            Piece(PostKind.TITLE, title, None, utc(issue.get("createdAt"))),
            _data_piece(PostKind.BODY, issue),
            *(_data_piece(PostKind.COMMENT, post) for post in comments),
        ),
        state="closed" if state == "merged" else state if state in ("open", "closed") else None,
        is_merged=True if state == "merged" else None,
        labels=tuple(_label_names(labels)),
        opened_at=utc(issue.get("createdAt")),
        updated_at=utc(issue.get("updatedAt")),
        is_lossy=False,
    )


def _nodes(issue: dict[str, object]) -> Iterator[dict[str, object]]:
    """The comments of an issue's timeline, in the page's order, each once."""
    seen: set[str] = set()
    for name in ("frontTimelineItems", "timelineItems", "backTimelineItems", "comments"):
        items = issue.get(name)
        edges = items.get("edges") or items.get("nodes") if isinstance(items, dict) else items
        for edge in edges if isinstance(edges, list) else ():
            node = edge.get("node", edge) if isinstance(edge, dict) else None
            if not isinstance(node, dict) or not ({"body", "bodyHTML"} & node.keys()):
                continue
            identity = str(node.get("id") or node.get("databaseId") or node.get("url") or id(node))
            if identity not in seen:
                seen.add(identity)
                yield node


def _data_piece(kind: PostKind, post: dict[str, object]) -> Piece:
    body = post.get("body")
    if not isinstance(body, str) or not body:
        tree = markup.soup(str(post.get("bodyHTML") or ""))
        body = _plain(tree) if tree is not None else ""
    author = post.get("author")
    login = author.get("login") if isinstance(author, dict) else None
    name = login if isinstance(login, str) else None
    is_bot = bool(name and assemble.is_bot_login(name)) or (
        isinstance(author, dict) and author.get("__typename") == "Bot"
    )
    role = post.get("authorAssociation")
    return Piece(kind, body, None, utc(post.get("createdAt")), role if isinstance(role, str) else None, name, is_bot)


def _label_names(labels: object) -> Iterator[str]:
    edges = labels.get("edges") or labels.get("nodes") if isinstance(labels, dict) else labels
    for edge in edges if isinstance(edges, list) else ():
        node = edge.get("node", edge) if isinstance(edge, dict) else None
        if isinstance(node, dict) and isinstance(node.get("name"), str):
            yield str(node["name"])


# ---------------------------------------------------------------- the server-made page


def _rendered(soup: BeautifulSoup) -> Thread:
    title = _words(soup, ".js-issue-title", ".gh-header-title bdi", "[data-testid=issue-title]", "h1 bdi", "h1")
    number = _NUMBER.search(_words(soup, ".gh-header-number", "h1 .f1-light", "h1 .color-fg-muted") or "")
    state = (_words(soup, ".gh-header-meta .State", ".State", "[data-testid=header-state]") or "").strip().lower()
    posts = [_post(place, tag) for place, tag in enumerate(_comment_tags(soup))]
    times = [piece.posted_at for piece in posts if piece.posted_at]
    is_pull = bool(soup.select_one(".js-pull-header-details, .head-ref, #files_bucket")) or state in ("merged", "draft")
    return Thread(
        is_pull=is_pull,
        title=title or None,
        number=int(number[1]) if number else None,
        pieces=(Piece(PostKind.TITLE, title or ""), *posts),
        state="closed" if state in ("merged", "closed") else "open" if state in ("open", "draft") else None,
        is_draft=(state == "draft") if is_pull and state else None,
        is_merged=(state == "merged") if is_pull and state else None,
        labels=tuple(dict.fromkeys(tag.get_text(" ", strip=True) for tag in soup.select(".IssueLabel"))),
        opened_at=times[0] if times and posts[0].posted_at else None,
        updated_at=max(times, default=None),
    )


def _comment_tags(soup: BeautifulSoup) -> list[Tag]:
    """The boxes of the posts, none inside another."""
    boxes = soup.select(".timeline-comment, .review-comment, [data-testid=issue-body], [data-testid^=comment-viewer]")
    inside = {id(box) for box in boxes}
    return [box for box in boxes if not any(id(parent) in inside for parent in box.parents)]


def _post(place: int, box: Tag) -> Piece:
    body = box.select_one(".comment-body, .markdown-body")
    author = _words(box, "a.author", "[data-testid=issue-body-header-author]", "[data-testid=avatar-link]")
    time = box.select_one("relative-time[datetime], time-ago[datetime], time[datetime]")
    role = next((tag.get_text(strip=True).upper() for tag in box.select(".Label, [data-testid*=association]")), None)
    is_bot = bool(author and assemble.is_bot_login(author)) or role == "BOT"
    known = role if role in ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "NONE") else None
    posted = utc(time.get("datetime")) if time else None
    return Piece(
        PostKind.COMMENT if place else PostKind.BODY, _plain(body) if body else "", None, posted, known, author, is_bot
    )


def _words(soup: Tag, *selectors: str) -> str | None:
    for selector in selectors:
        tag = soup.select_one(selector)
        words = tag.get_text(" ", strip=True) if tag else ""
        if words:
            return words
    return None


def _plain(tag: Tag) -> str:
    """The text of a rendered post: one line a block, code in fences."""
    pieces: list[str] = []
    _walk(tag, pieces, MAX_DEPTH)
    text = "".join(pieces)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip("\n")


def _walk(element: PageElement, pieces: list[str], depth: int) -> None:
    if type(element) is NavigableString:
        text = str(element)
        pieces.append(re.sub(r"\s+", " ", text) if text.strip() else (" " if text and "\n" not in text else ""))
        return
    if not isinstance(element, Tag) or element.name in _DROPPED:
        return
    if element.name == "pre" or depth == 0:
        pieces.append("\n```\n" + element.get_text().strip("\n") + "\n```\n")
        return
    is_block = element.name in _BLOCKS
    if is_block:
        pieces.append("\n")
    if element.name == "li":
        pieces.append("- ")
    is_code = element.name in ("code", "tt")
    pieces.append("`" if is_code else "")
    for child in element.children:
        _walk(child, pieces, depth - 1)
    pieces.append("`" if is_code else "\n" if is_block else "")
