"""`errmine show`, `explain`, `validate`, `status`, `reconcile`: look at what there is, change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.app import BundlePlace, Home, Json, Packs, app, settings
from pipeline.cli.asked import database
from pipeline.cli.output import complain, print_json, print_table, say
from pipeline.records.errors import ConfigError

if TYPE_CHECKING:
    from pipeline.store import RunRow
    from pipeline.validate import Problem, Report

#: Classes of an error that are named.
_CLASSES = 8
#: Of what a run did or why it failed, in the table of runs.
_DID_CHARACTERS = 200


@app.command()
def explain(
    subject: Annotated[str, typer.Argument(metavar="ID", help="An entry, cluster, signature or event.")],
    other: Annotated[
        str, typer.Argument(metavar="[OTHER]", help="A second one: why are the two one error, or not?")
    ] = "",
    home: Home = None,
    bundle: Annotated[
        str | None,
        typer.Option(
            "--bundle",
            metavar="FOLDER",
            help="A bundle with the database beside it: its folder; default: curated/ of the home.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say why occurrences stand together, and why look-alikes do not; as stored when it was decided.

    With two ids: why they are in one cluster, or why they are not. What people decided is named first.
    """
    from pipeline.store import reading

    path = database(home, bundle, with_reports=True)
    if other:
        _explain_two(path, subject, other, as_json=as_json)
        return
    found = reading.explanation(path, subject)
    if found is None:
        hint = _meant(path, subject)
        complain(f"nothing called {subject}", hint=hint or "Give an entry id, or an id that `errmine group` printed.")
        raise typer.Exit(1)
    if as_json:
        print_json(_jsonable(found))
        return
    say(f"{found['cluster_id']}  {found['entry_id'] or '(no entry)'}", style="bold")
    say(found["text"])
    say(f"gate: {', '.join(f'{name} = {value}' for name, value in found['gate'].items()) or 'none'}")
    if found["classes"]:
        named = ", ".join(f"{one['name']} ({one['documents']:,})" for one in found["classes"][:_CLASSES])
        aside = "" if "exception" in found["gate"] else "; the words say enough, none decides"
        say(f"classes, by documents: {named}{aside}")
    rows = [(t["event_count"], t["rule"], t["score"], t["text"], t["explanation"]) for t in found["templates"]]
    print_table("together", ["events", "rule", "score", "signature", "why"], rows)
    apart = [(n["score"], n["entry_id"] or n["cluster_id"], n["text"], n["reason"]) for n in found["apart"]]
    if apart:
        print_table("apart", ["score", "other", "signature", "why not"], apart)


def _explain_two(database: Path, one: str, other: str, *, as_json: bool) -> None:
    from pipeline.ask.comparing import relation

    found = relation(database, one, other)
    if isinstance(found, str):
        hint = _meant(database, found)
        complain(f"nothing called {found}", hint=hint or "Give an entry, cluster, signature or event id.")
        raise typer.Exit(1)
    sides = (found.one, found.other)
    if as_json:
        templates = [
            {
                "signature_id": side.template.signature_id,
                "text": side.template.text,
                "gate": dict(side.template.gate),
                "cluster_id": side.cluster_id,
                "entry_id": side.entry_id,
            }
            for side in sides
        ]
        print_json({"together": found.is_together, "reasons": list(found.reasons), "templates": templates})
        return
    say("one cluster" if found.is_together else "not one cluster", style="bold")
    for side in sides:
        say(f"  {side.entry_id or side.cluster_id or 'set aside'}: {side.template.text}")
    for reason in found.reasons:
        say(f"- {reason}")


def _meant(database: Path, name: str) -> str:
    from pipeline.cli.near import did_you_mean
    from pipeline.store import listing

    return did_you_mean(name, listing.entry_ids(database))


