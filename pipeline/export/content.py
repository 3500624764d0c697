"""The bytes of every file of a bundle, from entries and facts alone."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import __version__
from pipeline.records import Cluster, Template, kept
from pipeline.records.bundle import (
    BUNDLE_VERSION,
    Coverage,
    FileRecord,
    IgnoredTemplate,
    Index,
    IndexEntry,
    IndexTemplate,
    Manifest,
    PackRecord,
    Registry,
    answers,
    bundle_id,
)
from pipeline.records.entry import SCHEMA_VERSION, KnowledgeEntry, is_answered

_LICENCE_NOTE = (
    "Quotes are short, verbatim, and cited with their permalink; the rights in them stay with their authors "
    "under the terms of the place quoted. Facts, counts and structure may be reused freely."
)
_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())
#: Flat columns of entries.parquet; `json` holds all of the entry.
_PARQUET = pa.schema(
    [
        ("id", _TEXT),
        ("cluster_id", _TEXT),
        ("signature", _TEXT),
        ("signature_zh", _TEXT),
        ("regex", _TEXT),
        ("domain", _TEXT),
        ("category", _TEXT),
        ("subcategory", _TEXT),
        ("exception_type", _TEXT),
        ("root_cause", _TEXT),
        ("root_cause_type", _TEXT),
        ("root_cause_zh", _TEXT),
        ("cause_type", _TEXT),
        ("workarounds_zh", _TEXTS),
        ("dead_ends_zh", _TEXTS),
        ("official_doc_url", _TEXT),
        ("error_code", _TEXT),
        ("codes", _TEXTS),
        ("verification_tier", _TEXT),
        ("confidence", pa.float64()),
        ("fix_success_rate", pa.float64()),
        ("resolvable", _TEXT),
        ("first_seen", pa.date32()),
        ("last_confirmed", pa.date32()),
        ("last_updated", pa.date32()),
        ("evidence_count", pa.int64()),
        ("occurrence_count", pa.int64()),
        ("tags", _TEXTS),
        ("aliases", _TEXTS),
    ]
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a bundle says besides its entries."""

    normaliser: str = ""
    clusters: tuple[Cluster, ...] = ()  # for the index: representative and lowest score
    templates: tuple[Template, ...] = ()  # for the index: what matching compares
    ignored: Mapping[str, str] = field(default_factory=dict)  # for the index: signature that people ignore -> reason
    registry: Registry = field(default_factory=Registry)
    sources: Mapping[str, int] = field(default_factory=dict)  # source -> documents
    packs: tuple[PackRecord, ...] = ()  # those that do not come with errmine
    counts: Mapping[str, int] = field(default_factory=dict)  # more counts for the manifest


#: An entry as its JSON has it: what every file of a bundle is made from.
Fields = Mapping[str, Any]


def fields_of(entry: KnowledgeEntry) -> Fields:
    """The JSON of an entry."""
    return entry.model_dump(mode="json")


#: One encoder for all: making one costs more than a short text takes.
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compact_json(value: object) -> str:
    """`value` as JSON without spaces, keys sorted, UTF-8 as it is."""
    return _ENCODER.encode(value)


def line(fields: Fields) -> str:
    """An entry as a line of entries.jsonl."""
    return compact_json(fields) + "\n"


def page(fields: Fields) -> str:
    """An entry, or another record, as a file of its own: a field a line, and in lists an item a line.

    Quick to write, easy to compare.
    """
    return "{\n" + ",\n".join(f'  "{name}": {_indented_once(fields[name])}' for name in sorted(fields)) + "\n}\n"


def _indented_once(value: object) -> str:
    """`value` with an item a line."""
    if isinstance(value, list) and value:
        return "[\n    " + ",\n    ".join(map(compact_json, value)) + "\n  ]"
    if isinstance(value, dict) and value:
        pairs = (f"{compact_json(name)}: {compact_json(value[name])}" for name in sorted(value))
        return "{\n    " + ",\n    ".join(pairs) + "\n  }"
    return compact_json(value)


def page_path(entry_id: str) -> str:
    """Where the entry's own file stands in the bundle."""
    return f"entries/{entry_id}.json"


def parquet(entries: Sequence[Fields], lines: Sequence[str]) -> bytes:
    """entries.parquet: flat columns, and the whole entry in `json`."""
    arrays = [pa.array(_cells(entries, column), type=column.type) for column in _PARQUET]
    arrays.append(pa.array([line.rstrip("\n") for line in lines], type=_TEXT))
    schema = _PARQUET.append(pa.field("json", _TEXT)).with_metadata({"schema_version": SCHEMA_VERSION})
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), out, compression="zstd", compression_level=3)
    return out.getvalue()


def _cells(entries: Sequence[Fields], column: pa.Field) -> list[Any]:
    """The values of a field, days as days."""
    found = [entry[column.name] for entry in entries]
    return [day and date.fromisoformat(day) for day in found] if column.type == pa.date32() else found


