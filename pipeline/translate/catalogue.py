"""The message catalogue: every fact's English and Chinese sentence.

English and slot types are the contract with `distil`, `pipeline/data/facts.toml`; what messages say by their
shape is in `pipeline/data/message_shapes.toml`. Chinese is a gettext
catalogue, `locale/zh_Hans/LC_MESSAGES/errmine.po`: msgctxt is the template id, msgid the English sentence, msgstr the
Chinese one.
Other contexts: `term.<list>` for the closed lists of facts.toml, `code.<namespace>:<code>` for what a code means.

The standard library reads the compiled `.mo`. After an edit of the `.po` run
`python -m pipeline.translate.compile_catalogue` (needs polib, extra `dev`) and commit both; a test compares them. A
fuzzy entry is not compiled: what nobody reviewed is not shown.
"""

from __future__ import annotations

import gettext
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from pipeline.lexicon import facts
from pipeline.records.errors import CatalogueError

_PACKAGE = files("pipeline")
_MO = _PACKAGE / "translate" / "locale" / "zh_Hans" / "LC_MESSAGES" / "errmine.mo"
_SHAPES = _PACKAGE / "data" / "message_shapes.toml"

#: Where a bare code may be listed, in this order ("cudaErrorAssert" is found as "cuda:cudaErrorAssert").
NAMESPACES = ("", "cuda:", "hip:", "nccl:", "xla:", "absl:", "jax:", "jax:jax.errors.", "signal:", "python:")
_LIBRARIES = ("cublas:", "cudnn:", "cusolver:", "cusparse:")


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """One fact's sentence: English with `{slot}` places, and the type of each slot."""

    template_id: str
    english: str
    slots: Mapping[str, str]


@cache
def templates() -> Mapping[str, MessageTemplate]:
    """Every template by id: those that `distil` may use, and what messages say by their shape."""
    rows = {key: fact for table in _tables() for key, fact in table["facts"].items()}
    return {key: MessageTemplate(key, fact["en"], fact["slots"]) for key, fact in rows.items()}


@cache
def _tables() -> tuple[dict[str, Any], ...]:
    return facts.table(), tomllib.loads(_SHAPES.read_text(encoding="utf-8"))


@cache
def term_lists() -> Mapping[str, tuple[str, ...]]:
    """The closed lists of terms, by name."""
    return {name: tuple(values) for table in _tables() for name, values in table["terms"].items()}


def template(template_id: str) -> MessageTemplate:
    """The template of that id; an unknown id is a broken catalogue, not bad input."""
    found = templates().get(template_id)
    if found is None:
        raise CatalogueError(f"no template {template_id!r} in facts.toml", path=facts.PATH)
    return found


@cache
def _translations() -> gettext.GNUTranslations:
    try:
        with as_file(_MO) as path, path.open("rb") as handle:
            return gettext.GNUTranslations(handle)
    except OSError as error:
        raise CatalogueError(f"cannot read the Chinese catalogue: {error}", path=Path(str(_MO))) from error


def chinese(context: str, english: str) -> str | None:
    """The Chinese of `english` in that context, None if the catalogue does not have it."""
    key = f"{context}\x04{english}"
    found = _translations().gettext(key)
    return None if found == key else found


@cache
def _code_explanations() -> Mapping[str, str]:
    # gettext looks up by (context, English); a code is all that we have, so the contexts are read once from the file
    with as_file(_MO) as path:
        found = dict(_code_contexts(path.read_bytes()))
    short = {
        f"python:{code.rsplit('.', 1)[-1]}": text
        for code, text in sorted(found.items())
        if code.startswith("python:") and "." in code
    }
    return short | found


def _code_contexts(mo: bytes) -> list[tuple[str, str]]:
    count, originals, translations = (int.from_bytes(mo[at : at + 4], "little") for at in (8, 12, 16))
    found = []
    for index in range(count):
        context, _, _ = _mo_string(mo, originals + 8 * index).partition("\x04")
        if context.startswith("code."):
            found.append((context.removeprefix("code."), _mo_string(mo, translations + 8 * index)))
    return found


def _mo_string(mo: bytes, at: int) -> str:
    length, start = (int.from_bytes(mo[place : place + 4], "little") for place in (at, at + 4))
    return mo[start : start + length].decode("utf-8")


def explanation(code: str) -> str | None:
    """What a code, signal or exception type means, as a Chinese clause without a full stop; None if not listed."""
    known = _code_explanations()
    if f"java:{code}" in known:  # the full name only: its short one means other things elsewhere
        return known[f"java:{code}"]
    short = code.rsplit(".", 1)[-1]
    for name in (code, short):
        for namespace in (*NAMESPACES, *_LIBRARIES):
            if namespace + name in known:
                return known[namespace + name]
    return None


def is_listed(code: str) -> bool:
    """Whether the catalogue explains exactly this code, with its namespace."""
    return code in _code_explanations()


def annotated(name: str) -> str:
    """A name of a message; a code among them followed by what it means."""
    text = explanation(name) if name.isupper() or name.startswith(("cudaError", "nccl", "hipError")) else None
    return f"{name}（{text}）" if text else name


def term(slot: str, value: str) -> str | None:
    """The Chinese of a value that a list has; the list's name is, or ends with, the slot's. None for a plain name."""
    names = [name for name in (*term_lists(), "package", "signal") if name.endswith(slot)]
    written = (value, value.lower())
    found = (chinese(f"term.{name}", form) for name in names for form in written)
    return next((text for text in found if text is not None), None)


def po_path() -> Path:
    """Where the Chinese catalogue is edited."""
    return Path(str(_MO)).with_suffix(".po")