@app.command()
def validate(
    path: Annotated[Path, typer.Argument(help="An entry, a list or lines of entries, or a bundle.")],
    raw: Annotated[
        Path | None, typer.Option("--raw", help="Also find every quote again in this raw/ folder.", metavar="FOLDER")
    ] = None,
    home: Home = None,
    pack: Packs = None,
    as_json: Json = False,
) -> None:
    """Check entries against every integrity rule, ours or anybody's. Exit status 1 if one is broken."""
    from pipeline import validate as rules

    settings(home, with_packs=pack or ())  # a pack's domains are words of the vocabulary
    if not path.exists():
        raise ConfigError(f"{path}: no such file or folder", hint="Give a file of entries or the folder of a bundle.")
    report = rules.check_path(path)
    quote_count = None
    if raw is not None:
        quote_count, more = _quotes_in_raw(path, raw)
        report = replace(report, problems=(*report.problems, *more))
    if as_json:
        print_json({**asdict(report), "quotes_found_in_raw": quote_count})
    elif report.problems:
        print_table(f"{path}: {_checked(report)}", *_problem_rows(report))
        rules_broken = Counter(problem.rule for problem in report.problems).most_common()
        say("broken: " + ", ".join(f"{rule} {count:,}" for rule, count in rules_broken))
    else:
        found = "" if quote_count is None else f", {quote_count:,} quotes stand in raw as cited"
        say(f"{path}: {_checked(report)}, every rule holds{found}")
    raise typer.Exit(1 if report.problems or not report.entry_count else 0)


def _quotes_in_raw(path: Path, raw: Path) -> tuple[int, list[Problem]]:
    from pipeline.run.check import checking

    if not (raw / "segments").is_dir():  # every quote would be called broken
        what = "holds no raw pages" if raw.is_dir() else "no such folder"
        raise ConfigError(f"{raw}: {what}", hint="Give raw/ of the home that the entries were made in.")
    return checking.quote_problems(checking.entries_at(path), raw)


def _checked(report: Report) -> str:
    from pipeline.text import counted

    return f"{report.kind}, {counted(report.entry_count, 'entry', 'entries')}"


def _problem_rows(report: Report) -> tuple[list[str], list[tuple[str, ...]]]:
    """Columns and rows; an id that all rows would repeat is left out."""
    if report.entry_count == 1:
        return ["rule", "place", "problem"], [(p.rule, p.place, p.message) for p in report.problems]
    columns = ["rule", "entry", "place", "problem"]
    return columns, [(p.rule, p.entry_id, p.place, p.message) for p in report.problems]


@app.command()
def status(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="Only this run, by its id or the beginning of it.")] = "",
    home: Home = None,
    bundle: BundlePlace = None,
    as_json: Json = False,
) -> None:
    """Say what ran when, what each stage took and gave, what was skipped and why, what has an answer, and Chinese."""
    from pipeline import run as joined
    from pipeline.run.home import recording

    place = settings(home).home
    if bundle and run:
        raise ConfigError("a run is the home's, and a bundle has none", hint="Leave RUN out, or leave --bundle out.")
    for line in recording.damaged(place) if not bundle else ():
        complain(line, hint="The next `errmine build` puts it aside, into runs.jsonl.damaged.")
    if run:
        _show_run(recording.run_called(place, run), run, as_json=as_json)
        return
    found = recording.told(database(home, bundle)) if bundle else joined.status(place)
    if as_json:
        print_json(_jsonable(found))
        return
    recorded = [row.run_id for row in recording.rows(place)] if not bundle else []
    short = recording.short_ids([row["run_id"] for row in found["runs"]] + recorded)
    rows = [_run_cells(row, short[row["run_id"]]) for row in found["runs"]]
    print_table("runs", ["run", "flow", "status", "started", "took", "did"], rows, whole="run")
    stages = [(s["stage"], s["item_kind"], s["in_count"], s["out_count"], s["skipped_count"]) for s in found["stages"]]
    if stages:
        print_table("stages of the last build", ["stage", "items", "in", "out", "skipped"], stages)
    if found["skipped"]:
        print_table("skipped", ["stage", "reason", "items"], [tuple(row.values()) for row in found["skipped"]])
    answers = [
        (
            *(row["domain"], row["entry_count"], row["answered_count"], f"{row['share']:.0%}"),
            *(row.get("documented_count", ""), row.get("known_count", "")),
        )
        for row in found["answers"]
    ]
    if answers:
        columns = ["domain", "entries", "answered", "share", "documented", "either"]
        print_table("entries with an answer, and explained by documentation", columns, answers)
    chinese = [(row["field"], row["status"], row["items"], f"{row['share']:.0%}") for row in found["chinese"]]
    if chinese:
        print_table("Chinese, by how it came to be", ["field", "status", "values", "share"], chinese)
    print_drift("differ, as the last reconcile found", found["drift"])


