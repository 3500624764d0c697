"""Official error codes as facts: names, numbers, printed strings, addresses.

Each catalogue is one JSON file of `pipeline/data/catalogues`, read once, when it is first asked for.
A code is written `family:name`, as `xla:E1001`, `cuda:cudaErrorIllegalAddress` or `signal:SIGSEGV`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

_CUDA_RUNTIME_URL = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
_CUDA_DRIVER_URL = "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html"
_NCCL_URL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/types.html#ncclresult-t"
_ABSL_URL = "https://abseil.io/docs/cpp/guides/status-codes"
_SIGNAL_URL = "https://man7.org/linux/man-pages/man7/signal.7.html"


@dataclass(frozen=True, slots=True)
class XlaCode:
    """One code of XLA's own list."""

    code: str  # "E1001"
    name: str  # "CompileTimeScopedVmemOom"
    status: str  # absl status that the source registers; a printed one may differ
    is_documented: bool  # whether the code has a page
    url: str | None  # the page, None where there is none
    aliases: tuple[str, ...]  # numbers that it had earlier
    in_source_since: str  # ISO date


@dataclass(frozen=True, slots=True)
class Entry:
    """One code of another catalogue."""

    code: str  # "cuda:cudaErrorIllegalAddress"
    name: str  # as the program spells it
    number: int | None
    string: str | None  # what the program prints for it
    url: str | None
    stands_alone: bool = False  # the string is long and rare enough to be known without a prefix
    hints: tuple[str, ...] = ()  # printed by the program beside the error


def _read(name: str) -> Any:
    return json.loads(files("pipeline").joinpath(f"data/catalogues/{name}.json").read_text("utf-8"))


def _by_code(entries: list[Entry]) -> Mapping[str, Entry]:
    return MappingProxyType({entry.code: entry for entry in entries})


@cache
def xla_codes() -> Mapping[str, XlaCode]:
    """XLA's codes by number ("E1001"); retired numbers are aliases, not keys."""
    rows = _read("xla")["entries"]
    return MappingProxyType({row["code"]: XlaCode(**{**row, "aliases": tuple(row["aliases"])}) for row in rows})


@cache
def xla_aliases() -> Mapping[str, str]:
    """Today's number by every number that a code has or had: {"E0103": "E0200", "E0200": "E0200", ...}."""
    found = {alias: code for code, row in xla_codes().items() for alias in row.aliases}
    return MappingProxyType(found | {code: code for code in xla_codes()})


@cache
def xla_signatures() -> tuple[tuple[str, str], ...]:
    """Pairs (code, pattern) of messages that mean a code although they do not print it."""
    return tuple((row["code"], row["pattern"]) for row in _read("xla_signatures")["entries"])


@cache
def absl_statuses() -> Mapping[str, Entry]:
    """The absl status codes, "absl:INTERNAL" and so on; `string` is the name in CamelCase."""
    rows = _read("absl")["entries"]
    return _by_code([Entry(f"absl:{r['name']}", r["name"], r["value"], r["enum"], _ABSL_URL) for r in rows])


@cache
def cuda_errors() -> Mapping[str, Entry]:
    """CUDA errors: the runtime's by their names, the driver's only where the runtime has no such number."""
    runtime = [
        Entry(
            f"cuda:{r['name']}",
            r["name"],
            r["value"],
            r["string"],
            _CUDA_RUNTIME_URL,
            r.get("stands_alone", False),
        )
        for r in _read("cuda_runtime")["entries"]
    ]
    driver = [
        Entry(f"cuda:{r['name']}", r["name"], r["value"], None, _CUDA_DRIVER_URL)
        for r in _read("cuda_driver")["entries"]
        if r["runtime"] is None
    ]
    return _by_code(runtime + driver)


@cache
def cuda_canonical() -> Mapping[str, str]:
    """The one code by every name of a CUDA error, the runtime's and the driver's."""
    names = {entry.name: code for code, entry in cuda_errors().items()}
    drivers = _read("cuda_driver")["entries"]
    return MappingProxyType(names | {r["name"]: f"cuda:{r['runtime'] or r['name']}" for r in drivers})


@cache
def cuda_libraries() -> Mapping[str, Entry]:
    """Status codes of cuBLAS, cuDNN, cuSOLVER, cuSPARSE, cuFFT, cuRAND, NVRTC and NVML."""
    data = _read("cuda_libraries")
    return _by_code(
        [
            Entry(f"{r['library']}:{r['name']}", r["name"], r["value"], r["name"], data["urls"][r["library"]])
            for r in data["entries"]
        ]
    )


@cache
def hip_errors() -> Mapping[str, Entry]:
    """HIP's errors, "hip:hipErrorIllegalAddress" and so on."""
    data = _read("hip")
    return _by_code(
        [Entry(f"hip:{r['name']}", r["name"], r["value"], r["string"], data["url"]) for r in data["entries"]]
    )


