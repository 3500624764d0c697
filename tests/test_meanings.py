"""What documentation says that codes and messages mean: rows that ship, and how an error finds its own."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline import ask, packs
from pipeline.agents import shown
from pipeline.cli.entry_page import print_entry
from pipeline.cli.labels import Language
from pipeline.export import markdown
from pipeline.export.site import reading
from pipeline.lexicon import headings, meanings
from pipeline.lexicon.meanings import MEANINGS, Meaning, Named
from pipeline.records.entry import Documentation, KnowledgeEntry, is_answered, is_documented
from pipeline.run.check import proving
from tests import entry_factory as make
from tests import golden
from tests.each import each

ROWS = MEANINGS.rows()


@each("row", ROWS, parts=8)
def test_the_sentences_of_a_row_are_chinese_and_english_of_each_other(row: Meaning) -> None:
    assert row.problem() == ""


@each("row", ROWS)
def test_a_row_explains_its_examples_and_codes_and_none_of_its_lookalikes(row: Meaning) -> None:
    texts = [*row.examples, *((f" | failed | code={code}" for code in row.codes) if row.is_of_codes else ())]
    for text in texts:
        assert meanings._explained(text) == [row], text
    for text in row.lookalikes:
        assert row not in meanings._explained(text), text


def test_every_code_of_a_row_is_one_of_a_catalogue() -> None:
    meanings.known()


@each("row", ROWS)
def test_a_row_says_more_than_the_name_of_its_code(row: Meaning) -> None:
    """Half of its words at least stand in no name of the error."""
    told = set(re.findall(r"[a-z]{4,}", row.en.lower()))
    named = " ".join((*row.codes, *row.types, *row.says, *row.kinds)).lower()
    assert sum(word not in named for word in told) >= max(5, len(told) / 2)


def test_no_two_rows_say_the_same() -> None:
    seen: dict[str, str] = {}
    for row in ROWS:
        assert seen.setdefault(row.en, row.name) == row.name
        assert seen.setdefault(row.zh, row.name) == row.name


SEGFAULT = Named("", {"kind": "exit-signal", "signal": "segmentation fault"}, ("signal:SIGSEGV",), "Segmentation fault")


def _row(named: Named) -> str | None:
    told = meanings.documentation(named)
    return told.row if told else None


def test_the_code_of_the_gate_decides_whatever_else_is_printed() -> None:
    own = Named("RuntimeError", {"code": "cuda:cudaErrorIllegalAddress"}, ("cuda:cudaErrorAssert",), "CUDA error")
    assert _row(own) == "ml/cuda-illegal-address"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A pack with two rows for codes that others explain too."""
    (tmp_path / "pack.toml").write_text(
        'name = "mine"\ntitle = "Mine"\nversion = "1"\nsummary = "What codes mean here."\n', encoding="utf-8"
    )
    told = 'en = "Our own tools report this code where a shelf of the kiln is cold."\n'
    chinese = 'zh = "我们自己的工具在窑炉的层板过冷时报告这个代码。"\nurl = "https://kiln.example/errors"\n'
    rows = [
        f'[[row]]\nname = "{name}"\ncodes = ["{code}"]\n{told}{chinese}'
        for name, code in (("address", "cuda:cudaErrorIllegalAddress"), ("killed", "signal:SIGKILL"))
    ]
    (tmp_path / "meanings.toml").write_text("".join(rows), encoding="utf-8")
    return tmp_path


def test_a_row_of_an_added_pack_stands_before_one_that_ships(pack: Path) -> None:
    named = Named("", {"code": "cuda:cudaErrorIllegalAddress"}, (), "")
    with packs.using(pack) as active:
        assert proving.prove(active.added[0]).problems == ()
        assert _row(named) == "mine/address"
    assert _row(named) == "ml/cuda-illegal-address"


@pytest.mark.parametrize("text", ["No space left on device", "IOException: No space left on device"])
def test_a_type_before_the_message_is_no_part_of_its_words(text: str) -> None:
    assert _row(Named("java.io.IOException", {}, (), text)) == "jvm/no-space"


