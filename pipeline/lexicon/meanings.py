"""What codes and well-known messages mean, as the documentation of their projects says: rows of packs.

A row names the error as errmine reads it (its code, the kind of a known error, its type, its words) and says what the
program reports by it, wherever it is printed. No thread has a say in it, and it counts as nobody's statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from pipeline import packs
from pipeline.lexicon import advice, catalogues, gates
from pipeline.records.entry import MOST_CHECKS, Address, Chinese, Documentation, FirstCheck, Sentences

Name = Annotated[str, Field(min_length=2, max_length=200)]
Words = Annotated[str, Field(min_length=3, max_length=400)]
_HOLE = "{}"
#: Beginning of a message in which the words of a row are looked for.
_READ = 600
#: So many of its first letters say which rows of words alone may explain it: of 390 rows they leave 60.
_FIRST = 6


class Check(BaseModel):
    """What to look at first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    en: Sentences
    zh: Chinese


class Meaning(packs.Row):
    """What an error means wherever it is printed; all that a row names holds. Codes alone need no examples."""

    examples: tuple[packs.Text, ...] = Field(default=(), description="Errors that the row explains.")
    lookalikes: tuple[packs.Text, ...] = Field(default=(), description="Errors that it does not explain.")
    codes: tuple[Name, ...] = Field(default=(), description="Codes with their family, one of which it has: `exit:137`.")
    kinds: tuple[Name, ...] = Field(default=(), description="Kinds of known errors, one of which it is.")
    gate: dict[str, str] = Field(
        default={}, description="What else of a known error must be so: key -> value, {} for what varies."
    )
    types: tuple[Name, ...] = Field(default=(), description="Names of its class, whole, one of which it has.")
    says: tuple[Words, ...] = Field(
        default=(), description="How its message begins, as `errmine list` shows it, {} for what varies."
    )
    en: Sentences = Field(description="What the program reports by it and when, in one or two sentences of your own.")
    zh: Chinese = Field(description="The same in Simplified Chinese, by who writes it.")
    check: Annotated[tuple[Check, ...], Field(max_length=MOST_CHECKS)] = Field(
        default=(), description="What the documentation says to look at first: `{ en = …, zh = … }`, at most two."
    )
    url: Address = Field(description="The page of the project's documentation.")

    @model_validator(mode="after")
    def _is_whole(self, info: ValidationInfo) -> Meaning:
        if not (self.codes or self.kinds or self.types or self.says):
            raise ValueError("no evidence: say by what the error is known (codes, kinds, types, says)")
        if not (self.is_of_codes or (self.examples and self.lookalikes)):
            raise ValueError("examples and lookalikes: one of each at least, where not the codes alone say which it is")
        if not packs.is_shipped(info) and (problem := self.problem()):
            raise ValueError(problem)
        return self

    def problem(self) -> str:
        """What is wrong with its sentences, "" where nothing is; those of packs that ship are left to a test."""
        for english, chinese in ((self.en, self.zh), *((one.en, one.zh) for one in self.check)):
            said = gates.check(english, chinese, gates=gates.REVIEWED)
            if failed := sorted(name for name, passed in said.items() if not passed):
                return f"zh: not the Chinese of the English: {', '.join(failed)}: {chinese[:60]}"
            if found := advice.refusal(english) or advice.refusal(chinese):
                return f"en: not passed on as advice: {found.detail or 'it addresses language models'}"
        return ""

    @property
    def is_of_codes(self) -> bool:
        """Whether the codes alone say which error it is."""
        return bool(self.codes) and not (self.kinds or self.gate or self.types or self.says)

    def told(self) -> Documentation:
        """What an entry says of it."""
        checks = [FirstCheck(text=one.en, text_zh=one.zh) for one in self.check]
        row = f"{self.place.pack}/{self.name}"
        return Documentation(text=self.en, text_zh=self.zh, checks=checks, url=self.url, row=row)


@dataclass(frozen=True, slots=True)
class Named:
    """An error, as rows name it."""

    exception_type: str
    gate: Mapping[str, str]
    codes: Sequence[str]  # that each of its events prints
    text: str  # its message, with what varies as slots


