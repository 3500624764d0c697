"""Where every page stands: one segment for a name, a path for a page, an address only where it is one.

Names come from bundles, and bundles from strangers: what is no plain character of a file's name is written as its
bytes, so that no name leads out of its folder, hides a file, or is the place of another page.
"""

from __future__ import annotations

import hashlib
import re

from pipeline.text import is_web_address

LANGUAGES = ("en", "zh")
#: The languages as HTML names them.
TAGS = {"en": "en", "zh": "zh-Hans"}

_UNPLAIN = re.compile(r"[^a-z0-9._-]|^\.")
#: Longest segment: file systems take 255 bytes, of which ".html" and the number of a list's page are some.
_MOST_CHARACTERS = 200
_HASH_CHARACTERS = 16


def segment(name: str) -> str:
    """`name` in lower case as one segment of a path: other characters as their bytes, `~2f`; a long one cut."""
    written = _UNPLAIN.sub(lambda found: "".join(f"~{byte:02x}" for byte in _encoded(found[0])), name.lower()) or "~"
    if len(written) <= _MOST_CHARACTERS:
        return written
    return f"{written[:_MOST_CHARACTERS]}~{hashlib.sha256(_encoded(name.lower())).hexdigest()[:_HASH_CHARACTERS]}"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def error(lang: str, entry_id: str) -> str:
    """The page of an entry."""
    return f"{lang}/errors/{'/'.join(map(segment, entry_id.split('/')))}.html"


def data(entry_id: str) -> str:
    """The JSON of an entry: where the bundle has it."""
    return f"entries/{entry_id}.json"


def domain(lang: str, name: str) -> str:
    """The list of a domain's errors."""
    return f"{lang}/domains/{segment(name)}.html"


def code(lang: str, name: str) -> str:
    """The page of an error code, `family:name`."""
    family, _, rest = name.partition(":")
    return f"{lang}/codes/{segment(family)}/{segment(rest)}.html"


def family(lang: str, name: str) -> str:
    """The list of a family's codes."""
    return f"{lang}/codes/{segment(name)}.html"


def repository(lang: str, name: str) -> str:
    """The list of errors that a repository's threads report."""
    return f"{lang}/repositories/{'/'.join(map(segment, name.split('/')))}.html"


def numbered(path: str, number: int) -> str:
    """The second and later pages of a list; `~p` is in no segment."""
    return path if number == 1 else f"{path.removesuffix('.html')}~p{number}.html"


def to_root(path: str) -> str:
    """What leads from the page at `path` to the top of the site."""
    return "../" * path.count("/")


def address(url: str | None) -> str | None:
    """`url` if a browser only opens it; None for `javascript:`, `urn:`, and whatever else is no web address."""
    return url if url and is_web_address(url) else None
