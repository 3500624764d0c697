"""The repositories of the settings, one after the other, into raw; the token comes from the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipeline.lexicon import repositories
from pipeline.providers.github import GithubSource, fetch
from pipeline.providers.provider import Forecast, Job, Raw, Section, Told
from pipeline.records import Skipped
from pipeline.records.errors import RateLimited, SourceError
from pipeline.records.summary import MOST_EXAMPLES, Fetched, Summary, count

_THREAD = re.compile(r"[^/]+/([^/]+/[^/#]+)#(\d+)")


def bring(job: Job) -> Fetched:
    """What came of the repositories of the sections, with the token and from the server of the environment."""
    return ingest(job.raw, _state_path(job), _wanted(job.sections), client=_client(job), told=job.told)


def forget(state_path: Path, document_key: str) -> None:
    """Nothing; no memory of an ingest names the thread any more, under whatever name its repository was read."""
    known = _THREAD.fullmatch(document_key)
    for repo in repositories.names(known[1]) if known else ():
        for path in fetch.ledgers_of(state_path / "github", repo):
            ledger = fetch.Ledger(path)
            try:
                ledger.forget_thread(int(known[2]) if known else 0)
            finally:
                ledger.close()


def foreseen(job: Job) -> Forecast:
    """What `bring` would cost, repository by repository; it fetches and keeps nothing."""
    client = _client(job)
    host = urlsplit(client.api_url).netloc
    plans = []
    for one in _wanted(job.sections):
        path = fetch.ledger_path(_state_path(job), host, one.repo)
        plans.append(fetch.plan(client, one, fetch.read_progress(path)))
    note = ""
    if any(plan.limit_per_hour < 1000 for plan in plans):
        note = "without GITHUB_TOKEN GitHub answers 60 requests an hour, and unchanged pages cost as much as new ones"
    return Forecast(tuple({**asdict(plan), "most_hours": plan.most_hours} for plan in plans), note)


class _Holding:
    """The raw layer as the source sees it."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw

    def kept(self, prefix: str) -> Iterator[fetch.Kept]:
        for ref in self._raw.refs():
            if ref.source == "github" and ref.document_key.startswith(prefix):
                number = int(ref.document_key[len(prefix) :])
                yield fetch.Kept(number, ref.part, ref.version_at, ref.sha256)

    def threads(self, prefix: str) -> Iterator[int]:
        keys = {ref.document_key for ref in self._raw.refs() if ref.document_key.startswith(prefix)}
        yield from sorted(int(key[len(prefix) :]) for key in keys)

    def releases(self, prefix: str) -> dict[str, str]:
        newest: dict[str, tuple[str, str]] = {}
        for ref in self._raw.refs():
            if ref.source == "github" and ref.document_key.startswith(prefix):
                current = newest.get(ref.document_key, ("", ""))
                newest[ref.document_key] = max(current, (ref.version_at, ref.sha256))
        return {key: sha256 for key, (_, sha256) in newest.items()}

    def is_forgotten(self, document_key: str) -> bool:
        return self._raw.is_forgotten(document_key)


@dataclass(slots=True)
class _Tally:
    new: int = 0
    known: int = 0
    skipped: list[Skipped] = field(default_factory=list)


def ingest(
    raw: Raw,
    state_path: Path,
    wanted: Sequence[fetch.Wanted],
    *,
    client: fetch.Client,
    told: Told = lambda _repo, _threads, _line: None,
) -> Fetched:
    """What came of the repositories, one after the other.

    A repository that fails does not keep the others from being read; a limit that may not be waited for ends the run.
    Everything that was fetched is in raw by then, and the next run goes on from there.
    """
    tally, outcomes = _Tally(), []
    error: SourceError | None = None
    host = urlsplit(client.api_url).netloc
    with fetch.alone(state_path, client.api_url):
        for one in wanted:
            outcome = fetch.Outcome(one.repo)
            outcomes.append(outcome)
            client.report = lambda figures, repo=one.repo: told(repo, figures.threads, line(repo, figures))  # type: ignore[misc]
            ledger = fetch.Ledger(fetch.ledger_path(state_path, host, one.repo))
            try:
                _keep(raw, client, one, ledger, outcome, tally)
            except SourceError as failed:
                outcome.reason, error = str(failed), error or failed
                if isinstance(failed, RateLimited):
                    break
            finally:
                ledger.close()
    return Fetched(_summary(tally, outcomes, client.figures), error, outcomes)


