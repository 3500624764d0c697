"""Which pages and which JSON are OpenXLA's error documentation. From content alone; the file's name is never asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

from pipeline.providers.page import HEAD_CHARACTERS, canonical_url, is_html
from pipeline.providers.provider import Place, Rules, unknown_key
from pipeline.records import warm

_CODE = re.compile(r"E\d{4}")
_PAGE_FILE = re.compile(r"docs/errors/(error_\d{4})\.md")
_MARKDOWN = re.compile(r"#\s{1,3}Error code:\s{0,3}E?(\d{3,4})\s*$", re.IGNORECASE | re.MULTILINE)
_OVERVIEW = re.compile(r"#\s{1,3}XLA Error(?: codes|s Overview)\s*$", re.IGNORECASE | re.MULTILINE)
_TEXT = re.compile(r"Error code:\s{0,3}E?(\d{3,4})\s*$", re.IGNORECASE | re.MULTILINE)
_CATEGORY = re.compile(r"(?:\*\*)?Category:", re.IGNORECASE)
_HTML_HEADING = re.compile(r"<title>\s{0,20}Error code:\s{0,3}E(\d{4})\b", re.IGNORECASE)
_LAST_UPDATED = re.compile(r"Last updated (\d{4}-\d\d-\d\d)")
# An error page of any host, or another page of OpenXLA's docs.
_DOCS_PATH = re.compile(
    r"https?://(?:www\.)?([a-z0-9.-]{1,253}(?::\d{1,5})?/(?:[a-z0-9_-]{1,60}/){0,6}errors/error_\d{4}"
    r"|openxla\.org/xla/[a-z0-9_/]{1,200}?)/?(?:\.html|\.md)?(?:[?#].*)?$"
)


def html_page(text: str, sha256: str) -> Place | None:
    """A page of the docs site."""
    if not is_html(text) or "devsite-article" not in text:
        return None
    head = text[:HEAD_CHARACTERS]
    url = canonical_url(head)
    if url is not None and not _docs_key(url):
        return None
    updated = _LAST_UPDATED.search(text)
    heading = _HTML_HEADING.search(head)
    if url is None and heading:
        url = _error_url(heading[1])
    url = url.split("?")[0] if url else None
    return _place("xla-html", "page:html", url, sha256, version_at=updated[1] if updated else "")


def markdown_page(text: str, sha256: str) -> Place | None:
    """A page of the repository."""
    code = _MARKDOWN.match(text)
    if code:
        place = _place("xla-md", "main", _error_url(code[1]), sha256)
        if "/errors/error_" not in place.document_key:
            return place
        # A file does not say how new it is: all versions are kept, and the page's history tells which one holds.
        return _place("xla-md", f"main:{sha256[:16]}", place.url, sha256)
    overview = _OVERVIEW.match(text)
    if overview:
        page = "error_codes" if "code" in overview[0].lower() else "errors_overview"
        return _place("xla-md", "main", f"https://openxla.org/xla/{page}", sha256)
    return None


def catalogue_header(text: str, sha256: str) -> Place | None:
    """The header that lists the codes; Markdown that quotes it is none."""
    if text.startswith("# ") or is_html(text) or "XLA_ERROR_CODE_LIST" not in text[:HEAD_CHARACTERS]:
        return None
    return _place("xla-catalog", "main", "https://openxla.org/xla/error/error_codes", sha256)


def text_page(text: str, sha256: str) -> Place | None:
    """A page whose text was copied, with or without its heading."""
    code = _TEXT.match(text)
    if code:
        return _place("xla-text", "page:text", _error_url(code[1]), sha256)
    return _place("xla-text", "page:text", _url_of_category(text), sha256) if _CATEGORY.match(text) else None


def catalogue_row(value: Mapping[str, object], sha256: str) -> tuple[Place, ...] | None:
    """A row of XLA's list of error codes."""
    code = value.get("code")
    if not isinstance(code, str) or not _CODE.fullmatch(code) or not isinstance(value.get("absl_status"), str):
        return None
    url = f"https://openxla.org/xla/errors/error_{code[1:]}"
    return (Place("xla-catalog", f"openxla.org/xla/errors/error_{code[1:]}", "catalog", "", url),)


def history(value: Mapping[str, object], sha256: str) -> tuple[Place, ...] | None:
    """When files landed: of one docs page, or of a repository's files. Each error page of OpenXLA takes its dates."""
    files = value.get("files", {value["path"]: value} if isinstance(value.get("path"), str) else None)
    if not isinstance(files, dict) or value.get("repository", "openxla/xla") != "openxla/xla":
        return None
    found = []
    for path, row in sorted(files.items()):
        name = _PAGE_FILE.fullmatch(path)
        if name and isinstance(row, dict) and isinstance(row.get("last_updated"), str):
            key = f"openxla.org/xla/errors/{name[1]}"
            found.append(Place("xla-history", key, "history", row["last_updated"], f"https://{key}"))
    return tuple(found) or None


def _place(form: str, part: str, url: str | None, sha256: str, *, version_at: str = "") -> Place:
    return Place(form, _docs_key(url) or unknown_key(sha256), part, version_at, url)


def _docs_key(url: str | None) -> str | None:
    """The document key of a page of official docs: its URL without scheme, query and fragment."""
    match = _DOCS_PATH.match(url) if url else None
    return match[1] if match else None


@cache
def _docs_codes() -> tuple[dict[str, str], dict[str, str]]:
    """Headings that were printed wrong, and codes by what their page is about."""
    path = resources.files("pipeline").joinpath("data/docs/xla_pages.toml")
    table = warm.table(path.read_text("utf-8"))["code"]
    return table["misprints"], table["categories"]


def _url_of_category(text: str) -> str | None:
    """The address of a page that lost its heading and says what it is about."""
    about = text.split("\n", 1)[0].replace("**", "").partition(":")[2].strip().lower()
    return _error_url(_docs_codes()[1].get(about, "").removeprefix("E"))


def _error_url(digits: str) -> str | None:
    digits = _docs_codes()[0].get(f"E{digits}", digits).removeprefix("E")
    return f"https://openxla.org/xla/errors/error_{digits}" if len(digits) == 4 else None


RULES = Rules(json=(catalogue_row, history), texts=(html_page, markdown_page, catalogue_header, text_page))
