"""`errmine run`, `import`, `build`, `export`: the commands that change a home."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.app import Config, Home, Json, Quiet, app, settings
from pipeline.cli.output import announce, command_name, complain, print_json, print_table, say
from pipeline.cli.streams import ReaderGone

if TYPE_CHECKING:
    from pipeline.config import Settings
    from pipeline.run import Places, Regrouping, Summary
    from pipeline.run.build.engines import Engines
    from pipeline.run.home.locking import Holder

#: Rows of a regrouping that a terminal is shown.
_MOST_ROWS = 200

Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default from the settings.")]


@app.command()
def run(
    home: Home = None,
    config: Config = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", help="Only files, github or docs; give it again for more.")
    ] = None,
    runner: Annotated[
        str, typer.Option("--runner", help="Where documents are read: process, or dask.", metavar="NAME")
    ] = "process",
    address: Annotated[
        str, typer.Option("--address", help="Scheduler of the Dask cluster.", metavar="tcp://HOST:PORT")
    ] = "",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Do the whole job under Prefect: ingest every source of the settings, build, export.

    Without sources it builds and exports what was imported; in a home that holds nothing it runs on the sample that
    comes with errmine. A run that may not wait any longer for a quota
    builds from what it has and ends with status 3; the next one goes on from there.
    """
    from pipeline.cli.progress import progress_bar
    from pipeline.cli.surroundings import hush_prefect, prepare_prefect, sample_path, server_ends_with_us
    from pipeline.run import from_dict
    from pipeline.run.ingest import sourcing
    from pipeline.run.prefect import runners

    chosen = settings(home, config)
    is_sample = not source and not sourcing.configured(chosen) and sourcing.is_for_sample(chosen)
    paths = [str(sample_path())] if is_sample else []
    sourcing.chosen(chosen, source or ())  # what is wrong with it is said before Prefect starts
    runners.check(runner, address)
    prepare_prefect(chosen)
    if not (quiet or as_json):
        if is_sample:
            announce(
                f"no sources and no pages: {chosen.home} gets the sample that comes with errmine, which is invented"
            )
        announce("starting Prefect; its first server on a machine takes 10 to 30 seconds")
    from pipeline import flows
    from pipeline.run.prefect import reporting

    hush_prefect()
    with server_ends_with_us(), progress_bar(is_quiet=quiet or as_json) as progress, reporting.reporting_to(progress):
        told = flows.run(
            home=str(chosen.home),
            config=str(chosen.origin or ""),
            sources=source,
            paths=paths,
            runner=runner,
            address=address,
        )
    is_partial = told.pop("is_partial", False)
    _finish(from_dict(told), chosen, is_quiet=quiet, as_json=as_json)
    if is_partial:
        say_partial()


#: What is said of a path that leads nowhere.
_MISSING = "no such file or folder"


@app.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files and folders.")],
    home: Home = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Put files into raw: GitHub JSON, GH Archive hours, saved issue pages, OpenXLA docs, foreign entries.

    What a file is, is read from its content. What cannot be read is named with its reason; the rest goes on.
    Exit status 1 if nothing could be read.
    """
    from pipeline import run as joined
    from pipeline.cli.progress import progress_bar

    chosen = settings(home)
    missing = [path for path in paths if not path.exists()]
    for path in missing:
        hint = "The others are imported." if len(missing) < len(paths) else "Nothing is imported."
        complain(f"{path}: {_MISSING}", hint=hint)
    # two imports may be started at once: the second one waits for the first
    wait = chosen.schedule.wait_seconds
    with joined.recorded(chosen.home, "import", is_ingest=True, wait_seconds=wait, told=say_waiting) as record:
        with progress_bar(is_quiet=quiet or as_json) as progress:
            there = [path for path in paths if path.exists()]
            summary = joined.import_files(chosen.raw_path, there, progress=progress)
        record.summary = summary
        if missing:
            record.detail["missing"] = [str(path) for path in missing]
        if not summary.stages[0].given:
            record.status = "failed"
            record.detail["error"] = ", ".join(f"{path}: {_MISSING}" for path in missing) or "nothing could be read"
    _report(summary, is_quiet=quiet, as_json=as_json)
    if not summary.stages[0].given:
        raise typer.Exit(2 if missing and len(missing) == len(paths) else 1)


@app.command()
def build(
    home: Home = None,
    config: Config = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; default from the settings.")
    ] = None,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Go on without what raw has lost since the last build.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Make all of it a second time from raw alone, and compare.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make clusters, entries and errmine.duckdb from raw; needs no Prefect and, with engines off, no network.

    What the last build made of the same is taken over; where nothing came or changed since, the database stands. With
    --verify everything is made again beside it from raw alone; exit status 4 if the two databases differ.

    Where raw holds less than it did (a segment is missing or damaged, a document of the last build is gone) it names
    what is lost and builds nothing. With --accept-loss it goes on without, once and for all.
    """
    from pipeline import run as joined
    from pipeline.run import configured

    chosen = settings(home, config)
    engines = configured.engines(chosen)
    with joined.recorded(chosen.home, "build", wait_seconds=chosen.schedule.wait_seconds, told=say_waiting) as record:
        made: list[Summary] = []

        def build_at(places: Places) -> None:
            run_id, is_quiet = record.run_id, quiet or as_json
            made.append(
                built(
                    chosen,
                    workers,
                    engines,
                    run_id=run_id,
                    is_quiet=is_quiet,
                    is_loss_accepted=accept_loss,
                    places=places,
                )
            )

        own, now = joined.Places.of(chosen.home), configured.seen(chosen)
        if verify:
            joined.verified(own, build_at)
        elif accept_loss or not joined.is_built(own, now):
            build_at(own)
        else:
            made.append(joined.unchanged("build", "nothing came since the last one: the database stands"))
        summary = record.summary = made[0]
        if summary.stages and summary.stages[0].taken:
            joined.note_built(own, now)
    tell_of_build(summary, chosen, is_quiet=quiet, as_json=as_json)


