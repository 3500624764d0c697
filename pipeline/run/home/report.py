"""The summary of a run as Markdown, for the artifact of a run and for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.records import Skipped
from pipeline.records.summary import Summary
from pipeline.text import clean

#: Figures that have a section of their own.
_SECTIONS = (
    "changes",
    "changed",
    "tiers",
    "answers",
    "zh",
    "sources",
    "quota",
    "drift",
    "engines",
    "overrides",
    "changed_sources",
    "idle_overrides",
    "moved",
    "made_anew",
    "warnings",
    "wrong",
    "unchanged",
)
#: Characters of a skipped item's detail.
_DETAIL_CHARACTERS = 160


def as_markdown(summary: Summary) -> str:
    """What went in and out, what changed, entries by tier, Chinese coverage, sources, and what was skipped."""
    figures = summary.figures
    parts = [*_stages(summary), *_changes(figures.get("changes", {}), figures.get("changed", {}))]
    for name, title in (
        ("tiers", "Entries by tier"),
        ("sources", "Documents by source"),
        ("quota", "Quota"),
        ("overrides", "Rows of overrides.toml"),
    ):
        parts += _pairs(title, figures.get(name, {}))
    parts += _pairs("Nothing to do", figures.get("unchanged", {}))
    parts += _answers(figures.get("answers", {}))
    idle = figures.get("idle_overrides", ())
    parts += _pairs("Rows that do nothing, or not all", {row["rule"]: _code(row["problem"]) for row in idle})
    parts += _moved(figures.get("moved", {}))
    parts += _pairs("Kept files that were made anew", {r["path"]: r["verdict"] for r in figures.get("made_anew", ())})
    parts += [f"- {_code(sentence)}" for sentence in figures.get("warnings", ())]
    parts += _pairs("Wrong", {row["place"]: f"{row['problem']} {row['cure']}" for row in figures.get("wrong", ())})
    parts += _coverage(figures.get("zh", {}))
    parts += _changed_sources(figures.get("changed_sources", ()))
    parts += _engines(figures.get("engines", {}))
    parts += [f"- {name.replace('_', ' ')}: {value}" for name, value in figures.items() if name not in _SECTIONS]
    parts += _drift(figures.get("drift", ()))
    parts += _skipped(summary.examples)
    return "\n".join(parts) + "\n"


def source_rows(summary: Summary) -> list[dict[str, Any]]:
    """One row a source: its documents, and what its ingest told of it."""
    told: Mapping[str, Any] = summary.figures.get("sources", {})
    return [
        {"source": name, **(what if isinstance(what, dict) else {"documents": what})} for name, what in told.items()
    ]


def _stages(summary: Summary) -> Iterator[str]:
    yield from _table("| stage | in | out | skipped | because |", "|---|---:|---:|---:|---|")
    for stage in summary.stages:
        because = ", ".join(f"{reason} {number:,}" for reason, number in stage.reasons)
        yield f"| {stage.stage} | {stage.taken:,} | {stage.given:,} | {stage.skipped:,} | {because} |"
    yield ""


def _changes(counts: Mapping[str, int], named: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if not counts:
        return
    yield from _table("| clusters | count | the first |", "|---|---:|---|")
    for kind, count in counts.items():
        yield f"| {kind} | {count:,} | {' '.join(map(_code, named.get(kind, ())[:5]))} |"
    yield ""


def _moved(moved: Mapping[str, Any]) -> Iterator[str]:
    """Which old cluster is which new one, where another normaliser reads events otherwise."""
    if not moved:
        return
    before, now = moved["normaliser"]
    yield f"{moved['events']:,} events were read anew by normaliser {_code(before)} → {_code(now)}."
    yield ""
    yield from _table("| old | new | events |", "|---|---|---:|")
    for row in moved["map"]:
        yield f"| {_code(row['old'])} | {_code(row['new'])} | {row['events']:,} |"
    yield ""


def _pairs(title: str, counts: Mapping[str, Any]) -> Iterator[str]:
    if not counts:
        return
    yield from _table(f"| {title} | |", "|---|---:|")
    for name, count in counts.items():
        told = ", ".join(f"{key} {value}" for key, value in count.items()) if isinstance(count, dict) else str(count)
        yield f"| {_code(name)} | {_cell(told)} |"
    yield ""


def _answers(domains: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """How many entries have a cause, a remedy, a fix or official text, by domain and in all."""
    if not domains:
        return
    yield from _table("| domain | entries | with an answer | share |", "|---|---:|---:|---:|")
    rows = [(_code(name), told["entries"], told["answered"]) for name, told in domains.items()]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    for name, every, answered in rows:
        yield f"| {name} | {every:,} | {answered:,} | {answered / every:.0%} |"
    yield ""


def _coverage(fields: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """How much Chinese there is, and why the rest is not there."""
    if not fields:
        return
    yield from _table("| Chinese side of | values | how they came to be |", "|---|---:|---|")
    for name, statuses in fields.items():
        total = sum(statuses.values())
        shares = ", ".join(f"{status} {number / total:.0%}" for status, number in statuses.items())
        yield f"| {_code(name)} | {total:,} | {shares} |"
    yield ""


def _changed_sources(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """The sentences of official pages whose Chinese is lost because the page says something else now."""
    if not rows:
        return
    yield from _table("| official sentence that changed | entry | field |", "|---|---|---|")
    for row in rows:
        yield "| " + " | ".join(map(_code, (row["sentence"], row["entry_id"], row["field"]))) + " |"
    yield ""


def _drift(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Where official sources say different things."""
    if not rows:
        return
    yield ""
    yield from _table("| page | section | sources | first | second |", "|---|---|---|---|---|")
    for row in rows:
        first, second = (f"{row[f'{side}_sha256'][:12]} {row[side]}" for side in ("first", "second"))
        yield (
            "| " + " | ".join(map(_code, (row["page"], row["section"], " / ".join(row["sides"]), first, second))) + " |"
        )


def _engines(asked: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What was asked of the engines that are switched on, and why an answer is missing."""
    if not asked:
        return
    yield from _table("| engine | calls | kept answers | tokens | without an answer |", "|---|---:|---:|---:|---|")
    for name, told in asked.items():
        missing = ", ".join(f"{why} {number:,}" for why, number in told.get("refused", {}).items())
        yield f"| {_code(name)} | {told['calls']:,} | {told['kept']:,} | {told['tokens']:,} | {missing} |"
    yield ""


def _skipped(items: Sequence[Skipped]) -> Iterator[str]:
    if not items:
        return
    yield ""
    yield from _table("| skipped at | item | because | detail |", "|---|---|---|---|")
    for item in items:
        detail = _code(item.detail[:_DETAIL_CHARACTERS]) if item.detail else ""
        yield f"| {item.stage} | {_code(item.item_id)} | {item.reason} | {detail} |"


def _table(*head: str) -> Sequence[str]:
    return head


def _code(text: str) -> str:
    """`text` as a code span in a table cell: what strangers wrote stays text."""
    return "`" + _cell(text.replace("`", "'")) + "`"


def _cell(text: str) -> str:
    return " ".join(clean(text).replace("|", "¦").split())
