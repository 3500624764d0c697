"""Rules for diagnostics of compilers, linkers and build tools."""

from __future__ import annotations

from pipeline.extract.crash import STACK
from pipeline.extract.foreign import no_chatter
from pipeline.extract.rule import PLACE, Lazy, Rule

#: Between two diagnostics of one compiler: the quoted source line, the caret, notes.
_FOLLOWS = Lazy(
    r"^(?:[^\n]{0,300}: note: |[ \t]{0,8}\d{0,6} ?\|[^\n]{0,400}$"
    r"|[ \t]{1,300}[~^][~^ \t]{0,300}$|[ \t]{2,}\S[^\n]{0,400}$)"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "llvm-error",
        "llvm",
        ("LLVM ERROR",),
        Lazy(r"LLVM ERROR: (?P<msg>[^\n]{3,1500})"),
        goes_on=STACK,
        joins=True,
    ),
    Rule(
        "unreachable",
        "llvm",
        ("UNREACHABLE executed",),
        Lazy(rf"(?P<msg>UNREACHABLE executed(?: at {PLACE}:(?P<line>\d{{1,7}}))?!?)"),
        goes_on=STACK,
        joins=True,
    ),
    Rule(
        "llvm-crash",
        "llvm",
        ("PLEASE submit a bug report",),
        Lazy(r"(?P<msg>PLEASE submit a bug report to [^\n]{1,300})"),
        goes_on=STACK,
        joins=True,
    ),
    Rule(
        "gtest",
        "gtest",
        (": error",),
        Lazy(
            rf"{PLACE}\((?P<line>\d{{1,7}})\): error: (?P<msg>(?:Expected|Failed|Value of|The difference"
            rf"|Failure)\b[^\n]{{0,900}})"
        ),
        needs=("): error: Expected", "): error: Fail", "): error: Value of", "): error: The difference"),
        goes_on=Lazy(r"^[ \t]{1,8}\S|^(?:Actual|Expected|Which is|Value of|actual)\b"),
        most_lines=12,
    ),
    Rule(
        "msvc",
        "msvc",
        (": error", ": fatal error"),
        Lazy(
            rf"{PLACE}(?:\((?P<line>\d{{1,7}})(?:,\d{{1,5}})?\))? ?: (?:fatal )?error (?P<msg>(?:C"
            rf"|LNK)\d{{4}}: [^\n]{{2,900}})"
        ),
        needs=("error C", "error LNK"),
        joins=True,
        apart=True,
    ),
    Rule(
        "boost-test",
        "gtest",
        (": error", ": fatal error"),
        Lazy(
            rf"{PLACE}[:(](?P<line>\d{{1,7}})\)?: (?:fatal )?error: (?P<msg>in \"[\w/]{{1,200}}\": "
            rf"[^\n]{{2,900}})"
        ),
        needs=('rror: in "',),
    ),
    Rule(
        "cc-directive",
        "cc",
        (": error", ": fatal error"),
        Lazy(  # what the author wrote says which error it is, and is no quoted name
            rf"{PLACE}:(?P<line>\d{{1,7}})(?::\d{{1,5}})?: (?:fatal )?error: #error {{1,8}}\"?(?P<msg>[^\n\"]{{3,600}})"
        ),
        goes_on=_FOLLOWS,
        needs=("error: #error ",),
        joins=True,
        apart=True,
    ),
    Rule(
        "cc",
        "cc",
        (": error", ": fatal error"),
        Lazy(
            r"(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()\"'`<>|,;=]{1,300}\.(?:c|cc|cpp|cxx|cu|cuh|h|hpp|hh|hxx"
            r"|inl|m|mm|i|cl|pyx|mlir|ttir|ttgir|S|s|ll))"
            r":(?P<line>\d{1,7})(?::\d{1,5})?: (?:fatal )?error: (?P<msg>[^\n]{2,900})"
        ),
        goes_on=_FOLLOWS,
        needs=(": error: ", ": fatal error: "),
        joins=True,
        apart=True,
    ),
    Rule(
        "cc-header",  # as people copy it: its place was cut off
        "cc",
        ("fatal error: ",),
        Lazy(
            r"^[ \t>]{0,8}fatal error: (?P<msg>[^\s:'\"]{1,200}: No such file or directory"
            r"|'[^'\n]{1,200}' file not found)"
        ),
        joins=True,
    ),
    Rule(
        "linker-command",
        "build",
        (": error",),
        Lazy(
            r"(?P<msg>clang(?:\+\+)?(?:-\d{1,2})?: error: linker command failed[^\n]{0,80}"
            r"|collect2(?:\.exe)?: error: ld returned[^\n]{0,40})"
        ),
        needs=("linker command failed", "ld returned"),
        trails=True,
    ),
    Rule(
        "tool-ended",
        "build",
        (": error", ": fatal error"),
        Lazy(
            r"(?P<msg>srun: error: [^\n]{1,80}: tasks? \d[\d,-]{0,60}: [^\n]{3,120}"
            r"|clang(?:\+\+)?(?:-\d{1,2})?: error: (?:unable to execute command"
            r"|clang frontend command failed)[^\n]{0,120})"
        ),
        needs=("srun: error: ", "unable to execute command", "frontend command failed"),
        trails=True,
    ),
)

