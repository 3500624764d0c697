"""The closed vocabularies: domains, categories and the like, with labels in two languages and the rules that choose.

Everything that names a product or an error stands in `pipeline/data/vocabulary.toml`; this module only reads it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

#: Tables of vocabulary.toml that hold ids with labels.
VOCABULARIES = ("domains", "categories", "subcategories", "root_cause_types", "tiers")


@dataclass(frozen=True, slots=True)
class Class:
    """Where an error belongs."""

    domain: str
    category: str
    subcategory: str | None


@dataclass(frozen=True, slots=True)
class _Rule:
    """All that is not empty must hold."""

    result: str
    kind: str
    code: str
    gate: tuple[tuple[str, str], ...]  # (key, value or "")
    type: re.Pattern[str] | None
    text: re.Pattern[str] | None


@cache
def _tables() -> dict[str, Any]:
    path = resources.files("pipeline").joinpath("data", "vocabulary.toml")
    return tomllib.loads(path.read_text("utf-8"))


@cache
def ids(vocabulary: str) -> frozenset[str]:
    """The ids of one vocabulary, such as "domains"."""
    return frozenset(_tables()[vocabulary])


@cache
def labels(vocabulary: str) -> Mapping[str, Mapping[str, str]]:
    """Id -> {"en": ..., "zh": ...} of one vocabulary."""
    return MappingProxyType({key: MappingProxyType(dict(row)) for key, row in _tables()[vocabulary].items()})


def label(vocabulary: str, identifier: str, lang: str) -> str | None:
    """The label of an id in "en" or "zh", None if the vocabulary has no such id."""
    row = labels(vocabulary).get(identifier)
    return row[lang] if row else None


@cache
def _rules(kind: str) -> tuple[_Rule, ...]:
    found = []
    for row in _tables()["rules"][kind]:
        gate = [(row["gate"], "")] if "gate" in row else []
        gate += [(key, row[key]) for key in ("resource", "space") if key in row]
        found.append(
            _Rule(
                result=row["is"],
                kind=row.get("kind", ""),
                code=row.get("code", ""),
                gate=tuple(gate),
                type=re.compile(row["type"]) if "type" in row else None,
                text=re.compile(row["text"]) if "text" in row else None,
            )
        )
    return tuple(found)


def classify(exception_type: str | None, gate: Iterable[tuple[str, str]], codes: Iterable[str], text: str) -> Class:
    """The class of an error, from its type, its discriminators, its codes and its signature's text."""
    gates = dict(gate)
    known = sorted({*codes, *([gates["code"]] if "code" in gates else [])})
    seen = (exception_type or "", gates, known, text[:2_000])
    return Class(
        domain=_chosen("domain", seen) or "other",
        category=_chosen("category", seen) or "runtime_error",
        subcategory=_chosen("subcategory", seen),
    )


def _chosen(kind: str, seen: tuple[str, dict[str, str], list[str], str]) -> str | None:
    return next((rule.result for rule in _rules(kind) if _holds(rule, *seen)), None)


def _holds(rule: _Rule, exception_type: str, gates: dict[str, str], codes: list[str], text: str) -> bool:
    if rule.kind and not gates.get("kind", "").startswith(rule.kind):
        return False
    if rule.code and not any(code.startswith(rule.code) for code in codes):
        return False
    if any(key not in gates or (value and value not in gates[key]) for key, value in rule.gate):
        return False
    if rule.type is not None and not rule.type.search(exception_type):
        return False
    return rule.text is None or bool(rule.text.search(text))
