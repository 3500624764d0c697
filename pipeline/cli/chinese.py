"""One entry for people who read Chinese: Chinese first, the words of the source below it where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.cli.output import place_of_case, print_block, say
from pipeline.lexicon import vocabulary
from pipeline.text import written_day

#: What a piece of evidence says of the error.
ROLES = {
    "occurrence": "出现",
    "cause": "原因",
    "workaround": "建议",
    "worked": "有效",
    "failed": "无效",
    "fix": "修复",
    "version": "版本",
    "environment": "环境",
    "official": "官方文档",
    "link": "关联",
}
#: What a statement of a case is.
_SAID = {"cause": "原因", "workaround": "有效", "dead_end": "无效"}
_MOST_EVIDENCE = 10


def print_entry_zh(entry: dict[str, Any]) -> None:
    """Print an entry in Chinese: headings, labels and dates too; what has no Chinese stands in its own language."""
    say(entry["id"], style="bold")
    _print_pair(entry["signature_zh"], entry["signature"], "")
    days = list(dict.fromkeys(day for day in (entry["first_seen"], entry["last_confirmed"]) if day))
    facts = [
        vocabulary.label("domains", entry["domain"], "zh") or entry["domain"],
        vocabulary.label("categories", entry["category"], "zh") or entry["category"],
        vocabulary.label("tiers", entry["verification_tier"], "zh") or entry["verification_tier"],
        f"{entry['evidence_count']:,} 份文档，出现 {entry['occurrence_count']:,} 次",
        " 至 ".join(map(written_day, days)),
    ]
    say(" · ".join(filter(None, facts)), style="dim")
    if entry["root_cause"] or entry["root_cause_zh"]:
        labels = (
            vocabulary.label("root_cause_types", entry["root_cause_type"] or "", "zh"),
            vocabulary.label("cause_types", entry.get("cause_type") or "", "zh"),
        )
        kind = "；".join(filter(None, labels))
        say(f"\n原因{f'（{kind}）' if kind else ''}", style="bold")
        _print_pair(entry["root_cause_zh"], entry["root_cause"], "")
    _print_remedies("\n变通方法", entry["workarounds"], entry["workarounds_zh"])
    _print_remedies("\n无效尝试", entry["dead_ends"], entry["dead_ends_zh"])
    _print_cases(entry.get("cases", ()))
    if entry["official_doc_url"]:
        section = _official(entry["official_doc_section"] or "")
        say(f"\n官方文档：{entry['official_doc_url']}{f'（{section}）' if section else ''}")
    say("\n证据", style="bold")
    for piece in entry["evidence"][:_MOST_EVIDENCE]:
        say(f"  {ROLES.get(piece['role'], piece['role'])}：“{' '.join(piece['quote'].split())}”")
        say(f"    {piece['url']} {written_day((piece['posted_at'] or '')[:10])}", style="dim")
    if len(entry["evidence"]) > _MOST_EVIDENCE:
        say(f"  另有 {len(entry['evidence']) - _MOST_EVIDENCE} 条：`errmine show {entry['id']} --json`")


def _official(text: str) -> str:
    """A heading of an official page in Chinese where it was translated, else as it is."""
    from pipeline.translate import official

    return official.chinese(text) or text


def _print_remedies(title: str, remedies: Sequence[dict[str, Any]], chinese: Sequence[str | None]) -> None:
    if not remedies:
        return
    say(title, style="bold")
    for remedy, zh in zip(remedies, chinese, strict=True):
        machine = "，仅由模型给出" if remedy.get("tier") == "ai_generated" else ""
        _print_pair(zh, remedy["action"], "  - ", f"  [有效 {remedy['worked']}，无效 {remedy['failed']}{machine}]")
        if remedy.get("how"):
            say(f"    {' '.join(_official(remedy['how']).split())}")
        if remedy["condition"]:
            say(f"    条件：{remedy['condition']}", style="dim")


def _print_cases(cases: Sequence[dict[str, Any]]) -> None:
    if not cases:
        return
    say("\n个案（遇到它的单个项目）", style="bold")
    for case in cases:
        say(f"  {place_of_case(case)}")
        for said in case["statements"]:
            tried = f"  [有效 {said['worked']}，无效 {said['failed']}]" if said["worked"] or said["failed"] else ""
            _print_pair(said["text_zh"], said["text"], f"  - {_SAID.get(said['kind'], said['kind'])}：", tried)
            print_block(said["text"], said["how"])
            if said["condition"]:
                say(f"    条件：{said['condition']}", style="dim")


def _print_pair(chinese: str | None, source: str | None, lead: str, behind: str = "") -> None:
    """The Chinese, and below it the words that it was made from; those alone where there is none."""
    first = chinese or source
    if first:
        say(f"{lead}{' '.join(first.split())}{behind}")
    if chinese and source and source != chinese:
        say(f"{'    ' if lead else ''}原文：{' '.join(source.split())}", style="dim")