def _show_run(row: RunRow | None, wanted: str, *, as_json: bool) -> None:
    if row is None:
        complain(f"no run {wanted}", hint="`errmine status` lists the newest; a beginning of the id is enough.")
        raise typer.Exit(1)
    cells = asdict(row)
    if as_json:
        print_json(_jsonable(cells))
        return
    _, flow, status, begun, took, _ = _run_cells(cells, row.run_id)
    say(f"{row.run_id}  {flow}  {status}", style="bold")
    say(f"started {begun}, took {took or '?'}")
    if "error" in row.detail:
        say(str(row.detail["error"]))
    for stage in cells["detail"].get("stages", ()):
        because = ", ".join(f"{reason} {number:,}" for reason, number in stage["reasons"].items())
        say(f"{stage['stage']}: {stage['taken']:,} in, {stage['given']:,} out, {stage['skipped']:,} skipped  {because}")


def _run_cells(row: dict[str, Any], short_id: str) -> tuple[object, ...]:
    """A run as the table shows it: times to the second, and how long it took."""
    started, ended = row["started_at"], row["ended_at"]
    took = f"{(ended - started).total_seconds():.1f} s" if started and ended else None
    begun = f"{started:%Y-%m-%d %H:%M:%S}" if started else None
    return short_id, row["flow"], row["status"], begun, took, did(row["detail"])


def did(detail: Mapping[str, Any]) -> str:
    """What a run did, in one line: its error, or what was new and what was not read, or what each stage gave."""
    if "error" in detail:
        return "; ".join([str(detail["error"])[:_DID_CHARACTERS], *_unread(detail)])
    told = [f"{s['stage']} {s['taken']:,} in, {s['given']:,} out" for s in detail.get("stages", ())]
    if "new_pages" in detail:
        told = [f"{detail['new_pages']:,} new pages, {detail.get('known_pages', 0):,} known", *_unread(detail)]
        told += [f"not there: {path}" for path in detail.get("missing", ())]
    return ", ".join([*told, *detail.get("unchanged", {}).values()])


def _unread(detail: Mapping[str, Any]) -> list[str]:
    """Of a run that brings pages: how many it could not read, and why."""
    told = []
    for stage in detail.get("stages", ()) if "new_pages" in detail else ():
        because = ", ".join(f"{reason} {number:,}" for reason, number in stage["reasons"].items())
        told += [f"{stage['skipped']:,} not read: {because}"] if stage["skipped"] else []
    return told


def print_drift(title: str, rows: list[dict[str, Any]]) -> None:
    """Print where official sources say different things: page, section, and each side with the hash of its text."""
    if rows:
        told = [
            (
                row["page"],
                row["section"],
                *(f"{form}: {row[side]} [{row[f'{side}_sha256'][:12]}]" for form, side in _sides(row)),
            )
            for row in rows
        ]
        print_table(title, ["page", "section", "first", "second"], told)


def _sides(row: dict[str, Any]) -> list[tuple[str, str]]:
    return list(zip(row["sides"], ("first", "second"), strict=True))


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_jsonable(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
