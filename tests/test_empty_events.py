"""Events without content: nothing says what failed, or nothing failed. They are kept, counted and not grouped."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from typing import Any

from pipeline import extract, normalise
from pipeline.extract import foreign
from pipeline.normalise.text_signature import own_event
from pipeline.run.build import mapping
from tests.distil_factory import document
from tests.each import each


def _rows(path: str, name: str) -> list[dict[str, Any]]:
    table: dict[str, list[dict[str, Any]]] = tomllib.loads(
        resources.files("pipeline").joinpath("data", path).read_text("utf-8")
    )
    return table[name]


EMPTY = _rows("normalise/wording.toml", "empty")


PLACED = _rows("normalise/wording.toml", "placed")
RUNTIME = _rows("normalise/wording.toml", "runtime")
MESSAGES = [
    row for name in ("runtime_messages", "checked_values") for row in _rows(f"normalise/{name}.toml", "message")
]


def _is_empty(template: str) -> bool:
    return any(re.search(row["pattern"], template) for row in EMPTY)


@each("row", EMPTY)
def test_an_empty_row_finds_its_examples_and_no_look_alike(row: dict[str, Any]) -> None:
    assert all(re.search(row["pattern"], text) for text in row["examples"])
    assert not any(_is_empty(text) for text in row["lookalikes"])


@each("row", PLACED)
def test_a_placed_row_is_all_of_its_examples_and_of_no_look_alike(row: dict[str, Any]) -> None:
    whole = re.compile(rf"(?:{row['pattern']})\Z", re.IGNORECASE)
    assert all(map(whole.match, row["examples"]))
    assert not any(map(whole.match, row["lookalikes"]))


@each("row", MESSAGES)
def test_a_runtime_message_is_told_apart_by_its_project_and_a_look_alike_is_not(row: dict[str, Any]) -> None:
    def is_placed(text: str) -> bool:
        (event,) = extract.events(text)[:1] or (own_event(text),)
        return "place" in dict(normalise.signature(event, text, project="potter/kiln").gate)

    assert [text for text in row["examples"] if not is_placed(text)] == []
    assert [text for text in row["lookalikes"] if is_placed(text)] == []


@each("row", RUNTIME)
def test_a_runtime_row_finds_its_functions_and_no_look_alike(row: dict[str, Any]) -> None:
    assert all(re.match(row["pattern"], frame) for frame in row["examples"])
    assert not any(re.match(one["pattern"], frame) for one in RUNTIME for frame in row["lookalikes"])


@each("row", foreign.remarks("progress"))
def test_a_progress_row_finds_its_example_and_not_its_look_alike(row: foreign.Remark) -> None:
    assert re.match(row.pattern, row.example)
    assert foreign.is_progress(row.example)
    assert not foreign.is_progress(row.counter)


FRAME = 'Traceback (most recent call last):\n  File "pool.py", line 7, in fill\n    self.take()\n'
SEVERITIES = [
    # (what a post shows, the severities of its events)
    (FRAME + "RuntimeError\n", ["empty"]),
    (FRAME + "MXNetError\n", ["empty"]),
    (FRAME, ["empty"]),
    ("make: *** [all] Error 2\n", ["empty"]),
    (
        "E0512 15:22:33.270001  4353 retry.cc:1350] 3 retries left for task ffff.\n",
        ["progress"],
    ),
    ("E1001 15:22:33.270001  4353 loop.cc:1350] step 12 took 3.2 s\n", ["progress"]),
    ("```\nheating the kiln\nProcess finished with exit code 0\n```\n", []),
    (FRAME + "RuntimeError: 4312 [/srv/pool/7.bin]\n", ["empty"]),
    (FRAME + "RuntimeError: 3 vs 4\n", ["empty"]),
    ("E0512 15:22:33.270001  4353 kiln.cc:1350] No answer of /tmp/kiln, retrying 4 more times\n", ["empty"]),
    ("03-13 08:00:58 ERROR [kiln.py:337]\n", []),
    (FRAME + f"RuntimeError: {[4312] * 60}\n", ["empty"]),
    # look-alikes
    ('Exception in thread "main" java.lang.NullPointerException\n\tat org.kiln.Oven.heat(Oven.java:7)\n', ["error"]),
    (FRAME + "PoolError: 4312 [/srv/pool/7.bin]\n", ["error"]),
    (FRAME + "RuntimeError: 池已空，无法取出\n", ["error"]),
    (FRAME + "RuntimeError: CUDA error: 700\n", ["error"]),
    (FRAME + "AssertionError\n", ["error"]),
    (FRAME + "NotImplementedError\n", ["error"]),
    (FRAME + "RuntimeError: the pool is empty\n", ["error"]),
    ("make: *** No rule to make target 'pool'.  Stop.\n", ["error"]),
    ("E0512 15:22:33.270001  4353 retry.cc:1350] task ffff failed, no retries left\n", ["error"]),
]


@each("shown,severities", SEVERITIES)
def test_an_event_without_content_is_kept_and_not_grouped(shown: str, severities: list[str]) -> None:
    posts = [{"kind": "title", "text": "T"}, {"kind": "body", "text": f"\n{shown}"}]
    rows = mapping.map_text(document({"number": 1, "kind": "issue", "posts": posts})).events
    assert [row.event.severity for row in rows] == severities
    assert [row.signature is None for row in rows] == [severity != "error" for severity in severities]
