"""Shards: what is written is read back, equal rows give equal bytes, half a shard is none."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pipeline.records import (
    Claim,
    ClaimKind,
    DocLink,
    DocRecord,
    DocRemedy,
    Document,
    DocumentKind,
    Event,
    Fact,
    Frame,
    Link,
    LinkKind,
    Outcome,
    Post,
    PostKind,
    Quote,
    Severity,
    Signature,
    Skipped,
    Slot,
)
from pipeline.records.errors import StoreError
from pipeline.run import shards
from pipeline.run.shards import columns

TEXT = st.text(max_size=12)
MAYBE = st.none() | TEXT
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple)
OFFSET = st.integers(0, 2**40)
MAYBE_INT = st.none() | st.integers(-(2**40), 2**40)
MAYBE_FLAG = st.none() | st.booleans()
NUMBER = st.none() | st.floats(allow_nan=False)
TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
TIME = st.none() | TIMES.map(lambda time: time.replace(fold=0))

QUOTES = st.builds(Quote, TEXT, TEXT, TEXT, OFFSET, OFFSET, TEXT, st.sampled_from(["en", "zh"]), MAYBE, MAYBE, MAYBE)
CLAIMS = st.builds(
    Claim,
    TEXT,
    st.sampled_from(ClaimKind),
    TEXT,
    st.none() | st.builds(Fact, TEXT, PAIRS),
    st.none() | st.sampled_from(Outcome),
    TEXT,
    QUOTES,
    st.none() | QUOTES,
    TEXTS,
)
FRAMES = st.lists(st.builds(Frame, MAYBE, MAYBE_INT, MAYBE), max_size=3).map(tuple)
EVENTS = st.builds(
    Event,
    TEXT,
    MAYBE,
    TEXT,
    TEXT,
    FRAMES,
    st.lists(st.builds(Link, TEXT, MAYBE, TEXT, FRAMES, TEXT), max_size=2).map(tuple),
    TEXTS,
    OFFSET,
    OFFSET,
    st.booleans(),
    st.sampled_from(Severity),
)
SIGNATURES = st.builds(
    Signature,
    TEXT,
    MAYBE,
    TEXT,
    PAIRS,
    st.booleans(),
    TEXT,
    st.lists(st.builds(Slot, TEXT, TEXT, NUMBER, MAYBE), max_size=3).map(tuple),
    TEXT,
    OFFSET,
    OFFSET,
    st.booleans(),
    TEXTS,
)
EVENT_ROWS = st.builds(shards.EventRow, TEXT, TEXT, OFFSET, EVENTS, st.none() | SIGNATURES, TEXT, TIME, MAYBE, MAYBE)
REMEDIES = st.lists(st.builds(DocRemedy, TEXT, TEXT, TEXT, TEXTS, OFFSET, OFFSET), max_size=2).map(tuple)
RECORDS = st.builds(
    DocRecord,
    TEXT,
    MAYBE,
    TEXT,
    MAYBE,
    MAYBE,
    TEXTS,
    MAYBE,
    TEXT,
    TEXTS,
    TEXTS,
    TEXTS,
    REMEDIES,
    TEXTS,
    MAYBE,
    MAYBE,
    st.booleans(),
)
LINKS = st.lists(st.builds(DocLink, st.sampled_from(LinkKind), TEXT, MAYBE_INT, MAYBE_INT), max_size=2).map(tuple)
DOCUMENT_ROWS = st.builds(
    shards.DocumentRow,
    document_id=TEXT,
    kind=st.sampled_from(DocumentKind),
    url=TEXT,
    repo=MAYBE,
    number=MAYBE_INT,
    title=MAYBE,
    state=MAYBE,
    state_reason=MAYBE,
    is_draft=MAYBE_FLAG,
    is_merged=MAYBE_FLAG,
    labels=TEXTS,
    opened_at=TIME,
    updated_at=TIME,
    closed_at=TIME,
    post_count=OFFSET,
    character_count=OFFSET,
    links=LINKS,
    record=st.none() | RECORDS,
    payload=MAYBE,
    raw_sha256=TEXT,
    source=TEXT,
    form=TEXT,
    is_lossy=st.booleans(),
    fixed_in=TEXTS,
    hidden_count=st.integers(0, 9),
)
RESULTS = st.builds(
    shards.MapResult,
    st.lists(DOCUMENT_ROWS, max_size=3).map(tuple),
    st.lists(EVENT_ROWS, max_size=3).map(tuple),
    st.lists(CLAIMS, max_size=3).map(tuple),
    st.lists(st.builds(Skipped, TEXT, TEXT, TEXT, TEXT), max_size=3).map(tuple),
)


def rows(values: tuple[object, ...]) -> list[str]:
    return sorted(map(repr, values))


@settings(max_examples=30, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(result=RESULTS)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, result: shards.MapResult) -> None:
    folder = tmp_path_factory.mktemp("shard")
    shards.write(folder, "p", result)
    back = shards.read(shards.listing(folder))
    for name in ("documents", "events", "claims", "skipped"):
        assert rows(getattr(back, name)) == rows(getattr(result, name))


POSTS = (
    Post(PostKind.TITLE, 0, 5, None, None, None, None, False, 0),
    Post(PostKind.BODY, 7, 400, "https://x.invalid/1", datetime(2026, 1, 2, tzinfo=UTC), "NONE", None, False, 0),
)


def document() -> Document:
    return Document(
        document_id="github.com/errmine-fixtures/kernels#1",
        kind=DocumentKind.ISSUE,
        url="https://github.com/errmine-fixtures/kernels/issues/1",
        repo="errmine-fixtures/kernels",
        number=1,
        title="Oops!",
        text="Oops!\n\n" + "E" * 393,
        posts=POSTS,
        state="open",
        state_reason=None,
        is_draft=None,
        is_merged=None,
        labels=("bug",),
        opened_at=None,
        updated_at=None,
        closed_at=None,
        links=(),
        record=None,
        payload=None,
        raw_sha256="0" * 64,
        source="import",
        form="github-rest",
        is_lossy=False,
        fixed_in=(),
        hidden_count=0,
    )


def event(start: int, end: int, detail: str = "") -> Event:
    return Event("python", "E", "m", detail, (), (), (), start, end, False, Severity.ERROR)


def signature(start: int, end: int) -> Signature:
    return Signature("signature:1", "E", "m", (), False, "", (), "last", start, end, False, ())


def test_an_event_row_quotes_the_culprit_line_and_cuts_it() -> None:
    row = shards.event_row(document(), event(7, 400), ordinal=0, signature=signature(8, 400))
    assert row.quote == document().text[8:308]
    assert len(row.quote) == shards.QUOTE_CHARACTERS


def test_an_event_row_knows_the_post_it_stands_in() -> None:
    row = shards.event_row(document(), event(7, 20), ordinal=0, signature=None)
    assert (row.post_url, row.author_role) == ("https://x.invalid/1", "NONE")
    outside = shards.event_row(document(), event(5, 6), ordinal=1, signature=None)
    assert (outside.post_url, outside.author_role) == (document().url, None)


def test_a_long_detail_is_cut() -> None:
    row = shards.event_row(document(), event(7, 20, "d" * 5000), ordinal=0, signature=None)
    assert len(row.event.detail) == shards.DETAIL_CHARACTERS


def result(order: int = 1) -> shards.MapResult:
    events = [shards.event_row(document(), event(7 + n, 20 + n), ordinal=n, signature=None) for n in range(3)]
    skipped = [Skipped("extract", str(n), "too_long") for n in range(3)]
    return shards.MapResult((shards.document_row(document()),), tuple(events[::order]), (), tuple(skipped[::order]))


def test_equal_rows_in_any_order_give_equal_bytes(tmp_path: Path) -> None:
    one, two = (shards.write(tmp_path / str(n), "p", result(n)) for n in (1, -1))
    for name in ("documents", "events", "claims", "skipped"):
        assert getattr(one, name).read_bytes() == getattr(two, name).read_bytes()


def test_a_shard_without_one_of_its_files_is_not_listed(tmp_path: Path) -> None:
    shards.write(tmp_path, "a", result())
    shards.write(tmp_path, "b", result()).events.unlink()
    assert [s.skipped.stem for s in shards.listing(tmp_path)] == ["a"]


def test_writing_leaves_no_other_file(tmp_path: Path) -> None:
    shards.write(tmp_path, "a", result())
    assert sorted(p.name for p in tmp_path.rglob("*.*")) == ["a.arrow", "a.json", *["a.parquet"] * 5]


def test_a_lone_surrogate_becomes_one_replacement_character(tmp_path: Path) -> None:
    shards.write(tmp_path, "a", shards.MapResult(skipped=(Skipped("raw", "a\ud800b", "bad"),)))
    assert shards.read(shards.listing(tmp_path)).skipped[0].item_id == "a�b"


def flip(path: Path, place: int) -> None:
    body = bytearray(path.read_bytes())
    body[place // 8] ^= 1 << place % 8
    path.write_bytes(body)


def swap(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


#: Damage to the events of the shard "a", beside which "b" stands with other rows.
DAMAGE = {
    "a flipped bit in the middle": lambda path: flip(path, path.stat().st_size * 4),
    "a flipped bit at the end": lambda path: flip(path, path.stat().st_size * 8 - 1),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "one byte more": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "emptied": lambda path: path.write_bytes(b""),
    "no parquet": lambda path: path.write_bytes(b"PAR1 but no more"),
    "another shard's": lambda path: swap(path, path.with_stem("b")),
    "another table's": lambda path: swap(path, path.parent.parent / "skipped" / path.name),
    "another shard's with its list": lambda path: (
        swap(path, path.with_stem("b")),
        swap(*(path.parent.parent / "lists" / f"{name}.json" for name in "ab")),
    ),
    "its list flipped": lambda path: flip(path.parent.parent / "lists" / "a.json", 100),
    "its list emptied": lambda path: (path.parent.parent / "lists" / "a.json").write_bytes(b""),
    "its list gone": lambda path: (path.parent.parent / "lists" / "a.json").unlink(),
    "its list says another hash, and has no seal": lambda path: (path.parent.parent / "lists" / "a.json").write_text(
        json.dumps({"files": [{"path": "events/a.parquet", "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}]})
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_shard_that_is_not_what_was_written_is_named(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name.replace("/", " ")
    paths = shards.write(folder, "a", result())
    shards.write(folder, "b", shards.MapResult(skipped=(Skipped("raw", "b", "bad"),)))
    shards.check(paths)
    DAMAGE[name](paths.events)
    with pytest.raises(StoreError, match=r"cannot read the shard .*a\.(parquet|json)") as caught:
        shards.read_events([paths.events])
    assert "errmine build" in caught.value.hint()
    with pytest.raises(StoreError):
        shards.check(paths)


@pytest.mark.parametrize("kind", ["documents", "events", "claims", "skipped"])
def test_rows_that_are_looked_up_are_those_of_the_table(tmp_path: Path, kind: str) -> None:
    one = shards.write(tmp_path, "a", result())
    table = pq.read_table(getattr(one, kind))
    every = list(range(len(table)))
    lying = shards.LyingRows(one.rows)
    for places in ([], every[-1:], every, 40 * every):
        wanted = table.take(pa.array(places, pa.int64()))
        assert shards.rows_of(kind, lying.rows(kind, places)).equals(wanted)


def test_every_kept_file_of_shards_has_a_verdict(tmp_path: Path) -> None:
    one, other = (shards.write(tmp_path, name, result()) for name in "ab")
    assert [file.verdict for file in shards.kept_files(tmp_path)] == ["ok"] * 14
    flip(one.claims, 0)
    other.skipped.unlink()
    bad = {file.path: file.verdict for file in shards.kept_files(tmp_path) if file.verdict != "ok"}
    assert bad == {one.claims: "damaged", other.skipped: "missing"}


def test_nothing_of_a_discarded_shard_is_left_also_of_a_half_one(tmp_path: Path) -> None:
    shards.write(tmp_path, "a", result()).events.unlink()
    shards.write(tmp_path, "b", result())
    assert shards.names(tmp_path) == {"a", "b"}
    shards.discard(tmp_path, {"a"})
    assert shards.names(tmp_path) == {"b"}
    shards.read(shards.listing(tmp_path))


def test_a_shard_of_other_columns_is_named(tmp_path: Path) -> None:
    paths = shards.write(tmp_path, "a", result())
    with pytest.raises(StoreError, match="columns of the shard"):
        shards.read_events([paths.skipped])


def test_the_columns_of_a_record_follow_its_fields() -> None:
    assert TABLE.schema.names == ["name", "at", "spots", "link"]
    assert str(TABLE.schema.field("spots").type) == "list<item: struct<file: string, line: int64, function: string>>"
    assert [field.name for field in TABLE.schema.field("link").type] == ["kind", "target", "start", "end", "title"]


@dataclass(frozen=True, slots=True)
class Own:
    """A record that nothing in the pipeline knows."""

    name: str
    at: datetime | None
    spots: tuple[Frame, ...]
    link: DocLink | None


TABLE = columns.Table(Own)


def test_a_record_of_any_fields_is_written_and_read() -> None:
    rows = [
        Own("a", datetime(2026, 1, 2, tzinfo=UTC), (Frame("f.py", 3, None), Frame(None, None, "g")), None),
        Own("b", None, (), DocLink(LinkKind.CLOSES, "#5", 1, None)),
        Own("c", None, (Frame("h.py", 4, "h"),), None),
    ]
    assert TABLE.read(TABLE.write(rows)) == rows
    assert TABLE.read(TABLE.write(rows).slice(1)) == rows[1:]
    assert TABLE.read(TABLE.write([])) == []


@dataclass(frozen=True, slots=True)
class Inner:
    """A record in another."""

    kinds: tuple[str, ...]
    rest: str | None


@dataclass(frozen=True, slots=True)
class Outer:
    """Fields of every form in which a text stands."""

    name: str
    own: str
    inner: Inner
    pairs: tuple[tuple[str, str], ...]


def test_texts_of_shared_fields_are_there_once_and_equal_all_the_same() -> None:
    made = [
        Outer(f"cluster:{n % 2}", "alone", Inner(("zh missing",), None if n else "no more"), (("code", "E 7"),))
        for n in range(3)
    ]
    plain = columns.Table(Outer)
    first, second = (columns.Table(Outer, shared=names) for names in (("name", "inner", "pairs"), ("name",)))
    rows, others = first.read(first.write(made)), second.read(plain.write(made))
    assert rows == others == plain.read(plain.write(made)) == made
    assert rows[0].name is rows[2].name is others[0].name
    assert rows[0].inner.kinds[0] is rows[1].inner.kinds[0]
    assert rows[0].pairs[0][1] is rows[1].pairs[0][1]
    assert rows[0].own is not rows[1].own


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "documents").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="cannot write the shard"):
        shards.write(tmp_path, "a", result())


@pytest.mark.parametrize("name", ["", "../a", ".hidden"])
def test_a_name_that_is_a_path_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError):
        shards.write(tmp_path, name, result())