#: What any program may print, and what linkers print behind their names: tried behind all that knows its program.
GENERIC: tuple[Rule, ...] = (
    Rule(
        "tool",
        "tool",
        (": error", ": fatal error"),
        Lazy(r"^[ \t>.$]{0,8}(?P<function>[A-Za-z_][\w.+/-]{1,80}): (?:fatal )?error: (?P<msg>[^\n]{3,900})"),
        joins=True,
    ),
    Rule(
        "undefined-reference",
        "ld",
        ("undefined reference to", "multiple definition of"),
        Lazy(
            rf"(?:(?<![^\s`'\"(]){PLACE}:(?:(?P<line>\d{{1,7}})|\([.\w+\[\]$]{{1,400}}\)): (?=undefined))?"
            r"(?P<msg>undefined reference to (?:symbol )?(?:[`'‘\"]|[\w:~]{2,200}\()"
            r"(?:(?! \S{1,200}: undefined reference to )[^\n]){1,600}"
            r"|multiple definition of [`'‘\"][^\n]{1,600})"
        ),
        joins=True,
    ),
    Rule(
        "undefined-symbol",
        "ld",
        ("ndefined symbol", "duplicate symbol "),
        Lazy(
            r"(?P<msg>(?:undefined symbol: [\w@.$?]{2,600}|[Uu]ndefined symbols for architecture \w{1,20}"
            r"|duplicate symbol '?[_\w$(][^\n]{1,300}? in:))"
        ),
        goes_on=Lazy(r"^[ \t]{2,8}(?:\"|_|[^\n]{0,200} in )|^ld: symbol"),
        says_more=Lazy(
            r"referenced from:\n[ \t]{2,12}(?P<function>[^\n]{1,300}?) in (?P<file>[^\n]{1,300}?)[ \t\r]{0,4}$"
        ),
        joins=True,
    ),
    Rule(
        "shared-object",
        "ld",
        ("cannot open shared object file",),
        Lazy(r"(?P<msg>[^\s:'\"`(]{2,200}: cannot open shared object file(?:: No such file or directory)?)"),
        joins=True,
    ),
    Rule(
        "symbol-version",
        "ld",
        ("' not found (required by",),
        Lazy(
            r"(?P<msg>(?:version )?[`'‘](?:GLIBCXX|GLIBC|CXXABI|GCC|OMP|GOMP|OPENSSL|ZLIB"
            r"|[A-Z]{2,20})_[\w.]{1,40}' not found \(required by [^\n)]{1,300}\))"
        ),
        joins=True,
    ),
    Rule(
        "ld",
        "ld",
        ("ld: ",),
        Lazy(r"(?P<msg>(?:cannot find -?l?\S{1,200}|library not found for \S{1,120}))"),
        joins=True,
    ),
    Rule(
        "cmake",
        "cmake",
        ("CMake Error",),
        Lazy(
            r"CMake Error(?: \([\w-]{1,20}\))?(?: at (?P<file>[^\s:()]{1,300}):(?P<line>\d{1,6})(?: \("
            r"(?P<function>[^()\n]{1,80})\))?)?:"
            r"(?: ?(?P<msg>(?!Call Stack)[^\s][^\n]{2,600}?)(?= Call Stack \(|\r?\n|\r?\Z))?"
        ),
        # the line below the place is the message, where a post lost its indent as well
        goes_on=Lazy(r"^(?:[ \t]{1,12}\S|[ \t\r]{0,8}$(?!\n[^\s])|Call Stack|(?<=\):\n)[A-Za-z\"'])"),
        most_lines=30,
        says_more=Lazy(
            r"CMake Error[^\n]{0,400}:\s{1,12}(?P<msg>(?!Call Stack)\S[^\n]{1,400}(?:\n {2}\S[^\n]{0,200}){0,6})"
        ),
        joins=True,
    ),
    Rule(
        "build-stopped",
        "build",
        ("ninja: build stopped", "make: *** ", "detected in the compilation"),
        Lazy(
            r"(?P<msg>ninja: build stopped: [^\n]{3,120}"
            r"|collect2: error: ld returned \d{1,3} exit status|make: \*\*\* [^\n]{3,200}"
            r"|\d{1,5} errors? detected in the compilation of [^\n]{3,300})"
        ),
        trails=True,
    ),
    Rule(
        "error-line",
        "build",
        ("ERROR: ", "error: ", "fatal: "),
        Lazy(
            rf"^[ \t>]{{0,8}}(?:ERROR|error|fatal): (?P<msg>{no_chatter('error-line')}"
            r"(?!(?:async )?function\b)[A-Za-z\[('\"/.~][^\n]{9,900}?)[ \t\r]{0,8}$"
        ),
        trails=True,
        yields=True,
    ),
)
