"""The application object and the options that all commands share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from pipeline import __version__

if TYPE_CHECKING:
    from pipeline.config import Settings

# numpy reads it when a command first needs it: threads over matrices as small as ours wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# pydantic asks each package that is installed whether it is a plugin of its own: of ours none is
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


class Command(TyperCommand):
    """A command whose help shows a switch as a switch: `--json`, without the type of its value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters."""
        return _switches(super().get_params(ctx))


class Group(TyperGroup):
    """Commands under one name, with help as `Command` gives it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters."""
        return _switches(super().get_params(ctx))


def _switches(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


app = typer.Typer(
    name="errmine",
    cls=Group,
    help="Turn public bug reports into error knowledge: counted, cited, queryable, in English and Chinese.",
    epilog="Exit status: 0 done · 1 found nothing, or found it invalid · 2 usage or settings · 3 the outside failed · "
    "4 reconcile found something wrong.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Home = Annotated[
    Path | None,
    typer.Option("--home", help="Folder of raw/ and curated/.", envvar="ERRMINE_HOME", show_default="current folder"),
]
Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file.", show_default="errmine.toml in the home, if it exists")
]
BundlePlace = Annotated[
    str | None,
    typer.Option(
        "--bundle",
        metavar="PLACE",
        help="A bundle, with or without a database: its folder, or s3://bucket/prefix; default: curated/ of the home.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary, only results and errors.")]


Packs = Annotated[
    list[Path] | None,
    typer.Option("--pack", metavar="FOLDER", help="A pack to read with, besides those of the settings; repeatable."),
]


def settings(home: Path | None, config: Path | None = None, *, with_packs: Sequence[Path] = ()) -> Settings:
    """The settings in force for this command; the packs that they name, and those of `with_packs`, are active."""
    from pipeline import packs
    from pipeline.config import read_settings

    found = read_settings(config, home=home)
    packs.activate((*found.pack_folders, *packs.installed(), *with_packs))
    return found


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"errmine {__version__}")
        raise typer.Exit


@app.callback()
def errmine(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Turn public bug reports into error knowledge: counted, cited, queryable, in English and Chinese."""
