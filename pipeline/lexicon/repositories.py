"""Repositories that have another name now, from data/repositories.toml: a thread under two names is one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

from pipeline.records import warm

_HOST = "github.com/"


@cache
def _names() -> Mapping[str, str]:
    """Every name of the table in lower case, former and current -> current name, as its owner writes it."""
    rows = warm.table(resources.files("pipeline").joinpath("data", "repositories.toml").read_text("utf-8"))
    return {name.lower(): row["name"] for row in rows["repository"] for name in (row["name"], *row["former"])}


def current_name(repo: str) -> str:
    """The name that `repo` (owner/name, in any case) has now, as its owner writes it; `repo` if none is known."""
    return _names().get(repo.lower(), repo)


@cache
def names(repo: str) -> tuple[str, ...]:
    """Every name that `repo` has or had, in lower case, the current one first."""
    current = current_name(repo).lower()
    return (current, *(one for one, name in _names().items() if name.lower() == current != one))


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
    return (current, *(f"{_HOST}{former}{mark}{number}" for former in names(repo)[1:]))
