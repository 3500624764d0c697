"""Rules for lines that are a status and a message, without an exception or a log prefix in front."""

from __future__ import annotations

from pipeline.extract.rule import Rule, compiled

_STATUS = (
    r"(?:RESOURCE_EXHAUSTED|INTERNAL|INVALID_ARGUMENT|UNIMPLEMENTED|FAILED_PRECONDITION|UNAVAILABLE"
    r"|DEADLINE_EXCEEDED|NOT_FOUND)"
)
#: The start of the line, quoting included, or the end of "Original error: " and the like.
_LEAD = r"(?:^[ \t>`'\"*|-]{0,10}|(?:[Ee]rror|failed|[Ff]ailure): )"

RULES: tuple[Rule, ...] = (
    Rule(
        "triton-resource",
        "triton",
        ("out of resource: ",),
        compiled(r"(?P<msg>out of resource: [a-z ]{3,40}, Required: \d[^\n]{1,300})"),
        named_above=compiled(r"^[^\n]{0,80}?(?P<type>[\w.]{0,120}OutOfResources):[ \t\r]{0,8}$"),
        joins=True,
    ),
    Rule(
        "torch-memory",
        "cuda",
        ("out of memory. Tried to allocate",),
        compiled(
            r"(?P<msg>(?:CUDA|HIP|XPU|MPS(?: backend)?|NPU"
            r"|MUSA) out of memory\. Tried to allocate [^\n]{3,900})"
        ),
    ),
    Rule(
        "xla-code",
        "xla",
        (": CompileTime", ": RuntimeProgram", ": RuntimeBuffer", ": RuntimeUnexpected"),
        compiled(r"(?P<msg>E\d{4}: (?:CompileTime|Runtime(?:Program|Buffer|Unexpected))\w{3,60}:?[^\n]{0,900})"),
        goes_on=compiled(r"^(?!```)[^\n]{1,2000}$"),
        most_lines=4,
    ),
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
        compiled(rf"{_LEAD}(?P<msg>{_STATUS}: [^\n]{{3,1500}})"),
        joins=True,
    ),
)
