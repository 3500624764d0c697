"""The internal data: where it lies, and what is said where it does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
CORPUS = SHARED / "corpus"
ISSUES = CORPUS / "issues.jsonl.gz"


def where_present(measure: Callable[[Path], object], path: Path = ISSUES) -> None:
    """Measure on the file, or print that it is not here."""
    if path.exists():
        measure(path)
    else:
        print(f"skipped: {path.name} of ../shared is not here")
