"""Rules for programs that die: assertions, uncaught C++ exceptions, sanitizers, signals."""

from __future__ import annotations

from pipeline.extract.rule import PLACE, Lazy, Rule

#: Lines of a native stack: gdb, LLVM, sanitizers, glog, torch, MPI, dmlc.
STACK = Lazy(
    r"^[^\n]{0,80}?(?:"
    r"#\d{1,3} |frame #\d{1,4}: |@ +0x[0-9a-f]{4,16}|@ +\(nil\)|\[bt\] |\[ ?\d{1,3}\] (?:/|[\w.]{1,80}\()"
    r"|\(\d{1,3}\) [^\n]{0,200}\+0x|Stack trace|Stack dump|\d{1,3}\.\s{1,4}\S"
    r"|Exception raised from |C\+\+ Traceback|Python Traceback|\*\*\* Check failure"
    r"|\*\*\* Process received|Signal(?: code)?: "
    r"|Failing at address|Thread \d{1,4} [\"(]|\[Switching to|0x[0-9a-f]{8,16}|<unknown function>"
    r"|<omitting python frames>|\(gdb\) |\d{1,7}\t|\.{0,2}/[\w./+-]{1,300}:\d{1,7}$"
    r"|[ \t]{2,12}(?:at|from) /?[\w.]{1,300}|[ \t]{4}[\w.@<>]{1,80}=(?=\S)"
    r"|tensorflow::|xla::|_start\b|_Py\w{2,60}|__libc_start|PyObject_\w{2,60}|clone\b|main\b$"
    r")"
)
#: What Android writes between a signal and the stack: the report's head, and the registers.
_TOMBSTONE = (
    r"^[ \t]{0,20}(?:(?:\*\*\* ){3}|(?:Build fingerprint|Revision|ABI|Timestamp|Process uptime|Cmdline|Abort message"
    r"|Cause|pid|uid|backtrace)\b:|signal \d{1,2} \(SIG|tagged_addr_ctrl: |[a-z][a-z\d]{1,3} {1,3}[0-9a-f]{8})"
)
#: The stack that a debugger prints when asked for it, a blank line or two below.
#: Before that it prints where the program stands: the function with its arguments, and the line.
_AFTER_SIGNAL = Lazy(
    rf"(?:^[ \t]{{0,20}}$(?=\n{{1,2}}[^\n]{{0,80}}(?:#\d|Thread \d|0x|\(gdb\)))"
    rf"|^[ \t]{{0,8}}[\w:~<>]{{2,200}} \((?:\w{{1,40}}=|\))|^[ \t]{{0,8}}\d{{1,6}}[ \t]{{1,8}}\S"
    rf"|{_TOMBSTONE}|{STACK.pattern})"
)
_AFTER_TERMINATE = Lazy(rf"(?:^[^\n]{{0,120}}?what\(\):|^[ \t]{{0,120}}$(?!\n\n)|{STACK.pattern})")

_ASSERTION = r"(?P<msg>[Aa]ssertion [`'‘\"](?:[^\n]{1,1500}?)['`’\"] failed\b\.?)"
_BLOCK = r"block: \[[-\d, ]{1,40}\],? thread: \[[-\d, ]{1,40}\],? "

