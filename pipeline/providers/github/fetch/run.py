"""One run over one repository: sweep, prove, compare references, look for the missing, and only then move the mark."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from pipeline.providers.github.fetch import shapes
from pipeline.providers.github.fetch.answers import Answer, Refused
from pipeline.providers.github.fetch.compare import Comparison
from pipeline.providers.github.fetch.conditional_pages import PER_PAGE, Desk, elements
from pipeline.providers.github.fetch.ledger import Ledger, Progress
from pipeline.providers.github.fetch.work import Batch, Outcome, Wanted, Work, iso
from pipeline.records.errors import SourceError

# How many threads are brought before they are made durable: what a kill may cost. Small enough for a minute of
# requests, large enough that a year of a large repository is some hundred segments of raw.
BATCH_THREADS = 50
# The listing is read again while threads move in it; six times were never needed, a loop must end.
MAX_ROUNDS = 6


class Run:
    """One run; `batches` does it."""

    def __init__(self, desk: Desk, wanted: Wanted, outcome: Outcome) -> None:
        self._desk, self._wanted, self._outcome = desk, wanted, outcome
        self._ledger: Ledger = desk.ledger
        self._work = Work(desk, outcome)
        self._is_covered = False

    def batches(self) -> Iterator[Batch]:
        """What is new, batch by batch. What is whole comes out even if the run then ends early."""
        self._begin()
        try:
            yield from self._swept()
            yield from Comparison(self._work, self._wanted).batches()
        except SourceError:
            self._work.items += self._outcome.failures.values()
            yield self._work.batch()
            raise
        self._end()
        self._work.items += self._outcome.failures.values()
        yield self._work.batch()

    # ------------------------------------------------------------ where to begin, and what to remember

    def _begin(self) -> None:
        progress, wanted, held = self._ledger.progress, self._wanted, self._desk.held
        if len(held.numbers()) < progress.threads:  # raw was thrown away, or something in it forgotten
            self._ledger.forget_validators()
            progress = Progress(canonical=progress.canonical)
        if progress.selection != wanted.selection:
            progress = Progress(selection=wanted.selection, canonical=progress.canonical)
        is_covered = progress.watermark is not None and _covers(progress.covered_from, wanted.since)
        since = progress.watermark if is_covered else wanted.since
        if progress.run_started_at is None or progress.run_since != since:
            now = datetime.fromtimestamp(self._desk.client.governor.now(), UTC).replace(microsecond=0)
            progress = replace(progress, run_started_at=iso(now), run_since=since, position=None)
        self._work.progress, self._work.mentioned = progress, set(progress.mentioned)
        self._is_covered = is_covered

    def _end(self) -> None:
        """The run is over: the watermark moves only if nothing is missing."""
        progress, outcome = self._work.progress, self._outcome
        ended = replace(progress, run_started_at=None, run_since=None, position=None)
        if outcome.failures or outcome.reason:
            outcome.reason = outcome.reason or f"{len(outcome.failures)} threads could not be had"
            self._work.progress = ended
            return
        outcome.is_complete = True
        started = _moment(progress.run_started_at or "")
        watermark = iso(started - timedelta(seconds=self._wanted.overlap_seconds))
        is_quiet = progress.watermark is not None and self._is_covered and not self._work.brought
        self._work.progress = replace(
            ended,
            # A quiet repository keeps its watermark: the same question is answered by 304.
            watermark=progress.watermark if is_quiet else watermark,
            covered_from=progress.covered_from if self._is_covered else self._wanted.since,
        )

    # ------------------------------------------------------------ the sweep

    def _swept(self) -> Iterator[Batch]:
        """Reads the listing, and again from where something moved, until it brings nothing new."""
        progress = self._work.progress
        since = _before(progress.position) if progress.position else progress.run_since
        started_at = progress.run_started_at or ""
        for _ in range(MAX_ROUNDS):
            self._work.news, self._work.moved_from = 0, None
            answers = yield from self._listed(since)
            if answers == 1 or not self._work.news:  # one answer is one moment: nothing can have moved in it
                return
            since = min(started_at, self._work.moved_from or started_at)
            self._work.progress = replace(self._work.progress, position=since)
        self._outcome.reason = f"threads still moved after {MAX_ROUNDS} readings of the listing"

    def _listed(self, since: str | None) -> Generator[Batch, None, int]:
        """Every thread changed since then, oldest change first. Returns the number of answers that it took."""
        desk, answers = self._desk, 0
        url: str | None = self._listing_url(since)
        while url is not None:
            try:
                answer, next_url = desk.ask(url)
            except Refused as error:
                url = self._resumed(error, since)
                since = self._work.progress.position
                continue
            answers += 1
            if answer.status == 200:
                failures = len(self._outcome.failures)
                yield from self._page(answer)
                if len(self._outcome.failures) == failures:
                    desk.learn(answer)
            yield self._work.batch()
            url = next_url
        return answers

    def _resumed(self, error: Refused, since: str | None) -> str:
        """Where the listing goes on if GitHub refuses its own next page: cursors expire, page numbers end at 422."""
        position = self._work.progress.position
        if error.status != 422 or position is None or position == since:
            raise error
        return self._listing_url(_before(position))

    def _listing_url(self, since: str | None) -> str:
        wanted = self._wanted
        query = {"state": wanted.state, "sort": "updated", "direction": "asc", "per_page": str(PER_PAGE)}
        if wanted.labels:
            query["labels"] = ",".join(wanted.labels)
        if since:
            query["since"] = since
        return self._desk.path(f"issues?{urlencode(query)}")

    def _page(self, answer: Answer) -> Iterator[Batch]:
        threads = shapes.many(shapes.Thread, answer.body, answer.url)
        for body, thread in zip(elements(answer.body), threads, strict=True):
            self._work.thread(body, thread, answer)
            # Only an unbroken, ascending listing may be left at this place and taken up again from here.
            updated_at = iso(thread.updated_at)
            if not self._outcome.failures and updated_at >= (self._work.progress.position or ""):
                self._work.progress = replace(self._work.progress, position=updated_at)
            if self._work.unsaved >= BATCH_THREADS:
                yield self._work.batch()


def _covers(covered_from: str | None, since: str | None) -> bool:
    return covered_from is None or (since is not None and covered_from <= since)


def _before(position: str) -> str:
    """A second earlier, because `since` is documented as "after"."""
    return iso(_moment(position) - timedelta(seconds=1))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