@cache
def nccl_results() -> Mapping[str, Entry]:
    """NCCL's results, "nccl:ncclSystemError" and so on."""
    rows = _read("nccl")["entries"]
    return _by_code([Entry(f"nccl:{r['name']}", r["name"], r["value"], r["string"], _NCCL_URL) for r in rows])


@cache
def jax_errors() -> Mapping[str, Entry]:
    """JAX's documented error classes, "jax:jax.errors.KeyReuseError" and so on."""
    rows = _read("jax")["entries"]
    return _by_code([Entry(f"jax:{r['name']}", r["name"], None, r["name"], r["url"]) for r in rows])


@cache
def graph_breaks() -> Mapping[str, Entry]:
    """torch.compile's graph breaks, "gb:GB0025" and so on; `string` is the type line that is printed."""
    data = _read("graph_breaks")
    return _by_code(
        [
            Entry(
                f"gb:{r['code']}",
                r["code"],
                None,
                r["type"],
                data["url"].format(code=r["code"].lower()),
                hints=tuple(r["hints"]),
            )
            for r in data["entries"]
        ]
    )


@cache
def signals() -> Mapping[str, Entry]:
    """POSIX signals ("signal:SIGSEGV") and the exit status that a shell gives for each ("exit:139")."""
    rows = _read("signals")["entries"]
    named = [Entry(f"signal:{r['name']}", r["name"], r["number"], r["string"], _SIGNAL_URL) for r in rows]
    exits = [Entry(f"exit:{r['exit_status']}", r["name"], r["exit_status"], r["string"], _SIGNAL_URL) for r in rows]
    return _by_code(named + exits)


_FAMILIES: Mapping[str, Callable[[], Mapping[str, Entry]]] = MappingProxyType(
    {
        "absl": absl_statuses,
        "cuda": cuda_errors,
        "hip": hip_errors,
        "nccl": nccl_results,
        "jax": jax_errors,
        "gb": graph_breaks,
        "signal": signals,
        "exit": signals,
    }
    | dict.fromkeys(("cublas", "cudnn", "cusolver", "cusparse", "cufft", "curand", "nvrtc", "nvml"), cuda_libraries)
)


def _xla(code: str) -> XlaCode | None:
    number = xla_aliases().get(code.removeprefix("xla:"))
    return xla_codes()[number] if number else None


def entry(code: str) -> Entry | None:
    """The catalogue's entry for a code of any family but XLA, None if there is none."""
    family, _, name = code.partition(":")
    if family == "cuda":
        code = cuda_canonical().get(name, code)
    return _FAMILIES[family]().get(code) if family in _FAMILIES else None


def code_name(code: str) -> str | None:
    """The catalogue name of a code: "xla:E1001" gives "CompileTimeScopedVmemOom"."""
    if code.startswith("xla:"):
        row = _xla(code)
        return row.name if row else None
    found = entry(code)
    return found.name if found else None


def official_url(code: str) -> str | None:
    """The official page of a code, None where the catalogue knows no page."""
    if code.startswith("xla:"):
        row = _xla(code)
        return row.url if row else None
    if code.startswith("cuda:CUDA_ERROR_"):
        return _CUDA_DRIVER_URL if code.removeprefix("cuda:") in cuda_canonical() else None
    found = entry(code)
    return found.url if found else None


@dataclass(frozen=True, slots=True)
class Listed:
    """One code of any catalogue, as SQL shows it."""

    code: str
    family: str
    name: str
    number: int | None
    string: str | None
    status: str | None  # absl status, XLA's codes only
    url: str | None
    is_documented: bool
    aliases: tuple[str, ...]


def listed() -> list[Listed]:
    """Every code of every catalogue, sorted: 28 of XLA with and without a page, CUDA, NCCL, graph breaks, ..."""
    drivers: dict[str, list[str]] = {}
    for name, code in sorted(cuda_canonical().items()):
        if code != f"cuda:{name}":
            drivers.setdefault(code, []).append(f"cuda:{name}")
    rows = {
        f"xla:{row.code}": Listed(
            code=f"xla:{row.code}",
            family="xla",
            name=row.name,
            number=None,
            string=None,
            status=row.status,
            url=row.url,
            is_documented=row.is_documented,
            aliases=tuple(f"xla:{alias}" for alias in row.aliases),
        )
        for row in xla_codes().values()
    }
    for found in {id(read): read for read in _FAMILIES.values()}.values():
        for row in found().values():
            rows[row.code] = Listed(
                code=row.code,
                family=row.code.partition(":")[0],
                name=row.name,
                number=row.number,
                string=row.string,
                status=None,
                url=row.url,
                is_documented=row.url is not None,
                aliases=tuple(drivers.get(row.code, ())),
            )
    return [rows[code] for code in sorted(rows)]


def explains(code: str) -> str | None:
    """The official string that the program itself prints for a code, None where it prints none."""
    found = entry(code)
    return found.string if found else None
