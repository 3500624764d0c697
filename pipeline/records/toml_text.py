"""TOML that people wrote: whatever Python's reader stumbles over ends in one error."""

from __future__ import annotations

import tomllib
from typing import Any


class TomlError(ValueError):
    """The text is no TOML; the message says what and where, as far as that is known."""


def parsed(text: str) -> dict[str, Any]:
    """The table that `text` is; a byte-order mark, which some editors put before it, is none of it.

    Raises:
        TomlError: it is no TOML, or deeper or longer than can be read.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise TomlError(str(error)) from error
    except RecursionError as error:
        raise TomlError("brackets within brackets without end") from error
    except ValueError as error:  # Python reads no number of more than 4,300 digits
        raise TomlError("a number of too many digits") from error
