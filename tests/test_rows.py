"""What a build asks of the rows of shards by key is what the rows say that somebody holds all at once."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pipeline import cluster
from pipeline.ask import template_of
from pipeline.cluster import proofs
from pipeline.records import ClaimKind, Skipped, Template
from pipeline.run import shards
from pipeline.run.build import entries, making, narrow, reduce, results, rows, worded
from pipeline.run.build.registry import Registered
from pipeline.run.build.rows import Rows, laid_out, opened
from pipeline.run.shards.columns import Part
from tests import histories
from tests.test_closings import pull, thread
from tests.test_releases import released, report


@dataclass(frozen=True)
class Both:
    """The rows of one world: by key, and all at once."""

    rows: Rows
    result: shards.MapResult
    known: reduce.Knowledge
    folder: Path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Threads, official pages, a merged pull request that closed a report, a release that names it, lost items."""
    folder, world = tmp_path_factory.mktemp("rows"), histories.World(3)
    for _ in range(14):
        world.step()
    closed = replace(thread(number=2), document_id="github.com/errmine-fixtures/pond#2", repo="errmine-fixtures/pond")
    made = [closed, pull("Fixes #2"), report(), released("Jams (#2)", at="2026-05-01T00:00:00Z"), *histories.sample()]
    world.documents |= {one.document_id: one for one in made}
    used = histories.sharded(world, folder / "shards")
    lost = shards.MapResult(skipped=tuple(Skipped("raw", f"page {number}", "damaged_page") for number in range(3)))
    used.append(shards.write(folder / "shards", "p2", lost))
    result = sum((shards.read([one]) for one in used), shards.MapResult())
    with opened(used, spill=folder / "spill", threads=2) as rows:
        yield Both(rows, result, reduce.knowledge(result), folder)


def expected(known: reduce.Knowledge) -> list[Template]:
    """The templates, as the rows themselves say."""
    found = []
    for shown in known.events.values():
        signature = shown[0].signature
        assert signature is not None
        dates = [row.posted_at or known.documents[row.document_id].opened_at for row in shown]
        first = min((date.date().isoformat() for date in dates if date), default="")
        made = template_of(signature, count=len(shown), first_seen=first)
        read = [row.signature for row in shown if row.signature]
        made = replace(
            made,
            is_gate_complete=any(one.is_gate_complete for one in read),
            is_truncated=all(one.is_truncated for one in read),
            is_official=any(row.event.severity == "official" for row in shown),
        )
        found.append(made)
    return sorted(found, key=lambda template: template.signature_id)


def test_templates_are_those_of_all_events(both: Both) -> None:
    assert both.rows.templates() == expected(both.known)
    assert any(one.is_official for one in both.rows.templates())


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_a_text_that_one_report_cut_is_whole_where_another_shows_all_of_it(
    order: tuple[int, int], tmp_path: Path
) -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    x\nRuntimeError: the kiln is jammed'
    ends = dict(zip(order, ("...", ""), strict=True))  # who comes first decides nothing
    world = histories.World(3)
    world.documents = {
        f"github.com/errmine-fixtures/kiln#{number}": replace(
            thread(number=number, body=f"```\n{trace}{ends[number]}\n```"),
            document_id=f"github.com/errmine-fixtures/kiln#{number}",
        )
        for number in (1, 2)
    }
    used = histories.sharded(world, tmp_path / "shards")
    with opened(used, spill=tmp_path / "spill") as rows:
        (found,) = [one for one in rows.templates() if one.text == "the kiln is jammed"]
    assert (found.count, found.is_truncated) == (2, False)


def test_before_the_database_is_written_the_room_of_all_rows_but_documents_is_free(tmp_path: Path) -> None:
    world = histories.World(3)
    for _ in range(14):
        world.step()
    with opened(histories.sharded(world, tmp_path / "shards"), spill=tmp_path / "spill") as rows:
        digests, names = rows.document_digests(), sorted(rows.document_ids())
        rows.of_members(entries.group(rows).cluster_of)
        assert list(rows.decisive())
        rows.let_go()
        assert (rows.document_digests(), sorted(rows.document_ids())) == (digests, names)
        assert rows.lost(but="", most=5) == []
        left = {name for name, count in rows._rows("SELECT table_name, estimated_size FROM duckdb_tables()") if count}
        assert left == {"documents", "files"}


@pytest.mark.long
def test_what_memory_does_not_hold_has_room_in_a_home_that_has_no_folder_for_it_yet(
    both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[Rows.__module__], "_MEMORY", "24MB")
    files = histories.sharded(histories.World(3), tmp_path / "shards")
    with opened(files, spill=tmp_path / "no" / "folder" / "spill") as rows:
        (many,) = rows._rows("SELECT count(DISTINCT i::VARCHAR || repeat('x', 40)) FROM range(2_000_000) t(i)")
    assert many == (2_000_000,)


