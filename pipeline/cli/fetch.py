"""`errmine ingest` and `errmine forget`: what comes into raw from outside, and what is erased from it on request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pipeline.cli.app import Config, Home, Json, Quiet, app, settings
from pipeline.cli.output import complain, print_json, print_table, say

if TYPE_CHECKING:
    from pipeline.config import Settings
    from pipeline.providers.github import fetch as github
    from pipeline.run import Fetched

# In logs, one line a minute says that the run lives.
LOG_SECONDS = 60.0
PLAN_COLUMNS = (
    "repo",
    "since",
    "issues",
    "pulls",
    "least_requests",
    "most_requests",
    "graphql_points",
    "quota_left",
    "most_hours",
)

Told = Callable[[str, "github.Figures"], None]


@app.command()
def ingest(  # noqa: PLR0913, PLR0917 - one a command-line option
    source: Annotated[str, typer.Argument(help="files, github or docs; without it: all that is configured.")] = "",
    repo: Annotated[list[str] | None, typer.Option("--repo", help="owner/name; again for more.")] = None,
    since: Annotated[str, typer.Option("--since", help="Only threads changed on this day (UTC) or later.")] = "",
    state: Annotated[str, typer.Option("--state", help="all, open or closed.")] = "",
    labels: Annotated[
        str, typer.Option("--labels", help="Only threads with all of these labels, comma-separated.")
    ] = "",
    catalogue: Annotated[
        list[str] | None,
        typer.Option("--catalogue", help="docs: only this page of error codes, such as jax-errors; again for more."),
    ] = None,
    via: Annotated[str, typer.Option("--via", help="docs: html (their site) or github (their repository).")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, fetch nothing.")] = False,
    home: Home = None,
    config: Config = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Bring the configured sources, or one of them, into raw; without Prefect.

    GitHub's API needs no token for public repositories, but without one it answers 60 requests an hour; GITHUB_TOKEN
    raises that to 5,000. GITHUB_API_URL names another server. A run that must wait too long ends with status 3 and the
    next one goes on from there.
    """
    from pipeline.run.ingest.sourcing import SOURCES, configured

    chosen = settings(home, config)
    if source not in ("", *SOURCES):
        raise typer.BadParameter(f"there is: {', '.join(SOURCES)}", param_hint="SOURCE")
    if source == "docs" or (source == "" and "docs" in configured(chosen) and not repo and not dry_run):
        _ingest_docs(chosen, catalogue or [], via=via, is_quiet=quiet, as_json=as_json)
        if source == "docs" or not (chosen.sources.github or chosen.sources.paths):
            return
    wanted = _wanted(chosen, repo or [], since=since, state=state, labels=labels) if source != "files" else []
    paths = chosen.source_paths() if source in ("", "files") and not repo else []
    if not wanted and not paths:
        hint = "Name files or repositories in errmine.toml, or use `errmine import` or `errmine ingest github --repo`."
        complain("no source is configured", hint=hint)
        raise typer.Exit(2)
    if dry_run:
        _show_plans(chosen, wanted, as_json=as_json)
        return
    _ingest(chosen, paths, wanted, is_quiet=quiet, as_json=as_json)


@app.command()
def forget(
    url: Annotated[list[str], typer.Option("--url", help="Web address of an issue or pull request; again for more.")],
    home: Home = None,
) -> None:
    """Erase a thread from raw for good; it is never taken in again.

    The database and the bundle lose it with the next `errmine build` and `errmine export`.
    """
    from pipeline import run as joined

    chosen = settings(home)
    for address in url:
        key, erased = joined.forget(chosen.raw_path, address)
        say(f"{key}: {erased:,} pages erased")
    say("now run `errmine build` and `errmine export`: until then the database and the bundle still have it")


