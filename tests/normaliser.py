"""What the normaliser makes of the bundled sample and of every family's examples, kept beside its version.

Ids of signatures carry NORMALISER_VERSION. If a rule changes what an event is while the version stays, ids of one
version mean two things, and nobody is told which old error is which new one. `python -m tests.normaliser` writes the
file anew; where an event is read otherwise it does so only under another version.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline import extract, normalise
from pipeline.ask import read_signature
from pipeline.normalise.tables import families
from pipeline.records import Signature
from tests.golden import ROOT, SAMPLE

KEPT = Path(__file__).parent / "normaliser_readings.json"
_PROGRAMS = ROOT / "tests" / "cases" / "normalise"


def readings() -> dict[str, str]:
    """By a digest of what an event says: its gate and template."""
    found: dict[str, str] = {}
    for text in _texts():
        for event in extract.events(text):
            words = "\x1f".join((event.dialect, event.exception_type or "", event.message, event.detail))
            found[_key(words)] = _shown(normalise.signature(event, text))
    for text in (text for rows in families().values() for row in rows for text in row.examples):
        found[_key(text)] = _shown(read_signature(text))
    return dict(sorted(found.items()))


def _key(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def _shown(signature: Signature) -> str:
    return f"[{', '.join(f'{name}={value}' for name, value in signature.gate)}] {signature.text}"


def kept() -> dict[str, Any]:
    """The version that the file was written under, and its readings."""
    told: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return told


def changed(before: dict[str, str], now: dict[str, str]) -> dict[str, tuple[str, str]]:
    """The events that are read otherwise; those that are new or gone are no change of the normaliser."""
    return {key: (text, now[key]) for key, text in before.items() if key in now and now[key] != text}


def _texts() -> Iterator[str]:
    for path in sorted(SAMPLE.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            comments = row.get("comments")
            pieces = [row, *(comments if isinstance(comments, list) else [])]
            yield from (piece["body"] for piece in pieces if isinstance(piece.get("body"), str))
    for path in sorted(_PROGRAMS.glob("*/input.txt")):
        yield path.read_text(encoding="utf-8")


if __name__ == "__main__":
    now, version = readings(), normalise.NORMALISER_VERSION
    if KEPT.exists() and kept()["version"] == version and changed(kept()["readings"], now):
        sys.exit("events are read otherwise: raise NORMALISER_VERSION in pipeline/normalise/assemble.py first")
    told = {"readings": now, "version": version}
    KEPT.write_text(json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(now)} events in {KEPT}")
