"""The rules of this stage as data, read once from `pipeline/data/normalise`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Generic, NamedTuple, TypeVar

from pipeline import packs
from pipeline.normalise import added as added_rows
from pipeline.records import warm
from pipeline.text.needed import Signs
from pipeline.text.prefixes import filled

T = TypeVar("T")
_WORD = warm.pattern(r"[a-z]+")

#: Files of families, in the order in which their rows are tried inside one tier.
FAMILY_FILES = (
    *("families_tool", "families_frameworks", "messages", "messages_compilers"),
    *("families_python", "families_languages", "families_missing"),
)

#: Tiers in the order in which they are tried; official codes stand between "early" and "root".
#: "head" rows look at a message's first line only, "late" and "wrapper" rows give way to everything before them.
TIERS = ("tool", "early", "root", "head", "late", "wrapper")


@dataclass(frozen=True, slots=True)
class Family:
    """One way in which one known error is worded. Rows with the same `family_id` are the same kind of error."""

    family_id: str
    tier: str
    needs: tuple[str, ...]  # lower-case; one of them must occur before the pattern is tried
    expression: str
    gate: tuple[tuple[str, str], ...]  # key, "{group}" template
    unit: str | Mapping[str, str] | None  # of `required` and `limit` where no unit is printed; by resource if a mapping
    kept: tuple[str, ...]  # further groups whose words the template keeps
    is_complete: bool
    is_typed: bool  # the words are nothing without the exception type, so the template keeps it
    examples: tuple[str, ...]
    counters: tuple[str, ...]

    @property
    def pattern(self) -> re.Pattern[str]:
        """The expression, compiled when a text first needs it: most runs meet few of the known errors."""
        return _compiled(self.expression)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Words that stand around another error's message."""

    wrapper_id: str
    need: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Mask:
    """One form of what varies inside an error's wording."""

    name: str
    slot: str  # what stands for it; "keep" if it stays
    at: str  # "word", "mark"
    pattern: str
    example: tuple[str, str]  # a line, its template
    counter: str  # a look-alike, of which nothing is taken
    gate: str | None = None  # key of the gate that what is kept becomes

    @property
    def group(self) -> str:
        """The row's name as the name of a group."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, slots=True)
class RuntimeMessage:
    """Words that any program of a language prints: which error it is, its place says."""

    by: str  # what that is: "function", "test", "package", "file", "project"
    kinds: frozenset[str]  # families of which it is one; empty where a whole template is
    pattern: re.Pattern[str]  # of the template, or of the family's gates
    checks: frozenset[str]  # packages that check values for whoever hands them: the place is that of who does
    names_type: bool  # the type of the value that they quote says which error it is
    names_file: bool  # without a place the name of the file that they quote says which error it is
    codes: frozenset[str]  # official codes of which it is one

    def says(self, template: str, gate: Mapping[str, str]) -> bool:
        """Whether the words of a template, or its gates where it is a known error, are these."""
        kind = gate.get("kind")
        if self.codes:
            return gate.get("code", "") in self.codes
        if kind is None or not self.kinds:
            return kind is None and not self.kinds and bool(template) and self.pattern.match(template) is not None
        named = " ".join(value for key, value in gate.items() if key != "kind")
        return kind in self.kinds and self.pattern.match(named) is not None


@dataclass(frozen=True, slots=True)
class Wording:
    """Everything in wording.toml."""

    alias: Mapping[str, Mapping[str, str]]  # gate key -> lower-cased value -> canonical value
    generic_types: frozenset[str]
    wrapper_types: frozenset[str]
    carrier_types: frozenset[str]  # in which another layer passes an error on
    wrappers: tuple[Wrapper, ...]
    empty: tuple[re.Pattern[str], ...]  # templates that say that something failed and not what
    empty_alone: tuple[re.Pattern[str], ...]  # likewise, where neither gate nor type says it
    empty_kinds: frozenset[str]
    placeless: frozenset[str]  # types that are raised wherever the program happens to be
    placed: tuple[re.Pattern[str], ...]  # what a language says of any such mistake, wherever it is made
    compared: tuple[re.Pattern[str], ...]  # those of them that are so in every language
    messages: tuple[RuntimeMessage, ...]  # what any program of a language prints of its own values
    runtime: tuple[re.Pattern[str], ...]  # functions of a run time, as `file:function`
    placed_kinds: frozenset[str]
    stops: tuple[str, ...]
    words: tuple[tuple[str, frozenset[str]], ...]
    official: Mapping[str, Mapping[str, str]]  # official code -> the gate of the family that knows it by its words
    unnaming: frozenset[str]  # words before a number that do not say what it counts
    units: Mapping[str, tuple[str | None, float]]  # printed unit -> unit, factor
    types: Mapping[str, str]  # exception type as printed -> canonical
    system: Mapping[str, str]  # what the system says in Chinese -> in English
    deaths: frozenset[str]  # families that say only how a process ended
    asserting: frozenset[str]  # codes that say only that a device asserted something


def _toml(name: str) -> dict[str, Any]:
    resource = files("pipeline") / "data" / "normalise" / f"{name}.toml"
    return warm.table(resource.read_text(encoding="utf-8"))


def _family(row: Mapping[str, Any], table: Mapping[str, Any]) -> Family:
    return Family(
        family_id=row["id"],
        tier=row.get("tier", table.get("tier", "root")),
        needs=tuple(need.lower() for need in row["need"]),
        expression=_expression(row),
        gate=tuple(row.get("gate", {}).items()),
        unit=row.get("unit", table.get("unit")),
        kept=tuple(row.get("keep", ())),
        is_complete=row.get("complete", False),
        is_typed=row.get("typed", False),
        examples=tuple(row["examples"]),
        counters=tuple(row.get("counter", ())),
    )


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return warm.pattern(expression)


@packs.cached
def families() -> Mapping[str, tuple[Family, ...]]:
    """The families by tier: those of packs, then each in the order of the files."""
    added = [family for row in added_rows.FAMILIES.rows() for family in families_of(row)]
    return {tier: (*(one for one in added if one.tier == tier), *own_families()[tier]) for tier in TIERS}


def families_of(row: added_rows.Known) -> list[Family]:
    """The families that a row of a pack makes: one for each of its wordings."""
    own = {"id": row.kind or row.name, "counter": row.lookalikes, "typed": row.typed, "complete": row.complete}
    made = [{**one, "examples": row.examples} for one in _rows(Said(row.tier, row.says, row.gate))]
    made += [one for error in messages_said(row) for one in _rows(error)]
    if row.pattern is not None:
        one = {"tier": row.tier, "need": row.need, "pattern": row.pattern, "gate": row.gate, "keep": row.keep}
        made = [{**one, "unit": row.unit, "examples": row.examples}]
    return [_family({**one, **own}, {}) for one in made]


def messages_said(row: added_rows.Known) -> Iterator[Said]:
    """What a row of a pack holds of every error of its program."""
    for entry in row.messages:
        one = entry if isinstance(entry, added_rows.Message) else added_rows.Message(says=entry)
        yield Said(one.tier or row.tier, (one.says,) if isinstance(one.says, str) else one.says, one.gate)


def _rows(error: Said) -> Iterator[dict[str, Any]]:
    for wording in error.wordings:
        yield _row(wording, error.tier, error.gate or _gate(wording, error.wordings[0]))


@cache
def own_families() -> Mapping[str, tuple[Family, ...]]:
    """The families of `pipeline/data/normalise` by tier, each in the order of the files."""
    rows: dict[str, list[Family]] = {tier: [] for tier in TIERS}
    for name in FAMILY_FILES:
        table = _toml(name)
        for row in sentence_rows(table) if name.startswith("messages") else table["family"]:
            family = _family(row, table)
            rows[family.tier].append(family)
    return {tier: tuple(found) for tier, found in rows.items()}


@packs.cached
def wording() -> Wording:
    """The words that mean the same, say nothing, wrap, or decide."""
    table = _toml("wording")
    return Wording(
        alias=table["alias"],
        generic_types=frozenset(table["types"]["generic"]),
        wrapper_types=frozenset(table["types"]["wrapper"]),
        carrier_types=frozenset(table["types"]["carrier"]),
        wrappers=tuple(Wrapper(row["id"], row["need"], warm.pattern(row["pattern"])) for row in table["wrap"]),
        empty=tuple(warm.pattern(row["pattern"]) for row in table["empty"] if not row.get("alone")),
        empty_alone=tuple(warm.pattern(row["pattern"]) for row in table["empty"] if row.get("alone")),
        empty_kinds=frozenset(kind for row in table["empty"] for kind in row.get("kinds", ())),
        placeless=frozenset(table["types"]["placeless"]),
        placed=tuple(_whole(row) for row in table["placed"]),
        compared=tuple(_whole(row) for row in table["placed"] if row.get("everywhere")),
        messages=tuple(
            RuntimeMessage(
                by=row["by"],
                kinds=frozenset(row.get("kinds", ())),
                pattern=_whole({"pattern": ".*", **row}),
                checks=frozenset(row.get("checks", ())),
                names_type=row.get("names_type", False),
                names_file=row.get("names_file", False),
                codes=frozenset(row.get("codes", ())),
            )
            for table in ("runtime_messages", "checked_values")
            for row in _toml(table)["message"]
        ),
        runtime=tuple(warm.pattern(row["pattern"]) for row in table["runtime"]),
        placed_kinds=frozenset(kind for row in table["placed"] for kind in row.get("kinds", ())),
        stops=tuple(table["boilerplate"]["stop"]),
        words=tuple((key, frozenset(words)) for key, words in table["words"].items()),
        official=table["official"],
        unnaming=frozenset(table["slots"]["unnaming"]),
        units={word: (unit, factor) for unit, row in table["units"].items() for word, factor in row.items()},
        types=_types(),
        system=table["system"],
        deaths=frozenset(table["outcomes"]["deaths"]),
        asserting=frozenset(table["outcomes"]["asserting"]),
    )


def messages_of(kind: str | None) -> Sequence[RuntimeMessage]:
    """The rows that may say the words of a family, or with None of what is no known error, in their order."""
    found = _messages_by_kind()
    return found.get(kind, found[""])


@packs.cached
def _messages_by_kind() -> Mapping[str | None, Sequence[RuntimeMessage]]:
    """By family what may say its words, by None what says a whole template, by "" what names a code alone."""
    rows = wording().messages
    kinds = {kind for row in rows for kind in row.kinds}
    found: dict[str | None, Sequence[RuntimeMessage]] = {
        kind: tuple(row for row in rows if row.codes or kind in row.kinds) for kind in kinds
    }
    found[None] = tuple(row for row in rows if row.codes or not row.kinds)
    found[""] = tuple(row for row in rows if row.codes)
    return found


def _whole(row: Mapping[str, Any]) -> re.Pattern[str]:
    return warm.pattern(rf"(?:{row['pattern']})\Z", re.IGNORECASE)


def _types() -> dict[str, str]:
    """What types are called now by each name of before: of packs the first that knows one."""
    added: dict[str, str] = {}
    for row in added_rows.EQUIVALENCES.rows():
        for old in row.was:
            added.setdefault(old, row.now)
    return {old: row["now"] for row in _toml("equivalences").get("type", ()) for old in row["was"]} | added


@cache
def mask_parts() -> Mapping[str, str]:
    """The named parts of masks: how a number is printed, a unit."""
    parts: dict[str, str] = _toml("masks")["parts"]
    return parts


@cache
def masks() -> Mapping[str, Mask]:
    """The masks by their groups, in the order in which they are tried."""
    rows = [
        Mask(
            name=row["name"],
            slot=row["slot"],
            at=row["at"],
            pattern=filled(row["pattern"], mask_parts()),
            example=tuple(row["example"]),
            counter=row["counter"],
            gate=row.get("gate"),
        )
        for row in _toml("masks")["mask"]
    ]
    return {row.group: row for row in rows}


class Needles(Generic[T]):
    """Literals that stand in a text with their longest whole word, all looked for in one pass.

    A literal's last word may go on in the text ("oom-kill event" in "events"), so it is not asked if there is another.
    """

    def __init__(self, literals: Iterable[tuple[str, T]]) -> None:
        self._rows: dict[str, list[tuple[int, str, T]]] = {}
        for order, (literal, owner) in enumerate(literals):
            whole = _WORD.findall(literal.lower())
            if literal[-1:].isalpha() and len(whole) > 1:
                whole.pop()
            word = max(whole, key=len, default="")
            self._rows.setdefault(literal.lower(), []).append((order, word, owner))
        self._signs = Signs(self._rows)

    def found(self, text: str, words: Set[str]) -> list[T]:
        """The owners whose literal occurs in the lower-cased text, in the order given; `words` are its `words_of`."""
        hits = {
            order: owner
            for literal in self._signs.present(text)
            for order, word, owner in self._rows[literal]
            if not word or word in words
        }
        return [hits[order] for order in sorted(hits)]


def words_of(lowered: str) -> frozenset[str]:
    """The distinct words of a lower-cased text, digits and punctuation left out."""
    return frozenset(_WORD.findall(lowered))


@dataclass(frozen=True, slots=True)
class Clues:
    """Which rules may act on a text: found once for an event, so that every later search tries few patterns."""

    families: Mapping[str, Sequence[Family]]  # by tier, each once, in their order
    wrappers: tuple[Wrapper, ...]
    stops: tuple[str, ...]


def clues(text: str) -> Clues:
    """The rules whose literals occur in the text; they may act on every part of it."""
    lowered = text.lower()
    if "\n" in lowered or "  " in lowered:
        lowered = " ".join(lowered.split())  # a sentence may be broken over lines or spaced
    words = words_of(lowered)
    rows: dict[str, list[Family]] = {tier: [] for tier in TIERS}
    for family in _family_needles().found(lowered, words):
        if not rows[family.tier] or rows[family.tier][-1] is not family:
            rows[family.tier].append(family)
    wrappers, stops = _wording_needles()
    return Clues(rows, tuple(wrappers.found(lowered, words)), tuple(stops.found(lowered, words)))


def _expression(row: Mapping[str, Any]) -> str:
    """The row's pattern; in any letter case where it only says that the error is this one: titles are typed by hand."""
    is_constant = row.get("complete", False) and not any("{" in template for template in row.get("gate", {}).values())
    ignores_case = is_constant and row.get("tier") not in ("tool", "head", "late")
    return f"(?i:{row['pattern']})" if ignores_case else row["pattern"]


