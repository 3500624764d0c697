"""Official codes that a piece of text names: XLA, absl, CUDA and its libraries, HIP, NCCL, JAX, graph breaks, signals.

A bare number is never a code: `E1001 15:22:33.27 4353 file.cc:1350]` is a log line of 1 October, `error[E0200]` is
rustc's. Each family has a reader; a reader runs only where one of its literals stands in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline import catalogues

#: A line break, as the program wrote it or as JSON and repr() escape it (once or twice).
_BREAK = r"(?:\s|\\{1,2}[nrt])"
#: The place before a word: no identifier goes on here, unless it is the letter of an escape.
_EDGE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"

Reader = Callable[[str], Iterable[str]]


def codes(text: str) -> tuple[str, ...]:
    """The canonical codes that `text` names, sorted, each once: "xla:E1001", "cuda:cudaErrorIllegalAddress", ..."""
    found: set[str] = set()
    for triggers, reader in _READERS:
        if any(trigger in text for trigger in triggers):
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
    return re.compile(rf"{_EDGE}(E\d{{4}}){between}({names})(?![A-Za-z0-9_])")


@cache
def _xla_named_pattern() -> re.Pattern[str]:
    # the generic names (Internal, Unknown, ...) are everybody's words; only those of XLA's own errors stand alone
    own = [name for name in _xla_by_name() if name.startswith(("Runtime", "CompileTime"))]
    return re.compile(rf"{_EDGE}({'|'.join(sorted(own, key=len, reverse=True))})(?![A-Za-z0-9_])")


def _xla_numbered(text: str) -> Iterator[str]:
    for match in _xla_numbered_pattern().finditer(text):
        number, name = match.groups()
        # where they disagree the name wins: CoreHalt was numbered E0103 for four weeks of 2026
        if number in catalogues.xla_aliases() or name.startswith(("Runtime", "CompileTime")):
            yield _xla_by_name()[name]


def _xla_named(text: str) -> Iterator[str]:
    if "Runtime" in text or "CompileTime" in text:
        for match in _xla_named_pattern().finditer(text):
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
#: `NAME: text` at the start of a line or after punctuation, and gRPC's `StatusCode.NAME`.
_ABSL = re.compile(
    rf"(?:(?:^|(?<=[\s:\]\"'(`;>])|(?<=\\n))(?P<name>{_ABSL_NAMES}):(?=[ \t]{{0,2}}\S)"
    rf"|StatusCode\.(?P<grpc>{_ABSL_NAMES})\b)",
    re.MULTILINE,
)
#: The spelling of 2016-2020 ("Resource exhausted: "): behind a log prefix, an exception name or "failed: ".
_ABSL_OLD = re.compile(
    r"(?:\.(?:cc|h|cpp|cu):\d{1,6}(?:\]|\))?:? |failed[:,] |Error: |[Ss]tatus: |^)"
    r"(Resource exhausted|Invalid argument|Failed precondition|Deadline exceeded|Unimplemented|Data loss|Out of range"
    r"|Already exists|Not found|Internal|Unavailable|Cancelled|Aborted|Unknown): ?(?=\S)",
    re.MULTILINE,
)
#: TensorFlow's classes; the everyday names only with their module.
_TF_CLASS = re.compile(
    r"(?<![A-Za-z0-9_])(errors(?:_impl)?\.)?(ResourceExhausted|InvalidArgument|FailedPrecondition|DeadlineExceeded"
    r"|Unimplemented|OutOfRange|DataLoss|Internal|NotFound|AlreadyExists|PermissionDenied|Unavailable|Cancelled"
    r"|Aborted|Unknown|Unauthenticated)Error(?=[:\s)\"'`]|$)"
)
_TF_EVERYDAY = frozenset(
    ("Internal", "NotFound", "AlreadyExists", "PermissionDenied", "Unavailable", "Cancelled", "Aborted", "Unknown")
    + ("DataLoss", "Unauthenticated", "OutOfRange")
)
#: Words that begin log lines of everything; alone at a line's start they are no status.
_OLD_EVERYDAY = frozenset(("Unknown", "Not found", "Internal", "Cancelled", "Aborted", "Unavailable", "Out of range"))


def _absl(text: str) -> Iterator[str]:
    for match in _ABSL.finditer(text):
        yield f"absl:{match['name'] or match['grpc']}"


def _absl_old(text: str) -> Iterator[str]:
    for match in _ABSL_OLD.finditer(text):
        stands_alone = match.start() == match.start(1)
        if not (stands_alone and match[1] in _OLD_EVERYDAY):
            yield f"absl:{match[1].upper().replace(' ', '_')}"


def _tf_classes(text: str) -> Iterator[str]:
    for match in _TF_CLASS.finditer(text):
        if match[1] or match[2] not in _TF_EVERYDAY:
            yield _absl_by_enum()[match[2]]


@cache
def _absl_by_enum() -> Mapping[str, str]:
    rows = catalogues.absl_statuses()
    return MappingProxyType({row.string: code for code, row in rows.items() if row.string})


# ---------------------------------------------------------------- CUDA, its libraries, HIP

_CUDA_NAME = re.compile(r"(?<![A-Za-z0-9_])(cudaError[A-Z]\w{2,60}|CUDA_ERROR_[A-Z0-9_]{3,60})(?![A-Za-z0-9_(])")
#: "CUDA error: ", "CUDA driver error: ", "Cuda failure 2 '", "cuda runtime error (59) : ", "CUDA error 9 at f.cu:6: "
_CUDA_PREFIX = re.compile(
    r"(?:\bCUDA (?:kernel |driver |runtime |API |RT |backend )?(?:[Ee]rror|ERROR|[Ff]ailure)|\bCuda (?:[Ee]rror|failure)"
    r"|\bcuda (?:runtime )?(?:error|failure)|\bCUDART error|\bGPUassert|CUDA(?:Runtime|Driver)Error|\bNVRTC error"
    r"|Error \[CUDA\]|failed call to cu[A-Z]\w{2,40}|\bcudaGetDeviceCount\(\)|\bcuInit\b|\bCUDA initialization|CUDA_CHECK\w{0,20})"
    r"(?:[ ]?\(?(?P<number>\d{1,4})\)?(?!\d))?"
)
#: What may stand between the prefix and the string: a file and line, "in function f", the error's own name.
_CUDA_GAP = re.compile(r"[ '\"`:,]{0,4}(?:(?:at|in|in:|in function) [^\n]{0,200}?[:,]\s{0,3})?['\"`( ]{0,3}")
_GAP_WIDTH = 320


@cache
def _strings(family: str) -> Mapping[str, str]:
    rows = catalogues.cuda_errors() if family == "cuda" else catalogues.hip_errors()
    found: dict[str, str] = {}
    for code, row in rows.items():
        if row.string:
            found.setdefault(row.string.lower(), code)
    return MappingProxyType(found)


@cache
def _string_pattern(family: str) -> re.Pattern[str]:
    texts = sorted(_strings(family), key=lambda text: (-len(text), text))
    return re.compile(rf"(?<![a-z])(?:{'|'.join(re.escape(text) for text in texts)})(?![a-z])")


@cache
def _alone_pattern() -> re.Pattern[str]:
    texts = sorted(row.string.lower() for row in catalogues.cuda_errors().values() if row.stands_alone and row.string)
    return re.compile("|".join(re.escape(text) for text in texts))


@cache
def _cuda_by_number() -> Mapping[int, str]:
    return MappingProxyType({row.number: code for code, row in catalogues.cuda_errors().items() if row.number})


def _cuda_names(text: str) -> Iterator[str]:
    for match in _CUDA_NAME.finditer(text):
        if code := catalogues.cuda_canonical().get(match[1]):
            yield code


def _cuda_strings(text: str) -> Iterator[str]:
    """Codes by the string behind a CUDA prefix; by the number only where no string follows (old numbers moved)."""
    for match in _CUDA_PREFIX.finditer(text):
        if code := _behind(text, match.end(), "cuda"):
            yield code
        elif match["number"] and (code := _cuda_by_number().get(int(match["number"]))) and _is_modern(match["number"]):
            yield code


def _is_modern(number: str) -> bool:
    """Numbers from 100 mean the same in every toolkit; smaller ones were renumbered in CUDA 10.1, bar 1 and 2."""
    return int(number) >= 100 or number in {"1", "2"}


def _behind(text: str, start: int, family: str) -> str | None:
    """The code of the family's string that stands near behind `start`, on the same line."""
    end = text.find("\n", start, start + _GAP_WIDTH)
    stretch = text[start : end if end >= 0 else start + _GAP_WIDTH].lower()
    gap = _CUDA_GAP.match(stretch)
    at = _string_pattern(family).match(stretch, gap.end() if gap else 0)
    found = at or _string_pattern(family).search(stretch)
    if found is None or (not at and len(found[0]) < 20 and not _is_tail(stretch, found)):
        return None
    return _strings(family)[found[0]]