def built(
    chosen: Settings,
    workers: int | None,
    engines: Engines,
    *,
    run_id: str,
    is_quiet: bool,
    is_loss_accepted: bool = False,
    places: Places | None = None,
) -> Summary:
    """What a build of the home did, or of another one at `places`, as the settings say."""
    from pipeline import run as joined
    from pipeline.cli.progress import progress_bar

    with progress_bar(is_quiet=is_quiet) as progress:
        return joined.build(
            places or joined.Places.of(chosen.home),
            workers=workers or chosen.build.workers,
            partition_documents=chosen.build.partition_documents,
            min_documents=chosen.publish.min_documents,
            limits=joined.limits(chosen.build.seconds, chosen.build.memory_mib),
            engines=engines,
            overrides=chosen.overrides_path,
            run_id=run_id,
            is_loss_accepted=is_loss_accepted,
            is_alone=True,
            progress=progress,
        )


def _manifest_path(chosen: Settings) -> Path:
    """Where the manifest of the home's bundle stands, if it has one."""
    from pipeline.records import kept

    return chosen.curated_path / kept.MANIFEST


def tell_of_build(summary: Summary, chosen: Settings, *, is_quiet: bool, as_json: bool) -> None:
    """Nothing; what a build did, and what comes next, is printed."""
    if not summary.stages and not as_json:
        for why in () if is_quiet else summary.figures["unchanged"].values():
            say(why)
        return
    _report(summary, is_quiet=is_quiet, as_json=as_json)
    if not summary.stages or summary.stages[0].taken:
        if not is_quiet and not as_json:  # `match` and `site` ask the bundle, which a build leaves as it is
            until = "; until then that of the last export answers" if _manifest_path(chosen).exists() else ""
            say(f"\ndatabase  {chosen.database_path.resolve()}")
            say(f"next      {command_name()} export writes its bundle, which match and site read{until}")
    else:
        complain(f"there is nothing in {chosen.raw_path}", hint="Bring something in with `errmine import PATH…`.")
        raise typer.Exit(1)


