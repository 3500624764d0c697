"""The histories of tests/histories.py in a database: brought up to date step by step, and written whole beside it.

python -m tests.stored_histories 100 [--seed 1] [--mutants]
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline import store
from pipeline.run.build import entries, reduce, rows
from pipeline.store import noted, querying, replacing
from tests import histories


def steps(seed: int, count: int, folder: Path) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Of each step what happened, and the digests of the tables: of a file brought up to date, of one written whole.

    Beside them what is told of the rows of entries.
    """
    history = histories.History(seed)
    for number, (told, made, _, _) in enumerate(history.steps(count)):
        contents, digests = contents_of(history.world, history.grouped, made, folder / str(number), history.there)
        brought = folder / "brought.duckdb"
        lines = store.bring(brought, contents, digests, note=folder / "state")
        whole = store.write(folder / "whole.duckdb", contents)
        rows = store.query(whole, "SELECT entry_id, sha256(json::VARCHAR) FROM entries ORDER BY entry_id").rows
        cells = list(zip(*(lines.table[name].to_pylist() for name in ("key", "digest")), strict=True))
        there, wanted = {"lines": repr(cells)}, {"lines": repr(rows)}
        signs = noted.signs(folder / "state", brought)
        there["signs"] = repr(None if signs is None else signs.to_pydict())
        wanted["signs"] = repr(querying.Entries(whole).signs().to_pydict())
        yield told, store.digests(brought) | there, store.digests(whole) | wanted


def contents_of(
    world: histories.World, grouped: entries.Grouped, made: entries.Made, folder: Path, there: rows.Rows
) -> tuple[store.Contents, store.Told]:
    """What a build hands to the store, of documents in two shards."""
    digests = {name: histories.digest_of(one) for name, one in world.documents.items()}
    used = histories.sharded(world, folder)
    contents = store.Contents(
        documents=tuple(one.documents for one in used),
        events=tuple(one.events for one in used),
        claims=tuple(one.claims for one in used),
        skipped_files=tuple(one.skipped for one in used),
        holding=there.holding_shards,
        clusters=made.clusters,
        assignments=grouped.partition.assignments,
        neighbours=grouped.partition.neighbours,
        entries=made.entries,
        withheld=made.withheld,
        skipped=(*made.skipped, *made.unsaid, *grouped.ignored),
        aliases=made.registry.aliases,
        journal=made.journal,
        overrides=reduce.rows(made.rulings),
        stage_counts=(store.StageCount("documents", "documents", len(digests), len(digests), 0),),
        registry=made.registry,
        meta={"registry": made.registry.digest},
    )
    return contents, store.Told("these tests", store.Digests.of(digests), store.Digests(made.entries.digests))


# ---------------------------------------------------------------- mutants

Patch = Callable[[], Callable[[], None]]


def without(name: str, value: Any) -> Patch:
    """Puts something else in the place of a rule."""

    def patch() -> Callable[[], None]:
        real = getattr(replacing, name)
        setattr(replacing, name, value(real))
        return lambda: setattr(replacing, name, real)

    return patch


def _keys_alone(real: Callable[[store.Digests, store.Digests], list[str]]) -> Callable[..., list[str]]:
    return lambda *given: real(*(store.Digests.of(dict.fromkeys(one.table["key"].to_pylist(), "")) for one in given))


def _nothing_of(name: str) -> Callable[[dict[str, str]], dict[str, str]]:
    return lambda real: {key: value for key, value in real.items() if key != name}


def _all_but(name: str) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    return lambda real: tuple(one for one in real if one != name)


def _going_on(real: Callable[..., None]) -> Callable[..., None]:
    return lambda connection, contents, now, before: real(
        connection, contents, replace(now, kept=(before.count, before.digest)), before
    )


MUTANTS: dict[str, Patch] = {
    "what has another digest": without("_changed", _keys_alone),
    "signatures that nobody has any more": without("_SIGNATURES_GONE", lambda real: f"{real} LIMIT 0"),
    "signatures that come": without("_SIGNATURES_COME", lambda real: f"{real} LIMIT 0"),
    "signatures that stay": without("_SIGNATURES_STAYED", lambda real: f"{real} LIMIT 0"),
    "events of signatures that come": without(
        "_SIGNED_NOW", lambda _: "signature.signature_id IN (FROM came_signatures)"
    ),
    "titles of documents": without("_FOUND_ANEW", lambda _: "FROM changed_entries"),
    "rows of entries that came": without(
        "_bring_entries", lambda real: lambda *given: dict.fromkeys(real(*given), ("", 0))
    ),
    "signs of entries that changed": without("_SIGNED_ANEW", lambda _: "SELECT entry_id FROM entries LIMIT 0"),
    "words": without("_bring_words", lambda _: lambda _connection: None),
    "shards": without("_holding", lambda real: lambda *given: {kind: one[:1] for kind, one in real(*given).items()}),
    **{f"rows of {name}": without("_CHOSEN", _nothing_of(name)) for name in ("claims", "parameters", "official_docs")},
    **{
        f"clusters that are counted by {name}": without("_COUNTED_ANEW", _nothing_of(name))
        for name in ("events", "entries")
    },
    **{
        f"rows of clusters in {name}": without("_OF_CLUSTERS", _all_but(name))
        for name in ("clusters", "assignments", "neighbours", "withheld")
    },
    "a journal that does not go on": without("_bring_journal", _going_on),
    "a registry that changed": without("bring_registry", lambda _: lambda _connection, _contents: None),
    **{f"all of {name}": without("_OTHERS", _all_but(name)) for name in ("skipped", "overrides", "meta")},
}


def first_difference(seed: int, count: int) -> tuple[int, str, list[str]] | None:
    """The first step at which the two files differ: its number, what happened, the tables."""
    with tempfile.TemporaryDirectory() as folder:
        for number, (told, one, other) in enumerate(steps(seed, count, Path(folder)), 1):
            if names := [name for name in other if one.get(name) != other[name]]:
                return number, told, names
    return None


if __name__ == "__main__":
    replacing.FEW_ROWS = 0  # a small file is brought up to date, too
    histories.search(MUTANTS, first_difference, told=__doc__, steps=8)
