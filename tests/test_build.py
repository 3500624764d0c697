"""The whole build: golden bytes, any order, any worker count, any number of runs, and damaged input."""

from __future__ import annotations

import importlib
import json
import random
import string
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline import run, store
from pipeline.records import Skipped, warm
from pipeline.records.bundle import Published, Registry
from pipeline.records.errors import RawError
from pipeline.records.summary import count
from pipeline.run import Places
from pipeline.run.build import changes, history, mapping
from pipeline.run.build.registry import Registered
from tests import golden


@pytest.fixture(scope="module")
def bundle(sample_home: Path) -> dict[str, bytes]:
    return golden.bundle_bytes(Places.of(sample_home).curated)


#: A person ended the program: an event that is kept, counted and not grouped.
STOPPED = """Traceback (most recent call last):
  File "/srv/bench/lamp.py", line 8, in <module>
    light(3)
KeyboardInterrupt
"""


def shuffled_sample(folder: Path) -> Path:
    """raw/sample with its lines in another order, under other file names."""
    folder.mkdir()
    order = random.Random(7)
    for number, path in enumerate(sorted(golden.SAMPLE.rglob("*"), reverse=True)):
        if path.suffix == ".jsonl":
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            order.shuffle(lines)
            (folder / f"{number}.txt").write_text("".join(lines), encoding="utf-8")
        elif path.is_file():
            (folder / f"{number}{path.suffix}").write_bytes(path.read_bytes())
    return folder


def test_the_sample_gives_the_golden_bundle_byte_for_byte(bundle: dict[str, bytes]) -> None:
    assert bundle == golden.bundle_bytes(golden.GOLDEN), "read the difference, then `make golden`"


def test_order_names_workers_and_partitions_change_no_byte(bundle: dict[str, bytes], tmp_path: Path) -> None:
    source = shuffled_sample(tmp_path / "source")
    made = golden.make(tmp_path / "home", source=source, workers=3, partition_documents=7)
    assert golden.bundle_bytes(made) == bundle


@pytest.mark.long
def test_a_second_run_changes_no_byte(sample_home: Path, bundle: dict[str, bytes], tmp_path: Path) -> None:
    golden.copied(sample_home, tmp_path)
    first = store.digest(Places.of(tmp_path).database)
    assert golden.bundle_bytes(golden.make(tmp_path)) == bundle
    assert store.digest(Places.of(tmp_path).database) == first


@pytest.mark.long
def test_a_build_that_was_never_exported_leaves_no_trace(
    sample_home: Path, bundle: dict[str, bytes], tmp_path: Path
) -> None:
    once, twice = sample_home, tmp_path / "twice"
    run.import_files(Places.of(twice).raw, [golden.SAMPLE])
    run.build(Places.of(twice), workers=1, partition_documents=500)
    assert golden.bundle_bytes(golden.make(twice)) == bundle
    assert store.digest(Places.of(twice).database) == store.digest(Places.of(once).database)