def _is_tail(stretch: str, found: re.Match[str]) -> bool:
    """Whether a short string ("invalid argument") is introduced and ended by punctuation, as programs print it."""
    before = stretch[: found.start()].rstrip()[-1:]
    after = stretch[found.end() :].lstrip()[:1]
    return before in {":", "'", '"', "(", "`", ",", "="} and after in {"", "'", '"', ")", ".", "`", ",", "\\", "\r", "("}


def _cuda_alone(text: str) -> Iterator[str]:
    if "HIP" in text or "hipError" in text:
        return  # HIP prints the same strings
    for match in _alone_pattern().finditer(text.lower()):
        yield _strings("cuda")[match[0]]


_LIBRARY_STATUS = re.compile(
    r"(?<![A-Za-z0-9_])((?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CURAND)_STATUS_[A-Z0-9_]{3,60}|CUFFT_[A-Z_]{4,40}"
    r"|NVRTC_ERROR_[A-Z_]{3,60}|NVML_ERROR_[A-Z_]{3,40})(?![A-Za-z0-9_])"
)


@cache
def _library_by_name() -> Mapping[str, str]:
    return MappingProxyType({row.name: code for code, row in catalogues.cuda_libraries().items()})


def _library_statuses(text: str) -> Iterator[str]:
    for match in _LIBRARY_STATUS.finditer(text):
        if code := _library_by_name().get(match[1]):
            yield code


