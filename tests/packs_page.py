"""docs/packs.md: the tables and their keys, read from the types of their rows, and the pack that the page makes.

`python -m tests.packs_page` writes the list anew (`make golden` does); a test compares it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal, get_args, get_origin

from pydantic_core import PydanticUndefined

from pipeline import packs
from pipeline.run.check import proving
from tests import golden

PAGE = golden.ROOT / "docs" / "packs.md"
_CHINESE = """
### zh.po

Chinese of messages, as a PO file: `msgid` is the message in English as `errmine list` shows it, with `{1}`,
`{2}`, … for what varies (`<n>` there) and without a code before it; `msgstr` what it says in Simplified
Chinese, with the same places and no full stop at the end. errmine's gates read it: enough Chinese, Simplified,
full-width marks, no English left over, every name kept.
"""
_MARK = "<!-- tables -->\n"
_FILE = re.compile(r"^`([\w./-]+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SETTINGS = re.compile(r"`errmine.toml` in the home:\n\n```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files(page: str) -> dict[str, str]:
    """The files that the page shows: a path on a line of its own, and the block below it."""
    return dict(_FILE.findall(page))


def settings(page: str) -> str:
    """The errmine.toml that the page shows."""
    found = _SETTINGS.search(page)
    assert found is not None
    return found[1]


def filled(page: str) -> str:
    """The page with its list of tables as it is today."""
    return page.partition(_MARK)[0] + _MARK + "".join(_tables())


def _tables() -> Iterator[str]:
    proving.read_rooms()
    for table in sorted(packs.tables(), key=lambda one: one.name):  # they come in the order of imports
        where = f"{table.name}/*.json" if isinstance(table, packs.Files) else f"{table.name}.toml"
        told = (table.row.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        yield f"\n### {where}\n\n{' '.join(told.split())}\n\n| key | what it holds |\n|---|---|\n"
        for name, field in table.row.model_fields.items():
            if name not in packs.Row.model_fields:
                assert field.description, f"{table.name}: {name} has no description"
                default = "" if field.is_required() else _default(field.get_default(call_default_factory=True))
                required = " **Required.**" if field.is_required() else default
                choices = ", ".join(f"`{one}`" for one in _choices(field.annotation))
                said = field.description + (f" One of {choices}." if choices else "")
                yield f"| `{field.alias or name}` | {said.replace('|', '&#124;')}{required} |\n"
    yield _CHINESE


def _choices(annotation: Any) -> list[str]:
    """The words that a key may have, [] where it may have any."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return [one.value for one in annotation]
    if get_origin(annotation) is Literal:
        return [str(one) for one in get_args(annotation)]
    return [word for inner in get_args(annotation) for word in _choices(inner)]


def _default(value: Any) -> str:
    if value in ((), {}, None, "", PydanticUndefined):
        return ""
    return f" Default: `{str(value).lower() if isinstance(value, bool) else value}`."


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE)
