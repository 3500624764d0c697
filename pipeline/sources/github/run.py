"""One run over one repository: sweep, prove, compare references, look for the missing, and only then move the mark."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from pipeline.errors import SourceChanged, SourceError, SourceUnreachable
from pipeline.records import RawPage, Skipped
from pipeline.sources import detect
from pipeline.sources.github import absence, children, references, shapes
from pipeline.sources.github.client import Answer, Refused
from pipeline.sources.github.desk import PER_PAGE, Desk, Kept, elements
from pipeline.sources.github.ledger import Ledger, Progress

# How many threads are brought before they are made durable: what a kill may cost. Small enough for a minute of
# requests, large enough that a year of a large repository is some hundred segments of raw.
BATCH_THREADS = 50
# The listing is read again while threads move in it; six times were never needed, a loop must end.
MAX_ROUNDS = 6
# Threads in a row that could not be had: the source is down, not the thread.
MAX_FAILURES_IN_A_ROW = 5
# Without GraphQL: timelines asked for again in one run, in turn. An unchanged one is free under a token only.
RECHECKS = 50
ANONYMOUS_RECHECKS = 5
DEFAULT_OVERLAP_SECONDS = 600
# Refusals after which the thread itself is asked for.
_AWAY = frozenset({301, 404, 410, 451})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asks of one repository."""

    repo: str  # owner/name
    since: str | None = None  # ISO; only threads changed at this time or later
    state: str = "all"
    labels: tuple[str, ...] = ()
    overlap_seconds: int = DEFAULT_OVERLAP_SECONDS

    @property
    def selection(self) -> str:
        """Names what is listed; a watermark is good for one selection only."""
        return f"{self.state}|{','.join(sorted(self.labels))}"

    @property
    def is_everything(self) -> bool:
        """True if every thread of the repository is listed."""
        return self.state == "all" and not self.labels and self.since is None


@dataclass(slots=True)
class Outcome:
    """How the run went; filled while it goes on."""

    repo: str
    is_complete: bool = False
    reason: str = ""  # why it is not complete
    references_by: str = ""  # "graphql", or "rest" and why
    threads: int = 0  # brought, because new or changed
    tombstones: int = 0
    failures: dict[int, Skipped] = field(default_factory=dict)  # threads that could not be had, by number


@dataclass(frozen=True, slots=True)
class Batch:
    """Pages to be kept. When they are safe in raw, `saved` must be called, and not before."""

    items: tuple[RawPage | Skipped, ...]
    saved: Callable[[], None]


