"""The closed vocabularies and the kinds of facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pipeline import packs
from pipeline.lexicon import repositories
from pipeline.lexicon.added_classes import CATEGORIES, DOMAINS, Category, Domain
from pipeline.records import warm
from pipeline.text.needed import late

# The closed list of facts: what `distil` may state and `translate` puts into words, from `data/facts.toml`.

PATH = Path("pipeline/data/facts.toml")


@cache
def table() -> dict[str, Any]:
    """`facts` by template id (English, types of slots), the closed lists of `terms`, the `units` of resources."""
    return warm.table(resources.files("pipeline").joinpath("data/facts.toml").read_text("utf-8"))


@cache
def meanings_of_codes() -> Mapping[str, str]:
    """The fact that says what a code of a family means, by the family."""
    return MappingProxyType({row["codes"]: template for template, row in table()["facts"].items() if "codes" in row})


# The closed vocabularies: domains, categories and the like, with labels in two languages and the rules that choose.
#
# Everything that names a product or an error stands in packs, in `pipeline/data/vocabulary.toml` and `categories.toml`;
# this module only reads it. docs/classes.md tells people in which order evidence is asked.

#: Tables of vocabulary.toml that hold ids with labels.
VOCABULARIES = ("domains", "categories", "subcategories", "root_cause_types", "cause_types", "tiers")
#: Beginning of a message that the rules read.
_READ = 600
#: Share of an error's events that must agree on a package or a repository, of those that show one. Measured on the
#: corpus: 99 of 100 clusters of several events agree wholly or not at all.
_AGREED = 0.8
#: Share of an error's events that must show a package at all, for what they show to be the error's: of 250 events of
#: "Segmentation fault (core dumped)" in 90 repositories three showed one, MXNet's.
_SHOWN = 0.2
#: Dialects of lines that any program prints.
_ANYONES_FORMS = frozenset({"exception-line", "generic", "object", "log"})
#: What makes a repository of a row one that several may fit.
_PATTERN = frozenset("*?[")
#: A class of an exception that words name.
_NAMED = warm.pattern(r"\b[A-Za-z_][\w.]{0,120}(?:Error\b|Exception\b|\$[A-Z]\w{2,60})")


@dataclass(frozen=True, slots=True)
class Class:
    """Where an error belongs."""

    domain: str
    category: str
    subcategory: str | None
    domain_by: str = ""  # the evidence that decided, see `DOMAIN_EVIDENCE`
    category_by: str = ""  # the row of categories.toml that decided


@dataclass(frozen=True, slots=True)
class Clues:
    """What is known of an error before it is classified."""

    exception_type: str | None
    gate: Mapping[str, str]
    codes: tuple[str, ...]
    text: str
    packages: tuple[str, ...] = ()  # of each event the top-level package that raised it, "" where none is known
    repos: tuple[str, ...] = ()  # of each event the repository that it was reported to, "" where none is known
    page: str = ""  # the code of the official page that describes it
    dialects: tuple[str, ...] = ()  # of each event, how it was printed


@dataclass(frozen=True, slots=True)
class _Domain:
    """A row of [domains]: by what an error is known to belong to it."""

    name: str
    codes: tuple[str, ...]
    kinds: tuple[str, ...]
    gates: tuple[str, ...]
    types: re.Pattern[str] | None
    words: re.Pattern[str] | None
    weak_words: re.Pattern[str] | None
    packages: frozenset[str]
    repos: tuple[str, ...]
    language_kinds: tuple[str, ...]
    language_gates: tuple[str, ...]
    language_types: re.Pattern[str] | None
    dialects: frozenset[str] = frozenset()
    language_dialects: frozenset[str] = frozenset()
    language_words: re.Pattern[str] | None = None
    language_repos: tuple[str, ...] = ()
    language_names: re.Pattern[str] | None = None
    last: bool = False


@dataclass(frozen=True, slots=True)
class _Rule:
    """A row of categories.toml or of [[rules.subcategory]]: all that is not empty must hold."""

    name: str
    result: str
    page: tuple[str, ...]
    code: tuple[str, ...]
    family: tuple[str, ...]
    gate: tuple[tuple[str, str], ...]  # (key, value or ""), one of which must be there
    words: re.Pattern[str] | None
    type: re.Pattern[str] | None
    dialect: tuple[str, ...] = ()
    last: bool = False

    @property
    def is_of_class(self) -> bool:
        """Whether the exception's class alone decides."""
        return self.type is not None and self.words is None and not (self.page or self.code or self.family or self.gate)

    def holds(self, clues: Clues) -> bool:
        """Whether the error is as the row says."""
        if self.page and not clues.page.startswith(self.page):
            return False
        if self.code and not any(code.startswith(self.code) for code in clues.codes):
            return False
        if self.dialect and not _most(clues.dialects, self.dialect.__contains__):
            return False
        if self.family and not clues.gate.get("kind", "").startswith(self.family):
            return False
        if self.gate and not any(key in clues.gate and value in clues.gate[key] for key, value in self.gate):
            return False
        if self.type is not None and not self.type.search(clues.exception_type or ""):
            return False
        return self.words is None or bool(self.words.search(clues.text[:_READ]))


