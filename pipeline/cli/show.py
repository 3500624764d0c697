"""`errmine show` and `open`: one entry, to be read here or where it was reported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.app import BundlePlace, Home, Json, app
from pipeline.cli.asked import database
from pipeline.cli.labels import Language
from pipeline.cli.near import complete_id, did_you_mean
from pipeline.cli.output import complain, print_json, say
from pipeline.records.errors import ConfigError

Id = Annotated[
    str,
    typer.Argument(help="An entry (domain/slug), a former name of one, or a cluster id.", autocompletion=complete_id),
]
Lang = Annotated[Language, typer.Option("--lang", help="en, zh (Chinese first, headings and dates too) or both.")]


@app.command()
def show(
    entry_id: Id,
    home: Home = None,
    bundle: BundlePlace = None,
    lang: Lang = Language.BOTH,
    brief: Annotated[bool, typer.Option("--brief", help="Only what is known against it.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every remedy, case and quote, machines too.")] = False,
    as_json: Json = False,
) -> None:
    """Read one entry: does anybody know, what helped, what is only suggested, who said so; then the evidence."""
    if brief and everything:
        raise ConfigError("--brief and --all are two depths", hint="Ask for one of them.")
    from pipeline.cli.entry_page import Depth, print_entry
    from pipeline.store import listing

    path = database(home, bundle)
    entry = _found(path, entry_id)
    if as_json:
        print_json(entry)
        return
    depth = Depth.BRIEF if brief else Depth.ALL if everything else Depth.NORMAL
    titles = {} if brief else listing.titles(path, sorted({piece["document_id"] for piece in entry["evidence"]}))
    print_entry(entry, lang=lang, depth=depth, titles=titles)


@app.command(name="open")
def open_(
    entry_id: Id,
    home: Home = None,
    bundle: BundlePlace = None,
    only_print: Annotated[bool, typer.Option("--print", help="Print the address, open no browser.")] = False,
    as_json: Json = False,
) -> None:
    """Open the page that tells most of an entry: what helped, else the official page, else the newest thread.

    The address is printed; exit status 1 if the entry has none.
    """
    from pipeline.ask import digest
    from pipeline.cli.browsing import best_page, open_in_browser

    url = best_page(digest(_found(database(home, bundle), entry_id)))
    if as_json:
        print_json({"url": url})
    elif url:
        say(url)
    if url is None:
        complain(f"{entry_id} has no address on the web", hint=f"`errmine show {entry_id}` shows what is known.")
        raise typer.Exit(1)
    if not (only_print or as_json):
        open_in_browser(url)


def _found(path: Path, entry_id: str) -> dict[str, Any]:
    from pipeline.store import listing, reading

    entry = reading.entry(path, entry_id)
    if entry is None:
        near = did_you_mean(entry_id, listing.entry_ids(path))
        complain(f"no entry {entry_id}", hint=near or "`errmine list` lists them, `errmine search WORDS` finds them.")
        raise typer.Exit(1)
    return entry