@pytest.mark.long
def test_a_new_document_is_added_without_touching_other_shards(tmp_path: Path) -> None:
    golden.make(tmp_path / "home", partition_documents=4)
    places = Places.of(tmp_path / "home")
    before = {path: path.stat().st_mtime_ns for path in places.shards.rglob("*.parquet")}
    row = json.loads((golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines()[0])
    row |= {"number": 999, "html_url": row["html_url"].rsplit("/", 1)[0] + "/999", "comments": []}
    (tmp_path / "new.jsonl").write_text(json.dumps(row), encoding="utf-8")
    run.import_files(places.raw, [tmp_path / "new.jsonl"])
    told: list[tuple[str, int, int]] = []
    run.build(places, workers=1, partition_documents=4, progress=lambda *step: told.append(step))
    first = {stage: done for stage, done, _ in reversed(told)}
    assert {first[stage] for stage in ("extract", "cluster", "publish")} == {0}  # who waits sees a stage begin
    kept = [path for path, written in before.items() if path.exists() and path.stat().st_mtime_ns == written]
    assert len(kept) > len(before) * 0.8


@pytest.mark.long
def test_a_damaged_page_is_named_and_costs_its_document_only_where_somebody_says_so(
    sample_home: Path, tmp_path: Path
) -> None:
    places = Places.of(golden.copied(sample_home, tmp_path))
    whole = store.table_counts(places.database)["documents"]
    segment = next(iter((places.raw / "segments").glob("*.zip")))
    body = bytearray(segment.read_bytes())
    body[200:210] = bytes(10)
    segment.write_bytes(body)
    with pytest.raises(RawError, match=rf"{segment.name} is damaged") as caught:
        run.build(places, workers=1, partition_documents=500)
    assert "--accept-loss" in caught.value.hint()
    assert store.table_counts(places.database)["documents"] == whole
    summary = run.build(places, workers=1, partition_documents=500, is_loss_accepted=True)
    assert summary.stages[0].given == whole - 1
    (page,) = [sentence for sentence in summary.figures["warnings"] if sentence.startswith("page lost: ")]
    assert segment.name in page
    assert "warnings" not in run.build(places, workers=1, partition_documents=500).figures


def test_every_skipped_item_that_is_counted_has_its_row(tmp_path: Path) -> None:
    thread = json.loads((golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines()[0])
    thread |= {"body": f"```\n{STOPPED}```\n", "comments": []}
    (tmp_path / "thread.jsonl").write_text(json.dumps(thread) + "\n", encoding="utf-8")
    (tmp_path / "page.html").write_text("<html><title>E1</title></html>", encoding="utf-8")
    places = Places.of(tmp_path)
    run.import_files(places.raw, [tmp_path / "thread.jsonl", tmp_path / "page.html"])
    run.build(places, workers=1, partition_documents=500)
    counted = dict(store.query(places.database, "SELECT stage, skipped_count FROM stage_counts").rows)
    stage = "CASE WHEN stage IN ('raw', 'document', 'extract') THEN 'documents' ELSE stage END"
    rows = dict(store.query(places.database, f"SELECT {stage}, count(*) FROM skipped GROUP BY ALL").rows)
    assert counted["events"] > 0
    assert rows == {name: number for name, number in counted.items() if number}


@pytest.mark.long
def test_one_post_of_thousands_of_errors_gives_a_few_and_says_how_many_are_left_out(tmp_path: Path) -> None:
    thread = json.loads((golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines()[0])
    names = [f"{one}{other}" for one in string.ascii_letters for other in string.ascii_letters]
    body = "\n".join(f"ValueError: the {name}quux{name} of the wheel is broken" for name in names[:1200])
    warnings = "\n".join(f"UserWarning: the {name}quux{name} is old" for name in names[:600])
    for number, text in enumerate((body, warnings)):
        one = thread | {"number": 900 + number, "html_url": f"https://github.com/o/r/issues/{900 + number}"}
        one |= {"title": "x", "body": f"```\n{text}\n```\n", "comments": []}
        one["url"] = f"https://api.github.com/repos/o/r/issues/{900 + number}"
        with (tmp_path / "thread.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps(one) + "\n")
    places = Places.of(tmp_path)
    run.import_files(places.raw, [tmp_path / "thread.jsonl"])
    summary = run.build(places, workers=1, partition_documents=500)
    counts = store.table_counts(places.database)
    assert 0 < counts["entries"] <= mapping.MOST_ERRORS
    assert counts["events"] <= 2 * mapping.MOST_EVENTS
    told = [item for item in summary.examples if item.reason == "too_many_errors"]
    assert "1,150 more are left out" in {item.detail for item in told}
    rows = store.query(places.database, "SELECT detail FROM skipped WHERE reason = 'too_many_errors'").rows
    assert sorted(detail for (detail,) in rows) == sorted(item.detail for item in told)


def test_a_stage_that_loses_an_item_in_silence_is_a_bug() -> None:
    assert count("x", taken=3, given=1, lost=[Skipped("x", "a", "r"), Skipped("x", "b", "r")]).reasons == (("r", 2),)
    with pytest.raises(AssertionError, match="3 in, 1 out, 1 skipped"):
        count("x", taken=3, given=1, lost=[Skipped("x", "a", "r")])


def test_what_workers_are_forked_from_has_read_an_error_and_what_helped() -> None:
    read = importlib.import_module(mapping.PRELOAD).READ
    assert [row.event.exception_type for row in read.events] == ["RuntimeError"]
    rules = {claim.rule.partition(".")[0] for claim in read.claims if claim.kind != "candidate"}
    assert rules == {"worked", "failed", "advice", "environment"}


def test_an_event_that_is_read_anew_is_found_by_its_document_and_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [
        ("github.com/dmlc/tvm#1", "old:a", "the lamp is dark"),  # its repository has another name now
        ("github.com/errmine-fixtures/pond#2", "old:b", "two"),
        ("github.com/errmine-fixtures/pond#2", "old:c", "three"),
        ("github.com/errmine-fixtures/pond#3", "old:d", "the words were cut"),  # the only one of its document
    ]
    monkeypatch.setattr(history.reading, "event_signatures", lambda _database, _gone: before)
    now = [
        ("github.com/apache/tvm#1", "the lamp is dark", "new:a"),
        ("github.com/errmine-fixtures/pond#2", "two", "new:b"),
        ("github.com/errmine-fixtures/pond#2", "three and more", "new:c"),  # of two, nobody knows which it was
        ("github.com/errmine-fixtures/pond#3", "the words were cut short", "new:d"),
    ]
    rows = SimpleNamespace(messages_of=lambda wanted: [row for row in now if row[0] in wanted])
    last = history.LastBuild(assigned=changes.columns({"old:a": "cluster:1"}))
    found = history.moved(Path("x"), last, rows, ["new:a"], normaliser="2")
    assert dict(found.counts) == {("old:a", "new:a"): 1, ("old:b", "new:b"): 1, ("old:d", "new:d"): 1}


def test_ids_follow_a_build_that_read_events_anew_and_was_never_exported() -> None:
    """Two builds after an upgrade and then an export withdrew every id and named every entry anew."""
    old, new, other = (f"cluster:{digit * 16}" for digit in "123")
    gone, there, lost = (f"signature:{digit * 16}" for digit in "abc")
    last = history.LastBuild(
        assigned=changes.columns({f"{there}x": new, there: new, lost: other}), cluster_aliases=((old, new),)
    )
    published = Registry(
        ids={
            "jax/carried": Published(cluster_id=old, medoid=gone),
            "jax/kept": Published(cluster_id=other, medoid=lost),
            "jax/withdrawn": Published(cluster_id=old, medoid=gone),
            "jax/unknown": Published(cluster_id="cluster:" + "9" * 16, medoid=gone),
        },
        withdrawn=["jax/withdrawn"],
    )
    medoids = {one.name: one.medoid for one in last.followed(Registered.of(published)).every()}
    assert medoids == {"jax/carried": there, "jax/kept": lost, "jax/withdrawn": gone, "jax/unknown": gone}


def test_what_a_build_compiled_is_kept_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bool] = []
    monkeypatch.setattr(warm, "keep", lambda: kept.append(True))
    run.build(Places.of(tmp_path), workers=1, partition_documents=500)
    assert kept == [True]
