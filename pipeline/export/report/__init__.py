"""A report of a home: one page of HTML that needs nothing beside it, prints well, and runs nothing; or Markdown."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from pipeline.export import charts
from pipeline.export.markdown import escaped
from pipeline.export.site import paths
from pipeline.export.site.rendering import asset, named, prose, short, visible
from pipeline.lexicon import headings
from pipeline.records import kept
from pipeline.records.errors import ExportError

#: A longer signature is cut.
_SIGNATURE_CHARACTERS = 160
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Report:
    """What is told; rows are as `store.overview` gives them."""

    since: str  # the run that it is held against, "" where all is new
    since_day: str
    days: int
    answered_before: Mapping[str, int]  # domain -> entries with an answer then
    newest: str  # day of the newest event of the data
    new: Rows
    trending: Rows
    fixed: Rows
    unanswered: Rows
    versions: Rows
    months: Rows
    sources: Rows
    skipped: Rows
    chinese: Rows
    answers: Rows


#: The lists of errors, and what stands behind each error of them.
_LISTS = (("newest", "new"), ("trending", "trending"), ("fixed_or_helped", "fixed"), ("without_answer", "unanswered"))
_MOST_NEW, _MOST_DOMAINS = 20, 16


def html(report: Report) -> str:
    """One page: its style and its charts stand in it, and its policy lets nothing else be loaded or run."""
    style = asset("site.css").decode() + _STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
            style=style,
            word=_both,
            lists=[(name, _both(name), rows[:_MOST_NEW], _how_many(rows)) for name, rows in _lists(report)],
            charts={
                "months": charts.timeline({row["month"]: row["documents"] for row in report.months}, title="Reports"),
                "domains": charts.bars(_domain_bars(report), title="Domains"),
                "versions": charts.bars(
                    [charts.Bar(row["version"], row["documents"]) for row in report.versions], title="Versions"
                ),
            },
            domains=_domains(report),
            chinese=_chinese(report),
            address=paths.address,
            domain_name=_domain_name,
        )
    )


def write(folder: Path, report: Report) -> tuple[Path, Path]:
    """The files written: `report.html` and `report.md` in `folder`, each whole or as it was.

    Raises:
        ExportError: the folder cannot be written.
    """
    page, text = folder / "report.html", folder / "report.md"
    try:
        kept.write(page, html(report).encode())
        kept.write(text, markdown(report).encode())
    except OSError as error:
        hint = "Check free space and rights of the folder, or name another one: `errmine report --to FOLDER`."
        raise ExportError(f"cannot write to {folder}: {error.strerror or error}", path=folder, hint=hint) from error
    return page, text


def markdown(report: Report) -> str:
    """The same as Markdown: what strangers wrote is escaped, so that none of it becomes a link or HTML."""
    parts = [f"# errmine: {_title(report)}", ""]
    for name, rows in _lists(report):
        parts += [f"## {_both(name)} ({_how_many(rows)})", "", *_listed(rows[:_MOST_NEW], name), ""]
    domains = [(name, *rest) for name, *rest in _domains(report)]
    parts += [f"## {_both('domains')}", "", *_table(("domain", "errors", "answered", "since then"), domains)]
    versions = [(row["version"], row["documents"]) for row in report.versions]
    parts += [f"## {_both('versions')}", "", *_table(("version", "reports"), versions)]
    parts += [f"## {_both('chinese')}", "", *_table(("field", "wanted", "there", "share"), _chinese(report))]
    parts += [f"## {_both('sources')}", ""]
    names = ("source", "form", "documents", "lossy", "hidden", "undated")
    parts += _table(names, [tuple(row[name] for name in names) for row in report.sources])
    skipped = [(row["stage"], row["reason"], row["items"]) for row in report.skipped]
    parts += [*_table(("stage", "skipped because", "items"), skipped)] if skipped else []
    return "\n".join(parts).rstrip() + "\n"


def _title(report: Report) -> str:
    since = f"since {report.since}, {report.since_day}" if report.since else "all that is known"
    return f"{since}; data to {report.newest}" if report.newest else since


def _how_many(rows: Rows) -> str:
    """How many there are, and how many of them are listed where those are fewer."""
    return f"{_MOST_NEW:,} / {len(rows):,}" if len(rows) > _MOST_NEW else f"{len(rows):,}"


def _lists(report: Report) -> Iterator[tuple[str, Rows]]:
    for name, field in _LISTS:
        yield name, getattr(report, field)


def _both(key: str) -> str:
    """A heading in both languages."""
    return " · ".join(headings.label("words", key, lang) for lang in paths.LANGUAGES)


def _domains(report: Report) -> list[tuple[str, int, int, str]]:
    """(domain, errors, those with an answer, how many more than then)."""
    ranked = sorted(report.answers, key=lambda row: (-row["entries"], row["domain"]))
    made = []
    for row in ranked:
        before = report.answered_before.get(row["domain"], 0 if report.answered_before else None)
        change = "" if before is None else f"{row['answered'] - before:+,}"
        made.append((_domain_name(row["domain"]), row["entries"], row["answered"], change))
    return made


def _domain_name(name: str) -> str:
    """The domain in both languages: "Other · 其他", once where both call it the same."""
    return " · ".join(dict.fromkeys(named("domains", lang, name) for lang in ("en", "zh")))


def _domain_bars(report: Report) -> list[charts.Bar]:
    return [
        charts.Bar(f"{name} ({answered:,} answered)", entries)
        for name, entries, answered, _ in _domains(report)[:_MOST_DOMAINS]
    ]


def _chinese(report: Report) -> list[tuple[str, int, int, str]]:
    return [
        (row["field"], row["wanted"], row["present"], f"{row['present'] / row['wanted']:.0%}") for row in report.chinese
    ]


def _listed(rows: Rows, name: str) -> Iterator[str]:
    if not rows:
        yield "–"
    for row in rows:
        told = [headings.counted("documents", row["evidence_count"], "en"), escaped(row["domain"])]
        if name == "trending":
            told.append(f"{row['recent']:,} of late, {row['earlier']:,} before")
        if name == "fixed_or_helped":
            told.append(f"said on {row['said_on']}")
        chinese = f" · {escaped(row['signature_zh'])}" if row["signature_zh"] else ""
        english = escaped(short(row["signature"], _SIGNATURE_CHARACTERS))
        yield f"- {english}{chinese} (`{row['entry_id']}`; {', '.join(told)})"


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    shown = [[f"{cell:,}" if isinstance(cell, int) else escaped(str(cell)) for cell in row] for row in rows]
    return [*lines, *("| " + " | ".join(row) + " |" for row in shown), ""]


@cache
def _environment() -> Environment:
    """The page, compiled once a process."""
    environment = Environment(
        loader=FunctionLoader(_template), autoescape=True, undefined=StrictUndefined, finalize=visible,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"prose": prose, "short": short}
    return environment


@cache
def _template(name: str) -> str:
    return files("pipeline.export.report").joinpath("templates", name).read_text("utf-8")


_STYLE = """
.report { max-width: 62rem; }
.report .chart { max-width: 34rem; }
.report section { margin-top: 1.75rem; break-inside: avoid-page; }
.report .pair { display: grid; gap: 1.5rem 3rem; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); }
.report .rows small { display: block; }
@media print {
  :root { --ground: #fff; --surface: #fff; --text: #000; --quiet: #444; --line: #bbb; --accent: #0a6c5f; }
  body { font-size: 10pt; }
  .rows a, .rows .name { -webkit-line-clamp: none; line-clamp: none; display: inline; }
  @page { margin: 15mm; }
}
"""
