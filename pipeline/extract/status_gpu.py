"""Codes of GPU software that a piece of text names: CUDA, its libraries, HIP, NCCL.

A string such as "invalid argument" is a code only behind a CUDA (or HIP, NCCL) prefix; a few long ones stand alone.
Patterns begin with letters, never with a look-behind, so that the engine skips to candidates;
`starts_word` looks back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline.extract.word import starts_word
from pipeline.lexicon import catalogues

_CUDA_NAME = re.compile(r"(?:cudaError[A-Z]\w{2,60}|CUDA_ERROR_[A-Z0-9_]{3,60})(?![A-Za-z0-9_(])")
#: "CUDA error: ", "CUDA driver error: ", "Cuda failure 2 '", "cuda runtime error (59) : ", "CUDA error 9 at f.cu:6: "
_CUDA_PREFIX = re.compile(
    r"(?:CUDA (?:kernel |driver |runtime |API |RT |backend )?(?:[Ee]rror|ERROR|[Ff]ailure)|Cuda (?:[Ee]rror|failure)"
    r"|cuda (?:runtime )?(?:error|failure)|CUDART error|GPUassert|CUDA(?:Runtime|Driver)Error|Error \[CUDA\]"
    r"|== cudaErrorCudartUnloading|ErrStr(?=:)"
    r"|NVRTC error|failed call to cu[A-Z]\w{2,40}|cudaGetDeviceCount\(\)|CUDA initialization|CUDA_CHECK\w{0,20})"
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


def cuda_names(text: str) -> Iterator[str]:
    """Codes by the runtime's or the driver's name."""
    for match in _CUDA_NAME.finditer(text):
        code = catalogues.cuda_canonical().get(match[0])
        if code and starts_word(text, match.start()) and not _is_compared(text, match.start()):
            yield code


def _is_compared(text: str, at: int) -> bool:
    """Whether the name is an operand of a printed condition (`e == cudaErrorCudartUnloading`), not the outcome."""
    return text[max(at - 3, 0) : at] in {"== ", "!= "}


def cuda_strings(text: str) -> Iterator[str]:
    """Codes by the string behind a CUDA prefix; by the number only where no string follows (old numbers moved)."""
    for match in _CUDA_PREFIX.finditer(text):
        if (code := _behind(text, match.end(), "cuda")) or (
            match["number"] and (code := _cuda_by_number().get(int(match["number"]))) and _is_modern(match["number"])
        ):
            yield code


def _is_modern(number: str) -> bool:
    """Numbers from 100 mean the same in every toolkit; of the smaller ones CUDA 10.1 left 2 and 3."""
    return int(number) >= 100 or number in {"2", "3"}


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
    return before in {":", "'", '"', "(", "`", ",", "="} and after in {
        "",
        "'",
        '"',
        ")",
        ".",
        "`",
        ",",
        "\\",
        "\r",
        "(",
    }


def cuda_alone(text: str) -> Iterator[str]:
    """Codes by the long strings that are known without a prefix."""
    if "HIP" in text or "hipError" in text:
        return  # HIP prints the same strings
    for match in _alone_pattern().finditer(text.lower()):
        yield _strings("cuda")[match[0]]


_LIBRARY_STATUS = re.compile(
    r"((?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CURAND)_STATUS_[A-Z0-9_]{3,60}|CUFFT_[A-Z_]{4,40}"
    r"|NVRTC_ERROR_[A-Z_]{3,60}|NVML_ERROR_[A-Z_]{3,40})(?![A-Za-z0-9_])"
)


@cache
def _library_by_name() -> Mapping[str, str]:
    return MappingProxyType({row.name: code for code, row in catalogues.cuda_libraries().items()})


def library_statuses(text: str) -> Iterator[str]:
    """Status names of cuBLAS, cuDNN and the other libraries."""
    for match in _LIBRARY_STATUS.finditer(text):
        code = _library_by_name().get(match[1])
        if code and starts_word(text, match.start()) and not _is_compared(text, match.start()):
            yield code


_HIP_NAME = re.compile(r"hipError[A-Z]\w{2,60}")
_HIP_PREFIX = re.compile(r"Error \[HIP\]|HIP (?:runtime )?(?:[Ee]rror|failure)|hip (?:error|failure)|HIPRuntimeError")


def hip(text: str) -> Iterator[str]:
    """HIP's codes by name, or by the string behind its prefix."""
    for match in _HIP_NAME.finditer(text):
        if (code := f"hip:{match[0]}") in catalogues.hip_errors():
            yield code
    for match in _HIP_PREFIX.finditer(text):
        if found := _behind(text, match.end(), "hip"):
            yield found


# ---------------------------------------------------------------- NCCL

_NCCL_NAME = re.compile(
    r"nccl(?:(?:UnhandledCuda|System|Internal|Remote)Error|Invalid(?:Argument|Usage)"
    r"|Timeout)(?!\w)"
)
_NCCL_STRINGS = (
    ("unhandled system error", "nccl:ncclSystemError"),
    ("unhandled cuda error", "nccl:ncclUnhandledCudaError"),
    ("remote process exited or there was a network error", "nccl:ncclRemoteError"),
    ("please report this issue to the NCCL developers", "nccl:ncclInternalError"),
)
#: Short strings, only behind NCCL's prefix on the same line.
_NCCL_SHORT = re.compile(
    r"NCCL (?:[Ee]rror|failure|ERROR)[^\n]{0,200}?\b(invalid usage|invalid argument"
    r"|internal error)\b"
)
_NCCL_SHORT_CODES = {
    "invalid usage": "nccl:ncclInvalidUsage",
    "invalid argument": "nccl:ncclInvalidArgument",
    "internal error": "nccl:ncclInternalError",
}


def nccl(text: str) -> Iterator[str]:
    """NCCL's results by name or string."""
    for match in _NCCL_NAME.finditer(text):
        if starts_word(text, match.start()):
            yield f"nccl:{match[0]}"
    for string, code in _NCCL_STRINGS:
        if string in text:
            yield code
    for match in _NCCL_SHORT.finditer(text):
        yield _NCCL_SHORT_CODES[match[1]]
