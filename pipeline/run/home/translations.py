"""The Chinese that people wrote for a home: `.errmine/translations.json`, a sealed file that builds read.

Nothing makes it anew: it holds people's work. `errmine translate import` writes it; a forgotten thread takes along what
was translated of it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.records import kept
from pipeline.records.errors import ConfigError
from pipeline.records.kept import Damaged, KeptFile, KeptKind, Verdict

_FORM = 1
_CURE = "Put back a copy of it, or delete it and import the PO files again."


@dataclass(frozen=True, slots=True)
class Translated:
    """One text in Chinese, and the documents that said it when it came."""

    context: str
    text: str
    chinese: str
    documents: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What it is known by."""
        return self.context, self.text


def path_of(home: Path) -> Path:
    """Where a home keeps them."""
    return home / ".errmine" / "translations.json"


def read(home: Path) -> list[Translated]:
    """What people translated for the home, nothing if nobody did.

    Raises:
        ConfigError: the file is not what was written.
    """
    path = path_of(home)
    if not path.exists():
        return []
    try:
        rows = kept.unsealed_json(path)["texts"]
        return [Translated(row["context"], row["text"], row["zh"], tuple(row["documents"])) for row in rows]
    except (Damaged, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: {error}", hint=_CURE) from error


def keep(home: Path, rows: Iterable[Translated]) -> None:
    """Nothing; the home keeps exactly `rows`. Equal rows give equal bytes."""
    ordered = sorted(rows, key=lambda row: row.key)
    texts = [
        {"context": row.context, "documents": sorted(row.documents), "text": row.text, "zh": row.chinese}
        for row in ordered
    ]
    kept.write(path_of(home), kept.sealed_json({"form": _FORM, "texts": texts}))


def add(home: Path, rows: Iterable[Translated]) -> None:
    """Nothing; the home keeps `rows` too, in the place of what it had for the same texts."""
    known = {row.key: row for row in read(home)}
    keep(home, {**known, **{row.key: row for row in rows}}.values())


def texts(home: Path) -> Mapping[tuple[str, str], str]:
    """Chinese by (context, text)."""
    return {row.key: row.chinese for row in read(home)}


def forget(home: Path, is_gone: Callable[[str], bool]) -> None:
    """Nothing; what was said by documents alone that are gone is not kept any more.

    A file that is damaged goes as a whole: nobody can tell what it holds.
    """
    path = path_of(home)
    if not path.exists():
        return
    try:
        rows = read(home)
    except ConfigError:
        path.unlink()
        return
    left = [row for row in rows if not row.documents or not all(map(is_gone, row.documents))]
    if len(left) < len(rows):
        keep(home, left)


def kept_files(home: Path) -> list[KeptFile]:
    """The file, with what a look at it says."""
    path = path_of(home)
    if not path.exists():
        return []
    try:
        read(home)
    except ConfigError:
        return [KeptFile(path, KeptKind.TRANSLATIONS, Verdict.DAMAGED, _CURE)]
    return [KeptFile(path, KeptKind.TRANSLATIONS, Verdict.OK, _CURE)]