def _keep(
    raw: Raw,
    client: fetch.Client,
    wanted: fetch.Wanted,
    ledger: fetch.Ledger,
    outcome: fetch.Outcome,
    tally: _Tally,
) -> None:
    """Brings the batches of one repository into raw; each is confirmed only when it is there."""
    for batch in fetch.ingest(client, wanted, ledger, raw=_Holding(raw), outcome=outcome):
        if batch.items:
            done = raw.append(batch.items)
            tally.new += done.new
            tally.known += done.known
            tally.skipped += done.skipped
        batch.saved()


def _summary(tally: _Tally, outcomes: Sequence[fetch.Outcome], figures: fetch.Figures) -> Summary:
    given = tally.new + tally.known
    stage = count("github", taken=given + len(tally.skipped), given=given, lost=tally.skipped)
    told: dict[str, Any] = {
        "new_pages": tally.new,
        "threads": sum(outcome.threads for outcome in outcomes),
        "tombstones": sum(outcome.tombstones for outcome in outcomes),
        "requests": figures.requests,
        "not_modified": figures.not_modified,
        "graphql_requests": figures.graphql,
        "waited_seconds": round(figures.waited_seconds, 1),
        "quota_left": figures.quota_left,
    }
    sources: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        state = "complete" if outcome.is_complete else f"partial, resumable: {outcome.reason}"
        told[outcome.repo] = f"{state}; references by {outcome.references_by or 'nothing yet'}"
        sources[outcome.repo] = {"threads": outcome.threads, "tombstones": outcome.tombstones, "state": state}
    told["sources"] = sources
    return Summary([stage], tuple(tally.skipped[:MOST_EXAMPLES]), told)


def _wanted(sections: Iterable[Section]) -> list[fetch.Wanted]:
    return [one for section in sections if isinstance(section, GithubSource) for one in _wanted_of(section)]


def _wanted_of(section: GithubSource) -> list[fetch.Wanted]:
    """The repositories of a section as an ingest takes them."""
    since = f"{section.since.isoformat()}T00:00:00Z" if section.since else None
    return [
        fetch.Wanted(
            repo=fetch.checked_repo(name),
            since=since,
            state=section.state,
            labels=tuple(section.labels),
            overlap_seconds=section.overlap_seconds,
        )
        for name in section.repos
    ]


def _client(job: Job) -> fetch.Client:
    """A client with the environment's token; it waits no longer than the least patient section allows."""
    waits = [section.max_wait_seconds for section in job.sections if isinstance(section, GithubSource)]
    governor = fetch.Governor(max_wait_seconds=min(waits)) if waits else fetch.Governor()
    api_url = job.environ.get("GITHUB_API_URL") or fetch.DEFAULT_API_URL
    return fetch.Client(job.environ.get("GITHUB_TOKEN"), api_url=api_url, governor=governor)


def _state_path(job: Job) -> Path:
    """Folder of what is known of GitHub's repositories: watermarks, validators."""
    return job.state_path / "github"


def line(repo: str, figures: fetch.Figures) -> str:
    """How far a repository is, in one line."""
    reset = ""
    if figures.quota_reset_at is not None:
        reset = f", reset {datetime.fromtimestamp(figures.quota_reset_at, UTC):%H:%M} UTC"
    left = "" if figures.quota_left is None else f", {figures.quota_left:,} left{reset}"
    counts = f"{figures.threads:,} threads, {figures.requests:,} requests, {figures.not_modified:,} unchanged"
    return f"{repo}: {counts}{left}"
