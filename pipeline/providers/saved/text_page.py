"""A page saved as plain text: GitHub's thread page with its buttons and menus, or words alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from pipeline.providers import assemble
from pipeline.providers.assemble import Piece, safe
from pipeline.providers.saved.thread import Thread, page_text, saved_document, stated_time
from pipeline.records import Document, PostKind, RawPage, Skipped

# Text above this size is not searched for a second copy of itself: the search compares every line with the first copy.
# A post has at most 65,536 characters, so two copies of one stay below.
MAX_REPEAT_CHARACTERS = 140_000
# Places that are tried as the beginning of the second copy, each a line equal to the first one.
MAX_RESTARTS = 3
# A second copy repeats nearly all lines of the first; a text that quotes some of itself does not.
MIN_REPEATED_RATIO = 0.6

#: A link to a Markdown file of the same tree resolves only where the page is published with it.
_BESIDE = re.compile(r"\]\((?!\w+:|//)[\w./-]{1,200}\.md(?:#[\w-]{0,100})?\)")
_SECTION = re.compile(r"^## \S", re.MULTILINE)
_LEAST_SECTIONS = 2

_PULL = re.compile(r"(?:wants to merge|merged) \d{1,6} commits? into", re.IGNORECASE)
_TITLE = re.compile(r"^(.{1,400}?)[ \t]*#(\d{1,10})$", re.MULTILINE)
_STATES = {"open": "open", "draft": "open", "closed": "closed", "merged": "closed"}
_LOGIN = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:\[bot\])?"
_HANDLE = re.compile(rf"@?({_LOGIN})")
_SAID = re.compile(
    rf"@?({_LOGIN})\s(?:commented|opened this issue|opened|left a comment|reviewed)(?: on)?\s"
    r"([A-Z][a-z]{2,8} \d{1,2}, \d{4}.{0,60})"
)
_SAID_ALONE = re.compile(r"(?:commented|opened)(?: on)? ([A-Z][a-z]{2,8} \d{1,2}, \d{4}.{0,60})")
_HAPPENED = re.compile(
    rf"@?({_LOGIN}) (?:\1 )?(?:force-pushed|added|removed|closed|reopened|merged|mentioned|self-assigned|assigned"
    r"|requested|referenced|changed|marked|converted|deleted|locked|pinned|linked|enabled|approved|dismissed|pushed)\b.{0,400}"
)
_BUTTONS = re.compile(
    r"(?:Copy link|Quote reply|Markdown|Copy(?: link)? Markdown|More actions|Edited|•.{0,40}edited.{0,60})"
)
_ROLES = {role.title(): role for role in ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR")} | {"Author": None}
_FOOTER = re.compile(
    r"(?:Sign up for free to (?:join|subscribe to) this conversation"
    r"|Add a comment|Projects|Footer|Metadata).{0,200}"
)


def read_thread(pages: Sequence[RawPage]) -> Document | Skipped:
    """The thread that the text of a GitHub page shows, without the page's own words."""
    text = page_text(pages[0])
    lines = [line.strip() for line in text.split("\n")]
    is_pull = bool(_PULL.search(text))
    heading = _TITLE.search(text)
    title, number = (heading[1].strip(), int(heading[2])) if heading else (None, None)
    start = next((place for place, line in enumerate(lines) if line == "Conversation"), None)
    head = lines[: start if start is not None else 30]
    state = next((line.lower() for line in head if line.lower() in _STATES), None)
    posts = list(_posts(text.split("\n"), (start + 1) if start is not None else _after_title(lines, heading)))
    pieces = [Piece(PostKind.TITLE, title)] if title else []
    pieces += [post.piece(PostKind.BODY if place == 0 else PostKind.COMMENT) for place, post in enumerate(posts)]
    times = [time for line in lines if _HAPPENED.fullmatch(line) and (time := stated_time(line))]
    times += [piece.posted_at for piece in pieces if piece.posted_at]
    return saved_document(
        Thread(
            is_pull=is_pull,
            title=title,
            number=number,
            pieces=tuple(pieces),
            state=_STATES.get(state or ""),
            is_draft=(state == "draft") if is_pull and state else None,
            is_merged=(state == "merged") if is_pull and state else None,
            opened_at=posts[0].piece(PostKind.BODY).posted_at if posts else None,
            updated_at=max(times, default=None),
        ),
        pages,
    )


def read_plain(pages: Sequence[RawPage]) -> Document | Skipped:
    """A document of words alone: no title, number, date or repository is known.

    A page of a manual (a heading, sections, a link to the file beside it) shows errors as examples: it reports none.
    """
    text = without_repetition(page_text(pages[0]))
    if _is_manual(text):
        return Skipped(
            "document", pages[0].document_key, "manual_page", safe(text.lstrip("# ").partition("\n")[0])[:100]
        )
    return saved_document(Thread(is_pull=False, title=None, number=None, pieces=(Piece(PostKind.BODY, text),)), pages)