@app.command()
def regroup(
    home: Home = None,
    config: Config = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change; touch nothing.")] = False,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show what overrides.toml, new pages or new rules change about the clusters, and build.

    For every signature of every cluster that changes: its original cluster, its new one, and whether that is the same.
    """
    from pipeline import run as joined
    from pipeline import store
    from pipeline.run import configured

    chosen = settings(home, config)
    if dry_run:
        _tell_of_regrouping(_foreseen(chosen, workers, is_kept=False), is_quiet=False, as_json=as_json)
        return
    engines = configured.engines(chosen)
    store.meta(joined.Places.of(chosen.home).database)  # without a build before there is nothing to regroup, nor a run
    with joined.recorded(chosen.home, "build", wait_seconds=chosen.schedule.wait_seconds, told=say_waiting) as record:
        # what it reads the build finds: nothing is read twice
        with suppress(ReaderGone):  # who stops reading what changes (`| head`) has it built all the same
            _tell_of_regrouping(_foreseen(chosen, workers, is_kept=True), is_quiet=quiet, as_json=as_json)
        summary = record.summary = built(chosen, workers, engines, run_id=record.run_id, is_quiet=quiet or as_json)
    tell_of_build(summary, chosen, is_quiet=quiet or as_json, as_json=False)


def _foreseen(chosen: Settings, workers: int | None, *, is_kept: bool) -> Regrouping:
    from pipeline import run as joined

    return joined.foreseen(
        joined.Places.of(chosen.home),
        workers=workers or chosen.build.workers,
        partition_documents=chosen.build.partition_documents,
        limits=joined.limits(chosen.build.seconds, chosen.build.memory_mib),
        overrides=chosen.overrides_path,
        is_kept=is_kept,
    )


def _tell_of_regrouping(found: Regrouping, *, is_quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.as_dict())
    elif not is_quiet:
        _print_regrouping(found)


def _print_regrouping(found: Regrouping) -> None:
    _complain_of_idle(found.figures)
    for one in found.renamed:
        say(f"renamed {one.entry_id} {one.new_id}: overrides.toml")
    if not found.rows:
        say("no cluster changes")
        return
    rows = [
        (
            row.events,
            row.text,
            row.original_entry or row.original or None,
            row.new_entry or row.new or None,
            "same" if row.is_same else "moved",
        )
        for row in found.rows[:_MOST_ROWS]
    ]
    print_table("clusters that change", ["events", "signature", "original", "new", "same?"], rows)
    if len(found.rows) > _MOST_ROWS:
        say(f"… and {len(found.rows) - _MOST_ROWS:,} more: --json has them all")
    for change in found.changes[:_MOST_ROWS]:
        say(f"{change.action} {change.subject_id} {change.other_id or ''}: {change.detail}")
    say(", ".join(f"{kind} {count:,}" for kind, count in found.figures["changes"].items()))
    _print_moved(found.figures)


def _complain_of_idle(figures: Mapping[str, Any]) -> None:
    for idle in figures.get("idle_overrides", ()):
        complain(f"overrides.toml: {idle['rule']} does nothing, or not all: {idle['problem']}")


def _print_moved(figures: Mapping[str, Any]) -> None:
    """The map of old to new clusters of events that another normaliser reads otherwise."""
    moved = figures.get("moved")
    if not moved:
        return
    before, now = moved["normaliser"]
    title = f"read anew by normaliser {before} -> {now}: {moved['events']:,} events of {moved['clusters']:,} clusters"
    print_table(title, ["old", "new", "events"], [(row["old"], row["new"], row["events"]) for row in moved["map"]])
    if before == now:
        complain("the normaliser reads events otherwise under the same version", hint="Raise NORMALISER_VERSION.")


def say_waiting(holder: Holder | None, seconds: float) -> None:
    """Nothing; on standard error it says for whom this command waits."""
    hint = "Ctrl-C ends the waiting; [schedule] wait_seconds says how long it may be."
    complain(f"waiting up to {seconds:g} s for {holder or 'another run'}", hint=hint)


def say_partial() -> None:
    """Nothing; it ends the command with the status of what goes on later."""
    complain("the run is partial", hint="What was fetched is kept; run the same command again to go on.")
    raise typer.Exit(3)


def _finish(summary: Summary, chosen: Settings, *, is_quiet: bool, as_json: bool) -> None:
    _report(summary, is_quiet=is_quiet, as_json=as_json)
    if not is_quiet and not as_json:
        name = command_name()
        say(f"\nbundle    {chosen.curated_path.resolve()}")
        say(f"database  {chosen.database_path.resolve()}")
        say(f"try       {name} top, or show it an error of your own: {name} match LOG")


def _report(summary: Summary, *, is_quiet: bool, as_json: bool) -> None:
    """The summary table, and of what was skipped the first few by name."""
    from pipeline.records.summary import reason_meanings

    if as_json:
        print_json(summary.as_dict())
        return
    meanings = reason_meanings()
    # what waits in a batch file is nothing amiss: `errmine enrich prompts` has not been answered yet
    for item in (one for one in summary.examples if one.reason != "batched"):
        detail = f" ({item.detail})" if item.detail else ""
        complain(f"{item.item_id}: {meanings.get(item.reason, item.reason)}{detail}")
    for name, asked in summary.figures.get("engines", {}).items():
        if refused := asked.get("refused"):
            reasons = ", ".join(f"{meanings.get(why, why)} ({number:,})" for why, number in refused.items())
            complain(f"{name} answered only in part: {reasons}")
    _complain_of_idle(summary.figures)
    for row in summary.figures.get("made_anew", ()):
        complain(f"{row['path']} was {row['verdict']}, and is made anew")
    for sentence in summary.figures.get("warnings", ()):
        complain(sentence)
    for row in summary.figures.get("changed_sources", ()):
        complain(f"{row['entry_id']}: the official page changed, {row['field']} is null: {row['sentence']}")
    if is_quiet:
        return
    rows = [
        (s.stage, s.taken, s.given, s.skipped, ", ".join(f"{reason} {count:,}" for reason, count in s.reasons))
        for s in summary.stages
    ]
    print_table("", ["stage", "in", "out", "skipped", "because"], rows)
    _print_moved(summary.figures)
    for name, value in summary.figures.items():
        if isinstance(value, int | float | str):
            say(
                f"{name.replace('_', ' ')}: {value:,}"
                if isinstance(value, int)
                else f"{name.replace('_', ' ')}: {value}"
            )
    for name, asked in summary.figures.get("engines", {}).items():
        say(f"{name}: {asked['calls']:,} calls, {asked['kept']:,} kept answers, {asked['tokens']:,} tokens")
