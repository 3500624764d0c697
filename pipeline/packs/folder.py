"""A pack on disk: its `pack.toml`, its files, its hash."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.packs.problem import PackError
from pipeline.records import toml_text, warm
from pipeline.records.toml_text import TomlError

HEADER = "pack.toml"
#: What a pack may weigh in all: many times what the largest that ships has. More is a folder named by mistake.
MOST_BYTES = 32 << 20


class Stage(StrEnum):
    """What a table takes part in; what stands further down is made anew where it changes."""

    EVENTS = "events"  # which failures a text shows, and what makes two of them one
    CLAIMS = "claims"  # what is said about them
    ENTRIES = "entries"  # how an entry is filed and worded


#: The tables that a pack may have: file without `.toml` -> what it takes part in.
TABLES = {
    "lines": Stage.EVENTS,
    "stacks": Stage.EVENTS,
    "exceptions": Stage.EVENTS,
    "prefixes": Stage.EVENTS,
    "bridges": Stage.EVENTS,
    "libraries": Stage.EVENTS,
    "families": Stage.EVENTS,
    "equivalences": Stage.EVENTS,
    "pages": Stage.EVENTS,
    "products": Stage.CLAIMS,
    "cues": Stage.CLAIMS,
    "hints": Stage.CLAIMS,
    "categories": Stage.ENTRIES,
    "domains": Stage.ENTRIES,
    "meanings": Stage.ENTRIES,
}
#: What a pack may have beside the tables: a folder of catalogues of codes, and Chinese.
CODES, CHINESE = "codes", "zh.po"
#: By the first part of a path: a table's one file, or the folder of its files.
_STAGES = {**{f"{name}.toml": stage for name, stage in TABLES.items()}, **TABLES, CODES: Stage.EVENTS}
_SUFFIXES = frozenset((".toml", ".json", ".po"))
#: Of the files of a folder: a catalogue is JSON, a part of a table TOML.
_SUFFIX = {**dict.fromkeys(TABLES, ".toml"), CODES: ".json"}
_LINE = re.compile(r"at line (\d{1,9})")


class Header(BaseModel):
    """`pack.toml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    title: Annotated[str, Field(min_length=1, max_length=80)]
    version: Annotated[str, Field(min_length=1, max_length=40)]
    summary: Annotated[str, Field(min_length=1, max_length=400)]


@dataclass(frozen=True)
class Pack:
    """A pack. The files of one that a team added are held as they were when it was read, so that its hash is theirs."""

    header: Header
    folder: Path
    is_shipped: bool
    held: tuple[tuple[str, bytes], ...] | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.header.name

    def files(self) -> tuple[tuple[str, bytes], ...]:
        """Its files by path, with forward slashes, sorted; not what no table, code, page or PO is."""
        return tuple(_files(self.folder)) if self.held is None else self.held

    def listed(self, folder: str) -> tuple[str, ...]:
        """The files of one of its folders by path, sorted."""
        suffix = _SUFFIX[folder]
        if self.held is not None:
            return tuple(path for path, _ in self.held if path.startswith(f"{folder}/") and path.endswith(suffix))
        return tuple(sorted(f"{folder}/{path.name}" for path in (self.folder / folder).glob(f"*{suffix}")))

    def text(self, path: str) -> str | None:
        """The text of one of its files, None where it has none of that name.

        Raises:
            PackError: it is no UTF-8.
        """
        if self.held is not None:
            body = dict(self.held).get(path)
        else:
            body = (self.folder / path).read_bytes() if (self.folder / path).is_file() else None
        return None if body is None else _decoded(body, self.folder / path)

    @functools.cached_property
    def sha256(self) -> str:
        """Of all its files."""
        return _digest(self.files())

    def told(self) -> dict[str, str]:
        """What a bundle says of it: its name, its version, the hash of its files."""
        return {"name": self.name, "version": self.header.version, "sha256": self.sha256}

    def digest(self, stages: Set[Stage]) -> str:
        """Of the files that take part in one of the stages; "" where it has none."""
        taking_part = [(path, body) for path, body in self.files() if _STAGES.get(path.split("/", 1)[0]) in stages]
        return _digest(taking_part) if taking_part else ""


def read_pack(folder: Path, *, is_shipped: bool = False) -> Pack:
    """The pack in `folder`.

    Raises:
        PackError: there is none, `pack.toml` is wrong, or a file is none that a pack may have.
    """
    path = folder / HEADER
    if not path.is_file():
        advice = "Correct [fields] packs of errmine.toml (paths relative to it); `errmine pack new NAME` begins a pack."
        raise PackError.of(folder, None, f"no pack: there is no {HEADER} in it", advice)
    text = _decoded(path.read_bytes(), path)
    table = toml(text, path, is_shipped=is_shipped)
    try:
        header = Header.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        line = next((n for n, each in enumerate(text.splitlines(), 1) if each.partition("=")[0].strip() == key), None)
        advice = f"{HEADER} has name (small letters, digits, -), title, version and summary, all of them text."
        raise PackError.of(path, line, f"{key}: {first['msg']}", advice) from error
    if is_shipped:
        return Pack(header, folder, is_shipped=True)
    return Pack(header, folder, is_shipped=False, held=tuple(_files(folder)))


def _decoded(body: bytes, path: Path) -> str:
    """The text of a file.

    Raises:
        PackError: it is no UTF-8; the line is named.
    """
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise PackError.of(path, line, "not UTF-8", "Save the file as UTF-8.") from error


def toml(text: str, path: Path, *, is_shipped: bool = False) -> dict[str, Any]:
    """The table in `text`; the tests hold that what ships is one.

    Raises:
        PackError: it is no TOML.
    """
    if is_shipped:
        return warm.table(text)
    try:
        return toml_text.parsed(text)
    except TomlError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else _left_open(text.splitlines())
        advice = "Correct the TOML there; a regular expression stands in 'single quotes'."
        raise PackError.of(path, line, f"not valid TOML: {error}", advice) from error


def _left_open(lines: list[str]) -> int:
    """The line on which begins what nothing ends: the first behind the longest beginning that is TOML."""
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("[[")]
    begun = next((number for number in reversed(starts) if _is_toml(lines[:number])), 0)
    for number in range(len(lines), begun, -1):
        if _is_toml(lines[:number]):
            return min(number + 1, len(lines))
    return begun + 1


def _is_toml(lines: list[str]) -> bool:
    try:
        toml_text.parsed("\n".join(lines))
    except TomlError:
        return False
    return True


def _digest(files: object) -> str:
    digest = hashlib.sha256()
    for path, body in files:  # type: ignore[attr-defined]
        digest.update(f"{path}\x1f{len(body)}\x1f".encode() + body)
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    left = MOST_BYTES
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith((".", "__")) for part in name.split("/")) or not path.is_file():
            continue
        if name not in (HEADER, CHINESE) and name.split("/", 1)[0] not in _STAGES:
            _refuse_odd(path, name)
            continue
        if path.suffix not in _SUFFIXES:
            continue
        first, _, rest = name.partition("/")
        if first in _SUFFIX and (path.suffix != _SUFFIX[first] or "/" in rest):
            advice = "A catalogue of codes is a file of JSON, a part of a table one of TOML, with no folder between."
            raise PackError.of(path, None, f"no file of {first}/", advice)
        body = path.read_bytes()
        left -= len(body)
        if left < 0:
            raise PackError.of(folder, None, f"more than {MOST_BYTES >> 20} MiB", "A pack holds tables, not data.")
        yield name, body


def _refuse_odd(path: Path, name: str) -> None:
    """Nothing, where the file is plainly no table: a readme, a licence, code."""
    if path.suffix in {".toml", ".po"} or ("/" not in name and path.suffix == ".json"):
        known = ", ".join(f"{table}.toml" for table in TABLES)
        raise PackError.of(path, None, "no file of a pack", f"There are: {known}, {CODES}/*.json, {CHINESE}.")
