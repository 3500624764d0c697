"""Codes of CUDA, HIP and their libraries, as they are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline.lexicon import catalogues
from pipeline.lexicon.codes import printed
from pipeline.lexicon.codes.printed import Mention, Reader, Way, is_compared, starts_word
from pipeline.records import warm

# Codes of CUDA, HIP and NCCL: by name, by number, by the text that is printed for them.
#
# Patterns begin with letters, never with a look-behind, so that the engine skips to candidates; `starts_word` looks
# back.

#: How far into a message a text, a number or a name is the error itself where nothing announces it.
REACH = 400

# ---------------------------------------------------------------- CUDA

_CUDA_NAME = warm.pattern(r"(?:cudaError[A-Z]\w{2,60}|CUDA_ERROR_[A-Z0-9_]{3,60})(?![A-Za-z0-9_(])")
#: How Numba prints a failed call of the driver, whose numbers never moved.
_CUDA_CALL = warm.pattern(r"\[(\d{1,3})\] Call to cu\w{2,60} results in \w")
#: A number of the runtime where no text is printed: `CUDA initialization failure with error: 35`.
_CUDA_NUMBER = warm.pattern(
    r"(?:(?:CUDA|Cuda|cuda)(?:[ _][A-Za-z]{1,16}){0,4}[ _](?:[Ee]rror|ERROR|[Ff]ailure)(?: code| in \w{1,20})?"
    r"(?: with error)?|cuda[A-Z]\w{2,40}(?:\(\))?(?: [a-z]{2,10}){0,4}(?: error| returned| code)"
    r"|NumCudaDevices\(\)[^\n]{0,60}? Error)"
    r"[:= (#]{1,3}(\d{1,3})(?!\d|\.\d|%)"
)
_FAILING = warm.pattern(r"error|fail|status|exception|fatal|runtime|warn|abort|returned|assert", re.IGNORECASE)
#: HIP prints most of CUDA's texts.
_HIP_WORD = warm.pattern(r"\bhip|HIP|ROCm")


@cache
def _cuda_by_number() -> Mapping[int, str]:
    rows = catalogues.cuda_errors().items()
    return MappingProxyType({row.number: code for code, row in rows if row.number is not None})


def _cuda_called(text: str) -> Iterator[Mention]:
    for match in _CUDA_CALL.finditer(text):
        if code := _cuda_by_number().get(int(match[1])):
            yield Mention(code, match.start(), match.end())


def _cuda_named(text: str) -> Iterator[Mention]:
    names = catalogues.by_name(catalogues.cuda_errors())
    for match in _CUDA_NAME.finditer(text):
        code = names.get(match[0])
        if code and starts_word(text, match.start()) and not is_compared(text, match.start()):
            yield Mention(code, match.start(), match.end())


def _cuda_numbered(text: str) -> Iterator[Mention]:
    """Codes by the number alone, but for numbers that meant something else until CUDA 10.0."""
    for match in _CUDA_NUMBER.finditer(text):
        code = _cuda_by_number().get(int(match[1]))
        if code and catalogues.cuda_errors()[code].was is None:
            yield Mention(code, match.start(), match.end())


def _unless_hip(read: Reader) -> Reader:
    return lambda text: () if _HIP_WORD.search(text) else read(text)


def _speaks_of_cuda(before: str) -> bool:
    is_about = "cuda" in before.lower() or "GPUassert" in before
    return is_about and _FAILING.search(before) is not None and not _HIP_WORD.search(before)


def cuda_ways() -> tuple[Way, ...]:
    """How CUDA names its codes, the surest way first."""
    return (
        Way("cuda: failed call", ("] call to cu",), _cuda_called, decides=True),
        Way("cuda: name", ("cudaerror", "cuda_error_"), _cuda_named, decides=True),
        Way(
            "cuda: announced text",
            ("cuda", "gpuassert", *(f"error {digit}" for digit in range(10))),
            printed.announced("cuda"),
            decides=True,
        ),
        Way(
            "cuda: sentence",
            printed.sentences("cuda"),
            _unless_hip(printed.sentence("cuda")),
            decides=True,
            reach=REACH,
        ),
        Way(
            "cuda: whole line",
            tuple(printed.messages("cuda")),
            _unless_hip(printed.whole("cuda")),
            decides=True,
            reach=REACH,
        ),
        Way(
            "cuda: marked text",
            ("cuda", "gpuassert"),
            printed.marked("cuda", _speaks_of_cuda),
            decides=True,
            reach=REACH,
        ),
        Way("cuda: number", ("cuda",), _cuda_numbered, decides=True, reach=REACH),
    )


# ---------------------------------------------------------------- HIP

_HIP_NAME = warm.pattern(r"(?:hipError|HIP_ERROR_)[A-Z]\w{2,60}")


@cache
def _hip_by_plain_name() -> Mapping[str, str]:
    return MappingProxyType({_plain(row.name): code for code, row in catalogues.hip_errors().items()})


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _hip_named(text: str) -> Iterator[Mention]:
    for match in _HIP_NAME.finditer(text):
        if (code := _hip_by_plain_name().get(_plain(match[0]))) and not is_compared(text, match.start()):
            yield Mention(code, match.start(), match.end())


def hip_ways() -> tuple[Way, ...]:
    """How HIP names its codes, the surest way first."""
    return (
        Way("hip: name", ("hiperror", "hip_error_"), _hip_named, decides=True),
        Way("hip: announced text", ("hip", "rocm"), printed.announced("hip"), decides=True),
    )


# ---------------------------------------------------------------- NCCL

_NCCL_NAME = warm.pattern(r"nccl[A-Z]\w{3,30}")
_NCCL_SAYS = warm.pattern(r"NCCL (?:[Ee]rror|ERROR|[Ff]ailure|operation)|\bnccl[A-Z]\w|NcclError")
_CUDA_SAYS = warm.pattern(r"(?:CUDA|Cuda) (?:[Ee]rror|[Ff]ailure)")


def _nccl_named(text: str) -> Iterator[Mention]:
    for match in _NCCL_NAME.finditer(text):
        if (code := f"nccl:{match[0]}") in catalogues.nccl_results() and starts_word(text, match.start()):
            yield Mention(code, match.start(), match.end())


def _speaks_of_nccl(before: str) -> bool:
    said = _NCCL_SAYS.search(before)
    return said is not None and not _CUDA_SAYS.search(before, said.end())


def nccl_ways() -> tuple[Way, ...]:
    """How NCCL names its codes, the surest way first."""
    return (
        Way("nccl: name", ("nccl",), _nccl_named, decides=True),
        Way("nccl: marked text", ("nccl",), printed.marked("nccl", _speaks_of_nccl), decides=True, reach=REACH),
        Way("nccl: sentence", printed.sentences("nccl"), printed.sentence("nccl"), decides=True, reach=REACH),
    )


# Status codes of libraries: CUDA's and ROCm's, OpenCL, Vulkan, oneAPI. By name, by words, by number.

#: A number instead of the constant: `cuBLAS error 15 at`, `cusolver error: 7, when`, `CUDNN_STATUS_SUCCESS (8 vs. 0)`.
_NUMBER = warm.pattern(
    r"(cu(?:blas|dnn|solver|sparse|fft|rand))(?:Lt)?"
    r"(?:(?: API| runtime)?(?: error| failure| failed with status)(?: code)?[:= (#]{1,3}(\d{1,4})"
    r"|_STATUS_SUCCESS ?\((\d{1,4}) vs\. 0\))(?!\d|\.\d)",
    re.IGNORECASE,
)
#: Words instead of the constant: `operation cusolverDnCreate(&handle) failed: cuSolver internal error`.
_WORDS = warm.pattern(r"\) failed: (cuSolver|cuBlas|cuSparse) ([a-z]{3,12}(?: [a-z]{3,12}){1,3})")
#: What the functions of OpenCL begin with.
_OPENCL_CALLS = (
    "clBuild",
    "clCompile",
    "clCreate",
    "clEnqueue",
    "clFinish",
    "clFlush",
    "clGet",
    "clLink",
    "clSet",
    "clWait",
)
_CALL = rf"(?:{'|'.join(_OPENCL_CALLS)})[A-Za-z]{{0,50}}\b"
#: OpenCL's errors as its programs print them: `clBuildProgram failed: BUILD_PROGRAM_FAILURE`, `OpenCL error (-54)`.
_OPENCL_NAME = warm.pattern(rf"{_CALL}(?:\(\))? (?:failed|returned)[: ]{{1,3}}([A-Z][A-Z_]{{4,60}})\b")
_OPENCL_NUMBER = warm.pattern(
    rf"\b(?:{_CALL}|OpenCL)[^\n]{{0,60}}?(?:[:=( ]|\b)(-\d{{1,4}})(?!\d|\.\d)"
    rf"|\b[Ee]rr(?:or)?[ :]{{0,3}}\(?(-\d{{1,4}})\b[^\n]{{0,60}}?\b{_CALL}"
)
_FAILING_LIBRARY = warm.pattern(r"error|fail|status|exception|fatal|runtime|warn|abort|return|assert", re.IGNORECASE)
#: oneAPI: `Native API returns: -5 (PI_ERROR_OUT_OF_RESOURCES)`, `Triton Error [ZE]: 0x70000001`.
_RETURNED = warm.pattern(r"API returns: (-?\d{1,10})(?: \([A-Z_]{4,60}\))?|Error \[ZE\]: (0x[0-9a-fA-F]{1,10})")
#: Vulkan's results as its C++ bindings print them.
_VULKAN_RESULT = warm.pattern(r"vk::\w{2,40}(?:::\w{2,40}){0,3}: (Error[A-Z][A-Za-z]{4,40})\b")


@cache
def _names() -> Mapping[str, str]:
    return MappingProxyType({_plain(name): code for name, code in catalogues.by_name(catalogues.libraries()).items()})


@cache
def _prefixes() -> tuple[str, ...]:
    return tuple(prefix for prefixes in catalogues.library_prefixes().values() for prefix in prefixes)


@cache
def _name_pattern() -> re.Pattern[str]:
    return warm.pattern(rf"(?:{'|'.join(_prefixes())})\w{{0,60}}", re.IGNORECASE)


@cache
def _numbers(library: str) -> Mapping[int, str]:
    """The code by each number that the library gave it; today's numbers come first."""
    rows = [row for code, row in catalogues.libraries().items() if code.startswith(f"{library}:")]
    older = {number: row.code for row in rows for number in row.numbers}
    return MappingProxyType(older | {row.number: row.code for row in rows if row.number is not None})


