"""`errmine quarantine`: documents on which a worker hung, died or ran out of memory twice."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from pipeline.cli.app import Group, Home, Json, app, settings
from pipeline.cli.output import complain, print_json, print_table, say

quarantine = typer.Typer(
    cls=Group, no_args_is_help=True, help="See the documents that no worker survived, and try them again."
)
app.add_typer(quarantine, name="quarantine")


@quarantine.command("list")
def list_(home: Home = None, as_json: Json = False) -> None:
    """List every document in quarantine, with the reason."""
    from pipeline.run import Places
    from pipeline.run.check.quarantine import listed

    found = listed(Places.of(settings(home).home))
    if as_json:
        print_json([asdict(document) for document in found])
    elif found:
        rows = [(document.document_key, document.reason, document.detail) for document in found]
        print_table("", ["document", "reason", "detail"], rows)
    else:
        say("the quarantine is empty")


@quarantine.command()
def show(
    document: Annotated[str, typer.Argument(help="A document's key, as `list` prints it.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show one document in quarantine and the raw pages that it is made of."""
    from pipeline.run import Places
    from pipeline.run.check.quarantine import closeup

    found = closeup(Places.of(settings(home).home), document)
    if found is None:
        complain(f"{document} is not in quarantine", hint="`errmine quarantine list` names them.")
        raise typer.Exit(1)
    pages = [{"sha256": page.sha256, "form": page.form, "url": page.url, "bytes": page.size} for page in found.pages]
    if as_json:
        print_json({**asdict(found.document), "pages": pages})
        return
    say(f"{found.document.document_key}: {found.document.reason} ({found.document.detail})")
    print_table("", ["page", "form", "url", "bytes"], [tuple(page.values()) for page in pages])


@quarantine.command()
def retry(
    documents: Annotated[list[str] | None, typer.Argument(help="Documents' keys; without any: all.")] = None,
    home: Home = None,
) -> None:
    """Let documents out: the next build tries them again."""
    from pipeline.run import Places
    from pipeline.run.check import quarantine as ward

    let_out = ward.retry(Places.of(settings(home).home), documents or [])
    say(f"{len(let_out)} let out; run `errmine build`")
