"""Rules for log lines that report a failure: glog and absl and their like, OpenCV."""

from __future__ import annotations

from pipeline.extract.crash import STACK
from pipeline.extract.foreign import no_chatter
from pipeline.extract.rule import PLACE, Lazy, Rule

_SOURCE = r"(?P<file>[\w./@+-]{1,200}\.(?:cc|cpp|cu|cuh|h|hpp|c|cxx|mm|inl))"
_STACK_OR_REST = Lazy(rf"(?:{STACK.pattern}|^[ \t]{{1,12}}_Z\w{{4,400}}$)")

RULES: tuple[Rule, ...] = (
    Rule(
        "check-failed-glog",
        "glog",
        ("Check failed",),
        Lazy(
            rf"(?:^|[\s(\[]){_SOURCE}[:(](?P<line>\d{{1,6}})[\]:)]{{1,2}} {{1,2}}(?P<msg>(?:\w[\w ]{{1,60}}: )?"
            rf"Check failed: [^\n]{{1,3000}})"
        ),
        goes_on=_STACK_OR_REST,
        joins=True,
        needs=("Check failed: ",),
    ),
    Rule(
        "check-failed",
        "glog",
        ("Check failed",),
        Lazy(r"(?:^|[:>\]] |Error: |^[ \t\"'`]{1,12})(?P<msg>Check failed: (?!\"|%)[^\n]{2,3000})"),
        goes_on=_STACK_OR_REST,
        joins=True,
    ),
    Rule(
        "glog-line",
        "glog",
        (".cc:", ".cpp:"),
        Lazy(
            # begins with a set of letters, so that the engine skips to them
            rf"[EF:\[](?:(?<=\b[EF])\d{{4}} \d\d:\d\d:[\d.]{{2,24}} {{1,8}}\d{{1,9}} "
            rf"|(?<=\[)(?:libprotobuf (?:FATAL|ERROR) |[EF]\d{{3,4}} \d\d:\d\d:[\d.]{{2,24}} |[EF] )"
            rf"|(?<=:) [EF] |(?<=^[EF]) )"
            rf"{_SOURCE}:(?P<line>\d{{1,6}})\] {{1,2}}{no_chatter('glog-line')}(?P<msg>\S[^\n]{{1,3000}})"
        ),
        goes_on=_STACK_OR_REST,
        needs=("] ",),
    ),
    Rule(
        "opencv-function",
        "opencv",
        ("OpenCV Error: ", "OpenCV("),
        Lazy(
            r"OpenCV(?:\([\w.-]{1,24}\))? Error: (?P<msg>[^\n]{3,600}) in (?P<function>"
            r"[^\n,]{1,200}), file (?P<file>[^\n,]{1,300}), line (?P<line>\d{1,7})"
        ),
        needs=(" Error: ",),
        joins=True,
    ),
    Rule(
        "opencv-error",
        "opencv",
        ("OpenCV Error: ",),
        Lazy(r"OpenCV Error: (?P<msg>[^\n]{3,600})"),
        joins=True,
    ),
    Rule(
        "opencv-version",
        "opencv",
        ("OpenCV(",),
        Lazy(
            r"OpenCV\([\w.-]{1,24}\)[: ]{1,2}(?:[Ee]rror: )?(?:(?P<file>(?:[A-Za-z]:[\\/])?"
            r"[^\s:]{1,300}):(?P<line>\d{1,7}): )?(?:error: )?(?P<msg>[^\n]{3,900})"
        ),
        joins=True,
    ),
    Rule(
        "opencv-number",
        "opencv",
        (": error",),
        Lazy(rf"{PLACE}:(?P<line>\d{{1,7}}): error: (?P<msg>\(-\d[^\n]{{3,900}})"),
        needs=("error: (-",),
        joins=True,
    ),
)
