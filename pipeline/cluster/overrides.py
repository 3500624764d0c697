"""What people decided about grouping: `overrides.toml`, read, checked, and asked for by the other modules.

Four tables, each row with a `reason` and example `texts` (a signature's text, its id, or, where the caller can
resolve it, the error text itself):

    [[merge]]   these are one error, for ever: whatever groups with one of them groups with all
    [[split]]   no two of these are ever in one cluster (a permanent cannot-link)
    [[rename]]  the cluster of this text is called `name`
    [[ignore]]  these are no errors: they are set aside, counted, with the reason
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.cluster.shapes import folded
from pipeline.errors import ConfigError
from pipeline.records import Template

KINDS = ("merge", "split", "rename", "ignore")
_LEAST_TEXTS = {"merge": 2, "split": 2, "rename": 1, "ignore": 1}


@dataclass(frozen=True, slots=True)
class Override:
    """One row of overrides.toml."""

    kind: str  # "merge" | "split" | "rename" | "ignore"
    reason: str
    texts: tuple[str, ...]  # signature ids or signature texts
    name: str = ""  # "rename" only

    def label(self) -> str:
        """The row for people: its kind and the beginning of its first text."""
        return f"{self.kind} {self.texts[0][:60]!r}"


@dataclass(frozen=True, slots=True)
class Overrides:
    """All rows, in the order of the file."""

    rows: tuple[Override, ...] = ()

    def of(self, kind: str) -> tuple[Override, ...]:
        """The rows of one kind."""
        return tuple(row for row in self.rows if row.kind == kind)


NONE = Overrides()


@dataclass(frozen=True, slots=True)
class Lint:
    """A row that does nothing now, and why."""

    override: Override
    problem: str


def read_overrides(path: Path, *, resolve: Callable[[str], str] | None = None) -> Overrides:
    """The rows of a file. `resolve` turns an example text into a signature id (the caller knows `normalise`)."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    return parsed(table, where=str(path), resolve=resolve)


def parsed(table: dict[str, object], *, where: str, resolve: Callable[[str], str] | None = None) -> Overrides:
    """The rows of a parsed file; a ConfigError names the row that cannot be used."""
    unknown = sorted(set(table) - set(KINDS))
    if unknown:
        raise ConfigError(f"{where}: unknown table {unknown[0]!r}; known are {', '.join(KINDS)}")
    rows: list[Override] = []
    for kind in KINDS:
        items = table.get(kind, [])
        if not isinstance(items, list):
            raise ConfigError(f"{where}: {kind} must be a list of tables, written [[{kind}]]")
        rows.extend(
            _row(kind, item, where=f"{where}: {kind} number {number}", resolve=resolve)
            for number, item in enumerate(items, 1)
        )
    return Overrides(tuple(rows))


def _row(kind: str, item: object, *, where: str, resolve: Callable[[str], str] | None) -> Override:
    if not isinstance(item, dict):
        raise ConfigError(f"{where} is not a table")
    allowed = {"reason", "texts"} | ({"name"} if kind == "rename" else set())
    unknown = sorted(set(item) - allowed)
    if unknown:
        raise ConfigError(f"{where} has an unknown key {unknown[0]!r}; known are {', '.join(sorted(allowed))}")
    for key in sorted(allowed - {"texts"}):
        if not isinstance(item.get(key), str) or not item[key].strip():
            raise ConfigError(f"{where} needs a {key}: a sentence that is not empty")
    texts = _texts(kind, item.get("texts"), where=where)
    if resolve is not None:
        texts = tuple(text if text.startswith("signature:") else resolve(text) for text in texts)
    return Override(kind, item["reason"].strip(), texts, str(item.get("name", "")).strip())


def _texts(kind: str, value: object, *, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise ConfigError(f"{where} needs texts: a list of example texts that are not empty")
    texts = tuple(dict.fromkeys(text.strip() for text in value))
    if len(texts) < _LEAST_TEXTS[kind]:
        raise ConfigError(f"{where} needs at least {_LEAST_TEXTS[kind]} different texts")
    return texts


class Meaning:
    """Which templates the texts of a row mean: by signature id, or by equal folded text."""

    def __init__(self, templates: Sequence[Template]) -> None:
        self._by_key: dict[str, list[int]] = {}
        for position, template in enumerate(templates):
            for key in {template.signature_id, folded(template.text)}:
                self._by_key.setdefault(key, []).append(position)

    def positions(self, text: str) -> list[int]:
        """The positions of the templates that a text means, in order; empty if none."""
        return self._by_key.get(text) or self._by_key.get(folded(text), [])


def ignored_positions(overrides: Overrides, meaning: Meaning) -> dict[int, str]:
    """The templates to set aside, with the reason."""
    return {
        position: row.reason
        for row in reversed(overrides.of("ignore"))
        for text in row.texts
        for position in meaning.positions(text)
    }


def apart_pairs(overrides: Overrides, meaning: Meaning) -> frozenset[tuple[int, int]]:
    """The pairs of templates, in both orders, that may never share a cluster."""
    found: set[tuple[int, int]] = set()
    for row in overrides.of("split"):
        sides = [meaning.positions(text) for text in row.texts]
        for one in range(len(sides)):
            for other in range(len(sides)):
                if one != other:
                    found.update((a, b) for a in sides[one] for b in sides[other] if a != b)
    return frozenset(found)


def lint(overrides: Overrides, templates: Iterable[Template], cluster_of: dict[str, str]) -> list[Lint]:
    """The rows that no longer act. `cluster_of`: the cluster of each signature id WITHOUT any override."""
    known = list(templates)
    meaning = Meaning(known)
    found = []
    for row in overrides.rows:
        sides = [[known[position].signature_id for position in meaning.positions(text)] for text in row.texts]
        problem = _problem(row, sides, cluster_of)
        if problem:
            found.append(Lint(row, problem))
    return found


def _problem(row: Override, sides: list[list[str]], cluster_of: dict[str, str]) -> str:
    missing = [text for text, side in zip(row.texts, sides, strict=True) if not side]
    if missing and (len(missing) == len(row.texts) or row.kind in ("merge", "split")):
        return f"no template has the text {missing[0][:80]!r}"
    clusters = [{cluster_of[signature_id] for signature_id in side if signature_id in cluster_of} for side in sides]
    if row.kind == "merge" and len(set().union(*clusters)) <= 1:
        return "its texts are one cluster without it"
    if row.kind == "split" and sum(map(len, clusters)) == len(set().union(*clusters)):
        return "its texts are different clusters without it"
    return ""
