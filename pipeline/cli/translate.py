"""`errmine translate`: what has no Chinese, out to people who translate and back through the gates."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.app import Group, Home, Json, app, settings
from pipeline.cli.output import complain, print_json, say
from pipeline.records.errors import ConfigError

translate = typer.Typer(
    cls=Group, no_args_is_help=True, help="Let people translate what has no Chinese: a PO file out, and back."
)
app.add_typer(translate, name="translate")


@translate.command()
def export(
    home: Home = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write.", show_default="standard output")
    ] = None,
    most: Annotated[int | None, typer.Option("--most", min=1, help="Texts at most.", show_default="all")] = None,
) -> None:
    """Write what has no Chinese as a PO file, the most reported first, with the error, a link and the terms."""
    from pipeline.records import kept
    from pipeline.run import Places
    from pipeline.run.translating import lacking

    text, shown, everything = lacking(Places.of(settings(home).home), most=most)
    if output is None:
        typer.echo(text, nl=False)
    else:
        try:
            kept.write(output, text.encode())
        except OSError as error:
            raise ConfigError(f"cannot write {output}: {error.strerror}", hint="Name a file: --output.") from error
        say(f"{shown:,} of {everything:,} texts without Chinese in {output}")
    if not everything:
        raise typer.Exit(1)


@translate.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A PO file that people translated.", exists=True, dir_okay=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Take a translated PO file back: each line is accepted, or refused with the reason. The next build uses it.

    Exit status 1 if a line was refused, or none has Chinese; what was accepted is kept all the same.
    """
    from pipeline.run import Places
    from pipeline.run.translating import taken_back

    places = Places.of(settings(home).home)
    lines = taken_back(places, file)
    refused = [line for line in lines if line.reason]
    if as_json:
        print_json([{"file": str(file), **asdict(line)} for line in lines])
    else:
        for line in refused:
            say(f"{file}:{line.number}: refused: {line.reason}")
        say(f"{len(lines) - len(refused):,} accepted, {len(refused):,} refused")
        if not lines:
            complain(f"{file}: no line has Chinese", hint="Fill in msgstr.")
        elif len(refused) < len(lines):
            say("run `errmine build` to see them")
    if refused or not lines:
        raise typer.Exit(1)