@packs.cached
def _family_needles() -> Needles[Family]:
    return Needles((need, family) for tier in TIERS for family in families()[tier] for need in family.needs)


@packs.cached
def _wording_needles() -> tuple[Needles[Wrapper], Needles[str]]:
    table = wording()
    return Needles((row.need, row) for row in table.wrappers), Needles((stop, stop) for stop in table.stops)


# Rows of families made of sentences that programs print, as data: `cannot reassign constexpr {} in the loop`.
# A sentence stands in the source of a program with holes for values; written down so, it says which error it is,
# whatever the values are and whatever people wrote around it.

#: What a hole holds: something on one line, as short as what follows it allows.
HOLE = r"[^\n]{0,200}?"

#: What stands in a hole of an example.
SAMPLE = "x_1"

_HOLE = warm.pattern(r"\{(\w*)\}")
_QUOTES = "'\"`"
_QUOTE = warm.pattern(f"[{_QUOTES}]")
_ANY_QUOTE = "['\"`‘’“”]{0,2}"
_KEYS = frozenset({"op", "symbol", "library", "module", "resource", "space", "backend", "feature", "tool", "status"})


class Said(NamedTuple):
    """One error as a table of sentences gives it."""

    tier: str
    wordings: Sequence[str]  # the present one first
    gate: Mapping[str, str]  # empty where the sentence makes it


