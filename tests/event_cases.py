"""What the cases of `tests/cases/extract-*` expect of events, beside what was read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.records import Event, Frame


def check(case: Path, found: list[Event], *, frame: Callable[[Frame], object]) -> None:
    """The events are those of the case's expected.json, in the fields that it names; `frame` is how it writes one."""
    expected: list[dict[str, Any]] = json.loads((case / "expected.json").read_text("utf-8"))
    assert len(found) == len(expected), [(event.dialect, event.exception_type, event.message) for event in found]
    seen = [_seen(event, frame) for event in found]
    assert [{key: one[key] for key in want} for one, want in zip(seen, expected, strict=True)] == expected


def _seen(event: Event, frame: Callable[[Frame], object]) -> dict[str, object]:
    return {
        "dialect": event.dialect,
        "exception_type": event.exception_type,
        "message": event.message,
        "codes": list(event.codes),
        "severity": event.severity,
        "frame_count": len(event.frames),
        "innermost": frame(event.frames[-1]) if event.frames else None,
        "outermost": frame(event.frames[0]) if event.frames else None,
        "chain": [[link.exception_type, link.message] for link in event.chain],
    }
