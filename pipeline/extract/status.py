"""Official codes that a piece of text names: XLA, absl, CUDA and its libraries, HIP, NCCL, JAX, graph breaks, signals.

A bare number is never a code: `E1001 15:22:33.27 4353 file.cc:1350]` is a log line of 1 October, `error[E0200]` is
rustc's. Each family has a reader; a reader runs only where one of its literals stands in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline.extract import status_gpu
from pipeline.extract.word import starts_word
from pipeline.lexicon import catalogues
from pipeline.text.literals import Signs

#: A line break, as the program wrote it or as JSON and repr() escape it (once or twice).
_BREAK = r"(?:\s|\\{1,2}[nrt])"

Reader = Callable[[str], Iterable[str]]


def codes(text: str) -> tuple[str, ...]:
    """The canonical codes that `text` names, sorted, each once: "xla:E1001", "cuda:cudaErrorIllegalAddress", ..."""
    present = _TRIGGERS.present(text)
    if not present:
        return ()
    found: set[str] = set()
    for triggers, reader in _READERS:
        if not present.isdisjoint(triggers):
            found.update(reader(text))
    return tuple(sorted(found))


# ---------------------------------------------------------------- XLA


def xla_code(text: str) -> str | None:
    """The one XLA code ("xla:E1001") that a message means, None if it means none."""
    found = _xla(text)
    return found[0] if found else None


def _xla(text: str) -> list[str]:
    """Number with its name, else the name, else the address, else a known message: the first kind that is there."""
    for kind in (_xla_numbered, _xla_named, _xla_linked, _xla_signed):
        if found := list(dict.fromkeys(kind(text))):
            return [f"xla:{code}" for code in found]
    return []


@cache
def _xla_by_name() -> Mapping[str, str]:
    return MappingProxyType({row.name: code for code, row in catalogues.xla_codes().items()})


@cache
def _xla_numbered_pattern() -> re.Pattern[str]:
    names = "|".join(sorted(_xla_by_name(), key=len, reverse=True))
    between = rf"""["'`*]{{0,3}}{_BREAK}{{0,4}}:["'`*]{{0,3}}{_BREAK}{{0,8}}["'`*]{{0,3}}"""
    return re.compile(rf"(E\d{{4}}){between}({names})(?![A-Za-z0-9_])")


@cache
def _xla_named_pattern() -> re.Pattern[str]:
    # the generic names (Internal, Unknown, ...) are everybody's words; only those of XLA's own errors stand alone
    own = [name for name in _xla_by_name() if name.startswith(("Runtime", "CompileTime"))]
    return re.compile(rf"({'|'.join(sorted(own, key=len, reverse=True))})(?![A-Za-z0-9_])")


def _xla_numbered(text: str) -> Iterator[str]:
    for match in _xla_numbered_pattern().finditer(text):
        number, name = match.groups()
        if not starts_word(text, match.start()):
            continue
        # where they disagree the name wins: CoreHalt was numbered E0103 for four weeks of 2026
        if number in catalogues.xla_aliases() or name.startswith(("Runtime", "CompileTime")):
            yield _xla_by_name()[name]


def _xla_named(text: str) -> Iterator[str]:
    if "Runtime" in text or "CompileTime" in text:
        for match in _xla_named_pattern().finditer(text):
            if starts_word(text, match.start()):
                yield _xla_by_name()[match[1]]


_XLA_URL = re.compile(r"openxla\.org/xla/errors(?:/error_|/[Ee]|#[Ee](?:rror_)?)(\d{4})(?!\d)")


def _xla_linked(text: str) -> Iterator[str]:
    for match in _XLA_URL.finditer(text):
        if code := catalogues.xla_aliases().get(f"E{match[1]}"):
            yield code


@cache
def _xla_signature_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((code, re.compile(pattern)) for code, pattern in catalogues.xla_signatures())


def _xla_signed(text: str) -> Iterator[str]:
    for code, pattern in _xla_signature_patterns():
        if pattern.search(text):
            yield code


_XLA_TRIGGERS = (
    "CompileTime",
    "Runtime",
    "openxla.org/xla/errors",
    "ran out of memory in memory space",
    "Ran out of memory in memory space",
    "scoped vmem",
    "That was not possible",
    "Error allocating device buffer",
    "Error loading program",
    "expected parameter",
    "halted",
    "computation may be invalid",
    "Hbm usage",
    "moved to host",
    "matmul RHS type",
    "by tiling evenly",
    "cannot statically prove",
    "memref.alloca",
    "logical replica count",
    "E00",
)


# ---------------------------------------------------------------- absl, gRPC, TensorFlow

_ABSL_NAMES = (
    "CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|"
    "RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS|"
    "UNAUTHENTICATED"
)
#: `NAME: text`; what may stand before it is looked at afterwards.
_ABSL = re.compile(rf"({_ABSL_NAMES})(?::(?=[ \t]{{0,2}}\S)|(?![A-Za-z0-9_]))")
_ABSL_BEFORE = frozenset(" \t\n:]\"'(`;>*")
#: The spelling of 2016-2020 ("Resource exhausted: ").
_ABSL_OLD = re.compile(
    r"(Resource exhausted|Invalid argument|Failed precondition|Deadline exceeded|Unimplemented|Data loss|Out of range"
    r"|Already exists|Not found|Internal|Unavailable|Cancelled|Aborted|Unknown): ?(?=\S)"
)
#: It counts behind a log prefix, an exception name or "failed: ", or at the start of a line.
_ABSL_OLD_BEFORE = re.compile(
    r"(?:\.(?:cc|h|cpp|cu):\d{1,6}(?:\]|\))?:? |failed[:,] |Error: |[Ss]tatus: |(?P<bare>^|\n))$"
)
#: TensorFlow's classes; the everyday names only with their module.
_TF_NAMES = (
    *("ResourceExhausted", "InvalidArgument", "FailedPrecondition", "DeadlineExceeded", "Unimplemented", "OutOfRange"),
    *("DataLoss", "Internal", "NotFound", "AlreadyExists", "PermissionDenied", "Unavailable", "Cancelled", "Aborted"),
    *("Unknown", "Unauthenticated"),
)
_TF_CLASS = re.compile(rf"({'|'.join(_TF_NAMES)})Error(?=[:\s)\"'`]|$)")
_TF_EVERYDAY = frozenset(
    [
        "Internal",
        "NotFound",
        "AlreadyExists",
        "PermissionDenied",
        "Unavailable",
        "Cancelled",
        "Aborted",
        "Unknown",
        "DataLoss",
        "Unauthenticated",
        "OutOfRange",
    ]
)
#: Words that begin log lines of everything; alone at a line's start they are no status.
_OLD_EVERYDAY = frozenset(("Unknown", "Not found", "Internal", "Cancelled", "Aborted", "Unavailable", "Out of range"))


def _absl(text: str) -> Iterator[str]:
    for match in _ABSL.finditer(text):
        at = match.start()
        if match[0].endswith(":"):
            if at == 0 or text[at - 1] in _ABSL_BEFORE or text[at - 2 : at] == "\\n":
                yield f"absl:{match[1]}"
        elif text[max(at - 11, 0) : at] == "StatusCode.":  # as gRPC prints it
            yield f"absl:{match[1]}"


def _absl_old(text: str) -> Iterator[str]:
    for match in _ABSL_OLD.finditer(text):
        before = _ABSL_OLD_BEFORE.search(text[max(match.start() - 16, 0) : match.start()])
        if before and not (before["bare"] is not None and match[1] in _OLD_EVERYDAY):
            yield f"absl:{match[1].upper().replace(' ', '_')}"


def _tf_classes(text: str) -> Iterator[str]:
    for match in _TF_CLASS.finditer(text):
        at = match.start()
        in_module = text[max(at - 12, 0) : at].endswith(("errors.", "errors_impl."))
        if in_module or (match[1] not in _TF_EVERYDAY and starts_word(text, at)):
            yield _absl_by_enum()[match[1]]


@cache
def _absl_by_enum() -> Mapping[str, str]:
    rows = catalogues.absl_statuses()
    return MappingProxyType({row.string: code for code, row in rows.items() if row.string})


# ---------------------------------------------------------------- JAX, graph breaks

#: The class in any module that it had, or the documented anchor. JaxRuntimeError wraps every XLA status: no code.
_JAX_CLASS = re.compile(
    r"(ConcretizationTypeError|NonConcreteBooleanIndexError|Tracer(?:Array|Bool|Integer)ConversionError"
    r"|UnexpectedTracerError|KeyReuseError|InconclusiveDimensionOperation)(?![A-Za-z0-9_(])"
)


def _jax(text: str) -> Iterator[str]:
    for match in _JAX_CLASS.finditer(text):
        if starts_word(text, match.start()):
            yield f"jax:jax.errors.{match[1]}"


_GB_URL = re.compile(r"compile-graph-break-site/gb/gb(\d{4})\b")
_GB_TYPE = re.compile(r"Unsupported: ([^\n\\]{3,200})")


@cache
def _graph_break_by_type() -> Mapping[str, str]:
    """Codes by type line, of those whose line belongs to one code and holds no placeholder."""
    types: dict[str, list[str]] = {}
    for code, row in catalogues.graph_breaks().items():
        types.setdefault(row.string or "", []).append(code)
    return MappingProxyType({line: found[0] for line, found in types.items() if len(found) == 1 and "{" not in line})


def _graph_breaks(text: str) -> Iterator[str]:
    linked = [f"gb:GB{match[1]}" for match in _GB_URL.finditer(text)]
    if known := [code for code in linked if code in catalogues.graph_breaks()]:
        yield from known
        return
    for match in _GB_TYPE.finditer(text):
        if starts_word(text, match.start()) and (code := _graph_break_by_type().get(match[1].strip())):
            yield code


# ---------------------------------------------------------------- signals

_SIGNAL_NAME = re.compile(r"SIG(?:SEGV|ABRT|BUS|FPE|ILL|KILL|TRAP|SYS)(?![A-Za-z0-9_])")
_SIGNAL_TEXTS = (
    ("egmentation fault", "signal:SIGSEGV"),
    ("Aborted (core dumped)", "signal:SIGABRT"),
    ("abort (core dumped)", "signal:SIGABRT"),
    ("us error (core dumped)", "signal:SIGBUS"),
    ("Bus error", "signal:SIGBUS"),
    ("loating point exception (core", "signal:SIGFPE"),
    ("Illegal instruction", "signal:SIGILL"),
    ("illegal hardware instruction", "signal:SIGILL"),
)
_EXIT = re.compile(
    r"[Ee](?:xit|XIT)(?:ed)?[ _]?(?:with )?(?:[Cc]ode|CODE|[Ss]tatus"
    r"|STATUS)[ ]?[:=]?[ ]?(-?\d{1,3})(?!\d)"
)
#: `bash: line 1:  5451 Aborted    /tmp/tool`: the shell names the process and the signal.
_SHELL = re.compile(
    r"(?:(?:line \d{1,6}: +\d{1,8} )(Aborted|Killed|Bus error|Terminated|Floating point exception)\b"
    r"|^(?:\S{1,120}: )?(Killed|Aborted)[ \t\r.!]{0,8}$)",
    re.MULTILINE,
)
_SHELL_CODES = {
    "Aborted": "signal:SIGABRT",
    "Killed": "signal:SIGKILL",
    "Bus error": "signal:SIGBUS",
    "Terminated": "signal:SIGTERM",
    "Floating point exception": "signal:SIGFPE",
}


@cache
def _signal_by_number() -> Mapping[int, str]:
    rows = catalogues.signals()
    return MappingProxyType({r.number: c for c, r in rows.items() if c.startswith("signal:") and r.number})


def _signals(text: str) -> Iterator[str]:
    for match in _SIGNAL_NAME.finditer(text):
        if starts_word(text, match.start()):
            yield f"signal:{match[0]}"
    for string, code in _SIGNAL_TEXTS:
        if string in text:
            yield code
    for match in _SHELL.finditer(text):
        yield _SHELL_CODES[match[1] or match[2]]


def _exits(text: str) -> Iterator[str]:
    for match in _EXIT.finditer(text):
        number = int(match[1])
        if (code := f"exit:{number}") in catalogues.signals():
            yield code
        elif number < 0 and (signal := _signal_by_number().get(-number)):
            yield signal


# ---------------------------------------------------------------- the list

_ABSL_TRIGGERS = (
    "_ARGUMENT",
    "INTERNAL",
    "UN",
    "_EX",
    "NOT_FOUND",
    "FAILED_P",
    "ABORTED",
    "CANCELLED",
    "DATA_",
    "OUT_OF",
)
_ABSL_OLD_TRIGGERS = (
    *("esource ex", "nvalid ar", "ailed pre", "nternal: ", "nknown: ", "ot found: ", "nimplemented: "),
    *("navailable: ", "ancelled: ", "borted: ", "ut of range: ", "eadline ex", "ata loss: ", "lready exists: "),
)
_ALONE_TRIGGERS = (
    *("encountered", "sert trig", "kernel image", "CUDA", "launch", "stream is capturing", "previous error"),
)
_JAX_TRIGGERS = (
    *("ConversionError", "TracerError", "ConcretizationTypeError", "BooleanIndexError", "KeyReuse", "DimensionOp"),
)

#: A reader runs where one of its literals stands in the text.
_READERS: tuple[tuple[tuple[str, ...], Reader], ...] = (
    (_XLA_TRIGGERS, _xla),
    (_ABSL_TRIGGERS, _absl),
    (_ABSL_OLD_TRIGGERS, _absl_old),
    (tuple(f"{name}Error" for name in _TF_NAMES), _tf_classes),
    (("cudaError", "CUDA_ERROR_"), status_gpu.cuda_names),
    (("CUDA", "Cuda", "cuda", "GPUassert", "ErrStr"), status_gpu.cuda_strings),
    (_ALONE_TRIGGERS, status_gpu.cuda_alone),
    (("_STATUS_", "CUFFT_", "NVRTC_ERROR", "NVML_ERROR"), status_gpu.library_statuses),
    (("hipError", "HIP", "hip error"), status_gpu.hip),
    (("nccl", "NCCL", "unhandled "), status_gpu.nccl),
    (_JAX_TRIGGERS, _jax),
    (("graph-break-site", "Unsupported: "), _graph_breaks),
    (("SIG", "egmentation", "bort", "Kill", "us error", "llegal", "point exc", ": line "), _signals),
    (("xit", "XIT"), _exits),
)
_TRIGGERS = Signs(trigger for triggers, _ in _READERS for trigger in triggers)
