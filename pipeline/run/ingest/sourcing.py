"""The sources that the settings name, each brought into raw by one function; tokens come from the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from pipeline.config import DocsSource, GithubSource, Settings
from pipeline.providers.catalogue import pages as catalogue_pages
from pipeline.providers.catalogue.pages import Catalogue
from pipeline.providers.github import fetch as github
from pipeline.records.errors import ConfigError
from pipeline.run.home.summary import Summary, joined_summary
from pipeline.run.ingest.importing import Fetched, import_files, ingest_github
from pipeline.run.ingest.ingesting_docs import ingest_catalogues, ingest_docs

#: Every source that there is, in the order in which a run reads them.
SOURCES = ("files", "github", "docs")

#: Told of a repository and of what was done for it so far.
Told = Callable[[str, github.Figures], None]


def _nobody(_repo: str, _figures: github.Figures) -> None:
    """Told of what nobody wants to know."""


def configured(settings: Settings) -> tuple[str, ...]:
    """The sources that have anything in the settings."""
    sources = settings.sources
    has_docs = sources.docs is not None or bool(sources.catalogues)
    there = {"files": bool(sources.paths), "github": bool(sources.github), "docs": has_docs}
    return tuple(name for name in SOURCES if there[name])


def chosen(settings: Settings, names: Sequence[str]) -> tuple[str, ...]:
    """The sources in `names`, or else all that are configured.

    Raises:
        ConfigError: a name is of no source, or of one with nothing in the settings.
    """
    unknown = sorted(set(names) - set(SOURCES))
    if unknown:
        raise ConfigError(f"no source called {', '.join(unknown)}", hint=f"There are: {', '.join(SOURCES)}.")
    empty = sorted(set(names) - set(configured(settings)))
    if empty:
        where = settings.origin or "errmine.toml"
        raise ConfigError(f"{where}: nothing is configured for {', '.join(empty)}")
    return tuple(name for name in SOURCES if name in names) if names else configured(settings)


def bring(settings: Settings, source: str, *, told: Told = _nobody) -> Fetched:
    """What came of one source of the settings; nothing, if it has nothing there."""
    if source not in configured(settings):
        return Fetched(Summary())
    if source == "files":
        return Fetched(import_files(settings.raw_path, settings.source_paths()))
    if source == "github":
        wanted = [one for section in settings.sources.github for one in wanted_of(section)]
        return bring_github(settings, wanted, told=told)
    return bring_docs(settings)


def bring_github(settings: Settings, wanted: Sequence[github.Wanted], *, told: Told = _nobody) -> Fetched:
    """What came of the repositories in `wanted`, read with the token and from the server of the environment."""
    return ingest_github(settings.raw_path, state_path(settings), wanted, client=github_client(settings), told=told)


def bring_docs(settings: Settings, *, via: str = "", catalogues: Sequence[str] = ()) -> Fetched:
    """What came of the official pages: OpenXLA's, and those that list error codes.

    `via` ("html" or "github") wins over the settings; `catalogues` are the only pages that are read, if there are any.
    Without a word in the settings OpenXLA's are read.

    Raises:
        ConfigError: a catalogue is unknown, or not whole.
    """
    wanted = catalogues_of(settings, catalogues)
    fetched = []
    if not catalogues and (settings.sources.docs is not None or not wanted):
        fetched.append(_bring_openxla(settings, via))
    if wanted:
        fetched.append(ingest_catalogues(settings.raw_path, wanted, fetched_at=datetime.now(UTC)))
    error = next((each.error for each in fetched if each.error is not None), None)
    return Fetched(joined_summary(*(each.summary for each in fetched)), error)


def catalogues_of(settings: Settings, names: Sequence[str]) -> list[Catalogue]:
    """The pages of error codes called `names`, else all of the settings."""
    said = {section.name: section.model_dump(exclude={"name"}) for section in settings.sources.catalogues}
    return [catalogue_pages.wanted(name, **said.get(name, {})) for name in names or said]


def _bring_openxla(settings: Settings, via: str) -> Fetched:
    section = settings.sources.docs or DocsSource()
    via = via or section.via
    token, api_url = os.environ.get("GITHUB_TOKEN"), _api_url()
    api = urlsplit(api_url)
    is_api = via == "github"
    credentials: Mapping[str, Mapping[str, str]] = {}
    if token and is_api:
        credentials = {f"{api.scheme}://{api.netloc}": {"Authorization": f"Bearer {token}"}}
    return ingest_docs(
        settings.raw_path,
        via=via,
        index_url=section.index_url or (api_url if is_api else None),
        fetched_at=datetime.now(UTC),
        credentials=credentials,
    )


def wanted_of(section: GithubSource) -> list[github.Wanted]:
    """The repositories of a section as the source takes them."""
    since = f"{section.since.isoformat()}T00:00:00Z" if section.since else None
    return [
        github.Wanted(
            repo=github.checked_repo(name),
            since=since,
            state=section.state,
            labels=tuple(section.labels),
            overlap_seconds=section.overlap_seconds,
        )
        for name in section.repos
    ]


def github_client(settings: Settings) -> github.Client:
    """A client with the environment's token; it waits no longer than the least patient section allows."""
    longest = min((section.max_wait_seconds for section in settings.sources.github), default=None)
    governor = github.Governor() if longest is None else github.Governor(max_wait_seconds=longest)
    return github.Client(os.environ.get("GITHUB_TOKEN"), api_url=_api_url(), governor=governor)


def state_path(settings: Settings) -> Path:
    """Folder of what is known of GitHub's repositories: watermarks, validators."""
    return settings.work_path / "github"


def _api_url() -> str:
    return os.environ.get("GITHUB_API_URL") or github.DEFAULT_API_URL


def line(repo: str, figures: github.Figures) -> str:
    """How far a repository is, in one line."""
    reset = ""
    if figures.quota_reset_at is not None:
        reset = f", reset {datetime.fromtimestamp(figures.quota_reset_at, UTC):%H:%M} UTC"
    left = "" if figures.quota_left is None else f", {figures.quota_left:,} left{reset}"
    counts = f"{figures.threads:,} threads, {figures.requests:,} requests, {figures.not_modified:,} unchanged"
    return f"{repo}: {counts}{left}"
