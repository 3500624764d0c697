"""What a forgotten thread leaves in a home: the fact, as hashes in raw, and nothing that says which thread it was.

Its pages go at once, and with them what raw does not hold: ids of entries (a slug is made of the words of an error),
addresses in the memory of an ingest, examples in the record of runs, answers of engines, databases that were set aside.
What is made of raw (shards, database with journal, bundle) is made without it by the next build and export.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from functools import cache
from pathlib import Path

from pipeline import export as bundle
from pipeline import raw, store
from pipeline.providers import PROVIDERS
from pipeline.records import chained, shelf_of
from pipeline.records.bundle import Named, registry_of
from pipeline.records.errors import ConfigError, ExportError, StoreError
from pipeline.records.exported import names_in
from pipeline.run.home import recording, translations
from pipeline.store import reading

#: What stands in the journal where an id stood that only a forgotten thread had.
_FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was erased of a thread."""

    page_count: int
    id_count: int  # ids of entries that no other thread shows


def forget(home: Path, raw_path: Path, document_key: str) -> Forgotten:
    """What was erased; killed at any point, the same call again does the rest."""
    layer = raw.RawLayer(raw_path)
    work, database = home / ".errmine", home / "curated" / "errmine.duckdb"
    names = _names(database, home / "curated", lambda one: one == document_key or layer.is_forgotten(one))
    layer.forget_names(names)  # before the pages: the database that tells them is made anew without the thread
    for provider in PROVIDERS:
        if provider.source and (erase := getattr(provider.fetch(), "forget", None)):
            erase(work, document_key)
    shutil.rmtree(work / "answers" / "enrich" / shelf_of(document_key), ignore_errors=True)
    shutil.rmtree(work / "bundle", ignore_errors=True)  # the one before the last
    for clone in work.glob("verify-*"):  # which a `build --verify` left that was killed
        shutil.rmtree(clone, ignore_errors=True)
    # a translation stands under the hash of its sentence: whose it was nobody can tell
    shutil.rmtree(work / "answers" / "translate", ignore_errors=True)
    translations.forget(home, lambda one: one == document_key or layer.is_forgotten(one))
    for name in ("runs.jsonl", "runs.jsonl.damaged"):
        _erase_examples(work / name, document_key)
    _erase_notes(work / "journal.jsonl", layer.has_forgotten, is_in_database=database.exists())
    erased = layer.forget(document_key)
    raw.purge(layer)
    _erase_databases(work / "set-aside", layer)
    return Forgotten(erased, len(names))


def gone(raw_path: Path) -> Callable[[str], bool]:
    """What is true of the ids that went with a forgotten thread."""
    return cache(raw.RawLayer(raw_path).has_forgotten)


def without(rows: Iterable[Named], is_gone: Callable[[str], bool]) -> tuple[dict[str, Named], list[str]]:
    """(the rows that change, the names that go) of a registry without the ids that are forgotten: they are there not
    as ids, nor as former ones, nor as where those lead.
    """
    changed, gone = {}, []
    for row in rows:
        if row.state == "cluster":
            continue
        leads_to = None if row.leads_to and is_gone(row.leads_to) else row.leads_to
        if is_gone(row.name) or (row.state == "renamed" and leads_to is None):
            gone.append(row.name)
            continue
        former = [name for name in row.renamed_from if not is_gone(name)]
        own = None if row.own_id and is_gone(row.own_id) else row.own_id
        if (leads_to, len(former), own) != (row.leads_to, len(row.renamed_from), row.own_id):
            changed[row.name] = Named.of(row.name, row.state, leads_to, row.cluster_id, row.medoid, former, own)
    return changed, gone