def sentence_rows(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row of a family for every sentence of the table; sentences in one list are wordings of one error."""
    for program in table["program"]:
        for error in errors_said(program):
            yield from ({"id": f"{program['id']}-message", **row} for row in _rows(error))


def errors_said(program: Mapping[str, Any]) -> Iterator[Said]:
    """What is written of every error of a program: a sentence, a list of its wordings, or a table with more."""
    for entry in program["messages"]:
        table: Mapping[str, Any] = entry if isinstance(entry, dict) else {"says": entry}
        said = table["says"]
        yield Said(
            tier=table.get("tier", program.get("tier", "root")),
            wordings=[said] if isinstance(said, str) else said,
            gate=table.get("gate", {}),
        )


def _gate(wording: str, first: str) -> dict[str, str]:
    gate = {name: f"{{{name}}}" for name in _HOLE.findall(wording) if name in _KEYS}
    gate["feature" if "feature" not in gate else "status"] = " ".join(_HOLE.sub("_", first).split())
    return gate


def _row(wording: str, tier: str, gate: Mapping[str, str]) -> dict[str, Any]:
    return {
        "tier": tier,
        "need": [_need(wording)],
        "pattern": sentence_pattern(wording),
        "gate": dict(gate),
        "complete": True,
        "examples": [_HOLE.sub(SAMPLE, wording)],
    }


def sentence_pattern(wording: str) -> str:
    """The expression that finds the sentence: values in its holes, any blanks and quotes, either case first."""
    first, *rest = _HOLE.split(wording)
    made = _literal(first, is_first=True)
    for name, words in zip(rest[::2], rest[1::2], strict=True):
        after = _literal(words, is_first=False)
        if name in _KEYS:
            made += f"(?P<{name}>[\\w.:<>+-]{{0,99}}[\\w>+]){after}"
        else:
            made += f"(?>{HOLE}{after})" if words else ""  # what was found is not given back: the cost is linear
    return made


def _literal(words: str, *, is_first: bool) -> str:
    made = _QUOTE.sub(_ANY_QUOTE, re.escape(words).replace("\\ ", r"\s{1,12}"))
    return f"\\b[{words[0].upper()}{words[0].lower()}]{made[1:]}" if is_first and words[:1].isalpha() else made


def _need(wording: str) -> str:
    """The longest run of words without a hole or a quote: what gates the expression."""
    pieces: Sequence[str] = re.split(rf"\{{\w*\}}|[{_QUOTES}]", wording)
    return max((piece.strip(" .,:;()[]") for piece in pieces), key=len).lower()