def _is_manual(text: str) -> bool:
    sections = _SECTION.findall(text)
    return text.lstrip().startswith("# ") and len(sections) >= _LEAST_SECTIONS and bool(_BESIDE.search(text))


@dataclass(slots=True)
class _Post:
    author: str | None
    role: str | None
    date: str
    lines: list[str]

    def piece(self, kind: PostKind) -> Piece:
        is_bot = bool(self.author and assemble.is_bot_login(self.author))
        text = "\n".join(self.lines).strip("\n")
        return Piece(kind, text, None, stated_time(self.date), self.role, self.author, is_bot)


def _after_title(lines: Sequence[str], heading: re.Match[str] | None) -> int:
    return lines.index(heading[0].strip()) + 1 if heading and heading[0].strip() in lines else 0


def _posts(lines: Sequence[str], start: int) -> Iterator[_Post]:
    """The posts between the page's head and foot: each begins with a header of its author, date and buttons."""
    post = _Post(None, None, "", [])
    is_header = True
    last = next((place for place in reversed(range(start, len(lines))) if _begins(lines, place)), start)
    for place in range(start, len(lines)):
        line = lines[place].strip()
        if place > last and _FOOTER.fullmatch(line):  # the same words above the last post are somebody's own
            break
        begins = _begins(lines, place)
        if begins is not None or _HAPPENED.fullmatch(line):
            if any(text.strip() for text in post.lines):
                yield post
                post = _Post(None, None, "", [])
            is_header = begins is not None
            if begins is None:
                post, is_header = _Post(None, None, "", []), True
                continue
        if is_header and line:
            is_header = _took_header_line(post, line)
            if is_header:
                continue
        if line or not is_header:
            post.lines.append(lines[place].rstrip())
    if any(text.strip() for text in post.lines):
        yield post


def _begins(lines: Sequence[str], place: int) -> str | None:
    """The login if a post's header begins here: "@login" before its buttons or date, or "login commented ..."."""
    line = lines[place].strip()
    said = _SAID.fullmatch(line)
    if said:
        return said[1]
    handle = _HANDLE.fullmatch(line)
    if handle is None:
        return None
    following = [text.strip() for text in lines[place + 1 : place + 6] if text.strip()][:2]
    if line.startswith("@") and any(_BUTTONS.fullmatch(text) or _SAID.fullmatch(text) for text in following):
        return handle[1]
    return handle[1] if following and _SAID_ALONE.fullmatch(following[0]) else None


def _took_header_line(post: _Post, line: str) -> bool:
    """True if the line belongs to the header; what it says goes into `post`."""
    said = _SAID.fullmatch(line)
    alone = _SAID_ALONE.fullmatch(line)
    if said:
        post.author, post.date = said[1], said[2]
    elif alone:
        post.date = alone[1]
    elif line in _ROLES:
        post.role = _ROLES[line]
    elif post.author is None and (handle := _HANDLE.fullmatch(line)) and line.startswith("@"):
        post.author = handle[1]
    elif line != f"@{post.author}" and not _BUTTONS.fullmatch(line) and line != "Issue body":
        return False
    return True


def without_repetition(text: str) -> str:
    """`text` without the lines of a second, flattened copy of itself; what only the second copy says stays.

    Pages copied from a browser hold their text twice when a script keeps it a second time for a shortened view. The
    copy has lost line breaks: that tells it from a log which prints the same lines again.
    """
    lines = text.strip().split("\n")
    opening = lines[0].strip()
    if len(text) > MAX_REPEAT_CHARACTERS or not opening:
        return text
    restarts = (place for place in range(1, len(lines)) if lines[place].strip() == opening)
    for place in islice(restarts, MAX_RESTARTS):
        apart = "\n".join(map(_squashed, lines[:place]))
        first = apart.replace("\n", "")
        again = [(line, squashed) for line in lines[place:] if (squashed := _squashed(line))]
        repeated = [(line, squashed) for line, squashed in again if squashed in first]
        is_flattened = any(squashed not in apart for _, squashed in repeated)
        size = sum(len(squashed) for _, squashed in again)
        if is_flattened and sum(len(squashed) for _, squashed in repeated) >= MIN_REPEATED_RATIO * size:
            return "\n".join(lines[:place] + [line for line, squashed in again if squashed not in first])
    return text


def _squashed(line: str) -> str:
    return "".join(line.split())
