"""Which threads were referred to since their timeline was kept: `since` never tells, as a reference changes no date.

GraphQL tells it for a hundred threads at the price of one point, with the pull requests that close an issue. Its word
is compared with what the kept timeline says; only where they differ is the timeline asked for again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.providers.github.fetch.answers import Answer
from pipeline.providers.github.fetch.children import MARKED, cross_mark
from pipeline.providers.github.fetch.conditional_pages import Desk
from pipeline.providers.github.fetch.paging import Paging
from pipeline.records import RawPage
from pipeline.records.errors import RateLimited, SourceChanged

FORM = "github-references"
PART = "references"
#: Closing references of one thread that are asked for; threads with more are unheard of.
MAX_CLOSING = 20
_FIELDS = {
    "issues": f"closing: closedByPullRequestsReferences(first: {MAX_CLOSING}, includeClosedPrs: true)"
    " {nodes {number url title merged}}",
    "pullRequests": f"closing: closingIssuesReferences(first: {MAX_CLOSING}) {{nodes {{number url title}}}}",
}
_QUERY = """query($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    threads: %s(first: 100, after: $after, orderBy: {field: CREATED_AT, direction: ASC}) {
      pageInfo {hasNextPage endCursor}
      nodes {
        number createdAt
        crossings: timelineItems(last: %d, itemTypes: [CROSS_REFERENCED_EVENT]) {
          nodes {... on CrossReferencedEvent {createdAt}}
        }
        %s
      }
    }
  }
}"""
# "#12", ".../issues/12", ".../pull/12": what a text of the same repository may refer to.
_MENTION = re.compile(r"(?:#|/(?:issues|pull)/)([1-9]\d{0,9})(?!\d)")


class NoGraphql(Exception):
    """GraphQL cannot be used here; the message says why."""


class OddGraphql(SourceChanged):
    """GraphQL answers in another shape, whenever it is asked."""


class Crossing(NamedTuple):
    """What GraphQL says of one thread."""

    number: int
    created_at: str
    mark: str
    closing: bytes | None  # its closing references, None if there are none
    answer: Answer


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Time(_Shape):
    createdAt: str | None = None  # noqa: N815 - GitHub's spelling, as are the others


class _Times(_Shape):
    nodes: list[_Time | None]  # null: out of this token's sight


class _Edges(_Shape):
    nodes: list[dict[str, object] | None]


class _Node(_Shape):
    number: int = Field(ge=1, lt=10**10)
    createdAt: str  # noqa: N815
    crossings: _Times
    closing: _Edges


class _PageInfo(_Shape):
    hasNextPage: bool  # noqa: N815
    endCursor: str | None  # noqa: N815


class _Threads(_Shape):
    pageInfo: _PageInfo  # noqa: N815
    nodes: list[object]


class _Repository(_Shape):
    threads: _Threads


def query(kind: str) -> str:
    """The query for "issues" or "pullRequests"."""
    return _QUERY % (kind, MARKED, _FIELDS[kind])


def sweep(desk: Desk) -> Iterator[Crossing]:
    """Every thread of the repository, as GraphQL sees it now.

    Raises:
        NoGraphql: it cannot be used with this token, or on this server.
        OddGraphql: it did not answer as it must; threads before that were given.
    """
    owner, _, name = desk.home.name.partition("/")
    for kind in ("issues", "pullRequests"):
        after: str | None = None
        paging = Paging(f"{desk.client.graphql_url} ({kind})")
        while True:
            info, nodes, answer = _ask(desk, kind, {"owner": owner, "name": name, "after": after}, paging)
            for node in nodes:
                times = sorted(time.createdAt or "" for time in node.crossings.nodes if time is not None)
                yield Crossing(node.number, node.createdAt, cross_mark(times), _closing(node, kind), answer)
            after = info.endCursor if info.hasNextPage else None
            _follow(paging, after, nodes)
            if after is None:
                break


def page(desk: Desk, crossing: Crossing) -> RawPage | None:
    """The closing references of a thread that raw holds, where it does not hold just these."""
    held = desk.held.parts(crossing.number)
    if "main" not in held or (crossing.closing is None and PART not in held):
        return None
    return desk.page(crossing.number, PART, crossing.closing or b"{}", form=FORM, answer=crossing.answer)


def _ask(
    desk: Desk, kind: str, variables: Mapping[str, object], paging: Paging
) -> tuple[_PageInfo, list[_Node], Answer]:
    """A page of threads; of those that are wrong whenever they are asked for nothing is known."""
    found: list[tuple[_PageInfo, list[_Node], Answer]] = []

    def check(answer: Answer) -> None:
        found.clear()
        threads = _threads(answer, desk)
        nodes = [node for each in threads.nodes if (node := _node(each)) is not None]
        if threads.pageInfo.hasNextPage:
            paging.check(threads.pageInfo.endCursor)
        found.append((threads.pageInfo, nodes, answer))
        if len(nodes) < len(threads.nodes):
            raise SourceChanged(f"{answer.url}: GraphQL answered in another shape", url=answer.url)

    try:
        desk.client.graphql(query(kind), variables, check=check)
    except SourceChanged as error:
        if not found:
            raise OddGraphql(str(error), url=error.url) from error
    return found[0]


def _threads(answer: Answer, desk: Desk) -> _Threads:
    value = json.loads(answer.body)
    _check_errors(value, desk)
    try:
        return _Repository.model_validate(value["data"]["repository"]).threads
    except (ValidationError, KeyError, TypeError) as error:
        raise SourceChanged(f"{answer.url}: GraphQL answered in another shape", url=answer.url) from error


def _node(value: object) -> _Node | None:
    try:
        return _Node.model_validate(value)
    except ValidationError:
        return None


def _follow(paging: Paging, cursor: str | None, nodes: Iterable[_Node]) -> None:
    try:
        paging.follow(cursor, [b"%d" % node.number for node in nodes])
    except SourceChanged as error:
        raise OddGraphql(str(error), url=error.url) from error


def _closing(node: _Node, kind: str) -> bytes | None:
    edges = sorted((edge for edge in node.closing.nodes if edge is not None), key=lambda edge: str(edge.get("url")))
    if not edges:
        return None
    name = "closed_by" if kind == "issues" else "closes"
    return json.dumps({name: edges}, sort_keys=True, separators=(",", ":")).encode()


def _check_errors(value: object, desk: Desk) -> None:
    errors = value.get("errors") if isinstance(value, dict) else None
    if not errors:
        return
    first = errors[0] if isinstance(errors, list) and isinstance(errors[0], dict) else {}
    url = desk.client.graphql_url
    if first.get("type") == "RATE_LIMITED":
        quota = desk.client.governor.quotas.get("graphql")
        wait = max((quota.reset_at if quota else 0.0) - desk.client.governor.now(), 60.0)
        raise RateLimited(f"{url}: no GraphQL points are left", url=url, wait_seconds=wait)
    raise NoGraphql(str(first.get("message", "GraphQL answered with an error"))[:200])


def mentioned(text: str) -> set[int]:
    """The numbers that a text may refer to: their timelines may have gained a reference."""
    return {int(number) for number in _MENTION.findall(text)}
