"""Rules for lines that are a status and a message, without an exception or a log prefix in front."""

from __future__ import annotations

from pipeline.extract.rule import Lazy, Rule

_STATUS = (
    r"(?:RESOURCE_EXHAUSTED|INTERNAL|INVALID_ARGUMENT|UNIMPLEMENTED|FAILED_PRECONDITION|UNAVAILABLE"
    r"|DEADLINE_EXCEEDED|NOT_FOUND)"
)
#: The start of the line, quoting included, the end of "Original error: " and the like, or a string's beginning.
_LEAD = r"(?:^[ \t>`'\"*|-]{0,10}|(?:[Ee]rror|failed|[Ff]ailure): |[:=] ?[\"'])"

RULES: tuple[Rule, ...] = (
    Rule(
        "absl-status",
        "absl",
        (
            "EXHAUSTED: ",
            "INTERNAL: ",
            "_ARGUMENT: ",
            "UNIMPLEMENTED: ",
            "_PRECONDITION: ",
            "UNAVAILABLE: ",
            "_EXCEEDED: ",
        ),
        Lazy(rf"{_LEAD}(?P<msg>{_STATUS}: [^\n]{{3,1500}})"),
        joins=True,
    ),
)
