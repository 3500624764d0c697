"""`errmine enrich prompts`, `answers`: what a language model is to read as a batch file, and what came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.app import Command, Config, Group, Home, Json, Quiet, app, settings
from pipeline.cli.output import complain, print_json, say

if TYPE_CHECKING:
    from pipeline.config import Enrich, Settings
    from pipeline.engines.answers import Answers
    from pipeline.engines.batch import Questions, Replies
    from pipeline.engines.chat import Service
    from pipeline.engines.enrich import Reader
    from pipeline.records import Skipped
    from pipeline.run.build.enriching import Asked

_MOST_NAMED = 10

enrich = typer.Typer(cls=Group, no_args_is_help=True, help="Let a language model read threads, by files.")
app.add_typer(enrich, name="enrich")


@enrich.command(cls=Command)
def prompts(
    out: Annotated[Path, typer.Option("--out", help="File to write.", metavar="FILE")],
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="So many at most, most useful first.")] = None,
    home: Home = None,
    config: Config = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write what the model of the settings would be asked and has no answer to, in OpenAI's batch format.

    Hosted batch APIs take the file, and so does `vllm run-batch`. Threads are read first; which of their claims stand
    is asked afterwards, with `passes = 2` also what the first reading missed; so call this again when the answers are
    in, until it writes nothing. Secrets, mail addresses and home folders are redacted.
    """
    from pipeline.engines.batch import Questions
    from pipeline.run import configured

    chosen, section = _section(home, config)
    made: list[Questions] = []
    with out.open("w", encoding="ascii", newline="\n") as file:

        def service(answers: Answers, host: str) -> Service:
            made.append(Questions(file, answers, host))
            return made[0]

        reader = configured.reader(section, chosen, service)
        found = _asked(chosen, section, reader, threads, is_quiet=quiet or as_json)
    questions = made[0]
    further = reader.chat.tokens if reader.again else 0  # each window that is read now is read once more
    told = {
        "threads": found.threads,
        "prompts": len(questions.asked),
        "kept": questions.tally.kept,
        "tokens": questions.tally.tokens,
        "most_answered": questions.most_answered,
        "tokens_of_second_readings": further,
        "tokens_of_second_questions": reader.chat.tokens,  # windows are shown again, and then passages
        "file": str(out),
    }
    if as_json:
        print_json(told)
    elif not quiet:
        say(f"{found.threads:,} threads, {questions.tally.kept:,} answers kept")
        say(f"{out}: {len(questions.asked):,} prompts, about {questions.tally.tokens:,} tokens")
        say(f"their answers: at most {questions.most_answered:,} tokens, mostly a tenth of that")
        if reader.chat.tokens:
            say(f"questions about what they claim: about {reader.chat.tokens:,} tokens more, once the answers are in")
        if further:
            say(f"second readings of these (passes = 2): about {further:,} tokens more, once the answers are in")


@enrich.command(cls=Command)
def answers(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The batch's output.")],
    home: Home = None,
    config: Config = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Take the answers to `errmine enrich prompts`; the next build uses them. Exit status 1 if none is of use."""
    from pipeline.engines.batch import Replies, results
    from pipeline.run import configured

    chosen, section = _section(home, config)
    came = results(file)
    made: list[Replies] = []

    def service(answers: Answers, host: str) -> Service:
        made.append(Replies(came.bodies, answers, host))
        return made[0]

    reader = configured.reader(section, chosen, service)
    found = _asked(chosen, section, reader, None, is_quiet=quiet or as_json)
    unknown = sorted(came.bodies.keys() - made[0].used)
    for line in (*came.unusable, *(f"{file}: {name} answers nothing that is asked here" for name in unknown))[
        :_MOST_NAMED
    ]:
        complain(line)
    waiting = sum(item.reason == "batched" for item in found.skipped)
    refused = _counted(item for item in found.skipped if item.reason != "batched")
    told: dict[str, Any] = {
        "taken": len(made[0].used),
        "unusable": len(came.unusable),
        "unknown": len(unknown),
        "claims": found.claims,
        "refused": refused,
        "waiting": waiting,
    }
    if as_json:
        print_json(told)
    elif not quiet:
        say(f"{len(made[0].used):,} answers taken, {len(came.unusable):,} unusable, {len(unknown):,} unknown")
        say(f"{found.claims:,} claims; refused: " + (", ".join(f"{k} {n:,}" for k, n in refused.items()) or "none"))
        if waiting:
            say("answers are still wanted: errmine enrich prompts --out FILE writes the questions")
    if not made[0].used:
        raise typer.Exit(1)


def _section(home: Path | None, config: Path | None) -> tuple[Settings, Enrich]:
    from pipeline.records.errors import ConfigError

    chosen = settings(home, config)
    if chosen.enrich is None:
        hint = 'Add [enrich] with model = "..."; url is not needed for batch files.'
        raise ConfigError("the settings have no [enrich]", hint=hint)
    return chosen, chosen.enrich


def _asked(chosen: Settings, section: Enrich, reader: Reader, most: int | None, *, is_quiet: bool) -> Asked:
    """Every question of the last build put to the service of `reader`."""
    from pipeline.cli.progress import progress_bar
    from pipeline.run import Places
    from pipeline.run.build import enriching
    from pipeline.run.build.engines import Engines

    places = Places.of(chosen.home)
    engines = Engines(reader=reader, reads_all=section.threads == "all")
    with progress_bar(is_quiet=is_quiet) as progress:
        found = enriching.asked(
            places,
            engines,
            partition_documents=chosen.build.partition_documents,
            most=most,
            progress=progress,
        )
    if found.unbuilt:
        complain("raw has pages that no build has read", hint="Run `errmine build` first, then this again.")
    return found


def _counted(items: Iterable[Skipped]) -> dict[str, int]:
    return dict(sorted(Counter(item.reason for item in items).items()))