def test_the_engine_of_a_build_has_nothing_of_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[Rows.__module__]
    monkeypatch.setattr(module, "_WAITING", waiting := [])
    files = histories.sharded(histories.World(3), tmp_path / "shards")
    for number in range(2):  # one after the other, in homes of their own
        with opened(files, spill=tmp_path / str(number) / "spill", threads=number + 1) as rows:
            assert not waiting
            there = rows._rows("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'of_this_build'")
            assert there == [(0,)]
            rows._connection.execute("CREATE TABLE of_this_build AS SELECT 1")
            told = "SELECT current_setting('threads'), current_setting('temp_directory'), current_setting('TimeZone')"
            assert rows._rows(told) == [(number + 1, str(tmp_path / str(number) / "spill"), "UTC")]
            rows.of_members(entries.group(rows).cluster_of)
            begun = rows.decisive()
            next(begun, None)  # the rest is never asked for
        assert len(waiting) == 1
    with pytest.raises(ValueError, match="fault"), opened(files, spill=tmp_path / "spill"):
        raise ValueError("fault")
    assert not waiting


@pytest.mark.long
def test_an_engine_that_was_on_the_disk_is_not_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[Rows.__module__]
    monkeypatch.setattr(module, "_WAITING", [])
    monkeypatch.setattr(module, "_MEMORY", "24MB")
    files = histories.sharded(histories.World(3), tmp_path / "shards")
    for number in range(2):
        spill = tmp_path / str(number) / "spill"
        with opened(files, spill=spill) as rows:
            (many,) = rows._rows("SELECT count(DISTINCT i::VARCHAR || repeat('x', 40)) FROM range(500_000) t(i)")
            assert spill.is_dir()
        assert many == (500_000,)


def test_rows_are_counted_as_they_are(both: Both) -> None:
    counts, result = both.rows.counts, both.result
    assert counts.documents == len(result.documents)
    assert counts.sources == dict(sorted(Counter(row.source for row in result.documents).items()))
    assert counts.events == len(result.events)
    assert counts.set_aside == Counter(row.event.severity for row in result.events if row.signature is None)
    assert counts.claims == Counter(claim.kind for claim in result.claims)
    assert Counter(counts.lost_in("raw")) == {"damaged_page": 3}
    assert both.rows.lost(but="statements", most=2) == [one for one in result.skipped if one.stage != "statements"][:2]
    counted = both.rows.error_counts()
    assert dict(zip(*(column.to_pylist() for column in counted.columns), strict=True)) == Counter(
        row.signature.signature_id for row in result.events if row.signature and row.event.severity == "error"
    )


def test_of_shards_that_are_there_still_no_file_is_read_and_what_changed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that changed, one that two keys lead to, one that stays in a shard that is written anew."""
    made = [thread(number=number, body=f"ValueError: tray {number} of the press is empty") for number in range(5)]

    def written(number: int, *wanted: tuple[str, str, int]) -> shards.ShardPaths:
        parts = [shards.Part(key, digest, histories.map_of(made[place])) for key, digest, place in wanted]
        return shards.write_parts(tmp_path / "shards", f"p{number}", parts)

    first = [written(0, ("a", "1", 0), ("b", "1", 1)), written(1, ("c", "1", 2)), written(2, ("d", "1", 2))]
    last = narrow.Kept()
    for used in (first, first):
        with opened(used, spill=tmp_path / "spill", last=last) as rows:
            assert rows.touched is None if not last.used else rows.touched is not None
            templates, last = rows.template_table(), rows.kept
            digests = rows.document_digests()
        monkeypatch.setattr(Rows, "_narrowed", None)
    monkeypatch.undo()
    then = [written(3, ("a", "2", 3), ("b", "1", 1)), written(4, ("c", "1", 2), ("e", "1", 4)), first[2]]
    with opened(then, spill=tmp_path / "spill", last=last) as rows, opened(then, spill=tmp_path / "other") as anew:
        assert rows.touched is not None
        assert rows.touched.documents == {made[place].document_id for place in (0, 2, 3, 4)}
        assert rows.touched.shown <= {one.signature_id for one in (*anew.templates(), *rows.templates())}
        assert rows.template_table(templates) == anew.template_table()
        assert rows.document_digests() == anew.document_digests() != digests
        assert rows.counts == anew.counts
        assert len(rows.kept.segments) == 1
        kept = rows.kept
    many = kept.with_those_of([f"more {number}" for number in range(2)], narrow.EMPTY, kept.used)
    assert [len(one.shards) for one in many.segments] == [3]  # what nobody has any more is gone


def test_the_index_of_words_finds_what_reading_all_events_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over segments of several rounds, of whose shards some are gone; also where all words have few numbers."""
    monkeypatch.setattr(narrow, "_number", lambda word: len(word) % 5)
    world, last = histories.World(5), narrow.Kept()
    for step in range(10):
        world.step()
        with opened(histories.sharded(world, tmp_path / str(step)), spill=tmp_path / "spill", last=last) as rows:
            last = rows.kept
            events = [
                (owner, text)
                for owner, text, _ in zip(
                    *(column.to_pylist() for column in rows.words_of_events().columns), strict=True
                )
            ]
            for owner, text in events[:20]:
                words = frozenset(sorted(proofs.words_of(text))[:3])
                but = frozenset({owner} if owner else ())
                for some in (frozenset[str](), but):
                    wanted = [
                        one for one in events if one[0] and one[0] not in some and words <= proofs.words_of(one[1])
                    ]
                    assert sorted(rows.holding(words, some)) == sorted(wanted)
    assert any(len(one.shards) for one in last.segments)
    assert not list(rows.holding(frozenset({"nobody", "said"}), frozenset()))


