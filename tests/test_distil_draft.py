"""Distil, the reduce step: every number of a draft is counted from evidence, in any order of the input."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline import distil
from pipeline.distil.drafts import remedies, support
from pipeline.records import Claim, ClaimKind, Cluster, DocRecord, DocRemedy, Neighbour, Quote, Slot, entry
from pipeline.records.draft import Draft
from tests.distil_factory import document, events, facts, occurrences

FOLDER = Path(__file__).parent / "cases" / "distil"


def _case(name: str, number: int, posts: list[str] | None = None) -> dict[str, Any]:
    case = json.loads((FOLDER / name / "input.json").read_text("utf-8"))
    case["number"] = number
    if posts is not None:
        case["posts"] = case["posts"][:2] + [
            {"kind": "comment", "text": text, "author": f"u{i}", "role": "NONE", "at": f"2026-04-{i + 1:02d}T10:00:00Z"}
            for i, text in enumerate(posts)
        ]
    return case


def _drafted(cases: list[dict[str, Any]], *, seed: int = 0, **more: Any) -> Draft:
    """The draft of the first error of the first case, its cluster made of all signatures with the same text."""
    documents = [document(case) for case in cases]
    found = [(made, *events(made)) for made in documents]
    readings = [distil.read(*row) for row in found]
    first = found[0][2][0]
    members = tuple(sorted({s.signature_id for _, _, ss in found for s in ss if s.text == first.text}))
    cluster = Cluster(
        "cluster:0001", first.signature_id, first.exception_type, first.text, first.gate, members, "", 100.0
    )
    shown = [o for made in documents for o in occurrences(made)]
    claims = [c for r in readings for c in r.claims]
    counted = [facts(made) for made in documents]
    for part in (shown, claims, counted):
        random.Random(seed).shuffle(part)  # type: ignore[arg-type]
    return distil.draft(cluster, distil.Material(tuple(shown), tuple(claims), tuple(counted), **more))


OOR = "hint-environment-and-confirmed-advice"
THREE = [
    _case(OOR, 101, ["Setting `num_stages=1` fixed it.", "Setting `num_warps=4` did not help."]),
    _case(OOR, 102, ["Setting num_stages=1 solved the problem.", "Setting num_stages=1 really solved the problem."]),
    _case(OOR, 103, ["I tried setting `num_stages=1` but I still get the same error."]),
]


def test_the_same_act_in_three_threads_is_one_remedy_and_contradiction_is_shown() -> None:
    draft = _drafted(THREE)
    (told,) = (r for r in (*draft.workarounds, *draft.dead_ends) if r.key == "set|num_stages|1")
    assert (told.worked, told.failed) == (2, 1)
    assert told in draft.workarounds
    assert {r.key for r in draft.dead_ends} == {"set|num_warps|4"}
    assert draft.fix_success_rate == entry.rate(2, 2)


def test_every_number_is_counted_from_the_evidence() -> None:
    draft = _drafted(THREE)
    pieces = {e.evidence_id: e for e in draft.evidence}
    assert len({e.document_id for e in draft.evidence}) == 3
    assert draft.occurrence_count == 3
    for remedy in (*draft.workarounds, *draft.dead_ends):
        cited = [pieces[i] for i in remedy.action.evidence]
        assert remedy.worked == len({e.document_id for e in cited if e.role == "worked"})
        assert remedy.failed == len({e.document_id for e in cited if e.role == "failed"})
        assert set(remedy.sources) == {e.url for e in cited}
    for row in (*draft.environment, *draft.versions):
        assert row.count == len({pieces[i].document_id for i in row.evidence}) > 0


def test_one_occurrence_is_kept_for_each_document() -> None:
    draft = _drafted(THREE)
    documents = [e.document_id for e in draft.evidence if e.role == "occurrence"]
    assert len(documents) == len(set(documents)) == 3


def test_dates_come_from_evidence_and_are_in_order() -> None:
    draft = _drafted(THREE)
    assert draft.first_seen == "2026-03-01"
    assert draft.last_confirmed == draft.last_updated == "2026-04-02"


def test_an_error_that_is_met_again_below_is_confirmed_on_that_day() -> None:
    first = _case(OOR, 111)
    again = {"kind": "comment", "text": first["posts"][1]["text"], "author": "z", "at": "2026-05-20T10:00:00Z"}
    draft = _drafted([{**first, "posts": [*first["posts"], again]}, _case(OOR, 112, [])])
    assert (draft.first_seen, draft.last_confirmed) == ("2026-03-01", "2026-05-20")
    assert [e.posted_at for e in draft.evidence if e.role == "occurrence"].count("2026-05-20T10:00:00Z") == 1


def test_who_confirms_twice_in_one_thread_is_counted_once() -> None:
    twice = _case(OOR, 113, ["Setting `num_stages=1` fixed it.", "Again: setting `num_stages=1` fixed it for me."])
    for post in twice["posts"][2:]:
        post["author"] = twice["posts"][0]["author"]
    draft = _drafted([twice])
    (remedy,) = (r for r in draft.workarounds if r.key == "set|num_stages|1")
    assert (remedy.worked, draft.fix_success_rate) == (1, 1.0)


@pytest.mark.parametrize("is_one_person", [True, False])
def test_who_says_later_that_it_did_not_help_takes_back_that_it_did(is_one_person: bool) -> None:
    again = "I tried setting `num_stages=1` but I still get the same error."
    said = _case(OOR, 115, ["Setting `num_stages=1` fixed it.", again])
    if is_one_person:
        said["posts"][3]["author"] = said["posts"][2]["author"]
    draft = _drafted([said])
    (told,) = (r for r in (*draft.workarounds, *draft.dead_ends) if r.key == "set|num_stages|1")
    assert (told.worked, told.failed) == (0 if is_one_person else 1, 1)
    assert (told in draft.workarounds) != is_one_person


def test_an_entry_is_as_sure_as_the_best_of_what_it_says() -> None:
    advice = _case(OOR, 114, ["Use `num_warps=16` or fewer."])
    advice["posts"][2]["role"] = "MEMBER"
    for case, tier in ((advice, "maintainer_confirmed"), (THREE[0], "user_confirmed"), (THREE[2], "reported")):
        draft = _drafted([case])
        assert draft.tier == tier
        assert draft.tier == support.best_tier(r.tier for r in draft.workarounds)


def test_the_order_of_the_material_does_not_matter() -> None:
    assert _drafted(THREE, seed=1) == _drafted(THREE, seed=2)


def test_the_programs_own_numbers_are_the_cause_and_the_meaning() -> None:
    draft = _drafted(THREE)
    assert draft.cause is not None
    assert draft.cause.fact is not None
    assert draft.cause.fact.template == "cause.exceeds_bytes"
    assert dict(draft.cause.fact.slots) == {"resource": "shared memory", "required": "263168", "limit": "232448"}
    assert draft.root_cause_type == "program"
    assert draft.meaning is not None
    assert draft.meaning.template == "meaning.out_of_resource"
    assert (draft.domain, draft.category, draft.subcategory) == ("triton", "resource_limit", "shared_memory")
    assert draft.slugs[0] == "out-of-resources-shared-memory"


def _stated(role: str, words: str) -> dict[str, Any]:
    case = _case(OOR, 120, [words])
    case["posts"][2]["role"] = role
    return case


def test_a_maintainers_plain_statement_comes_before_the_programs_numbers() -> None:
    words = "This happens because the autotuner keeps a configuration that was measured on a larger device."
    draft = _drafted([_stated("MEMBER", words)])
    assert draft.cause is not None
    assert (draft.cause.text, draft.root_cause_type) == (words, "quoted")
    roles = {e.evidence_id: e for e in draft.evidence}
    assert [roles[i].quote for i in draft.cause.evidence] == [words]  # who only printed the numbers gave no cause


def test_a_cause_is_that_of_those_who_said_it_and_what_others_said_stays_as_evidence() -> None:
    words = "This happens because the autotuner keeps a configuration that was measured on a larger device."
    other = "This happens because the cache of the driver is stale."
    draft = _drafted([_stated("MEMBER", words), _stated("NONE", words), _stated("NONE", other)])
    assert draft.cause is not None
    pieces = {e.evidence_id: e for e in draft.evidence}
    assert [pieces[i].quote for i in draft.cause.evidence] == [words] * len(draft.cause.evidence)
    assert other in {e.quote for e in draft.evidence if e.role == "cause"}


def test_the_programs_numbers_come_before_what_users_say() -> None:
    words = "This happens because the autotuner keeps a configuration that was measured on a larger device."
    draft = _drafted([_stated("NONE", words)])
    assert draft.root_cause_type == "program"
    assert any(e.role == "cause" and e.quote == words for e in draft.evidence)


def test_where_occurrences_differ_a_pair_of_numbers_is_an_example() -> None:
    other = _case(OOR, 121)
    other["posts"][1]["text"] = other["posts"][1]["text"].replace("263168", "526336")
    draft = _drafted([*THREE, other])
    assert draft.cause is not None
    assert draft.cause.fact is not None
    assert draft.cause.fact.template == "cause.exceeds_bytes_example"


def test_parameters_say_how_the_occurrences_differ() -> None:
    other = _case(OOR, 104)
    other["posts"][1]["text"] = other["posts"][1]["text"].replace("263168", "526336")
    draft = _drafted([*THREE, other])
    required = next(p for p in draft.parameters if p.name == "required")
    assert (required.least, required.greatest, required.values[0], required.count) == (263168, 526336, "263168", 4)


def test_what_is_too_great_for_a_number_is_a_value_and_no_extreme() -> None:
    [shown, *_] = occurrences(document(THREE[0]))
    slots = (Slot("token", "3e8765", float("inf"), None), Slot("token", "7", 7.0, None))
    [found] = support.parameters([replace(shown, slots=slots)])
    assert (found.least, found.greatest, found.count) == (7.0, 7.0, 2)


def test_without_statements_rates_and_confidence_are_null() -> None:
    draft = _drafted([_case(OOR, 105, ["Same issue here."])])
    assert (draft.confidence, draft.fix_success_rate) == (None, None) or draft.root_cause_type == "program"
    assert draft.fix_success_rate is None
    assert draft.dead_ends == ()
    assert [r.worked + r.failed for r in draft.workarounds] == [0]
    assert draft.tier == "reported"
    assert draft.resolvable is None


def test_a_maintainers_word_raises_the_tier_and_a_users_confirmation_too() -> None:
    assert _drafted([_case("cause-fix-and-version", 106)]).tier == "maintainer_confirmed"
    assert _drafted([_case(OOR, 107, ["Setting `num_stages=1` fixed it."])]).tier == "user_confirmed"


def test_a_fix_makes_the_error_resolvable_and_is_a_remedy() -> None:
    draft = _drafted([_case("cause-fix-and-version", 108)])
    assert draft.resolvable == "true"
    assert "change|errmine-fixtures/kernels#77" in {r.key for r in draft.workarounds}
    assert draft.cause is not None
    assert draft.cause.text.startswith("The root cause is a stale socket")
    assert draft.root_cause_type == "quoted"
    assert ("PyTorch 2.3.0", "2.3.0") in {(v.version, v.introduced) for v in draft.versions}


def _page() -> distil.Official:
    summary = Quote(
        "openxla.org/xla/errors/error_1001",
        "https://openxla.org/xla/errors/error_1001",
        "0" * 64,
        10,
        40,
        "A page's own first paragraph.",
        "en",
        None,
        None,
        None,
    )
    remedy = DocRemedy("Retune", "Adjust sizes", "Take smaller sizes of `block_q`.", ("block_q",), 50, 82)
    record = DocRecord(
        "xla:E1001", "N", "T", None, None, (), None, summary.text, (), (), (), (remedy,), (), None, None, False
    )
    quote = replace(summary, start=50, end=82, text=remedy.text)
    return distil.Official(record, summary, (quote,))


def test_an_official_page_gives_cause_remedies_section_and_tier() -> None:
    draft = _drafted([_case(OOR, 109)], official=(_page(),))
    assert (draft.root_cause_type, draft.tier) == ("documented", "documented")
    assert draft.official_doc_url == "https://openxla.org/xla/errors/error_1001"
    assert draft.official_doc_section == "Retune"
    assert "Take smaller sizes of `block_q`." in {r.action.text for r in draft.workarounds if r.tier == "documented"}


def test_neighbours_are_confused_with_and_count_nothing() -> None:
    near = Neighbour("cluster:0000", "cluster:0001", 95.2, "gate resource: shared memory / threads")
    draft = _drafted(THREE, neighbours=(near, near))
    (edge,) = draft.graph.frequently_confused_with
    assert (edge.entry_id, edge.count, edge.reason) == ("cluster:0000", 0, near.reason)


def test_prose_remedies_join_only_with_equal_identifiers_and_polarity() -> None:
    def claim(text: str) -> Claim:
        words = Quote("d", "u", "0" * 64, 0, len(text), text, "en", None, None, None)
        return Claim("claim:1", ClaimKind.REMEDY, "worked.fixed_by", None, None, "", words, None, ())

    one = claim("Wrapping the step in a function fixed the crash for `run_step`.")
    assert remedies._is_same(one, claim("wrapping the step in a function fixed the crash for `run_step`"))
    assert not remedies._is_same(one, claim("Wrapping the step in a function fixed the crash for `run_loop`."))
    assert not remedies._is_same(one, claim("Not wrapping the step in a function fixed the crash for `run_step`."))
    assert not remedies._is_same(one, claim("Casting the input of the layer fixed a leak in `run_step`."))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"official": 0, "maintainers": 0, "users": 0, "against": 0}, None),
        ({"official": 0, "maintainers": 0, "users": 1, "against": 0}, 0.207),
        ({"official": 0, "maintainers": 0, "users": 5, "against": 0}, 0.566),
        ({"official": 1, "maintainers": 0, "users": 0, "against": 0}, 0.701),
        ({"official": 0, "maintainers": 0, "users": 0, "against": 2}, 0.0),
        ({"official": 0, "maintainers": 0, "users": 2, "against": 2}, 0.15),
    ],
)
def test_confidence_is_the_documented_formula(counts: dict[str, int], expected: float | None) -> None:
    assert support.confidence(**counts) == expected


def test_confidence_grows_with_support_and_falls_with_failures() -> None:
    values = [support.confidence(official=0, maintainers=0, users=n, against=1) or 0 for n in range(1, 30)]
    assert values == sorted(values)
    values = [support.confidence(official=0, maintainers=0, users=5, against=n) or 0 for n in range(10)]
    assert values == sorted(values, reverse=True)


def test_slugs_are_short_ascii_and_tell_look_alikes_apart() -> None:
    threads = json.loads((FOLDER / "environment-in-prose-lines" / "input.json").read_text("utf-8"))
    one, two = _drafted(THREE).slugs[0], _drafted([threads]).slugs[0]
    assert one != two
    for slug in (one, two, _drafted([_case("chinese-thread", 110)]).slugs[0]):
        assert slug.isascii()
        assert slug == slug.strip("-").lower()
        assert 0 < len(slug) <= 72


def test_errors_met_one_after_the_other_are_edges_with_evidence() -> None:
    case = json.loads((FOLDER / "one-error-after-another" / "input.json").read_text("utf-8"))
    made = document(case)
    found, signatures = events(made)
    first, second = signatures[0].signature_id, signatures[-1].signature_id
    read = distil.read(made, found, signatures)
    material = distil.Material(
        tuple(occurrences(made)),
        read.claims,
        (facts(made),),
        clusters=((first, "cluster:a"), (second, "cluster:b")),
    )
    one = Cluster("cluster:a", first, None, "t", (), (first,), "", 100.0)
    two = Cluster("cluster:b", second, None, "t", (), (second,), "", 100.0)
    (leads,) = distil.draft(one, material).graph.leads_to
    (preceded,) = distil.draft(two, material).graph.preceded_by
    assert (leads.entry_id, preceded.entry_id) == ("cluster:b", "cluster:a")
    assert (leads.count, len(leads.evidence)) == (1, 1)
    assert distil.draft(one, material).graph.preceded_by == []


def test_what_an_official_page_says_is_dated_by_its_landing() -> None:
    page = _page()
    landed = replace(page, record=replace(page.record, first_seen="2026-03-11", last_updated="2026-05-02"))
    pieces = [e for e in _drafted([_case(OOR, 109)], official=(landed,)).evidence if e.role == "official"]
    assert {e.posted_at for e in pieces} == {"2026-05-02"}
    pieces = [e for e in _drafted([_case(OOR, 109)], official=(page,)).evidence if e.role == "official"]
    assert {e.posted_at for e in pieces} == {None}