def _ingest(chosen: Settings, paths: list[Path], wanted: list[github.Wanted], *, is_quiet: bool, as_json: bool) -> None:
    from pipeline import run as joined
    from pipeline.cli.work import _report, say_partial
    from pipeline.run import Fetched
    from pipeline.run.ingest import sourcing

    brought: list[Fetched] = []
    if paths:
        brought.append(_recorded(chosen, "files", lambda: Fetched(joined.import_files(chosen.raw_path, paths))))
    if wanted:
        with _telling(is_quiet=is_quiet or as_json) as told:
            brought.append(_recorded(chosen, "github", lambda: sourcing.bring_github(chosen, wanted, told=told)))
    for fetched in brought:
        _report(fetched.summary, is_quiet=is_quiet, as_json=as_json)
    for fetched in brought:
        if fetched.error is not None:
            raise fetched.error
    if any(fetched.is_partial for fetched in brought):
        say_partial()


def _recorded(chosen: Settings, source: str, bring: Callable[[], Fetched]) -> Fetched:
    """What `bring` brought, with a record of the run as the source's flow leaves it."""
    from pipeline import run as joined

    with joined.recorded(chosen.home, f"ingest-{source}", is_ingest=True) as record:
        fetched = bring()
        record.summary = fetched.summary
        record.status = joined.status_of([fetched])
        if fetched.error is not None:
            record.detail["error"] = str(fetched.error)
    return fetched


def _ingest_docs(chosen: Settings, names: list[str], *, via: str, is_quiet: bool, as_json: bool) -> None:
    from pipeline.cli.work import _report
    from pipeline.run.ingest import sourcing

    if via not in ("", "html", "github"):
        raise typer.BadParameter("html or github", param_hint="--via")
    fetched = _recorded(chosen, "docs", lambda: sourcing.bring_docs(chosen, via=via, catalogues=names))
    _report(fetched.summary, is_quiet=is_quiet, as_json=as_json)
    if fetched.error is not None:
        raise fetched.error


def _wanted(chosen: Settings, repos: list[str], *, since: str, state: str, labels: str) -> list[github.Wanted]:
    """The repositories named, or those of the settings; what the command line says wins."""
    from pipeline.config import GithubSource
    from pipeline.run.ingest import sourcing

    said: dict[str, Any] = {
        "since": _day(since) if since else None,
        "state": _state(state),
        "labels": [part.strip() for part in labels.split(",") if part.strip()],
    }
    sections = [GithubSource(repos=repos)] if repos else chosen.sources.github
    said = {name: value for name, value in said.items() if value}
    return [one for section in sections for one in sourcing.wanted_of(section.model_copy(update=said))]


def _state(value: str) -> Literal["all", "open", "closed"] | None:
    if value not in ("", "all", "open", "closed"):
        raise typer.BadParameter("all, open or closed", param_hint="--state")
    return value or None  # type: ignore[return-value]


def _day(value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise typer.BadParameter("a day such as 2026-01-31", param_hint="--since") from error


def _show_plans(chosen: Settings, wanted: list[github.Wanted], *, as_json: bool) -> None:
    from dataclasses import asdict

    from pipeline import run as joined
    from pipeline.run.ingest import sourcing

    plans = joined.plan_github(sourcing.state_path(chosen), wanted, client=sourcing.github_client(chosen))
    if as_json:
        print_json([{**asdict(plan), "most_hours": plan.most_hours} for plan in plans])
        return
    columns = [name.replace("_", " ") for name in PLAN_COLUMNS]
    rows = [[getattr(plan, name) for name in PLAN_COLUMNS] for plan in plans]
    print_table("", columns, rows)
    if any(plan.limit_per_hour < 1000 for plan in plans):
        say("without GITHUB_TOKEN GitHub answers 60 requests an hour, and unchanged pages cost as much as new ones")


@contextmanager
def _telling(*, is_quiet: bool) -> Iterator[Told]:
    """What shows the figures as they change: a status line on a terminal, one line a minute elsewhere."""
    from rich.console import Console

    from pipeline.run.ingest.sourcing import line

    console = Console(stderr=True)
    if is_quiet:
        yield lambda _repo, _figures: None
    elif console.is_terminal:
        with console.status("ingest") as status:
            yield lambda repo, figures: status.update(line(repo, figures))
    else:
        last = [time.monotonic()]

        def log(repo: str, figures: github.Figures) -> None:
            if time.monotonic() - last[0] >= LOG_SECONDS:
                last[0] = time.monotonic()
                console.print(line(repo, figures), markup=False, highlight=False, soft_wrap=True)

        yield log
