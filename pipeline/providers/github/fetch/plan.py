"""What a run would cost, told before it is made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from urllib.parse import urlencode

from pipeline.providers.github.fetch import shapes
from pipeline.providers.github.fetch.client import Client
from pipeline.providers.github.fetch.compare import ANONYMOUS_RECHECKS
from pipeline.providers.github.fetch.conditional_pages import PER_PAGE
from pipeline.providers.github.fetch.ledger import Progress
from pipeline.providers.github.fetch.work import Wanted

#: Releases that a forecast reckons with, a hundred a request. Projects that tag every commit have thousands; their list
#: is read whole once, and then as far as it brings something.
MOST_RELEASES = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests of a run, at least and at most; what is unchanged costs none of them under a token."""

    repo: str
    since: str | None
    issues: int
    pulls: int
    least_requests: int
    most_requests: int
    graphql_points: int
    limit_per_hour: int
    quota_left: int | None

    @property
    def most_hours(self) -> float:
        """How long the quota alone makes the run, at most."""
        return max(0, self.most_requests - self.limit_per_hour) / max(1, self.limit_per_hour)


def plan(client: Client, wanted: Wanted, progress: Progress) -> Plan:
    """The cost of a run, counted from three searches that this itself costs."""
    since = progress.position or progress.watermark or wanted.since
    issues, pulls = (_count(client, wanted, since, kind) for kind in ("issue", "pr"))
    threads = issues + pulls
    listing = max(1, math.ceil(threads / PER_PAGE))
    rechecks = 0 if client.has_token else ANONYMOUS_RECHECKS
    quota = client.governor.quotas.get("core")
    everything = sum(_count(client, Wanted(wanted.repo), None, kind) for kind in ("issue", "pr")) if since else threads
    return Plan(
        repo=wanted.repo,
        since=since,
        issues=issues,
        pulls=pulls,
        # each thread's timeline, each pull request's own object, the newest releases
        least_requests=2 + listing + issues + 2 * pulls,
        most_requests=1 + MOST_RELEASES // PER_PAGE + 2 * listing + 2 * issues + 5 * pulls + rechecks,
        graphql_points=math.ceil(everything / PER_PAGE) + 1 if client.has_token else 0,
        limit_per_hour=quota.limit if quota else 5000 if client.has_token else 60,
        quota_left=quota.remaining if quota else None,
    )


def _count(client: Client, wanted: Wanted, since: str | None, kind: str) -> int:
    words = [f"repo:{wanted.repo}", f"is:{kind}"]
    words += [f"updated:>={since}"] if since else []
    words += [f"state:{wanted.state}"] if wanted.state != "all" else []
    words += [f'label:"{label}"' for label in wanted.labels]
    url = client.url(f"search/issues?{urlencode({'q': ' '.join(words), 'per_page': '1'})}")
    answer = client.get(url, check=lambda answer: shapes.one(shapes.Count, answer.body, url))
    return shapes.one(shapes.Count, answer.body, url).total_count
