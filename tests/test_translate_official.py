"""Official text in Chinese: whole on the pinned revision, sentence by sentence, and honest where a page changed."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

import polib
import pytest

from pipeline.lexicon import catalogues, gates
from pipeline.providers import documents
from pipeline.records import Document
from pipeline.records.draft import Draft
from pipeline.records.entry import Evidence, KnowledgeEntry
from pipeline.run.build.worded import ROWS, Worded
from pipeline.text.sentences import sentences, whole
from pipeline.translate import entry, official, rendering
from tests import official as tool
from tests.each import each
from tests.test_translate import draft, quoted, remedy
from tests.xla_pages import pages_of

PO = Path(official.__file__).parent / "memory" / "official_zh_Hans.po"
KEPT = json.loads(tool.KEPT.read_text("utf-8"))
XLA = Path(__file__).parents[2] / "shared" / "xla"
FORMS = ("md/errors/*.md", "html/generated/*.html", "text/seedlike/*.txt", "text/dash/*.txt")

FIRST = "The pond is too small for the geese that were asked to swim in it."
SECOND = "Use a larger pond, e.g. `--pond-size=64`, or fewer geese."
OTHER = "Feed the geese elsewhere."
KNOWN = {
    official.key(FIRST): "池塘太小，容不下要求在其中游泳的鹅。",
    official.key(SECOND): "使用更大的池塘，例如 `--pond-size=64`，或者减少鹅的数量。",
    official.key(OTHER): "在别处喂鹅。",
}


def piece(evidence_id: str, url: str) -> Evidence:
    return Evidence(
        evidence_id=evidence_id, role="official", url=url, kind="doc", document_id="d",
        repo=None, number=None, state=None, posted_at=None, author_role=None, quote=FIRST, quote_lang="en", start=0,
        end=len(FIRST), raw_sha256="0" * 64, rule="official.summary",
    )  # fmt: skip


def put(monkeypatch: pytest.MonkeyPatch, made: Draft, *, url: str = "https://docs.example.org/1") -> KnowledgeEntry:
    """The entry of a draft whose statements stand on an official page, with `KNOWN` as the memory."""
    monkeypatch.setattr(official, "memory", lambda: KNOWN)
    monkeypatch.setattr(official, "pages", lambda: {"https://docs.example.org/1": frozenset(KNOWN)})
    return entry(dataclasses.replace(made, evidence=(piece("evidence:1", f"{url}#edge"),)), entry_id="xla/pond")


# ---------------------------------------------------------------- whole


def test_every_sentence_of_the_pinned_revision_has_reviewed_chinese() -> None:
    wanted = {key for part in ("pages", "earlier") for keys in KEPT[part].values() for key in keys}
    missing = sorted(wanted - official.memory().keys())
    assert not missing, f"{len(missing)} of {len(wanted)} official sentences have no Chinese"
    assert len(KEPT["pages"]) == sum(row.is_documented for row in catalogues.xla_codes().values()) == 12
    assert tool.REVISION in (Path(official.__file__).parents[1] / "data" / "catalogues" / "xla.json").read_text("utf-8")


def test_the_memory_holds_no_english_and_nothing_that_no_page_says() -> None:
    wanted = {key for part in ("pages", "earlier") for keys in KEPT[part].values() for key in keys}
    found = [row.msgid for row in polib.pofile(str(PO))]
    assert len(found) == len(set(found))
    assert set(found) == wanted


@each("chinese", official.memory().values())
def test_every_official_sentence_is_clean_chinese(chinese: str) -> None:
    said = gates.check(chinese, chinese, gates={name: gates.GATES[name] for name in ("simplified", "punctuation")})
    assert all(said.values())
    assert rendering.polish(chinese) == chinese
    assert gates._han_count(chinese) > 0


CATALOGUES = (
    catalogues.cuda_errors, catalogues.nccl_results, catalogues.hip_errors, catalogues.absl_statuses,
    catalogues.jax_errors, catalogues.graph_breaks,
)  # fmt: skip


@each("code", [code for read in CATALOGUES for code in read()])
def test_every_code_of_the_shipped_catalogues_is_explained(code: str) -> None:
    assert rendering.is_listed(code)


#: Libraries that frameworks call by themselves: their statuses stand in reports.
CALLED = ("cudnn:", "cublas:", "cusolver:", "cusparse:", "cufft:", "curand:", "nvrtc:")


@each("code", [code for code in catalogues.libraries() if code.startswith(CALLED)])
def test_every_status_of_the_libraries_that_frameworks_call_is_explained(code: str) -> None:
    assert rendering.is_listed(code)


@pytest.mark.shared
@pytest.mark.skipif(not XLA.is_dir(), reason="the official pages are not here")
@pytest.mark.parametrize("form", FORMS)
def test_the_true_pages_in_all_their_forms_have_no_sentence_without_chinese(form: str) -> None:
    paths = sorted(XLA.glob(form))
    assert len(paths) == 12
    for path in paths:
        page = documents.document(pages_of(path))
        assert isinstance(page, Document)
        assert page.record is not None
        for said in (page.record.summary, *page.record.scenarios, *(r.text for r in page.record.remedies)):
            made = official.chinese(said)
            assert made, said
            assert all(gates.check(said, made, gates=gates.REVIEWED).values()), (said, made)


@pytest.mark.shared
@pytest.mark.skipif(not XLA.is_dir(), reason="the official pages are not here")
def test_the_kept_keys_are_those_of_the_true_pages() -> None:
    old = [path for path in sorted(XLA.glob("md_history/error_0*/*.md")) if "Error log example" in path.read_text()]
    assert tool.KEPT.read_text("utf-8") == tool.kept(sorted(XLA.glob("md/errors/*.md")), old)


# ---------------------------------------------------------------- sentence by sentence


def test_an_official_text_is_put_together_from_its_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    made = put(
        monkeypatch,
        draft(
            cause=quoted(f"{FIRST} {SECOND}", "en"), workarounds=(remedy(quoted(f"  • {OTHER}\n  1. {SECOND}", "en")),)
        ),
    )
    assert made.root_cause_zh == KNOWN[official.key(FIRST)] + KNOWN[official.key(SECOND)]
    assert made.workarounds_zh == ["  • 在别处喂鹅。\n  1. 使用更大的池塘，例如 `--pond-size=64`，或者减少鹅的数量。"]
    assert made.translations["root_cause_zh"].status == made.translations["workarounds_zh[0]"].status == "reviewed"
    assert made.translations["root_cause_zh"].engine == "tm/official"


def imported(made: KnowledgeEntry) -> Worded:
    """The entries of a home that has this one of another."""
    return Worded(ROWS.empty_table(), lambda *_: made, {made.id: made})


def test_a_page_that_changes_loses_only_the_statement_that_changed_and_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = f"{FIRST} Use no pond at all."
    remedies = (remedy(quoted(SECOND, "en")), remedy(quoted(OTHER, "en")))
    made = put(monkeypatch, draft(cause=quoted(changed, "en"), workarounds=remedies))
    assert made.root_cause_zh is None
    assert made.translations["root_cause_zh"].reason == "source changed: Use no pond at all."
    assert None not in made.workarounds_zh
    assert imported(made).changed_sources() == [
        {"entry_id": "xla/pond", "field": "root_cause_zh", "sentence": "Use no pond at all."}
    ]


def test_a_page_that_nobody_translated_is_prose_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    made = put(monkeypatch, draft(cause=quoted("Geese like rain.", "en")), url="https://docs.example.org/2")
    assert made.translations["root_cause_zh"].reason == "prose, and no engine has a translation"
    assert imported(made).changed_sources() == []


def test_forms_of_a_sentence_have_one_key() -> None:
    assert official.key("The  pond’s “edge”\nis near.") == official.key('The pond\'s "edge" is near.')
    assert official.key("The pond is near.") != official.key("The pond is far.")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("One goose. Two geese! Why? None", ["One goose.", "Two geese!", "Why?", "None"]),
        ("Geese, e.g. Ann. See Scenario 2. Ponds.", ["Geese, e.g. Ann.", "See Scenario 2. Ponds."]),
        ("Title\n    • First item.\n  2. Second (see a.b).", ["Title", "First item.", "Second (see a.b)."]),
        ('It says "no." Then stop.', ['It says "no."', "Then stop."]),
        ("Issues: wet. - Cold feet.", ["Issues: wet.", "Cold feet."]),
        ("", []),
    ],
)
def test_a_text_falls_into_its_sentences(text: str, wanted: list[str]) -> None:
    assert [text[span.start : span.end] for span in sentences(text)] == wanted


def test_a_text_is_cut_at_the_end_of_a_sentence() -> None:
    assert whole(f"{FIRST} {SECOND}", len(FIRST) + 10) == len(FIRST)
    assert whole(f"{FIRST} {SECOND}", 1000) == len(FIRST) + 1 + len(SECOND)
    assert whole(FIRST, 10) == 0


def test_code_alone_needs_no_chinese_and_is_none() -> None:
    assert official.chinese("--pond-size=64", KNOWN) == "--pond-size=64"
    assert official.offer("--pond-size=64") is None
    assert list(official.unknown("--pond-size=64\nTPU v9 16MB", KNOWN)) == []


@pytest.mark.parametrize("unit", [". A", "e.g. A", "• ", "\n", " ", '"A." ', "1. "])
def test_hostile_text_falls_apart_in_no_time(unit: str) -> None:
    began = time.perf_counter()
    assert len(list(sentences((unit * 100_000)[:100_000]))) >= 0
    assert time.perf_counter() - began < 2.0
