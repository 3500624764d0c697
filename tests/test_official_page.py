"""docs/openxla.zh.md: whole, in Chinese alone, and what the pages and their Chinese of now give."""

from __future__ import annotations

import json
import re

import pytest

from pipeline.lexicon import gates
from pipeline.translate import official
from tests import official as tool
from tests import official_page
from tests.test_translate_official import XLA

TEXT = official_page.PAGE.read_text(encoding="utf-8")
#: What the program prints, which the pages quote.
_PRINTED = re.compile(r"observed errors are: \[\w+\]|“[^”]*”")
SECTIONS = {part.split(" ", 1)[0]: part for part in TEXT.split("\n## ")[1:]}
PAGES = json.loads(tool.KEPT.read_text("utf-8"))["pages"]


def test_the_page_says_every_sentence_of_every_official_page_but_its_title():
    assert list(SECTIONS) == list(PAGES)
    said = {code: "".join(section.split()) for code, section in SECTIONS.items()}
    missing = [
        (code, chinese)
        for code, keys in PAGES.items()
        for chinese in map(official.memory().__getitem__, keys)
        if not chinese.startswith(f"错误码：{code}") and "".join(chinese.split()) not in said[code]
    ]
    assert missing == []


def test_no_english_of_the_pages_is_on_it():
    lines = [line.strip("#|- ") for line in TEXT.splitlines() if line.strip("#|- ") and not line.startswith("## E")]
    assert len(lines) > 300
    names = [line for line in lines if gates._han_count(line) == 0]
    assert [line for line in names if len(gates._words(line)) > 2] == []
    rest = [_PRINTED.sub("", line) for line in lines if line not in names]
    told = [line for line in rest if set(gates._words(line.lower())) & gates._FUNCTION_WORDS]
    assert [line for line in told if not gates.english_run("", line)] == []


@pytest.mark.shared
@pytest.mark.skipif(not XLA.is_dir(), reason="the official pages are not here")
def test_the_page_is_what_the_true_pages_and_their_chinese_give():
    assert official_page.written(sorted(XLA.glob("md/errors/*.md"))) == TEXT
