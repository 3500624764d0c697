"""Rules for lines that are a status and a message, without an exception or a log prefix in front."""

from __future__ import annotations

from pipeline.extract.rule import Lazy, Rule

_STATUS = (
    r"(?:RESOURCE_EXHAUSTED|INTERNAL|INVALID_ARGUMENT|UNIMPLEMENTED|FAILED_PRECONDITION|UNAVAILABLE"
    r"|DEADLINE_EXCEEDED|NOT_FOUND)"
)
#: The start of the line, quoting included, the end of "Original error: " and the like, or a string's beginning.
_LEAD = r"(?:^[ \t>`'\"*|-]{0,10}|(?:[Ee]rror|failed|[Ff]ailure): |[:=] ?[\"'])"

#: The names of XLA's own errors all begin so; which of them there are, the catalogue knows.
_XLA_NAME = (
    r"(?:CompileTime(?:Hbm|ScopedVmem|HostOffload|Mosaic|SparseCore)|Runtime(?:Program|Buffer|Unexpected))\w{3,60}"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "triton-resource",
        "triton",
        ("out of resource: ",),
        Lazy(r"(?P<msg>out of resource: [a-z ]{3,40}, Required: \d[^\n]{1,300})"),
        named_above=Lazy(r"^[^\n]{0,80}?(?P<type>[\w.]{0,120}OutOfResources):[ \t\r]{0,8}$"),
        joins=True,
    ),
    Rule(
        "torch-memory",
        "cuda",
        ("out of memory. Tried to allocate",),
        Lazy(
            r"(?P<msg>(?:CUDA|HIP|XPU|MPS(?: backend)?|NPU"
            r"|MUSA) out of memory\. Tried to allocate [^\n]{3,900})"
        ),
    ),
    Rule(
        "xla-code",
        "xla",
        ("CompileTime", "RuntimeProgram", "RuntimeBuffer", "RuntimeUnexpected"),
        Lazy(rf"(?P<msg>E\d{{4}}:? {{1,4}}{_XLA_NAME}:?[^\n]{{0,900}}|(?<![\w.:>]){_XLA_NAME}: ?[^\s:][^\n]{{2,900}})"),
        goes_on=Lazy(r"^(?!```)[^\n]{1,2000}$"),
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
        Lazy(rf"{_LEAD}(?P<msg>{_STATUS}: [^\n]{{3,1500}})"),
        joins=True,
    ),
    Rule(
        "xla-memory",
        "xla",
        ("memory in memory space ", "exceeded scoped vmem limit"),
        Lazy(
            r"(?P<msg>(?:XLA:TPU compile permanent error\. )?"
            r"[Rr]an out of memory in memory space \w{2,12}\b[^\n]{0,1500}"
            r"|Scoped allocation with size [\d.]{1,9}\w? and limit [^\n]{2,900})"
        ),
    ),
)