# ---------------------------------------------------------------- words and labels


@cache
def _tables(name: str = "vocabulary.toml") -> dict[str, Any]:
    return warm.table(resources.files("pipeline").joinpath("data", name).read_text("utf-8"))


@packs.cached
def ids(vocabulary: str) -> frozenset[str]:
    """The ids of one vocabulary, such as "domains"."""
    return frozenset(labels(vocabulary))


@DOMAINS.whole
def domains() -> Mapping[str, Mapping[str, str]]:
    """The domains with their labels.

    Raises:
        PackError: a domain of a pack has no label in one of the languages.
    """
    return labels("domains")


@packs.cached
def labels(vocabulary: str) -> Mapping[str, Mapping[str, str]]:
    """Id -> {"en": ..., "zh": ...} of one vocabulary.

    Raises:
        PackError: a domain of a pack has no label in one of the languages.
    """
    rows = {key: {"en": row["en"], "zh": row["zh"]} for key, row in _tables()[vocabulary].items()}
    for row in DOMAINS.rows() if vocabulary == "domains" else ():
        _say(rows.setdefault(row.name, {}), row)
    for row in (row for pack in packs.active().left_out for row in DOMAINS.of(pack)):
        if row.name in rows:  # other packs have rows of the domain, and leave its name to this one
            _say(rows[row.name], row)
    if unsaid := next((name for name, row in rows.items() if len(row) < len(("en", "zh"))), None):
        place = next(row.place for row in DOMAINS.rows() if row.name == unsaid)
        advice = f"Give the row the keys en and zh: how people call {unsaid} in each language."
        raise packs.PackError.of(place.path, place.line, f"the domain {unsaid!r} is new and has no label", advice)
    return MappingProxyType({key: MappingProxyType(row) for key, row in rows.items()})


def _say(said: dict[str, str], row: Domain) -> None:
    said.update({lang: label for lang, label in (("en", row.en), ("zh", row.zh)) if label and lang not in said})


def label(vocabulary: str, identifier: str, lang: str) -> str | None:
    """The label of an id in "en" or "zh", None if the vocabulary has no such id."""
    row = labels(vocabulary).get(identifier)
    return row[lang] if row else None


# ---------------------------------------------------------------- classes


def classify(clues: Clues) -> Class:
    """The class of an error."""
    domain_name, domain_by = domain(clues)
    category_name, category_by = category(clues)
    subcategory = next((rule.result for rule in _subcategories() if rule.holds(clues)), None)
    return Class(domain_name, category_name, subcategory, domain_by, category_by)


def domain(clues: Clues) -> tuple[str, str]:
    """(the domain of an error, the evidence for it): the first evidence that some domain has, "other" without any."""
    for evidence, holds in DOMAIN_EVIDENCE:
        for row in _domains():
            if holds(row, clues):
                return row.name, evidence
    return "other", ""


def is_repository_of(repo: str, domain: str) -> bool:
    """Whether a domain's rows name the repository ("owner/name") as one of its own."""
    return any(row.name == domain and row.repos in _claiming(repo) for row in _domains() if row.repos)


