"""Every integrity rule, in the order in which problems are reported."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.validate import chinese, counting, dating, naming, patterns, wording
from pipeline.validate.problem import Context, Problem, Raw, Rule

RULES: tuple[Rule, ...] = (
    *naming.RULES,
    *counting.RULES,
    *dating.RULES,
    *patterns.RULES,
    *wording.RULES,
    *chinese.RULES,
)


def broken(raw: Raw, context: Context) -> Iterator[Problem]:
    """Every problem that the rules find in `raw`."""
    entry_id = raw.get("id")
    name = entry_id if isinstance(entry_id, str) else ""
    for rule in RULES:
        for place, message in rule.check(raw, context):
            yield Problem(rule.rule_id, place, message, name)