RULES: tuple[Rule, ...] = (
    Rule(
        "assert-device",
        "device-assert",
        ("ssertion",),
        Lazy(
            # the first block stands for all of a line: each of a thousand would be read as far as the next "failed"
            rf"{PLACE}:(?P<line>\d{{1,7}}):(?>(?: (?P<function>[^\n]{{1,900}}?))??:? ?{_BLOCK}){_ASSERTION}"
        ),
        needs=("thread: [",),
        joins=True,
    ),
    Rule(
        "assert-glibc",
        "cpp",
        ("ssertion",),
        Lazy(
            rf"{PLACE}:(?P<line>\d{{1,7}}): (?>(?:(?P<function>[^`\n]{{1,900}}?): )??(?=[Aa]ssertion [`'‘\"]))"
            rf"{_ASSERTION}"
        ),
        goes_on=STACK,
        needs=("ssertion `", "ssertion '", "ssertion ‘"),
    ),
    Rule(
        "assert-msvc",
        "cpp",
        ("ssertion",),
        Lazy(
            r"(?P<msg>Assertion failed: [^\n]{1,800}?), (?:function (?P<function>[^\n,]{1,200}), )?"
            rf"file {PLACE}, line (?P<line>\d{{1,7}})\.?"
        ),
        goes_on=STACK,
        needs=("ssertion failed:",),
    ),
    Rule(
        "assert-at",
        "cpp",
        ("ssertion",),
        Lazy(rf"(?P<msg>Assertion failed: [^\n]{{1,800}}?),? at {PLACE}:(?P<line>\d{{1,7}})$"),
        goes_on=STACK,
        needs=("ssertion failed:",),
    ),
    Rule(
        "internal-assert",
        "cpp",
        ("ASSERT",),
        Lazy(
            r"(?P<msg>(?:[^\s:][^\n:]{0,200}? )?INTERNAL ASSERT FAILED at \"?(?P<file>"
            r"[^\s\":]{1,300})\"?:(?P<line>\d{1,7})"
            r"[^\n]{0,1500})"
        ),
        goes_on=STACK,
        needs=("INTERNAL ASSERT FAILED",),
    ),
    Rule(
        "terminate",
        "cpp",
        ("terminat",),
        Lazy(
            r"(?P<msg>terminate called (?:after throwing an instance of ['‘`](?P<type>[^'’\n]{1,300})['’]"
            r"(?:[ \t]{1,8}what\(\):[^\n]{1,3000})?"
            r"|without an active exception|recursively))"
        ),
        goes_on=_AFTER_TERMINATE,
        says_more=Lazy(
            r"what\(\):[ \t]{0,8}(?P<msg>[^\n]{1,3000}?(?=[ \t]{0,4}Aborted \(core dumped\)|$)|[^\n]{1,3000})"
        ),
    ),
    Rule(
        "terminate-libc++",
        "cpp",
        ("terminat",),
        Lazy(
            r"terminating (?:with"
            r"|due to) uncaught (?:foreign )?exception(?: of type (?P<type>[^\n]{1,200}?))?(?:: (?P<msg>"
            r"[^\n]{1,3000})|$)"
        ),
        goes_on=STACK,
    ),
    Rule(
        "what",
        "cpp",
        ("what():",),
        Lazy(r"^[^\n]{0,60}?\bwhat\(\):[ \t]{1,8}(?P<msg>[^\n]{1,3000})"),
        goes_on=STACK,
    ),
    Rule(
        "sanitizer",
        "sanitizer",
        ("Sanitizer: ",),
        Lazy(
            r"(?:(?:ERROR|WARNING): |^[ \t>]{0,8})(?P<type>(?:HW)?(?:Address|Leak|Thread"
            r"|Memory)Sanitizer): (?P<msg>[^\n]{1,600})"
        ),
        goes_on=Lazy(
            r"^(?:[ \t]{1,8}\S|[ \t]{0,40}$|[^\n]{0,40}?(?:(?<![^\s\]|:>])#\d{1,3} (?:0x|\S{1,300} )|==\d"
            r"|READ of|WRITE of|SUMMARY:|Direct leak|Indirect leak|0x[0-9a-f]{8}"
            r"|[Ff]reed by|[Pp]reviously allocated|Shadow|allocated by|=>|Thread T))"
        ),
    ),
    Rule(
        "ubsan",
        "sanitizer",
        (": runtime error: ",),
        Lazy(rf"{PLACE}:(?P<line>\d{{1,7}}):\d{{1,5}}: runtime error: (?P<msg>[^\n]{{1,800}})"),
        goes_on=Lazy(r"^[ \t]{0,8}#\d{1,3} |^SUMMARY: "),
    ),
    Rule(
        "signal-debugged",  # the debugger names the signal and says what it is
        "signal",
        (" signal",),
        Lazy(
            r"(?:Program|Thread [^\n]{1,120}?) received signal (?P<type>SIG(?!INT)[A-Z]{2,5}), "
            r"(?P<msg>[A-Z][a-z/ ]{4,60}\b\.?)"
        ),
        needs=("received signal SIG",),
        goes_on=_AFTER_SIGNAL,
    ),
    Rule(
        "signal-handler",
        "signal",
        (" signal", "received by PID"),
        Lazy(
            r"(?P<msg>(?:Program|Thread [^\n]{1,120}?) received signal SIG[A-Z]{2,5}[^\n]{0,80}"
            r"|Fatal signal \d{1,2} \(SIG[A-Z]{2,5}\)[^\n]{0,120}"
            r"|\*\*\* SIG[A-Z]{2,5} \([^\n]{0,80}received by PID[^\n]{0,80}|[Cc]aught signal \d{1,2} \([^\n]{1,60}"
            r"|\*\*\* Process received signal \*\*\*)"
        ),
        goes_on=_AFTER_SIGNAL,
        says_more=Lazy(r"Signal: (?P<msg>[^\n]{1,80})"),
    ),
    Rule(
        "launcher-report",  # torchrun tells how the worker ended that failed first
        "signal",
        ("Root Cause (first observed",),
        Lazy(r"(?P<msg>Root Cause \(first observed failure\):)"),
        goes_on=Lazy(r"^[^\n]{0,160}?(?:\[\d{1,6}\]:|\b(?:time|host|rank|exitcode|error_file|traceback)[ \t]{0,8}: )"),
        most_lines=8,
        says_more=Lazy(
            r"(?:exitcode[ \t]{1,8}: -\d{1,3}[^\0]{0,600}?traceback : )?"
            r"(?P<msg>Signal \d{1,2} \(SIG[A-Z]{2,6}\) received by PID \d{1,9}|exitcode[ \t]{1,8}: -?\d{1,6})"
        ),
    ),
    Rule(
        "signal-quoted",
        "signal",
        ("egmentation fault",),
        Lazy(r"FatalError: (?P<msg>`[^`\n]{3,80}` is detected by the operating system\.?)"),
        goes_on=Lazy(r"^[^\n]{0,8}\[(?:TimeInfo|SignalInfo):"),
    ),
    Rule(
        "signal-shell",
        "signal",
        ("egmentation fault", "(core dumped)", "llegal instruction"),
        Lazy(
            r"^(?:[^\n]{0,60}<std(?:err"
            r"|out)>:)?[ \t>$#*`'\"]{0,12}(?:\S{1,120}: (?:line \d{1,6}: )?(?:\[[\d]{1,3}\] ?\+? ?)?)?"
            r"(?:\[\d{1,5}\] ?\+? {1,8})?(?:\d{1,8} +)?"
            r"(?P<msg>(?i:segmentation fault|abort(?:ed)?|floating point exception"
            r"|illegal (?:hardware )?instruction|IOT instruction|bus error"
            r"|trace/breakpoint trap|killed)(?: {1,4}\(core dumped\)|: \d{1,2}(?=[ \t]{0,8}$)"
            r"|(?=[ \t.`'\"]{0,20}$)|(?= {2,20}\S)"
            r"|(?= \S{0,60}[/.]\S)))"
        ),
        goes_on=STACK,
        trails=True,
    ),
    Rule(
        "heap-corruption",
        "cpp",
        (
            "(): invalid ",
            "(): double free",
            "(): corrupted ",
            "(): unaligned ",
            "(): mismatching ",
            "(): unsorted ",
            "double free or corruption",
            "smashing detected",
            "corrupted double-linked list",
            "corrupted size vs.",
        ),
        Lazy(
            r"(?:^|[>:`\]Z|] |^\*\*\* Error in [`'][^\n]{1,200}': |^[ \t`>]{1,8})(?P<msg>(?:free"
            r"|munmap_chunk|realloc|malloc(?:_consolidate)?)\(\): "
            r"(?:invalid|double free|corrupted|unsorted|smallbin|mismatching|unaligned|memory)[^\n]{1,100}"
            r"|double free or corruption \([^()\n]{1,20}\)"
            r"|(?:corrupted (?:size|double-linked list)[^\n]{0,60})|\*\*\* stack smashing detected \*\*\*)"
        ),
        goes_on=STACK,
    ),
    Rule(
        "signal-bash",
        "signal",
        (": line ",),
        Lazy(
            r"^[^\n]{0,200}?: line \d{1,6}: +\d{1,8} +(?P<msg>Aborted|Killed|Bus error|Terminated"
            r"|Segmentation fault|Illegal instruction"
            r"|Floating point exception|Trace/breakpoint trap)\b"
        ),
        trails=True,
    ),
    Rule(
        "signal-word",
        "signal",
        ("\nAborted", "\nKilled"),
        Lazy(r"^(?P<msg>Aborted!?|Killed)[ \t\r.]{0,8}$"),
        trails=True,
    ),
    Rule(
        "exit-code",
        "signal",
        ("exit code",),
        Lazy(
            r"(?P<msg>(?:[Pp]rocess finished with |[Cc]ommand terminated with "
            r"|[Pp]rocess completed with |exited with |[Ff]ailed with |returned )"
            r"?exit code:? (?:13[1-9]|15[0-9]|-(?:[3-9]|11|1073\d{6}))(?!\d)(?: \([^\n()]{1,80}\))?)[.\s`'\"]{0,6}$"
        ),
        trails=True,
    ),
)
