"""A whole bundle: its files are what the manifest says, its entries are sound, and they fit together."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.records import disk, kept, leaves
from pipeline.records.bundle import Index, Manifest, Registry, bundle_id, parsed
from pipeline.validate.problem import Problem, items, mapping, omitted, statements, text, values

_PAGES = re.compile(r"entries/[^/]+/[^/]+")
_RELATIONS = ("leads_to", "preceded_by", "frequently_confused_with")
#: What is said of a file that is not whole: what is read from it is wrong for that reason.
_NOT_THE_FILE, _UNREADABLE = "is not the file that the manifest describes", "cannot be read"
_DAMAGED = (_NOT_THE_FILE, _UNREADABLE)
#: Files of the folder that are not of the bundle's own making; a repository may say beside it what the folder is.
_STRANGERS = frozenset({"manifest.json", "errmine.duckdb", "errmine.duckdb.wal", "README.md"})
#: Where files of a bundle may stand besides its own folder.
_FOLDERS = ("schemas/*", "entries/*/*", f"{leaves.FOLDER}/*", f"{leaves.FOLDER}/*/*")


def check_bundle(folder: Path, check: Callable[[object], list[Problem]]) -> tuple[int, list[Problem]]:
    """(entries, problems) of the bundle in `folder`; `check` judges each entry."""
    try:
        manifest = parsed(disk.body(folder / "manifest.json"), Manifest)
    except (OSError, ValueError) as error:
        return 0, [Problem("bundle_manifest", "manifest.json", f"cannot be read: {error}")]
    files = [*_seal_problems(folder), *_file_problems(folder, manifest)]
    problems: list[Problem] = []
    prefixes = leaves.prefixes(file.path for file in manifest.files) or [""]
    entries, unreadable = _entries(folder, prefixes)
    problems += unreadable
    problems += [problem for entry in entries for problem in check(entry)]
    has_pages = prefixes == [""] or any(_PAGES.fullmatch(file.path) for file in manifest.files)
    problems += _page_problems(folder, entries if has_pages else [])
    problems += _leaf_problems(manifest, prefixes)
    problems += _count_problems(manifest, entries)
    problems += _reference_problems(folder, entries, prefixes)
    is_damaged = any(problem.message.startswith(_DAMAGED) for problem in files)
    return len(entries), [*files, *(_once(problems) if is_damaged else problems)]


def _once(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Of a bundle whose files are damaged: the first that each rule finds, and how many more."""
    counts = Counter(problem.rule for problem in problems)
    for rule in counts:
        yield next(problem for problem in problems if problem.rule == rule)
        if counts[rule] > 1:
            yield Problem(rule, "", f"{counts[rule] - 1:,} more, while files are not those of the manifest")


def _seal_problems(folder: Path) -> Iterator[Problem]:
    try:
        kept.unsealed_json(folder / kept.MANIFEST)
    except kept.Damaged as error:
        if kept.is_sealed(disk.body(folder / kept.MANIFEST)):
            yield Problem("bundle_manifest", "seal", str(error))


