"""Official sources that contradict each other: found section by section, and told where a person looks."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import pytest

from pipeline import run
from pipeline.providers.openxla import drift
from pipeline.records import RawPage
from pipeline.run import Places
from tests import cli
from tests.xla_pages import page, pages_of

CASES = Path(__file__).parent / "cases" / "xla"
KEY = "openxla.org/xla/errors/error_3000"


def forms() -> list[RawPage]:
    """One page as Markdown and as HTML."""
    return [
        one for form in ("markdown", "html") for one in pages_of(next((CASES / f"layout_b_{form}").glob("input.*")))
    ]


def changed(one: RawPage, *pairs: tuple[bytes, bytes]) -> RawPage:
    body = one.body
    for old, new in pairs:
        assert old in body
        body = body.replace(old, new)
    return dataclasses.replace(one, body=body, sha256=hashlib.sha256(body).hexdigest())


def test_forms_that_say_the_same_do_not_differ() -> None:
    assert drift.between_forms(forms()) == ()
    assert drift.between_forms(forms()[:1]) == ()


def test_a_difference_names_page_section_hashes_and_the_words_from_where_the_texts_part() -> None:
    markdown, html = forms()
    found = drift.between_forms([markdown, changed(html, (b"equal rows", b"few"), (b"TPU, GPU", b"TPU"))])
    assert [(one.page, one.sides) for one in found] == [(KEY, ("xla-md", "xla-html"))] * 2
    assert [one.section for one in found] == ["(top)", "Scenario 1. HBM is full (Memory Space ID: 203)"]
    last = found[-1]
    assert last.first.startswith("equal rows")
    assert last.second.startswith("few")
    assert len({last.first_sha256, last.second_sha256}) == 2
    assert all(len(side) <= 80 for one in found for side in (one.first, one.second))


def test_a_section_that_one_form_lacks_has_the_hash_of_nothing() -> None:
    markdown, html = forms()
    longer = changed(markdown, (b"## Debugging", b"## Shore\n\nStay dry.\n\n## Debugging"))
    (found,) = drift.between_forms([longer, html])
    assert (found.section, found.first) == ("Shore", "Shore Stay dry.")
    assert (found.second, found.second_sha256) == ("", hashlib.sha256(b"").hexdigest())


def test_a_page_whose_status_is_not_the_one_of_the_list_is_told() -> None:
    pages = forms()
    (found,) = drift.with_list(pages, drift.shipped_codes(), side=drift.SHIPPED)
    assert (found.section, found.first, found.second) == ("status", "INTERNAL", "RESOURCE_EXHAUSTED")
    (missing,) = drift.with_list(pages, {})
    assert (missing.section, missing.first, missing.second) == ("code", "E3000", "")


def test_the_list_of_codes_is_held_against_the_shipped_catalogue() -> None:
    header = page("xla-catalog", (CASES / "header_h" / "input.h").read_bytes(), "openxla.org/xla/error/error_codes")
    found = {one.section: one for one in drift.of_list(header)}
    assert (found["E9001"].first, found["E9001"].second.split()[0]) == ("", "CompileTimePondDry")
    assert found["E0100"].second == ""
    assert found["E2001"].second.endswith("INTERNAL")
    assert "E1001" not in found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose HTML page says less than its Markdown, built."""
    folder = tmp_path_factory.mktemp("home")
    files = folder / "files"
    files.mkdir()
    markdown, html = forms()
    (files / "a.md").write_bytes(markdown.body)
    (files / "b.html").write_bytes(changed(html, (b"equal rows", b"few")).body)
    places = Places.of(folder)
    run.import_files(places.raw, [files])
    run.build(places, workers=1, partition_documents=100)
    return folder


def test_reconcile_and_status_show_what_differs(home: Path) -> None:
    before = json.loads(cli.run("status", "--home", home, "--json").out)
    assert before["drift"] == []
    done = cli.run("reconcile", "--home", home, "--json")
    told = json.loads(done.out)
    assert done.code == 0
    assert told["places_that_differ"] == len(told["drift"]) == 2
    by_side = {row["sides"][1]: row for row in told["drift"]}
    assert by_side["xla-html"]["second"].startswith("few")
    after = json.loads(cli.run("status", "--home", home, "--json").out)
    assert after["drift"] == told["drift"]
    assert "few" in cli.run("status", "--home", home).out
    assert after["runs"][0]["flow"] == "reconcile"


def test_the_report_of_a_run_has_a_table_of_what_differs(home: Path) -> None:
    text = run.as_markdown(run.reconcile(Places.of(home), partition_documents=100))
    assert f"| `{KEY}` |" in text
    assert "`xla-md / xla-html`" in text