class Run:
    """One run; `batches` does it."""

    def __init__(self, desk: Desk, wanted: Wanted, outcome: Outcome) -> None:
        self._desk, self._wanted, self._outcome = desk, wanted, outcome
        self._ledger: Ledger = desk.ledger
        self._progress = Progress()
        self._items: list[RawPage | Skipped] = []
        self._unsaved = 0  # threads in `_items`
        self._crossings: dict[int, str] = {}  # marks learnt since the last save
        self._brought: set[int] = set()
        self._refused: set[int] = set()
        self._mentioned: set[int] = set()
        self._failed_in_a_row = 0
        self._news = 0
        self._moved_from: str | None = None

    def batches(self) -> Iterator[Batch]:
        """What is new, batch by batch. What is whole comes out even if the run then ends early."""
        self._begin()
        try:
            yield from self._swept()
            yield from self._compared()
        except SourceError:
            self._items += self._outcome.failures.values()
            yield self._batch()
            raise
        self._end()
        self._items += self._outcome.failures.values()
        yield self._batch()

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
            progress = replace(progress, run_started_at=_iso(now), run_since=since, position=None)
        self._progress = progress
        self._is_covered = is_covered

    def _end(self) -> None:
        """The run is over: the watermark moves only if nothing is missing."""
        progress, outcome = self._progress, self._outcome
        ended = replace(progress, run_started_at=None, run_since=None, position=None)
        if outcome.failures or outcome.reason:
            outcome.reason = outcome.reason or f"{len(outcome.failures)} threads could not be had"
            self._progress = ended
            return
        outcome.is_complete = True
        started = _moment(progress.run_started_at or "")
        watermark = _iso(started - timedelta(seconds=self._wanted.overlap_seconds))
        is_quiet = progress.watermark is not None and self._is_covered and not self._brought
        self._progress = replace(
            ended,
            # A quiet repository keeps its watermark: the same question is answered by 304.
            watermark=progress.watermark if is_quiet else watermark,
            covered_from=progress.covered_from if self._is_covered else self._wanted.since,
        )

    def _batch(self) -> Batch:
        items, self._items, self._unsaved = tuple(self._items), [], 0
        validators, self._desk.validators = self._desk.validators, []
        crossings, self._crossings = self._crossings, {}
        progress = replace(self._progress, threads=len(self._desk.held.numbers()))

        def saved() -> None:
            self._ledger.save(progress, validators, sorted(crossings.items()))

        return Batch(items, saved)

    def _keep(self, page: RawPage | None) -> None:
        if page is not None:
            self._items.append(page)
            number = int(page.document_key.rpartition("#")[2])
            self._desk.held.add(Kept(number, page.part, page.version_at, page.sha256))
            self._outcome.tombstones += page.part == absence.PART and page.body != absence.RETURNED

    # ------------------------------------------------------------ the sweep

    def _swept(self) -> Iterator[Batch]:
        """Reads the listing, and again from where something moved, until it brings nothing new."""
        progress = self._progress
        since = _before(progress.position) if progress.position else progress.run_since
        started_at = progress.run_started_at or ""
        for _ in range(MAX_ROUNDS):
            self._news, self._moved_from = 0, None
            answers = yield from self._listed(since)
            if answers == 1 or not self._news:  # one answer is one moment: nothing can have moved in it
                return
            since = min(started_at, self._moved_from or started_at)
            self._progress = replace(self._progress, position=since)
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
                since = self._progress.position
                continue
            answers += 1
            if answer.status == 200:
                failures = len(self._outcome.failures)
                yield from self._page(answer)
                if len(self._outcome.failures) == failures:
                    desk.learn(answer)
            yield self._batch()
            url = next_url
        return answers

    def _resumed(self, error: Refused, since: str | None) -> str:
        """Where the listing goes on if GitHub refuses its own next page: cursors expire, page numbers end at 422."""
        position = self._progress.position
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
            self._thread(body, thread, answer)
            # Only an unbroken, ascending listing may be left at this place and taken up again from here.
            updated_at = _iso(thread.updated_at)
            if not self._outcome.failures and updated_at >= (self._progress.position or ""):
                self._progress = replace(self._progress, position=updated_at)
            if self._unsaved >= BATCH_THREADS:
                yield self._batch()

    def _thread(self, body: bytes, thread: shapes.Thread, answer: Answer) -> None:
        """One thread with all that belongs to it, its main page last: where raw has that, it has all."""
        desk, number = self._desk, thread.number
        if detect.thread_key(thread.html_url) != f"{desk.home.prefix}{number}":
            message = f"{answer.url}: lists a thread of another repository: {thread.html_url}"
            raise SourceChanged(message, url=answer.url)
        self._keep(absence.returned(desk, number, answer))
        version, sha256 = desk.held.parts(number).get("main", ("", ""))
        digest = hashlib.sha256(body).hexdigest()
        updated_at = _iso(thread.updated_at)
        if digest == sha256:
            return
        self._note_move(version, updated_at)
        try:
            pages, mark = children.bring(desk, thread)
        except (SourceUnreachable, SourceChanged, Refused) as error:
            self._failed(number, error)
            return
        self._failed_in_a_row = 0
        for page in pages:
            self._keep(page)
        self._keep(_main(body, thread, digest, answer=answer, key=f"{desk.home.prefix}{number}", held=version))
        self._remember(thread, mark)

    def _note_move(self, version: str, updated_at: str) -> None:
        """A thread that was listed before at an earlier place: what stood behind it has moved forward by one."""
        held_at = version.partition(" ")[0]
        if held_at and held_at < updated_at and held_at >= (self._progress.run_since or ""):
            self._moved_from = min(held_at, self._moved_from or held_at)

    def _remember(self, thread: shapes.Thread, mark: str | None) -> None:
        number = thread.number
        if mark is not None:
            self._crossings[number] = mark
        self._mentioned |= references.mentioned(f"{thread.title}\n{thread.body or ''}") - {number}
        self._brought.add(number)
        self._outcome.failures.pop(number, None)  # at a second attempt it came
        self._news += 1
        self._unsaved += 1
        self._outcome.threads += 1
        self._desk.client.figures.threads += 1

    def _failed(self, number: int, error: SourceError) -> None:
        """What becomes of a thread whose parts could not be had: away, refused for good, or to be tried next time."""
        if isinstance(error, Refused):
            if error.status == 401:
                raise error
            tombstone, living = absence.look(self._desk, number) if error.status in _AWAY else (None, error)
            self._keep(tombstone)
            self._refused.add(number)
            if living is not None:
                self._items.append(Skipped("github", error.url, "refused", str(error)[:300]))
            return
        reason = "unreachable" if isinstance(error, SourceUnreachable) else "bad_answer"
        skipped = Skipped("github", error.url, reason, str(error)[:300])
        self._outcome.failures[number] = skipped
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise error

    # ------------------------------------------------------------ references and absence

    def _compared(self) -> Iterator[Batch]:
        """Timelines that gained a reference without a change of date, and threads that are no longer listed."""
        if self._desk.client.has_token:
            try:
                yield from self._by_graphql()
            except (references.NoGraphql, Refused) as error:
                if isinstance(error, Refused) and error.status == 401:
                    raise
                self._outcome.references_by = f"rest (GraphQL: {error})"
            else:
                self._outcome.references_by = "graphql"
                return
        else:
            self._outcome.references_by = "rest (GraphQL needs a token)"
        yield from self._by_rest()

    def _by_graphql(self) -> Iterator[Batch]:
        desk, known, listed = self._desk, self._ledger.crossings(), set[int]()
        late: list[int] = []
        for crossing in references.sweep(desk):
            number = crossing.number
            listed.add(number)
            self._keep(crossing.page)
            if "main" not in desk.held.parts(number):
                is_late = crossing.created_at < (self._progress.run_started_at or "")
                late += [number] if is_late and number not in self._refused else []
                continue
            if absence.is_buried(desk, number):
                self._missed(number)
            if crossing.mark not in (known.get(number), *known.get(number, "").split(" ")):
                self._refresh(number)
                # Both words are remembered: where they differ for good, the timeline is not asked for again.
                kept = self._crossings.get(number, known.get(number, "")).split(" ")[0]
                self._crossings[number] = f"{kept} {crossing.mark}"
            if len(self._items) >= BATCH_THREADS:
                yield self._batch()
        if self._wanted.is_everything:
            for number in late:
                self._missed(number)
        for number in sorted(desk.held.numbers() - listed):
            self._look(number)
        yield self._batch()

    def _by_rest(self) -> Iterator[Batch]:
        """Timelines of what the new texts name, and some more in turn; the next run goes on behind them."""
        desk = self._desk
        numbers = desk.held.numbers()
        count = RECHECKS if desk.client.has_token else ANONYMOUS_RECHECKS
        after = self._progress.recheck_after
        in_turn = sorted(numbers - self._brought, key=lambda number: (number <= after, number))[:count]
        for number in sorted((self._mentioned & numbers) | set(in_turn)):
            if not absence.is_buried(desk, number):
                self._refresh(number)
            if len(self._items) >= BATCH_THREADS:
                yield self._batch()
        if in_turn:
            self._progress = replace(self._progress, recheck_after=in_turn[-1])
        yield self._batch()

    def _refresh(self, number: int) -> None:
        try:
            pages, mark = children.bring_timeline(self._desk, number)
        except (SourceUnreachable, SourceChanged, Refused) as error:
            self._failed(number, error)
            return
        self._failed_in_a_row = 0
        for page in pages:
            self._keep(page)
        if mark is not None:
            self._crossings[number] = mark

    def _missed(self, number: int) -> None:
        """A thread that GraphQL knows and the listing did not show."""
        tombstone, answer = absence.look(self._desk, number)
        self._keep(tombstone)
        if answer is not None:
            self._thread(answer.body, shapes.one(shapes.Thread, answer.body, answer.url), answer)

    def _look(self, number: int) -> None:
        if not absence.is_buried(self._desk, number):
            try:
                self._keep(absence.look(self._desk, number)[0])
            except (SourceUnreachable, SourceChanged, Refused) as error:
                self._failed(number, error)


def _main(body: bytes, thread: shapes.Thread, digest: str, *, answer: Answer, key: str, held: str) -> RawPage:
    """The main page. Of two that state the same second, the one read later is the newer."""
    version = _iso(thread.updated_at)
    if held.partition(" ")[0] == version:
        version = f"{version} {answer.served_at.strftime('%Y-%m-%dT%H:%M:%S.%fZ')}"
        version = version if version > held else f"{held}+"
    return RawPage(
        sha256=digest,
        source="github",
        url=thread.html_url,
        form="github-thread",
        document_key=key,
        part="main",
        version_at=version,
        fetched_at=answer.served_at,
        etag=answer.etag,
        body=body,
    )


def _covers(covered_from: str | None, since: str | None) -> bool:
    return covered_from is None or (since is not None and covered_from <= since)


def _before(position: str) -> str:
    """A second earlier, because `since` is documented as "after"."""
    return _iso(_moment(position) - timedelta(seconds=1))


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
