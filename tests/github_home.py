"""A home whose raw is filled from the stand-in: what the tests of the live ingest share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline import raw
from pipeline.providers import documents
from pipeline.providers.github import fetch as github
from pipeline.providers.github.fetch import repositories
from pipeline.records import Document, RawPage, Skipped
from pipeline.records.summary import Fetched
from tests.fake_github import TOKEN, FakeGithub

REPO = "errmine-fixtures/pond"


def client(fake: FakeGithub, token: str | None = TOKEN, **governor: Any) -> github.Client:
    """A client of the stand-in that never really waits."""
    made = github.Governor(**{"clock": fake.now, "sleep": fake.sleep, "jitter": lambda: 0.0, **governor})
    tuning = github.Tuning(retry_seconds=0, timeout_seconds=(2.0, 1.0), answer_seconds=3.0, tries_seconds=7.5)
    return github.Client(token, api_url=fake.url, governor=made, tuning=tuning, clock=fake.clock)


class Place:
    """One home."""

    def __init__(self, folder: Path, fake: FakeGithub) -> None:
        self.fake, self.folder = fake, folder
        self.layer = raw.RawLayer(folder / "raw")

    def ingest(self, *, token: str | None = TOKEN, repo: str = REPO, governor: Any = None, **wanted: Any) -> Fetched:
        """One run, whatever comes of it."""
        return repositories.ingest(
            self.layer,
            self.folder / ".errmine" / "github",
            [github.Wanted(repo, **wanted)],
            client=client(self.fake, token, **(governor or {})),
        )

    def pages(self, number: int, repo: str = REPO) -> dict[str, RawPage]:
        """The current pages of a thread by their parts."""
        key = f"github.com/{repo}#{number}"
        found = next((refs for refs in self.layer.documents() if refs.document_key == key), None)
        return {page.part: page for page in self.layer.read(found.refs)} if found else {}

    def document(self, number: int, repo: str = REPO) -> Document | Skipped:
        """What the documents stage makes of a thread."""
        return documents.document(list(self.pages(number, repo).values()))

    def content(self) -> dict[tuple[str, str], str]:
        """Everything that is current: what two homes must have in common."""
        return {(refs.document_key, ref.part): ref.sha256 for refs in self.layer.documents() for ref in refs.refs}

    def texts(self) -> dict[str, str]:
        """The documents that come of it, each by a digest of its text and edges."""
        found = {}
        for refs in self.layer.documents():
            made = documents.document(self.layer.read(refs.refs))
            known = made.reason if isinstance(made, Skipped) else f"{made.text}{made.state}{made.links}"
            found[refs.document_key] = hashlib.sha256(known.encode()).hexdigest()
        return found

    def documents(self) -> dict[str, Document | Skipped]:
        """The documents that come of it, whole but for the hash of the bytes that they were read from."""
        found = {}
        for refs in self.layer.documents():
            made = documents.document(self.layer.read(refs.refs))
            found[refs.document_key] = replace(made, raw_sha256="") if isinstance(made, Document) else made
        return found


def nth(count: int, fault: Any) -> Callable[[int, Any], Any]:
    """A fault for the request of that number alone."""
    return lambda number, _asked: fault if number == count else None
