"""From `distil`: what people say about an error, with the words that say it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

#: What the id of a rule begins with if the "rule" is a language model: "llm:<model>@<host>#<prompt>".
MODEL_RULES = "llm:"
#: What it begins with if a language model found it and a second, independent question agreed: "checked:llm:...".
CHECKED_RULES = "checked:"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document, verbatim: `text == document.text[start:end]`, at most 300 characters."""

    document_id: str
    url: str
    raw_sha256: str
    start: int
    end: int
    text: str
    lang: str  # "en" | "zh" | "ja" | "ko" | "und"
    posted_at: str | None  # ISO time
    author_role: str | None
    author_hash: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    """A language-free statement: a message template's id and its atoms. `translate` renders it in both languages."""

    template: str  # id in the catalogue, "remedy.set_env"
    slots: tuple[tuple[str, str], ...]  # atoms only: identifiers, numbers, glossary terms; sorted by name


#: How an entry cites a quote.
Role = Literal[
    "occurrence", "cause", "workaround", "worked", "failed", "fix", "version", "environment", "official", "link"
]


class ClaimKind(StrEnum):
    """What a claim says of an error. `_TREATMENT` below tells of each what is done with it."""

    CAUSE = "cause"
    REMEDY = "remedy"
    FIX = "fix"
    VERSION = "version"
    ENVIRONMENT = "environment"
    LINK = "link"  # `signature_ids` are the earlier error and the later one
    OFFICIAL = "official"  # an official page's words: `reduce` puts the page together
    CANDIDATE = "candidate"  # what a trained reader takes for a statement (`key` is its share): a lead at most
    CLOSING = "closing"  # a merged pull request's, about the report that it closed (`key` is its id); `reduce`: a fix
    RELEASE = "release"  # notes of a release name a report or a change (`key` is its id); `reduce`: a fix

    @property
    def is_statement(self) -> bool:
        """Whether somebody answers why or what helps: withheld where the error may be another project's."""
        return _TREATMENT[self].is_statement

    @property
    def is_act(self) -> bool:
        """Whether it is something to do: refused where unsafe, counted with its equals, a remedy of the entry."""
        return _TREATMENT[self].is_act

    @property
    def role(self) -> Role:
        """As what its quote is cited."""
        return _TREATMENT[self].role


class _Treatment(NamedTuple):
    is_statement: bool
    is_act: bool
    role: Role


_TREATMENT = {
    ClaimKind.CAUSE: _Treatment(is_statement=True, is_act=False, role="cause"),
    ClaimKind.REMEDY: _Treatment(is_statement=True, is_act=True, role="workaround"),
    ClaimKind.FIX: _Treatment(is_statement=True, is_act=True, role="fix"),
    ClaimKind.VERSION: _Treatment(is_statement=False, is_act=False, role="version"),
    ClaimKind.ENVIRONMENT: _Treatment(is_statement=False, is_act=False, role="environment"),
    ClaimKind.LINK: _Treatment(is_statement=False, is_act=False, role="link"),
    ClaimKind.OFFICIAL: _Treatment(is_statement=False, is_act=False, role="official"),
    ClaimKind.CANDIDATE: _Treatment(is_statement=False, is_act=False, role="link"),  # no evidence
    ClaimKind.CLOSING: _Treatment(is_statement=False, is_act=False, role="fix"),
    ClaimKind.RELEASE: _Treatment(is_statement=False, is_act=False, role="fix"),
}


class Outcome(StrEnum):
    """What somebody says came of a remedy."""

    WORKED = "worked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that one quote says about the error of the events named."""

    claim_id: str
    kind: ClaimKind
    rule: str  # id of the rule that found it
    fact: Fact | None  # None: prose, the quote itself is the statement
    outcome: Outcome | None  # remedies; None: merely suggested
    key: str  # what makes two claims the same remedy: gates on flag, direction, package and version; "" if unkeyed
    quote: Quote
    outcome_quote: Quote | None  # where outcome was said elsewhere than the remedy
    signature_ids: tuple[str, ...]  # the errors of that document that it speaks about
    passage: Quote | None = None  # the block that the quote announces, or the words that announce the quoted item
    is_passage_cut: bool = False  # the block goes on behind the passage
    doubt: int | None = None  # a statement that is not sure enough to be one: of a hundred such ones so many were right

    @property
    def share(self) -> int | None:
        """Of a hundred like it so many were right, for what is a lead at most; None for what stands and counts."""
        return int(self.key) if self.kind == ClaimKind.CANDIDATE else self.doubt

    @property
    def last_quote(self) -> Quote:
        """Where its outcome was said, or the statement itself."""
        return self.outcome_quote or self.quote


#: A guess of who wrote the words; what a project should or will do; a second question that was not answered with yes;
#: words that say so and need others to be understood; what a later post contradicts, or another cure was found for.
Doubt = Literal["guess", "plan", "not_confirmed", "fragment", "overtaken"]


@dataclass(frozen=True, slots=True)
class Pointed:
    """Words of a document that a reader pointed at, `document.text[start:end]`; not yet a claim."""

    kind: Literal[ClaimKind.CAUSE, ClaimKind.REMEDY, ClaimKind.FIX]
    start: int
    end: int
    statement: str  # what the words say in the model's own sentence, or ""; read for typed facts, never published
    rule: str  # "llm:<model>@<host>#<prompt>", "checked:llm:..."
    event: int  # place in the document's events of the error that the words are about
    outcome: Outcome | None = None  # of a remedy
    answer: tuple[int, int] | None = None  # where the outcome is said, if not in the same words
    doubt: Doubt | None = None  # why the words are no statement, whatever they say
