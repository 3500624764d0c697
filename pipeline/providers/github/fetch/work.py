"""The work of one run: threads are brought, what became of them is remembered, and batches are made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pipeline.providers.github.fetch import absence, children, references, shapes
from pipeline.providers.github.fetch.answers import Answer, Refused
from pipeline.providers.github.fetch.conditional_pages import Desk, Kept
from pipeline.providers.github.fetch.ledger import Progress
from pipeline.providers.provider import thread_key
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import SourceChanged, SourceError, SourceUnreachable

# Threads in a row that could not be had: the source is down, not the thread.
MAX_FAILURES_IN_A_ROW = 5
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
        self._failed_in_a_row = 0

    def batch(self) -> Batch:
        """All that is whole since the last batch, and what to remember once it is safe."""
        items, self.items, self.unsaved = tuple(self.items), [], 0
        validators, self.desk.validators = self.desk.validators, []
        crossings, self.crossings = self.crossings, {}
        progress = replace(
            self.progress, threads=len(self.desk.held.numbers()), mentioned=tuple(sorted(self.mentioned))
        )

        def saved() -> None:
            self.desk.ledger.save(progress, validators, sorted(crossings.items()))

        return Batch(items, saved)

    def keep(self, page: RawPage | None) -> None:
        """Puts a page into the next batch, and counts it as held."""
        if page is not None:
            self.items.append(page)
            number = int(page.document_key.rpartition("#")[2])
            self.desk.held.add(Kept(number, page.part, page.version_at, page.sha256))
            self.outcome.tombstones += page.part == absence.PART and page.body != absence.RETURNED

    def thread(self, body: bytes, thread: shapes.Thread, answer: Answer) -> None:
        """One thread with all that belongs to it, its main page last: where raw has that, it has all."""
        desk, number = self.desk, thread.number
        if thread_key(thread.html_url) != desk.key(number):
            message = f"{answer.url}: lists a thread of another repository: {thread.html_url}"
            raise SourceChanged(message, url=answer.url)
        if desk.is_forgotten(number):
            self.items.append(Skipped("raw", desk.key(number), "forgotten"))
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
        self.succeeded()
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
        self.outcome.failures.pop(number, None)  # at a second attempt it came
        self.news += 1
        self.unsaved += 1
        self.outcome.threads += 1
        self.desk.client.figures.threads += 1

    def _is_behind(self, number: int, thread: shapes.Thread) -> bool:
        """True if the timeline held may be older than what `thread` says of it."""
        parts = self.desk.held.parts(number)
        return "main" in parts and parts.get("timeline", ("", ""))[0] <= iso(thread.updated_at)

    def failed(self, number: int, error: SourceError) -> None:
        """Notes why a thread's parts could not be had: away, refused for good, or to be tried by the next run.

        Raises:
            SourceError: it is not this thread's fault.
        """
        if isinstance(error, Refused):
            self._refuse(number, error)
            return
        reason = "unreachable" if isinstance(error, SourceUnreachable) else "bad_answer"
        self.outcome.failures[number] = Skipped("github", error.url, reason, str(error)[:300])
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise error

    def succeeded(self) -> None:
        """Notes that the source is not down."""
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
            self.keep(tombstone)
            if living is None:
                return
        self.refused.add(number)
        self.items.append(Skipped("github", error.url, "refused", str(error)[:300]))


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
