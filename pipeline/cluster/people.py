"""What people decided about grouping: the file, and how it binds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from pipeline.cluster.shapes import folded
from pipeline.records import Template, disk, toml_text
from pipeline.records.errors import ConfigError
from pipeline.records.toml_text import TomlError

if TYPE_CHECKING:
    from pipeline.cluster.work import Work


# What people decided about grouping: `overrides.toml`, read, checked, and asked for by the other modules.
#
# Four tables, each row with a `reason` and example `texts` (the error text itself, a signature's text, or its id):
#
#     [[merge]]   these are one error, for ever: whatever groups with one of them groups with all
#     [[split]]   no two of these are ever in one cluster (a permanent cannot-link)
#     [[rename]]  the entry of this text is called `name`; the names that it had still lead to it
#     [[ignore]]  these are no errors: they are set aside, counted, with the reason

KINDS = ("merge", "split", "rename", "ignore")
_LEAST_TEXTS = {"merge": 2, "split": 2, "rename": 1, "ignore": 1}
#: What an entry may be called: the last part of its id, which is a path and a link.
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,78}[a-z0-9]")
_ADVICE = "Correct the row, or take it out; README, 'When you disagree with a grouping', shows each kind."


@dataclass(frozen=True, slots=True)
class Override:
    """One row of overrides.toml."""

    kind: str  # "merge" | "split" | "rename" | "ignore"
    reason: str
    texts: tuple[str, ...]  # as written: error texts, signature texts or signature ids
    name: str = ""  # "rename" only
    place: str = ""  # "merge number 2": where it stands in the file

    def label(self) -> str:
        """The row for people: where it stands and the beginning of its first text."""
        return f"{self.place or self.kind} ({self.texts[0][:60]!r})"


@dataclass(frozen=True, slots=True)
class Overrides:
    """All rows, kind by kind, and what the normaliser makes of each example text where somebody asked it."""

    rows: tuple[Override, ...] = ()
    read: Mapping[str, Template] = field(default_factory=dict)
    where: str = "overrides.toml"

    def of(self, kind: str) -> tuple[Override, ...]:
        """The rows of one kind."""
        return tuple(row for row in self.rows if row.kind == kind)


NONE = Overrides()


def read_overrides(path: Path, *, read: Callable[[str], Template] | None = None) -> Overrides:
    """The rows of a file. `read` makes a template of an example text (the caller knows `normalise`).

    Raises:
        ConfigError: the file cannot be read, or a row of it cannot be used; the message names the row.
    """
    try:
        table = toml_text.parsed(disk.body(path).decode("utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file", hint="Correct [grouping] overrides, or make the file.") from error
    except TomlError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}", hint=_ADVICE) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}", hint="It must be a text file in UTF-8.") from error
    rows = parsed(table, where=str(path))
    texts = dict.fromkeys(text for row in rows for text in row.texts if not text.startswith("signature:"))
    return Overrides(rows, {text: read(text) for text in texts} if read else {}, str(path))


def parsed(table: Mapping[str, object], *, where: str) -> tuple[Override, ...]:
    """The rows of a parsed file; a ConfigError names the row that cannot be used."""
    unknown = sorted(set(table) - set(KINDS))
    if unknown:
        raise ConfigError(f"{where}: unknown table {unknown[0]!r}; known are {', '.join(KINDS)}", hint=_ADVICE)
    rows: list[Override] = []
    for kind in KINDS:
        items = table.get(kind, [])
        if not isinstance(items, list):
            raise ConfigError(f"{where}: {kind} must be a list of tables, written [[{kind}]]", hint=_ADVICE)
        rows.extend(_row(kind, item, where=where, place=f"{kind} number {n}") for n, item in enumerate(items, 1))
    return tuple(rows)


def _row(kind: str, item: object, *, where: str, place: str) -> Override:
    named = f"{where}: {place}"
    if not isinstance(item, dict):
        raise ConfigError(f"{named} is not a table", hint=_ADVICE)
    allowed = {"reason", "texts"} | ({"name"} if kind == "rename" else set())
    unknown = sorted(set(item) - allowed)
    if unknown:
        known = ", ".join(sorted(allowed))
        raise ConfigError(f"{named} has an unknown key {unknown[0]!r}; known are {known}", hint=_ADVICE)
    for key in sorted(allowed - {"texts"}):
        if not isinstance(item.get(key), str) or not item[key].strip():
            raise ConfigError(f"{named} needs a {key}: a sentence that is not empty", hint=_ADVICE)
    name = str(item.get("name", "")).strip()
    if kind == "rename" and not _NAME.fullmatch(name):
        what = "lower case letters, digits, dots and dashes, at most 80, and no domain"
        raise ConfigError(f"{named} has a name that no entry can have, {name!r}: {what}", hint=_ADVICE)
    return Override(kind, " ".join(item["reason"].split()), _texts(kind, item.get("texts"), named), name, place)


def _texts(kind: str, value: object, named: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise ConfigError(f"{named} needs texts: a list of example texts that are not empty", hint=_ADVICE)
    texts = tuple(dict.fromkeys(text.strip() for text in value))
    if len(texts) < _LEAST_TEXTS[kind]:
        raise ConfigError(f"{named} needs at least {_LEAST_TEXTS[kind]} different texts", hint=_ADVICE)
    return texts


class Meaning:
    """Which templates the texts of a row mean."""

    def __init__(self, templates: Sequence[Template], read: Mapping[str, Template]) -> None:
        self._read = read
        self._by_id: dict[str, list[int]] = {}
        self._by_text: dict[str, list[int]] = {}
        self._by_gate: dict[tuple[tuple[str, str], ...], list[int]] = {}
        for position, template in enumerate(templates):
            self._by_id.setdefault(template.signature_id, []).append(position)
            self._by_text.setdefault(folded(template.text), []).append(position)
            if template.is_gate_complete:
                self._by_gate.setdefault(template.gate, []).append(position)

    def positions(self, text: str) -> list[int]:
        """The templates that have this id, that the text is read as, or that have this very text; in order."""
        reading = self._read.get(text)
        found = self._by_id.get(reading.signature_id if reading else text)
        return found or self._by_text.get(folded(text), [])

    def group_positions(self, text: str) -> list[int]:
        """The same, or else all templates of the complete gate that the text is read as having."""
        reading = self._read.get(text)
        of_gate = self._by_gate.get(reading.gate, []) if reading and reading.is_gate_complete else []
        return self.positions(text) or of_gate

    def sides(self, row: Override) -> list[list[int]]:
        """What each text of a row means. Whole groups are merged and named; one text is split off or set aside."""
        means = self.group_positions if row.kind in ("merge", "rename") else self.positions
        return [means(text) for text in row.texts]


def ignored_positions(overrides: Overrides, meaning: Meaning) -> dict[int, str]:
    """The templates to set aside, with the reason."""
    return {
        position: row.reason
        for row in reversed(overrides.of("ignore"))
        for side in meaning.sides(row)
        for position in side
    }


def apart_pairs(overrides: Overrides, meaning: Meaning) -> dict[tuple[int, int], Override]:
    """The pairs of templates, in both orders, that may never share a cluster, with the row that says so."""
    found: dict[tuple[int, int], Override] = {}
    for row in reversed(overrides.of("split")):
        sides = meaning.sides(row)
        for one in range(len(sides)):
            for other in range(len(sides)):
                if one != other:
                    found.update({(a, b): row for a in sides[one] for b in sides[other] if a != b})
    return found


@dataclass(frozen=True, slots=True)
class Bond:
    """Templates that people said are one error, by one or several rows that share a template."""

    positions: tuple[int, ...]
    rows: tuple[Override, ...]


def bonds(overrides: Overrides, meaning: Meaning, apart: Mapping[tuple[int, int], Override]) -> list[Bond]:
    """What must be together.

    Raises:
        ConfigError: a split keeps apart what merges put together.
    """
    found: list[tuple[set[int], list[Override]]] = []
    for row in overrides.of("merge"):
        positions, rows = {position for side in meaning.sides(row) for position in side}, [row]
        for other in [one for one in found if one[0] & positions]:
            found.remove(other)
            positions |= other[0]
            rows = [*other[1], *rows]
        found.append((positions, rows))
    for positions, rows in found:
        for pair, split in apart.items():
            if set(pair) <= positions:
                told = " and ".join(one.place or one.kind for one in rows)
                message = f"{overrides.where}: {split.label()} keeps apart what {told} put together"
                raise ConfigError(message, hint="Take one of these rows out.")
    return [Bond(tuple(sorted(positions)), tuple(rows)) for positions, rows in found if positions]


# What people decided, carried out on groups: complete gates are split, groups bound together, each with the reason.
#
# What is kept apart stays apart: where a bond would bring such a pair together, only what people named is moved.

Apart = Mapping[tuple[int, int], "Override"]


def split_gate(work: Work, members: Sequence[int], apart: Apart) -> None:
    """Give each template of a complete gate the group of the nearest text that it is not kept apart from."""
    named = {position: row for (position, _), row in apart.items()}
    groups: list[list[int]] = []  # of each the templates that people named, or the first one
    for position in sorted(members, key=lambda place: (place not in named, place)):
        free = [group for group in groups if not _clash([position], group, apart)]
        group = max(free, key=lambda one: (_likeness(work, position, one), -one[0]), default=None)
        if group is None:
            groups.append([position])
        elif position in named:
            group.append(position)
        work.group[position] = position if group is None else group[0]
    if len(groups) > 1:
        for position in members:
            reason = named[work.group[position]].reason
            work.why[position] = f'People split this gate in overrides.toml: "{reason}".'


def _likeness(work: Work, position: int, group: Sequence[int]) -> float:
    text = work.shapes[position].text
    return max(fuzz.ratio(text, work.shapes[other].text) for other in group)


def part_cut(work: Work, position: int, leader: int, apart: Apart) -> bool:
    """Whether a cut text may not join the group of a leader."""
    return bool(apart) and _clash([position], [place for place, of in enumerate(work.group) if of == leader], apart)


def bind(work: Work, bonds: Sequence[Bond], apart: Apart) -> None:
    """Make one group of all groups that the templates of each bond are in."""
    bound_with = {position: bond.positions for bond in bonds for position in bond.positions}
    for bond in bonds:
        groups = {work.group[position] for position in bond.positions}
        members = [position for position, leader in enumerate(work.group) if leader in groups]
        joined = _joined(bond.positions, members, bound_with, apart)
        told = "; ".join(row.reason for row in bond.rows)
        if len(groups) > 1:
            _mark(work, bond.positions, joined, f'Merged by overrides.toml: "{told}".')
        _regroup(work, groups, joined)


def _joined(
    core: Sequence[int], members: Sequence[int], bound_with: Mapping[int, Sequence[int]], apart: Apart
) -> set[int]:
    """The members that come together: the core, and whatever is kept apart from none of them."""
    joined, tried = set(core), set(core)
    present = set(members)
    for position in members:
        if position in tried:
            continue
        together = [other for other in bound_with.get(position, (position,)) if other in present]
        tried.update(together)
        if not _clash(together, joined, apart):
            joined.update(together)
    return joined


def _mark(work: Work, core: Sequence[int], joined: Iterable[int], why: str) -> None:
    """Write the reason down at what people named and at what followed it into another group."""
    home = work.group[min(core)]
    for position in joined:
        if work.group[position] != home:
            work.rule[position] = "override"
        if position in core or work.group[position] != home:
            work.why[position] = why


def _regroup(work: Work, groups: Iterable[int], joined: set[int]) -> None:
    for group in groups:
        left = [position for position, leader in enumerate(work.group) if leader == group and position not in joined]
        for position in left:
            work.group[position] = left[0]
    for position in joined:
        work.group[position] = min(joined)


def _clash(some: Iterable[int], others: Iterable[int], apart: Apart) -> bool:
    known = list(others)
    return bool(apart) and any((one, other) in apart for one in some for other in known)
