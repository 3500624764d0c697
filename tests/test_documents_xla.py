"""Error pages of OpenXLA's docs: case folders (tests/cases/xla), the sample's pages, hostile pages."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.lexicon import catalogues
from pipeline.providers import documents, files, provider
from pipeline.providers.openxla import header as xla_header
from pipeline.providers.openxla import remedies as xla_remedies
from pipeline.records import Document, Skipped
from tests import linear
from tests.rings import one_in
from tests.xla_pages import REMEDIES, compared, document, page, pages_of, read, recorded

CASES = Path(__file__).parent / "cases" / "xla"
SAMPLE = Path(__file__).parents[1] / "raw" / "sample" / "docs"


def as_case(found: Document | Skipped) -> dict[str, object]:
    """What expected.json holds: the document without its text and offsets, or the reason why there is none."""
    values = json.loads(json.dumps(dataclasses.asdict(found), default=str))
    if isinstance(found, Document):
        for name in ("text", "raw_sha256"):
            del values[name]
        if not values["hidden_count"]:
            del values["hidden_count"]
        values["posts"] = [[post.kind, post.url] for post in found.posts]
        for remedy in values["record"]["remedies"]:
            del remedy["start"], remedy["end"]
    return {key: value for key, value in values.items() if value not in (None, [], ())}


# ---------------------------------------------------------------- cases


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_the_page_of_a_case_gives_its_expected_record_or_reason(case: str) -> None:
    folder = CASES / case
    assert as_case(read(next(folder.glob("input.*")))) == json.loads((folder / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("path", [*sorted(CASES.glob("*/input.*")), *sorted(SAMPLE.iterdir())], ids=str)
def test_every_remedy_sample_and_summary_stands_in_the_text_where_it_says(path: Path) -> None:
    found = read(path)
    if isinstance(found, Skipped):
        assert found.detail or found.reason == "not_an_error_page"
        return
    assert found.record is not None
    for remedy in found.record.remedies:
        assert found.text[remedy.start : remedy.end] == remedy.text
        assert all(flag in remedy.text for flag in remedy.flags)
        assert any(post.start <= remedy.start < remedy.end <= post.end for post in found.posts)
    for words in (*found.record.samples, *found.record.templates, found.record.summary):
        assert words in found.text


def test_one_page_in_three_forms_is_one_record_and_one_text() -> None:
    (markdown, first), (html, second), (text, third) = (
        recorded(read(CASES / f"layout_b_{form}" / f"input.{ending}"))
        for form, ending in (("markdown", "md"), ("html", "html"), ("text", "txt"))
    )
    assert compared(first) == compared(second)
    assert compared(first, without=["links"]) == compared(third, without=["links"])
    assert markdown.text == html.text == text.text
    assert [post.url for post in markdown.posts][:3] == [post.url for post in html.posts][:3]
    assert (markdown.is_lossy, html.is_lossy, text.is_lossy) == (False, False, True)
    assert first.links[-1] == "https://openxla.org/xla/guide#steps"


def test_of_several_forms_of_a_page_the_markdown_is_read_whatever_their_order() -> None:
    forms = [*CASES.glob("layout_b_*/input.*")]
    pages = [page for path in forms for page in pages_of(path)]
    assert sorted(page.part.split(":")[0] for page in pages) == ["main", "page", "page"]
    first = documents.document(pages)
    assert isinstance(first, Document)
    assert first.form == "xla-md"
    assert documents.document(pages[::-1]) == first


def test_landing_dates_come_from_the_history_and_win_over_the_day_that_a_page_states() -> None:
    (page_of_site,) = pages_of(SAMPLE / "error_1001.html")
    (dates,) = pages_of(CASES / "history_json" / "input.json")
    alone = recorded(documents.document([page_of_site]))[1]
    dated, known = recorded(documents.document([dates, page_of_site]))
    assert (alone.first_seen, alone.last_updated) == (None, "2026-04-20")
    assert (known.first_seen, known.last_updated) == ("2026-01-08", "2026-08-20")
    assert (str(dated.opened_at), str(dated.updated_at)[:10]) == ("2026-01-08 00:00:00+00:00", "2026-08-20")


def test_a_history_of_a_repository_dates_each_of_its_pages_and_no_other_repositorys() -> None:
    row = {"first_seen": "2026-01-05T12:00:00-08:00", "last_updated": "2026-03-11T20:00:00-07:00"}
    landed = {f"docs/errors/error_{number}.md": row for number in REMEDIES} | {"docs/other.md": row}
    whole = {"repository": "openxla/xla", "files": landed}
    found = files.places(whole, "0" * 64)
    assert not isinstance(found, str)
    assert [place.document_key for place in found] == [f"openxla.org/xla/errors/error_{n}" for n in sorted(REMEDIES)]
    assert files.places(whole | {"repository": "errmine-fixtures/pond"}, "0" * 64) == "unknown_json"
    dates = page("xla-history", json.dumps(whole).encode(), "openxla.org/xla/errors/error_3000")
    pages = [*pages_of(CASES / "layout_b_markdown" / "input.md"), dates]
    dated = recorded(documents.document(pages))[1]
    assert (dated.first_seen, dated.last_updated) == ("2026-01-05", "2026-03-12")


def test_of_several_files_of_a_page_the_one_that_its_history_names_is_read() -> None:
    (old,) = pages_of(CASES / "layout_b_markdown" / "input.md")
    bodies = [old.body.replace(b"equal rows", words) for words in (b"equal parts", b"equal shares", b"equal heaps")]
    versions = [dataclasses.replace(old, body=body, sha256=hashlib.sha256(body).hexdigest()) for body in bodies]
    for version, body in zip(versions, bodies, strict=True):
        history = {"path": "docs/errors/error_3000.md", "last_updated": "2026-03-11", "sha256": version.sha256}
        dates = page("xla-history", json.dumps(history).encode(), old.document_key)
        found = recorded(documents.document([*versions, dates]))[0]
        assert (found.raw_sha256, "equal" in found.text) == (version.sha256, True)
        assert body.split(b"equal ")[1].split(b".")[0].decode() in found.text
    newest = dataclasses.replace(versions[0], version_at="2026-04-01T00:00:00Z")
    assert recorded(documents.document([versions[1], newest, versions[2]]))[0].raw_sha256 == newest.sha256


def test_secrets_in_a_page_are_redacted_and_offsets_still_hold() -> None:
    body = (CASES / "layout_b_markdown" / "input.md").read_text("utf-8").replace("equal rows", "ghp_" + "a1B2" * 9)
    found, facts = recorded(documents.document([page("xla-md", body.encode(), "openxla.org/xla/errors/error_3000")]))
    assert "ghp_a1" not in repr(found)
    assert all(found.text[r.start : r.end] == r.text for r in facts.remedies)


@pytest.mark.parametrize("missing", ["**Category:**", "**Sample Error Messages:**", "## Debugging"])
def test_a_page_that_lacks_what_every_error_page_has_is_not_read_in_part(missing: str) -> None:
    body = (CASES / "layout_b_markdown" / "input.md").read_text("utf-8").replace(missing, "Words")
    found = documents.document([page("xla-md", body.encode())])
    assert isinstance(found, Skipped)
    assert found.reason == "source_changed"
    assert found.detail.startswith("expected ")


def test_the_address_decides_the_code_before_the_heading() -> None:
    body = (CASES / "layout_b_markdown" / "input.md").read_bytes()
    found, facts = recorded(
        documents.document([page("xla-md", body, "docs.errmine-fixtures.example/xla/errors/error_1001")])
    )
    assert (facts.code, found.url) == (
        "xla:E1001",
        "https://docs.errmine-fixtures.example/xla/errors/error_1001",
    )


@pytest.mark.parametrize("name", ["error_1000", "error_1001"])
def test_the_samples_pages_live_on_their_own_host(name: str) -> None:
    found = document(SAMPLE / f"{name}.html")
    assert found.document_id == f"docs.errmine-fixtures.example/xla/errors/{name}"
    assert found.url == f"https://{found.document_id}"
    assert not any(words in found.text for words in ("Keep this page", "Send feedback", "Error codes", "Last updated"))


def test_a_heading_that_was_printed_wrong_names_the_page_that_it_meant() -> None:
    body = (CASES / "phase_words_markdown" / "input.md").read_text("utf-8").replace("E3001", "E201")
    place = files.text_place(body, "0" * 64)
    assert isinstance(place, provider.Place)
    assert place.document_key == "openxla.org/xla/errors/error_2001"
    assert recorded(documents.document([page("xla-md", body.encode(), "page:0123")]))[1].code == "xla:E2001"


def test_flags_are_names_of_programs_and_not_words() -> None:
    text = (
        "Set --xla_a_b=false. or `--vmodule=host_offloader=1`, XLA_FLAGS, e.g. jax.jit(f, donate_argnums=0), "
        "jax.debug.print()s, i.e. 3.5 of v5.2; see https://a.b/c_d and pl.load."
    )
    assert xla_remedies.flags(text) == (
        "--xla_a_b=false",
        "--vmodule=host_offloader=1",
        "XLA_FLAGS",
        "jax.jit",
        "donate_argnums",
        "jax.debug.print()",
        "pl.load",
    )


def test_the_list_of_codes_tells_what_drifted() -> None:
    rows = xla_header.rows((CASES / "header_h" / "input.h").read_text("utf-8"))
    assert [row.code for row in rows] == ["E1001", "E2001", "E9001"]
    notes = xla_header.drift(rows)
    assert notes[0] == "E9001 CompileTimePondDry is new"
    assert sum("is gone" in note for note in notes) == len(catalogues.xla_codes()) - 2
    name = "CompileTimeMosaicUnsupportedRhsType"
    assert notes[-1] == f"E2001 {name} UNIMPLEMENTED is now {name} INTERNAL"
    same = tuple(xla_header.Row(code, c.name, c.status) for code, c in catalogues.xla_codes().items())
    assert xla_header.drift(same) == ()


FORMS = ("xla-md", "xla-html", "xla-text", "xla-catalog", "xla-history")


@pytest.mark.parametrize(
    "text",
    one_in(
        8,
        [
            "* " * 50_000,
            "*" * 100_000,
            "[" * 100_000,
            "[a](" * 25_000,
            "`" * 99_999,
            "<!--" * 25_000,
            "| - " * 25_000,
            "|-|\n" * 25_000,
            "- a\n" * 25_000,
            "".join(f"{' ' * n}- a\n" for n in range(400)),
            "#" * 100_000,
            "1. " * 33_000,
            "a_" * 50_000,
            "a." * 50_000,
            "--a=" * 25_000,
            "Sample error message:\n\n" * 4_000,
            "Debugging\n\n" * 9_000,
            "A: " * 33_000,
            'X("E1001", ' * 9_000,
            'X("E1001",\\\n' * 8_000,
            "<!doctype html><article class=devsite-article>" + "<ul><li>" * 12_000,
            "<!doctype html>" + "<a " * 30_000,
            "<!doctype html>" + "<a href='" * 10_000 + "'>",
            "<!doctype html><article class=devsite-article><h1 class=devsite-page-title>E</h1>"
            "<div class=devsite-article-body>" + "<div>" * 15_000,
            "<!doctype html><article class=devsite-article><h1 class=devsite-page-title>E</h1>"
            "<div class=devsite-article-body><p>" + "<b>" * 20_000,
        ],
    ),
    ids=lambda text: text[:20],
)
def test_a_hostile_page_of_100_kB_is_read_quickly_and_never_raises(text: str) -> None:
    def read(text: str) -> None:
        for form in FORMS:
            head = "# Error code: E1001\n\n**Category:** x\n\n## Debugging\n\n" if form == "xla-md" else ""
            assert isinstance(documents.document([page(form, (head + text).encode())]), Document | Skipped)

    linear.within(5.0, read, text)


HEAD = "# Error code: E1001\n\n**Category:** x\n\nWhy.\n\n**Sample error message:**\n\n```\nINTERNAL: x\n```\n\n"


@given(st.text(alphabet="a*`_[]()#|-:> \n1.<•", max_size=300))
@settings(max_examples=150, deadline=None)
def test_whatever_stands_below_debugging_offsets_hold(words: str) -> None:
    body = f"{HEAD}## Debugging\n\nUse less.\n\n{words}\n\n- Use more: or `--flag=a`.\n"
    found, facts = recorded(documents.document([page("xla-md", body.encode())]))
    assert facts.remedies
    assert all(found.text[r.start : r.end] == r.text for r in facts.remedies)
