"""What a provider is: one row that says how its pages are told apart, how they are read, and how they are fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from pipeline.records import Appended, Document, PageRef, RawPage, Skipped
from pipeline.records.errors import ConfigError, SourceError
from pipeline.records.summary import MOST_EXAMPLES, Fetched, Summary, count

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
#: A JSON object that holds a list of others -> the name of the field that they are in, or None of any other object.
WrapperRule = Callable[[Mapping[str, object]], "str | None"]
#: The text of a page and the sha256 of its bytes -> its place, or None where another rule may know it.
TextRule = Callable[[str, str], "Place | None"]


class Section(BaseModel):
    """A table of errmine.toml: an unknown key is an error, because a misspelt setting must not pass in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Raw(Protocol):
    """The raw layer, as far as a fetch needs it."""

    def refs(self) -> Iterable[PageRef]:
        """Every page that it holds."""

    def is_forgotten(self, document_key: str) -> bool:
        """True if the document was forgotten on request."""

    def append(self, items: Iterable[RawPage | Skipped]) -> Appended:
        """What became of `items`; what came before an error is kept."""


#: Told of what is being read, of the items done so far, and of both in a line for people.
Told = Callable[[str, int, str], None]


@dataclass(frozen=True, slots=True)
class Job:
    """What a fetch has to go on."""

    sections: tuple[Section, ...]  # of the settings, in their order, with what the command line says
    raw: Raw
    state_path: Path  # folder in which it may remember what is not a page; in a folder of its own there
    environ: Mapping[str, str]  # tokens and addresses of servers
    fetched_at: datetime
    told: Told = lambda _name, _done, _line: None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a fetch would cost: rows for people and programs, and a word on them."""

    rows: tuple[Mapping[str, Any], ...]
    note: str = ""


#: The sections of the settings, and fields by what the command line says -> the sections to read.
Narrowing = Callable[[tuple[Section, ...], Mapping[str, Any]], tuple[Section, ...]]


def narrowed(sections: tuple[Section, ...], said: Mapping[str, Any]) -> tuple[Section, ...]:
    """Each section with what the command line says of its fields in their place.

    Raises:
        ConfigError: a field does not take such a value.
    """
    return tuple(
        _with(section, {name: said[name] for name in said.keys() & fields_of(section)}) for section in sections
    )


def fields_of(section: Section) -> frozenset[str]:
    """The names of a section's fields."""
    return frozenset(type(section).model_fields)


def _with(section: Section, said: Mapping[str, Any]) -> Section:
    try:
        return type(section).model_validate({**section.model_dump(), **said})
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ConfigError(
            f"--{place}: {problem['msg'].removeprefix('Value error, ')}",
            hint="`errmine ingest --help` says what it takes.",
        ) from error


class Fetch(Protocol):
    """The module that fetches for a source. It may have `foreseen` too, a function of a Job that gives a Forecast, and
    `forget`, of the folder in which it remembers and the key of a document that is to be in it no more.
    """

    def bring(self, job: Job, /) -> Fetched:
        """What came of the job; what came before a failure is in raw."""


@dataclass(frozen=True, slots=True)
class Source:
    """How a provider's pages are fetched. Sources of one `ingest` are fetched by one command and one flow."""

    ingest: str  # `errmine ingest INGEST`, flow ingest-INGEST
    key: str  # [sources.KEY]; [[sources.KEY]] if there may be several
    section: type[Section]
    is_list: bool
    description: str  # of the key, for people who write settings
    module: str = "fetch"  # in the provider's folder
    schedule: str = "ingest"  # the key of [schedule] that starts it
    narrowed: Narrowing = narrowed
    default: tuple[Section, ...] = ()  # read where its ingest is asked for and nothing of it is configured


@dataclass(frozen=True, slots=True)
class Rules:
    """What a provider's `recognise.RULES` holds: whose a piece of content is, asked in this order."""

    json: tuple[JsonRule, ...] = ()
    lists: tuple[ListRule, ...] = ()  # of items that belong together, so that they are not looked at one by one
    wrappers: tuple[WrapperRule, ...] = ()  # of answers that hold a list: what they hold is looked at one by one
    texts: tuple[TextRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Provider:
    """One row of `providers.PROVIDERS`: light, because every command loads it; the folder's modules load when needed.

    `package` is the folder: its `read` has READERS, its `recognise`, if it has any, RULES.
    """

    name: str
    package: str
    forms: tuple[str, ...]  # of its pages, the form that loses least first
    is_recognised: bool = True  # False: its pages are never found in files
    source: Source | None = None  # None: nobody is asked, its pages come as files

    def reader(self, form: str) -> Reader:
        """What reads the pages of `form`."""
        readers: Mapping[str, Reader] = import_module(f"{self.package}.read").READERS
        return readers[form]

    def rules(self) -> Rules:
        """What knows its pages."""
        found = import_module(f"{self.package}.recognise").RULES if self.is_recognised else Rules()
        assert isinstance(found, Rules)
        return found

    def fetch(self) -> Fetch:
        """What fetches its pages; only for a row with a source."""
        assert self.source is not None
        return cast("Fetch", import_module(f"{self.package}.{self.source.module}"))


def kept(stage: str, raw: Raw, pages: Iterator[RawPage | Skipped], failed: Sequence[SourceError]) -> Fetched:
    """What became of `pages` in raw; `failed` is filled while they come, and what came before stays."""
    done = raw.append(pages)
    given = done.new + done.known
    row = count(stage, taken=given + len(done.skipped), given=given, lost=done.skipped)
    summary = Summary([row], done.skipped[:MOST_EXAMPLES], {"new_pages": done.new, "known_pages": done.known})
    return Fetched(summary, failed[0] if failed else None)


def unknown_key(sha256: str) -> str:
    """The document key of a page that does not say where it comes from."""
    return f"page:{sha256[:16]}"


def thread_key(url: object) -> str | None:
    """`host/owner/repo#number`, lower case, of the web or API URL of a thread; None if it is no such URL."""
    match = _THREAD_URL.match(url) if isinstance(url, str) else None
    if match is None:
        return None
    host, owner, repo, number = match.groups()
    if not {".", ".."}.isdisjoint((owner, repo)):  # a browser would leave the folder
        return None
    host = "github.com" if host.lower() in ("api.github.com", "www.github.com") else host.lower()
    return f"{host}/{owner.lower()}/{repo.lower()}#{int(number)}"


def json_value(body: bytes | str) -> object:
    """What `json.loads` gives for `body`, as other people write JSON, in half the time.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deep.
    """
    try:
        return from_json(body)
    except ValueError:  # half surrogates, a byte-order mark, UTF-16, two hundred levels: `json` takes them
        found: object = json.loads(body)
        return found
