"""The releases of one repository: what their notes name was fixed by then. One list, newest first, asked for last."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from pipeline.providers.github.fetch import shapes
from pipeline.providers.github.fetch.answers import Answer, Refused
from pipeline.providers.github.fetch.conditional_pages import PER_PAGE, Desk, elements
from pipeline.providers.github.fetch.paging import MOST_PART_PAGES, Paging
from pipeline.providers.github.fetch.work import Batch
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import SourceChanged, SourceUnreachable

FORM = "github-release"
#: What is kept of a release. The whole object has the download counts of its files: it would be new at every run.
_FIELDS = ("body", "created_at", "html_url", "id", "name", "prerelease", "published_at", "tag_name")


def batches(desk: Desk, held: Mapping[str, str]) -> Iterator[Batch]:
    """The releases that raw lacks, a page of the list at a time; `held` is key -> sha256 of those that it has.

    Once the list was read whole, it is read only as far as it brings something. A list that cannot be had costs itself:
    it is named, and the next run asks again.

    Raises:
        RateLimited: the run ends here.
        Refused: the token is none.
    """
    first = desk.path(f"releases?per_page={PER_PAGE}")
    was_whole = desk.ledger.validator(first, desk.client.fingerprint) is not None
    paging, newest = Paging(first, most_pages=MOST_PART_PAGES), None
    url: str | None = first
    try:
        while url is not None:
            answer, url = desk.ask(url, paging, shapes.Release)
            if answer.status == 304:
                return
            newest = newest or answer
            bodies = list(elements(answer.body))
            items = [item for place, body in enumerate(bodies) for item in _items(desk, held, answer, body, place)]
            yield Batch(tuple(items), _nothing)
            if was_whole and not items:
                break
            paging.follow(url, bodies)
    except (Refused, SourceUnreachable, SourceChanged) as error:
        if isinstance(error, Refused) and error.status == 401:
            raise
        reasons = {Refused: "refused", SourceUnreachable: "unreachable"}
        yield Batch((Skipped("github", error.url, reasons.get(type(error), "bad_answer"), str(error)[:300]),), _nothing)
        return
    if newest is not None:
        desk.learn(newest)
    validators, desk.validators = desk.validators, []
    yield Batch((), lambda: desk.ledger.save(desk.ledger.progress, validators))


def _nothing() -> None:
    """There is nothing to remember."""


def _items(desk: Desk, held: Mapping[str, str], answer: Answer, body: bytes, place: int) -> Iterator[RawPage | Skipped]:
    """The page of one release, if raw lacks it; why there is none, if it is not one. Drafts are not published."""
    address = f"{answer.url} [{place}]"
    try:
        release = shapes.one(shapes.Release, body, address)
    except SourceChanged as error:
        yield Skipped("github", address, "bad_answer", str(error)[:300])
        return
    if release.published_at is None:
        return
    value = json.loads(body)
    kept = json.dumps({name: value.get(name) for name in _FIELDS}, sort_keys=True, ensure_ascii=False).encode()
    key, digest = f"{desk.home.prefix[:-1]}/releases/{release.id}", hashlib.sha256(kept).hexdigest()
    if held.get(key) == digest:
        return
    yield RawPage(
        sha256=digest,
        source="github",
        url=release.html_url,
        form=FORM,
        document_key=key,
        part="main",
        version_at=answer.served_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        fetched_at=answer.served_at,
        etag=None,
        body=kept,
    )