_HIP_NAME = re.compile(r"(?<![A-Za-z0-9_])hipError[A-Z]\w{2,60}")
_HIP_PREFIX = re.compile(r"(?:Error \[HIP\]|\bHIP (?:runtime )?(?:[Ee]rror|failure)|hip (?:error|failure)|HIPRuntimeError)")


def _hip(text: str) -> Iterator[str]:
    for match in _HIP_NAME.finditer(text):
        if (code := f"hip:{match[0]}") in catalogues.hip_errors():
            yield code
    for match in _HIP_PREFIX.finditer(text):
        if found := _behind(text, match.end(), "hip"):
            yield found


# ---------------------------------------------------------------- NCCL, JAX, graph breaks

_NCCL_NAME = re.compile(r"(?<![A-Za-z0-9_])nccl(?:UnhandledCuda|System|Internal|Remote)Error\b|\bnccl(?:Invalid(?:Argument|Usage)|Timeout)\b")
_NCCL_STRINGS = (
    ("unhandled system error", "nccl:ncclSystemError"),
    ("unhandled cuda error", "nccl:ncclUnhandledCudaError"),
    ("remote process exited or there was a network error", "nccl:ncclRemoteError"),
    ("please report this issue to the NCCL developers", "nccl:ncclInternalError"),
)
#: Short strings, only behind NCCL's prefix on the same line.
_NCCL_SHORT = re.compile(r"NCCL (?:[Ee]rror|failure|ERROR)[^\n]{0,200}?\b(invalid usage|invalid argument|internal error)\b")
_NCCL_SHORT_CODES = {
    "invalid usage": "nccl:ncclInvalidUsage",
    "invalid argument": "nccl:ncclInvalidArgument",
    "internal error": "nccl:ncclInternalError",
}


def _nccl(text: str) -> Iterator[str]:
    for match in _NCCL_NAME.finditer(text):
        yield f"nccl:{match[0]}"
    for string, code in _NCCL_STRINGS:
        if string in text:
            yield code
    for match in _NCCL_SHORT.finditer(text):
        yield _NCCL_SHORT_CODES[match[1]]


