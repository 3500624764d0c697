"""The rule tables of `pipeline/data/distil`, read once and compiled; clauses cut by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

from pipeline import packs
from pipeline.distil import added
from pipeline.lexicon.products import gpus
from pipeline.lexicon.products import products as named
from pipeline.records import Claim, Outcome, warm
from pipeline.text.needed import late

# What a quoted remedy says beside its act: when it applies, why it failed, on which operating system.
#
# Each is a piece of the quote, verbatim, or nothing: what a text does not say stays unknown.

_LEAST, _MOST = 10, 140


def condition(text: str, atoms: Iterable[str] = ()) -> str | None:
    """The clause of `text` that says when its act applies; `atoms` are the act's own words, which are no condition."""
    return _clause("condition", text, atoms)


def reason(text: str) -> str | None:
    """The clause of `text` that says why an act did not help."""
    return _clause("reason", text, ())


def _clause(name: str, text: str, atoms: Iterable[str]) -> str | None:
    found = clauses(name).search(text)
    if found is None:
        return None
    clause = found.strip(" ,;")
    is_act = any(atom.lower() in clause.lower() for atom in atoms if atom)
    return clause if _LEAST <= len(clause) <= _MOST and not is_act else None


def systems_of(text: str) -> list[str]:
    """The operating systems for which `text` says that it speaks of them alone."""
    return sorted(name for name, pattern in systems() if pattern.search(text))


def by_system(claims: Iterable[Claim]) -> dict[str, list[str]]:
    """Operating system -> the quoted causes, fixes and remedies that are said for it."""
    found: dict[str, set[str]] = {}
    for claim in claims:
        if claim.kind.is_statement and not claim.rule.startswith("hint."):
            for name in systems_of(claim.quote.text):
                found.setdefault(name, set()).add(claim.quote.text)
    return {name: sorted(quotes) for name, quotes in sorted(found.items())}


# The rule tables of `pipeline/data/distil`, read once and compiled.

Pattern = re.Pattern[str]


class CueKind(StrEnum):
    """What a sentence with a cue does: it states what a claim of that name says, or it is half of a pair of posts."""

    CAUSE = "cause"
    REMEDY = "remedy"
    FIX = "fix"
    VERSION = "version"
    LINK = "link"
    ASK = "ask"  # suggests an act
    REPLY = "reply"  # says how the act of another post ended


@dataclass(frozen=True, slots=True)
class Cue:
    """One rule about sentences: `stems` are the literals one of which must occur, `pattern` decides."""

    rule: str
    kind: CueKind
    outcome: Outcome | None
    lang: str
    stems: tuple[str, ...]
    pattern: Pattern
    then: Pattern | None  # looked for behind `pattern`
    refuse: Pattern | None
    needs: str  # "fact" | "object" | "words" | "version" | "text": what must be found beside the cue
    only: frozenset[str]  # templates that it may state; empty: any
    answers: bool  # only posts that answer may state it
    act: str  # where the act is described, with `then`: "before" it or "after" its start


@dataclass(frozen=True, slots=True)
class Hint:
    """One advice that a program prints with its error."""

    rule: str
    stem: str
    pattern: Pattern
    template: str
    slots: tuple[tuple[str, str], ...]
    is_guess: bool


#: A colon at the end, behind which marks of Markdown and of quotes may stand: what is meant stands below.
_OPEN = re.compile(r"[:：][\s*_)\"'`]{0,9}\Z")


def ends_open(words: str) -> bool:
    """Whether words announce what follows them, by their last mark alone."""
    return _OPEN.search(words) is not None


@cache
def table(name: str) -> dict[str, Any]:
    """The content of one data file of this stage."""
    return warm.table(resources.files("pipeline").joinpath("data", "distil", name).read_text("utf-8"))