def category(clues: Clues) -> tuple[str, str]:
    """(the category of an error, the row of categories.toml that decided), "runtime_error" where no row holds.

    A class that the message names, as wrappers print it ("RemoteException(java.nio.file.NoSuchFileException): ..."), is
    asked before the last rows: it says more than a word that is in any message.
    """
    rules = category_rules()
    found = (
        next((rule for rule in rules if not rule.last and rule.holds(clues)), None)
        or next((rule for inner in _wrapped(clues) for rule in rules if rule.is_of_class and rule.holds(inner)), None)
        or next((rule for rule in rules if rule.last and rule.holds(clues)), None)
    )
    return (found.result, found.name) if found else ("runtime_error", "")


def _wrapped(clues: Clues) -> Iterator[Clues]:
    """The error as each class that its own class or its message names would have it, the innermost first."""
    names = _NAMED.findall(f"{clues.exception_type or ''} {clues.text[:_READ]}")
    return (replace(clues, exception_type=name) for name in reversed(names))


def _by_package(row: _Domain, clues: Clues) -> bool:
    _, shown = _counted(clues.packages)
    return shown >= _SHOWN * len(clues.packages) and _most(clues.packages, row.packages.__contains__)


def _by_module(row: _Domain, clues: Clues) -> bool:
    return clues.gate.get("module", "").partition(".")[0] in row.packages


def _by_repository(row: _Domain, clues: Clues) -> bool:
    return not _starts(_anyones(), clues.gate.get("kind", "")) and _by_reporter(row, clues)


def _by_reporter(row: _Domain, clues: Clues) -> bool:
    return _by_repo(row.repos, clues)


def _by_repo(known: tuple[str, ...], clues: Clues) -> bool:
    return bool(known) and _most(clues.repos, lambda repo: known in _claiming(repo))


@packs.cached  # a few thousand repositories report a million errors, and every row asks of each
def _claiming(repo: str) -> frozenset[tuple[str, ...]]:
    """The repositories of each row that has this one among them."""
    names = repositories.names(repo)  # a row may know a repository by a former name
    by_name, by_pattern = _claimants()
    owners = [f"{name.partition('/')[0]}/*" for name in names if "/" in name]
    named = (repos for name in (*names, *owners) for repos in by_name.get(name, ()))
    fitting = (repos for known, repos in by_pattern if any(fnmatchcase(name, known) for name in names))
    return frozenset((*named, *fitting))


@packs.cached  # nearly all are names or owners: to try each as a pattern took 150,000 comparisons for 150 repositories
def _claimants() -> tuple[dict[str, list[tuple[str, ...]]], list[tuple[str, tuple[str, ...]]]]:
    """The repositories of the rows that have one of this name, or all of an owner, and of rows with another pattern."""
    by_name: dict[str, list[tuple[str, ...]]] = {}
    by_pattern: list[tuple[str, tuple[str, ...]]] = []
    for repos in (repos for row in _domains() for repos in (row.repos, row.language_repos)):
        for known in repos:
            if _PATTERN.isdisjoint(known.removesuffix("/*")) and known.count("/") == 1:
                by_name.setdefault(known, []).append(repos)
            else:
                by_pattern.append((known, repos))
    return by_name, by_pattern


def _by_form(row: _Domain, clues: Clues) -> bool:
    """Whether almost all events that were printed in a form of some language were in one of this row's."""
    telling = tuple("" if dialect in _ANYONES_FORMS else dialect for dialect in clues.dialects)
    _, shown = _counted(telling)
    return shown >= _SHOWN * len(telling) and _most(telling, row.language_dialects.__contains__)


def _most(values: tuple[str, ...], is_of: Callable[[str], bool]) -> bool:
    """Whether almost all of the values that there are belong here."""
    counts, total = _counted(values)
    mine = sum(count for value, count in counts if is_of(value))
    return mine > 0 and mine >= _AGREED * total


@lru_cache(maxsize=8)  # every row asks of the same error
def _counted(values: tuple[str, ...]) -> tuple[tuple[tuple[str, int], ...], int]:
    counts = Counter(value for value in values if value)
    return tuple(counts.items()), counts.total()


