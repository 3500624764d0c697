"""`errmine pack`: begin a pack, prove it, see which ones are active."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.app import Config, Group, Home, Json, Quiet, app, settings
from pipeline.cli.output import complain, print_json, print_table, say

if TYPE_CHECKING:
    from pipeline.packs import Problem
    from pipeline.run.check.proving import Proven

pack = typer.Typer(cls=Group, no_args_is_help=True, help="Teach errmine a tool: begin a pack, prove it, list them.")
app.add_typer(pack, name="pack")


@pack.command()
def new(
    name: Annotated[str, typer.Argument(help="Its name: small letters, digits, -.")],
    to: Annotated[Path, typer.Option("--to", help="Folder in which its folder is made.")] = Path(),
) -> None:
    """Begin a pack: a folder with a table of lines and a domain, which passes its test as it is."""
    from pipeline.run.check.packing import begin

    folder = begin(name, to)
    for path in sorted(folder.iterdir()):
        say(str(path))
    say(f"Write your tool's lines into {folder / 'lines.toml'}, then: errmine pack test {folder}", style="dim")


@pack.command("test")
def prove_(
    folders: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Folders of packs.")],
    home: Home = None,
    config: Config = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Prove packs: every example goes to its row alone, no look-alike and no ordinary text does, nothing takes long.

    Other packs that the settings name are active too. Exit status 1 if something is wrong: the file, the line, what to
    do.
    """
    from pipeline import packs
    from pipeline.run.check.proving import prove

    found: list[Proven | packs.PackError] = []
    named = settings(home, config).pack_folders
    for folder in folders:
        try:
            active = packs.activate((*named, *packs.installed(), folder))
        except packs.PackError as error:
            found.append(error)
            continue
        mine = next(one for one in active.packs if one.folder == folder.resolve())
        found.append(prove(mine))
    if as_json:
        print_json([_row(one) for one in found])
    else:
        for one in found:
            _tell(one, is_quiet=quiet)
    raise typer.Exit(1 if any(one.problems for one in found) else 0)


@pack.command("list")
def list_(home: Home = None, config: Config = None, as_json: Json = False) -> None:
    """List the packs that are active: those that ship, those installed, those that the settings name."""
    from pipeline import packs

    settings(home, config)
    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "title": each.header.title,
            "version": each.header.version,
            "tables": sorted({Path(path).parts[0].removesuffix(".toml") for path, _ in each.files()} - {"pack"}),
            "ships": each.is_shipped,
            "folder": str(each.folder),
            "sha256": each.sha256,
            "summary": each.header.summary,
        }
        for each in packs.active().packs
    ]
    if as_json:
        print_json(rows)
        return
    columns = ["name", "version", "title", "tables", "from"]
    told = [(r["name"], r["version"], r["title"], " ".join(r["tables"]), _source(r)) for r in rows]
    print_table("", columns, told)


def _source(row: dict[str, Any]) -> str:
    return "errmine" if row["ships"] else str(row["folder"])


def _row(one: Any) -> dict[str, Any]:
    """What a program is told of one pack."""
    told = [
        {"file": str(each.path), "line": each.line, "message": each.message, "advice": each.advice}
        for each in one.problems
    ]
    if not hasattr(one, "pack"):
        return {"pack": None, "rows": {}, "examples": 0, "problems": told}
    return {"pack": one.pack, "rows": one.rows, "examples": one.examples, "problems": told}


def _tell(one: Any, *, is_quiet: bool) -> None:
    problems: tuple[Problem, ...] = one.problems
    for each in problems:
        complain(str(each), hint=each.advice)
    if hasattr(one, "pack") and not is_quiet:
        rows = ", ".join(f"{name} {count}" for name, count in one.rows.items()) or "none"
        verdict = f"{len(problems)} problems" if problems else "sound"
        say(f"{one.pack}: {verdict}; rows: {rows}; {one.examples} texts tried")
