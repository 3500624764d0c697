"""What a saved page of text or HTML is. The name of the file is never asked; a page that fits nothing is plain text."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

# How far into a page its head is searched: GitHub's <head> ends before 40 kB in the pages seen.
HEAD_CHARACTERS = 120_000

_HTML = re.compile(r"\s*(?:<!--[^>]{0,2000}-->\s*)?<(?:!doctype html|html|head)\b", re.IGNORECASE)
_XLA_MARKDOWN = re.compile(r"#\s{1,3}Error code:\s{0,3}E?(\d{3,4})\s*$", re.IGNORECASE | re.MULTILINE)
_XLA_OVERVIEW = re.compile(r"#\s{1,3}XLA Error(?: codes|s Overview)\s*$", re.IGNORECASE | re.MULTILINE)
_XLA_TEXT = re.compile(r"Error code:\s{0,3}E?(\d{3,4})\s*$", re.IGNORECASE | re.MULTILINE)
_CATEGORY = re.compile(r"(?:\*\*)?Category:", re.IGNORECASE)
_ISSUE_HEADING = re.compile(r"#\s{1,3}(?:Issue|PR|Pull Request) #(\d{1,10}):", re.IGNORECASE)
_CANONICAL = (
    re.compile(r'<link[^>]{0,200}rel="canonical"[^>]{0,200}href="([^"]{1,500})"'),
    re.compile(r'<meta[^>]{0,200}property="og:url"[^>]{0,200}content="([^"]{1,500})"'),
    re.compile(r"saved from url=\(\d{1,6}\)(\S{1,500})"),
)
_THREAD_PATH = re.compile(r"https?://[^/\s]{1,253}/[\w.-]{1,100}/[\w.-]{1,100}/(?:issues|pull)/\d{1,10}")
# An error page of any host, or another page of OpenXLA's docs.
_DOCS_PATH = re.compile(
    r"https?://(?:www\.)?([a-z0-9.-]{1,253}(?::\d{1,5})?/(?:[a-z0-9_-]{1,60}/){0,6}errors/error_\d{4}"
    r"|openxla\.org/xla/[a-z0-9_/]{1,200}?)/?(?:\.html|\.md)?(?:[?#].*)?$"
)
_HTML_HEADING = re.compile(r"<title>\s{0,20}Error code:\s{0,3}E(\d{4})\b", re.IGNORECASE)
_LAST_UPDATED = re.compile(r"Last updated (\d{4}-\d\d-\d\d)")
_TIMES = re.compile(r'(?:datetime="|"(?:updatedAt|createdAt)":")(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')
_ISSUE_UPDATED = re.compile(r"^- \*\*Updated\*\*: (.{1,60})$", re.MULTILINE)
_PULL_CHROME = re.compile(r"wants to merge \d{1,6} commits? into|merged \d{1,6} commits? into", re.IGNORECASE)
_CHROME_LINES = (
    "Skip to content",
    "Copy link",
    "Copy Markdown",
    "Conversation",
    "Sign up for free to join this",
)


@dataclass(frozen=True, slots=True)
class Found:
    """What a page says about itself."""

    form: str
    part: str
    url: str | None
    version_at: str = ""


def recognise(text: str) -> Found | str:
    """The form of a page, with its own URL if it states one; or the reason why it cannot be read."""
    start = text.lstrip("\ufeff \t\r\n")
    if not start:
        return "empty_file"
    if _HTML.match(start):
        return _html(start)
    if start.startswith("#"):
        found = _markdown(start)
        if found:
            return found
    if "XLA_ERROR_CODE_LIST" in text[:HEAD_CHARACTERS]:
        return Found("xla-catalog", "main", "https://openxla.org/xla/error/error_codes")
    code = _XLA_TEXT.match(start)
    if code or _CATEGORY.match(start):
        return Found("xla-text", "page:text", _error_url(code[1]) if code else _url_of_category(start))
    if _PULL_CHROME.search(start[:HEAD_CHARACTERS]) or sum(line in start for line in _CHROME_LINES) >= 2:
        return Found("github-text", "page:text", None)
    return Found("plain-text", "page:text", None)


def docs_key(url: str | None) -> str | None:
    """The document key of a page of official docs: its URL without scheme, query and fragment."""
    match = _DOCS_PATH.match(url) if url else None
    return match[1] if match else None


@cache
def _docs_codes() -> tuple[dict[str, str], dict[str, str]]:
    """Headings that were printed wrong, and codes by what their page is about."""
    path = resources.files("pipeline").joinpath("data/docs/xla_pages.toml")
    table = tomllib.loads(path.read_text("utf-8"))["code"]
    return table["misprints"], table["categories"]


def _url_of_category(text: str) -> str | None:
    """The address of a page that lost its heading and says what it is about."""
    about = text.split("\n", 1)[0].replace("**", "").partition(":")[2].strip().lower()
    return _error_url(_docs_codes()[1].get(about, "").removeprefix("E"))


def _error_url(digits: str) -> str | None:
    digits = _docs_codes()[0].get(f"E{digits}", digits).removeprefix("E")
    return f"https://openxla.org/xla/errors/error_{digits}" if len(digits) == 4 else None


def _html(text: str) -> Found | str:
    head = text[:HEAD_CHARACTERS]
    url = next((match[1] for pattern in _CANONICAL if (match := pattern.search(head))), None)
    if "devsite-article" in text and (url is None or docs_key(url)):
        updated = _LAST_UPDATED.search(text)
        heading = _HTML_HEADING.search(head)
        if url is None and heading:
            url = _error_url(heading[1])
        return Found("xla-html", "page:html", url.split("?")[0] if url else None, updated[1] if updated else "")
    thread = _THREAD_PATH.match(url or "")
    if thread:
        times = _TIMES.findall(text)
        return Found("github-html", "page:html", thread[0], f"{max(times)}Z" if times else "")
    return "unknown_html"


def _markdown(text: str) -> Found | None:
    code = _XLA_MARKDOWN.match(text)
    if code:
        return Found("xla-md", "main", _error_url(code[1]))
    overview = _XLA_OVERVIEW.match(text)
    if overview:
        page = "error_codes" if "code" in overview[0].lower() else "errors_overview"
        return Found("xla-md", "main", f"https://openxla.org/xla/{page}")
    heading = _ISSUE_HEADING.match(text)
    if heading and ("**State**" in text or "**Created**" in text):
        updated = _ISSUE_UPDATED.search(text)
        repo = _own_repo(text)
        url = f"https://github.com/{repo}/issues/{heading[1]}" if repo else None
        return Found("issue-markdown", "page:markdown", url, _iso(updated[1]) if updated else "")
    return None


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG_DATE = re.compile(r"([A-Z][a-z]{2,8}) (\d{1,2}), (\d{4})(?: at (\d\d):(\d\d) UTC)?")


def _iso(date: str) -> str:
    """ISO time of a date such as "August 08, 2025 at 16:28 UTC"; "" for another form."""
    match = _LONG_DATE.search(date)
    if not match or match[1][:3].lower() not in _MONTHS:
        return ""
    month = _MONTHS.index(match[1][:3].lower()) + 1
    return f"{match[3]}-{month:02}-{int(match[2]):02}T{match[4] or '00'}:{match[5] or '00'}:00Z"


@dataclass(frozen=True, slots=True)
class _Project:
    repo: str
    package: str
    first_frame: re.Pattern[str]


@cache
def _projects() -> tuple[_Project, ...]:
    table = tomllib.loads(resources.files("pipeline").joinpath("data/projects.toml").read_text("utf-8"))
    return tuple(
        _Project(
            repo=row["repo"],
            package=row["package"],
            first_frame=re.compile(
                r"raceback \(most recent call last\):\n\s{0,8}File \"[^\"\n]{0,200}/"
                + re.escape(row["checkout"])
                + r"/(?:"
                + "|".join(re.escape(folder) for folder in row["own_scripts"])
                + r")/"
            ),
        )
        for row in table["project"]
    )


def _own_repo(text: str) -> str | None:
    """The repository that a saved issue belongs to, where the page shows it.

    A link to a thread of the same number says it outright. Else: the page's tracebacks start in one known project's
    own example or test scripts, in a checkout of it, and the code imports that project. One such project, or none.
    """
    heading = _ISSUE_HEADING.match(text)
    number = heading[1] if heading else ""
    own_url = rf"https://github\.com/([\w.-]{{1,100}}/[\w.-]{{1,100}})/(?:issues|pull)/{number}(?!\d)"
    linked = set(re.findall(own_url, text))
    if len(linked) == 1:
        return str(linked.pop())
    shown = [
        project.repo
        for project in _projects()
        if re.search(rf"^\s*(?:import|from) {re.escape(project.package)}\b", text, re.MULTILINE)
        and project.first_frame.search(text)
    ]
    return shown[0] if len(shown) == 1 else None
