"""Edges to other threads that a text states: `#5`, `owner/repo#5`, URLs; with the word that says how.

What closed a thread is never read from here: "fixed by #5" is what somebody says, and `distil` quotes it as such.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.lexicon import repositories
from pipeline.records import DocLink, LinkKind, Post, PostKind

_NUMBER = re.compile(r"#(?<![&#]#)([1-9]\d{0,6})(?![\w-])")
_URL = re.compile(
    r"https?://([A-Za-z0-9.-]{1,253}(?::\d{1,5})?)/([\w.-]{1,100})/([\w.-]{1,100})/(?:issues|pull)/([1-9]\d{0,9})(?!\w)"
)
_OWNER = re.compile(r"(?<![\w./:-])([A-Za-z0-9][A-Za-z0-9-]{0,38}/[\w.-]{1,100})\Z")
_FILE_NAME = re.compile(r"\.(?:html?|md|rst|py|txt|ipynb|cpp|cc|h)\Z")
# The words that end right before a reference and say what it is. Each begins at a word and is searched for in the last
# few characters only.
_DUPLICATE = re.compile(r"\bduplicate(?:s| of)?:?\s{1,3}(?:issue |PR |pull request |the PR )?\Z", re.IGNORECASE)
# The nine keywords by which GitHub links a pull request to the issues that its merge closes.
_KEYWORD = re.compile(r"(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s{1,3}\Z", re.IGNORECASE)
RELATION_CHARACTERS = 40
# A debugger's frames are numbered like threads: "#0 0x7f00 in f ()", "#12 torch::jit::run (".
_FRAME_TAIL = re.compile(r"[: ]{1,4}(?:0x|<|\S{1,200} ?\(| ?at )")
# How far before a number its repository is looked for.
BEFORE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Home:
    """The thread whose text is read: what a bare `#5` refers to."""

    host: str | None
    repo: str | None
    number: int | None

    def target(self, number: int) -> str:
        """The document id of a thread of the same repository, `#5` where it is unknown."""
        return f"{self.host}/{self.repo.lower()}#{number}" if self.host and self.repo else f"#{number}"


def mentions(text: str, home: Home, *, description: tuple[int, int] = (0, 0)) -> tuple[DocLink, ...]:
    """The first edge of each kind to each other thread that `text` names, in the order of the text.

    `description` is where a pull request describes itself: there, and nowhere else, "fixes #5" closes #5 by its merge.
    """
    found: list[DocLink] = []
    if "#" in text:
        found += (link for match in _NUMBER.finditer(text) if (link := _bare(text, match, home, description)))
    if "/issues/" in text or "/pull/" in text:
        found += (_link(text, match.span(), _url_target(match), description) for match in _URL.finditer(text))
    itself = home.target(home.number) if home.number else ""
    first: dict[tuple[str, str], DocLink] = {}
    for link in sorted(found, key=lambda link: (link.start or 0, link.kind)):
        if link.target != itself:
            first.setdefault((link.kind, link.target), link)
    return tuple(first.values())


def description_of(posts: Sequence[Post]) -> tuple[int, int]:
    """Where a thread describes itself: its body."""
    return next(((post.start, post.end) for post in posts if post.kind == PostKind.BODY), (0, 0))


def _bare(text: str, match: re.Match[str], home: Home, description: tuple[int, int]) -> DocLink | None:
    start = match.start()
    before = text[max(0, start - BEFORE_CHARACTERS) : start]
    if before and (before[-1].isalnum() or before[-1] in "_-./"):
        owner = _OWNER.search(before)
        if owner is None or _FILE_NAME.search(owner[1]):
            return None
        target = repositories.current_key(f"{home.host or 'github.com'}/{owner[1].lower()}#{match[1]}")
        return _link(text, (start - len(owner[1]), match.end()), target, description)
    at_line_start = not before.rpartition("\n")[2].strip(" >`")
    if at_line_start and _FRAME_TAIL.match(text, match.end(), match.end() + 260):
        return None
    return _link(text, match.span(), home.target(int(match[1])), description)


def url_target(url: object) -> str | None:
    """The document id of the thread whose web URL this is; None if it is none."""
    match = _URL.match(url) if isinstance(url, str) else None
    return _url_target(match) if match else None


def _url_target(match: re.Match[str]) -> str:
    host, owner, repo, number = match.groups()
    host = host.lower().removeprefix("www.")
    return repositories.current_key(f"{host}/{owner.lower()}/{repo.lower()}#{number}")


def _link(text: str, span: tuple[int, int], target: str, description: tuple[int, int]) -> DocLink:
    before = text[max(0, span[0] - RELATION_CHARACTERS) : span[0]]
    if "upli" in before.lower() and _DUPLICATE.search(before):
        kind = LinkKind.DUPLICATE_OF
    elif description[0] <= span[0] < description[1] and _KEYWORD.search(before):
        kind = LinkKind.CLOSES
    else:
        kind = LinkKind.TEXT_MENTION
    return DocLink(kind, target, *span)
