"""OpenXLA's error pages and list of codes from its repository, through GitHub's contents API, with landing dates."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pipeline.providers.http import TRIES, Get, Response, condition
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import SourceChanged

API_URL = "https://api.github.com"
REPOSITORY = "openxla/xla"
FOLDER = "docs/errors"
HEADER = "xla/error/error_codes.h"
SITE = "openxla.org/xla"
# A page has at most 7 commits so far; ten full lists of 100 are no history of a page.
MAX_COMMIT_PAGES = 10
NONE: Mapping[str, str] = MappingProxyType({})
_PAGE_NAME = re.compile(r"error_\d{4}\.md")
_NEXT = re.compile(r'<([^<>]{1,2000})>;\s{0,3}rel="next"')
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Listed(_Shape):
    name: str
    path: str
    type: str


class _File(_Shape):
    path: str
    sha: str
    size: int
    encoding: str
    content: str
    html_url: str | None = None


class _Signed(_Shape):
    date: datetime


class _Signatures(_Shape):
    committer: _Signed


class _Commit(_Shape):
    sha: str
    commit: _Signatures


_LISTING = TypeAdapter(list[_Listed])
_FILE = TypeAdapter(_File)
_COMMITS = TypeAdapter(list[_Commit])
_Answer = TypeVar("_Answer")


def pages(
    get: Get, *, api_url: str = API_URL, validators: Mapping[str, str] = NONE, fetched_at: datetime | None = None
) -> Iterator[RawPage | Skipped]:
    """Each error page as Markdown with its dates beside it, and the list of codes.

    `validators` are ETags by the URL of the page kept; a file's URL ends with its path on whatever host it is.

    Raises:
        SourceChanged: an answer is not what the contents API gives; for a file, after the others.
    """
    base = f"{api_url.rstrip('/')}/repos/{REPOSITORY}"
    listing = _checked(_asked(get, f"{base}/contents/{FOLDER}", _LISTING), _LISTING)
    names = sorted(item.path for item in listing if item.type == "file" and _PAGE_NAME.fullmatch(item.name))
    if not names:
        raise SourceChanged(f"expected error pages in {FOLDER}", url=f"{base}/contents/{FOLDER}")
    changed: list[SourceChanged] = []
    for path in (*names, HEADER):
        validator = _validator(validators, path)
        response = _asked(get, f"{base}/contents/{path}", _FILE, validator)
        if response.status == 304:
            yield Skipped("ingest", response.url, "unchanged_page")
        elif response.status == 404:
            yield Skipped("ingest", response.url, "missing_page", "status 404")
        else:
            try:
                yield from _file(get, base, response, fetched_at)
            except SourceChanged as error:
                changed.append(error)
    if changed:
        raise changed[0]


def _asked(get: Get, url: str, shape: TypeAdapter[_Answer], validator: str | None = None) -> Response:
    """The answer of `url`; one with status 200 that is not of its shape is asked for again, the last is the answer."""
    for _ in range(TRIES - 1):
        response = get(url, headers={**_HEADERS, **condition(validator)})
        try:
            if response.status == 200:
                _checked(response, shape)
        except SourceChanged:
            continue
        return response
    return get(url, headers={**_HEADERS, **condition(validator)})


def _validator(validators: Mapping[str, str], path: str) -> str | None:
    return next((validators[url] for url in sorted(validators) if url.endswith(f"/{path}")), None)


def _file(get: Get, base: str, response: Response, fetched_at: datetime | None) -> Iterator[RawPage]:
    file = _checked(response, _FILE)
    path, url = file.path, response.url
    body = _content(file, url)
    commits = _commits(get, f"{base}/commits?path={path}&per_page=100")
    is_header = path == HEADER
    key = f"{SITE}/error/error_codes" if is_header else f"{SITE}/errors/{path.rsplit('/', 1)[-1].removesuffix('.md')}"
    last, first = commits[0].commit.committer.date, commits[-1].commit.committer.date
    history = {
        "repository": REPOSITORY,
        "path": path,
        "sha256": hashlib.sha256(body).hexdigest(),
        "first_seen": first.isoformat(),
        "last_updated": last.isoformat(),
        "commits": [{"commit": c.sha, "commit_date": c.commit.committer.date.isoformat()} for c in commits],
    }
    form = "xla-catalog" if is_header else "xla-md"
    dates = json.dumps(history, sort_keys=True).encode()
    for part, kind, content in (("main", form, body), ("history", "xla-history", dates)):
        yield RawPage(
            sha256=hashlib.sha256(content).hexdigest(),
            source="xla",
            url=file.html_url or url,
            form=kind,
            document_key=key,
            part=part,
            version_at=last.isoformat(),
            fetched_at=fetched_at,
            etag=response.headers.get("etag"),
            body=content,
        )


def _checked(response: Response, shape: TypeAdapter[_Answer]) -> _Answer:
    """The answer as the API describes it."""
    if response.status != 200 or response.content_type != "application/json":
        kind = response.content_type or "no type"
        raise SourceChanged(f"expected JSON, got {response.status}, {kind} from {response.url}", url=response.url)
    try:
        return shape.validate_json(response.body.removeprefix(codecs.BOM_UTF8))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise SourceChanged(f"{response.url}: {place}: {first['msg']}", url=response.url) from error


def _content(file: _File, url: str) -> bytes:
    """The file's bytes, checked against their size and git's own hash."""
    try:
        body = base64.b64decode(file.content)
    except (binascii.Error, ValueError) as error:
        raise SourceChanged(f"{url}: the content is not base64", url=url) from error
    blob = hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()
    if file.encoding != "base64" or len(body) != file.size or blob != file.sha:
        raise SourceChanged(f"{url}: the content is not the file that its sha names", url=url)
    return body


def _commits(get: Get, url: str) -> list[_Commit]:
    """The commits that changed a file, newest first."""
    found: list[_Commit] = []
    asked = url
    seen = {url}
    for _ in range(MAX_COMMIT_PAGES):
        response = _asked(get, asked, _COMMITS)
        newer: list[_Commit] = _checked(response, _COMMITS)
        found += newer
        following = _NEXT.search(response.headers.get("link", ""))
        if following is None or urlsplit(following[1]).netloc != urlsplit(url).netloc:
            break
        asked = following[1]
        if asked in seen:
            raise SourceChanged(f"{url}: its pages lead round in circles", url=url)
        seen.add(asked)
    if not found:
        raise SourceChanged(f"expected commits from {url}", url=url)
    return found
