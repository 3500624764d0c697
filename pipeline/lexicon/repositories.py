"""Repositories that have another name now, from data/repositories.toml: a thread under two names is one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

_HOST = "github.com/"


@cache
def _table() -> Mapping[str, tuple[str, ...]]:
    """Current name, as its owner writes it -> former names."""
    rows = tomllib.loads(resources.files("pipeline").joinpath("data", "repositories.toml").read_text("utf-8"))
    return {row["name"]: tuple(row["former"]) for row in rows["repository"]}


@cache
def _names() -> Mapping[str, str]:
    """Former name in lower case -> current name."""
    return {former.lower(): name for name, names in _table().items() for former in names}


def current_name(repo: str) -> str:
    """The name that `repo` (owner/name, in any case) has now; `repo` itself if no other is known."""
    return _names().get(repo.lower(), repo)


def current_key(document_key: str) -> str:
    """The key of the same thread under its repository's current name; any other key is given back as it is."""
    if not document_key.startswith(_HOST):
        return document_key
    repo, mark, number = document_key[len(_HOST) :].partition("#")
    name = _names().get(repo.lower())
    return f"{_HOST}{name.lower()}{mark}{number}" if name else document_key


def keys(document_key: str) -> tuple[str, ...]:
    """Every key that the same thread may have been kept under, the current one first."""
    current = current_key(document_key)
    repo, mark, number = current.removeprefix(_HOST).partition("#")
    former = (names for name, names in _table().items() if name.lower() == repo)
    return (current, *(f"{_HOST}{one.lower()}{mark}{number}" for names in former for one in names))
