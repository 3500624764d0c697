"""Error codes of CUDA, HIP, NCCL and the libraries beside them, whoever printed them: one code, one gate."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pipeline.normalise.tables import codes, words_of

#: A library's status constant; the word before the first underscore is the library.
_STATUS = re.compile(
    r"\b((?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CURAND|CUSPARSELT|HIPBLAS|MIOPEN|CUTENSOR)_STATUS_[A-Z][A-Z_]{2,60}"
    r"|(?:NVRTC|NVML|NVJITLINK|VK)_ERROR_[A-Z_]{3,60}|CUFFT_[A-Z_]{3,40}|(?:rocblas|hipblas"
    r"|miopen)_?[sS]tatus_?[A-Za-z]\w{2,40}|(?:HSA_STATUS|PI|UR_RESULT|ZE_RESULT)_ERROR_[A-Z][A-Z_]{2,60}"
    r"|CL_(?:OUT_OF|INVALID|(?:BUILD|COMPILE|LINK)_PROGRAM|(?:DEVICE|PLATFORM|COMPILER|LINKER)_NOT|DEVICE_PARTITION"
    r"|MEM_OBJECT|MEM_COPY|MAP_FAILURE|IMAGE_FORMAT|MISALIGNED|EXEC_STATUS_ERROR|PROFILING_INFO|KERNEL_ARG_INFO"
    r")[A-Z_]{0,60})\b"
)
#: OpenCL's errors as its programs print them: `clBuildProgram failed: BUILD_PROGRAM_FAILURE`, `OpenCL error (-54)`.
_OPENCL_NAME = re.compile(
    r"\bcl[A-Z][A-Za-z]{3,50}\b(?:\(\))? (?:failed|returned)[: ]{1,3}(?:CL_)?([A-Z][A-Z_]{4,60})\b"
)
_OPENCL_NUMBER = re.compile(
    r"\b(?:cl[A-Z][A-Za-z]{3,50}\b|OpenCL|API returns: (?=-))[^\n]{0,60}?(?:[:=( ]|\b)(-\d{1,4})(?!\d|\.\d)"
    r"|\b[Ee]rr(?:or)?[ :]{0,3}\(?(-\d{1,4})\b[^\n]{0,60}?\bcl[A-Z][A-Za-z]{3,50}\b"
)
#: Vulkan's results as its C++ bindings print them.
_VULKAN_RESULT = re.compile(r"\bvk::\w{2,40}(?:::\w{2,40}){0,3}: Error([A-Z][A-Za-z]{4,40}?)(KHR|EXT)?\b")
#: Layers of oneAPI that print one condition under their own prefix.
_ONEAPI = re.compile(r"(?:PI|UR_RESULT|ZE_RESULT)_ERROR_")
_CUDA_NAME = re.compile(r"\b(cudaError[A-Z]\w{2,60}|CUDA_ERROR_[A-Z_]{3,60})\b")
_HIP_NAME = re.compile(r"\b(hipError[A-Z]\w{2,60}|HIP_ERROR_[A-Z]\w{2,60})\b")
#: How Numba prints a failed call of the driver: the number stands even where the name is unknown.
_CUDA_CALL = re.compile(r"\[(\d{1,3})\] Call to cu\w{2,60} results in \w")
#: A number instead of the constant: `cuBLAS error 15 at`, `cusolver error: 7, when`, `CUDNN_STATUS_SUCCESS (8 vs. 0)`.
_STATUS_NUMBER = re.compile(
    r"\b(cu(?:blas|dnn|solver|sparse))(?:Lt)?"
    r"(?:(?: API)?(?: error| failure| failed with status)(?: code)?[:= (#]{1,3}(\d{1,4})"
    r"|_STATUS_SUCCESS ?\((\d{1,4}) vs\. 0\))(?!\d|\.\d)",
    re.IGNORECASE,
)
#: Words instead of the constant: `operation cusolverDnCreate(&handle) failed: cuSolver internal error`.
_STATUS_WORDS = re.compile(r"\) failed: (cuSolver|cuBlas|cuSparse) ([a-z]{3,12}(?: [a-z]{3,12}){1,3})")
#: Words that announce the text of cudaGetErrorString, up to the text itself.
_CUDA_CONTEXT = re.compile(
    r"(?:CUDA|Cuda|cuda)(?:[ _-]?(?:runtime|driver|RT|kernel|launch))? ?(?:[Ee]rror|ERROR|failure|Failure)\b"
    r"(?:(?: code)?[ =:]{0,3}\(?\d{1,4}\)?)?(?: (?:at|in) \S{1,200}(?=: ))?[\s:='\"(]{0,6}"
    r"|\bcuda[A-Z]\w{2,40}(?:\([^()\n]{0,120}\))? (?:failed|returned)(?: with (?:error|code) ?\d{0,4})?[:\s(]{1,3}"
    r"|Triton Error \[CUDA\]: |GPUassert: "
    r"|CUDA failed with error |CUDA: (?:Error- )?|\bError \d{1,4}: "
    r"|== cudaSuccess(?: \|\| \w{1,20} == cudaErrorCudartUnloading)?(?: ?\(\d{1,4} vs\. 0\))?[: ]{0,3}"
    r"(?:CUDA: |Name: ?\w{1,80} ErrStr: ?)?"
)
_HIP_CONTEXT = re.compile(
    r"(?:HIP|ROCm) (?:runtime )?[Ee]rror:? |Triton Error \[HIP\]:\s{1,3}(?:Code: \d{1,5},? Mess?s?age: )?"
    r"|hip(?:Error)?: "
)
_NCCL_NAME = re.compile(
    r"\b(nccl(?:UnhandledCudaError|SystemError|InternalError|InvalidArgument|InvalidUsage|RemoteError|InProgress|Timeout))\b"
)
#: What stands before the text of an error wherever a program prints it, and what ends it.
_OPENING = re.compile(r"[:,'\"`(] {0,3}(?=([A-Za-z]+))")
_CLOSING = re.compile(r"[.'\"`),;:\]|]|\s{0,4}(?:$|\n)| (?:at|in|on|when|while|during|after|with|for|\(|\[|/|-)")
_NCCL_SAYS = re.compile(r"NCCL (?:[Ee]rror|ERROR|[Ff]ailure|operation)|\bnccl[A-Z]\w|NcclError")
_CUDA_SAYS = re.compile(r"(?:CUDA|Cuda) (?:[Ee]rror|[Ff]ailure)")
_HIP_WORD = re.compile(r"\bhip|HIP|ROCm")
_FAILING = re.compile(r"error|fail|status|exception|fatal|runtime|warn|abort|returned|assert", re.IGNORECASE)
#: A number of the CUDA runtime where no text is printed: `CUDA initialization failure with error: 35`.
_CUDA_NUMBER = re.compile(
    r"(?:(?:CUDA|Cuda|cuda)(?:[ _][A-Za-z]{1,16}){0,4}[ _](?:[Ee]rror|ERROR|[Ff]ailure)(?: code| in \w{1,20})?"
    r"(?: with error)?|cuda[A-Z]\w{2,40}(?:\(\))?(?: [a-z]{2,10}){0,4}(?: error| returned| code)"
    r"|NumCudaDevices\(\)[^\n]{0,60}? Error)"
    r"[:= (#]{1,3}(\d{1,3})(?!\d|\.\d|%)"
)


_LIBRARIES = ("blas", "BLAS", "dnn", "DNN", "olver", "OLVER", "parse", "PARSE")
#: How far into a message a CUDA sentence is looked for where the word CUDA does not stand beside it.
SENTENCE_SEARCHED = 400


def code_in(text: str) -> tuple[str, int] | None:
    """The canonical code that the text names, by its symbol or by its printed words, and where it does."""
    for find in (_nccl, _status, _cuda, _hip):
        found = find(text)
        if found is not None:
            return found
    return None


def _nccl(text: str) -> tuple[str, int] | None:
    if "nccl" not in text and "NCCL" not in text:
        alone = text.partition("\n")[0].rpartition(": ")[2].strip(" .")
        return (f"nccl:{codes().nccl_alone[alone]}", text.find(alone)) if alone in codes().nccl_alone else None
    named = _NCCL_NAME.search(text)
    if named is not None:
        return f"nccl:{named[1]}", named.start()
    printed = _printed(text, codes().nccl_openings, _speaks_of_nccl)
    if printed is None:
        near = text[:SENTENCE_SEARCHED]
        printed = next(((name, near.find(words)) for words, name in codes().nccl_alone.items() if words in near), None)
    return (f"nccl:{printed[0]}", printed[1]) if printed else None


def _status(text: str) -> tuple[str, int] | None:
    if "_" not in text and "tatus" not in text:
        return _other_status(text) or _opencl(text) or _vulkan(text)
    for found in _STATUS.finditer(text):
        name = found[1].upper()
        layer = _ONEAPI.match(name)
        if layer is not None:
            return f"oneapi:{name[layer.end() :]}", found.start()
        if name.startswith("CL_") and "API returns: " in text:  # oneAPI over OpenCL
            return f"oneapi:{name[3:]}", found.start()
        if not name.endswith("SUCCESS"):
            library = name.partition("STATUS")[0].strip("_") or name.partition("_")[0]
            return f"{library.partition('_')[0].lower()}:{name}", found.start()
    return _other_status(text) or _opencl(text) or _vulkan(text)


def _opencl(text: str) -> tuple[str, int] | None:
    """What OpenCL calls the error that a program names without its prefix or prints the number of."""
    near = text[:SENTENCE_SEARCHED]
    if "cl" not in near and "CL" not in near and "API returns" not in near:
        return None
    names = codes().opencl_names
    named = _OPENCL_NAME.search(near)
    if named is not None and f"CL_{named[1]}" in names.values():
        return f"cl:CL_{named[1]}", named.start()
    if not _FAILING.search(near) and "return" not in near:
        return None
    numbered = _OPENCL_NUMBER.search(near)
    name = names.get((numbered[1] or numbered[2]).lstrip("-")) if numbered else None
    if numbered is None or name is None:
        return None
    return ("oneapi:" + name[3:] if "API returns: " in near else f"cl:{name}"), numbered.start()


def _vulkan(text: str) -> tuple[str, int] | None:
    found = _VULKAN_RESULT.search(text[:SENTENCE_SEARCHED]) if "vk::" in text else None
    if found is None:
        return None
    words = "_".join(re.findall(r"[A-Z][a-z]*", found[1])).upper()
    return f"vk:VK_ERROR_{words}" + (f"_{found[2]}" if found[2] else ""), found.start()


def _other_status(text: str) -> tuple[str, int] | None:
    """A status of a library that is told in other words or by its number."""
    if not any(name in text for name in _LIBRARIES):
        return None
    worded = _STATUS_WORDS.search(text)
    status = codes().library_words.get(worded[2]) if worded is not None else None
    if worded is not None and status is not None:
        return f"{worded[1].lower()}:{worded[1].upper()}_STATUS_{status}", worded.start(1)
    found = _STATUS_NUMBER.search(text[:SENTENCE_SEARCHED])
    if found is None:
        return None
    library = found[1].lower()
    name = codes().library_numbers[library].get(found[2] or found[3])
    return (f"{library}:{library.upper()}_STATUS_{name}", found.start()) if name else None


def _cuda(text: str) -> tuple[str, int] | None:
    lowered = text.lower()
    if "cuda" not in lowered and "gpuassert" not in lowered:
        return _cuda_sentence(text, lowered)
    numbered = _CUDA_CALL.search(text)
    called = codes().cuda_values.get(int(numbered[1])) if numbered else None
    if numbered and called:
        return f"cuda:{called}", numbered.start()
    for named in _CUDA_NAME.finditer(text):
        canonical = codes().cuda_names.get(named[1], named[1])
        if canonical != "CUDA_SUCCESS" and not text[max(0, named.start() - 3) : named.start()].endswith(
            ("== ", "!= ", "==", "!=")
        ):
            return f"cuda:{canonical}", named.start()
    for context in _CUDA_CONTEXT.finditer(text):
        for words, name in codes().cuda_texts:
            if text.startswith(words, context.end()):
                return f"cuda:{name}", context.start()
    return _cuda_sentence(text, lowered) or _cuda_printed(text)


def _cuda_printed(text: str) -> tuple[str, int] | None:
    """A CUDA text between marks on a line that speaks of CUDA and of a failure; else the number alone."""
    printed = _printed(text, codes().cuda_openings, _speaks_of_cuda)
    if printed is not None:
        return f"cuda:{printed[0]}", printed[1]
    number = _CUDA_NUMBER.search(text[:SENTENCE_SEARCHED])
    name = codes().cuda_values.get(int(number[1])) if number else None
    return (f"cuda:{name}", number.start()) if number and name else None


def _speaks_of_nccl(before: str) -> bool:
    said = _NCCL_SAYS.search(before)
    return said is not None and not _CUDA_SAYS.search(before, said.end())


def _speaks_of_cuda(before: str) -> bool:
    is_about = "cuda" in before.lower() or "GPUassert" in before
    return is_about and _FAILING.search(before) is not None and not _HIP_WORD.search(before)


def _printed(
    text: str, openings: Mapping[str, Sequence[tuple[str, str]]], announces: Callable[[str], bool]
) -> tuple[str, int] | None:
    """The code whose whole text stands between marks, and where, if the line before it announces one."""
    lowered = text.lower()
    for opening in _OPENING.finditer(text, 0, SENTENCE_SEARCHED):
        for words, name in openings.get(opening[1].lower(), ()):
            if lowered.startswith(words.lower(), opening.end()) and _CLOSING.match(text, opening.end() + len(words)):
                begin = text.rfind("\n", 0, opening.start()) + 1
                if announces(text[begin : opening.start()]):
                    return name, opening.end()
    return None


def _cuda_sentence(text: str, lowered: str) -> tuple[str, int] | None:
    if "hip" in lowered:
        return None
    last = text.partition("\n")[0].rpartition(": ")[2].strip(" .")
    if last in codes().cuda_alone:
        return f"cuda:{codes().cuda_alone[last]}", text.find(last)
    near = lowered[:SENTENCE_SEARCHED]
    found = codes().cuda_sentences.found(near, words_of(near))
    return (f"cuda:{found[0][1]}", near.find(found[0][0].lower())) if found else None


def _hip(text: str) -> tuple[str, int] | None:
    if "HIP" not in text and "hip" not in text:
        return None
    named = _HIP_NAME.search(text)
    if named is not None:
        plain = named[1].removeprefix("HIP_ERROR_").removeprefix("hipError").replace("_", "").lower()
        return f"hip:{plain}", named.start()
    lowered = text.lower()  # HIP begins some of CUDA's texts with a capital
    for context in _HIP_CONTEXT.finditer(text):
        for words, name in codes().cuda_texts:
            if lowered.startswith(words.lower(), context.end()):
                return f"hip:{codes().hip_names.get(name, name.removeprefix('cudaError')).lower()}", context.start()
    return None
