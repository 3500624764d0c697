"""What varies inside one error's wording, replaced by typed slots in one pass.

One alternation finds every slot; the order of its branches is the priority at one position. The placeholders hold no
digit, quote, slash or dot, so masking a template again changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.normalise.tables import wording
from pipeline.records import Slot

_NUMBER = r"[-+]?\d{1,400}(?:[,_]\d{3}){0,8}(?:\.\d{1,400})?(?:[eE][-+]?\d{1,4})?"
_UNIT = (
    r"[KMGTkmgt]i?B(?:ytes)?\b|[Bb]ytes?\b|[KMGT]\b(?=\.?[\s,;)/\"']|\.?$)|B\b|ms\b|seconds?\b|secs?\b|milliseconds?\b"
    r"|us\b|s\b(?=[\s,.;)]|$)|%"
)
#: What can start where a word starts, if the word runs into a digit, a slash, a dot or the like.
_AT_WORD = (
    ("keep", r"(?:mat[12]|m[12])\b"),
    ("url", r"(?:https?|tcp|file|s3|gs|ftp)://[^\s'\"<>)\]]{1,400}"),
    ("uuid", r"[a-fA-F][0-9a-fA-F]{7}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"),
    ("hex", r"(?=[a-f]{1,40}\d)[0-9a-f]{8,64}\b"),
    ("object", r"Traced<[^\n]{1,80}?>with<[^\n]{1,60}?>|(?:Jit|Dynamic|Batch|JVP)Tracer[<(][^\n)>]{0,60}[)>]"),
    ("symbol", r"_Z[A-Za-z0-9_$.]{2,2000}"),
    ("arch", r"(?:sm|compute)_\d{2,3}[af]?\b|gfx[0-9a-f]{3,5}\b"),
    ("device", r"(?:cuda|xpu|mps|hip|cpu|hpu|npu):\d{1,3}\b"),
    (
        "path",
        (
            r"[A-Za-z]:\\{1,4}(?:[\w.@+~ -]{0,80}[\w.@+~-][/\\]{1,4}){0,24}[\w.@+~-]{1,160}(?::\d{1,7}){0,2}"
            r"|(?:[\w.@+-]{1,80}/){2,24}[\w.@+-]{1,160}(?::\d{1,7}){0,2}"
            # a repository or a scope and a name: one slash, and a sign of a name on either side
            r"|(?!(?:fp|bf|tf|f|int)\d{1,2}/)(?=[\w.@+/-]{0,80}?(?:\d|_|[a-z]-?[A-Z]))[A-Za-z][\w.@+-]{1,80}/[A-Za-z][\w.@+-]{1,160}(?![\w/(])"
            r"|[\w-]{1,80}\.(?:py|pyx|cc|cpp|cu|cuh|c|h|hpp|cxx|so|onnx|pt|pth|safetensors|json|yaml|toml"
            r"|ptx|cubin|mlir|ttir"
            r"|bin|gguf|dll)\b(?:\.\d{1,6}){0,4}(?::\d{1,7}){0,2}"
        ),
    ),
    (
        "shape",
        (
            r"(?:float|bfloat|int|uint|bool|complex|f|bf|s|u|i|pred|c|f8e\w{3,8})\d{0,3}\[[\d, ]{0,80}\]"
            r"|torch\.Size\(\[[\d, ]{0,80}\]\)"
        ),
    ),
    ("version", r"v\d{1,4}\.\d{1,4}\.\d{1,6}(?:[.+-]?\w{1,20}){0,4}"),
    (
        "dtype",
        (
            r"B[Ff]loat16\b|torch\.(?:cuda\.)?\w{3,12}Tensor\b|c10::\w{3,20}"
            r"|(?:(?:torch|tl|triton\.language|jnp|jax\.numpy|np|numpy|tf|ml_dtypes)\.)?(?:float|bfloat|int|uint|complex)"
            r"(?:1|4|8|16|32|64|128)(?:_e\dm\d\w{0,5}|_ref)?\b"
            r"|DT_[A-Z]{2,10}\d{0,3}(?:_REF)?\b|(?:fp|bf|tf)(?:8|16|32|64)\b|torch\.(?:half|bool|long|short|double|float|int|q?u?int\d{1,2})\b"
        ),
    ),
    (
        "name",  # of a parameter of a model: `encoder.layers.11.attn.weight`
        (
            r"[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,12}\.\d{1,4}(?:\.\w{1,60}){1,12}(?![\w.])"
            r"|[A-Za-z_]\w{0,60}(?:\.\w{1,60}){1,16}\.(?:weight|bias|qweight|qzeros|scales|g_idx|running_mean|running_var)\b"
        ),
    ),
)
#: What starts with a digit, a sign, a bracket, a quote or a slash.
_AT_MARK = (
    ("keep", r"(?<=power of )2\b|(?<!\w)[1-5][Dd]\b"),
    ("uuid", r"(?<!\w)\d[0-9a-fA-F]{7}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"),
    (
        "time",
        (
            r"(?<!\w)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
            r"|(?<!\w)\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\b"
        ),
    ),
    (
        "object",
        (
            r"<[A-Za-z_][\w.]{1,60}:?(?: '[^'\n]{0,120}')?[ ,:]{1,2}\w{1,20}=[^<>\n]{0,300}>"
            r"|<[\w.\[\] -]{1,120} (?:object )?at 0x[0-9a-fA-F]{1,16}>|<class '[\w.<>]{1,160}'>"
        ),
    ),
    ("node", r"\{\{(?:colocation_|function_)?node [^{}\n]{0,200}\}\}"),
    ("hex", r"(?<!\w)\d(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{7,63}\b|(?<!\w)0x[0-9a-fA-F]{1,32}\b"),
    ("device", r"/(?:job|device):[^\s,]{1,120}"),
    (
        "path",
        (
            r"(?<![\w<>])(?:~/|\.{1,2}/"
            r"|/)(?:[\w.@+~ -]{0,80}[\w.@+~-][/\\]{1,4}){0,24}[\w.@+~-]{1,160}(?::\d{1,7}){0,2}"
        ),
    ),
    (
        "shape",
        (
            r"\[\s?-?(?:\d{1,12}|None)(?:\s?[,x]\s?-?(?:\d{1,12}|None)){0,15},?\s?\]"
            r"|\(\s?-?(?:\d{1,12}|None|\?)(?:\s?[,x]\s?-?(?:\d{1,12}|None|\?)){1,15},?\s?\)|\((?:\d{1,12}|None|\?),\)"
            r"|(?<!\w)\d{1,9}(?:x\d{1,9}){1,6}(?:x[a-z]\w{0,6})?\b"
        ),
    ),
    ("size", rf"(?<![\w.]){_NUMBER} ?(?:{_UNIT})"),
    ("version", r"(?<!\w)\d{1,4}\.\d{1,4}\.\d{1,6}(?:[.+-]?\w{1,20}){0,4}"),
    (
        "quoted",
        (
            r"(?<![\w>])'(?:\[[^\]\n]{0,400}\]|[^'\n]{0,200})'(?!\w)|\"[^\"\n]{0,200}\"|`[^`\n]{1,200}`"
            r"|`[^`'\n]{1,200}'|‘[^’\n]{0,200}’|(?<=\s)`[\w.\[\]()-]{1,60}(?=\.?\Z)"
        ),
    ),
    ("n", rf"(?<![\w.]){_NUMBER}(?!\d)|(?<=[\s:;,=(\[{{#/-])\.\d{{1,20}}(?![\w<])|(?<=[A-Za-z_])\d{{1,20}}(?![\w<])"),
)


def _alternation(branches: Iterable[tuple[str, str]], suffix: str) -> str:
    return "|".join(f"(?P<{name}{suffix}>{pattern})" for name, pattern in branches)


#: A plain word fails at its first letter: most positions cost one look ahead.
_MASK = re.compile(
    rf"(?<![A-Za-z0-9_>])(?=[A-Za-z_][A-Za-z_]{{0,60}}[\d/.:\[(<@+-])(?:{_alternation(_AT_WORD, '_word')})"
    rf"|(?=[^A-Za-z\s])(?:{_alternation(_AT_MARK, '')})"
)

#: A quoted operator or function ('tt.dot', `aten::add`) says which error it is; anything else in quotes varies.
_NAME = re.compile(r"[a-z_]\w{0,40}(?:(?:\.|::)[A-Za-z_]\w{0,40}){1,4}(?:\(\))?\Z")
_FILES = (
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
_CLASS = re.compile(r"(?!(?:tf|tfl|mhlo|stablehlo|torch|prim|aten)\.)[\w.]{1,120}\.[A-Z]\w{0,20}[a-z]\w{0,40}\Z")
_PARAMETERS = (".weight", ".bias", ".scale", ".scales", ".qweight")  # tensors of a model, not operators
_SLOT_INSIDE = re.compile(r"<[a-z]{1,8}>")
_SIZE = re.compile(rf"({_NUMBER}) ?(.*)", re.DOTALL)

#: Marks of Python 2's and of bytes' literals before a quote.
_LITERAL = re.compile(r"(?<![\w'\"])[ub](?='[^'\n]{1,200}')")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,16}")
_MEASURED = frozenset({"n", "size", "hex"})


def measure(value: str) -> tuple[float | None, str | None]:
    """The number and unit of a printed value: ("1.70 GiB") -> (1825361100.8, "byte")."""
    value = value.strip()
    if value.startswith("0x"):
        return (float(int(value, 16)), None) if _HEX.fullmatch(value) else (None, None)
    found = _SIZE.match(value)
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
        kind = (found.lastgroup or "n").removesuffix("_word")
        value = found[0]
        if kind == "keep" or value in kept or any(_covers(span, found) for span in spans):
            return value
        if kind == "quoted":
            return _quoted(value, slots)
        name = _label(line, found.start()) if kind in ("n", "size") else kind
        slots.append(slot(name, value) if kind in _MEASURED else Slot(name, value, None, None))
        return f"<{kind}>"

    return " ".join(_MASK.sub(replace, line).split()), tuple(slots)


_VALUE = re.compile(r"(?<![\w%])%[A-Za-z_][\w.-]{0,100}")


def template(text: str) -> str:
    """`text`, each line with what varies as <slots>; the values of a compiler's program (%dot.1) as well."""
    return "\n".join(masked(_VALUE.sub("<name>", line))[0] for line in text.split("\n"))


