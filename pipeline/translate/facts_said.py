"""What a message itself says of a fact about it, and the fact's sentence in the words of the message."""

from __future__ import annotations

import re
from itertools import pairwise

from pipeline.lexicon import codes, vocabulary
from pipeline.records import Fact

#: The slots whose value a message prints as it is.
_PRINTED = frozenset({"module", "symbol", "library", "assertion"})
#: A code where it is printed by its name, not by its text or number: "CUDA_ERROR_OUT_OF_MEMORY".
_NAME_OF_A_CODE = re.compile(r"(?=\w*[A-Z])[A-Za-z]\w*", re.ASCII)
#: What a catalogue's line says in brackets, with a setting in it: advice, where the message does not print it too.
_ADVICE = re.compile(r"（[^（）]{0,80}\b([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,9})=[^（）]{0,80}）")
#: Words that stand between operands.
_OPERATORS = frozenset(
    ("and", "or", "not", "in", "is", "if", "else", "for", "as", "lambda", "instanceof", "new", "sizeof")
)
_TOKEN = re.compile(r"\w+|'[^'\n]*'|\"[^\"\n]*\"|\S")


def _family(fact: Fact) -> str | None:
    """The family of the code of which the fact says more than its name."""
    told = {name for name, _ in fact.slots}
    families = (family for family, template in vocabulary.meanings_of_codes().items() if template == fact.template)
    return next(families, None) if {"code"} < told else None


def is_said(fact: Fact, said: str) -> bool:
    """Whether the message itself says the fact: what only stood in a value of its reports, it does not say."""
    told = dict(fact.slots)
    family = _family(fact)
    if family is not None:
        return f"{family}:{told['code']}" in codes.codes_in(said)
    if fact.template == "meaning.signal":
        return told["signal"].startswith("SIG")
    if fact.template == "meaning.assertion" and _is_sentence(told["assertion"]):
        return False
    return all(value in said for name, value in told.items() if name in _PRINTED)


def _is_sentence(assertion: str) -> bool:
    """Whether words stand side by side as in no expression: what failed is said in it, or behind it without a mark."""
    tokens = (token if token not in _OPERATORS else "+" for token in _TOKEN.findall(assertion))
    return any(one[-1].isalnum() and other.isidentifier() for one, other in pairwise(tokens))


def in_its_words(chinese: str, fact: Fact, said: str) -> str:
    """The fact's sentence with its code as the message names it, and without advice that the message does not print.

    A code of CUDA's runtime may stand there by the driver's name.
    """
    chinese = _ADVICE.sub(lambda aside: aside[0] if aside[1] in said else "", chinese)
    code = dict(fact.slots).get("code", "")
    family = _family(fact)
    if family is None or code in said:
        return chinese
    named = (m for _, m in codes.mentions(said) if m.code == f"{family}:{code}")
    printed = next((word for m in named if _NAME_OF_A_CODE.fullmatch(word := said[m.start : m.end])), code)
    return chinese.replace(code, printed)
