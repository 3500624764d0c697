"""Search: entries by words in both languages, with what DuckDB has built in."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from pipeline import store
from pipeline.records.errors import StoreError
from pipeline.run import Places
from pipeline.store import reading
from tests import entry_factory as make
from tests import golden, store_versions
from tests.cli import run
from tests.rings import first_alone, one_in


@pytest.fixture(scope="module")
def home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.copied(sample_home, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def database(home: Path) -> Path:
    return Places.of(home).database


def ids(database: Path, words: str) -> list[str]:
    return [hit["entry_id"] for hit in reading.search(database, words, limit=1000)]


def terms(database: Path, words: str) -> list[str]:
    found = store.query(database, "SELECT unnest(terms_of($1)) AS term", parameters=(words,))
    return [str(row[0]) for row in found.rows]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("CUDA errors", ["cuda", "error"]),
        ("torch.cuda.OutOfMemoryError", ["torch", "cuda", "out", "of", "memory", "error"]),
        ("num_stages=2", ["num", "stage", "2"]),
        ("显存不足", ["显存", "存不", "不足"]),
        ("核", ["核"]),
        ("在 GPU 上显存不足", ["gpu", "在", "上显", "显存", "存不", "不足"]),
        ("class bus axis", ["class", "bus", "axis"]),
        ("", []),
        ("🙂 \x00 ' \" ; -- %", []),
    ],
)
def test_a_text_has_these_terms(database, words, wanted):
    assert terms(database, words) == wanted


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("共享内存", "triton/out-of-resources-shared-memory"),
        ("核函数所需的共享内存超过设备上限", "triton/out-of-resources-shared-memory"),
        ("shared memory Hardware limit", "triton/out-of-resources-shared-memory"),
        ("OutOfResources shared memory", "triton/out-of-resources-shared-memory"),
    ],
)
def test_an_entry_is_found_by_words_of_either_language(database, words, first):
    assert ids(database, words)[0] == first


OUT_OF_MEMORY = {"pytorch/out-of-memory-error-torch-oom-cuda", "xla/jax-runtime-error-resource-exhausted"}


@pytest.mark.parametrize(
    "words",
    first_alone(["显存不足", "爆显存", "显存爆了", "显存溢出", "显存不够", "显存耗尽", "显卡内存不足", "GPU内存不足",
     "内存不足", "内存溢出", "内存爆了", "内存不够"]),
)  # fmt: skip
def test_every_way_to_say_out_of_memory_finds_those_errors_first(database, words):
    assert set(ids(database, words)[:2]) == OUT_OF_MEMORY


def test_chinese_finds_an_entry_that_only_has_the_english_words(database):
    only_english = {
        str(row[0])
        for row in store.query(
            database,
            "SELECT entry_id FROM search_terms WHERE term = 'dimension' "
            "EXCEPT SELECT entry_id FROM search_terms WHERE term = '维度'",
        ).rows
    }
    assert only_english
    assert only_english & set(ids(database, "维度"))


def test_who_has_more_of_the_words_comes_first(database):
    hits = reading.search(database, "out of resource shared memory", limit=1000)
    assert len(hits[0]["found"]) == 5
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


@pytest.mark.long
def test_of_entries_that_fit_about_as_well_that_of_more_documents_comes_first(tmp_path: Path) -> None:
    rare = make.entry(id="shop/key-error", signature="shop.errors.KeyError", evidence_count=1)
    common = make.entry(id="python/key-error", signature="KeyError: the key <n> is in no table", evidence_count=40)
    other = make.entry(id="python/table", signature="ValueError: no table", evidence_count=400)
    entries = (rare, common, other)
    path = store.write(tmp_path / "errmine.duckdb", store.Contents(entries=entries))
    assert ids(path, "KeyError")[0] == common.id
    assert [ids(path, entry.signature)[0] for entry in entries] == [entry.id for entry in entries]
    hits = reading.search(path, "KeyError", limit=9)
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


def test_every_entry_is_found_by_its_own_signature(database):
    rows = store.query(database, "SELECT entry_id, signature FROM entries ORDER BY entry_id").rows
    with store.held(database):
        assert [entry for entry, signature in rows if entry not in ids(database, signature)] == []


def test_every_chinese_signature_finds_its_entry_among_the_first(database):
    rows = store.query(database, "SELECT entry_id, signature_zh FROM entries WHERE signature_zh IS NOT NULL").rows
    assert len(rows) > 20
    with store.held(database):
        assert [entry for entry, chinese in rows if entry not in ids(database, chinese)[:5]] == []


@pytest.mark.parametrize(
    "words",
    one_in(
        4, ["", " ", "'", "'); DROP TABLE entries; --", "\x00", "%_", "\\", "🙂", "$1", "共" * 100_000, "a " * 100_000]
    ),
)
def test_any_text_may_be_searched(database, words):
    assert isinstance(reading.search(database, words, limit=10), list)


def test_two_searches_give_the_same_rows(database):
    assert reading.search(database, "内存 error", limit=50) == reading.search(database, "内存 error", limit=50)


def test_no_word_is_counted_for_an_entry_that_is_not_there(database):
    sql = "SELECT count(*) FROM search_terms WHERE entry_id NOT IN (SELECT entry_id FROM entries)"
    assert store.query(database, sql).rows == [(0,)]


def test_the_command_finds_by_chinese_and_english_words(home):
    found = run("search", "共享内存", "--home", home, "--limit", 3)
    assert found.code == 0
    assert "triton/out-of-resources-shared-memory" in found.out
    as_json = run("search", "shared memory", "--home", home, "--json")
    assert '"entry_id": "triton/out-of-resources-shared-memory"' in as_json.out


def test_the_command_says_when_nothing_has_the_words(home):
    missed = run("search", "zzzzzz", "--home", home)
    assert missed.code == 1
    assert "no entry for 'zzzzzz'" in missed.err


def test_a_file_without_the_index_says_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="no words to search") as raised:
        reading.search(old_file(tmp_path / "old.duckdb"), "x", limit=1)
    assert "errmine build" in raised.value.hint()


def old_file(path: Path) -> Path:
    """A file of an errmine that knew no search."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(store_versions.path_of("1.0").read_text(encoding="utf-8"))
        connection.execute("INSERT INTO meta VALUES ('schema_version', '1.0')")
    return path
