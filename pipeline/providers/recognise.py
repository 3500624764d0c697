"""What a piece of content is: its form, the document that it belongs to, its part and version. From content alone."""

from __future__ import annotations

from pipeline.providers import PROVIDERS
from pipeline.providers.page import is_html
from pipeline.providers.provider import Place, unknown_key


def places(value: object, sha256: str) -> tuple[Place, ...] | str:
    """The places that a JSON value takes (an event of GH Archive takes two), or the reason why it takes none."""
    if isinstance(value, list):
        return _list_places(value, sha256) or "unknown_json"
    if not isinstance(value, dict):
        return "unknown_json"
    for provider in PROVIDERS:
        for rule in provider.rules().json:
            found = rule(value, sha256)
            if found is not None:
                return found
    return "unknown_json"


def text_place(text: str, sha256: str) -> Place | str:
    """The place that a page of text takes, or the reason why it takes none; what fits nothing is plain text."""
    start = text.lstrip("\ufeff \t\r\n")
    if not start:
        return "empty_file"
    for provider in PROVIDERS:
        for rule in provider.rules().texts:
            place = rule(start, sha256)
            if place is not None:
                return place
    return "unknown_html" if is_html(start) else Place("plain-text", unknown_key(sha256), "page:text", "", None)


def is_one_list(value: list[object], sha256: str = "") -> bool:
    """True for a list that belongs together, such as a timeline, which only as a whole tells whose it is."""
    return _list_places(value, sha256) is not None


def _list_places(value: list[object], sha256: str) -> tuple[Place, ...] | None:
    for provider in PROVIDERS:
        for rule in provider.rules().lists:
            found = rule(value, sha256)
            if found is not None:
                return found
    return None
