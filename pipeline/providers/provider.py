"""What a provider is: one row that says how its pages are told apart, how they are read, and how they are fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.records import Document, RawPage, Skipped

_THREAD_URL = re.compile(
    r"https?://([A-Za-z0-9.-]{1,253}(?::\d{1,5})?)/(?:api/v3/)?(?:repos/)?"
    r"([A-Za-z0-9_.-]{1,100})/([A-Za-z0-9_.-]{1,100})/(?:issues|pulls?)/(\d{1,10})(?![\w.])"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page belongs; the fields are those of :class:`pipeline.records.RawPage`."""

    form: str
    document_key: str
    part: str
    version_at: str
    url: str | None


#: The current pages of one document, its own form's first -> the document, or why there is none.
Reader = Callable[[Sequence[RawPage]], Document | Skipped]
#: A JSON object or list and the sha256 of its bytes -> its places (an event of GH Archive takes two), the reason why it
#: has none although it is one of ours, or None where another rule may know it.
JsonRule = Callable[[Mapping[str, object], str], "tuple[Place, ...] | str | None"]
ListRule = Callable[[list[object], str], "tuple[Place, ...] | None"]
#: The text of a page and the sha256 of its bytes -> its place, or None where another rule may know it.
TextRule = Callable[[str, str], "Place | None"]


@dataclass(frozen=True, slots=True)
class Provider:
    """One row of `providers.PROVIDERS`."""

    name: str  # also the name of its folder
    readers: Mapping[str, Reader]  # by form, the form that loses least first
    json_rules: tuple[JsonRule, ...] = ()
    #: Lists that belong together, so that their items are not looked at one by one.
    list_rules: tuple[ListRule, ...] = ()
    text_rules: tuple[TextRule, ...] = field(default=())


def unknown_key(sha256: str) -> str:
    """The document key of a page that does not say where it comes from."""
    return f"page:{sha256[:16]}"


def thread_key(url: object) -> str | None:
    """`host/owner/repo#number`, lower case, of the web or API URL of a thread; None if it is no such URL."""
    match = _THREAD_URL.match(url) if isinstance(url, str) else None
    if match is None:
        return None
    host, owner, repo, number = match.groups()
    host = "github.com" if host.lower() in ("api.github.com", "www.github.com") else host.lower()
    return f"{host}/{owner.lower()}/{repo.lower()}#{int(number)}"