def trie(words: Sequence[str]) -> str:
    """A pattern for any of `words`, longest first, as a tree: `re` tries one branch a letter instead of one a word."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _branches(tree)


def _branches(node: dict[str, Any]) -> str:
    found = [re.escape(letter) + _branches(node[letter]) for letter in sorted(node) if letter]
    if not found:
        return ""
    joined = found[0] if len(found) == 1 else "(?:" + "|".join(found) + ")"
    return f"(?:{joined})?" if "" in node else joined


def _compiled(pattern: str) -> Pattern:
    return late(pattern, re.IGNORECASE)


@packs.cached
def cues() -> tuple[Cue, ...]:
    """All sentence rules, in the order in which they are tried: those of packs first."""
    return (*map(_added_cue, added.CUES.rows()), *own_cues())


def _added_cue(row: added.Cue) -> Cue:
    return Cue(
        rule=f"{row.kind}.{row.place.pack}.{row.name}",
        kind=CueKind(row.kind),
        outcome=Outcome(row.outcome) if row.outcome else None,
        lang=row.lang,
        stems=row.stems,
        pattern=_compiled(row.pattern),
        then=None,
        refuse=_compiled(row.refuse) if row.refuse else None,
        needs=row.needs,
        only=frozenset(),
        answers=False,
        act="before",
    )


@cache
def own_cues() -> tuple[Cue, ...]:
    """The sentence rules of cues.toml."""
    return tuple(
        Cue(
            rule=row["id"],
            kind=CueKind(row["id"].split(".", 1)[0] if "kind" not in row else row["kind"]),
            outcome=Outcome(row["outcome"]) if "outcome" in row else None,
            lang=row.get("lang", "en"),
            stems=_spelled(row["stems"]),
            pattern=_compiled(_expand(row["pattern"])),
            then=_compiled(_expand(row["then"])) if "then" in row else None,
            refuse=_compiled(_expand(row["refuse"])) if "refuse" in row else None,
            needs=row.get("needs", "object"),
            only=frozenset(row.get("only", ())),
            answers=row.get("answers", False),
            act=row.get("act", "before"),
        )
        for row in table("cues.toml")["rule"]
    )


def _spelled(stems: Sequence[str]) -> tuple[str, ...]:
    """The stems, "<DO>" and "<DOING>" replaced by each of their verbs: longer literals wake fewer sentences."""
    found: list[str] = []
    for stem in stems:
        lead, mark, name = stem.partition("<")
        verbs = table_fragments()[name.rstrip(">")].split("|") if mark else [""]
        found += [lead + verb.partition("(")[0] for verb in verbs]
    return tuple(dict.fromkeys(found))


def _expand(pattern: str) -> str:
    """`pattern` with `<name>` replaced by the fragment of that name."""
    for name, fragment in table_fragments().items():
        pattern = pattern.replace(f"<{name}>", f"(?:{fragment})")
    return pattern


def expanded(pattern: str) -> Pattern:
    """`pattern` compiled, any case, with the fragments of cues.toml filled in."""
    return _compiled(_expand(pattern))


@cache
def table_fragments() -> dict[str, str]:
    """Pieces that several patterns share."""
    return dict(table("cues.toml")["fragments"])


@cache
def tells_an_act() -> Pattern:
    """How a sentence begins that tells what was done to what, and does not point at it ("running that")."""
    row = table("cues.toml")["own_act"]
    return expanded(row["pattern"])


@cache
def warns_of_advice() -> tuple[Pattern, Pattern]:
    """(how a post begins that warns of what the one before advises, words that point at something outside them)."""
    row = table("cues.toml")["warns"]
    return _compiled(row["pattern"]), _compiled(row["points"])


@cache
def refusals(lang: str) -> Pattern:
    """What makes a sentence no evidence at all: questions, guesses, plans, templates."""
    return _compiled("|".join(_expand(p) for p in table("cues.toml")["refuse"][lang]))


@dataclass(frozen=True, slots=True)
class Refutation:
    """How a later sentence takes an earlier statement back."""

    rule: str
    is_named: bool  # the sentence must name what it refutes
    is_own: bool  # only what the same post says before the sentence
    is_same: bool  # only what the same person says, where it is known who speaks
    of: frozenset[str]  # what it may refute: "cause", "remedy", "fix", "failed": that an act did not help
    pattern: Pattern
    refuse: Pattern


@cache
def refutations() -> tuple[Refutation, ...]:
    """The ways in which people say that something was not so, after all."""
    return tuple(
        Refutation(
            row["id"],
            row["names"],
            row.get("own", False),
            row.get("same", False),
            frozenset(row.get("of", ("cause", "remedy"))),
            _compiled(row["pattern"]),
            _compiled(row["refuse"]),
        )
        for row in table("cues.toml")["refutation"]
    )


@cache
def hedges(lang: str, what: str) -> Pattern:
    """What makes a sentence about a "fix" none: it does not say that the error is fixed. Of these rows, those that make
    a "cause" or what "worked" none: a guess.
    """
    rows = [row for row in table("cues.toml")["hedge"] if row["lang"] == lang]
    return _compiled("|".join(row["pattern"] for row in rows if what in ("fix", *row.get("also", ()))))


@cache
def expected() -> Pattern:
    """The politeness of who tells where a fix is: "should" before "be fixed by #12"."""
    return _compiled(table("cues.toml")["expected"]["pattern"])


@cache
def no_help() -> Pattern:
    """Words of a sentence that tells of an act without effect."""
    return _compiled("|".join(table("cues.toml")["no_help"]["patterns"]))


@cache
def if_it_stays() -> Pattern:
    """A condition that the error stays: it says of no act that it did not help."""
    return _compiled(table("cues.toml")["no_help"]["condition"])


@cache
def persists() -> Pattern:
    """Words of a sentence that says that the error came all the same, or came back."""
    rows = table("cues.toml")["no_help"]
    return _compiled(f"{rows['persists']}|{rows['relapses']}")


@cache
def own_case() -> Pattern:
    """How a sentence begins that says that its speaker met the same error."""
    return _compiled(table("cues.toml")["no_help"]["own_case"])


@cache
def relapses() -> Pattern:
    """Words of a sentence that says that the error came back."""
    return _compiled(table("cues.toml")["no_help"]["relapses"])


def has_helped(text: str) -> bool:
    """True for words that say of something that it helped, or that the error is gone."""
    pattern, refuse, after = _helped()
    return any(
        not refuse.search(text[max(0, found.start() - _BEFORE) : found.start()])
        and not after.search(text[found.end() :])
        for found in pattern.finditer(text)
    )


#: So far before words of success stands what takes them back.
_BEFORE = 40


@cache
def _helped() -> tuple[Pattern, ...]:
    rows = table("cues.toml")["helped"]
    return tuple(_compiled(rows[name]) for name in ("pattern", "refuse", "after"))


def has_no_effect(text: str) -> bool:
    """True for words that say of an act that it changed nothing."""
    return _no_effect().search(text) is not None


@cache
def _no_effect() -> Pattern:
    return _compiled(table("cues.toml")["helped"]["none"])


@cache
def contested() -> tuple[Pattern, Pattern]:
    """(words by which a post casts doubt on what the one before says, words of a sentence that only asks)."""
    table_ = table("cues.toml")["contested"]
    return _compiled(table_["pattern"]), _compiled(table_["refuse"])


@cache
def narrowed() -> tuple[Pattern, Pattern]:
    """(how who tells of a fix says that it is of one part alone, names of a part that mean the report itself)."""
    table_ = table("cues.toml")["narrowed"]
    return _compiled(table_["pattern"]), _compiled(table_["refuse"])


@cache
def moved_on() -> Pattern:
    """How a comment speaks of another thing than the error, before it tells what did not help against that."""
    return _compiled(table("cues.toml")["moved_on"]["pattern"])


@cache
def advises() -> tuple[Pattern, Pattern]:
    """(how a sentence begins that tells somebody what to do, words by which it asks for something else)."""
    table_ = table("cues.toml")["advises"]
    return _compiled(table_["pattern"]), _compiled(table_["refuse"])


@cache
def was_cause() -> Pattern:
    """How somebody says that what the post before tells was the reason."""
    return _compiled(table("cues.toml")["confirmed"]["cause"])


@cache
def no_cause() -> Pattern:
    """Sentences of an answer that say nothing of why: they greet, or tell what the writer does."""
    return _compiled(table("cues.toml")["confirmed"]["no_cause"])


@cache
def closed_by_revision() -> Pattern:
    """How a tracker says which revision (`sha`) closed a report."""
    return _compiled(table("cues.toml")["tracker"]["closed"])


@cache
def opened_again() -> Pattern:
    """How a tracker says that a report is no longer closed as fixed."""
    return _compiled(table("cues.toml")["tracker"]["opened"])


@cache
def is_dangling() -> Pattern:
    """How advice ends whose act stands behind it."""
    return _compiled(table("cues.toml")["advises"]["dangling"])


@cache
def confirmed() -> tuple[Pattern, Pattern, Pattern]:
    """(words that confirm all that the post before advises, words that confirm what they name of it, refused words)."""
    table_ = table("cues.toml")["confirmed"]
    return _compiled(table_["bare"]), _compiled(table_["named"]), _compiled(table_["refuse"])


@cache
def agrees() -> tuple[Pattern, Pattern]:
    """(how a post begins that agrees to the one before, words by which it does not)."""
    table_ = table("cues.toml")["agrees"]
    return _compiled(table_["pattern"]), _compiled(table_["refuse"])


@cache
def before_version() -> frozenset[str]:
    """Words that stand between "fixed" and a version and name no product."""
    return frozenset(table("cues.toml")["about"]["before_version"])


@cache
def has_fix() -> Pattern:
    """What words say beside a version that has the fix; without it the version is something else's."""
    return _compiled(table("cues.toml")["about"]["has_fix"])


