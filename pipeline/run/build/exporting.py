"""The bundle of a database: an entry that did not change since it was last asked is neither asked nor made again.

A build asks the gate of advice about all entries, and notes them, so that an export need not.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pipeline import export as bundle
from pipeline import store
from pipeline.export import Passed, remote
from pipeline.export.placing import Spare
from pipeline.records.bundle import PackRecord
from pipeline.records.kept import Seen
from pipeline.records.summary import MOST_EXAMPLES, Summary, count
from pipeline.run.build import itself
from pipeline.run.build.lean import lean, uncollected
from pipeline.run.build.places import Places
from pipeline.store import noted, querying, reading


def passed_before(path: Path) -> Passed:
    """What the file at `path` says of lines that passed as they would now."""
    return Passed.read(path, made_by=itself.made_by())


def keep_passed(path: Path, passed: Passed) -> None:
    """Nothing; the next export knows what passed. Where the disk refuses, it asks again."""
    with suppress(OSError):
        passed.write(path)


def note_passed(path: Path, lines: store.Digests) -> None:
    """Nothing; the file at `path` says then that the entries whose rows have these digests have passed."""
    keep_passed(path, passed_before(path).only(lines.table["digest"].combine_chunks()))


@lean()
def export(places: Places, *, to: str = "", again: bool = False, pages: bool = False) -> Summary:
    """Write the bundle from the database, whole or not at all; then put it into the store `to`, `again` all of it.

    With `pages` each entry has a file of its own however large the bundle is.
    """
    made_of = querying.made_of(places.state)
    passed, seen = passed_before(places.passed), Seen.read(places.seen_leaves)
    # what was forgotten since the last one was built is to be in no bundle that stays
    spare = Spare(places.spare, is_kept=passed.made_of == made_of) if made_of else None
    database = places.database
    with uncollected(), noted.named_again(places.state, database), store.of_ours(database, note=places.state):
        rows = querying.Entries(places.database, note=places.state)
        facts = querying.facts(places.database)
        registry = places.registry.successor(seen)
        written = bundle.write_rows(
            places.curated,
            rows,
            facts=bundle.Facts(
                normaliser=facts.meta["normaliser"],
                registry=registry.columns(version=reading.registry_version(places.database)),
                sources=facts.sources,
                ignored=facts.ignored,
                texts=facts.texts,
                has_pages=pages,
                packs=tuple(PackRecord.model_validate(row) for row in json.loads(facts.meta.get("packs", "[]"))),
            ),
            passed=passed,
            spare=spare,
            seen=seen,
        )
    for record in written.records:  # to give a file a second name, or to take it away, makes it another one
        seen.look(places.curated.resolve() / record.path, record.sha256)
    places.registry.keep(registry)
    keep_passed(places.passed, replace(written.passed, made_of=made_of))
    seen.write(places.seen_leaves)
    taken = written.entry_count + len(written.refused)
    stage = count("export", taken=taken, given=written.entry_count, lost=written.refused)
    figures = {"bundle": written.bundle_id[:16], "files": written.file_count}
    figures |= {"made_entries": written.entry_count - written.kept_count, "unchanged_entries": written.kept_count}
    figures |= {"leaves": written.leaf_count, "made_leaves": written.made_count}
    if to:
        sent = remote.publish(places.curated, to, again=again)
        figures |= {"published_files": sent.sent_count, "removed_files": sent.removed_count}
    return Summary([stage], written.refused[:MOST_EXAMPLES], figures)
