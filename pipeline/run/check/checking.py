"""The deepest check: every quote of every entry is found again, at its offsets, in what raw holds of its document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import raw
from pipeline.lexicon import repositories
from pipeline.providers import documents
from pipeline.records import Document, leaves
from pipeline.validate import Problem

#: The name of this rule in reports.
RULE = "quote_in_raw"


@dataclass(frozen=True, slots=True)
class _Cited:
    """One piece of evidence, and where it stands."""

    entry_id: str
    place: str
    start: int
    end: int
    quote: str
    raw_sha256: str


def quote_problems(entries: Iterable[Mapping[str, Any]], raw_path: Path) -> tuple[int, list[Problem]]:
    """(quotes compared, problems): what does not stand in raw as the entries say it does."""
    cited: dict[str, list[_Cited]] = {}
    for entry in entries:
        for document_id, one in _citations(entry):
            cited.setdefault(document_id, []).append(one)
    count = sum(map(len, cited.values()))
    problems: list[Problem] = []
    for document in _documents(raw.RawLayer(raw_path), set(cited)):
        problems += [problem for one in cited.pop(document.document_id) if (problem := _compared(one, document))]
    for document_id in sorted(cited):
        problems += [_problem(one, f"raw holds no {document_id}") for one in cited[document_id]]
    return count, sorted(problems, key=lambda problem: (problem.entry_id, problem.place))


def entries_at(path: Path) -> Iterator[dict[str, Any]]:
    """Every entry that can be read at `path`: bundle, folder or file. What cannot, `validate.check_path` names."""
    if path.is_dir():
        lines = [path / leaves.LINES, *sorted(path.glob(leaves.path("*", leaves.LINES)))]
        files = [file for file in lines if file.exists()] or sorted(path.rglob("*.json"))
    else:
        files = [path]
    for file in files:
        for value in _values(file.read_bytes().decode("utf-8", "replace")):
            yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict))


def _values(body: str) -> Iterator[Any]:
    """The JSON values of a text: one, or one a line."""
    try:
        yield json.loads(body)
    except (ValueError, RecursionError):
        for line in body.splitlines():
            with suppress(ValueError, RecursionError):
                yield json.loads(line)


def _citations(entry: Mapping[str, Any]) -> Iterator[tuple[str, _Cited]]:
    """(document id, citation) of every piece of evidence that has the form of one; the other rules name the rest."""
    pieces = entry.get("evidence")
    for number, piece in enumerate(pieces if isinstance(pieces, list) else []):
        if not isinstance(piece, dict):
            continue
        one = _Cited(
            entry_id=str(entry.get("id")),
            place=f"evidence[{number}]",
            start=piece["start"] if isinstance(piece.get("start"), int) else -1,
            end=piece["end"] if isinstance(piece.get("end"), int) else -1,
            quote=str(piece.get("quote")),
            raw_sha256=str(piece.get("raw_sha256")),
        )
        yield repositories.current_key(str(piece.get("document_id"))), one  # an older bundle has older names


def _documents(layer: raw.RawLayer, wanted: set[str]) -> Iterator[Document]:
    """The wanted documents of raw, each once. A key mostly is an id: the others are read only for what is left."""
    every = layer.documents()
    likely = [refs for refs in every if refs.document_key in wanted]
    other = [refs for refs in every if refs.document_key not in wanted]
    for refs in _until_found((*likely, *other), wanted):
        document = documents.document(layer.read(refs.refs))
        if isinstance(document, Document) and document.document_id in wanted:
            wanted.discard(document.document_id)
            yield document


def _until_found(every: Sequence[raw.DocumentRefs], wanted: set[str]) -> Iterator[raw.DocumentRefs]:
    for refs in every:
        if not wanted:
            return
        yield refs


def _compared(one: _Cited, document: Document) -> Problem | None:
    if 0 <= one.start < one.end and document.text[one.start : one.end] == one.quote:
        return None
    if one.raw_sha256 != document.raw_sha256:
        return _problem(one, f"raw holds another version of {document.document_id}, without this quote there")
    return _problem(one, f"{document.document_id} holds other words at {one.start}–{one.end}")


def _problem(one: _Cited, message: str) -> Problem:
    return Problem(RULE, one.place, message, one.entry_id)
