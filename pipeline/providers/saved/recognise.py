"""Which pages are saved issues or pull requests: HTML, Markdown, or text that was copied. From content alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pipeline.providers.page import HEAD_CHARACTERS, canonical_url, is_html
from pipeline.providers.provider import Place, Rules, thread_key, unknown_key
from pipeline.records import warm

_ISSUE_HEADING = re.compile(r"#\s{1,3}(?:Issue|PR|Pull Request) #(\d{1,10}):", re.IGNORECASE)
_THREAD_PATH = re.compile(r"https?://[^/\s]{1,253}/[\w.-]{1,100}/[\w.-]{1,100}/(?:issues|pull)/\d{1,10}")
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


def html_page(text: str, sha256: str) -> Place | None:
    """GitHub's page of a thread."""
    if not is_html(text):
        return None
    thread = _THREAD_PATH.match(canonical_url(text[:HEAD_CHARACTERS]) or "")
    if thread is None:
        return None
    times = _TIMES.findall(text)
    return _place("github-html", "page:html", thread[0], sha256, version_at=f"{max(times)}Z" if times else "")


def markdown_page(text: str, sha256: str) -> Place | None:
    """An issue that a tool saved as Markdown."""
    heading = _ISSUE_HEADING.match(text)
    if heading is None or not ("**State**" in text or "**Created**" in text):
        return None
    updated = _ISSUE_UPDATED.search(text)
    repo = _own_repo(text)
    url = f"https://github.com/{repo}/issues/{heading[1]}" if repo else None
    return _place("issue-markdown", "page:markdown", url, sha256, version_at=_iso(updated[1]) if updated else "")


def text_page(text: str, sha256: str) -> Place | None:
    """The text of a thread's page, known by the words of its buttons."""
    if is_html(text):
        return None
    has_chrome = sum(line in text for line in _CHROME_LINES) >= 2
    if has_chrome or _PULL_CHROME.search(text[:HEAD_CHARACTERS]):
        return _place("github-text", "page:text", None, sha256)
    return None


def _place(form: str, part: str, url: str | None, sha256: str, *, version_at: str = "") -> Place:
    return Place(form, thread_key(url) or unknown_key(sha256), part, version_at, url)


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
    table = warm.table(resources.files("pipeline").joinpath("data/projects.toml").read_text("utf-8"))
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


RULES = Rules(texts=(html_page, markdown_page, text_page))