def test_messages_of_documents_are_those_of_their_grouped_events(both: Both) -> None:
    grouped = [row for row in both.result.events if row.signature is not None]
    wanted = sorted({row.document_id for row in grouped})[::2]
    found = sorted(grouped, key=lambda row: (row.document_id, row.ordinal))
    assert both.rows.messages_of(wanted) == [
        (row.document_id, row.event.message, row.signature.signature_id)
        for row in found
        if row.document_id in wanted and row.signature
    ]
    assert both.rows.messages_of(["none of them"]) == []


def test_what_others_place_is_placed_by_a_few_records(both: Both) -> None:
    rules = {claim.rule for claim in both.rows.placed}
    assert {"fix.closed_by_pull", "fix.release_notes"} <= rules
    fixes = {one.claim_id: one for said in both.known.claims.values() for one in said if one.kind == ClaimKind.FIX}
    assert [claim for claim in both.rows.placed if claim.signature_ids and fixes[claim.claim_id] != claim] == []


def test_drafts_of_batches_are_those_of_everything_at_once(both: Both) -> None:
    partition = cluster.partition(both.rows.templates())
    around = reduce.near_of(partition)
    whole = reduce.Drafting(both.known, partition.cluster_of(), around)
    batches = [partition.clusters[start : start + 3] for start in range(0, len(partition.clusters), 3)]
    both.rows.lay_out([[one for found in batch for one in found.members] for batch in batches], both.folder / "laid")
    pages = reduce.gathered(both.rows.pages, ())
    assert pages.official == both.known.official != {}
    for number, batch in enumerate(batches):
        known = reduce.gathered(laid_out(both.folder / "laid", number), both.rows.placed)
        known = replace(known, documents={**pages.documents, **known.documents}, official=pages.official)
        drafting = replace(whole, known=known)
        for found in batch:
            assert [known.events[one] for one in found.members] == [both.known.events[one] for one in found.members]
            assert drafting.draft(found) == whole.draft(found)


def test_records_that_are_looked_up_are_those_of_the_tables_in_the_order_of_shards(both: Both) -> None:
    both.rows.lay_out([[one.signature_id for one in both.rows.templates()]], both.folder / "alone")
    assert laid_out(both.folder / "alone", 0).events == tuple(row for row in both.result.events if row.signature)


