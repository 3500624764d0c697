"""What varies inside one error's wording, replaced by typed slots in one pass.

One alternation of the rows of masks.toml finds every slot; their order is the priority at one position. The
placeholders hold no digit, quote, slash or dot, so masking a template again changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pipeline.normalise.tables import mask_parts, masks, wording
from pipeline.records import Slot, warm

#: How a row's forms begin. A plain word fails at its first letter: most positions cost one look ahead.
_BEGINS = {
    "word": r"(?<![A-Za-z0-9_>])(?=[A-Za-z_][A-Za-z_]{0,60}[\d/.:\[(<@+-])",
    "mark": r"(?=[^A-Za-z\s])",
}


@cache
def _masks() -> re.Pattern[str]:
    """All rows as one expression, a group for each."""
    return warm.pattern(
        "|".join(
            f"{begins}(?:{'|'.join(f'(?P<{row.group}>{row.pattern})' for row in masks().values() if row.at == at)})"
            for at, begins in _BEGINS.items()
        )
    )


def rows_in(line: str) -> list[str]:
    """The names of the rows that take something of the line, in order."""
    return [masks()[str(found.lastgroup)].name for found in _masks().finditer(line)]


#: Most templates have none left: they are not read again.
_DIGITS = warm.pattern(r"\d\d")


def told_apart(template: str, within: int) -> Iterator[tuple[str, str]]:
    """The gates that a template's codes and statuses are, of those that begin `within` so many letters.

    ("status", "404"), ("errno", "E1042"), in the order in which they stand there.
    """
    if not _DIGITS.search(template, 0, within):
        return
    for found in _masks().finditer(template):
        key = masks()[str(found.lastgroup)].gate
        if key is not None and found.start() < within:
            yield key, found[0].strip("[]")


#: A quoted operator or function ('tt.dot', `aten::add`) says which error it is; anything else in quotes varies.
_NAME = warm.pattern(r"[a-z_]\w{0,40}(?:(?:\.|::)[A-Za-z_]\w{0,40}){1,4}(?:\(\))?\Z")
#: How the names of files end that people choose.
FILES = (
    *(
        ".py",
        ".txt",
        ".json",
        ".yaml",
        ".yml",
        ".toml",
        ".csv",
        ".bin",
        ".pt",
        ".pth",
        ".ckpt",
        ".safetensors",
        ".onnx",
        ".gguf",
    ),
    *(
        ".log",
        ".md",
        ".cpp",
        ".cu",
        ".cc",
        ".cfg",
        ".ini",
        ".xml",
        ".zip",
        ".npy",
        ".npz",
        ".pkl",
        ".parquet",
        ".ipynb",
        ".whl",
        ".sh",
    ),
)
#: A class of a package is a value, an operator of a dialect ('tf.Conv2D') is none.
_CLASS = warm.pattern(r"(?!(?:tf|tfl|mhlo|stablehlo|torch|prim|aten)\.)[\w.]{1,120}\.[A-Z]\w{0,20}[a-z]\w{0,40}\Z")
_PARAMETERS = (".weight", ".bias", ".scale", ".scales", ".qweight")  # tensors of a model, not operators
_SLOT_INSIDE = warm.pattern(r"<[a-z]{1,8}>")

#: Marks of Python 2's and of bytes' literals before a quote.
_LITERAL = warm.pattern(r"(?<![\w'\"])[ub](?='[^'\n]{1,200}')")
_HEX = warm.pattern(r"0x[0-9a-fA-F]{1,16}")
_MEASURED = frozenset({"n", "size", "hex"})


@cache
def _size() -> re.Pattern[str]:
    return warm.pattern(rf"({mask_parts()['number']}) ?(.*)", re.DOTALL)


def measure(value: str) -> tuple[float | None, str | None]:
    """The number and unit of a printed value: ("1.70 GiB") -> (1825361100.8, "byte")."""
    value = value.strip()
    if value.startswith("0x"):
        return (float(int(value, 16)), None) if _HEX.fullmatch(value) else (None, None)
    found = _size().match(value)
    if found is None:
        return None, None
    digits = found[1].replace(",", "").replace("_", "")
    unit, factor = wording().units.get(found[2].strip().lower(), (None, 1.0))
    return float(digits) * factor, unit


def slot(name: str, value: str, unit: str | None = None) -> Slot:
    """A slot with the number and unit that its printed value holds; `unit` counts where it prints none."""
    number, printed = measure(value)
    return Slot(name=name, value=value, number=number, unit=printed or (unit if number is not None else None))


def masked(line: str, kept: frozenset[str] = frozenset()) -> tuple[str, tuple[Slot, ...]]:
    """The line as a template, and the slots that were taken out of it, in order; words in `kept` stay."""
    slots: list[Slot] = []
    if "u'" in line or "b'" in line:
        line = _LITERAL.sub("", line)
    spans = [(at, at + len(word)) for word in sorted(kept) if len(word) > 2 and (at := line.find(word)) >= 0]

    def replace(found: re.Match[str]) -> str:
        kind = masks()[str(found.lastgroup)].slot
        value = found[0]
        if kind == "keep" or value in kept or any(_covers(span, found) for span in spans):
            return value
        if kind == "quoted":
            return _quoted(value, slots)
        name = _label(line, found.start()) if kind in ("n", "size") else kind
        slots.append(slot(name, value) if kind in _MEASURED else Slot(name, value, None, None))
        return f"<{kind}>"

    return " ".join(_masks().sub(replace, line).split()), tuple(slots)


_VALUE = warm.pattern(r"(?<![\w%])%[A-Za-z_][\w.-]{0,100}")


def template(text: str) -> str:
    """`text`, each line with what varies as <slots>; the values of a compiler's program (%dot.1) as well."""
    return "\n".join(masked(_VALUE.sub("<name>", line))[0] for line in text.split("\n"))


