"""A new pack: a small one that works, to be written over."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from pipeline.records.errors import ConfigError

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
#: The name that the files of `pipeline/data/new_pack` say.
_EXAMPLE = "kiln"


def begin(name: str, where: Path) -> Path:
    """The folder `where/name`, made with the files of a pack.

    Raises:
        ConfigError: the name is none for a pack, or something lies there already.
    """
    if _NAME.fullmatch(name) is None:
        hint = "Small letters, digits and -, a letter first: errmine pack new my-tool."
        raise ConfigError(f"{name!r} is no name of a pack", hint=hint)
    folder = where / name
    if folder.exists():
        raise ConfigError(f"{folder} is there already", hint="Choose another name, or another folder with --to.")
    try:
        folder.mkdir(parents=True)
        for source in resources.files("pipeline").joinpath("data", "new_pack").iterdir():
            text = source.read_text("utf-8").replace(_EXAMPLE, name).replace(_EXAMPLE.title(), _title(name))
            (folder / source.name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {folder}: {error.strerror}", hint="Check the rights of the folder.") from error
    return folder


def _title(name: str) -> str:
    return " ".join(part.capitalize() for part in name.split("-"))
