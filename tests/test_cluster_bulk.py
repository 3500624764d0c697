"""Millions of messages at once: the same leaders, fed by DuckDB."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import bulk

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))


def grouped(folder: Path, rows: list[tuple[int, str]], *, threads: int = 2) -> dict[int, str]:
    source, target = folder / "in.parquet", folder / "it's out.parquet"
    pq.write_table(pa.table({"id": [row[0] for row in rows], "text": [row[1] for row in rows]}), source)
    bulk.group(source, target, threads=threads)
    with duckdb.connect() as connection:
        return dict(connection.execute("SELECT id, cluster_id FROM read_parquet(?)", [str(target)]).fetchall())


@pytest.fixture(scope="module")
def messages() -> list[tuple[int, int, str]]:
    import generator

    return [(place, *row) for place, row in enumerate(generator.Messages(5, 300).take(6000))]


def test_every_message_has_a_cluster_whatever_the_order_and_the_threads(tmp_path: Path, messages) -> None:
    rows = [(number, text) for number, _, text in messages]
    expected = grouped(tmp_path, rows)
    assert len(expected) == len(rows)
    random.Random(1).shuffle(rows)
    assert grouped(tmp_path, rows, threads=1) == expected


def test_generated_messages_are_grouped_by_their_template(tmp_path: Path, messages) -> None:
    found = grouped(tmp_path, [(number, text) for number, _, text in messages])
    with duckdb.connect() as connection:
        table = pa.table({"truth": [row[1] for row in messages], "found": [found[row[0]] for row in messages]})
        connection.register("joined", table)
        both, true, made = (
            connection.execute(
                f"SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM joined GROUP BY {by})"
            ).fetchall()[0][0]
            for by in ("truth, found", "truth", "found")
        )
    assert both / made > 0.98
    assert both / true > 0.95


def test_values_and_prefixes_are_masked_but_words_are_not(tmp_path: Path) -> None:
    rows = [
        (1, "[rank3]: PressError: tray 7 of /opt/press/run.py is stuck at 0x7f00 for 1.5 GiB"),
        (2, "2025-01-02 03:04:05,678 ERROR PressError: tray 12 of /srv/x.py is stuck at 0x1 for 20 MiB"),
        (3, "PressError: tray 7 of /opt/press/run.py is not stuck at 0x7f00 for 1.5 GiB"),
    ]
    found = grouped(tmp_path, rows)
    assert found[1] == found[2] != found[3]


def test_two_names_are_free_three_are_not_and_short_texts_of_names_stay_apart(tmp_path: Path) -> None:
    frame = "PressError: the tray {} of the upper press {} refused to take another sheet of the heavy paper {} today"
    rows = [
        (1, frame.format("left_side", "old_one", "here")),
        (2, frame.format("far_tray", "new_press", "here")),
        (3, frame.format("left_side", "old_one", "in_stock")),
        (4, frame.format("far_tray", "new_press", "on_hand")),
        (5, "alpha_one gone"),
        (6, "some_other_name_altogether gone"),
    ]
    found = grouped(tmp_path, rows)
    assert found[1] == found[2]
    assert found[3] != found[4]
    assert found[5] != found[6]


def test_words_of_bytes_are_equal_where_the_words_are_equal() -> None:
    texts = [b"one two a-very-long-word-indeed", b"", b"two", b"a-very-long-word-indeed one", "é two".encode()]
    words, lengths = bulk.words_of_bytes(texts)
    assert lengths.tolist() == [3, 1, 1, 2, 2]
    one, two, long, empty, lone, long_again, one_again, _, last = words.tolist()
    assert (one, two, long) == (one_again, lone, long_again)
    assert last == two
    assert len({one, two, long, empty}) == 4


def test_no_messages_give_no_clusters(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.int64()), "text": pa.array([], pa.string())}), source)
    assert bulk.group(source, tmp_path / "out.parquet") == bulk.Grouped(0, 0, 0, 0)
