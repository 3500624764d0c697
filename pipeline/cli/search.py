"""`errmine search`: entries by words, in English and in Chinese."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.app import Home, Json, app, settings
from pipeline.cli.output import complain, print_json, say


@app.command()
def search(
    words: Annotated[str, typer.Argument(help="Words in English, Chinese or both: 'out of memory', 显存不足.")],
    home: Home = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Show at most this many entries.")] = 10,
    as_json: Json = False,
) -> None:
    """Find entries by words in English or Chinese, best first. Exit status 1 if no entry has any of them."""
    from pipeline.store import reading

    found = reading.search(settings(home).database_path, words, limit=limit)
    if as_json:
        print_json(found)
    for hit in () if as_json else found:
        say(f"{hit['score']:7.2f}  {hit['entry_id']}", style="bold")
        say(f"         {hit['signature']}")
        if hit["signature_zh"]:
            say(f"         {hit['signature_zh']}")
    if not found:
        complain(f"no entry for {words!r}", hint="Fewer or other words; a single Chinese character is too short.")
        raise typer.Exit(1)
