"""Explanations of messages that readers judged who had written none: what they call good, no gate may refuse."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.lexicon import explanations

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "quality" / "zh_judged.jsonl").read_text(encoding="utf-8").splitlines()
]
VERDICTS = {"natural", "stiff", "vague", "wrong"}


def test_every_value_has_a_verdict_of_each_reader():
    assert len(ROWS) >= 1040
    assert len({row["en"] for row in ROWS}) == len(ROWS)
    assert len({len(row["verdicts"]) for row in ROWS}) == 1
    assert {verdict for row in ROWS for verdict in row["verdicts"]} <= VERDICTS


def test_at_most_two_percent_of_what_readers_call_natural_are_refused_by_the_gates():
    natural = [row for row in ROWS if set(row["verdicts"]) == {"natural"}]
    assert len(natural) >= 800
    refused = [row["en"] for row in natural if not all(explanations.check(row["en"], row["zh"]).values())]
    assert len(refused) <= 0.02 * len(natural), refused