def _found(pattern: re.Pattern[str] | None, text: str | None) -> bool:
    return pattern is not None and pattern.search(text or "") is not None


def _starts(beginnings: tuple[str, ...], *names: str) -> bool:
    return bool(beginnings) and any(name.startswith(beginnings) for name in names)


def _has_gate(gates: tuple[str, ...], clues: Clues) -> bool:
    return any(key in clues.gate for key in gates)


#: By what a domain is chosen, in this order; of one kind of evidence the first row of `_domains` counts.
DOMAIN_EVIDENCE: tuple[tuple[str, Callable[[_Domain, Clues], bool]], ...] = (
    ("page", lambda row, clues: _starts(row.codes, clues.page)),
    ("code", lambda row, clues: _starts(row.codes, *clues.codes) or _has_gate(row.gates, clues)),
    ("class", lambda row, clues: _found(row.types, clues.exception_type)),
    ("family", lambda row, clues: _starts(row.kinds, clues.gate.get("kind", ""))),
    ("message", lambda row, clues: _found(row.words, clues.text[:_READ])),
    ("module", _by_module),
    ("frame", _by_package),
    ("dialect", lambda row, clues: _most(clues.dialects, row.dialects.__contains__)),
    ("repository", _by_repository),
    ("word", lambda row, clues: _found(row.weak_words, clues.text[:_READ])),
    ("language's dialect", _by_form),
    (
        "language",
        lambda row, clues: (
            _found(row.language_types, clues.exception_type)
            or _starts(row.language_kinds, clues.gate.get("kind", ""))
            or _has_gate(row.language_gates, clues)
            or _found(row.language_words, clues.text[:_READ])
        ),
    ),
    ("reporter", _by_reporter),
    ("language's repository", lambda row, clues: _by_repo(row.language_repos, clues)),
    ("name", lambda row, clues: _found(row.language_names, clues.exception_type)),
)


# ---------------------------------------------------------------- the rows


@cache
def _anyones() -> tuple[str, ...]:
    """Beginnings of kinds of which the repository that reports them says nothing."""
    return tuple(_tables()["rules"]["anyones"]["kinds"])


@packs.cached
def _domains() -> tuple[_Domain, ...]:
    """Those of packs that a team added, those of vocabulary.toml, those of packs that ship; then the last ones."""
    ships = {pack.name for pack in packs.active().packs if pack.is_shipped}
    added = [row for row in DOMAINS.rows() if row.place.pack not in ships]
    shipped = [row for row in DOMAINS.rows() if row.place.pack in ships]
    rows = (*map(_domain_of, added), *_own_domains(), *map(_domain_of, shipped))
    return (*(row for row in rows if not row.last), *(row for row in rows if row.last))


def _domain_of(row: Domain) -> _Domain:
    return _Domain(
        name=row.name,
        codes=row.codes,
        kinds=row.kinds,
        gates=row.gates,
        types=_expression(row.types),
        words=_expression(row.words),
        weak_words=_expression(row.weak_words),
        packages=frozenset(row.packages),
        repos=row.repos,
        language_kinds=row.language_kinds,
        language_gates=row.language_gates,
        language_types=_expression(row.language_types),
        dialects=frozenset(row.dialects),
        language_dialects=frozenset(row.language_dialects),
        language_words=_expression(row.language_words),
        language_repos=row.language_repos,
    )


@cache
def _own_domains() -> tuple[_Domain, ...]:
    return tuple(
        _Domain(
            name=name,
            codes=tuple(row.get("codes", ())),
            kinds=tuple(row.get("kinds", ())),
            gates=tuple(row.get("gates", ())),
            types=_pattern(row, "types"),
            words=_pattern(row, "words"),
            weak_words=_pattern(row, "weak_words"),
            packages=frozenset(row.get("packages", ())),
            repos=tuple(row.get("repos", ())),
            language_kinds=tuple(row.get("language_kinds", ())),
            language_gates=tuple(row.get("language_gates", ())),
            language_types=_pattern(row, "language_types"),
            language_dialects=frozenset(row.get("language_dialects", ())),
            language_names=_pattern(row, "language_names"),
            last=row.get("last", False),
        )
        for name, row in _tables()["domains"].items()
    )


