"""`errmine export` and `apply`: the bundle, what changed in it, and other forms of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.app import Config, Home, Json, Quiet, app, settings
from pipeline.cli.output import complain, print_json, say
from pipeline.cli.work import _finish, say_waiting
from pipeline.records.errors import ConfigError

if TYPE_CHECKING:
    from pipeline.config import Settings
    from pipeline.export import Before
    from pipeline.records.bundle import Delta

To = Annotated[Path | None, typer.Option("--to", help="Where the result goes.", metavar="PATH")]


@app.command()
def export(  # noqa: PLR0913, PLR0917  (all that may be asked, one option each)
    home: Home = None,
    config: Config = None,
    since: Annotated[
        Path | None,
        typer.Option(
            "--since",
            help="Also write what changed since this bundle: its folder or its manifest.json.",
            metavar="PATH",
        ),
    ] = None,
    form: Annotated[str, typer.Option("--form", help="bundle, markdown or errorcanon.")] = "bundle",
    to: To = None,
    publish: Annotated[
        str | None,
        typer.Option(
            "--publish",
            help="Also put the bundle into an object store, as s3://bucket/prefix; "
            "default: `to` of the section `publish`.",
            metavar="URL",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="With --publish: send also what is there already, damaged or not.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the bundle in curated/ from errmine.duckdb: whole or not at all.

    With --since also a delta that `errmine apply` turns the older bundle into this one with, byte for byte; --to names
    its file. The older bundle may be the one in curated/: it is read before it is replaced. With --form markdown (pages
    and llms.txt) or --form errorcanon the bundle is left alone and the entries go to the new folder that --to names.

    With --publish only what is not there yet is sent, the manifest last: who reads the bundle there has the one before
    or this one.
    """
    from pipeline import run as joined

    chosen = settings(home, config)
    if form != "bundle":
        _write_form(chosen, form, to, is_quiet=quiet, as_json=as_json)
        return
    if to is not None and since is None:
        raise ConfigError("--to without --since or --form", hint="The bundle goes to curated/ of the home.")
    before = _before(since) if since is not None else None
    wait = chosen.schedule.wait_seconds
    with joined.recorded(chosen.home, "export", wait_seconds=wait, told=say_waiting) as record:
        to_store = chosen.publish.to if publish is None else publish
        summary = record.summary = joined.export(
            joined.Places.of(chosen.home), to=to_store, again=again, pages=chosen.publish.pages
        )
        change = None if before is None else _write_delta(before, chosen, to)
    if change is None:
        _finish(summary, chosen, is_quiet=quiet, as_json=as_json)
    else:
        _tell(*change, is_quiet=quiet, as_json=as_json)


@app.command()
def apply(
    delta: Annotated[Path, typer.Argument(metavar="DELTA", help="A file that `errmine export --since` wrote.")],
    home: Home = None,
    bundle: Annotated[Path | None, typer.Option("--bundle", help="The older bundle; default: curated/.")] = None,
    to: To = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Turn an older bundle into the newer one, byte for byte, checked against its manifest.

    The result takes the place of the older bundle, or goes to the folder that --to names. Only files that the newer
    manifest names are taken. If anything does not fit, nothing changes; killed, the same command does the rest.
    """
    from pipeline import export as bundles

    folder = bundle or settings(home).curated_path
    change = bundles.read_delta(delta)
    bundles.apply(folder, change, into=to or folder)
    if (old := (to or folder) / "errmine.duckdb").exists():
        hint = "`errmine query` and `explain` ask it, and say what was before: remove it, or fetch the newer one too."
        complain(f"{old} is still the database of the older bundle", hint=hint)
    _tell(change, to or folder, is_quiet=quiet, as_json=as_json)


def _before(since: Path) -> Before:
    from pipeline import export as bundles

    if not since.exists():
        raise ConfigError(f"{since}: no such bundle", hint="Give the folder of the older bundle, or its manifest.json.")
    if since.is_dir():
        return bundles.Before.read(since)
    if since.name != "manifest.json":
        raise ConfigError(
            f"{since} is no manifest.json", hint="Give the folder of the older bundle, or its manifest.json."
        )
    return bundles.Before.read(since.parent)


def _write_delta(before: Before, chosen: Settings, to: Path | None) -> tuple[Delta, Path]:
    from pipeline import export as bundles

    change = bundles.delta_since(before, chosen.curated_path)
    path = to or chosen.home / f"delta-{change.from_bundle[:12]}-{change.to_bundle[:12]}.json"
    bundles.write_delta(path, change)
    return change, path


def _write_form(chosen: Settings, form: str, to: Path | None, *, is_quiet: bool, as_json: bool) -> None:
    from pipeline import export as bundles
    from pipeline.text import counted

    folder = to or chosen.home / form
    count, refused = bundles.write_form(folder, bundles.read_entries(chosen.curated_path), form)
    if as_json:
        print_json({"form": form, "folder": str(folder), "files": count, "refused": [item.item_id for item in refused]})
    elif not is_quiet:
        say(f"{count:,} files in {folder}")
        if refused:
            named = ", ".join(item.item_id for item in refused)[:200]
            say(f"{counted(len(refused), 'entry', 'entries')} left out: {named}")


def _tell(change: Delta, place: Path, *, is_quiet: bool, as_json: bool) -> None:
    counts = {name: len(getattr(change, name)) for name in ("added", "changed", "removed", "aliased")}
    if as_json:
        print_json({"path": str(place), "from_bundle": change.from_bundle, "to_bundle": change.to_bundle, **counts})
    elif not is_quiet:
        words = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        say(f"{change.from_bundle[:12]} → {change.to_bundle[:12]}: {words}\n{place}")