def test_where_two_codes_are_explained_neither_row_is_chosen(pack: Path) -> None:
    codes = ("cuda:cudaErrorIllegalAddress", "signal:SIGKILL")
    with packs.using(pack):
        assert _row(Named("", {}, codes[:1], "")) == "mine/address"
        assert _row(Named("", {}, codes, "")) is None


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("list index out of range", "list index out of range", True),
        ("list index out of range error", "list index out of range", True),
        ("list index out of ranges", "list index out of range", False),
        ("a list index out of range", "list index out of range", False),
        ("'<quoted>' object is not iterable", "'{}' object is not iterable", True),
        ("'' object is not iterable", "'{}' object is not iterable", False),
        ("expected <n>, got <n>", "expected {}, got {}", True),
        ("expected <n>", "expected {}, got {}", False),
        ("", "{} x", False),
    ],
)
def test_words_of_a_row_begin_the_message(text: str, words: str, expected: bool) -> None:
    assert meanings._begins(text, words) is expected


def _explained(**changes: object) -> KnowledgeEntry:
    told = Documentation(
        text="The shelf of the kiln is colder than the program asks for.",
        text_zh="窑炉的层板比程序要求的温度低，仅此而已，原因不明。",
        checks=[],
        url="https://kiln.example/errors",
        row="kiln/cold",
    )
    raw = make.raw_entry(workarounds=[], workarounds_zh=[], documentation=told.model_dump())
    return KnowledgeEntry.model_validate(raw | changes)


def test_documentation_is_no_answer_and_counts_for_no_evidence() -> None:
    entry = _explained()
    assert is_documented(entry)
    assert is_documented(entry.model_dump(mode="json"))
    assert not is_answered(entry)
    assert not is_documented(_explained(documentation=None))
    assert is_documented(_explained(documentation=None, root_cause="It is cold.", root_cause_type="documented"))


def test_a_row_names_all_that_must_hold() -> None:
    told = [meanings._weight(row) for row in ROWS]
    assert all(any(weight) for weight in told)
    assert _row(replace(SEGFAULT, gate={}, codes=())) is None


SHOWN = "cuda/error-illegal-address"


@pytest.fixture(scope="module")
def entry() -> KnowledgeEntry:
    """An entry of the sample that documentation explains."""
    path = golden.ROOT / "curated" / "sample" / "entries" / f"{SHOWN}.json"
    return KnowledgeEntry.model_validate_json(path.read_bytes())


def test_a_page_of_markdown_says_what_it_means_in_both_languages(entry: KnowledgeEntry) -> None:
    told = entry.documentation
    assert told is not None
    page = markdown.page(entry)
    section = page.partition(f"## {headings.both('words', 'documentation')}")[2].partition("\n## ")[0]
    for words in (told.text, told.text_zh, told.checks[0].text, told.checks[0].text_zh):
        assert markdown.escaped(words) in section
    assert told.url in section


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_site_says_what_it_means_in_the_language_of_the_page(entry: KnowledgeEntry, lang: str) -> None:
    told, page = entry.documentation, reading.documentation(entry, lang)
    assert told is not None
    assert page is not None
    assert (page.text, page.url) == (told.text_zh if lang == "zh" else told.text, told.url)
    assert page.checks == tuple(one.text_zh if lang == "zh" else one.text for one in told.checks)
    assert reading.documentation(entry.model_copy(update={"documentation": None}), lang) is None


def test_agents_are_told_what_it_means_within_their_measure(entry: KnowledgeEntry) -> None:
    told = ask.digest(entry.model_dump(mode="json"))
    wide = shown.entry(told, shown.WIDE).documentation
    least = shown.entry(told, shown.LEAST).documentation
    assert wide is not None
    assert least is not None
    assert entry.documentation is not None
    assert (wide.text, wide.url) == (entry.documentation.text, entry.documentation.url)
    assert len(least.text) <= shown.LEAST.characters < len(wide.text)


@pytest.mark.parametrize(("lang", "words"), [("en", "look at first: run with"), ("zh", "首先检查：设置")])
def test_show_prints_what_it_means_before_what_people_said(
    entry: KnowledgeEntry, lang: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_entry(entry.model_dump(mode="json"), lang=Language(lang))
    printed = " ".join(capsys.readouterr().out.split())
    assert entry.documentation is not None
    text = entry.documentation.text_zh if lang == "zh" else entry.documentation.text
    assert text[:60] in printed
    assert words in printed.lower()
    assert printed.index(text[:60]) < printed.index(entry.evidence[0].url)


def test_where_nobody_knows_a_fix_the_answer_says_that_documentation_explains_it() -> None:
    told = ask.digest(_explained().model_dump(mode="json"))
    assert ask.answers(told) == "documentation says what it means, nobody reported a fix"
    assert ask.answers(told, "zh") == "文档说明了其含义，尚无人报告解决办法"
    without = ask.digest(_explained(documentation=None).model_dump(mode="json"))
    assert ask.answers(without) == "nobody reported a fix"
