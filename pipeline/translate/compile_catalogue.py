"""Makes `errmine.mo` from `errmine.po`: `python -m pipeline.translate.compile_catalogue`. Needs polib (extra `dev`)."""

from __future__ import annotations

from pathlib import Path

import polib

from pipeline.records import warm
from pipeline.records.errors import CatalogueError

PO = Path(__file__).parent / "locale" / "zh_Hans" / "LC_MESSAGES" / "errmine.po"
PLACE = warm.pattern(r"\{(\w+)(?::\w+)?\}")


def compile_catalogue(path: Path = PO) -> bytes:
    """The binary catalogue of a PO file; raises CatalogueError where a placeholder is missing or not in both."""
    catalogue = polib.pofile(str(path), check_for_duplicates=True)
    for entry in catalogue:
        _check(entry, path)
    return bytes(catalogue.to_binary())


def _check(entry: polib.POEntry, path: Path) -> None:
    if entry.obsolete or entry.fuzzy:
        return
    where = f"{path.name}:{entry.linenum} ({entry.msgctxt})"
    if not entry.msgstr:
        raise CatalogueError(f"{where}: no Chinese", path=path)
    if "python-brace-format" not in entry.flags:
        return
    english, chinese = set(PLACE.findall(entry.msgid)), set(PLACE.findall(entry.msgstr))
    if english != chinese:
        raise CatalogueError(f"{where}: placeholders differ: {sorted(english ^ chinese)}", path=path)


if __name__ == "__main__":
    PO.with_suffix(".mo").write_bytes(compile_catalogue())
