"""What is kept of tables and expressions is what would be made anew, or nothing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pipeline.records import warm
from tests.golden import ROOT

EXPRESSIONS: tuple[tuple[Any, int], ...] = (
    (r"(?P<one>a)|(?:y+?)[^a-z\d]{2,5}(?<!foo)(?=b)", 0),
    ("(?i)straße|[ä-ü]", 0),
    ("a.b$", re.MULTILINE | re.DOTALL),
    (rb"ab(c)?(?(1)d|e)", 0),
    ("(?>a*+) b # c", re.VERBOSE),
    ("[\u4e00-\u9fff]+|\U0001f600|\udc80", re.IGNORECASE),
    (r"\w\b\N{BULLET}", re.ASCII),
)
TABLE = (ROOT / "pipeline" / "data" / "causes.toml").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a new process keeps, and finds, what it made."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    restarted()
    return tmp_path / "errmine"


def restarted() -> None:
    """As a new process begins."""
    warm._pieces.cache_clear()
    warm._made.cache_clear()


def asked() -> list[object]:
    """Every expression, and a table."""
    return [*(warm.pattern(*one) for one in EXPRESSIONS), warm.table(TABLE)]


@pytest.fixture(autouse=True, scope="module")
def _as_before() -> Any:
    yield
    restarted()


def test_what_is_kept_is_what_would_be_made_anew(folder: Path) -> None:
    anew = [*(re.compile(*one) for one in EXPRESSIONS), tomllib.loads(TABLE)]
    assert asked() == anew
    warm.keep()
    restarted()
    found = asked()
    assert not warm._made()
    assert found == anew
    for one, other in zip(found[:-1], anew[:-1], strict=True):
        assert isinstance(one, re.Pattern)
        assert isinstance(other, re.Pattern)
        assert (one.pattern, one.flags, one.groups, one.groupindex) == (
            other.pattern, other.flags, other.groups, other.groupindex,
        )  # fmt: skip


def test_the_next_process_adds_what_it_alone_made(folder: Path) -> None:
    warm.pattern("one")
    warm.keep()
    restarted()
    warm.pattern("two")
    warm.keep()
    restarted()
    assert len(warm._pieces()) == 2
    assert (folder / "warm").stat().st_mode & 0o777 == 0o600


def test_a_piece_that_is_not_what_was_written_is_made_anew(folder: Path) -> None:
    asked()
    warm.keep()
    path = folder / "warm"
    whole = path.read_bytes()
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        restarted()
        assert warm.pattern(*EXPRESSIONS[0]) == re.compile(*EXPRESSIONS[0])
    for length in (0, 7, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        restarted()
        assert asked()[-1] == tomllib.loads(TABLE)


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_what_another_may_have_written_is_not_taken(folder: Path, mode: int) -> None:
    asked()
    warm.keep()
    (folder / "warm").chmod(mode)
    restarted()
    assert not warm._pieces()


def test_a_link_is_not_followed(folder: Path) -> None:
    asked()
    warm.keep()
    (folder / "warm").rename(folder / "other")
    (folder / "warm").symlink_to("other")
    restarted()
    assert not warm._pieces()


def test_where_nothing_can_be_kept_all_is_made_as_ever(folder: Path) -> None:
    folder.write_text("no folder")
    asked()
    warm.keep()
    restarted()
    assert asked()[0] == re.compile(*EXPRESSIONS[0])


def test_what_is_wrong_is_as_wrong_as_ever(folder: Path) -> None:
    with pytest.raises(re.error):
        warm.pattern("(")
    with pytest.raises(tomllib.TOMLDecodeError):
        warm.table("a = [1,\n" * 200)
    assert not warm._made()
