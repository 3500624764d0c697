"""One run over one repository: sweep, prove, compare references, look for the missing, and only then move the mark."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from pipeline.providers.github.fetch import shapes
from pipeline.providers.github.fetch.answers import Answer, Refused
from pipeline.providers.github.fetch.client import Elsewhere
from pipeline.providers.github.fetch.compare import Comparison
from pipeline.providers.github.fetch.conditional_pages import PER_PAGE, Desk, elements
from pipeline.providers.github.fetch.ledger import Ledger, Progress, without_marks
from pipeline.providers.github.fetch.paging import Paging
from pipeline.providers.github.fetch.work import Batch, Outcome, Wanted, Work, iso
from pipeline.records.errors import SourceChanged, SourceError, SourceUnreachable

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
        self._newest: datetime | None = None  # change that the listing showed in this run, and not later than now
        self._reached: str | None = None  # place up to which the listing was read, oldest change first
        self._is_ordered = True

    def batches(self) -> Iterator[Batch]:
        """What is new, batch by batch. What is whole comes out even if the run then ends early."""
        self._begin()
        try:
            yield from self._swept()
            yield from self._asked_again()
            yield from Comparison(self._work, self._wanted).batches()
        except SourceError:
            self._work.end(is_read=False)
            yield self._work.batch()
            raise
        self._end()
        self._work.end(is_read=not self._outcome.reason)
        yield self._work.batch()

    # ------------------------------------------------------------ where to begin, and what to remember

    def _begin(self) -> None:
        progress, wanted, held = self._ledger.progress, self._wanted, self._desk.held
        if len(held.numbers()) < progress.threads:  # raw was thrown away, or something in it forgotten
            self._ledger.forget_validators()
            progress = Progress(canonical=progress.canonical)
        if _is_ahead(progress, iso(self._desk.client.governor.own_moment())):
            progress = without_marks(progress)
        if progress.selection != wanted.selection:
            progress = Progress(selection=wanted.selection, canonical=progress.canonical)
        is_covered = progress.watermark is not None and _covers(progress.covered_from, wanted.since)
        since = progress.watermark if is_covered else wanted.since
        if progress.run_started_at is None or progress.run_since != since:
            now = iso(self._desk.client.governor.moment())
            progress = replace(progress, run_started_at=now, run_since=since, position=None)
        self._work.progress, self._work.mentioned = progress, set(progress.mentioned)
        self._is_covered = is_covered

    def _end(self) -> None:
        """The run is over: the watermark moves only if the listing was read whole.

        Threads that could not be had are remembered by themselves; the run is partial, the next one asks for them.
        """
        progress, outcome = self._work.progress, self._outcome
        if outcome.reason:  # the next run goes on where this one stopped
            return
        if outcome.failures:
            outcome.reason = f"{len(outcome.failures)} threads could not be had"
        outcome.is_complete = not outcome.failures
        ended = replace(progress, run_started_at=None, run_since=None, position=None)
        if self._work.has_gap:
            self._work.progress = ended
            return
        is_quiet = progress.watermark is not None and self._is_covered and not self._work.brought
        self._work.progress = replace(
            ended,
            # A quiet repository keeps its watermark: the same question is answered by 304.
            watermark=progress.watermark if is_quiet or self._newest is None else self._watermark(self._newest),
            covered_from=progress.covered_from if self._is_covered else self._wanted.since,
        )

    def _watermark(self, newest: datetime) -> str:
        """Where the next run begins: not after what was seen, whatever the clocks say, and an overlap before it."""
        started = _moment(self._work.progress.run_started_at or "")
        return iso(min(started, newest) - timedelta(seconds=self._wanted.overlap_seconds))

    # ------------------------------------------------------------ the sweep

    def _swept(self) -> Iterator[Batch]:
        """Reads the listing, and again from where something moved, until it brings nothing new."""
        progress = self._work.progress
        since = _before(progress.position) if progress.position else progress.run_since
        started_at = progress.run_started_at or ""
        for _ in range(MAX_ROUNDS):
            self._work.news, self._work.moved_from = 0, None
            answers = yield from self._listed(since)
            if self._outcome.reason:
                return
            if answers == 1 or not self._work.news:  # one answer is one moment: nothing can have moved in it
                return
            since = min(started_at, self._work.moved_from or started_at)
            self._work.progress = replace(self._work.progress, position=since)
        self._outcome.reason = f"threads still moved after {MAX_ROUNDS} readings of the listing"

    def _listed(self, since: str | None) -> Generator[Batch, None, int]:
        """Every thread changed since then, oldest change first. Returns the number of answers that it took."""
        desk, answers = self._desk, 0
        url: str | None = self._listing_url(since)
        paging = Paging(url or "")
        self._reached, self._is_ordered = None, True
        while url is not None:
            try:
                answer, next_url = desk.ask(url, paging)
            except (Refused, SourceUnreachable, SourceChanged) as error:
                url, since = self._resumed(error, since)
                continue
            answers += 1
            bodies = list(elements(answer.body)) if answer.status == 200 else None
            if bodies is not None:
                yield from self._page(answer, bodies)
                if not self._work.has_gap:
                    desk.learn(answer)
            yield self._work.batch()
            try:
                paging.follow(next_url, bodies)
                url = next_url
            except SourceChanged as error:
                url, since = self._resumed(error, since)
        return answers

    def _resumed(self, error: SourceError, since: str | None) -> tuple[str | None, str | None]:
        """Where the listing goes on if its next page is not to be had: cursors expire, page numbers end at 422.

        It is asked for anew from the last change that was read. Where nothing was, this page is lost to the run.
        """
        if isinstance(error, Elsewhere) or (isinstance(error, Refused) and error.status != 422):
            raise error
        if self._reached is not None and self._reached != since:
            return self._listing_url(_before(self._reached)), self._reached
        if isinstance(error, Refused):
            raise error
        self._outcome.reason = f"a page of the listing could not be had: {error}"
        return None, since

    def _listing_url(self, since: str | None) -> str:
        wanted = self._wanted
        query = {"state": wanted.state, "sort": "updated", "direction": "asc", "per_page": str(PER_PAGE)}
        if wanted.labels:
            query["labels"] = ",".join(wanted.labels)
        if since:
            query["since"] = since
        return self._desk.path(f"issues?{urlencode(query)}")

    def _page(self, answer: Answer, bodies: Sequence[bytes]) -> Iterator[Batch]:
        for place, body in enumerate(bodies):
            try:
                thread = shapes.one(shapes.Thread, body, f"{answer.url} [{place}]")
                self._work.check(thread, answer.url)
            except SourceChanged as error:
                self._work.odd(body, error)
                continue
            self._work.thread(body, thread, answer)
            self._reach(thread.updated_at)
            if self._work.unsaved >= BATCH_THREADS:
                yield self._work.batch()

    def _reach(self, updated_at: datetime) -> None:
        """Notes how far the listing was read. Only an unbroken, ascending one may be left and taken up again there."""
        moment = min(updated_at.astimezone(UTC), self._desk.client.governor.own_moment())
        self._newest = max(moment, self._newest or moment)
        place = iso(moment)
        if place < (self._reached or ""):
            self._is_ordered = False
            self._work.progress = replace(self._work.progress, position=None)
        self._reached = place if self._is_ordered else None
        if self._is_ordered and not self._work.has_gap and place >= (self._work.progress.position or ""):
            self._work.progress = replace(self._work.progress, position=place)

    def _asked_again(self) -> Iterator[Batch]:
        """Threads that could not be had, in this run or an earlier one, each by itself."""
        for number in self._work.pending():
            self._work.again(number)
            if self._work.unsaved >= BATCH_THREADS:
                yield self._work.batch()
        yield self._work.batch()


def _is_ahead(progress: Progress, now: str) -> bool:
    """True if a mark lies in the future of this machine: no run can have come there."""
    return any((mark or "") > now for mark in (progress.watermark, progress.position, progress.run_started_at))


def _covers(covered_from: str | None, since: str | None) -> bool:
    return covered_from is None or (since is not None and covered_from <= since)


def _before(position: str) -> str:
    """A second earlier, because `since` is documented as "after"."""
    return iso(_moment(position) - timedelta(seconds=1))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
