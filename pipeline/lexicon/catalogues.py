"""Official error codes as facts: names, numbers, printed strings, addresses.

Each catalogue is one JSON file of `pipeline/data/catalogues`, read once, when it is first asked for.
A code is written `family:name`, as `xla:E1001`, `cuda:cudaErrorIllegalAddress` or `signal:SIGSEGV`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from pipeline import packs
from pipeline.lexicon.code_families import families

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
    hints: tuple[str, ...] = ()  # printed by the program beside the error
    also: tuple[str, ...] = ()  # other names of the same error: of a driver, of another layer
    printed: tuple[str, ...] = ()  # other wordings of the string
    numbers: tuple[int, ...] = ()  # other numbers: of earlier versions, of another layer
    was: str | None = None  # the error that had this number in earlier versions, where that was another
    anywhere: tuple[str, ...] = ()  # short wordings that are known without words that announce them
    alone: tuple[str, ...] = ()  # short wordings that are known where they are the whole message
    is_named: bool = True  # whether its name in a text says that this error happened


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


@dataclass(frozen=True, slots=True)
class XlaSignature:
    """A message that means a code although it does not print it."""

    code: str
    sign: str  # a literal of every such message, in lower case
    pattern: str
    example: str


@cache
def xla_signatures() -> tuple[XlaSignature, ...]:
    """The messages that mean a code, in the order in which they are looked for."""
    return tuple(XlaSignature(**row) for row in _read("xla_signatures")["entries"])


@cache
def absl_statuses() -> Mapping[str, Entry]:
    """The absl status codes, "absl:INTERNAL" and so on; `string` is the name in CamelCase."""
    rows = _read("absl")["entries"]
    return _by_code([Entry(f"absl:{r['name']}", r["name"], r["value"], r["enum"], _ABSL_URL) for r in rows])


@cache
def cuda_errors() -> Mapping[str, Entry]:
    """CUDA errors: the runtime's by their names, the driver's only where the runtime has no such number."""
    drivers = _read("cuda_driver")["entries"]
    runtime = [
        _entry("cuda", r, _CUDA_RUNTIME_URL, also=tuple(d["name"] for d in drivers if d["runtime"] == r["name"]))
        for r in _read("cuda_runtime")["entries"]
    ]
    own = [_entry("cuda", r, _CUDA_DRIVER_URL) for r in drivers if r["runtime"] is None]
    return _by_code(runtime + own)


def _entry(family: str, row: Mapping[str, Any], url: str, also: tuple[str, ...] = ()) -> Entry:
    return Entry(
        code=f"{family}:{row['name']}",
        name=row["name"],
        number=row["value"],
        string=row.get("string"),
        url=url,
        also=(*also, *row.get("also", ())),
        printed=tuple(row.get("printed", ())),
        numbers=tuple(row.get("numbers", ())),
        was=row.get("was"),
        anywhere=tuple(row.get("anywhere", ())),
        alone=tuple(row.get("alone", ())),
        is_named=row.get("is_named", True),
    )


def by_name(entries: Mapping[str, Entry]) -> Mapping[str, str]:
    """The one code by every name of an error, its own and those that others gave it."""
    return MappingProxyType({name: code for code, row in entries.items() for name in (*row.also, row.name)})


@cache
def libraries() -> Mapping[str, Entry]:
    """Status codes of the libraries of CUDA and ROCm, and of OpenCL, Vulkan and oneAPI."""
    data = _read("libraries")
    rows = [_entry(r["library"], r, data["libraries"][r["library"]]["url"]) for r in data["entries"]]
    return _by_code([replace(row, string=row.name) for row in rows])  # what they print is the name


@cache
def library_prefixes() -> Mapping[str, tuple[str, ...]]:
    """What the names of each library's codes begin with."""
    return MappingProxyType({name: tuple(row["prefixes"]) for name, row in _read("libraries")["libraries"].items()})


@cache
def hip_errors() -> Mapping[str, Entry]:
    """HIP's errors, "hip:hipErrorIllegalAddress" and so on."""
    data = _read("hip")
    return _by_code([_entry("hip", r, data["url"]) for r in data["entries"]])


@cache
def nccl_results() -> Mapping[str, Entry]:
    """NCCL's results, "nccl:ncclSystemError" and so on."""
    return _by_code([_entry("nccl", r, _NCCL_URL) for r in _read("nccl")["entries"]])


@cache
def jax_errors() -> Mapping[str, Entry]:
    """JAX's documented error classes, "jax:jax.errors.KeyReuseError" and so on."""
    rows = _read("jax")["entries"]
    return _by_code([_entry("jax", {**r, "value": None, "string": r["name"]}, r["url"]) for r in rows])


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
    named = [_entry("signal", {**r, "value": r["number"]}, _SIGNAL_URL) for r in rows]
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
    | dict.fromkeys(library_prefixes(), libraries)
)


def own_families() -> frozenset[str]:
    """The families that are read from `pipeline/data/catalogues`: "xla", "cuda", "cublas" and so on."""
    return frozenset(("xla", *_FAMILIES))


def _xla(code: str) -> XlaCode | None:
    number = xla_aliases().get(code.removeprefix("xla:"))
    return xla_codes()[number] if number else None


@packs.cached
def _brought() -> Mapping[str, Mapping[str, Entry]]:
    """The codes of each family that packs bring; of others nothing is kept, whatever a text calls a family."""
    return {
        name: _by_code(
            [Entry(f"{name}:{r.name}", r.name, r.number, r.string, found.url_of(r), also=r.also) for r in found.entries]
        )
        for name, found in families().items()
    }


def entry(code: str) -> Entry | None:
    """The catalogue's entry for a code of any family but XLA, None if there is none."""
    family, _, name = code.partition(":")
    entries = _FAMILIES[family]() if family in _FAMILIES else _brought().get(family, {})
    return entries.get(code) or next((row for row in entries.values() if name in row.also), None)


def is_closed(family: str) -> bool:
    """Whether a catalogue lists all codes of a family; of others the lines of packs print what they like."""
    found = families().get(family)
    return family in own_families() or (found is not None and not found.is_open)


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
    found = entry(code)
    if found and code.startswith("cuda:CUDA_ERROR_"):
        return _CUDA_DRIVER_URL
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
    own = [read() for read in {id(read): read for read in _FAMILIES.values()}.values()]
    for found in (*own, *_brought().values()):
        for row in found.values():
            rows[row.code] = Listed(
                code=row.code,
                family=row.code.partition(":")[0],
                name=row.name,
                number=row.number,
                string=row.string,
                status=None,
                url=row.url,
                is_documented=row.url is not None,
                aliases=tuple(f"{row.code.partition(':')[0]}:{name}" for name in sorted(row.also)),
            )
    return [rows[code] for code in sorted(rows)]


def explains(code: str) -> str | None:
    """The official string that the program itself prints for a code, None where it prints none."""
    found = entry(code)
    return found.string if found else None