MEANINGS = packs.Table("meanings", Meaning)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows by what is looked for first."""

    by_code: Mapping[str, list[Meaning]]
    by_kind: Mapping[str, list[Meaning]]
    by_type: Mapping[str, list[Meaning]]
    by_words: Mapping[str, list[Meaning]]  # the rest, by the first letters of what they say


@packs.cached
def _rows() -> _Rows:
    by_code, by_kind, by_type, by_words = (defaultdict[str, list[Meaning]](list) for _ in range(4))
    for row in MEANINGS.rows():
        if row.kinds:
            _put(by_kind, row.kinds, row)
        elif row.codes:
            _put(by_code, row.codes, row)
        elif row.types:
            _put(by_type, row.types, row)
        else:
            _put(by_words, {words.partition(_HOLE)[0][:_FIRST] for words in row.says}, row)
    return _Rows(by_code, by_kind, by_type, by_words)


def _put(where: dict[str, list[Meaning]], names: Iterable[str], row: Meaning) -> None:
    for name in names:
        where[name].append(row)


def documentation(named: Named) -> Documentation | None:
    """What documentation says of an error, None where no row explains it, or two do that are as near."""
    found = _explaining(named)
    return found[0].told() if len(found) == 1 else None


def _explaining(named: Named) -> list[Meaning]:
    """The rows that say most of the error, of the pack that is asked first; several where its codes are several."""
    message = _message(named)
    found = {id(row): row for row in _tried(named, message) if _holds(row, named, message)}
    best = max(map(_weight, found.values()), default=None)
    rows = [row for row in found.values() if _weight(row) == best]
    of = {row.place.pack for row in rows}
    first = next((one.name for one in packs.active().packs if one.name in of), "")
    return [row for row in rows if row.place.pack == first]


def _tried(named: Named, message: str) -> Iterator[Meaning]:
    rows = _rows()
    yield from rows.by_kind.get(named.gate.get("kind", ""), ())
    for code in _codes(named):
        yield from rows.by_code.get(code, ())
    yield from rows.by_type.get(named.exception_type, ())
    for many in range(_FIRST + 1):
        yield from rows.by_words.get(message[:many], ()) if len(message) >= many else ()


def _codes(named: Named) -> Sequence[str]:
    """Its own code, where it has one; what else it prints is beside the point then."""
    own = named.gate.get("code")
    return (own,) if own else named.codes


def _holds(row: Meaning, named: Named, message: str) -> bool:
    return (
        (not row.codes or any(code in row.codes for code in _codes(named)))
        and (not row.kinds or named.gate.get("kind") in row.kinds)
        and all(_is(named.gate.get(key, ""), value) for key, value in row.gate.items())
        and (not row.types or named.exception_type in row.types)
        and (not row.says or any(_begins(message, words) for words in row.says))
    )


def _message(named: Named) -> str:
    """The beginning of its message, without the type that some programs print before it once more."""
    text = named.text[:_READ]
    kind, colon, rest = text.partition(": ")
    return rest if colon and kind and named.exception_type.endswith(kind) else text


def _is(value: str, words: str) -> bool:
    return _begins(value, words) if _HOLE in words else value == words


def _weight(row: Meaning) -> tuple[bool, int, int, bool, bool, bool]:
    """How closely a row says which error it is: by its words, by what else is known, by its kind, code, type."""
    whole = sum(_HOLE not in value for value in row.gate.values())
    return bool(row.says), len(row.gate), whole, bool(row.kinds), bool(row.codes), bool(row.types)


def _begins(text: str, words: str) -> bool:
    """Whether `text` begins with `words`, whatever stands in its holes; the last word ends where theirs does."""
    first, *rest = words.split(_HOLE)
    if not text.startswith(first):
        return False
    at = len(first)
    for part in rest:
        found = text.find(part, at + 1) if part else at + 1
        if found < 0:
            return False
        at = found + len(part)
    return words.endswith(_HOLE) or not (text[at - 1 : at].isalnum() and text[at : at + 1].isalnum())


@MEANINGS.tested
def _explained(words: str) -> list[Meaning]:
    """The rows that explain the error of "type | message | key=value"."""
    kind, text, *rest = [part.strip() for part in f"{words} | ".split(" | ")]
    gate = dict(part.split("=", 1) for part in rest if "=" in part)
    return _explaining(Named(kind, gate, (gate["code"],) if "code" in gate else (), text))


@MEANINGS.whole
def known() -> None:
    """Nothing; every code of every row stands in the catalogue of its family, where that has one.

    Raises:
        PackError: one does not.
    """
    for row in MEANINGS.rows():
        for code in row.codes:
            if catalogues.entry(code) is None and catalogues.is_closed(code.partition(":")[0]):
                advice = "Write it as the table `catalogue` shows it, family:NAME, or add it to a catalogue."
                raise packs.PackError.of(row.place.path, row.place.line, f"{code!r} is no code of a catalogue", advice)
