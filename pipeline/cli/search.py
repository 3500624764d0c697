"""`errmine search` and `top`: entries by words of either language, and by how often they are reported."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.app import Home, Json, app, settings
from pipeline.cli.output import complain, print_json, say

Limit = Annotated[int, typer.Option("--limit", min=1, max=1000, help="Show at most this many entries.")]


@app.command()
def search(
    words: Annotated[str, typer.Argument(help="Words in English, Chinese or both: 'out of memory', 显存不足.")],
    home: Home = None,
    limit: Limit = 10,
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


@app.command()
def top(
    home: Home = None,
    unanswered: Annotated[
        bool, typer.Option("--unanswered", help="Only errors without a cause, a remedy, a fix or official text.")
    ] = False,
    domain: Annotated[str, typer.Option("--domain", help="Only errors of this domain, such as triton.")] = "",
    limit: Limit = 10,
    as_json: Json = False,
) -> None:
    """List the errors that most threads report, and which of them have no answer. Exit status 1 if there are none."""
    from pipeline.store import reading

    path = settings(home).database_path
    found = reading.top(path, domain=domain, limit=limit, is_unanswered=unanswered)
    if as_json:
        print_json(found)
    for one in () if as_json else found:
        told = "answered" if one["is_answered"] else "no answer"
        say(f"{one['document_count']:>6,}  {one['entry_id'] or one['cluster_id']}  ({told})", style="bold")
        say(f"        {one['signature']}")
    if not found:
        complain("no such error", hint="`errmine query 'FROM answer_shares'` lists the domains.")
        raise typer.Exit(1)
