"""`errmine search`, `top` and `list`: entries by words of either language, by how often they are reported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.app import BundlePlace, Home, Json, app
from pipeline.cli.asked import database
from pipeline.cli.near import complete_name, did_you_mean
from pipeline.cli.output import complain, print_json
from pipeline.records.errors import ConfigError

Limit = Annotated[int, typer.Option("--limit", min=1, max=100_000, help="Show at most this many entries.")]
Domain = Annotated[
    str,
    typer.Option(
        "--domain", help="Only errors of this domain, such as triton.", autocompletion=complete_name("domain")
    ),
]
Unanswered = Annotated[
    bool, typer.Option("--unanswered", help="Only errors without a cause, a remedy, a fix or official text.")
]


@app.command()
def search(
    words: Annotated[str, typer.Argument(help="Words in English, Chinese or both: 'out of memory', 显存不足.")],
    home: Home = None,
    bundle: BundlePlace = None,
    limit: Limit = 10,
    as_json: Json = False,
) -> None:
    """Find entries by words in English or Chinese, best first. Exit status 1 if no entry has any of them."""
    from pipeline.cli.listing import print_hits
    from pipeline.store import reading

    found = reading.search(database(home, bundle), words, limit=limit)
    if as_json:
        print_json(found)
    else:
        print_hits(found)
    if not found:
        complain(f"no entry for {words!r}", hint="Fewer or other words; a single Chinese character is too short.")
        raise typer.Exit(1)


@app.command()
def top(
    home: Home = None,
    bundle: BundlePlace = None,
    unanswered: Unanswered = False,
    domain: Domain = "",
    limit: Limit = 10,
    as_json: Json = False,
) -> None:
    """List the errors that most threads report, and which of them have no answer. Exit status 1 if there are none."""
    _list(database(home, bundle), {"domain": domain, "is_unanswered": unanswered}, limit, as_json=as_json)


@app.command(name="list")
def list_(  # noqa: PLR0913, PLR0917  (one an option)
    home: Home = None,
    bundle: BundlePlace = None,
    domain: Domain = "",
    code: Annotated[
        str,
        typer.Option(
            "--code",
            help="Only errors with this code: cuda:cudaErrorIllegalAddress, or without its family; E1042, 503.",
            autocompletion=complete_name("code"),
        ),
    ] = "",
    repository: Annotated[
        str,
        typer.Option(
            "--repository",
            help="Only errors that were reported there: owner/repo, or its last part.",
            autocompletion=complete_name("repository"),
        ),
    ] = "",
    unanswered: Unanswered = False,
    since: Annotated[
        str, typer.Option("--since", help="Only errors that were reported then or later: 2026-03-01.")
    ] = "",
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List the errors that fit, most reported first. Exit status 1 if none does.

    On a terminal a list for people; elsewhere a line an entry with tabs between: documents, id, whether it is answered,
    documented only, or neither, last day, message.
    """
    wanted = {"domain": domain, "code": code, "repository": repository, "since": _day(since)}
    _list(database(home, bundle), {**wanted, "is_unanswered": unanswered}, limit, as_json=as_json)


def _list(path: Path, wanted: dict[str, Any], limit: int, *, as_json: bool) -> None:
    from pipeline.cli.listing import print_errors
    from pipeline.store import listing

    there = listing.listed(path, listing.Wanted(**wanted), limit=limit + 1)
    found = there[:limit]
    if as_json:
        print_json(found)
    else:
        print_errors(found, has_more=len(there) > limit)
    if found:
        return
    hints = [
        did_you_mean(wanted.get(kind, ""), listing.names(path, kind))
        for kind in ("domain", "code", "repository")
        if wanted.get(kind)
    ]
    if not any(wanted.values()):
        complain(
            "there is no error in it", hint="`errmine import PATH…` brings reports in, `errmine build` reads them."
        )
        raise typer.Exit(1)
    complain("no such error", hint=next(filter(None, hints), "`errmine status` lists the domains; ask for less."))
    raise typer.Exit(1)


def _day(text: str) -> str:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError as error:
        raise ConfigError(f"--since {text}: no day", hint="Write it as 2026-03-01.") from error