_SHOWN = re.compile(
    r"'[^'\n]{0,400}'|\"[^\"\n]{0,400}\"|`[^`'\n]{0,400}['`]|‘[^’\n]{0,400}’|“[^”\n]{0,400}”"
    r"|[-+]?\b0x[0-9a-fA-F]{1,16}\b|[-+]?\b\d{1,20}(?:\.\d{1,6})?\b"
)
_AFTER = re.compile(r"[.;!](?=\s|\Z|`|\*)|\\n|\s{2,}|,? in function '|\s\((?=[a-z ]{3,60}\)\s*\Z)|\s\[-W")


_UNCLOSED = re.compile(r"['\"`‘“](?=[\w:*&(])[^'\"`’”]{0,400}\Z")
_ALIAS = re.compile(r"\s?[({]aka _[)}]|\*\*")
_ALIKE = re.compile(r"_(?:(?:, | or |, or | and )_)+(?!\w)")


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
    is_name = _NAME.match(inner) and not inner.endswith((*_PARAMETERS, *_FILES)) and not _CLASS.match(inner)
    if is_name or _SLOT_INSIDE.fullmatch(inner) or not inner.strip():
        return f"'{inner}'"
    slots.append(Slot("quoted", inner, None, None))
    return "'<quoted>'"


def _label(line: str, start: int) -> str:
    """The word before a number, which says what it counts: "Required: 12" gives "required"; "which is 12" gives "n"."""
    word = line[max(0, start - 34) : start].rstrip(" \t:=([{'\"#").rpartition(" ")[2]
    word = word.rpartition("(")[2].rpartition("=")[2].strip("()[]{},.;:'\"`*")
    return word.lower() if word.isidentifier() and word.lower() not in wording().unnaming else "n"