def index(entries: Sequence[Fields], facts: Facts) -> str:
    """index.json: one line an entry, so that a change of one is a change of one line."""
    clusters = {cluster.cluster_id: cluster for cluster in facts.clusters}
    templates = {template.signature_id: template for template in facts.templates}
    head = Index(schema_version=BUNDLE_VERSION, normaliser=facts.normaliser, entries=[])
    lines = (compact_json(_index_entry(e, clusters, templates).model_dump(mode="json")) for e in entries)
    body = ",\n".join(lines)
    normaliser, version = compact_json(head.normaliser), compact_json(head.schema_version)
    aside = ",\n".join(compact_json(one.model_dump(mode="json")) for one in _ignored(facts.ignored, templates))
    tail = f'"ignored":[\n{aside}\n],\n"normaliser":{normaliser},\n"schema_version":{version}'
    return f'{{"entries":[\n{body}\n],\n{tail}}}\n'


def _ignored(reasons: Mapping[str, str], templates: Mapping[str, Template]) -> Iterator[IgnoredTemplate]:
    for signature_id in sorted(reasons.keys() & templates.keys()):
        text = templates[signature_id].text
        yield IgnoredTemplate(signature_id=signature_id, text=text, reason=reasons[signature_id])


#: Fields of an entry that index.json has as they are.
_INDEXED = (
    "id", "cluster_id", "signature", "signature_zh", "regex", "exception_type", "codes", "domain", "category",
    "verification_tier", "evidence_count", "occurrence_count", "aliases",
)  # fmt: skip


def _index_entry(entry: Fields, clusters: Mapping[str, Cluster], templates: Mapping[str, Template]) -> IndexEntry:
    cluster = clusters.get(entry["cluster_id"] or "")
    members = [templates[member] for member in cluster.members if member in templates] if cluster else []
    return IndexEntry(
        **{name: entry[name] for name in _INDEXED},
        medoid=cluster.medoid if cluster else None,
        answered=is_answered(entry),
        lowest_score=cluster.lowest_score if cluster else None,
        templates=[_index_template(template) for template in members],
    )


def _index_template(template: Template) -> IndexTemplate:
    return IndexTemplate(
        signature_id=template.signature_id,
        exception_type=template.exception_type,
        text=template.text,
        gate=list(template.gate),
        is_gate_complete=template.is_gate_complete,
        is_truncated=template.is_truncated,
        count=template.count,
        first_seen=template.first_seen,
    )


def registry(made: Registry) -> str:
    """registry.json: every id that was ever published."""
    return _indented(made.model_dump(mode="json"))


def manifest(entries: Sequence[Fields], facts: Facts, files: Sequence[FileRecord]) -> bytes:
    """manifest.json: versions, counts, coverage, the sha256 of every file, and its own seal."""
    listed = sorted(files, key=lambda file: file.path)
    made = Manifest(
        schema_version=SCHEMA_VERSION,
        bundle_version=BUNDLE_VERSION,
        bundle_id=bundle_id(listed),
        generator=f"errmine {__version__}",
        normaliser=facts.normaliser,
        packs=list(facts.packs),
        counts={**facts.counts, **_counts(entries)},
        sources=dict(facts.sources),
        chinese=list(_coverage(entries)),
        answers=answers(entries),
        licence_note=_LICENCE_NOTE,
        files=listed,
        seal=kept.UNSEALED,
    )
    return kept.sealed(page(made.model_dump(mode="json")).encode())


def record_of(path: str, body: bytes) -> FileRecord:
    """The manifest's line about a file."""
    return FileRecord(path=path, sha256=hashlib.sha256(body).hexdigest(), bytes=len(body))


def _counts(entries: Sequence[Fields]) -> dict[str, int]:
    tiers = Counter(f"tier.{entry['verification_tier']}" for entry in entries)
    return {
        "entries": len(entries),
        "answered": sum(map(is_answered, entries)),
        "evidence": sum(len(entry["evidence"]) + entry["evidence_omitted"] for entry in entries),
        "evidence_documents": len({piece["document_id"] for entry in entries for piece in entry["evidence"]}),
        "occurrences": sum(entry["occurrence_count"] for entry in entries),
        "workarounds": sum(len(entry["workarounds"]) for entry in entries),
        "dead_ends": sum(len(entry["dead_ends"]) for entry in entries),
        "case_statements": sum(len(case["statements"]) for entry in entries for case in entry["cases"]),
        **tiers,
    }


def _coverage(entries: Sequence[Fields]) -> Iterator[Coverage]:
    statuses = _statuses(entries)

    def row(field: str, values: Sequence[object]) -> Coverage:
        present = sum(value is not None for value in values)
        return Coverage(field=field, wanted=len(values), present=present, by_status=statuses.get(field, {}))

    for chinese, english in (("signature_zh", "signature"), ("root_cause_zh", "root_cause")):
        yield row(chinese, [entry[chinese] for entry in entries if entry[english] or entry[chinese]])
    for chinese in ("workarounds_zh", "dead_ends_zh"):
        yield row(chinese, [value for entry in entries for value in entry[chinese]])
    said = (one for entry in entries for case in entry["cases"] for one in case["statements"])
    yield row("cases_zh", [one["text_zh"] for one in said])


def _statuses(entries: Sequence[Fields]) -> dict[str, dict[str, int]]:
    """Chinese field -> status -> values that came to be so."""
    counts: dict[str, Counter[str]] = {}
    for entry in entries:
        for key, told in entry["translations"].items():
            if told["status"] != "not_applicable":
                counts.setdefault(key.split("[", 1)[0], Counter())[told["status"]] += 1
    return {field: dict(sorted(count.items())) for field, count in counts.items()}


def _indented(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