def _named(text: str) -> Iterator[Mention]:
    for match in _name_pattern().finditer(text):
        code = _names().get(_plain(match[0]))
        if code is None or not starts_word(text, match.start()) or is_compared(text, match.start()):
            continue
        if not code.startswith("cl:") or not _is_returned(text, match.start()):
            yield Mention(code, match.start(), match.end())


def _is_returned(text: str, at: int) -> bool:
    """Whether oneAPI names its own error as OpenCL would: `API returns: -5 (CL_OUT_OF_RESOURCES)`."""
    return "API returns: " in text[max(at - 30, 0) : at]


def _worded(text: str) -> Iterator[Mention]:
    for match in _WORDS.finditer(text):
        family = match[1].lower()
        for code, row in catalogues.libraries().items():
            if code.startswith(f"{family}:") and match[2] in row.printed:
                yield Mention(code, match.start(1), match.end())


def _numbered(text: str) -> Iterator[Mention]:
    for match in _NUMBER.finditer(text):
        code = _numbers(match[1].lower()).get(int(match[2] or match[3]))
        if code and starts_word(text, match.start()):
            yield Mention(code, match.start(), match.end())


def _returned(text: str) -> Iterator[Mention]:
    for match in _RETURNED.finditer(text):
        number = int(match[1]) if match[1] else int(match[2], 16)
        if code := _numbers("oneapi").get(number):
            yield Mention(code, match.start(), match.end())


