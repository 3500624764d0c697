"""The work of one run: threads are brought, what became of them is remembered, and batches are made of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from pipeline.providers.github.fetch import absence, children, references, shapes
from pipeline.providers.github.fetch.answers import Answer, Refused
from pipeline.providers.github.fetch.conditional_pages import Desk, Kept
from pipeline.providers.github.fetch.ledger import Progress
from pipeline.providers.provider import thread_key
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import SourceChanged, SourceError, SourceUnreachable

# Threads in a row that could not be had: the source is down, not the thread.
MAX_FAILURES_IN_A_ROW = 5
# Runs in which a thread may fail before it no longer makes a run partial. At 40 % of answers wrong one run in forty
# loses a given thread, so no fault that passes fails in five.
MOST_RUNS = 5
# Of those, so many are asked for again in one run, in turn: what was mended at GitHub comes, and costs little before.
GIVEN_UP_TRIES = 10
# A thread that changed later than this machine's clock says, by more than clocks differ, was not changed then.
MAX_AHEAD = timedelta(days=1)
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
    failures: dict[str, Skipped] = field(default_factory=dict)  # not to be had: a thread's number, or a hash


@dataclass(frozen=True, slots=True)
class Batch:
    """Pages to be kept. When they are safe in raw, `saved` must be called, and not before."""

    items: tuple[RawPage | Skipped, ...]
    saved: Callable[[], None]


class Work:
    """What is done to threads in one run, and what is known about it until the next batch is safe."""

    def __init__(self, desk: Desk, outcome: Outcome) -> None:
        self.desk, self.outcome = desk, outcome
        self.progress = Progress()
        self.items: list[RawPage | Skipped] = []
        self.unsaved = 0  # threads in `items`
        self.crossings: dict[int, str] = {}  # marks learnt since the last batch
        self.brought: set[int] = set()
        self.refused: set[int] = set()
        self.mentioned: set[int] = set()
        self.news = 0  # threads brought in this reading of the listing
        self.moved_from: str | None = None  # the earliest place that a thread left while the listing was read
        self.given_up: dict[str, Skipped] = {}  # the same, for what failed in too many runs
        self._troubles_before = desk.ledger.troubles()
        self._troubles = dict(self._troubles_before)
        self._failed_in_a_row = 0
        desk.given_up = frozenset(
            int(item) for item, runs in self._troubles.items() if item.isdecimal() and runs >= MOST_RUNS - 1
        )

    def batch(self) -> Batch:
        """All that is whole since the last batch, and what to remember once it is safe."""
        items, self.items, self.unsaved = (*self.items, *self.desk.odd), [], 0
        self.desk.odd = []
        validators, self.desk.validators = self.desk.validators, []
        crossings, self.crossings = self.crossings, {}
        troubles = dict(self._troubles)
        progress = replace(
            self.progress, threads=len(self.desk.held.numbers()), mentioned=tuple(sorted(self.mentioned))
        )

        def saved() -> None:
            self.desk.ledger.save(progress, validators, sorted(crossings.items()), troubles)

        return Batch(items, saved)

    def keep(self, page: RawPage | None) -> None:
        """Puts a page into the next batch, and counts it as held."""
        if page is not None:
            self.items.append(page)
            number = int(page.document_key.rpartition("#")[2])
            self.desk.held.add(Kept(number, page.part, page.version_at, page.sha256))
            self.outcome.tombstones += page.part == absence.PART and page.body != absence.RETURNED

    def check(self, thread: shapes.Thread, url: str) -> None:
        """Returns if the thread can be one of this repository.

        Raises:
            SourceChanged: it is another's, or changed in the future: such a page would hide the true ones for ever.
        """
        if thread_key(thread.html_url) != self.desk.key(thread.number):
            raise SourceChanged(f"{url}: lists a thread of another repository: {thread.html_url[:300]}", url=url)
        own = self.desk.client.governor.own_moment()
        if thread.updated_at > own + MAX_AHEAD:
            when = f"{thread.updated_at}; this machine's clock says {own}"
            raise SourceChanged(f"{url}: #{thread.number} was changed in the future: {when}", url=url)

    def thread(self, body: bytes, thread: shapes.Thread, answer: Answer) -> None:
        """One thread with all that belongs to it, its main page last: where raw has that, it has all."""
        desk, number = self.desk, thread.number
        if desk.is_forgotten(number):
            self.items.append(Skipped("raw", desk.key(number), "forgotten"))
            self._settled(number)
            return
        self.keep(absence.returned(desk, number, answer))
        version, sha256 = desk.held.parts(number).get("main", ("", ""))
        digest = hashlib.sha256(body).hexdigest()
        updated_at = iso(thread.updated_at)
        if digest == sha256:
            return
        self._note_move(version, updated_at)
        try:
            pages, mark = children.bring(desk, thread)
        except (SourceUnreachable, SourceChanged, Refused) as error:
            self.failed(number, error)
            return
        self._settled(number)
        for page in pages:
            self.keep(page)
        self.keep(_main(body, thread, digest, answer=answer, key=desk.key(number), held=version))
        self._remember(thread, mark)

    def _note_move(self, version: str, updated_at: str) -> None:
        """A thread that was listed before at an earlier place: what stood behind it has moved forward by one."""
        held_at = version.partition(" ")[0]
        if held_at and held_at < updated_at and held_at >= (self.progress.run_since or ""):
            self.moved_from = min(held_at, self.moved_from or held_at)

    def _remember(self, thread: shapes.Thread, mark: str | None) -> None:
        number = thread.number
        if mark is not None:
            self.crossings[number] = mark
        text = f"{thread.title}\n{thread.body or ''}"
        self.mentioned.update(n for n in references.mentioned(text) if n != number and self._is_behind(n, thread))
        self.brought.add(number)
        self.news += 1
        self.unsaved += 1
        self.outcome.threads += 1
        self.desk.client.figures.threads += 1

    def _is_behind(self, number: int, thread: shapes.Thread) -> bool:
        """True if the timeline held may be older than what `thread` says of it."""
        parts = self.desk.held.parts(number)
        return "main" in parts and parts.get("timeline", ("", ""))[0] <= iso(thread.updated_at)

    def refresh(self, number: int) -> None:
        """Brings the timeline of a thread that raw holds.

        Raises:
            SourceError: it could not be had.
        """
        pages, mark = children.bring_timeline(self.desk, number)
        self._settled(number)
        for page in pages:
            self.keep(page)
        if mark is not None:
            self.crossings[number] = mark

    def again(self, number: int) -> None:
        """Asks for one thread by itself: it failed before, or no listing showed it."""
        desk = self.desk
        try:
            tombstone, answer = absence.look(desk, number)
            self.keep(tombstone)
            if answer is None:
                self._settled(number)
                return
            thread = shapes.one(shapes.Thread, answer.body, answer.url)
            self.check(thread, answer.url)
            self.keep(absence.returned(desk, number, answer))
            if desk.held.parts(number).get("main", ("", ""))[0].partition(" ")[0] == iso(thread.updated_at):
                self.refresh(number)  # of the same thread a listing has other bytes
            else:
                self.thread(answer.body, thread, answer)
        except (SourceUnreachable, SourceChanged, Refused) as error:
            self.failed(number, error)

    def pending(self) -> list[int]:
        """The threads to ask for by themselves in this run."""
        numbers = {int(item): runs for item, runs in self._troubles.items() if item.isdecimal()}
        given_up = sorted((runs, number) for number, runs in numbers.items() if runs >= MOST_RUNS)
        asked = {number for _, number in given_up[:GIVEN_UP_TRIES]}
        return sorted(number for number, runs in numbers.items() if runs < MOST_RUNS or number in asked)

    def is_in_trouble(self, number: int) -> bool:
        """True if the thread could not be had, in this run or an earlier one."""
        return str(number) in self._troubles

    def odd(self, body: bytes, error: SourceChanged) -> None:
        """Notes an item of a listing that is no thread; it is asked for by itself later, if it says which it is.

        Raises:
            SourceError: it is not this item's fault.
        """
        number = _stated_number(body, self.desk)
        if number is None:
            self._trouble(hashlib.sha256(body).hexdigest()[:16], error)
        else:
            self._trouble(str(number), SourceChanged(str(error), url=self.desk.path(f"issues/{number}")))

    @property
    def has_gap(self) -> bool:
        """True if something was listed of which nobody knows which thread it is: only the listing can tell again."""
        return any(not item.isdecimal() for item in self.outcome.failures)

    def end(self, *, is_read: bool) -> None:
        """Tells of all that could not be had; nothing is remembered of items that a whole reading no longer listed."""
        told = {**self.given_up, **self.outcome.failures}
        for item, runs in sorted(self._troubles.items()):
            if runs >= MOST_RUNS and item not in told:
                if item.isdecimal():
                    url = self.desk.path(f"issues/{item}")
                    told[item] = Skipped("github", url, "bad_answer", f"it failed in {runs} runs")
                elif is_read:
                    del self._troubles[item]
        self.items += told.values()

    def failed(self, number: int, error: SourceError) -> None:
        """Notes why a thread's parts could not be had: away, refused for good, or to be tried by the next run.

        Raises:
            SourceError: it is not this thread's fault.
        """
        if isinstance(error, Refused):
            self._refuse(number, error)
        else:
            self._trouble(str(number), error)

    def _trouble(self, item: str, error: SourceError) -> None:
        runs = self._troubles_before.get(item, 0) + 1
        self._troubles[item] = runs
        reason = "unreachable" if isinstance(error, SourceUnreachable) else "bad_answer"
        skipped = Skipped("github", error.url, reason, str(error)[:300])
        if runs >= MOST_RUNS:
            self.given_up[item] = skipped
            return
        self.outcome.failures[item] = skipped
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise error

    def _settled(self, number: int) -> None:
        """Notes that a thread was had, or never will be, and that the source is not down."""
        for known in (self._troubles, self.outcome.failures, self.given_up):
            known.pop(str(number), None)
        self._failed_in_a_row = 0

    def _refuse(self, number: int, error: Refused) -> None:
        if error.status == 401:
            raise error
        if error.status in _AWAY:
            try:
                tombstone, living = absence.look(self.desk, number)
            except (SourceUnreachable, SourceChanged) as other:
                self.failed(number, other)
                return
            except Refused as other:
                if other.status == 401:
                    raise
                tombstone, living = None, None
                self.items.append(Skipped("github", other.url, "refused", str(other)[:300]))
            self.keep(tombstone)
            if living is None:
                self._settled(number)
                return
        self._settled(number)
        self.refused.add(number)
        self.items.append(Skipped("github", error.url, "refused", str(error)[:300]))


def _stated_number(body: bytes, desk: Desk) -> int | None:
    """The number that something which is no whole thread gives, if it contradicts itself in nothing."""
    value = json.loads(body)
    if not isinstance(value, dict):
        return None
    number, url = value.get("number"), value.get("html_url")
    key = thread_key(url)
    if not isinstance(number, int) or isinstance(number, bool):
        number = int(key.rpartition("#")[2]) if key else 0
    is_own = key == desk.key(number) if isinstance(url, str) else True
    return number if is_own and 0 < number < 10**10 else None


def _main(body: bytes, thread: shapes.Thread, digest: str, *, answer: Answer, key: str, held: str) -> RawPage:
    """The main page. Of two that state the same second, the one read later is the newer."""
    version = iso(thread.updated_at)
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


def iso(moment: datetime) -> str:
    """A time as GitHub writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
