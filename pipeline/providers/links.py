"""Typed edges to other threads that a text states: `#5`, `owner/repo#5`, URLs; with the word that says how."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.records import DocLink

_NUMBER = re.compile(r"#(?<![&#]#)([1-9]\d{0,6})(?![\w-])")
_URL = re.compile(
    r"https?://([A-Za-z0-9.-]{1,253}(?::\d{1,5})?)/([\w.-]{1,100})/([\w.-]{1,100})/(?:issues|pull)/([1-9]\d{0,9})(?!\w)"
)
_OWNER = re.compile(r"(?<![\w./:-])([A-Za-z0-9][A-Za-z0-9-]{0,38}/[\w.-]{1,100})\Z")
_FILE_NAME = re.compile(r"\.(?:html?|md|rst|py|txt|ipynb|cpp|cc|h)\Z")
# The words that end right before a reference and say what it is. Each begins at a word and is searched for in the last
# few characters only.
_RELATION = re.compile(
    r"\b(?:(?P<duplicate_of>duplicate(?:s| of)?:?)"
    r"|(?P<closed_by>(?:closed|fixed|resolved|addressed|solved) (?:by|in|via|with))"
    r"|(?<!\ba )(?<!the )(?<!for )(?<!to )(?P<closes>close[sd]?|fix(?:e[sd])?|resolve[sd]?):?)"
    r"\s{1,3}(?:issue |PR |pull request |the PR )?\Z",
    re.IGNORECASE,
)
RELATION_CHARACTERS = 40
# Most references stand behind none of these, which is known sooner than by the pattern.
_RELATION_STEMS = ("upli", "clos", "fix", "solve", "ddressed")
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


def mentions(text: str, home: Home) -> tuple[DocLink, ...]:
    """The first edge of each kind to each other thread that `text` names, in the order of the text."""
    found: list[DocLink] = []
    if "#" in text:
        found += (link for match in _NUMBER.finditer(text) if (link := _bare(text, match, home)))
    if "/issues/" in text or "/pull/" in text:
        found += (_link(text, match.start(), match.end(), _url_target(match)) for match in _URL.finditer(text))
    itself = home.target(home.number) if home.number else ""
    first: dict[tuple[str, str], DocLink] = {}
    for link in sorted(found, key=lambda link: (link.start or 0, link.kind)):
        if link.target != itself:
            first.setdefault((link.kind, link.target), link)
    return tuple(first.values())


def _bare(text: str, match: re.Match[str], home: Home) -> DocLink | None:
    start = match.start()
    before = text[max(0, start - BEFORE_CHARACTERS) : start]
    if before and (before[-1].isalnum() or before[-1] in "_-./"):
        owner = _OWNER.search(before)
        if owner is None or _FILE_NAME.search(owner[1]):
            return None
        target = f"{home.host or 'github.com'}/{owner[1].lower()}#{match[1]}"
        return _link(text, start - len(owner[1]), match.end(), target)
    at_line_start = not before.rpartition("\n")[2].strip(" >`")
    if at_line_start and _FRAME_TAIL.match(text, match.end(), match.end() + 260):
        return None
    return _link(text, start, match.end(), home.target(int(match[1])))


def url_target(url: object) -> str | None:
    """The document id of the thread whose web URL this is; None if it is none."""
    match = _URL.match(url) if isinstance(url, str) else None
    return _url_target(match) if match else None


def _url_target(match: re.Match[str]) -> str:
    host, owner, repo, number = match.groups()
    host = host.lower().removeprefix("www.")
    return f"{host}/{owner.lower()}/{repo.lower()}#{number}"


def _link(text: str, start: int, end: int, target: str) -> DocLink:
    before = text[max(0, start - RELATION_CHARACTERS) : start]
    lower = before.lower()
    relation = _RELATION.search(before) if any(stem in lower for stem in _RELATION_STEMS) else None
    return DocLink(relation.lastgroup or "" if relation else "text_mention", target, start, end)
