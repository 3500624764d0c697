"""Entries in forms for other readers, each into a folder of its own, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipeline.export import errorcanon, markdown
from pipeline.export.placing import publish
from pipeline.export.writing import passed_on
from pipeline.records import Skipped
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ConfigError

#: Form -> (path, text) of each of its files.
FORMS: dict[str, Callable[[Sequence[KnowledgeEntry]], Iterator[tuple[str, str]]]] = {
    "markdown": markdown.pages,
    "errorcanon": errorcanon.files,
}


def write_form(folder: Path, entries: Sequence[KnowledgeEntry], form: str) -> tuple[int, tuple[Skipped, ...]]:
    """(files written, entries that are not passed on): `entries` in `form`, in a new or empty folder.

    Raises:
        ConfigError: there is no such form, or something stands in the folder.
    """
    if form not in FORMS:
        raise ConfigError(f"there is no form {form!r}", hint=f"Choose one of {', '.join(sorted(FORMS))}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is not empty", hint="Name a new folder: what stands in one is never replaced.")
    written = 0
    kept, refused = passed_on(entries)

    def fill(staged: Path) -> None:
        nonlocal written
        for path, text in FORMS[form](kept):
            place = staged / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="\n")
            written += 1

    publish(folder, fill)
    return written, refused
