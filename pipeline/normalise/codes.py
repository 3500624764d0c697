"""Error codes of CUDA, HIP, NCCL and the libraries beside them, whoever printed them: one code, one gate."""

from __future__ import annotations

import re

from pipeline.normalise.tables import codes, words_of

#: A library's status constant; the word before the first underscore is the library.
_STATUS = re.compile(
    r"\b((?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CURAND|CUSPARSELT|HIPBLAS|MIOPEN|CUTENSOR)_STATUS_[A-Z][A-Z_]{2,60}"
    r"|(?:NVRTC|NVML|NVJITLINK)_ERROR_[A-Z_]{3,60}|CUFFT_[A-Z_]{3,40}|(?:rocblas|hipblas"
    r"|miopen)_?[sS]tatus_?[A-Za-z]\w{2,40})\b"
)
_CUDA_NAME = re.compile(r"\b(cudaError[A-Z]\w{2,60}|CUDA_ERROR_[A-Z_]{3,60})\b")
_HIP_NAME = re.compile(r"\b(hipError[A-Z]\w{2,60}|HIP_ERROR_[A-Z]\w{2,60})\b")
#: Words that announce the text of cudaGetErrorString, up to the text itself.
_CUDA_CONTEXT = re.compile(
    r"(?:CUDA|Cuda|cuda)(?:[ _-]?(?:runtime|driver|RT|kernel|launch))? ?(?:[Ee]rror|ERROR|failure|Failure)\b"
    r"(?:(?: code)?[ =:]{0,3}\(?\d{1,4}\)?)?(?: (?:at|in) \S{1,200}(?=: ))?[\s:='\"(]{0,6}"
    r"|Triton Error \[CUDA\]: |GPUassert: "
    r"|CUDA failed with error |CUDA: |\bError \d{1,4}: "
    r"|== cudaSuccess(?: \|\| \w{1,20} == cudaErrorCudartUnloading)?(?: ?\(\d{1,4} vs\. 0\))?[: ]{0,3}"
    r"(?:CUDA: |Name: ?\w{1,80} ErrStr: ?)?"
)
_HIP_CONTEXT = re.compile(
    r"HIP (?:runtime )?[Ee]rror:? |Triton Error \[HIP\]:\s{1,3}(?:Code: \d{1,5},? Mess?s?age: )?"
    r"|hip(?:Error)?: "
)
_NCCL_NAME = re.compile(
    r"\b(nccl(?:UnhandledCudaError|SystemError|InternalError|InvalidArgument|InvalidUsage|RemoteError|InProgress|Timeout))\b"
)
_NCCL_CONTEXT = re.compile(
    r"NCCL (?:[Ee]rror|ERROR|failure)[^\n]{0,200}?[,:] ?(?=unhandled|internal|invalid|remote|NCCL op|timeout)"
)


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
        return None
    named = _NCCL_NAME.search(text)
    if named is not None:
        return f"nccl:{named[1]}", named.start()
    for context in _NCCL_CONTEXT.finditer(text):
        for words, name in codes().nccl_texts:
            if text.startswith(words, context.end()):
                return f"nccl:{name}", context.start()
    return None


def _status(text: str) -> tuple[str, int] | None:
    if "_" not in text and "tatus" not in text:
        return None
    for found in _STATUS.finditer(text):
        name = found[1].upper()
        if not name.endswith("SUCCESS"):
            library = name.partition("STATUS")[0].strip("_") or name.partition("_")[0]
            return f"{library.partition('_')[0].lower()}:{name}", found.start()
    return None


def _cuda(text: str) -> tuple[str, int] | None:
    lowered = text.lower()
    if "cuda" not in lowered and "gpuassert" not in lowered:
        return _cuda_sentence(text, lowered)
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
    return _cuda_sentence(text, lowered)


def _cuda_sentence(text: str, lowered: str) -> tuple[str, int] | None:
    near = text[:SENTENCE_SEARCHED]
    if "hip" in lowered:
        return None
    last = text.partition("\n")[0].rpartition(": ")[2].strip(" .")
    if last in codes().cuda_alone:
        return f"cuda:{codes().cuda_alone[last]}", text.find(last)
    if not any(word in lowered for word in ("error", "fail", "terminat")):
        line = text.partition("\n")[0].strip(" .")  # nothing announces it: the sentence is the whole message
        found = [name for words, name in codes().cuda_sentences.found(lowered, words_of(lowered)) if words == line]
        return (f"cuda:{found[0]}", text.find(line)) if found else None
    for words, name in codes().cuda_sentences.found(near.lower(), words_of(near.lower())):
        if words in near:
            return f"cuda:{name}", near.find(words)
    return None


def _hip(text: str) -> tuple[str, int] | None:
    if "HIP" not in text and "hip" not in text:
        return None
    named = _HIP_NAME.search(text)
    if named is not None:
        plain = named[1].removeprefix("HIP_ERROR_").removeprefix("hipError").replace("_", "").lower()
        return f"hip:{plain}", named.start()
    for context in _HIP_CONTEXT.finditer(text):
        for words, name in codes().cuda_texts:
            if text.startswith(words, context.end()):
                return f"hip:{name.removeprefix('cudaError').lower()}", context.start()
    return None
