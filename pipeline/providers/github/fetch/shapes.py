"""The shapes that GitHub's answers must have: only what errmine relies on is named, everything else may come and go."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipeline.records.errors import SourceChanged

# Times outside this are nobody's: GitHub began in 2008, and an archive may keep what was written before.
_EARLIEST, _LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2500, 1, 1, tzinfo=UTC)
_Time = Annotated[AwareDatetime, Field(ge=_EARLIEST, le=_LATEST)]
_Number = Annotated[int, Field(ge=1, lt=10**10, strict=True)]


class BadItem(SourceChanged):
    """A list is one, and something in it is not what it must be."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=False, frozen=True)


class Repository(_Shape):
    """`GET /repos/{owner}/{repo}`."""

    id: int
    full_name: str
    html_url: str


class Thread(_Shape):
    """An issue or pull request as a listing gives it."""

    number: _Number
    title: str
    html_url: str
    updated_at: _Time
    created_at: _Time
    state: str
    comments: int
    body: str | None
    pull_request: dict[str, object] | None = None


class Comment(_Shape):
    """A comment of an issue or pull request."""

    id: int
    created_at: _Time
    body: str | None


class Review(_Shape):
    """A review of a pull request."""

    id: int
    state: str
    body: str | None


class ReviewComment(_Shape):
    """A comment on a line of a pull request."""

    id: int
    body: str | None
    created_at: _Time


class TimelineEvent(_Shape):
    """One event of a timeline."""

    event: str


class Pull(_Shape):
    """`GET /repos/{owner}/{repo}/pulls/{number}`."""

    number: int
    merged: bool
    review_comments: int


class Release(_Shape):
    """One release as their listing gives it; a draft is not published."""

    id: _Number
    tag_name: str
    html_url: str
    published_at: _Time | None
    body: str | None = None


class Count(_Shape):
    """A search's answer, of which only the count matters."""

    total_count: int
    incomplete_results: bool = False


ShapeT = TypeVar("ShapeT", bound=_Shape)


def one(shape: type[ShapeT], body: bytes, url: str) -> ShapeT:
    """The object that `body` is.

    Raises:
        SourceChanged: it is no such object; the message names the URL and the field.
    """
    try:
        return shape.model_validate_json(body)
    except ValidationError as error:
        raise SourceChanged(_wrong(error, url), url=url) from error


def many(shape: type[ShapeT], body: bytes, url: str) -> list[ShapeT]:
    """The objects of the list that `body` is.

    Raises:
        SourceChanged: it is no list.
        BadItem: one of them is no such object.
    """
    try:
        return _list_of(shape).validate_json(body)
    except ValidationError as error:
        is_list = body.lstrip()[:1] == b"["
        raise (BadItem if is_list else SourceChanged)(_wrong(error, url), url=url) from error


@lru_cache
def _list_of(shape: type[ShapeT]) -> TypeAdapter[list[ShapeT]]:
    return TypeAdapter(list[shape])  # type: ignore[valid-type]


def _wrong(error: ValidationError, url: str) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "the answer"
    return f"{url}: {place}: {first['msg']} ({error.error_count()} in all)"
