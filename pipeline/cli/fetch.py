"""`errmine ingest` and `errmine forget`: what comes into raw from outside, and what is erased from it on request."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.app import Command, Config, Group, Home, Json, Quiet, app, settings
from pipeline.cli.output import complain, console, print_json, print_table, say

if TYPE_CHECKING:
    from pipeline.config import Settings
    from pipeline.providers.provider import Forecast, Told
    from pipeline.run import Fetched

# In logs, one line a minute says that the run lives.
LOG_SECONDS = 60.0
Dry = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, fetch nothing.")]


class _Sources(Group):
    """A command for every source of the providers' rows; the rows are loaded only where `ingest` is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order in which a run reads them."""
        from pipeline.run.ingest.sourcing import SOURCES

        return list(SOURCES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of one source: its own, if it has options of its own, or the general one."""
        known = super().get_command(ctx, cmd_name)
        return known if known or cmd_name not in self.list_commands(ctx) else _general(cmd_name)


ingests = typer.Typer(cls=_Sources, invoke_without_command=True)
app.add_typer(ingests, name="ingest")


@ingests.callback()
def ingest(
    ctx: typer.Context,
    dry_run: Dry = False,
    home: Home = None,
    config: Config = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Bring the configured sources, or one of them, into raw; without Prefect.

    A run that must wait too long ends with status 3 and the next one goes on from there.
    """
    if ctx.invoked_subcommand is None:
        _ingest(_Call(home, config, dry_run, quiet, as_json))
    elif any(getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE" for name in ctx.params):
        raise typer.BadParameter(f"options stand behind the source: errmine ingest {ctx.invoked_subcommand} …")


@ingests.command("github", cls=Command)
def _github(  # noqa: PLR0913, PLR0917  (one an option)
    repo: Annotated[list[str] | None, typer.Option("--repo", help="owner/name; again for more.")] = None,
    since: Annotated[str, typer.Option("--since", help="Only threads changed on this day (UTC) or later.")] = "",
    state: Annotated[str, typer.Option("--state", help="all, open or closed.")] = "",
    labels: Annotated[str, typer.Option("--labels", help="Only with all of these labels, comma-separated.")] = "",
    dry_run: Dry = False,
    home: Home = None,
    config: Config = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Bring the repositories of the settings into raw, or those that are named.

    GitHub's API needs no token for public repositories, but without one it answers 60 requests an hour; GITHUB_TOKEN
    raises that to 5,000. GITHUB_API_URL names another server.
    """
    names = [part.strip() for part in labels.split(",") if part.strip()]
    said = {"repos": repo, "since": since, "state": state, "labels": names}
    _ingest(_Call(home, config, dry_run, quiet, as_json), "github", said)


@ingests.command("docs", cls=Command)
def _docs(
    catalogue: Annotated[
        list[str] | None,
        typer.Option("--catalogue", help="Only this page of error codes, such as jax-errors; again for more."),
    ] = None,
    via: Annotated[str, typer.Option("--via", help="html (their site) or github (their repository).")] = "",
    dry_run: Dry = False,
    home: Home = None,
    config: Config = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Bring official pages into raw: OpenXLA's, and those that list error codes."""
    _ingest(_Call(home, config, dry_run, quiet, as_json), "docs", {"catalogue": catalogue, "via": via})


def _general(source: str) -> Any:
    """The command of a source without options of its own."""
    made = typer.Typer(add_completion=False)

    @made.command(source, cls=Command, help=f"Bring the {source} of the settings into raw.")
    def function(
        dry_run: Dry = False, home: Home = None, config: Config = None, quiet: Quiet = False, as_json: Json = False
    ) -> None:
        _ingest(_Call(home, config, dry_run, quiet, as_json), source)

    return typer.main.get_command(made)


@app.command()
def forget(
    url: Annotated[list[str], typer.Option("--url", help="Web address of an issue or pull request; again for more.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Erase a thread from raw for good; it is never taken in again.

    Its pages in raw go at once, with what the home remembers of it: addresses, ids of entries that no other thread
    shows, answers of engines. The database and the bundle lose it with the next `errmine build` and `errmine export`.
    What stays is a hash that says that something was forgotten.
    """
    from pipeline import run as joined
    from pipeline.text import counted

    chosen = settings(home)
    told = []
    for address in url:
        key, erased = joined.forget(chosen.home, chosen.raw_path, address)
        told.append({"document": key, "pages": erased.page_count, "ids": erased.id_count})
        if as_json:
            continue
        ids = f", {counted(erased.id_count, 'id of an entry', 'ids of entries')}" if erased.id_count else ""
        say(f"{key}: {counted(erased.page_count, 'page')} erased{ids}")
    if as_json:
        print_json(told)
        return
    say("now run `errmine build` and `errmine export`: until then the database and the bundle still have it")


@dataclass(frozen=True, slots=True)
class _Call:
    """What every form of the command may be told."""

    home: Path | None
    config: Path | None
    dry_run: bool
    is_quiet: bool
    as_json: bool


def _ingest(call: _Call, source: str = "", said: Mapping[str, Any] | None = None) -> None:
    """Nothing; the source, or all that are configured, are in raw, or what they would cost is told."""
    from pipeline.run.ingest import sourcing

    chosen = settings(call.home, call.config)
    said = {name: value for name, value in (said or {}).items() if value}
    names = (source,) if source else sourcing.configured(chosen)
    if not any(sourcing.has_anything(chosen, name, said) for name in names):
        hint = "Name files or repositories in errmine.toml, or use `errmine import` or `errmine ingest github --repo`."
        complain("no source is configured", hint=hint)
        raise typer.Exit(2)
    if call.dry_run:
        _show_forecasts({name: sourcing.foreseen(chosen, name, said=said) for name in names}, as_json=call.as_json)
        return
    _bring(chosen, names, said, call)


def _bring(chosen: Settings, names: Sequence[str], said: Mapping[str, Any], call: _Call) -> None:
    from pipeline.cli.work import _report, say_partial

    with _telling(is_quiet=call.is_quiet or call.as_json) as told:
        brought = [_recorded(chosen, name, said, told) for name in names]
    for fetched in brought:
        _report(fetched.summary, is_quiet=call.is_quiet, as_json=call.as_json)
    for fetched in brought:
        if fetched.error is not None:
            raise fetched.error
    if any(fetched.is_partial for fetched in brought):
        say_partial()


def _recorded(chosen: Settings, source: str, said: Mapping[str, Any], told: Told) -> Fetched:
    """What came of a source, with a record of the run as the source's flow leaves it."""
    from pipeline import run as joined
    from pipeline.run.ingest import sourcing

    with joined.recorded(chosen.home, f"ingest-{source}", is_ingest=True) as record:
        fetched = sourcing.bring(chosen, source, said=said, told=told)
        record.summary = fetched.summary
        record.status = joined.status_of([fetched])
        if fetched.error is not None:
            record.detail["error"] = str(fetched.error)
    return fetched


def _show_forecasts(forecasts: Mapping[str, Sequence[Forecast]], *, as_json: bool) -> None:
    """What the sources would cost, where anybody counts it."""
    rows = [row for each in forecasts.values() for forecast in each for row in forecast.rows]
    if as_json:
        print_json(rows)
        return
    if rows:
        columns = list(rows[0])
        print_table("", [name.replace("_", " ") for name in columns], [[row[name] for name in columns] for row in rows])
    for name, each in forecasts.items():
        if not each:
            say(f"{name}: nothing that anybody counts")
        for forecast in each:
            if forecast.note:
                say(forecast.note)


@contextmanager
def _telling(*, is_quiet: bool) -> Iterator[Told]:
    """What shows the figures as they change: a status line on a terminal, one line a minute elsewhere."""
    from rich.text import Text

    on_stderr = console(stderr=True)
    if is_quiet:
        yield lambda _name, _done, _line: None
    elif on_stderr.is_terminal:
        with on_stderr.status("ingest") as status:
            yield lambda _name, _done, line: status.update(Text(line))
    else:
        last = [time.monotonic()]

        def log(_name: str, _done: int, line: str) -> None:
            if time.monotonic() - last[0] >= LOG_SECONDS:
                last[0] = time.monotonic()
                on_stderr.print(line, soft_wrap=True)

        yield log
