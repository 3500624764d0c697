"""`errmine report`: what is new, growing, fixed and unanswered in a home, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.app import BundlePlace, Home, Json, app, settings
from pipeline.cli.asked import database
from pipeline.cli.output import print_json, say
from pipeline.records.errors import ConfigError


@app.command()
def report(
    home: Home = None,
    bundle: BundlePlace = None,
    since: Annotated[
        str,
        typer.Option(
            "--since",
            help="A run, by its id or its beginning, or a day: new is what came after.",
            metavar="RUN|DAY",
        ),
    ] = "",
    days: Annotated[
        int, typer.Option("--days", min=1, max=36_500, help="Days of the data that count as of late.")
    ] = 90,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            help="Folder of report.html and report.md; default: the home, of a bundle the current folder.",
            metavar="FOLDER",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write what is new, trending, fixed and unanswered as one page of HTML and as Markdown.

    Beside it: errors by domain and version, how much is in Chinese, how good the sources are. The page needs nothing
    beside it and prints well. `errmine status` lists runs; without --since all is new.
    """
    from pipeline.export import report as reports
    from pipeline.run.home import overview

    if bundle and since:
        raise ConfigError("--since names a run, and a bundle has none", hint="Leave --since out, or ask the home.")
    place = settings(home).home
    told = overview.report(place, since=since, days=days, database=database(home, bundle) if bundle else None)
    page, text = reports.write(to or (Path() if bundle else place), told)
    counts = {name: len(getattr(told, name)) for name in ("new", "trending", "fixed", "unanswered")}
    if as_json:
        print_json({"html": str(page), "markdown": str(text), **counts})
    else:
        say(", ".join(f"{count:,} {name}" for name, count in counts.items()))
        say(f"report    {page.resolve()}")
