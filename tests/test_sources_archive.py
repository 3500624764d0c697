"""Files on disk: what they are is told from their content, and what cannot be read is a value with a reason."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import tomllib
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.providers import files as archive
from pipeline.providers import provider
from pipeline.providers.github.read import _role
from pipeline.providers.provider import thread_key
from pipeline.records import RawPage, Skipped

CASES = Path(__file__).parent / "cases" / "sources"
SHARED = Path(__file__).parents[2] / "shared"
REASONS = tomllib.loads((Path(archive.__file__).parents[1] / "data" / "skip_reasons.toml").read_text("utf-8"))[
    "reasons"
]

ISSUE = {"html_url": "https://github.com/errmine-fixtures/a/issues/1", "number": 1, "title": "t", "body": "b"}


def line(number: int) -> bytes:
    return json.dumps({**ISSUE, "html_url": f"https://github.com/errmine-fixtures/a/issues/{number}"}).encode() + b"\n"


def read(*paths: Path) -> list[RawPage | Skipped]:
    return list(archive.pages(paths))


def short(item: RawPage | Skipped) -> tuple[str, str]:
    return ("skipped", item.reason) if isinstance(item, Skipped) else (item.form, item.document_key)


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_the_files_of_a_case_give_its_expected_pages(case: str) -> None:
    folder = CASES / case
    found = []
    for path in sorted(folder.glob("input*")):
        for item in read(path):
            if isinstance(item, Skipped):
                found.append([Path(item.item_id).name, "skipped", item.reason])
            else:
                key = item.document_key.replace(item.sha256[:16], "<sha256>")
                found.append([path.name, item.form, key, item.part, item.version_at, item.url])
    assert found == json.loads((folder / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_the_name_of_a_file_changes_nothing(case: str, tmp_path: Path) -> None:
    for number, path in enumerate(sorted((CASES / case).glob("input*"))):
        copy = tmp_path / f"{number}.exe"
        copy.write_bytes(path.read_bytes())
        assert [short(item) for item in read(copy)] == [short(item) for item in read(path)]


def test_a_page_keeps_its_bytes_and_names_them(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(line(1))
    (page,) = read(tmp_path)
    assert isinstance(page, RawPage)
    assert page.body == line(1).strip()
    assert page.sha256 == hashlib.sha256(page.body).hexdigest()
    assert (page.source, page.fetched_at, page.etag) == ("import", None, None)


def test_gzip_is_told_by_its_bytes_and_gives_the_same_pages(tmp_path: Path) -> None:
    (tmp_path / "plain.gz").write_bytes(line(1) + line(2))
    (tmp_path / "packed.txt").write_bytes(gzip.compress(line(1) + line(2)))
    assert read(tmp_path / "plain.gz") == read(tmp_path / "packed.txt")


def test_a_list_gives_each_element_with_its_own_bytes(tmp_path: Path) -> None:
    elements = ['{"title": "ü",  "body": null, "state": "open"}', line(2).decode().strip()]
    (tmp_path / "a").write_text(f"[\n {elements[0]},\n {elements[1]}\n]\n", "utf-8")
    pages = read(tmp_path)
    assert [page.body.decode() for page in pages if isinstance(page, RawPage)] == elements


def test_a_pretty_printed_object_is_one_page(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(json.dumps(ISSUE, indent=2), "utf-8")
    assert [short(item) for item in read(tmp_path)] == [("github-thread", "github.com/errmine-fixtures/a#1")]


def test_a_log_that_begins_with_a_bracket_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("[rank0]: Traceback (most recent call last):\n[rank0]: ValueError: x\n", "utf-8")
    assert [form for form, _ in map(short, read(tmp_path))] == ["plain-text"]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty_file"),
        (b" \n\n", "empty_file"),
        (b"\xff\xfe\x00a", "invalid_utf8"),
        (b"caf\xe9 au lait", "invalid_utf8"),
        (b"text with \0 inside", "nul_bytes"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "nul_bytes"),
        (b'{"a": 1}', "unknown_json"),
        (b"[]", "unknown_json"),
        (b'{"title": "t", "body"', "invalid_json"),
        (b'{"a":' * 100_000, "nested_too_deep"),
        (b"[" * 100_000 + b"]" * 100_000, "nested_too_deep"),
        (b'{"n": ' + b"9" * 5000 + b"}", "invalid_json"),
        (b"<html><body>hello</body></html>", "unknown_html"),
        (gzip.compress(b"", mtime=0), "empty_file"),
        (gzip.compress(line(1), mtime=0)[:20], "cut_gzip"),
        (b"\x1f\x8bnot gzip at all", "cut_gzip"),
    ],
)
def test_what_cannot_be_read_is_one_value_with_its_reason_and_file(body: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "bad"
    path.write_bytes(body)
    (item,) = read(path)
    assert isinstance(item, Skipped)
    assert (item.stage, item.reason) == ("import", reason)
    assert item.item_id.startswith(str(path))
    assert reason in REASONS


def test_a_bad_line_costs_that_line_and_is_named_by_its_number(tmp_path: Path) -> None:
    body = line(1) + b'{"cut\n' + b"\xff\xff\n" + b'{"n": "a\0b"}\n' + b"\n" + line(2) + b"null\n" + line(3)
    (tmp_path / "a").write_bytes(body)
    found = read(tmp_path)
    assert [short(item)[1] for item in found] == [
        "github.com/errmine-fixtures/a#1",
        "invalid_json",
        "invalid_utf8",
        "nul_bytes",
        "github.com/errmine-fixtures/a#2",
        "unknown_json",
        "github.com/errmine-fixtures/a#3",
    ]
    assert [item.item_id.rpartition(":")[2] for item in found if isinstance(item, Skipped)] == ["2", "3", "4", "7"]


def test_a_file_whose_first_line_is_broken_is_still_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'{"title": "cut\n' + line(2))
    assert [short(item)[1] for item in read(tmp_path)] == ["invalid_json", "github.com/errmine-fixtures/a#2"]


def test_what_came_before_the_cut_of_a_gzip_goes_on(tmp_path: Path) -> None:
    lines = b"".join(line(number) for number in range(1, 400))
    packed = gzip.compress(lines)
    (tmp_path / "a").write_bytes(packed[: len(packed) * 2 // 3])
    found = read(tmp_path)
    keys = [item.document_key for item in found if isinstance(item, RawPage)]
    assert len(keys) > 100
    assert keys == [f"github.com/errmine-fixtures/a#{number}" for number in range(1, len(keys) + 1)]
    assert [item.reason for item in found if isinstance(item, Skipped)] == ["cut_gzip"]


@pytest.mark.parametrize("whole", [line(1), line(1).strip(), json.dumps(ISSUE, indent=2).encode(), line(1) + line(1)])
def test_bytes_behind_the_end_of_a_gzip_are_named_and_cost_nothing_else(whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(whole) + b"\0\0garbage after")
    *pages, last = read(tmp_path)
    (tmp_path / "a").write_bytes(gzip.compress(whole))
    assert pages == read(tmp_path) != []
    assert isinstance(last, Skipped)
    assert last.reason == "behind_gzip" in REASONS


def test_the_address_of_a_thread_is_that_of_the_api_and_of_no_other_host(tmp_path: Path) -> None:
    api, own = "https://api.github.com/repos/o/n/issues/44", "https://github.com/o/n/issues/44"
    named = {**ISSUE, "number": 44, "url": api}
    for address in ("https://evil.example/o/n/issues/44", "https://github.com/other/repo/issues/44", own):
        (tmp_path / "a").write_text(json.dumps({**named, "html_url": address}), "utf-8")
        (page,) = read(tmp_path)
        assert isinstance(page, RawPage)
        assert page.document_key == "github.com/o/n#44"
        assert page.url == (own if address == own else None)


def test_no_address_leads_out_of_its_folder() -> None:
    assert [thread_key(f"https://github.com/{name}/issues/4") for name in ("o/..", "../n", "./n", "o/.")] == [None] * 4
    assert thread_key("https://github.com/o/.github/issues/4") == "github.com/o/.github#4"


def test_a_role_is_one_that_github_gives() -> None:
    roles = [_role({"author_association": word}) for word in ("KING", "MEMBER", "member", "first_timer", "OWNERS", 3)]
    assert roles == [None, "MEMBER", "MEMBER", "FIRST_TIMER", None, None]


@pytest.mark.long
def test_a_line_above_the_limit_is_passed_over_in_bounded_memory(tmp_path: Path) -> None:
    size = 200 * 1024 * 1024
    with (tmp_path / "a").open("wb") as file:
        file.write(line(1))
        file.truncate(file.tell() + size)  # a hole: 200 MB that take no room on disk
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + line(2))
    tracemalloc.start()
    found = read(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [short(item)[1] for item in found] == [
        "github.com/errmine-fixtures/a#1",
        "line_too_long",
        "github.com/errmine-fixtures/a#2",
    ]
    assert peak < 3 * archive.MAX_LINE_BYTES


def test_a_page_above_the_limit_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 100)
    (tmp_path / "a").write_text("some words\n" * 30, "utf-8")
    assert [short(item) for item in read(tmp_path)] == [("skipped", "file_too_large")]


def test_a_folder_without_rights_is_reported_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "open").write_bytes(line(1))
    listdir = os.listdir

    def guarded(path: Path) -> list[str]:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return listdir(path)

    monkeypatch.setattr(os, "listdir", guarded)
    found = read(tmp_path)
    assert [short(item) for item in found] == [
        ("skipped", "no_permission"),
        ("github-thread", "github.com/errmine-fixtures/a#1"),
    ]
    assert isinstance(found[0], Skipped)
    assert found[0].item_id == str(tmp_path / "locked")


def test_links_that_lead_round_end(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "z").write_bytes(line(1))
    assert [short(item)[1] for item in read(tmp_path)] == ["link_loop", "link_loop", "github.com/errmine-fixtures/a#1"]


def test_missing_hidden_and_odd_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / "pipe")
    found = read(tmp_path, tmp_path / "none")
    assert sorted(short(item)[1] for item in found) == ["hidden", "missing", "not_a_file"]


def test_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for number in (3, 1, 2):
        (tmp_path / f"{number}").write_bytes(line(number))
    assert [short(item)[1][-1] for item in read(tmp_path)] == ["1", "2", "3"]


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://github.com/A/b.C/issues/5", "github.com/a/b.c#5"),
        ("https://github.com/a/b/pull/05#issuecomment-1", "github.com/a/b#5"),
        ("https://api.github.com/repos/a/b/issues/5", "github.com/a/b#5"),
        ("https://api.github.com/repos/a/b/pulls/5", "github.com/a/b#5"),
        ("https://ghes.example/api/v3/repos/a/b/issues/5", "ghes.example/a/b#5"),
        ("http://ghes.example:8080/a/b/issues/5", "ghes.example:8080/a/b#5"),
        ("https://github.com/a/b", None),
        ("https://github.com/a/b/issues/5x", None),
        ("javascript:https://github.com/a/b/issues/5", None),
        (7, None),
    ],
)
def test_a_thread_has_one_key_however_its_url_is_written(url: object, key: str | None) -> None:
    assert provider.thread_key(url) == key


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the internal corpus is not here")
def test_every_row_of_the_corpus_head_is_a_thread_of_its_own() -> None:
    found = read(SHARED / "corpus" / "sample_core_1500.jsonl.gz")
    assert {short(item)[0] for item in found} == {"github-thread"}
    assert len({short(item)[1] for item in found}) == 1500


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the internal corpus is not here")
def test_the_seeds_and_the_catalogue_pages_are_recognised() -> None:
    forms = [short(item)[0] for item in read(SHARED / "seeds")]
    assert forms == ["entry", "issue-markdown", "github-text", "xla-text", "plain-text"]
    for folder, form in (("md/errors", "xla-md"), ("html", "xla-html"), ("md_history", "xla-md")):
        assert {short(item)[0] for item in read(SHARED / "xla" / folder)} == {form}


def test_every_reason_in_the_code_is_in_the_closed_list_with_a_sentence() -> None:
    package = Path(archive.__file__).parents[1]
    text = "".join(
        path.read_text("utf-8") for folder in ("providers", "raw") for path in (package / folder).rglob("*.py")
    )
    called = set(re.findall(r'(?:_skipped\([^"\n]*|Skipped\("\w+", [\w.\[\]]+, |None, |reason = )"([a-z_0-9]+)"', text))
    assert called <= set(REASONS)
    assert len(called) >= 12
    assert all(sentence.endswith(".") and sentence[0].isupper() for sentence in REASONS.values())


# ---------------------------------------------------------------- times that cannot be

NOW = datetime(2026, 11, 23, 5, tzinfo=UTC)
AHEAD = "is in the future of this machine's clock, which says 2026-11-23"
IMPOSSIBLE = (
    ("updated_at", "zzzz", "is no time"),
    ("updated_at", "9999-12-31T23:59:59Z", AHEAD),
    ("updated_at", "9999-12-31T23:59:59-14:00", "is no time"),
    ("updated_at", "0000-01-01T00:00:00Z", "is no time"),
    ("updated_at", "12026-01-01T00:00:00Z", "is no time"),
    ("updated_at", "2004-12-31T23:59:59Z", "is before 2005"),
    ("updated_at", "2026-11-25T00:00:00Z", AHEAD),
    ("created_at", "2027-01-01T00:00:00Z", AHEAD),
    ("created_at", "0001-01-01T00:00:00Z", "is before 1990"),
    ("closed_at", "9999-01-01T00:00:00Z", AHEAD),
)
POSSIBLE = (
    ("updated_at", "2026-11-23T20:00:00Z"),  # a clock that goes ahead
    ("updated_at", "2025-01-02 03:04:05 UTC"),
    ("updated_at", "2025-01-02T03:04:05+08:00"),
    ("created_at", "2003-10-06T19:29:50Z"),  # LLVM's oldest report
    ("closed_at", None),
    ("created_at", "yesterday"),  # unknown, as it was
)


def stating(tmp_path: Path, name: str, time: object, *, inside: bool) -> RawPage | Skipped:
    thread = {**ISSUE, "state": "open"}
    thread |= {"comments": [{"id": 1, "body": "b", name: time}]} if inside else {name: time}
    path = tmp_path / "thread.json"
    path.write_text(json.dumps(thread))
    (item,) = archive.pages([path], now=NOW)
    return item


@pytest.mark.parametrize("inside", [False, True], ids=["of the thread", "of a comment"])
@pytest.mark.parametrize(("name", "time", "why"), IMPOSSIBLE)
def test_a_thread_of_a_time_that_cannot_be_is_skipped_by_name(
    tmp_path: Path, name: str, time: str, why: str, inside: bool
) -> None:
    item = stating(tmp_path, name, time, inside=inside)
    assert isinstance(item, Skipped)
    assert (item.item_id, item.reason) == (f"{tmp_path / 'thread.json'}:1", "impossible_time")
    assert item.detail == f"{name} {time!r} {why}"


@pytest.mark.parametrize(("name", "time"), POSSIBLE)
def test_a_thread_of_a_time_that_can_be_is_read(tmp_path: Path, name: str, time: object) -> None:
    item = stating(tmp_path, name, time, inside=False)
    assert isinstance(item, RawPage)
    assert re.fullmatch(r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", item.version_at)


@pytest.mark.parametrize(
    "text",
    [
        "# Issue #5: x\n\n- **State**: open\n- **Updated**: August 08, 9999 at 16:28 UTC\n",
        "# Issue #5: x\n\n- **State**: open\n- **Updated**: August 99, 2025 at 16:28 UTC\n",
        """<!doctype html><head><link rel="canonical" href="https://github.com/o/r/issues/5"></head>
        <relative-time datetime="9999-01-01T00:00:00Z"></relative-time>""",
    ],
)
def test_a_saved_page_of_a_time_that_cannot_be_is_skipped_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "page").write_text(text)
    (item,) = archive.pages([tmp_path / "page"], now=NOW)
    assert isinstance(item, Skipped)
    assert item.reason == "impossible_time"


def test_an_event_of_a_time_that_cannot_be_is_skipped_by_name(tmp_path: Path) -> None:
    event = {"type": "IssuesEvent", "payload": {"issue": {**ISSUE, "updated_at": "9999-01-01T00:00:00Z"}}}
    (tmp_path / "hour.jsonl").write_text(json.dumps(event) + "\n")
    (item,) = archive.pages([tmp_path / "hour.jsonl"], now=NOW)
    assert isinstance(item, Skipped)
    assert item.reason == "impossible_time"