#: The class in any module that it had, or the documented anchor. JaxRuntimeError wraps every XLA status: no code.
_JAX_CLASS = re.compile(
    r"(?<![A-Za-z0-9_])(ConcretizationTypeError|NonConcreteBooleanIndexError|Tracer(?:Array|Bool|Integer)ConversionError"
    r"|UnexpectedTracerError|KeyReuseError|InconclusiveDimensionOperation)(?![A-Za-z0-9_(])"
)


def _jax(text: str) -> Iterator[str]:
    for match in _JAX_CLASS.finditer(text):
        yield f"jax:jax.errors.{match[1]}"


_GB_URL = re.compile(r"compile-graph-break-site/gb/gb(\d{4})\b")
_GB_TYPE = re.compile(r"(?<![A-Za-z0-9_])Unsupported: ([^\n\\]{3,200})")


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
        if code := _graph_break_by_type().get(match[1].strip()):
            yield code


# ---------------------------------------------------------------- signals

_SIGNAL_NAME = re.compile(r"(?<![A-Za-z0-9_])SIG(?:SEGV|ABRT|BUS|FPE|ILL|KILL|TRAP|SYS)(?![A-Za-z0-9_])")
_SIGNAL_TEXTS = (
    ("Segmentation fault", "signal:SIGSEGV"),
    ("Aborted (core dumped)", "signal:SIGABRT"),
    ("Bus error", "signal:SIGBUS"),
    ("Floating point exception (core", "signal:SIGFPE"),
    ("Illegal instruction", "signal:SIGILL"),
)
_EXIT = re.compile(r"(?i:\bexit(?:ed)?[ _]?(?:with )?(?:code|status)|\bexitcode)[ ]?[:=]?[ ]?(-?\d{1,3})(?!\d)")
#: `bash: line 1:  5451 Aborted    /tmp/tool`: the shell names the process and the signal.
_SHELL = re.compile(r"line \d{1,6}: +\d{1,8} (Aborted|Killed|Bus error|Terminated|Floating point exception)\b")
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
        yield f"signal:{match[0]}"
    for string, code in _SIGNAL_TEXTS:
        if string in text:
            yield code
    for match in _SHELL.finditer(text):
        yield _SHELL_CODES[match[1]]


def _exits(text: str) -> Iterator[str]:
    for match in _EXIT.finditer(text):
        number = int(match[1])
        if (code := f"exit:{number}") in catalogues.signals():
            yield code
        elif number < 0 and (signal := _signal_by_number().get(-number)):
            yield signal


# ---------------------------------------------------------------- the list

_READERS: tuple[tuple[tuple[str, ...], Reader], ...] = (
    (_XLA_TRIGGERS, _xla),
    (("_ARGUMENT", "INTERNAL", "UN", "_EX", "NOT_FOUND", "FAILED_P", "ABORTED", "CANCELLED", "DATA_", "OUT_OF"), _absl),
    (("esource ex", "nvalid ar", "ailed pre", "nternal: ", "nknown: ", "ot found: ", "nimplemented: ", "navailable: ")
     + ("ancelled: ", "borted: ", "ut of range: ", "eadline ex", "ata loss: ", "lready exists: "), _absl_old),
    (("Error",), _tf_classes),
    (("cudaError", "CUDA_ERROR_"), _cuda_names),
    (("CUDA", "Cuda", "cuda", "GPUassert"), _cuda_strings),
    (("encountered", "sert trig", "kernel image", "CUDA", "launch", "stream is capturing", "previous error"), _cuda_alone),
    (("_STATUS_", "CUFFT_", "NVRTC_ERROR", "NVML_ERROR"), _library_statuses),
    (("hipError", "HIP", "hip error"), _hip),
    (("nccl", "NCCL", "unhandled "), _nccl),
    (("ConversionError", "TracerError", "ConcretizationTypeError", "BooleanIndexError", "KeyReuse", "DimensionOp"), _jax),
    (("graph-break-site", "Unsupported: "), _graph_breaks),
    (("SIG", "egmentation", "Abort", "Kill", "us error", "Illegal", "point exc"), _signals),
    (("xit", "XIT"), _exits),
)  # fmt: skip