def _opencl_named(text: str) -> Iterator[Mention]:
    for match in _OPENCL_NAME.finditer(text):
        if code := _names().get(_plain(f"CL_{match[1].removeprefix('CL_')}")):
            yield Mention(code, match.start(), match.end())


def _opencl_numbered(text: str) -> Iterator[Mention]:
    if not _FAILING_LIBRARY.search(text):
        return
    for match in _OPENCL_NUMBER.finditer(text):
        if code := _numbers("cl").get(int(match[1] or match[2])):
            yield Mention(code, match.start(), match.end())


def _vulkan_result(text: str) -> Iterator[Mention]:
    for match in _VULKAN_RESULT.finditer(text):
        if code := _names().get(_plain(f"VK_{match[1]}")):
            yield Mention(code, match.start(), match.end())


def library_ways() -> tuple[Way, ...]:
    """How libraries name their codes, the surest way first."""
    return (
        Way("oneapi: returned", ("api returns: ", "error [ze]: "), _returned, decides=True),
        Way("library: name", tuple(prefix.lower() for prefix in _prefixes()), _named, decides=True),
        Way("library: words", (") failed: cu",), _worded, decides=True),
        Way(
            "library: number",
            ("cublas", "cudnn", "cusolver", "cusparse", "cufft", "curand"),
            _numbered,
            decides=True,
            reach=REACH,
        ),
        Way(
            "opencl: name",
            tuple(call.lower() for call in _OPENCL_CALLS),
            _opencl_named,
            decides=True,
            reach=REACH,
        ),
        Way(
            "opencl: number",
            ("opencl", *(call.lower() for call in _OPENCL_CALLS)),
            _opencl_numbered,
            decides=True,
            reach=REACH,
        ),
        Way("vulkan: result", ("vk::",), _vulkan_result, decides=True, reach=REACH),
    )
