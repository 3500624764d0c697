"""The words that commands print around what is known, in English, Chinese or both."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.ask import Digest, Saying, Thread


#: Threads that are named where nobody reported a fix.
_THREADS = 3


class Language(StrEnum):
    """In which language an entry is printed."""

    BOTH = "both"
    EN = "en"
    ZH = "zh"

    @property
    def each(self) -> Sequence[str]:
        """The languages that are printed, in their order."""
        return ("en", "zh") if self is Language.BOTH else (self.value,)


_WORDS = {
    "helped": ("Helped", "有效的办法"),
    "helped_one": ("Helped single projects", "在个别项目中有效"),
    "official": ("Official advice", "官方建议"),
    "suggested": ("Suggested, nobody confirmed it", "仅有建议，无人确认"),
    "tried": ("Did not help", "无效尝试"),
    "fixed_in": ("Fixed in", "已修复的版本"),
    "cause": ("Cause", "原因"),
    "cases": ("Cases: single projects that met it", "个案（遇到它的单个项目）"),
    "page": ("Official page", "官方文档"),
    "environment": ("Seen with", "出现环境"),
    "versions": ("Versions named", "提及的版本"),
    "evidence": ("Evidence", "证据"),
    "threads": ("Closest threads", "最接近的讨论"),
    "unknown": ("no entry", "没有条目"),
    "nearest": ("nearest", "最相近"),
    "follows": ("followed by", "随后出现"),
    "more": ("all that is known", "全部内容"),
    "condition": ("condition", "条件"),
    "yours": ("(yours)", "（与您的相同）"),
    "case.cause": ("cause", "原因"),
    "case.workaround": ("helped", "有效"),
    "case.suggested": ("suggested", "建议"),
    "case.dead_end": ("did not help", "无效"),
    "by_model": ("picked by a language model alone", "仅由模型给出"),
    "maintainer": ("maintainer", "维护者"),
    "contributor": ("contributor", "贡献者"),
    "user": ("user", "用户"),
    "state.open": ("open", "未关闭"),
    "state.closed": ("closed", "已关闭"),
    "in": ("in", "见于"),
    "source": ("source", "原文"),
    "role.occurrence": ("occurrence", "出现"),
    "role.cause": ("cause", "原因"),
    "role.workaround": ("suggested", "建议"),
    "role.worked": ("worked", "有效"),
    "role.failed": ("failed", "无效"),
    "role.fix": ("fix", "修复"),
    "role.version": ("version", "版本"),
    "role.environment": ("environment", "环境"),
    "role.official": ("official page", "官方文档"),
    "role.link": ("link", "关联"),
}


def word(key: str, lang: Language) -> str:
    """What is printed for `key`: a heading, a label, a role; in both languages with a dot between."""
    english, chinese = _WORDS.get(key) or (key.rpartition(".")[2], key.rpartition(".")[2])
    return " · ".join(dict.fromkeys({"en": english, "zh": chinese}[one] for one in lang.each))


def colon(lang: Language) -> str:
    """What stands between a label and what it labels."""
    return "：" if lang is Language.ZH else ": "


def bracketed(text: str, lang: Language) -> str:
    """What stands behind a word in brackets, with the space before them; "" where there is nothing to say."""
    if not text:
        return ""
    return f"（{text}）" if lang is Language.ZH else f" ({text})"


def day(time: str | None, lang: Language) -> str:
    """The day of an ISO time as the language writes it, "" where it is unknown."""
    from pipeline.text import written_day

    return written_day((time or "")[:10]) if lang is Language.ZH else (time or "")[:10]


def threads_to_read(known: Digest, lang: Language) -> list[tuple[Thread, str]]:
    """The first threads of an error, each with its state and day: those with an answer first, then the newest."""
    told = []
    for thread in known.threads[:_THREADS]:
        facts = (word(f"state.{thread.state}", lang) if thread.state else "", day(thread.posted_at, lang))
        told.append((thread, bracketed(", ".join(filter(None, facts)), lang)))
    return told


def tried(worked: int, failed: int, lang: Language) -> str:
    """In how many threads somebody said that it worked, and that it did not."""
    return f"有效 {worked}，无效 {failed}" if lang is Language.ZH else f"worked {worked}, failed {failed}"


def who(said: Saying, lang: Language) -> str:
    """Who said something, as far as the source tells, and when."""
    one = Language.ZH if lang is Language.ZH else Language.EN
    role = (
        "maintainer"
        if said.is_by_maintainer
        else {"CONTRIBUTOR": "contributor", "NONE": "user"}.get(said.author_role or "", "")
    )
    return ("，" if lang is Language.ZH else ", ").join(
        filter(None, (role and word(role, one), day(said.posted_at, one)))
    )
