"""Records as rows: a column of schema.sql takes the field of its name, so a new one needs its line there, no more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any

from pipeline.records import Cluster
from pipeline.records.entry import (
    CaseStatement,
    DeadEnd,
    Edge,
    Environment,
    KnowledgeEntry,
    Version,
    Workaround,
    is_answered,
    is_documented,
)
from pipeline.records.shown import shown
from pipeline.store import opening
from pipeline.store.contents import RunRow

Row = tuple[Any, ...]
#: All that a cluster is, from which its row follows as far as it is not counted.
cluster_cells = attrgetter(*(one.name for one in fields(Cluster)))
_Cited = Workaround | DeadEnd | CaseStatement | Version | Environment | Edge

#: Columns that SQL calls otherwise than the record does: `end` is a word of SQL's, `count` a function.
FIELDS = {"start_offset": "start", "end_offset": "end", "document_count": "count"}


def canonical(value: object) -> str:
    """`value` as JSON with sorted keys: equal values, equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def row(table: str, record: object, **given: object) -> Row:
    """The cells of `record` in the order of the columns of `table`; those `given` are no fields of it."""
    if not given:
        return _cells(table)(record)
    return tuple(
        given[column] if column in given else getattr(record, FIELDS.get(column, column)) for column in _columns(table)
    )


@cache
def _cells(table: str) -> Callable[[object], Row]:
    """What gives the cells of a record that has a field for each column of a table, of which there are several."""
    return attrgetter(*(FIELDS.get(column, column) for column in _columns(table)))


@cache
def _columns(table: str) -> tuple[str, ...]:
    return opening.columns(opening.sql("schema.sql"))[table]


def tables_of(entries: Iterable[KnowledgeEntry]) -> dict[str, list[Row]]:
    """Rows of every table that entries fill, by the table's name, in the order of the entries."""
    tables: dict[str, list[Row]] = {name: [] for name in _MAKERS}
    for entry in entries:
        for name, make in _MAKERS.items():
            tables[name].extend(make(entry))
    return tables


def _entries(entry: KnowledgeEntry) -> Iterator[Row]:
    told = entry.documentation
    yield row(
        "entries",
        entry,
        entry_id=entry.id,
        workaround_count=len(entry.workarounds),
        dead_end_count=len(entry.dead_ends),
        origin=entry.provenance.origin,
        is_answered=is_answered(entry),
        documentation=told.text if told else None,
        documentation_zh=told.text_zh if told else None,
        documentation_url=told.url if told else None,
        documentation_row=told.row if told else None,
        is_documented=is_documented(entry),
        json=canonical(shown(entry).model_dump(mode="json")),
    )


def _evidence(entry: KnowledgeEntry) -> Iterator[Row]:
    return (row("evidence", piece, entry_id=entry.id) for piece in entry.evidence)


def _cited_parts(entry: KnowledgeEntry) -> Iterator[tuple[str, int, list[str]]]:
    yield "root_cause", 0, entry.root_cause_evidence
    graph = entry.transition_graph
    lists: tuple[tuple[str, Sequence[_Cited]], ...] = (
        ("workaround", entry.workarounds),
        ("dead_end", entry.dead_ends),
        ("version", entry.versions),
        ("environment", entry.environment),
        ("leads_to", graph.leads_to),
        ("preceded_by", graph.preceded_by),
        ("frequently_confused_with", graph.frequently_confused_with),
    )
    said = [statement for case in entry.cases for statement in case.statements]
    for part, items in (*lists, ("case_statement", said)):
        for ordinal, item in enumerate(items):
            yield part, ordinal, item.evidence


def _citations(entry: KnowledgeEntry) -> Iterator[Row]:
    for part, ordinal, evidence in _cited_parts(entry):
        for evidence_id in evidence:
            yield entry.id, part, ordinal, evidence_id


def _remedies(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, (way, chinese) in enumerate(zip(entry.workarounds, entry.workarounds_zh, strict=True)):
        place = {"entry_id": entry.id, "kind": "workaround", "ordinal": ordinal, "action_zh": chinese}
        yield row("remedies", way, **place, why_fails=None, rate=way.success_rate)
    for ordinal, (end, chinese) in enumerate(zip(entry.dead_ends, entry.dead_ends_zh, strict=True)):
        place = {"entry_id": entry.id, "kind": "dead_end", "ordinal": ordinal, "action_zh": chinese}
        yield row("remedies", end, **place, how=None, rate=end.fail_rate, tier=None)


def _replies(entry: KnowledgeEntry) -> Iterator[Row]:
    said = [statement for case in entry.cases for statement in case.statements]
    acts = [("workaround", number, one.replies) for number, one in enumerate(entry.workarounds)]
    acts += [("case_statement", number, one.replies) for number, one in enumerate(said)]
    for part, ordinal, replies in acts:
        for reply in replies:
            yield row("replies", reply, entry_id=entry.id, part=part, ordinal=ordinal)


def _cases(entry: KnowledgeEntry) -> Iterator[Row]:
    return (row("cases", case, entry_id=entry.id, ordinal=number) for number, case in enumerate(entry.cases))


def _case_statements(entry: KnowledgeEntry) -> Iterator[Row]:
    said = [(number, one) for number, case in enumerate(entry.cases) for one in case.statements]
    for ordinal, (case, one) in enumerate(said):
        yield row("case_statements", one, entry_id=entry.id, ordinal=ordinal, case_ordinal=case)


def _versions(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, item in enumerate(entry.versions):
        yield row("versions", item, entry_id=entry.id, ordinal=ordinal)


def _environment(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, item in enumerate(entry.environment):
        yield row("environment", item, entry_id=entry.id, ordinal=ordinal)


def _edges(entry: KnowledgeEntry) -> Iterator[Row]:
    for relation in ("leads_to", "preceded_by", "frequently_confused_with"):
        for ordinal, edge in enumerate(getattr(entry.transition_graph, relation)):
            yield row("edges", edge, entry_id=entry.id, relation=relation, ordinal=ordinal, other_id=edge.entry_id)


def _translations(entry: KnowledgeEntry) -> Iterator[Row]:
    for field, made in sorted(entry.translations.items()):
        yield row("translations", made, entry_id=entry.id, field=field, gates=canonical(made.gates))


_MAKERS = {
    "entries": _entries,
    "evidence": _evidence,
    "citations": _citations,
    "remedies": _remedies,
    "replies": _replies,
    "cases": _cases,
    "case_statements": _case_statements,
    "versions": _versions,
    "environment": _environment,
    "edges": _edges,
    "translations": _translations,
}


#: Tables that entries fill: each row belongs to the entry whose id it begins with.
ENTRY_TABLES = tuple(_MAKERS)


def lines_of(tables: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, str]]:
    """The id of each entry in the rows that `tables_of` gave, with its JSON as the file has it."""
    names = _columns("entries")
    return map(itemgetter(names.index("entry_id"), names.index("json")), tables["entries"])


def cluster_row(cluster: Cluster) -> Row:
    """What is known of a cluster before it is counted."""
    whole = (cluster.exception_type, cluster.text, canonical(cluster.gate), cluster.regex or None)
    return (cluster.cluster_id, cluster.medoid, *whole, cluster.lowest_score, len(cluster.members))


def run_row(run: RunRow) -> Row:
    """One run."""
    return row("runs", run, detail=canonical(dict(run.detail)))
