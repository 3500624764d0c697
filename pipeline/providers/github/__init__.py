"""GitHub: issues and pull requests with all that belongs to them, through its API, GH Archive or exports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from pipeline.providers.provider import Provider, Section, Source, narrowed

_REPO = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")

#: GitHub's JSON, the form with most in it first.
FORMS = (
    "github-thread",
    "gharchive-thread",
    "github-comment",
    "github-comments",
    "github-review",
    "github-reviews",
    "github-review-comment",
    "github-review-comments",
    "github-timeline",
    "github-references",
    "gharchive-comment",
    "gharchive-review",
    "github-release",
)


def is_repo(name: str) -> bool:
    """Whether a name is owner/name, as GitHub writes them."""
    return _REPO.fullmatch(name) is not None and not {".", ".."} & set(name.split("/"))


def _repo(name: str) -> str:
    if not is_repo(name):
        raise ValueError(f"{name[:100]!r} is no repository; write owner/name, such as openxla/xla")
    return name


_Repo = Annotated[str, AfterValidator(_repo)]


class GithubSource(Section):
    """`[[sources.github]]`: repositories that are read through GitHub's API. The token is GITHUB_TOKEN, never here."""

    repos: list[_Repo] = Field(min_length=1, description="owner/name, as many as wanted.")
    since: date | None = Field(default=None, description="Only threads changed on this day (UTC) or later.")
    state: Literal["all", "open", "closed"] = Field(default="all", description="Which threads.")
    labels: list[str] = Field(default=[], description="Only threads that have all of these labels.")
    max_wait_seconds: Annotated[float, Field(ge=0)] = Field(
        default=3900.0, description="Longest that a run waits for GitHub's limits in all; then it ends, resumable."
    )
    overlap_seconds: Annotated[int, Field(ge=1)] = Field(
        default=600, description="How far before its last start the next run begins again."
    )


def _narrowed(sections: tuple[Section, ...], said: Mapping[str, Any]) -> tuple[Section, ...]:
    """Repositories that are named are read, and no others; each is checked where it is asked for."""
    return narrowed((GithubSource.model_construct(repos=said["repos"]),) if "repos" in said else sections, said)


PROVIDER = Provider(
    name="github",
    package=__name__,
    forms=FORMS,
    source=Source(
        ingest="github",
        key="github",
        section=GithubSource,
        is_list=True,
        description="Repositories, read through GitHub's API.",
        module="fetch.repositories",
        narrowed=_narrowed,
    ),
)