@cache
def has_release() -> Pattern:
    """How words name a release without its number."""
    return _compiled(table("cues.toml")["about"]["has_release"])


@cache
def before_reference() -> frozenset[str]:
    """Words that stand right before `#5` without naming another repository."""
    return frozenset(table("cues.toml")["about"]["before_reference"])


@cache
def original() -> Pattern:
    """How a sentence says that it speaks of the report's error, not of one that came up later."""
    return _compiled(table("cues.toml")["about"]["original"])


@cache
def of_a_test() -> tuple[Pattern, Pattern]:
    """(how a title says that it reports a test that fails, classes of errors that a test itself raises)."""
    rows = table("standing.toml")["of_a_test"]
    return _compiled(rows["pattern"]), _compiled(rows["own"])


@cache
def _standing(name: str) -> Pattern:
    return _compiled(table("standing.toml")[name]["pattern"])


def no_cure() -> Pattern:
    """How a title asks for other words or a test, not for a cure of the error."""
    return _standing("no_cure")


def wants_words() -> Pattern:
    """How a report asks for better words about a mistake, not for its cure."""
    return _standing("wants_words")


def of_words() -> Pattern:
    """Labels and components of reports about words or tests."""
    return _standing("of_words")


def no_fix() -> Pattern:
    """How somebody says that a change does not cure what was reported."""
    return _standing("no_fix")


