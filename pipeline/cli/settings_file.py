"""A commented errmine.toml: every setting with what it means and its default, made from the settings themselves."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from pipeline.config import Settings

#: Settings that are no keys of the file: where it stands is not said in it.
_NO_KEYS = frozenset({"origin"})
_WIDTH = 100
_HEAD = """\
# Settings of errmine. Every line that begins with "# " and a name is a setting at its default: take the sign away to
# change it. Secrets are no settings: they come from the environment (GITHUB_TOKEN, ERRMINE_ENRICH_KEY, ...).
"""


def commented() -> str:
    """The file. Read back as it is, it says nothing, so every default holds."""
    lines = [_HEAD, *_section(Settings, ())]
    return "\n".join(lines).rstrip() + "\n"


def _section(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[str]:
    """The keys of a section, then the sections inside it."""
    inside = [(name, field, _model(field.annotation)) for name, field in model.model_fields.items()]
    for name, field, section in inside:
        if section is None and not (not path and name in _NO_KEYS):
            yield from _key(name, field)
    for name, field, section in inside:
        if section is not None:
            yield from _table((*path, name), field, section)


def _table(path: tuple[str, ...], field: FieldInfo, section: type[BaseModel]) -> Iterator[str]:
    is_list = get_origin(field.annotation) is list
    is_given = not is_list and field.default is not None
    title = f"[[{'.'.join(path)}]]" if is_list else f"[{'.'.join(path)}]"
    yield ""
    yield from _comment(_words(section, field))
    if not is_given:
        yield from _comment("Absent by default." if not is_list else "As many as wanted; none by default.")
    yield title if is_given else f"# {title}"
    yield from _section(section, path)


def _words(section: type[BaseModel], field: FieldInfo) -> str:
    """What a section is for: its own words without its name, which stands below them."""
    words = " ".join((section.__doc__ or field.description or "").partition("\n\n")[0].split())
    told = words.partition(": ")[2] if words.startswith("`[") else words
    return told[:1].upper() + told[1:]


def _key(name: str, field: FieldInfo) -> Iterator[str]:
    yield from _comment(field.description or "")
    if field.is_required():
        yield f"# {name} = {_example(field.annotation)}    # wanted where the section is there"
        return
    default = field.get_default(call_default_factory=True)
    if default is None:
        yield f"# {name} = {_example(field.annotation)}    # absent by default"
    elif field.default is PydanticUndefined:
        yield f"# {name} = {_value(default)}    # of this machine"
    else:
        yield f"# {name} = {_value(default)}"


def _comment(words: str) -> Iterator[str]:
    for line in textwrap.wrap(words, _WIDTH, break_on_hyphens=False, break_long_words=False):
        yield f"#   {line}"


def _value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Path):
        return json.dumps(str(value))
    return json.dumps(value, ensure_ascii=False)


def _example(annotation: Any) -> str:
    """A value of that type, where there is no default to show."""
    kinds = {"str": '"..."', "Path": '"..."', "int": "0", "float": "0.0", "bool": "false"}
    named = _plain(annotation)
    if named is date:
        return "2026-01-01"
    if get_origin(named) is list:
        return '["..."]'
    return kinds.get(getattr(named, "__name__", ""), '"..."')


def _plain(annotation: Any) -> Any:
    """A type without None and without what is said of its values."""
    if get_origin(annotation) in (Union, UnionType):
        return _plain(next(part for part in get_args(annotation) if part is not type(None)))
    if hasattr(annotation, "__metadata__"):
        return _plain(get_args(annotation)[0])
    return annotation


def _model(annotation: Any) -> type[BaseModel] | None:
    """The section that a field holds, one or many; None for a plain value."""
    plain = _plain(annotation)
    if get_origin(plain) is list:
        plain = _plain(get_args(plain)[0])
    return plain if isinstance(plain, type) and issubclass(plain, BaseModel) else None
