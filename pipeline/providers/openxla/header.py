"""The list of codes in XLA's own source, and how it differs from the catalogue that errmine ships."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.lexicon import catalogues

_ROW = re.compile(
    r'\bX\(\s{0,9}"(E\d{4})"\s{0,9},[\s\\]{0,200}(\w{1,100})\s{0,9},[\s\\]{0,200}absl::StatusCode::k(\w{1,40})'
)


@dataclass(frozen=True, slots=True)
class Row:
    """One code as the source registers it."""

    code: str
    name: str
    status: str


def rows(header: str) -> tuple[Row, ...]:
    """The codes of error_codes.h, in its order."""
    names = {entry.string: entry.name for entry in catalogues.absl_statuses().values()}
    return tuple(Row(code, name, names.get(status, status)) for code, name, status in _ROW.findall(header))


def shipped() -> tuple[Row, ...]:
    """The codes of the catalogue that errmine ships, as rows of such a list."""
    return tuple(Row(code, known.name, known.status) for code, known in catalogues.xla_codes().items())


def drift(found: tuple[Row, ...]) -> tuple[str, ...]:
    """What the source says otherwise than the shipped catalogue, one short note each; empty if they agree."""
    ours = {row.code: row for row in shipped()}
    listed = {row.code: row for row in found}
    notes = [f"{code} {listed[code].name} is new" for code in sorted(listed.keys() - ours.keys())]
    notes += [f"{code} {ours[code].name} is gone" for code in sorted(ours.keys() - listed.keys())]
    for code in sorted(ours.keys() & listed.keys()):
        old, new = ours[code], listed[code]
        if old != new:
            notes.append(f"{code} {old.name} {old.status} is now {new.name} {new.status}")
    return tuple(notes)