def test_a_few_batches_are_laid_out_as_many_are(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [one.signature_id for one in both.rows.templates()]
    batches = [names[0::2], ["of nobody"], names[1::2]]
    for few in (len(batches), 0):
        monkeypatch.setattr(rows, "_FEW_BATCHES", few)
        both.rows.lay_out(batches, both.folder / f"few {few}")
    for number in range(len(batches)):
        one, other = (laid_out(both.folder / f"few {few}", number) for few in (len(batches), 0))
        assert one == other
        assert bool(one.events) == (number != 1)


def test_a_digest_names_each_document_that_speaks_of_a_cluster(both: Both) -> None:
    partition = cluster.partition(both.rows.templates())
    both.rows.of_members(partition.cluster_of())
    found = {one.cluster_id: one for one in both.rows.decisive()}
    assert found.keys() == {one.cluster_id for one in partition.clusters}
    for one in partition.clusters:
        rows = [row for member in one.members for row in both.known.events[member]]
        said = [claim for member in one.members for claim in both.known.claims.get(member, ())]
        leads = [claim for member in one.members for claim in both.known.candidates.get(member, ())]
        cited = {row.document_id for row in rows} | {claim.quote.document_id for claim in (*said, *leads)}
        assert found[one.cluster_id].weight == len(cited)
        assert found[one.cluster_id].spoken == tuple(sorted({name for claim in said for name in claim.signature_ids}))


@pytest.mark.long
def test_a_pool_makes_what_one_process_makes(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "FEWEST_FOR_A_POOL", 0)
    monkeypatch.setattr(making, "MOST_CLUSTERS", 7)
    grouped = entries.group(both.rows)

    def make(workers: int) -> entries.Made:
        means = entries.Means(both.folder / f"{workers}", workers=workers, memory=results.Memory("x"))
        return entries.make(both.rows, grouped, means, registry=Registered.of(), min_documents=1)

    one, two = make(1), make(2)
    assert histories.differs(two, one) == []
    assert len(one.entries) > 7


def test_texts_are_found_by_their_keys(tmp_path: Path) -> None:
    said = {f"cluster:{number}": "long " * number + "\ud800 末" for number in range(40)}
    older = worded.Texts(tmp_path / "older")
    for key in sorted(said)[:20]:
        older.add(key, worded.packed(said[key]))
    made = worded.Texts(tmp_path / "made", older)
    for key in sorted(said)[10:]:
        made.add(key, worded.packed("another"))
        made.add(key, worded.packed(said[key]))
    assert {key: worded.unpacked(made[key]) for key in made} == said
    kept, _ = stored(tmp_path, sorted(said), made)
    assert {key: worded.unpacked(kept[key]) for key in kept} == said
    with pytest.raises(KeyError):
        kept["cluster:none"]


Told = dict[str, worded.Listed]


def stored(
    folder: Path, keys: Sequence[str], texts: Mapping[str, bytes], known: Told | None = None, *, is_purged: bool = False
) -> tuple[worded.Stored, Told]:
    """Texts as a build leaves them, and what is told of their files."""
    places, listed = worded.write(folder, keys, texts, known=known or {}, is_purged=is_purged)
    files = {str(one["path"]): one for one in listed}
    for name, told in files.items():
        body = (folder / name).read_bytes()
        assert (told["bytes"], told["sha256"]) == (len(body), hashlib.sha256(body).hexdigest())
    worded.discard(folder, files)
    assert len(list((folder / "texts").iterdir())) == len(files)
    return worded.Stored(folder, list(files), places), files


def test_texts_that_stay_stay_where_they_are_until_they_are_few(tmp_path: Path) -> None:
    said = {f"cluster:{number:02}": worded.packed("long " * number + "\ud800 末") for number in range(40)}
    kept, known = stored(tmp_path, sorted(said), said)
    (first,) = known
    for number, gone in enumerate(("cluster:00", "cluster:20", "cluster:21")):
        made = worded.Texts(tmp_path / f"made{number}", kept)
        del said[gone]
        said["cluster:07"] = worded.packed(f"another {number}")
        made.add("cluster:07", said["cluster:07"])
        kept, known = stored(tmp_path, sorted(said), made, known)
        assert {key: kept[key] for key in kept} == said
        assert next(iter(known)) == first
        assert len(known) == 2  # the small ones are joined
    left = sorted(said)[:10]
    few, _ = stored(tmp_path, left, kept, known)
    assert {key: few[key] for key in few} == {key: said[key] for key in left}
    assert first not in few.files


def test_where_something_was_forgotten_no_file_of_texts_stays_that_holds_more_than_is_asked_for(tmp_path: Path) -> None:
    said = {name: worded.packed(f"words of {name} " * 9) for name in ("cluster:1", "cluster:2", "cluster:3")}
    kept, known = stored(tmp_path, sorted(said), said)
    same, _ = stored(tmp_path, sorted(said), kept, known, is_purged=True)
    assert same.files == kept.files
    less, files = stored(tmp_path, ["cluster:1", "cluster:3"], kept, known, is_purged=True)
    (told,) = files.values()
    assert told["bytes"] == len(less["cluster:1"]) + len(less["cluster:3"])


def test_of_a_document_that_two_keys_lead_to_the_last_key_counts_in_whatever_shards_they_lie(tmp_path: Path) -> None:
    made = next(one for one in histories.sample() if one.record is None)
    rows = histories.map_of(made)
    again = replace(rows, documents=tuple(replace(row, title="another") for row in rows.documents))
    found = set()
    for number, names in enumerate((("p0", "p1"), ("p1", "p0"))):
        parts = zip(names, (Part("a", "one", rows), Part("b", "two", again)), strict=True)
        used = [shards.write_parts(tmp_path / str(number), name, [part]) for name, part in parts]
        with opened(sorted(used, key=lambda one: one.name), spill=tmp_path / "spill") as there:
            (told,) = there.document_digests().to_pylist()
            there.lay_out([[one.signature_id for one in there.templates()]], tmp_path / f"laid {number}")
            (document,) = laid_out(tmp_path / f"laid {number}", 0).documents
            found.add((told["document_id"], *list(told.values())[1:], document.title))
    assert found == {(made.document_id, "onetwo", "another")}
