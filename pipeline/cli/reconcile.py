"""`errmine reconcile`: what is wrong in a home, and what is made anew of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.app import Config, Home, Json, app, settings
from pipeline.cli.output import complain, print_table
from pipeline.records.errors import ConfigError, DamageFound, HomeBusy, PipelineError

if TYPE_CHECKING:
    from pipeline.config import Settings


@app.command()
def reconcile(
    home: Home = None,
    config: Config = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Make anew what can be: from raw, by a build and an export.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Look for damage and drift: between raw, database and bundle, and where official sources contradict each other.

    Every segment of raw, every kept file and every file of the bundle is read and compared with its hash. Exit status 4
    if anything is wrong. Nothing is changed without --repair; what that cannot make anew it names, with status 4. What
    was not built or exported yet is no damage; where the HTML and the Markdown of an official page, or a page and the
    list of codes, say different things, a person must look.
    """
    from pipeline import run as joined
    from pipeline.cli.look import print_drift
    from pipeline.cli.work import _report, say_waiting

    chosen = settings(home, config)
    if not any(place.exists() for place in (chosen.raw_path, chosen.curated_path, chosen.work_path)):
        hint = "Give the folder of raw/ and curated/ with --home."
        raise ConfigError(f"{chosen.home.resolve()}: nothing of errmine is here", hint=hint)
    if repair:
        _repair(chosen)
    wait = chosen.schedule.wait_seconds
    with joined.recorded(chosen.home, "reconcile", wait_seconds=wait, told=say_waiting) as record:
        summary = record.summary = joined.reconcile(
            joined.Places.of(chosen.home), partition_documents=chosen.build.partition_documents
        )
        wrong = summary.figures["wrong"]
        record.status = joined.DAMAGED if wrong else record.status
    _report(summary, is_quiet=False, as_json=as_json)
    if not as_json:
        print_drift("differ", summary.figures["drift"])
        if wrong:
            print_table("wrong", ["where", "what", "what to do"], [tuple(row.values()) for row in wrong])
    if wrong:
        raise DamageFound.of(wrong)


def _repair(chosen: Settings) -> None:
    """Nothing; what can be made anew is."""
    from pipeline import run as joined
    from pipeline.cli.work import built, say_waiting
    from pipeline.run import configured

    places = joined.Places.of(chosen.home)
    engines, wait = configured.engines(chosen), chosen.schedule.wait_seconds
    try:
        with joined.recorded(chosen.home, "repair", wait_seconds=wait, told=say_waiting) as record:
            left = joined.repair(
                places,
                build=lambda: built(chosen, None, engines, run_id=record.run_id, is_quiet=True),
                export=lambda: joined.export(places, pages=chosen.publish.pages),
            )
            record.status = joined.DAMAGED if left else record.status
    except HomeBusy:
        raise
    except PipelineError as error:  # what could not be made anew; a look at the rest follows
        complain(str(error), hint=error.hint())
