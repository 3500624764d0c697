"""Words that are said to a language model, not to people: who steers the reader is not passed on."""

from __future__ import annotations

import re
from functools import cache

from pipeline.lexicon.advice.tables import table


@cache
def _patterns(row: str) -> re.Pattern[str]:
    return re.compile("|".join(table("models")[row]), re.IGNORECASE)


def orders_models(text: str) -> bool:
    """True if a statement tells a model what to do, hides words from people, or carries words away in an address."""
    return _patterns("orders").search(text) is not None


def talks_to_models(post: str) -> bool:
    """True if a whole post holds an order to models or a prompt that somebody pasted: no model is asked about it."""
    return orders_models(post) or _patterns("prompts").search(post) is not None
