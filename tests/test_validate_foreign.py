"""Foreign JSON: every defect named, nothing crashes; and what becomes of it when it is imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import export, validate
from tests import entry_factory as make

CASES = sorted((Path(__file__).parent / "cases" / "validate").iterdir())
SEED = Path(__file__).parents[2] / "shared" / "seeds" / "000_a1f540425b4e9d05.txt"


def found(problems: list[validate.Problem] | tuple[validate.Problem, ...]) -> set[tuple[str, str]]:
    return {(problem.rule, problem.place) for problem in problems}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_defect_of_a_case_is_named(case: Path) -> None:
    expected = json.loads((case / "expected.json").read_text())
    report = validate.check_path(case / "input.json")
    assert sorted({problem.rule for problem in report.problems}) == expected["rules"]
    for rule, place in expected["places"]:
        assert (rule, place) in found(report.problems)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_imported_is_accepted_and_unproven(case: Path) -> None:
    expected = json.loads((case / "expected.json").read_text())
    if "imported" not in expected:
        with pytest.raises(ValueError, match="signature"):
            validate.imported((case / "input.json").read_text())
        return
    entry = validate.imported((case / "input.json").read_text())
    assert isinstance(validate.verdict(entry), validate.Accepted)
    made = entry.model_dump()
    assert {name: made[name] for name in expected["imported"]} == expected["imported"]


@pytest.mark.shared
@pytest.mark.skipif(not SEED.exists(), reason="../shared is not here")
def test_the_seed_entry_shows_all_its_defects() -> None:
    report = validate.check_path(SEED)
    wanted = {
        ("dates_ordered", "first_seen"),
        ("action_present", "dead_ends[0].action"),
        ("action_present", "dead_ends[1].action"),
        ("zh_is_chinese", "workarounds_zh[0]"),
        ("zh_is_chinese", "workarounds_zh[1]"),
        ("zh_is_chinese", "signature_zh"),
        ("evidence_count", "evidence_count"),
        ("how_adds", "workarounds[0].how"),
        ("rates_counted", "workarounds[1].success_rate"),
        ("rates_counted", "dead_ends[0].fail_rate"),
        ("fix_rate_counted", "fix_success_rate"),
        ("confidence_counted", "confidence"),
        ("regex_bounded", "regex"),
        ("action_names_quoted", "workarounds[1].action"),
        ("schema", "schema_version"),
        ("schema", "evidence"),
        ("schema", "provenance"),
    }
    assert wanted <= found(report.problems)


@pytest.mark.shared
@pytest.mark.skipif(not SEED.exists(), reason="../shared is not here")
def test_the_seed_entry_is_imported_unproven() -> None:
    entry = validate.imported(SEED.read_text())
    assert entry.id == "cuda/triton-compilation-llvm-crash"
    assert (entry.verification_tier, entry.confidence, entry.first_seen, entry.evidence_count) == (
        "ai_generated",
        None,
        None,
        0,
    )
    assert (entry.dead_ends, entry.workarounds_zh) == ([], [None, None])
    assert isinstance(validate.verdict(entry), validate.Accepted)


def test_imported_chinese_that_passes_its_gates_is_not_called_a_machine_s() -> None:
    payload = {
        "signature": "RuntimeError: it broke",
        "root_cause": "The cache folder is not writable.",
        "root_cause_zh": "缓存文件夹不可写。",
        "workarounds": [{"action": "Restart the server."}],
        "workarounds_zh": ["Restart the server."],
    }
    entry = validate.imported(json.dumps(payload))
    said = {field: (told.status, told.engine) for field, told in entry.translations.items()}
    assert said["root_cause_zh"] == ("imported_checked", "imported")
    assert said["workarounds_zh[0]"] == ("untranslated", None)
    assert (entry.root_cause_zh, entry.workarounds_zh) == ("缓存文件夹不可写。", [None])
    assert isinstance(validate.verdict(entry), validate.Accepted)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=120, deadline=None)
@given(field=st.sampled_from(sorted(make.raw_entry())), value=JSON)
def test_any_value_in_any_field_is_judged_without_a_crash(field: str, value: Any) -> None:
    for problem in validate.check({**make.raw_entry(), field: value}):
        assert problem.rule
        assert str(problem)


@settings(max_examples=80, deadline=None)
@given(
    part=st.sampled_from(["evidence", "workarounds", "dead_ends", "versions", "translations", "transition_graph"]),
    value=JSON,
)
def test_odd_items_are_judged_and_imported_without_a_crash(part: str, value: Any) -> None:
    raw = {**make.raw_entry(), part: [value, {"action": value, "how": value, "evidence": value}]}
    validate.check(raw)
    made = validate.imported(json.dumps(raw))
    assert made.verification_tier == "ai_generated"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "Expecting value"),
        ("[1]", "int"),
        ('{"id": NaN}', "NaN"),
        ('{"id": 1, "id": 2}', "twice"),
        ("[" * 100_000, "nested too deep"),
        ("{'id': 1}", "Expecting property name"),
    ],
)
def test_json_that_is_no_entry_is_named(body: str, message: str) -> None:
    _, problems = validate.check_text(body)
    assert any(message in problem.message for problem in problems)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"id": "\xff"}')
    assert "UTF-8" in validate.check_path(tmp_path / "latin.json").problems[0].message
    assert validate.check_path(tmp_path / "absent.json").problems[0].rule == "file"
    (tmp_path / "empty").mkdir()
    assert validate.check_path(tmp_path / "empty").problems[0].rule == "file"


def test_a_file_of_lines_is_read_line_by_line(tmp_path: Path) -> None:
    good = json.dumps(make.raw_entry())
    (tmp_path / "e.jsonl").write_text(f"{good}\n{good}\n{{broken}}\n")
    report = validate.check_path(tmp_path / "e.jsonl")
    assert (report.kind, report.entry_count) == ("entries", 3)
    assert found(report.problems) == {("json", "line 3")}


# ---------------------------------------------------------------- bundles


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    export.write(tmp_path / "curated", [make.entry()], facts=export.Facts(clusters=(make.CLUSTER,)))
    return tmp_path / "curated"


def rules(folder: Path) -> set[str]:
    return {problem.rule for problem in validate.check_path(folder).problems}


PAGE = "entries/triton/out-of-resources-shared-memory.json"


def test_a_sound_bundle_has_no_problems(bundle: Path) -> None:
    (bundle / "errmine.duckdb").write_bytes(b"not of the bundle")
    report = validate.check_path(bundle)
    assert (report.kind, report.entry_count, report.problems) == ("bundle", 1, ())


def test_a_changed_file_is_named(bundle: Path) -> None:
    (bundle / "entries.parquet").write_bytes(b"changed")
    assert found(validate.check_path(bundle).problems) == {("bundle_files", "entries.parquet")}


def test_a_missing_file_is_named(bundle: Path) -> None:
    (bundle / PAGE).unlink()
    assert rules(bundle) == {"bundle_files", "bundle_pages"}


@pytest.mark.parametrize("name", ["extra.json", "schemas/extra.json"])
def test_a_file_too_many_is_named(bundle: Path, name: str) -> None:
    (bundle / name).write_text("{}")
    assert found(validate.check_path(bundle).problems) == {("bundle_files", name)}


def test_what_a_repository_says_beside_a_bundle_is_not_of_it(bundle: Path) -> None:
    (bundle / "README.md").write_text("What `make run` made.")
    assert validate.check_path(bundle).problems == ()


def test_of_a_damaged_file_the_cause_is_told_first_and_its_consequences_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    export.write(folder, [make.entry(id=f"triton/error-{n}", cluster_id=f"{n:016x}") for n in range(40)])
    assert validate.check_path(folder).problems == ()
    (folder / "entries.jsonl").write_bytes((folder / "entries.jsonl").read_bytes()[:300])
    problems = validate.check_path(folder).problems
    assert (problems[0].rule, problems[0].place) == ("bundle_files", "entries.jsonl")
    assert {"json", "bundle_pages", "bundle_counts", "bundle_references"} <= {one.rule for one in problems}
    assert len(problems) < 12
    assert [one.message[:7] for one in problems if one.rule == "bundle_pages"][1:] == ["39 more"]


def test_a_page_that_differs_is_named(bundle: Path) -> None:
    page = (bundle / PAGE).read_text()
    (bundle / PAGE).write_text(page.replace("Raise num_warps.", "Raise num_stages."))
    assert rules(bundle) == {"bundle_files", "bundle_pages"}


def test_a_bundle_without_manifest_is_not_whole(bundle: Path) -> None:
    (bundle / "manifest.json").unlink()
    assert "bundle_manifest" in rules(bundle)


def test_a_manifest_that_counts_wrongly_or_points_outside_is_named(bundle: Path) -> None:
    raw = json.loads((bundle / "manifest.json").read_text())
    raw["counts"]["entries"] = 7
    raw["answers"][0]["answered"] += 1
    raw["files"].append({"path": "../../etc/passwd", "sha256": "0" * 64, "bytes": 1})
    (bundle / "manifest.json").write_text(json.dumps(raw))
    domain = f"answers.{raw['answers'][0]['domain']}"
    wrong = {("bundle_counts", "counts.entries"), ("bundle_counts", domain), ("bundle_files", "../../etc/passwd")}
    problems = validate.check_path(bundle).problems
    assert wrong <= found(problems)
    assert [one.place for one in problems if "export it again" in one.message] == [domain]


def test_a_broken_manifest_is_named(bundle: Path) -> None:
    (bundle / "manifest.json").write_text("{}")
    assert rules(bundle) == {"bundle_manifest"}


def test_an_edge_to_no_entry_and_a_former_id_in_use_are_named(tmp_path: Path) -> None:
    edge = {"entry_id": "triton/nowhere", "count": 0, "reason": "alike", "evidence": []}
    graph = {"leads_to": [], "preceded_by": [], "frequently_confused_with": [edge]}
    entries = [
        make.entry(transition_graph=graph),
        make.entry(id="triton/other", aliases=["triton/out-of-resources-shared-memory"]),
    ]
    export.write(tmp_path / "c", entries)
    assert rules(tmp_path / "c") == {"bundle_references", "bundle_ids"}


def _canon() -> dict[str, object]:
    return {
        "schema_version": "1.0.0",
        "id": "shop/till-closed/any",
        "error": {"signature": "TillError: it is closed", "regex": "it.*closed", "domain": "shop", "category": "till"},
        "environment": {"runtime": {"name": "till", "version_range": ">=1"}, "os": "linux"},
        "verdict": {"resolvable": "true", "fix_success_rate": 0.9, "confidence": 0.9, "summary": "It is evening."},
        "dead_ends": [],
        "workarounds": [{"action": "Open it.", "success_rate": 0.9, "how": "Open it.", "sources": []}],
        "transition_graph": {"leads_to": [], "preceded_by": [], "frequently_confused_with": []},
        "metadata": {"evidence_count": 50},
    }  # fmt: skip


def test_what_an_errorcanon_file_says_is_judged_by_the_same_rules_and_its_form_is_no_defect() -> None:
    rules = {problem.rule for problem in validate.check(_canon())}
    assert {"evidence_count", "rates_counted", "fix_rate_counted", "regex_bounded", "how_adds"} <= rules
    assert not rules & {"schema", "vocabulary", "zh_explained", "id_form"}


def test_an_errorcanon_file_of_any_shape_is_judged_without_a_crash() -> None:
    for part in ("environment", "dead_ends", "workarounds", "transition_graph", "metadata"):
        for value in (None, 7, "x", [], [7], {}, {"leads_to": 7}):
            assert isinstance(validate.check({**_canon(), part: value}), list)


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JAVASCRIPT:1", " javascript:1", "data:text/html,x", "file:///x", "//x.org/a"],
)
def test_an_address_that_a_browser_would_run_is_dropped_counted_and_in_no_export(address: str) -> None:
    way = {"action": "Set A=1.", "sources": [address, "https://x.org/a"]}
    payload = {"signature": "x failed", "workarounds": [way], "official_doc_url": address, "root_cause": "y"}
    entry = validate.imported(json.dumps(payload))
    assert entry.workarounds[0].sources == ["https://x.org/a"]
    assert entry.official_doc_url is None
    assert entry.provenance.rules["import.source_no_web_address"] == 1
    assert ("addresses_of_the_web", "workarounds[0].sources[0]") in found(validate.check(payload))
    # a bundle made elsewhere may have it all the same
    made = [remedy.model_copy(update={"sources": [address]}) for remedy in entry.workarounds]
    foreign = entry.model_copy(update={"workarounds": made, "official_doc_url": address})
    for form in ("markdown", "errorcanon"):
        assert not any(address in text for _, text in export.forms.FORMS[form]([foreign]))
