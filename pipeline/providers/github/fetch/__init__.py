"""GitHub's issues and pull requests through its REST API, with all that belongs to them, and nothing twice.

::

    governor.py           how long to wait, by every rate header; when to give up
    answers.py            an answer, a refusal, the figures
    client.py             one serial session; every answer checked
    shapes.py             what an answer must have
    ledger.py             what is remembered between runs: progress, validators (SQLite, one file a repository)
    conditional_pages.py  pages that raw holds cost next to nothing to ask for again
    paging.py             that lists which are read page by page come to an end
    children.py           timeline, comments, pull request, reviews of one thread
    references.py         cross-references by GraphQL
    absence.py            tombstones: transferred, deleted, gone or private
    compare.py            references that changed no date, threads that are away
    releases.py           releases with their notes
    work.py               one thread after the other into batches
    repositories.py       those of the settings, one after the other; the token comes from the environment
    run.py                one run: sweep, prove, compare; the watermark
    plan.py               what a run would cost
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol
from urllib.parse import urlsplit

from pipeline.providers.github import is_repo
from pipeline.providers.github.fetch import absence, releases, shapes
from pipeline.providers.github.fetch.answers import Answer, Figures, Refused, Tuning
from pipeline.providers.github.fetch.client import DEFAULT_API_URL, Client
from pipeline.providers.github.fetch.conditional_pages import Desk, Held, Home, Kept
from pipeline.providers.github.fetch.governor import Governor
from pipeline.providers.github.fetch.ledger import (
    Ledger,
    Progress,
    Validator,
    alone,
    ledger_path,
    ledgers_of,
    read_progress,
)
from pipeline.providers.github.fetch.plan import Plan, plan
from pipeline.providers.github.fetch.run import Run
from pipeline.providers.github.fetch.work import Batch, Outcome, Wanted
from pipeline.records.errors import ConfigError, SourceChanged

__all__ = [
    "DEFAULT_API_URL",
    "Batch",
    "Client",
    "Figures",
    "Governor",
    "Kept",
    "Ledger",
    "Outcome",
    "Plan",
    "Raw",
    "Refused",
    "Tuning",
    "Wanted",
    "alone",
    "checked_repo",
    "ingest",
    "ledger_path",
    "ledgers_of",
    "plan",
    "read_progress",
]


class Raw(Protocol):
    """What the ingest must know of the raw layer."""

    def kept(self, prefix: str) -> Iterable[Kept]:
        """The pages that it holds of the documents whose keys begin so."""

    def threads(self, prefix: str) -> Iterable[int]:
        """The numbers of the documents whose keys begin so, whichever source brought them."""

    def releases(self, prefix: str) -> Mapping[str, str]:
        """The sha256 of the current page of each document whose key begins so."""

    def is_forgotten(self, document_key: str) -> bool:
        """True if the document was forgotten on request."""


def checked_repo(repo: str) -> str:
    """`repo`, if it is owner/name.

    Raises:
        ConfigError: it is not.
    """
    if not is_repo(repo):
        raise ConfigError(f"{repo[:100]!r} is no repository", hint="Write owner/name, such as openxla/xla.")
    return repo


def ingest(client: Client, wanted: Wanted, ledger: Ledger, *, raw: Raw, outcome: Outcome) -> Iterator[Batch]:
    """What is new in one repository, batch by batch; each is to be kept and then confirmed by its `saved`.

    Raises:
        RateLimited, SourceUnreachable: the run ends here; the next one goes on from what was confirmed.
        SourceChanged, Refused: it will not get better by itself.
    """
    home, canonical = _home(client, ledger, wanted.repo)
    before = ledger.progress.canonical
    if before is not None and before.lower() != canonical.lower():
        prefix = f"{before.lower()}#"
        yield _renamed(client, ledger, prefix, raw=raw, home=home, numbers=Held(raw.kept(prefix)).numbers())
        ledger.forget_validators()
        ledger.save(Progress(canonical=canonical))
    elif before is None:
        ledger.save(replace(ledger.progress, canonical=canonical))
    desk = Desk(client, ledger, home, Held(raw.kept(home.prefix)), forgotten=raw.is_forgotten)
    yield from Run(desk, wanted, outcome).batches()
    yield from releases.batches(desk, raw.releases(f"{home.prefix[:-1]}/releases/"))
    asked = f"{canonical.partition('/')[0]}/{wanted.repo}#".lower()
    if asked != home.prefix:  # an archive may have brought threads under the name that was asked for
        twice = set(raw.threads(asked)) & set(raw.threads(home.prefix))
        yield _renamed(client, ledger, asked, raw=raw, home=home, numbers=twice)


def _home(client: Client, ledger: Ledger, repo: str) -> tuple[Home, str]:
    """The repository by the name that GitHub gives it now, and that name with its host."""
    url = client.url(f"repos/{checked_repo(repo)}")
    known, canonical = ledger.validator(url, client.fingerprint), ledger.progress.canonical
    try:
        answer = client.get(url, etag=known.etag if known and canonical else None, check=_named)
    except SourceChanged:
        if canonical is None:
            raise
    else:
        canonical = _named(answer) or canonical
        if answer.status == 200 and answer.etag and ledger.progress.canonical in (None, canonical):
            validator = Validator(url, client.fingerprint, answer.etag, "", None)
            ledger.save(replace(ledger.progress, canonical=canonical), [validator])
    assert canonical is not None, "304 is only asked for where the name is known"
    return Home(canonical.partition("/")[2], f"{canonical.lower()}#"), canonical


def _named(answer: Answer) -> str | None:
    """Host and owner/name by which GitHub knows a repository; None if that is as it was.

    Raises:
        SourceChanged: it names none.
    """
    if answer.status == 304:
        return None
    found = shapes.one(shapes.Repository, answer.body, answer.url)
    try:
        host = (urlsplit(found.html_url).hostname or "").removeprefix("www.")
        return f"{host}/{checked_repo(found.full_name)}"
    except (ValueError, ConfigError) as error:
        raise SourceChanged(f"{answer.url}: {error}", url=answer.url) from error


def _renamed(client: Client, ledger: Ledger, prefix: str, *, raw: Raw, home: Home, numbers: Iterable[int]) -> Batch:
    """The threads under the old name say where they went; under the new name they are there, or brought anew."""
    old = Desk(client, ledger, Home(home.name, prefix), Held(raw.kept(prefix)), forgotten=raw.is_forgotten)
    pages = [absence.moved(old, number, f"{home.prefix}{number}") for number in sorted(numbers)]
    return Batch(tuple(page for page in pages if page), lambda: None)
