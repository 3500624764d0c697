"""Pages into raw: files on disk, and GitHub's API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipeline import raw
from pipeline.providers import files as archive
from pipeline.providers.github import fetch as github
from pipeline.providers.provider import thread_key
from pipeline.records import Skipped
from pipeline.records.errors import ConfigError, RateLimited, SourceError
from pipeline.run.home.summary import MOST_EXAMPLES, Summary, count


def import_files(raw_path: Path, paths: Sequence[Path]) -> Summary:
    """What became of every page in `paths`: new in raw, known already, or skipped with its reason."""
    done = raw.RawLayer(raw_path).append(archive.pages(paths))
    given = done.new + done.known
    stage = count("import", taken=given + len(done.skipped), given=given, lost=done.skipped)
    return Summary([stage], done.skipped[:MOST_EXAMPLES], {"new_pages": done.new, "known_pages": done.known})


@dataclass(slots=True)
class Fetched:
    """What an ingest did, and what ended it early, if anything did."""

    summary: Summary
    error: SourceError | None = None
    outcomes: list[github.Outcome] = field(default_factory=list)

    @property
    def is_partial(self) -> bool:
        """Whether the next run has to go on where this one stopped, though nothing is broken."""
        if self.error is not None:
            return isinstance(self.error, RateLimited)
        return not all(outcome.is_complete for outcome in self.outcomes)

    @property
    def failure(self) -> SourceError | None:
        """What is broken; a limit is not."""
        return None if self.is_partial else self.error


def status_of(fetched: Sequence[Fetched]) -> str:
    """How a run ended that fetched these: "failed" if any is broken, "partial" if any has to go on, or "completed"."""
    if any(each.failure is not None for each in fetched):
        return "failed"
    return "partial" if any(each.is_partial for each in fetched) else "completed"


class _Holding:
    """The raw layer as the source sees it."""

    def __init__(self, layer: raw.RawLayer) -> None:
        self._layer = layer

    def kept(self, prefix: str) -> Iterator[github.Kept]:
        for ref in self._layer.refs():
            if ref.source == "github" and ref.document_key.startswith(prefix):
                number = int(ref.document_key[len(prefix) :])
                yield github.Kept(number, ref.part, ref.version_at, ref.sha256)

    def threads(self, prefix: str) -> Iterator[int]:
        keys = {ref.document_key for ref in self._layer.refs() if ref.document_key.startswith(prefix)}
        yield from sorted(int(key[len(prefix) :]) for key in keys)

    def is_forgotten(self, document_key: str) -> bool:
        return self._layer.is_forgotten(document_key)


@dataclass(slots=True)
class _Tally:
    new: int = 0
    known: int = 0
    skipped: list[Skipped] = field(default_factory=list)


def ingest_github(
    raw_path: Path,
    state_path: Path,
    wanted: Sequence[github.Wanted],
    *,
    client: github.Client,
    told: Callable[[str, github.Figures], None] = lambda _repo, _figures: None,
) -> Fetched:
    """What came of the repositories, one after the other.

    A repository that fails does not keep the others from being read; a limit that may not be waited for ends the run.
    Everything that was fetched is in raw by then, and the next run goes on from there.
    """
    tally, outcomes = _Tally(), []
    error: SourceError | None = None
    host = urlsplit(client.api_url).netloc
    with github.alone(state_path, client.api_url):
        for one in wanted:
            outcome = github.Outcome(one.repo)
            outcomes.append(outcome)
            client.report = lambda figures, repo=one.repo: told(repo, figures)  # type: ignore[misc]
            ledger = github.Ledger(github.ledger_path(state_path, host, one.repo))
            try:
                _keep(raw.RawLayer(raw_path), client, one, ledger, outcome, tally)
            except SourceError as failed:
                outcome.reason, error = str(failed), error or failed
                if isinstance(failed, RateLimited):
                    break
            finally:
                ledger.close()
    return Fetched(_summary(tally, outcomes, client.figures), error, outcomes)


def plan_github(state_path: Path, wanted: Sequence[github.Wanted], *, client: github.Client) -> list[github.Plan]:
    """What an ingest would cost, repository by repository; it fetches and keeps nothing."""
    host = urlsplit(client.api_url).netloc
    plans = []
    for one in wanted:
        path = github.ledger_path(state_path, host, one.repo)
        plans.append(github.plan(client, one, github.read_progress(path)))
    return plans


def forget(raw_path: Path, url: str) -> tuple[str, int]:
    """The document key of the thread at `url`, and how many of its pages were erased from raw.

    Raises:
        ConfigError: `url` is not the address of a thread.
    """
    key = thread_key(url)
    if key is None:
        hint = "Give the address of an issue or pull request, as the browser shows it."
        raise ConfigError(f"{url[:200]}: not the address of a thread", hint=hint)
    return key, raw.RawLayer(raw_path).forget(key)


def _keep(
    layer: raw.RawLayer,
    client: github.Client,
    wanted: github.Wanted,
    ledger: github.Ledger,
    outcome: github.Outcome,
    tally: _Tally,
) -> None:
    """Brings the batches of one repository into raw; each is confirmed only when it is there."""
    for batch in github.ingest(client, wanted, ledger, raw=_Holding(layer), outcome=outcome):
        if batch.items:
            done = layer.append(batch.items)
            tally.new += done.new
            tally.known += done.known
            tally.skipped += done.skipped
        batch.saved()


def _summary(tally: _Tally, outcomes: Sequence[github.Outcome], figures: github.Figures) -> Summary:
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
