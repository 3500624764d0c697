"""From `distil`: what people say about an error, with the words that say it."""

from __future__ import annotations

from dataclasses import dataclass

#: What the id of a rule begins with if the "rule" is a language model: "llm:<model>@<host>#<prompt>".
MODEL_RULES = "llm:"


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


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that one quote says about the error of the events named."""

    claim_id: str
    # "cause" | "remedy" | "fix" | "version" | "environment" | "link", and two that `reduce` puts where they belong:
    # "official" (a page's words), "closing" (a merged pull request's, about the report that it closed: `key` is its id)
    kind: str
    rule: str  # id of the rule that found it
    fact: Fact | None  # None: prose, the quote itself is the statement
    outcome: str | None  # remedies: "worked" | "failed" | None (merely suggested)
    key: str  # what makes two claims the same remedy: gates on flag, direction, package and version; "" if unkeyed
    quote: Quote
    outcome_quote: Quote | None  # where outcome was said elsewhere than the remedy
    signature_ids: tuple[str, ...]  # the errors of that document that it speaks about


@dataclass(frozen=True, slots=True)
class Pointed:
    """Words of a document that a language model pointed at, `document.text[start:end]`; not yet a claim."""

    kind: str  # "cause" | "remedy"
    start: int
    end: int
    statement: str  # what the words say in the model's own sentence; read for typed facts, never published
    rule: str  # "llm:<model>@<host>#<prompt>"
