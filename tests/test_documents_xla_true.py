"""The 12 true error pages of OpenXLA's docs in all their forms, their 55 revisions, and seed 003."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.lexicon import catalogues
from pipeline.providers import documents
from pipeline.records import Skipped
from tests.xla_pages import FIELDS, REMEDIES, compared, pages_of, read, record, recorded

SHARED = Path(__file__).parents[2] / "shared"
XLA = SHARED / "xla"
#: Every page has three reconstructions and one more of two of them.
FORMS = [(form, number) for form in ("html/generated", "text/seedlike", "text/dash") for number in sorted(REMEDIES)]
FORMS += [("html", "1000"), ("html", "1001")]

needs_shared = pytest.mark.skipif(not XLA.is_dir(), reason="the internal corpus is not here")


@pytest.mark.shared
@needs_shared
class TestTruePages:
    @pytest.mark.parametrize("number", sorted(REMEDIES))
    def test_a_page_gives_the_facts_that_a_reader_found_in_it(self, number: str) -> None:
        found = record(XLA / "md" / "errors" / f"error_{number}.md")
        assert [(" ".join(r.title.split()[:3]), r.flags) for r in found.remedies] == REMEDIES[number]
        counts = (len(found.samples), len(found.templates), len(found.scenarios))
        assert (found.phase, found.category, found.backends, found.status_code, *counts) == FIELDS[number]
        assert found.name == catalogues.code_name(found.code)
        assert found.code == f"xla:E{number}"

    @pytest.mark.parametrize(("form", "number"), FORMS)
    def test_all_forms_of_a_page_give_one_record(self, form: str, number: str) -> None:
        path = XLA / form / f"error_{number}.{'txt' if form.startswith('text') else 'html'}"
        truth, expected = recorded(read(XLA / "md" / "errors" / f"error_{number}.md"))
        found, facts = recorded(read(path))
        lost = ["links"] if form.startswith("text") else []
        assert compared(facts, without=lost) == compared(expected, without=lost)
        assert facts.is_lossy is form.startswith("text")
        assert (found.document_id, found.url) == (truth.document_id, truth.url)
        if form.startswith("html"):
            assert found.text == truth.text

    def test_all_55_revisions_of_the_12_pages_are_read(self) -> None:
        revisions = sorted((XLA / "md_history").glob("error_[0-9]*/*.md"))
        assert len(revisions) == 55
        for path in revisions:
            found = record(path)
            assert found.code == f"xla:{path.parent.name.replace('error_', 'E')}"
            assert all((found.samples, found.summary, found.remedies))
            assert found.backends or path.parent.name in ("error_0101", "error_0102")
            assert found.phase in ("Runtime", "Compile Time", None)
            assert len(found.remedies) >= len(REMEDIES[path.parent.name[-4:]]) - 2

    def test_the_landing_dates_of_the_repository_reach_every_page(self) -> None:
        dates = {page.document_key: page for page in pages_of(XLA / "history.json")}
        for number in REMEDIES:
            pages = pages_of(XLA / "md" / "errors" / f"error_{number}.md")
            found = recorded(documents.document([*pages, dates[pages[0].document_key]]))[1]
            first, last = found.first_seen or "", found.last_updated or ""
            assert "2025-11-12" <= first <= last <= "2026-08-20"

    def test_28_codes_are_known_and_16_have_no_page(self) -> None:
        found = [documents.document([page]) for page in pages_of(XLA / "source_catalog.jsonl")]
        details = [item.detail for item in found if isinstance(item, Skipped) and item.reason == "catalogue_only"]
        assert len(details) == 28
        assert sum(detail.endswith("documented: false") for detail in details) == 16

    def test_seed_003_is_the_lossy_page_of_e1001(self) -> None:
        (path,) = (SHARED / "seeds").glob("003*")
        found, facts = recorded(read(path))
        assert (found.document_id, found.is_lossy) == ("openxla.org/xla/errors/error_1001", True)
        assert (facts.phase, facts.category, facts.backends) == FIELDS["1001"][:3]
        assert (len(facts.samples), len(facts.templates)) == (1, 1)
        assert "%my-custom-kernel" in facts.samples[0]
        assert "tpu_custom_call" in facts.templates[0]
        assert [(" ".join(r.title.split()[:3]), r.flags) for r in facts.remedies] == REMEDIES["1001"]
        assert {r.section for r in facts.remedies} == {"Retune the kernel"}
        dates = (facts.first_seen, facts.last_updated, found.opened_at, found.updated_at)
        assert dates == (None, None, None, None)
