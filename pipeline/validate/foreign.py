"""Anybody's JSON against the schema and the rules: every defect named, nothing crashes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline.records import disk, leaves
from pipeline.records.entry import KnowledgeEntry
from pipeline.validate.bundles import check_bundle
from pipeline.validate.canon import FORM_RULES, flattened, is_canon
from pipeline.validate.problem import Context, Problem
from pipeline.validate.rules import broken

#: A file larger than this is no entry; entries.jsonl is read line by line.
_LARGEST_ENTRY = 16_000_000
_NOTHING_KNOWN = Context()


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked at, and every problem found."""

    kind: str  # "entry", "entries", "bundle"
    entry_count: int
    problems: tuple[Problem, ...]


def check(raw: object, context: Context = _NOTHING_KNOWN) -> list[Problem]:
    """Every problem of one entry given as parsed JSON, in our form or ErrorCanon's; empty if it is sound."""
    if not isinstance(raw, dict):
        return [Problem("json", "", f"an entry is a JSON object, this is {type(raw).__name__}")]
    if is_canon(raw):
        return [found for found in broken(flattened(raw), context) if found.rule not in FORM_RULES]
    return [*_schema_problems(raw), *broken(raw, context)]


def check_text(body: str) -> tuple[int, list[Problem]]:
    """(entries, problems) of a JSON text: one entry, a list of them, or one a line."""
    try:
        parsed = _parsed(body)
    except ValueError as error:
        lines = [line for line in body.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].lstrip().startswith("{") and lines[0].rstrip().endswith("}"):
            return len(lines), [problem for place, line in enumerate(lines, 1) for problem in _line(place, line)]
        return 0, [Problem("json", "", str(error))]
    entries = parsed if isinstance(parsed, list) else [parsed]
    return len(entries), [problem for entry in entries for problem in check(entry)]


def check_path(path: Path) -> Report:
    """What is wrong with the entry, the file of entries, or the bundle at `path`."""
    if path.is_dir():
        lines = [path / leaves.LINES, *sorted(path.glob(leaves.path("*", leaves.LINES)))]
        if not (path / "manifest.json").exists() and any(file.exists() for file in lines):
            found = [_checked_file(file) for file in lines if file.exists() and file.stat().st_size]
            missing = Problem("bundle_manifest", "manifest.json", "there is no manifest: the bundle is not whole")
            return Report("bundle", sum(count for count, _ in found), (missing, *(p for _, own in found for p in own)))
        if not (path / "manifest.json").exists():
            return _folder(path)
        count, problems = check_bundle(path, check)
        return Report("bundle", count, tuple(problems))
    count, problems = _checked_file(path)
    return Report("entry" if count == 1 else "entries", count, tuple(problems))


def _folder(path: Path) -> Report:
    """A folder of entries without a manifest, such as another project's."""
    found = [_checked_file(file) for file in sorted(path.rglob("*.json"))]
    if not found:
        return Report("entries", 0, (Problem("file", str(path), "the folder holds no JSON file"),))
    return Report("entries", sum(count for count, _ in found), tuple(p for _, problems in found for p in problems))


def _checked_file(path: Path) -> tuple[int, list[Problem]]:
    try:
        if path.suffix != ".jsonl" and path.stat().st_size > _LARGEST_ENTRY:
            return 0, [Problem("file", str(path), f"larger than {_LARGEST_ENTRY // 1_000_000} MB: this is no entry")]
        body = disk.body(path, pipes=True).decode("utf-8")
    except OSError as error:
        return 0, [Problem("file", str(path), error.strerror or str(error))]
    except UnicodeDecodeError as error:
        return 0, [Problem("file", str(path), f"is not UTF-8: byte {error.start}")]
    return check_text(body)


def _line(place: int, line: str) -> Iterator[Problem]:
    try:
        yield from check(_parsed(line))
    except ValueError as error:
        yield Problem("json", f"line {place}", str(error))


def _parsed(body: str) -> Any:
    try:
        return json.loads(body, parse_constant=_no_constant, object_pairs_hook=_no_twice)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _no_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} stands twice in one object")
    return made


def _schema_problems(raw: dict[str, Any]) -> Iterator[Problem]:
    name = raw.get("id")
    entry_id = name if isinstance(name, str) else ""
    try:
        KnowledgeEntry.model_validate(raw, strict=False)
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False, include_context=False):
            yield Problem("schema", _place(found["loc"]), found["msg"], entry_id)


def _place(parts: tuple[int | str, ...]) -> str:
    place = ""
    for part in parts:
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    return place.removeprefix(".")
