"""Markdown pages, llms.txt and ErrorCanon files: whole, honest, and with no way for quoted words to become markup."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline import export
from pipeline.export import errorcanon, markdown
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ConfigError
from tests import entry_factory as make

HOSTILE = "[click](https://evil.invalid) <img src=x onerror=alert(1)> ![i](http://evil.invalid) www.evil.invalid `# a`"


def _entry(**changes: object) -> KnowledgeEntry:
    return KnowledgeEntry.model_validate(make.raw_entry(**changes))


def test_a_page_shows_both_languages_and_every_count() -> None:
    entry = _entry()
    page = markdown.page(entry)
    assert f"{entry.evidence_count} documents, {entry.occurrence_count} occurrences" in page
    assert entry.signature_zh is None or markdown.escaped(entry.signature_zh) in page
    for remedy in entry.workarounds:
        assert f"{markdown.escaped(remedy.action)} (worked {remedy.worked}, failed {remedy.failed})" in page


def test_a_page_shows_each_case_with_its_place() -> None:
    page = markdown.page(KnowledgeEntry.model_validate(make.raw_entry_with_case()))
    assert "In `errmine-fixtures/kernels`, `attention:forward`, `fixture_torch` (1 document):" in page
    assert "- helped · 有效: Keep two stages. (worked 1, failed 0)" in page
    assert "condition · 条件: on my card" in page


def test_a_page_shows_the_block_that_an_action_announces_as_code() -> None:
    raw = make.raw_entry()
    raw["workarounds"][0] |= {"action": "Set TRITON_STAGES=2 like this:", "how": "```\nexport TRITON_STAGES=2\n…"}
    page = markdown.page(KnowledgeEntry.model_validate(raw))
    assert "\n\n  ````text\n  ```\n  export TRITON_STAGES=2\n  …\n  ````" in page
    assert "export TRITON_STAGES=2" not in markdown.page(_entry())  # it says the act once more


def test_quoted_words_never_become_links_images_or_html() -> None:
    shown = markdown.escaped(HOSTILE)
    assert "<" not in shown
    assert ">" not in shown
    assert "://" not in shown.replace("\\://", "")
    assert "www." not in shown
    assert "\\[click\\]" in shown
    assert "\\!" in shown


def test_a_signature_full_of_backticks_stays_inside_its_code_block() -> None:
    page = markdown.page(_entry(signature="a ```` b\n# no heading"))
    assert "`````text\na ```` b\n# no heading\n`````" in page


def test_an_address_that_is_no_plain_web_address_is_no_link() -> None:
    entry = _entry(official_doc_url="javascript:alert(1)")
    assert "javascript" not in markdown.page(entry)


def test_llms_txt_lists_the_entries_that_have_an_answer() -> None:
    silent = _entry(id="other/nobody-knows", root_cause=None, workarounds=[], workarounds_zh=[])
    files = dict(markdown.pages([_entry(), silent]))
    assert "other/nobody-knows.md" in files["README.md"]
    assert "other/nobody-knows.md" not in files["llms.txt"]
    assert _entry().id + ".md" in files["llms.txt"]


def test_the_foreign_form_keeps_unknown_unknown() -> None:
    entry = _entry(fix_success_rate=None, first_seen=None)
    canon = errorcanon.canon(entry)
    assert canon["verdict"]["fix_success_rate"] is None
    assert canon["error"]["first_seen"] is None
    assert canon["metadata"]["evidence_count"] == entry.evidence_count
    assert [way["action"] for way in canon["workarounds"]] == [way.action for way in entry.workarounds]


def test_the_foreign_form_has_the_sections_of_its_schema() -> None:
    assert set(errorcanon.canon(_entry())) == {
        "schema_version", "id", "url", "error", "environment", "verdict", "dead_ends", "workarounds",
        "transition_graph", "metadata",
    }  # fmt: skip


def test_forms_are_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    entries = [_entry(), _entry(id="other/second")]
    for form in sorted(export.FORMS):
        one, other = tmp_path / f"{form}-1", tmp_path / f"{form}-2"
        assert export.write_form(one, entries, form) == export.write_form(other, entries[::-1], form)
        names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
        assert names == sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())
        assert all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_a_folder_with_something_in_it_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty"):
        export.write_form(tmp_path, [_entry()], "markdown")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_unknown_form_is_refused_with_the_forms_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        export.write_form(tmp_path / "new", [_entry()], "word")
    assert "errorcanon, markdown" in caught.value.hint()


def test_canon_files_are_json_under_the_id_of_their_entry(tmp_path: Path) -> None:
    export.write_form(tmp_path / "canon", [_entry()], "errorcanon")
    written = json.loads((tmp_path / "canon" / _entry().id / "any.json").read_text(encoding="utf-8"))
    assert written["id"] == f"{_entry().id}/any"
