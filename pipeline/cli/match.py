"""`errmine match`: every error of a log, with its entry or why it has none. Needs nothing but a bundle."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.app import BundlePlace, Home, Json, Packs, app, settings
from pipeline.cli.labels import Language
from pipeline.cli.output import complain, print_json, print_json_line, write_json
from pipeline.cli.places import bundle_at
from pipeline.cli.texts import MOST_SECONDS, File, Seconds, in_time, left_out, lines_of, log_of, passing_over
from pipeline.records.errors import ConfigError

if TYPE_CHECKING:
    from pipeline.ask import Matcher


@app.command()
def match(  # noqa: PLR0913, PLR0917  (one an option)
    file: File = "-",
    home: Home = None,
    bundle: BundlePlace = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help='Read {"id", "text"} lines, print a line with one answer for each.')
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for the summary of a CI job or a comment.")
    ] = False,
    json_to: Annotated[
        Path | None, typer.Option("--json-to", metavar="FILE", help="Write what --json prints into a file as well.")
    ] = None,
    lang: Annotated[Language, typer.Option("--lang", help="en, zh (headings and dates too) or both.")] = Language.BOTH,
    everything: Annotated[bool, typer.Option("--all", help="Every error and every remedy.")] = False,
    seconds: Seconds = MOST_SECONDS,
    pack: Packs = None,
    as_json: Json = False,
) -> None:
    """Find what is known of every error of a text or a whole log, most telling first, or say why nothing is.

    Works from the bundle alone: `pytest 2>&1 | errmine match`. Exit status 0 if any error is known, 1 if none is or
    there is none, 2 for usage, 3 if the text takes too long or the bundle cannot be read. Of more than 64 MiB the first
    16 and the last 48 are read, and what was left out is told.
    """
    from pipeline.ask.matcher import Matcher

    if sum((jsonl, markdown, as_json and not jsonl)) > 1:
        raise ConfigError("--jsonl, --markdown and --json are three forms", hint="Ask for one of them.")
    if jsonl and json_to:
        raise ConfigError("--json-to holds one answer, --jsonl gives many", hint="`errmine match --jsonl > FILE`.")
    gc.disable()  # a bundle holds no cycles, and looking for some in it costs as much as reading it
    matcher = Matcher.read(bundle_at(bundle) if bundle else settings(home).curated_path)
    if jsonl:
        _answer_lines(_reading_with(matcher, home, pack), file, seconds)
        return
    from pipeline.ask.telling import told_of

    log = log_of(file)
    with in_time(seconds):
        found = _reading_with(matcher, home, pack).findings(log.text)
        told = told_of(matcher, found, log)
    told_all = {**told.as_dict(), "left_out": left_out(log.gap)} if as_json or json_to else {}
    if json_to:
        write_json(json_to, told_all)
    if as_json:
        print_json(told_all)
    elif markdown:
        from pipeline.cli.summary import summary

        sys.stdout.write(summary(told, lang=lang, everything=everything))
    else:
        from pipeline.cli.findings_page import print_findings

        print_findings(told, lang=lang, everything=everything)
    raise typer.Exit(0 if found.answer.entry_id else 1)


def _answer_lines(matcher: Matcher, file: str, seconds: float) -> None:
    matcher.prepare()
    hits = 0
    for item_id, text in lines_of(file):
        with passing_over(item_id), in_time(seconds):
            answer = matcher.match(text)
            hits += answer.entry_id is not None
            print_json_line({"id": item_id, **answer.as_dict()})
    raise typer.Exit(0 if hits else 1)


def _reading_with(matcher: Matcher, home: Path | None, pack: list[Path] | None) -> Matcher:
    """The matcher, with the packs of the settings and of the command active; what differs from its bundle's is told."""
    settings(home, with_packs=pack or ())
    if unlike := matcher.unlike():
        told, hint = unlike
        complain(told, hint=hint)
    return matcher
