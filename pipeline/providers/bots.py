"""Who is a program: logins and openings of automatic posts, from data/bots.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

# A bot says what it is at once; a long text that mentions one further down was written by a person.
HEAD_CHARACTERS = 240


@cache
def _table() -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    table = tomllib.loads(resources.files("pipeline").joinpath("data/bots.toml").read_text("utf-8"))
    return frozenset(table["logins"]), tuple(table["login_endings"]), tuple(table["phrases"]), tuple(table["signs"])


def is_bot_login(login: str) -> bool:
    """True for a login that belongs to a program."""
    logins, endings, _, _ = _table()
    lower = login.lower()
    return lower in logins or lower.endswith(endings)


def signs() -> tuple[str, ...]:
    """Where none of these stands in a text, :func:`is_bot_text` is false for every part of it."""
    return _table()[3]


def is_bot_text(text: str) -> bool:
    """True for a post that begins as only a program's post does (for sources that name no author)."""
    head = text[:HEAD_CHARACTERS]
    return any(phrase in head for phrase in _table()[2])