_SHOWN = warm.pattern(
    r"'[^'\n]{0,400}'|\"[^\"\n]{0,400}\"|`[^`'\n]{0,400}['`]|‘[^’\n]{0,400}’|“[^”\n]{0,400}”"
    r"|[-+]?\b0x[0-9a-fA-F]{1,16}\b|[-+]?\b\d{1,20}(?:\.\d{1,6})?\b"
)
_AFTER = warm.pattern(r"[.;!](?=\s|\Z|`|\*)|\\n|\s{2,}|,? in function '|\s\((?=[a-z][a-z_ ]{2,60}\)\s*\Z)|\s\[-W")


_UNCLOSED = warm.pattern(r"['\"`‘“](?=[\w:*&(])[^'\"`’”]{0,400}\Z")
_ALIAS = warm.pattern(r"\s?[({]aka _[)}]|\*\*")
_ALIKE = warm.pattern(r"_(?:(?:, | or |, or | and )_)+(?!\w)")


def printed(words: str) -> str:
    """The first sentence of a tool's message without what it shows: quoted names and numbers."""
    if words.count("`") % 2:
        words = words[: words.index("`")]  # the message itself stood in quotes
    shown = _ALIAS.sub("", _UNCLOSED.sub("_", _SHOWN.sub("_", words)))
    return " ".join(_ALIKE.sub("_", _AFTER.split(shown, maxsplit=1)[0].strip(" `*,:\"'")).split())


def _covers(span: tuple[int, int], found: re.Match[str]) -> bool:
    """Whether the match lies inside kept words, or is kept words with little around them (quotes, a suffix)."""
    start, end = span
    inside = start <= found.start() and found.end() <= end
    return inside or (
        found.start() <= start and end <= found.end() and 2 * (end - start) >= found.end() - found.start() - 2
    )


def _quoted(value: str, slots: list[Slot]) -> str:
    inner = value[1:-1] if value[-1] in "'\"`’" else value[1:]
    inner = inner[1:-1] if inner[:1] == '"' == inner[-1:] else inner
    is_name = _NAME.match(inner) and not inner.endswith((*_PARAMETERS, *FILES)) and not _CLASS.match(inner)
    if is_name or _SLOT_INSIDE.fullmatch(inner) or not inner.strip():
        return f"'{inner}'"
    slots.append(Slot("quoted", inner, None, None))
    return "'<quoted>'"


def _label(line: str, start: int) -> str:
    """The word before a number, which says what it counts: "Required: 12" gives "required"; "which is 12" gives "n"."""
    word = line[max(0, start - 34) : start].rstrip(" \t:=([{'\"#").rpartition(" ")[2]
    word = word.rpartition("(")[2].rpartition("=")[2].strip("()[]{},.;:'\"`*")
    return word.lower() if word.isidentifier() and word.lower() not in wording().unnaming else "n"
