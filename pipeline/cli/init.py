"""`errmine init`: a home with a commented errmine.toml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.app import Home, app
from pipeline.cli.output import say
from pipeline.records.errors import ConfigError


@app.command()
def init(
    home: Home = None,
    only_print: Annotated[bool, typer.Option("--print", help="Print it, write nothing.")] = False,
) -> None:
    """Write errmine.toml with every setting, its meaning and its default, all commented out. Never over another."""
    from pipeline.cli.settings_file import commented
    from pipeline.config import FILE_NAME

    text = commented()
    if only_print:
        sys.stdout.write(text)
        return
    path = (home or Path()) / FILE_NAME
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path.parent} is no folder: {error.strerror}", hint="Name another one: --home.") from error
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{path} is there already", hint="`errmine init --print` shows all settings.") from error
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}", hint="Name another folder: --home.") from error
    say(f"settings  {path.resolve()}")
    say("next      errmine import FILES, or name sources there; then errmine build and errmine export, or errmine run")
