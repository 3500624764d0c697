"""Codes of CUDA, HIP and NCCL: by name, by number, by the text that is printed for them.

Patterns begin with letters, never with a look-behind, so that the engine skips to candidates; `starts_word` looks back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline.lexicon import catalogues
from pipeline.lexicon.codes import printed
from pipeline.lexicon.codes.mention import Mention, Reader, Way, is_compared, starts_word

#: How far into a message a text is the error itself where no name and no announcement says so.
REACH = 400

# ---------------------------------------------------------------- CUDA

_CUDA_NAME = re.compile(r"(?:cudaError[A-Z]\w{2,60}|CUDA_ERROR_[A-Z0-9_]{3,60})(?![A-Za-z0-9_(])")
#: How Numba prints a failed call of the driver, whose numbers never moved.
_CUDA_CALL = re.compile(r"\[(\d{1,3})\] Call to cu\w{2,60} results in \w")
#: A number of the runtime where no text is printed: `CUDA initialization failure with error: 35`.
_CUDA_NUMBER = re.compile(
    r"(?:(?:CUDA|Cuda|cuda)(?:[ _][A-Za-z]{1,16}){0,4}[ _](?:[Ee]rror|ERROR|[Ff]ailure)(?: code| in \w{1,20})?"
    r"(?: with error)?|cuda[A-Z]\w{2,40}(?:\(\))?(?: [a-z]{2,10}){0,4}(?: error| returned| code)"
    r"|NumCudaDevices\(\)[^\n]{0,60}? Error)"
    r"[:= (#]{1,3}(\d{1,3})(?!\d|\.\d|%)"
)
_FAILING = re.compile(r"error|fail|status|exception|fatal|runtime|warn|abort|returned|assert", re.IGNORECASE)
#: HIP prints most of CUDA's texts.
_HIP_WORD = re.compile(r"\bhip|HIP|ROCm")


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

_HIP_NAME = re.compile(r"(?:hipError|HIP_ERROR_)[A-Z]\w{2,60}")


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

_NCCL_NAME = re.compile(r"nccl[A-Z]\w{3,30}")
_NCCL_SAYS = re.compile(r"NCCL (?:[Ee]rror|ERROR|[Ff]ailure|operation)|\bnccl[A-Z]\w|NcclError")
_CUDA_SAYS = re.compile(r"(?:CUDA|Cuda) (?:[Ee]rror|[Ff]ailure)")


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
