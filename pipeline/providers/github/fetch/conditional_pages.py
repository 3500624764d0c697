"""The pages of one repository, asked for so that what raw holds already costs next to nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from pipeline.providers.github.fetch import shapes
from pipeline.providers.github.fetch.answers import Answer, Refused
from pipeline.providers.github.fetch.client import Client
from pipeline.providers.github.fetch.ledger import Ledger, Validator
from pipeline.providers.github.fetch.paging import MOST_PART_PAGES, Paging
from pipeline.providers.github.fetch.shapes import ShapeT
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import SourceChanged

PER_PAGE = 100
EMPTY_LIST = b"[]"
_EMPTY_SHA256 = hashlib.sha256(EMPTY_LIST).hexdigest()


class Kept(NamedTuple):
    """One page of the repository that raw holds, without its body."""

    number: int
    part: str
    version_at: str
    sha256: str


class Held:
    """What raw holds of one repository: the current version of every part of every thread."""

    def __init__(self, kept: Iterable[Kept] = ()) -> None:
        self._threads: dict[int, dict[str, tuple[str, str]]] = {}
        for page in kept:
            self.add(page)

    def add(self, page: Kept) -> None:
        """Counts `page` as held; of two versions the greater stays."""
        parts = self._threads.setdefault(page.number, {})
        parts[page.part] = max(parts.get(page.part, ("", "")), (page.version_at, page.sha256))

    def parts(self, number: int) -> Mapping[str, tuple[str, str]]:
        """(version, sha256) of each part of a thread."""
        return self._threads.get(number, {})

    def numbers(self) -> set[int]:
        """The threads of which the main page is held."""
        return {number for number, parts in self._threads.items() if "main" in parts}


@dataclass(frozen=True, slots=True)
class Home:
    """The repository, as GitHub itself names it."""

    name: str  # owner/name, for paths of the API
    prefix: str  # of its document keys: "github.com/owner/name#"


class Collected(NamedTuple):
    """A list of one thread: the pages that raw lacks, and what the list says."""

    pages: list[RawPage]
    bodies: list[bytes]  # of the pages that were sent; empty if all is as it was
    is_whole: bool  # True if `bodies` are all of the list


class Desk:
    """Where one repository's pages are asked for and made into records."""

    def __init__(
        self, client: Client, ledger: Ledger, home: Home, held: Held, *, forgotten: Callable[[str], bool]
    ) -> None:
        self.client, self.ledger, self.home, self.held = client, ledger, home, held
        self._forgotten = forgotten
        self.given_up: frozenset[int] = frozenset()  # threads whose lists are taken as they are, bad items and all
        self.odd: list[Skipped] = []  # bad items of those, since the last batch
        self.validators: list[Validator] = []  # learnt since the ledger was saved last

    def key(self, number: int) -> str:
        """The document key of a thread."""
        return f"{self.home.prefix}{number}"

    def is_forgotten(self, number: int) -> bool:
        """True if a person asked that the thread be forgotten: it is not asked for."""
        return self._forgotten(self.key(number))

    def ask(
        self, url: str, paging: Paging, shape: type[ShapeT] | type[shapes.Thread] = shapes.Thread
    ) -> tuple[Answer, str | None]:
        """The answer to a listing, conditional where a validator is known, and the address of the next page.

        The validator of a listing is kept only when all that it lists was in raw, so 304 says: nothing to do. A list
        with bad items, or one that leads back, is asked for again, and then is the answer.
        """
        known = self.ledger.validator(url, self.client.fingerprint)
        if known and paging.has(known.next_url):
            known = None
        found: list[Answer] = []

        try:
            return self._asked(url, known, _list_check(shape, paging, found))
        except SourceChanged:
            if not found:
                raise
            return found[0], found[0].next_url

    def ask_part(
        self, url: str, number: int, part: str, *, check: Callable[[Answer], object]
    ) -> tuple[Answer, str | None]:
        """The same for a page that raw keeps: a validator that stands for another page than the held is of no use."""
        known = self.ledger.validator(url, self.client.fingerprint)
        held = self._sha256(number, part) or _EMPTY_SHA256  # an empty list is not kept, only its validator
        return self._asked(url, known if known and known.sha256 == held else None, check)

    def _asked(self, url: str, known: Validator | None, check: Callable[[Answer], object]) -> tuple[Answer, str | None]:
        answer = self.client.get(url, etag=known.etag if known else None, check=check)
        if answer.final_url != answer.url:
            message = f"{url}: moved to {answer.final_url}"
            raise Refused(message, url=url, status=301)
        if answer.status == 304 and known is not None:
            return answer, known.next_url
        return answer, answer.next_url

    def learn(self, answer: Answer) -> None:
        """Keeps the validator of an answer until the ledger is saved."""
        if answer.status == 200 and answer.etag:
            digest = hashlib.sha256(answer.body).hexdigest()
            validator = Validator(answer.url, self.client.fingerprint, answer.etag, digest, answer.next_url)
            self.validators.append(validator)

    def one(
        self, number: int, part: str, path: str, shape: type[ShapeT], *, form: str
    ) -> tuple[RawPage | None, ShapeT | None]:
        """A page that is one object: the record if raw lacks it, and the object unless it is as it was."""

        def check(answer: Answer) -> None:
            if answer.status == 200:
                shapes.one(shape, answer.body, answer.url)

        answer, _ = self.ask_part(self.path(path), number, part, check=check)
        if answer.status == 304:
            return None, None
        self.learn(answer)
        found = shapes.one(shape, answer.body, answer.url)
        return self.page(number, part, answer.body, form=form, answer=answer), found

    def collect(self, number: int, part: str, path: str, shape: type[ShapeT]) -> Collected:
        """A list of one thread, all its pages: parts "timeline", "timeline:2", ...; what vanished becomes empty."""
        form, pages, bodies = f"github-{part}", [], []
        first = self.path(f"{path}?per_page={PER_PAGE}")
        url: str | None = first
        count, paging = 0, Paging(first, most_pages=MOST_PART_PAGES)
        while url is not None:
            count += 1
            name = part if count == 1 else f"{part}:{count}"
            answer, url = self._ask_list(url, number, name, shape, paging)
            if answer.status == 304:
                paging.follow(url, None)
                continue
            paging.follow(url, elements(answer.body) if url or count > 1 else ())
            self.learn(answer)
            bodies.append(answer.body)
            is_nothing = answer.body.strip() == EMPTY_LIST and not self._sha256(number, name)
            page = None if is_nothing else self.page(number, name, answer.body, form=form, answer=answer)
            pages += [page] if page else []
        for name in self._beyond(number, part, count):
            page = self.page(number, name, EMPTY_LIST, form=form, answer=answer)
            pages += [page] if page else []
        return Collected(pages, bodies, len(bodies) == count)

    def _ask_list(
        self, url: str, number: int, part: str, shape: type[ShapeT], paging: Paging
    ) -> tuple[Answer, str | None]:
        """One page of a list of a thread."""
        found: list[Answer] = []

        try:
            return self.ask_part(url, number, part, check=_list_check(shape, paging, found))
        except SourceChanged as error:
            if number not in self.given_up or not found:
                raise
            self.odd.append(Skipped("github", error.url, "bad_answer", str(error)[:300]))
            return found[0], None if paging.has(found[0].next_url) else found[0].next_url

    def page(self, number: int, part: str, body: bytes, *, form: str, answer: Answer) -> RawPage | None:
        """The record of a page, None if raw holds just this as the current one.

        Its version is the time at which GitHub served it: lists have no other, and one that shrinks must still win.
        """
        digest = hashlib.sha256(body).hexdigest()
        if digest == self._sha256(number, part):
            return None
        return RawPage(
            sha256=digest,
            source="github",
            url=answer.url,
            form=form,
            document_key=self.key(number),
            part=part,
            version_at=self._version(number, part, answer.served_at),
            fetched_at=answer.served_at,
            etag=answer.etag,
            body=body,
        )

    def path(self, path: str) -> str:
        """The address of a path below the repository."""
        return self.client.url(f"repos/{self.home.name}/{path}")

    def _sha256(self, number: int, part: str) -> str | None:
        return self.held.parts(number).get(part, ("", None))[1]

    def _version(self, number: int, part: str, served_at: datetime) -> str:
        """A stamp greater than that of the version held, however coarse or wrong the server's clock is."""
        stamp = _stamp(served_at)
        held = self.held.parts(number).get(part, ("", ""))[0]
        if held < stamp:
            return stamp
        return _stamp(datetime.fromisoformat(held) + timedelta(microseconds=1))

    def _beyond(self, number: int, part: str, count: int) -> Iterator[str]:
        """The held pages of a list that has become shorter."""
        for name, (_, sha256) in sorted(self.held.parts(number).items()):
            root, _, position = name.partition(":")
            if root == part and position.isdigit() and int(position) > count and sha256 != _EMPTY_SHA256:
                yield name


def _list_check(shape: type[ShapeT], paging: Paging, found: list[Answer]) -> Callable[[Answer], None]:
    """A check of one page of a list; `found` is then the last answer that was a list, whatever was wrong with it."""

    def check(answer: Answer) -> None:
        if answer.status == 200:
            try:
                shapes.many(shape, answer.body, answer.url)
            except shapes.BadItem:
                found[:] = [answer]
                raise
            found[:] = [answer]
        paging.check(answer.next_url)

    return check


def elements(body: bytes) -> Iterator[bytes]:
    """Each element of a JSON list by its own bytes, as an import of the same list would cut it."""
    text = body.decode("utf-8-sig")
    decoder = json.JSONDecoder()
    position = text.index("[") + 1
    while True:
        while text[position] in " \t\r\n,":
            position += 1
        if text[position] == "]":
            return
        _, end = decoder.raw_decode(text, position)
        yield text[position:end].encode()
        position = end


def _stamp(moment: datetime) -> str:
    """With microseconds always, so that stamps compare as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
