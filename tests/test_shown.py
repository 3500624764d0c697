"""An entry shows a bounded part of its evidence; its counts stay exact, and the database has every piece."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline import export, store, validate
from pipeline.ask import digest, standing
from pipeline.export import site
from pipeline.export.site import lists
from pipeline.export.site import reading as site_reading
from pipeline.lexicon import advice
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.shown import MOST_EVIDENCE, shown
from pipeline.store import reading
from tests import entry_factory as make
from tests.cli import run

THREADS, WORKED, FAILED = 450, 300, 60


def _day(number: int) -> str:
    return f"{2020 + number // 336:04d}-{number // 28 % 12 + 1:02d}-{number % 28 + 1:02d}T10:00:00Z"


def large() -> KnowledgeEntry:
    """An error that 450 threads show; in 300 one setting helped, in 60 another did not."""
    seen = [make.evidence(n, posted_at=_day(n)) for n in range(THREADS)]
    helped = [
        make.evidence(n, role="worked", quote=f"Setting TRITON_STAGES=2 made it pass on card {n}.", posted_at=_day(n))
        for n in range(WORKED)
    ]
    failed = [
        make.evidence(n, role="failed", quote=f"A bigger num_warps on card {n} changed nothing.", posted_at=_day(n))
        for n in range(FAILED)
    ]
    helped[211] |= {"author_role": "MEMBER"}
    raw = make.raw_entry_with_case()
    way, end, said = raw["workarounds"][0], raw["dead_ends"][0], raw["cases"][0]["statements"][0]
    for part, cited, counts in (
        (way, helped, {"worked": WORKED}),
        (said, helped, {"worked": WORKED}),
        (end, failed, {"failed": FAILED}),
    ):
        part.update(counts, evidence=sorted(p["evidence_id"] for p in cited), sources=sorted({p["url"] for p in cited}))
    raw["cases"][0]["documents"] = sorted({piece["document_id"] for piece in seen})
    raw["environment"][0] |= {"count": THREADS, "evidence": sorted(piece["evidence_id"] for piece in seen)}
    pieces = sorted([*seen, *helped, *failed], key=lambda p: (p["document_id"], p["start"], p["end"], p["role"]))
    dates = {
        "first_seen": _day(0)[:10],
        "last_confirmed": _day(THREADS - 1)[:10],
        "last_updated": _day(THREADS - 1)[:10],
    }
    counts: dict[str, Any] = {
        "evidence_count": THREADS,
        "occurrence_count": THREADS + 7,
        "confidence": 0.78,
        "fix_success_rate": round(WORKED / (WORKED + FAILED), 3),
    }
    return KnowledgeEntry.model_validate(raw | {"evidence": pieces} | dates | counts)


WHOLE = large()


def test_the_whole_entry_is_sound_and_so_is_what_is_shown_of_it() -> None:
    assert validate.check(WHOLE.model_dump(mode="json")) == []
    assert validate.check(shown(WHOLE).model_dump(mode="json")) == []


def test_what_is_shown_is_bounded_and_what_is_counted_is_not() -> None:
    cut = shown(WHOLE)
    assert len(cut.evidence) == MOST_EVIDENCE
    assert cut.evidence_omitted == THREADS + WORKED + FAILED - MOST_EVIDENCE
    counts = ("evidence_count", "occurrence_count", "confidence", "fix_success_rate", "first_seen", "last_confirmed")
    assert [getattr(cut, name) for name in counts] == [getattr(WHOLE, name) for name in counts]
    assert (cut.workarounds[0].worked, cut.dead_ends[0].failed, cut.environment[0].count) == (WORKED, FAILED, THREADS)
    assert len(cut.cases[0].documents) + cut.cases[0].documents_omitted == THREADS
    assert len(cut.model_dump_json()) < 0.3 * len(WHOLE.model_dump_json())
    assert digest(cut.model_dump(mode="json")).thread_count == THREADS


def test_whatever_is_cited_is_shown_and_every_list_cites_something() -> None:
    cut = shown(WHOLE)
    ids = {piece.evidence_id for piece in cut.evidence}
    lists = [cut.workarounds[0], cut.dead_ends[0], cut.environment[0], cut.cases[0].statements[0]]
    assert all(one.evidence and ids.issuperset(one.evidence) for one in lists)
    assert min(len(one.evidence) for one in lists) > MOST_EVIDENCE // 8, "the lists take turns"
    by_id = {piece.evidence_id: piece for piece in cut.evidence}
    way = cut.workarounds[0]
    assert any(by_id[one].author_role == "MEMBER" for one in way.evidence), "what its tier stands on"
    assert way.sources == sorted({by_id[one].url for one in way.evidence})


def test_it_is_shown_alike_whatever_the_order_and_however_often() -> None:
    cut = shown(WHOLE)
    assert shown(cut) == cut
    mixed = list(WHOLE.evidence)
    random.Random(7).shuffle(mixed)
    assert shown(make.entry()) == make.entry()
    again = shown(WHOLE.model_copy(update={"evidence": sorted(mixed, key=WHOLE.evidence.index)}))
    assert again == cut


def test_each_statement_keeps_a_quote_where_there_are_more_statements_than_pieces() -> None:
    cut = shown(WHOLE, 3)
    assert all(one.evidence for one in (*cut.workarounds, *cut.dead_ends, *cut.cases[0].statements))
    assert 3 < len(cut.evidence) < 10


def test_an_owner_whom_advice_names_stays_no_stranger() -> None:
    words = "Run `pip install git+https://github.com/late-owner/fixed-kernels`."
    late = make.evidence(THREADS + 1, posted_at=_day(THREADS - 1), repo="late-owner/kernels")
    way = WHOLE.workarounds[0].model_copy(update={"how": words})
    raw = WHOLE.model_copy(update={"workarounds": [way]}).model_dump(mode="json")
    raw |= {"evidence": [*raw["evidence"], late], "evidence_count": THREADS + 1}
    entry = KnowledgeEntry.model_validate(raw)
    assert list(advice.refused(entry.model_dump())) == list(advice.refused(shown(entry).model_dump()))
    assert "late-owner/kernels" in {piece.repo for piece in shown(entry).evidence}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    return store.write(folder / "errmine.duckdb", store.Contents(entries=(WHOLE, make.entry(id="cuda/small"))))


def test_the_database_has_every_piece_and_publishes_what_is_shown(database: Path) -> None:
    [published] = [one for one in reading.entries(database) if one["id"] == WHOLE.id]
    assert published == shown(WHOLE).model_dump(mode="json")
    with duckdb.connect(str(database), read_only=True) as connection:
        [(pieces,)] = connection.execute("SELECT count(*) FROM evidence WHERE entry_id = ?", [WHOLE.id]).fetchall()
    assert pieces == THREADS + WORKED + FAILED


def test_one_number_says_everywhere_how_many_documents_an_entry_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix = make.evidence(9, role="fix", quote="The next release asks for less.", kind="pull")
    page = make.evidence(8, role="official", quote="Ask for less.", kind="doc")
    raw = WHOLE.model_dump(mode="json")
    raw["evidence"] = [*raw["evidence"], fix | {"document_id": "fix"}, page | {"document_id": "page"}]
    every = KnowledgeEntry.model_validate(raw | {"evidence_count": THREADS + 2})
    cut = shown(every)
    export.write(tmp_path / "bundle", [cut], facts=export.Facts(clusters=(make.CLUSTER,)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    [top] = json.loads(run("top", "--bundle", tmp_path / "bundle", "--json").out)
    told = digest(cut.model_dump(mode="json"))
    row = lists.row_of(cut)
    _, threads = site_reading.threads(cut, "en")
    assert [told.document_count, top["document_count"], row.report_count] == [THREADS + 2] * 3
    assert told.thread_count == threads == THREADS + 1
    assert f"in {THREADS + 2} documents;" in standing(told)
    assert f"见于 {THREADS + 2} 份文档；" in standing(told, "zh")
    site.write(tmp_path / "site", tmp_path / "bundle", search=False)
    for lang, words in (("en", f"{THREADS + 2} documents"), ("zh", f"{THREADS + 2} 份文档")):
        [entry_page] = (tmp_path / "site" / lang).rglob(f"{WHOLE.id.rpartition('/')[2]}.html")
        assert f"<span>{words}</span>" in entry_page.read_text(encoding="utf-8")


def test_one_query_walks_every_count_back_to_its_quotes(database: Path) -> None:
    query = """
        SELECT r.kind, r.worked, r.failed,
            count(DISTINCT e.document_id) FILTER (e.role = 'worked'),
            count(DISTINCT e.document_id) FILTER (e.role = 'failed')
        FROM remedies r
        JOIN citations c ON c.entry_id = r.entry_id AND c.part = r.kind AND c.ordinal = r.ordinal
        JOIN evidence e ON e.entry_id = c.entry_id AND e.evidence_id = c.evidence_id
        WHERE r.entry_id = ? GROUP BY ALL ORDER BY 1
    """
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute(query, [WHOLE.id]).fetchall()
        [(counted, documents)] = connection.execute(
            "SELECT any_value(n.evidence_count), count(DISTINCT e.document_id) FROM entries n JOIN evidence e "
            "USING (entry_id) WHERE n.entry_id = ?",
            [WHOLE.id],
        ).fetchall()
    assert rows == [("dead_end", 0, FAILED, 0, FAILED), ("workaround", WORKED, 0, WORKED, 0)]
    assert counted == documents == THREADS


def test_a_bundle_with_such_an_entry_is_sound_and_counts_all(tmp_path: Path) -> None:
    export.write(tmp_path / "bundle", [shown(WHOLE), make.entry(id="cuda/small")])
    report = validate.check_path(tmp_path / "bundle")
    assert (report.entry_count, report.problems) == (2, ())
    assert export.read_manifest(tmp_path / "bundle").counts["evidence"] == THREADS + WORKED + FAILED + 3


@pytest.mark.parametrize(
    "change",
    [
        {"evidence_count": THREADS + WORKED + FAILED},
        {"evidence_omitted": 0},
        {"confidence": 0.999},
        {"evidence_count": 100},
    ],
)
def test_a_count_beyond_what_is_omitted_is_found(change: dict[str, Any]) -> None:
    raw = json.loads(shown(WHOLE).model_dump_json()) | change
    raw["workarounds"][0]["worked"] += 1_000 * ("confidence" in change)
    assert {found.rule for found in validate.check(raw)} & {"evidence_count", "outcomes_quoted"}


def test_nothing_is_omitted_of_a_small_entry() -> None:
    found = validate.check(make.raw_entry(evidence_omitted=500))
    assert "evidence_omitted" in {problem.place for problem in found}