def _file_problems(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    for file in manifest.files:
        if file.path.startswith("/") or ".." in file.path.split("/"):
            yield Problem("bundle_files", file.path, "lies outside the bundle")
            continue
        try:
            body = disk.body(folder / file.path)
        except OSError as error:
            yield Problem("bundle_files", file.path, f"{_UNREADABLE}: {error.strerror}")
            continue
        if len(body) != file.bytes or kept.sha256(body) != file.sha256:
            yield Problem("bundle_files", file.path, _NOT_THE_FILE)
    listed = {file.path for file in manifest.files}
    inside = (path for pattern in _FOLDERS for path in folder.glob(pattern) if not path.is_dir())
    names = {*(p.name for p in folder.iterdir() if p.is_file()), *(str(path.relative_to(folder)) for path in inside)}
    for name in sorted(names - listed - _STRANGERS):
        yield Problem("bundle_files", name, "is not in the manifest")
    if bundle_id(manifest.files) != manifest.bundle_id:
        yield Problem("bundle_manifest", "bundle_id", "is not made from the files listed")


def _pages(folder: Path) -> list[str]:
    return [str(page.relative_to(folder)) for page in folder.glob("entries/*/*")]


def _entries(folder: Path, prefixes: Sequence[str]) -> tuple[list[dict[str, Any]], list[Problem]]:
    """(the entries of all leaves, what cannot be read or stands in a leaf that is not its own)."""
    entries: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for prefix in prefixes:
        path = leaves.path(prefix, leaves.LINES)
        own, wrong = _lines(folder, path)
        entries += own
        problems += wrong
        for name in (text(entry, "id") or "" for entry in own):
            if not leaves.place_of(name).startswith(prefix):
                problems.append(Problem("bundle_leaves", path, "the entry belongs to another leaf", name))
    return entries, problems


def _lines(folder: Path, path: str) -> tuple[list[dict[str, Any]], list[Problem]]:
    entries, problems = [], []
    try:
        lines = disk.body(folder / path).splitlines()
    except OSError as error:
        return [], [Problem("bundle_files", path, f"cannot be read: {error.strerror}")]
    for place, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.append(Problem("json", f"{path} line {place}", str(error)))
            continue
        if isinstance(entry, dict):
            entries.append(entry)
        else:
            problems.append(Problem("json", f"{path} line {place}", "is no JSON object"))
    return entries, problems


def _leaf_problems(manifest: Manifest, prefixes: Sequence[str]) -> Iterator[Problem]:
    """The manifest tells of the leaves that are there; a bundle of before tells of none."""
    told = [leaf.prefix for leaf in manifest.leaves]
    if told and told != list(prefixes):
        yield Problem("bundle_leaves", "leaves", f"says {len(told):,} leaves, there are {len(prefixes):,}")


def _page_problems(folder: Path, entries: list[dict[str, Any]]) -> Iterator[Problem]:
    """Every entry has a page of its own that says the same, and no page is left over."""
    left = set(_pages(folder))
    for entry in entries:
        page = f"entries/{text(entry, 'id')}.json"
        if page not in left:
            yield Problem("bundle_pages", page, "the entry has no page", text(entry, "id") or "")
            continue
        left.discard(page)
        try:
            is_same = json.loads(disk.body(folder / page)) == entry
        except (OSError, ValueError, RecursionError):
            is_same = False
        if not is_same:
            yield Problem("bundle_pages", page, "the page differs from entries.jsonl", text(entry, "id") or "")
    for page in sorted(left):
        yield Problem("bundle_pages", page, "is the page of no entry")


def _count_problems(manifest: Manifest, entries: list[dict[str, Any]]) -> Iterator[Problem]:
    counted = {
        "entries": len(entries),
        "evidence": sum(len(values(entry, "evidence")) + omitted(entry) for entry in entries),
        "workarounds": sum(len(values(entry, "workarounds")) for entry in entries),
        "dead_ends": sum(len(values(entry, "dead_ends")) for entry in entries),
        **Counter(f"tier.{text(entry, 'verification_tier')}" for entry in entries),
    }
    if "case_statements" in manifest.counts:  # bundles of before have none
        counted["case_statements"] = sum(1 for entry in entries for _ in statements(entry))
    if "answered" in manifest.counts:  # likewise
        counted["answered"] = sum(map(_has_answer, entries))
        if "documented" in manifest.counts:
            counted["documented"] = sum(map(_is_documented, entries))
            counted["known"] = sum(_has_answer(entry) or _is_documented(entry) for entry in entries)
        yield from _answer_problems(manifest, entries)
    for name, count in counted.items():
        if manifest.counts.get(name) != count:
            yield Problem(
                "bundle_counts", f"counts.{name}", f"says {manifest.counts.get(name)}, there are {count}{_again(name)}"
            )


def _again(name: str) -> str:
    """What to do where a bundle of before counted otherwise: then, what only the program says was an answer."""
    told = "; a bundle of an older errmine counted otherwise: export it again"
    return told if name == "answered" else ""


def _has_answer(entry: dict[str, Any]) -> bool:
    kinds = {text(statement, "kind") for _, statement in statements(entry)}
    fixed = any(text(version, "status") == "fixed" for _, version in items(entry, "versions"))
    official = any(text(piece, "role") == "official" for _, piece in items(entry, "evidence"))
    told = entry.get("root_cause_type") != "program" and bool(entry.get("root_cause") or entry.get("root_cause_zh"))
    return told or bool(entry.get("workarounds")) or fixed or official or bool(kinds & {"cause", "workaround"})


def _is_documented(entry: dict[str, Any]) -> bool:
    return bool(mapping(entry, "documentation")) or text(entry, "root_cause_type") == "documented"


def _answer_problems(manifest: Manifest, entries: list[dict[str, Any]]) -> Iterator[Problem]:
    is_new = "documented" in manifest.counts
    told = {row.domain: (row.entries, row.answered, row.documented, row.known) for row in manifest.answers}
    counted: dict[str, tuple[int, ...]] = {}
    for entry in entries:
        name, answered, documented = text(entry, "domain") or "", _has_answer(entry), is_new and _is_documented(entry)
        own = (1, answered, documented, is_new and (answered or documented))
        counted[name] = tuple(map(sum, zip(counted.get(name, (0, 0, 0, 0)), own, strict=True)))
    for name in sorted(told.keys() | counted.keys()):
        if told.get(name) != counted.get(name):
            message = f"says {told.get(name)}, there are {counted.get(name)}{_again('answered')}"
            yield Problem("bundle_counts", f"answers.{name}", message)


def _reference_problems(folder: Path, entries: list[dict[str, Any]], prefixes: Sequence[str]) -> Iterator[Problem]:
    ids = [text(entry, "id") or "" for entry in entries]
    for name, count in sorted(Counter(ids).items()):
        if count > 1:
            yield Problem("bundle_ids", "id", f"{count} entries are called so", name)
    former = [(alias, text(entry, "id") or "") for entry in entries for alias in values(entry, "aliases")]
    for alias, entry_id in former:
        if alias in ids:
            yield Problem("bundle_ids", "aliases", f"the former id {alias} is another entry's id", entry_id)
    known = {*ids, *(alias for alias, _ in former)}
    of_leaf: dict[str, set[str]] = {prefix: set() for prefix in prefixes}
    for name in ids:  # one that is in no leaf is told of where it stands
        of_leaf.get(str(leaves.holding(of_leaf, leaves.place_of(name))), set()).add(name)
    for prefix, own in of_leaf.items():
        yield from _side_file_problems(folder, prefix, own, set(ids))
    for entry in entries:
        graph = mapping(entry, "transition_graph")
        for relation in _RELATIONS:
            for place, edge in items(graph, relation):
                if text(edge, "entry_id") not in known:
                    where = f"transition_graph.{place}"
                    yield Problem(
                        "bundle_references", where, f"{edge.get('entry_id')} is no entry", text(entry, "id") or ""
                    )


def _side_file_problems(folder: Path, prefix: str, own: set[str], ids: set[str]) -> Iterator[Problem]:
    """What a leaf says beside its entries, whose ids are `own`."""
    indexes, registries = (leaves.path(prefix, name) for name in (leaves.INDEX, leaves.REGISTRY))
    try:
        index = parsed(disk.body(folder / indexes), Index)
        registry = parsed(disk.body(folder / registries), Registry)
    except (OSError, ValueError) as error:
        yield Problem("bundle_files", f"{indexes}, {registries}", f"cannot be read: {error}")
        return
    indexed = {entry.id for entry in index.entries}
    for name in sorted(indexed ^ own):
        yield Problem("bundle_references", indexes, "stands in only one of index.json and entries.jsonl", name)
    for name in sorted(set(registry.aliases) & ids):
        yield Problem("bundle_ids", registries, "is a former id and an id", name)