def similar() -> Pattern:
    """How somebody says that theirs is another error than the report's, if like it."""
    return _standing("similar")


def met() -> Pattern:
    """Errors that a program meets and does not make, each as its class, a colon and its message."""
    return _standing("met")


@cache
def refers_back() -> tuple[Pattern, Pattern, Pattern]:
    """(how a sentence says why of "this", words of a trouble that "this" may be, how one is known that only greets)."""
    rows = table("standing.toml")["refers_back"]
    return _compiled(rows["pattern"]), _compiled(rows["trouble"]), _compiled(rows["greeting"])


@cache
def goes_on() -> Pattern:
    """How a sentence begins that goes on with the cause before it."""
    return _compiled(table("standing.toml")["goes_on"]["pattern"])


@cache
def boilerplate() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(phrases that mark a whole post as a robot's or a stale notice, phrases that mark a line as a template's)."""
    rows = table("cues.toml")["boilerplate"]
    return tuple(rows["posts"]), tuple(rows["lines"])


@packs.cached
def hints() -> tuple[Hint, ...]:
    """What programs advise: from packs, then from hints.toml."""
    ships = {pack.name for pack in packs.active().packs if pack.is_shipped}  # such a name begins with its program
    found = [
        Hint(
            f"hint.{row.name}" if row.place.pack in ships else f"hint.{row.place.pack}.{row.name}",
            row.stem,
            late(row.pattern, re.MULTILINE),
            row.template,
            tuple(sorted(row.slots.items())),
            row.is_guess,
        )
        for row in added.HINTS.rows()
    ]
    return (*found, *own_hints())


@cache
def own_hints() -> tuple[Hint, ...]:
    """What programs advise, from hints.toml."""
    return tuple(
        Hint(
            row["id"],
            row["stem"],
            late(row["pattern"]),
            row["template"],
            tuple(sorted(row.get("slots", {}).items())),
            row.get("is_guess", False),
        )
        for row in table("hints.toml")["hint"]
    )


def products() -> Mapping[str, str]:
    """Spelling in lower case -> name of the product."""
    return named()


@cache
def gpu_pattern() -> Pattern:
    """Finds the model name of a GPU."""
    return re.compile(r"(?<![\w-])" + gpus() + r"(?![\w-])")


@cache
def quantities() -> tuple[tuple[Pattern, str], ...]:
    """(spelling, name) of the quantities that people speak of in words."""
    rows = table("actions.toml")["quantities"]
    return tuple((_compiled(pattern), name) for name, pattern in rows.items())


@dataclass(frozen=True, slots=True)
class Clause:
    """How a kind of clause is found; each branch of the pattern has a group that begins with `clause`."""

    branches: tuple[Pattern, ...]
    refuse: Pattern

    def search(self, text: str) -> str | None:
        """The first clause of `text`, None if there is none or it is refused."""
        found = next((hit for hit in (branch.search(text) for branch in self.branches) if hit), None)
        return found["clause"] if found and not self.refuse.search(found["clause"]) else None


@cache
def clauses(name: str) -> Clause:
    """The patterns of one kind of clause, from clauses.toml."""
    row = table("clauses.toml")[name]
    return Clause(tuple(map(_compiled, row["branches"])), _compiled(row["refuse"]))


@cache
def systems() -> tuple[tuple[str, Pattern], ...]:
    """(operating system, how a text says that it speaks of it)."""
    return tuple((name, _compiled(pattern)) for name, pattern in table("clauses.toml")["systems"].items())


@cache
def precision() -> dict[str, str]:
    """Rule id -> "right/all" on the labelled file."""
    return dict(table("rule_precision.toml")["precision"])
