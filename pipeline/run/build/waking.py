"""The tables that drafts and entries need, read and compiled while workers still read documents.

A build that gets fifty documents makes some thirty entries here, and for them reads nearly all the tables that a large
one needs: two thirds of what these entries cost. The process that waits for workers has nothing else to do.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pipeline import cluster, packs
from pipeline.records import Template
from pipeline.records.errors import PipelineError
from pipeline.run import shards
from pipeline.run.build import making, reduce


@contextmanager
def meanwhile(*, is_worth: bool) -> Iterator[None]:
    """Inside the context the tables are read, where that is worth it; outside of it nothing goes on."""
    thread = threading.Thread(target=_quietly, daemon=True) if is_worth else None
    if thread is not None:
        thread.start()
    try:
        yield
    finally:
        if thread is not None:
            thread.join()


def _quietly() -> None:
    with suppress(PipelineError):  # a table is wrong: who needs it says so
        wake()


@packs.cached
def wake() -> int:
    """How many entries were made of threads of ours, for what they leave in memory."""
    from pipeline.run.build import preloaded  # noqa: PLC0415  (to import it is to read the threads)

    return sum(_made(one) for one in (preloaded.READ, preloaded.OTHERS) if isinstance(one, shards.MapResult))


def _made(read: shards.MapResult) -> int:
    """How many entries were made of the errors of a thread."""
    known = reduce.knowledge(read)
    found = cluster.partition([_template(rows) for rows in known.events.values()]).clusters
    for one in found:
        result, draft = making.drafted(making.Item(one, (), ()), known, "")
        named = making.Named(f"{draft.domain}/{draft.slugs[0]}", (), {}, "")
        making.phrased(making.Item(one, (), (), result, named), draft, lambda: known, ())
    return len(found)


def _template(rows: list[shards.EventRow]) -> Template:
    one = rows[0].signature
    assert one is not None
    return Template(
        one.signature_id,
        one.exception_type,
        one.text,
        one.gate,
        one.is_gate_complete,
        one.is_truncated,
        count=len(rows),
        first_seen="",
    )
