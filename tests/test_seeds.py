"""What the documents that the project was born from must give, end to end; our own re-creations beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline import run, store, validate
from pipeline.run import Places

ROOT = Path(__file__).parent.parent
SEEDS = ROOT.parent / "shared" / "seeds"
CASES = ROOT / "tests" / "cases" / "documents"

shared = pytest.mark.skipif(not SEEDS.is_dir(), reason="../shared/seeds is not here")


class Home:
    """A built home, to be asked in SQL."""

    def __init__(self, folder: Path, *sources: Path) -> None:
        self.places = Places.of(folder)
        run.import_files(self.places.raw, list(sources))
        self.summary = run.build(self.places, workers=1, partition_documents=100)

    def ask(self, sql: str) -> list[dict[str, Any]]:
        result = store.query(self.places.database, sql)
        return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def case_input(name: str) -> Path:
    return next((CASES / name).glob("input*"))


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("seeds"), SEEDS)


@pytest.mark.shared
@shared
class TestSeeds:
    def test_001_is_one_issue_with_four_occurrences_of_one_error(self, seeds: Home) -> None:
        (document,) = seeds.ask("FROM documents WHERE repo = 'pytorch/helion'")
        assert (document["number"], document["state"]) == (470, "open")
        assert document["opened_at"].isoformat() == "2025-08-08T16:28:00+00:00"
        assert document["updated_at"].isoformat() == "2025-08-08T16:29:00+00:00"
        required = seeds.ask("SELECT DISTINCT number FROM parameters WHERE name = 'required' AND number > 1000")
        assert {row["number"] for row in required} == {526336, 1056768}
        (limit,) = seeds.ask("SELECT DISTINCT number FROM parameters WHERE name = 'limit' AND number > 1000")
        assert limit["number"] == 232448
        clusters = seeds.ask("SELECT DISTINCT cluster_id FROM cluster_events WHERE repo = 'pytorch/helion'")
        assert len(clusters) == 1

    def test_001_sets_the_interruption_aside_and_counts_no_warning(self, seeds: Home) -> None:
        events = seeds.ask("FROM events WHERE document_id = 'github.com/pytorch/helion#470' ORDER BY ordinal")
        kinds = [(event["severity"], event["exception_type"]) for event in events if event["severity"] != "warning"]
        assert kinds.count(("interruption", "KeyboardInterrupt")) == 1
        assert {kind for kind in kinds if kind[0] == "error"} == {("error", "triton.runtime.errors.OutOfResources")}
        assert dict(seeds.summary.stages[1].reasons)["interruption"] == 1

    def test_001_quotes_the_remedy_that_the_program_itself_prints(self, seeds: Home) -> None:
        quotes = seeds.ask("SELECT quote FROM remedy_evidence WHERE document_id = 'github.com/pytorch/helion#470'")
        assert any("Reducing block sizes" in row["quote"] for row in quotes)

    def test_002_is_a_draft_of_unknown_repository_in_a_cluster_of_its_own(self, seeds: Home) -> None:
        (document,) = seeds.ask("FROM documents WHERE number = 713")
        assert (document["kind"], document["is_draft"], document["repo"]) == ("pull", True, None)
        assert document["updated_at"].isoformat()[:7] == "2026-06"
        (entry,) = seeds.ask(
            "SELECT e.* FROM entries e JOIN evidence v USING (entry_id) "
            f"WHERE v.document_id = '{document['document_id']}' AND v.role = 'occurrence'"
        )
        assert entry["evidence_count"] == 1
        assert "threads" in entry["entry_id"]
        facts = seeds.ask(f"FROM environment WHERE entry_id = '{entry['entry_id']}'")
        values = {(row["name"], row["value"]) for row in facts}
        assert {("CUDA", "12.8"), ("Python", "3.10"), ("NVSHMEM", "3.4.5")} <= values
        assert any(name == "GPU" and "H100" in value for name, value in values)

    def test_003_is_the_lossy_page_of_e1001(self, seeds: Home) -> None:
        (page,) = seeds.ask("FROM official_docs")
        assert (page["code"], page["phase"], page["category"]) == ("xla:E1001", "Compile Time", "Scoped Vmem OOM")
        assert (page["backends"], page["is_lossy"]) == (["TPU"], True)
        assert (page["first_seen"], page["last_updated"]) == (None, None)
        assert {"vmem_limit_bytes", "--xla_tpu_scoped_vmem_limit_kib"} <= set(page["flags"])
        assert (len(page["samples"]), len(page["templates"])) == (1, 1)

    def test_004_is_one_abort_of_unknown_address(self, seeds: Home) -> None:
        (event,) = seeds.ask("FROM events WHERE message LIKE '%LinearLayout::reshapeOuts%'")
        (document,) = seeds.ask(f"FROM documents WHERE document_id = '{event['document_id']}'")
        assert (document["repo"], document["opened_at"], document["updated_at"]) == (None, None, None)
        targets = {link["target"] for link in json.loads(document["links"])}
        assert targets == {"#2494", "#2111", "#2487", "#2128"}

    def test_000_is_named_defect_by_defect_and_stays_unproven(self, seeds: Home) -> None:
        report = validate.check_path(next(SEEDS.glob("000*")))
        broken = {problem.rule for problem in report.problems}
        expected = {"dates_ordered", "action_present", "zh_is_chinese", "evidence_count", "how_adds", "rates_counted"}
        assert expected <= broken
        (entry,) = seeds.ask("FROM entries WHERE origin = 'imported'")
        assert entry["verification_tier"] == "ai_generated"
        unknown = ("first_seen", "last_confirmed", "last_updated", "confidence", "fix_success_rate")
        assert [entry[name] for name in unknown] == [None] * 5


def test_own_pages_give_documents_and_every_entry_keeps_the_rules(tmp_path: Path) -> None:
    names = ("issue_markdown", "pull_page_text", "repeated_text", "foreign_entry")
    home = Home(tmp_path, *(case_input(name) for name in names))
    documents = home.summary.stages[0]
    assert (documents.taken, documents.given) == (4, 4)
    assert home.ask("SELECT count(*) AS n FROM entries WHERE origin = 'imported'") == [{"n": 1}]
    run.export(home.places)
    assert validate.check_path(home.places.curated).problems == ()