def _names(database: Path, curated: Path, is_gone: Callable[[str], bool]) -> set[str]:
    """The ids, of now and of before, of errors that forgotten threads alone show."""
    registries = []
    with suppress(ExportError):  # one that is damaged is restored from the database's copy, or refused, by the build
        registries.append(bundle.read_registry(curated))
    shown: Mapping[str, frozenset[str]] = {}
    if database.exists():
        with suppress(StoreError), store.held(database):  # one that is broken is made anew, with nothing of the thread
            registries.append(registry_of(names_in(reading.registry(database))))
            shown = reading.documents_of_names(database)
    names: set[str] = set()
    for registry in registries:
        for name, error in {**registry.merged, **registry.ids}.items():
            medoid, cluster = shown.get(error.medoid, frozenset()), shown.get(error.cluster_id, frozenset())
            documents = cluster if name in registry.ids and cluster else medoid
            if documents and all(map(is_gone, documents)):
                names |= {name, *error.renamed_from, *([error.own_id] if error.own_id else [])}
        names |= {old for old, new in registry.aliases.items() if new in names}
    return names


def nameless(row: store.JournalRow, is_gone: Callable[[str], bool]) -> store.JournalRow:
    """The note, which says no more than that there was one if it is about an id that is gone."""
    is_about = is_gone(row.subject_id) or bool(row.other_id and is_gone(row.other_id))
    return replace(row, subject_id=_FORGOTTEN, other_id=None, detail="") if is_about else row


def _erase_notes(path: Path, is_gone: Callable[[str], bool], *, is_in_database: bool) -> None:
    """Nothing; the journal's file, and what was kept of a damaged one, name no id that is gone.

    A file with damaged lines, which nobody can look through, gives way to the database's journal, or keeps its others.
    """
    path.with_name(f"{path.name}.damaged").unlink(missing_ok=True)
    chain = chained.read(path)
    if chain.broken and is_in_database:
        path.unlink()
        return
    lines = [
        {**line, "rows": [astuple(nameless(store.JournalRow(*cells), is_gone)) for cells in line["rows"]]}
        if "rows" in line
        else line
        for line in chain.rows
    ]
    if chain.broken or chain.is_cut or json.dumps(lines) != json.dumps(chain.rows):
        staged = path.with_name(f".{path.name}.new")
        staged.unlink(missing_ok=True)
        chained.extend(staged, lines)
        staged.replace(path)


def _erase_databases(folder: Path, layer: raw.RawLayer) -> None:
    """Nothing; no database lies aside that holds a forgotten thread or names one, nor one that nobody can read."""
    for path in sorted(folder.glob("*")):
        if path.is_file() and _may_hold_forgotten(path, layer):
            path.unlink()


def _may_hold_forgotten(database: Path, layer: raw.RawLayer) -> bool:
    try:
        with store.held(database):
            documents, notes = reading.document_pages(database), reading.journal(database)
            names = names_in(reading.registry(database))
    except (StoreError, ConfigError, ValueError):
        return True
    return (
        any(map(layer.is_forgotten, documents))
        or any(nameless(row, layer.has_forgotten) != row for row in notes)
        or any(without(names, layer.has_forgotten))
    )


def _erase_examples(path: Path, document_key: str) -> None:
    """Nothing; of what runs skipped nothing is left that names the thread."""
    if not path.exists():
        return
    lines = path.read_bytes().splitlines(keepends=True)
    thread = _naming(document_key)
    kept = [_without_examples(line, thread) for line in lines]
    if kept != lines:
        staged = path.with_name(f".{path.name}.new")
        staged.write_bytes(b"".join(kept))
        staged.replace(path)


def _without_examples(line: bytes, thread: re.Pattern[str]) -> bytes:
    if not thread.search(line.decode("utf-8", "replace")):
        return line
    try:
        row = json.loads(line)
        row.pop("sha256", None)
        row["detail"]["examples"] = [
            one for one in row["detail"].get("examples", []) if not thread.search(json.dumps(one))
        ]
        row["detail"] = {name: value for name, value in row["detail"].items() if not thread.search(json.dumps(value))}
    except (ValueError, KeyError, AttributeError, TypeError):
        return b""  # a torn line that names it
    return recording.sealed(row).encode() + b"\n"


def _naming(document_key: str) -> re.Pattern[str]:
    """What finds the thread's key and its addresses."""
    name, _, number = document_key.partition("/")[2].partition("#")
    return re.compile(rf"{re.escape(name)}(?:#|/(?:issues|pulls?)/){number}(?!\d)", re.IGNORECASE)
