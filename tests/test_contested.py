"""A remedy that helped some and did not help others: shown once, each who says so with how it ended."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.ask import digest
from pipeline.cli.entry_page import print_entry
from pipeline.cli.labels import Language
from pipeline.export import markdown
from pipeline.export.site import reading
from pipeline.records.entry import KnowledgeEntry
from tests import entry_factory as make


def _raw() -> dict[str, Any]:
    """An entry whose only remedy one thread says to have worked, and another one not."""
    raw = make.raw_entry(dead_ends=[], dead_ends_zh=[])
    failed = next(one for one in raw["evidence"] if one["role"] == "failed")
    remedy = raw["workarounds"][0]
    remedy |= {"failed": 1, "success_rate": 0.5}
    remedy["evidence"] = sorted([*remedy["evidence"], failed["evidence_id"]])
    remedy["sources"] = sorted([*remedy["sources"], failed["url"]])
    return raw


def test_commands_name_the_outcome_beside_each_link(capsys: pytest.CaptureFixture[str]) -> None:
    print_entry(_raw(), lang=Language.EN)
    shown = capsys.readouterr().out
    assert "[worked 1, failed 1]" in shown
    assert "worked, maintainer, 2026-03-02: https://github.com/errmine-fixtures/kernels/issues/2" in shown
    assert "did not work, user, 2026-03-03: https://github.com/errmine-fixtures/kernels/issues/3" in shown


def test_where_all_say_the_same_no_link_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    print_entry(make.raw_entry(), lang=Language.EN)
    assert "    maintainer, 2026-03-02: https://github.com/" in capsys.readouterr().out
    assert not any(one.is_contested for one in digest(make.raw_entry()).confirmed)


def test_a_page_in_markdown_puts_what_did_not_help_apart() -> None:
    page = markdown.page(KnowledgeEntry.model_validate(_raw()))
    (line,) = (one for one in page.split("\n") if "(worked 1, failed 1)" in one)
    assert line.endswith(
        "[1](https://github.com/errmine-fixtures/kernels/issues/2) "
        "Did not work · 无效: [2](https://github.com/errmine-fixtures/kernels/issues/3)"
    )


@pytest.mark.parametrize(("lang", "outcomes"), [("en", ["Worked", "Did not work"]), ("zh", ["有效", "无效"])])
def test_the_site_names_the_outcome_of_each_source(lang: str, outcomes: list[str]) -> None:
    entry = KnowledgeEntry.model_validate(_raw())
    by_id = {one.evidence_id: one for one in entry.evidence}
    (remedy,) = reading.remedies(entry, lang, by_id, lambda _words: None)["confirmed"]
    assert [one.outcome for one in remedy.sources] == outcomes
