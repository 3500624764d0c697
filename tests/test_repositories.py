"""A repository that was renamed is one: its threads are counted once, under any name they are found and forgotten."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from pipeline import raw
from pipeline.distil.claims import prose, rules
from pipeline.lexicon import repositories, vocabulary
from pipeline.providers import documents, files, links
from pipeline.records import Document, RawPage
from pipeline.run.check import checking
from tests.distil_factory import document as case_document

OLD, NEW = "dmlc/tvm", "apache/tvm"
TABLE = tomllib.loads(resources.files("pipeline").joinpath("data", "repositories.toml").read_text("utf-8"))[
    "repository"
]


def test_the_table_names_each_repository_once_and_says_how_that_is_known() -> None:
    names = [name.lower() for row in TABLE for name in (row["name"], *row["former"])]
    assert len(names) == len(set(names)), "a former name leads to one current name, and none is both"
    assert [name for name in names if not re.fullmatch(r"[\w.-]+/[\w.-]+", name)] == []
    assert [row for row in TABLE if not (re.fullmatch(r"20\d\d", row["since"]) and row["source"])] == []


def test_a_repository_has_one_domain_whatever_its_name_is() -> None:
    for row in TABLE:
        of = {
            vocabulary.domain(vocabulary.Clues(None, {}, (), "", repos=(name,)))[0]
            for name in (row["name"], *row["former"])
        }
        assert len(of) == 1, row["name"]


@pytest.mark.parametrize("written", ["nvidia/tensorrt", "NVIDIA/TensorRT", "Nvidia/TENSORRT"])
def test_a_repository_is_written_in_one_way_however_an_archive_has_it(written: str) -> None:
    assert repositories.current_name(written) == "NVIDIA/TensorRT"
    assert repositories.names(written) == ("nvidia/tensorrt",)
    assert repositories.current_name("errmine-fixtures/Pond") == "errmine-fixtures/Pond"


@pytest.mark.parametrize(
    ("key", "current"),
    [
        (f"github.com/{OLD}#5", f"github.com/{NEW}#5"),
        (f"github.com/{NEW}#5", f"github.com/{NEW}#5"),
        ("github.com/errmine-fixtures/pond#5", "github.com/errmine-fixtures/pond#5"),
        (f"git.invalid/{OLD}#5", f"git.invalid/{OLD}#5"),
        ("page:0123456789abcdef", "page:0123456789abcdef"),
    ],
)
def test_a_key_leads_to_the_name_of_today(key: str, current: str) -> None:
    assert repositories.current_key(key) == current
    assert repositories.current_key(current) == current
    assert repositories.keys(key)[0] == current
    assert key in repositories.keys(current)


def thread(repo: str, *, updated: str, comment: str) -> dict[str, Any]:
    url = f"https://github.com/{repo}/issues/5"
    return {
        "number": 5,
        "html_url": url,
        "title": "The tray stays empty",
        "body": f"See https://github.com/{OLD}/issues/7 and #8.",
        "state": "open",
        "created_at": "2019-01-01T00:00:00Z",
        "updated_at": updated,
        "labels": [],
        "comments": [
            {
                "id": 1,
                "body": comment,
                "created_at": updated,
                "html_url": f"{url}#issuecomment-1",
            }
        ],
    }


OLDER = thread(OLD, updated="2019-02-01T00:00:00Z", comment="first answer")
NEWER = thread(NEW, updated="2021-02-01T00:00:00Z", comment="last answer")


def kept(folder: Path, *threads: dict[str, Any]) -> raw.RawLayer:
    layer = raw.RawLayer(folder / "raw")
    for place, one in enumerate(threads):
        file = folder / f"{place}.json"
        file.write_text(json.dumps(one))
        layer.append(files.pages([file]))
    return layer


def only(layer: raw.RawLayer) -> Document:
    (refs,) = layer.documents()
    made = documents.document(layer.read(refs.refs))
    assert isinstance(made, Document)
    return made


@pytest.mark.parametrize("order", [(OLDER, NEWER), (NEWER, OLDER)])
def test_a_thread_under_two_names_is_one_document_of_its_newest_page(tmp_path: Path, order: Any) -> None:
    made = only(kept(tmp_path, *order))
    assert (made.document_id, made.repo, made.url) == (
        f"github.com/{NEW}#5",
        NEW,
        f"https://github.com/{NEW}/issues/5",
    )
    assert "last answer" in made.text


def test_a_thread_known_by_its_old_name_alone_stands_under_the_new_one_with_the_addresses_that_it_states(
    tmp_path: Path,
) -> None:
    made = only(kept(tmp_path, OLDER))
    assert (made.document_id, made.repo) == (f"github.com/{NEW}#5", NEW)
    assert made.posts[2].url == f"https://github.com/{OLD}/issues/5#issuecomment-1"
    assert [link.target for link in made.links] == [f"github.com/{NEW}#7", f"github.com/{NEW}#8"]


@pytest.mark.parametrize("name", [OLD, NEW])
def test_a_thread_is_forgotten_under_all_its_names(tmp_path: Path, name: str) -> None:
    layer = kept(tmp_path, OLDER, NEWER)
    assert layer.forget(f"github.com/{name}#5") == 2
    assert layer.refs() == []
    assert layer.is_forgotten(f"github.com/{OLD}#5")
    assert layer.is_forgotten(f"github.com/{NEW}#5")
    again = layer.append(files.pages([tmp_path / "0.json", tmp_path / "1.json"]))
    assert [item.reason for item in again.skipped] == ["forgotten"] * 2
    assert raw.RawLayer(tmp_path / "raw").refs() == []


def test_the_quotes_of_an_older_bundle_are_found_under_the_name_of_today(tmp_path: Path) -> None:
    layer = kept(tmp_path, OLDER)
    made = only(layer)
    start = made.text.index("first answer")
    piece = {"document_id": f"github.com/{OLD}#5", "start": start, "end": start + 12, "quote": "first answer"}
    assert checking.quote_problems([{"id": "tvm/tray", "evidence": [piece]}], layer.folder) == (1, [])


def test_a_tombstone_that_leads_to_the_name_of_today_withdraws_nothing() -> None:
    body = json.dumps(NEWER).encode()
    gone = json.dumps({"state": "transferred", "to": f"github.com/{OLD}#5"}).encode()
    key = f"github.com/{NEW}#5"
    pages = [
        RawPage("0" * 64, "github", None, "github-thread", key, "main", "", None, None, body),
        RawPage("1" * 64, "github", None, "github-tombstone", key, "tombstone", "", None, None, gone),
    ]
    assert isinstance(documents.document(pages), Document)


def test_a_reference_by_an_old_name_is_a_reference_to_the_same_thread() -> None:
    home = links.Home("github.com", NEW, 1)
    text = f"{OLD}#2, {NEW}#2, https://github.com/{OLD}/pull/2 and {OLD}#1"
    assert [link.target for link in links.mentions(text, home)] == [f"github.com/{NEW}#2"]


@pytest.mark.parametrize(("text", "change"), [(f"Fixed in {OLD}#9", f"{NEW}#9"), (f"Fixed in {OLD}#1", None)])
def test_a_fix_named_by_an_old_name_is_the_same_fix(text: str, change: str | None) -> None:
    posts = [{"kind": "title", "text": "Empty"}, {"kind": "comment", "text": text}]
    made = case_document({"kind": "issue", "number": 1, "posts": posts})
    made = replace(made, repo=NEW)
    facts = [finding.fact for finding in rules.findings(prose.Prose(made, [])) if finding.fact]
    assert [dict(fact.slots)["pr"] for fact in facts] == ([change] if change else [])
