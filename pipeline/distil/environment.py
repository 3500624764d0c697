"""Where an error was seen: GPU, driver, CUDA, OS, Python, packages; from blocks, lists and paths, not sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pipeline.distil import actions, tables
from pipeline.records import ClaimKind, Document, Fact, PostKind

#: Environment blocks stand in the first post nearly always; a log of megabytes behind it is not searched.
_MOST = 60_000
_MAX_VALUE = 60
_SITE = re.compile(r"[/\\](?:lib|Lib)[/\\]python(\d\.\d{1,2})[/\\](?:site|dist)-packages")
_SMI = re.compile(r"Driver Version: (\d{3}\.\d{2,3}(?:\.\d{2})?)\s{1,12}CUDA Version: (\d{1,2}\.\d)")
_HOME = re.compile(r"/usr/local/cuda-(\d{1,2}\.\d)\b")
_PIN = re.compile(
    r"^(?:\[(?:pip3?|conda)\] )?([A-Za-z][\w.-]{1,40})(?:==|[ \t]{1,40})v?(\d{1,4}\.\d[\w.+]{0,24})(?=[\s,]|$)"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One fact about the environment with the place that says it."""

    rule: str
    name: str
    value: str
    start: int
    end: int


@cache
def _line() -> re.Pattern[str]:
    start = tables.trie(tables.table("environment.toml")["start"])
    return re.compile(rf"\n[ \t>*#|+`_-]{{0,8}}({start}[^\n]{{0,200}})(?=\n|\Z)", re.IGNORECASE)


_ENTRY = re.compile(r"^\[?([^\n:=|\]]{1,70}?)\]?[*_`]{0,3}\s{0,6}(?:==?>?|:|=>|\|)[*_`]{0,3}\s{0,6}(\S.{0,120})$")


@cache
def _rows() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (
            row["name"],
            re.compile(row["key"], re.IGNORECASE),
            tables.gpu_pattern() if row["value"] == "gpu" else re.compile(row["value"]),
        )
        for row in tables.table("environment.toml")["row"]
    )


@cache
def machine_names() -> frozenset[str]:
    """Names that describe the machine; other products' versions are versions of the entry."""
    return frozenset(tables.table("environment.toml")["environment"]["names"])


def seen(document: Document) -> list[Seen]:
    """The first value of each name that the document gives, in the order of the text; at most one value a name."""
    text = document.text
    least = document.posts[0].end if document.posts and document.posts[0].kind == PostKind.TITLE else 0
    most = min(len(text), least + _MOST)
    found: dict[str, Seen] = {}
    for item in sorted([*_listed(text, least, most), *_elsewhere(text, most)], key=lambda s: (s.start, s.name)):
        # what a block says outranks what a path shows
        if item.name not in found or (found[item.name].rule == "environment.path" and item.rule != "environment.path"):
            found[item.name] = item
    return sorted(found.values(), key=lambda s: (s.start, s.name))


def _listed(text: str, least: int, most: int) -> Iterator[Seen]:
    # the literal line break in front lets the search leap; a text that begins with such a line gets one
    text, shift = (text, 0) if least else ("\n" + text, 1)
    for line in _line().finditer(text, max(0, least - shift), most):
        start, content = line.start(1) - shift, line.group(1).rstrip()
        entry = _ENTRY.match(content)
        read = _entry(entry) if entry else None
        if read is not None:
            yield Seen("environment.line", *read, start, start + len(content))
            continue
        pin = _PIN.match(content)
        name = tables.products().get(pin.group(1).lower()) if pin else None
        if pin and name:
            yield Seen("environment.package", name, pin.group(2), start, start + pin.end())


def _entry(entry: re.Match[str]) -> tuple[str, str] | None:
    key = entry.group(1).strip(" \t*_`-#>").lower()
    stated = actions.without_describe(entry.group(2))
    for name, keys, values in _rows():
        matched = keys.fullmatch(key)
        if matched is None:
            continue
        named = tables.products().get(matched["product"].strip()) if name == "$product" else name
        if named in machine_names() and stated != entry.group(2):
            continue  # a project describes its own commits: the line was filled in under the wrong heading
        value = values.search(stated) if named else None
        if named and value:
            return named, (value.group(1) if value.groups() else value.group()).strip()[:_MAX_VALUE]
    return None


def _elsewhere(text: str, most: int) -> Iterator[Seen]:
    if "-packages" in text and (site := _SITE.search(text, 0, most)):
        yield Seen("environment.path", "Python", site.group(1), *site.span())
    if "CUDA Version: " in text and (smi := _SMI.search(text, 0, most)):
        yield Seen("environment.line", "NVIDIA driver", smi.group(1), *smi.span())
        yield Seen("environment.line", "CUDA", smi.group(2), *smi.span())
    if "/usr/local/cuda-" in text and (home := _HOME.search(text, 0, most)):
        yield Seen("environment.path", "CUDA", home.group(1), *home.span())


def facts(item: Seen) -> Iterator[tuple[ClaimKind, Fact]]:
    """(kind of claim, fact) for one finding: the machine's part, the product's part, or both (CUDA)."""
    if item.name in machine_names():
        yield ClaimKind.ENVIRONMENT, Fact("environment.seen", (("name", item.name), ("value", item.value)))
    if item.name not in {"GPU", "OS", "NVIDIA driver"}:
        yield ClaimKind.VERSION, Fact("version.affected", (("product", item.name), ("version", item.value)))
