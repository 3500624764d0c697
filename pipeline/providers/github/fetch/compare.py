"""What `since` never tells: threads that were referred to without a change of date, and threads that are away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.providers.github.fetch import absence, references
from pipeline.providers.github.fetch.answers import Refused
from pipeline.providers.github.fetch.work import Batch, Wanted, Work
from pipeline.records.errors import SourceChanged, SourceUnreachable

# How many pages wait for a batch here; they are single pages, not whole threads.
BATCH_PAGES = 50
# Without GraphQL: timelines asked for again in one run, in turn. An unchanged one is free under a token only.
RECHECKS = 50
ANONYMOUS_RECHECKS = 5


class Comparison:
    """GraphQL's word against what raw holds; where there is no GraphQL, a bounded look by REST."""

    def __init__(self, work: Work, wanted: Wanted) -> None:
        self._work, self._wanted, self._desk = work, wanted, work.desk

    def batches(self) -> Iterator[Batch]:
        """Timelines that gained a reference without a change of date, and threads that are no longer listed."""
        if self._desk.client.has_token:
            try:
                yield from self._by_graphql()
            except references.OddGraphql as error:
                self._work.outcome.references_by = "nothing: GraphQL did not answer as it must"
                self._work.outcome.reason = self._work.outcome.reason or str(error)
                return
            except (references.NoGraphql, Refused) as error:
                if isinstance(error, Refused) and error.status == 401:
                    raise
                self._work.outcome.references_by = f"rest (GraphQL: {error})"
            else:
                self._work.outcome.references_by = "graphql"
                self._work.mentioned.clear()
                return
        else:
            self._work.outcome.references_by = "rest (GraphQL needs a token)"
        yield from self._by_rest()

    def _by_graphql(self) -> Iterator[Batch]:
        desk, known, listed = self._desk, self._desk.ledger.crossings(), set[int]()
        late: list[references.Crossing] = []
        for crossing in references.sweep(desk):
            number = crossing.number
            listed.add(number)
            self._work.keep(references.page(desk, crossing))
            if "main" not in desk.held.parts(number):
                is_late = crossing.created_at < (self._work.progress.run_started_at or "")
                is_known = number in self._work.refused or desk.is_forgotten(number) or self._work.is_in_trouble(number)
                late += [crossing] if is_late and not is_known else []
                continue
            if absence.is_buried(desk, number):
                self._work.again(number)
            is_new = crossing.mark not in known.get(number, "").split(" ")
            if is_new and self._refresh(number):
                # Both words are remembered: where they differ for good, the timeline is not asked for again.
                kept = self._work.crossings.get(number, known.get(number, "")).split(" ")[0]
                self._work.crossings[number] = f"{kept} {crossing.mark}"
            if len(self._work.items) >= BATCH_PAGES:
                yield self._work.batch()
        if self._wanted.is_everything:
            for crossing in late:
                self._work.again(crossing.number)
                self._work.keep(references.page(desk, crossing))
        for number in sorted(desk.held.numbers() - listed):
            self._look(number)
        yield self._work.batch()

    def _by_rest(self) -> Iterator[Batch]:
        """Timelines of what the new texts name, and some more in turn; the next run goes on behind them."""
        desk = self._desk
        numbers = desk.held.numbers()
        count = RECHECKS if desk.client.has_token else ANONYMOUS_RECHECKS
        after = self._work.progress.recheck_after
        in_turn = sorted(numbers - self._work.brought, key=lambda number: (number <= after, number))[:count]
        for number in sorted((self._work.mentioned & numbers) | set(in_turn)):
            if absence.is_buried(desk, number) or self._refresh(number):
                self._work.mentioned.discard(number)
            if len(self._work.items) >= BATCH_PAGES:
                yield self._work.batch()
        if in_turn:
            self._work.progress = replace(self._work.progress, recheck_after=in_turn[-1])
        yield self._work.batch()

    def _refresh(self, number: int) -> bool:
        """Brings the timeline; True unless the next run must do it."""
        try:
            self._work.refresh(number)
        except (SourceUnreachable, SourceChanged, Refused) as error:
            self._work.failed(number, error)
            return isinstance(error, Refused)
        return True

    def _look(self, number: int) -> None:
        """Asks what became of a thread that is no longer listed, unless raw says it already."""
        if absence.is_buried(self._desk, number):
            return
        try:
            self._work.keep(absence.look(self._desk, number)[0])
        except (SourceUnreachable, SourceChanged, Refused) as error:
            self._work.failed(number, error)