@CATEGORIES.whole
@packs.cached
def category_rules() -> tuple[_Rule, ...]:
    """Those of packs, then the rows of categories.toml; of both the last ones, which hold of much, at the end.

    Raises:
        PackError: a row of a pack names no category.
    """
    rules = (*map(_rule_of, CATEGORIES.rows()), *own_category_rules())
    return (*(rule for rule in rules if not rule.last), *(rule for rule in rules if rule.last))


def _rule_of(row: Category) -> _Rule:
    if row.is_ not in ids("categories"):
        message = f"row {row.name!r}: is: {row.is_!r} is no category"
        advice = f"There are: {', '.join(sorted(ids('categories')))}."
        raise packs.PackError.of(row.place.path, row.place.line, message, advice)
    return _Rule(
        name=f"{row.place.pack}.{row.name}",
        result=row.is_,
        page=row.page,
        code=row.code,
        family=row.family,
        gate=tuple((key, "") for key in row.gate),
        words=_expression(row.words),
        type=_expression(row.class_),
        dialect=row.dialect,
        last=row.last,
    )


@cache
def own_category_rules() -> tuple[_Rule, ...]:
    """The rows of categories.toml."""
    return tuple(
        _Rule(
            name=row["id"],
            result=row["is"],
            page=tuple(row.get("page", ())),
            code=tuple(row.get("code", ())),
            family=tuple(row.get("family", ())),
            gate=tuple((key, "") for key in row.get("gate", ())),
            words=_pattern(row, "words"),
            type=_pattern(row, "class"),
            dialect=tuple(row.get("dialect", ())),
            last=row.get("last", False),
        )
        for row in category_rows()
    )


def category_rows() -> list[dict[str, Any]]:
    """The rows of categories.toml as they are written, with an example and a counter-example each."""
    rows: list[dict[str, Any]] = _tables("categories.toml")["row"]
    return rows


@cache
def _subcategories() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            name=row["is"],
            result=row["is"],
            page=(),
            code=tuple([row["code"]] if "code" in row else []),
            family=tuple([row["kind"]] if "kind" in row else []),
            gate=tuple((key, row[key]) for key in ("resource", "space") if key in row),
            words=_pattern(row, "text"),
            type=_pattern(row, "type"),
        )
        for row in _tables()["rules"]["subcategory"]
    )


def _expression(written: str | None) -> re.Pattern[str] | None:
    return late(written, re.MULTILINE) if written else None


def _pattern(row: Mapping[str, Any], key: str) -> re.Pattern[str] | None:
    return late(row[key]) if key in row else None


# ---------------------------------------------------------------- examples of packs


def _clues(words: str) -> Clues:
    """The clues of "type | message | key=value | key=value"."""
    kind, text, *rest = [part.strip() for part in f"{words} | ".split(" | ")]
    pairs = dict(part.split("=", 1) for part in rest if "=" in part)
    own = {key: pairs.pop(key, "") for key in ("package", "repo", "page", "dialect")}
    return Clues(
        exception_type=kind or None,
        gate=pairs,
        codes=tuple(pairs[key] for key in ("code",) if key in pairs),
        text=text,
        packages=(own["package"],),
        repos=(own["repo"],),
        page=own["page"],
        dialects=(own["dialect"],),
    )


@DOMAINS.tested
def _in_domain(words: str) -> list[Domain]:
    """The rows whose domain the error of the words has."""
    found, _ = domain(_clues(words))
    mine = [row for row in DOMAINS.rows() if row.name == found]
    return [row for row in mine if any(holds(_domain_of(row), _clues(words)) for _, holds in DOMAIN_EVIDENCE)]


@CATEGORIES.tested
def _of_category(words: str) -> list[Category]:
    """The row that says what kind of failure the error of the words is."""
    _, name = category(_clues(words))
    return [row for row in CATEGORIES.rows() if f"{row.place.pack}.{row.name}" == name]
