"""Advice: which words may be passed on. One gate, asked wherever words of strangers are published.

Words are judged by what they make a machine or a model do, not by their spelling: commands are parsed, the values that
they hand to each other are followed, and what a command reads, runs, deletes, sends and opens is compared with tables.

    spelling.py   a text as those read it who follow it; pieces of code and prose
    shell.py      shell commands as a syntax tree (tree-sitter) read from left to right
    effects.py    where what commands run comes from; files and variables from one to the next: `exchanges` what comes
                  from the network and goes there, `interpreters` what they run, `outputs` what they print
    removals.py   deletion, disks, rights; `places` says of which folders and files
    installs.py   where software comes from; `origins` knows hosts, owners, names
    scripts.py    Python (`ast`), `walks` its loops
    understood.py commands in known shapes: what no row of commands.toml takes is not passed on; `snippets` says which
                  lines are commands, `pythonic` asks the same of Python
    sentences.py  what a sentence cites, told from what a command names
    prose.py      what sentences tell to do, and checks that a variable, an option or a sentence switches off
    reading.py    all of these asked of a statement
    addressed.py  words said to language models
    tables.py     the tables of data/advice

What is refused is a name of `KINDS`; docs/advice.md says what each refuses and what stays allowed, and why.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any, NamedTuple

from pipeline.records import warm

#: Every name that a refusal may have.
KINDS = (
    "runs-the-network", "hidden-code", "deletes", "credentials", "reverse-shell", "checks-off", "security-off",
    "safeguards-off", "foreign-source", "typosquat", "unreadable",
)  # fmt: skip


#: A statement is a sentence or a few; what is longer is not read.
_LONGEST = 20_000


class Refusal(NamedTuple):
    """Why words are not passed on."""

    reason: str  # of data/skip_reasons.toml
    detail: str  # the kind of act; never the words themselves


@lru_cache(maxsize=1 << 15)
def refusal(words: str, *, owners: tuple[str, ...] = ()) -> Refusal | None:
    """Why `words` are not passed on, None if they may be.

    Args:
        words: a statement as it would be published; the time is linear in its length.
        owners: accounts (lower case) of the repositories whose threads say it: what they publish is no stranger's.
    """
    if len(words) > _LONGEST:
        return Refusal("not_understood", "length")
    if not is_awake(words):
        return None
    from pipeline.lexicon.advice import addressed, origins, reading, snippets, spelling  # noqa: PLC0415  (most texts name nothing judged)

    readings = list(spelling.readings(words))
    act = next(filter(None, (reading.act(plain, owners) for plain in readings)), None)
    if act is not None:
        return Refusal("unsafe_action", act)
    if addressed.addresses_models(words, readings):
        return Refusal("addresses_models", "")
    if origins.is_mixed(words):
        return Refusal("unsafe_action", "hidden-code")
    unknown = snippets.not_understood(readings[-1], owners)
    return Refusal("not_understood", unknown) if unknown else None


def danger(words: str, *, owners: Collection[str] = ()) -> str | None:
    """The kind of act in `words` that is never passed on, None if there is none."""
    from pipeline.lexicon.advice import reading, spelling  # noqa: PLC0415

    return next(filter(None, (reading.act(plain, owners) for plain in spelling.readings(words))), None)


def talks_to_models(post: str) -> bool:
    """True if a whole post holds an order to models, or a prompt that somebody pasted."""
    from pipeline.lexicon.advice import addressed  # noqa: PLC0415

    return addressed.talks_to_models(post)


#: A comment of GitHub has at most 65,536 characters; what is longer is a log of another tracker.
_LONGEST_POST = 70_000


@lru_cache(maxsize=1 << 12)
def is_hostile(post: str, *, is_opening: bool) -> bool:
    """True if a whole post orders models to do something, so that nothing of it is advice; `is_opening`: it reports."""
    from pipeline.lexicon.advice import addressed  # noqa: PLC0415

    return addressed.is_hostile(post[:_LONGEST_POST], is_opening=is_opening)


# Whether a text is worth reading at all: nothing of it is parsed where no sign and no word asks for it.

_SIGNS = warm.pattern(
    r"[|$;&<>{\[(\\#\"'~*^%!\n\u0250-\u02af\u0370-\u052f\u115f-\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u1d00-\u1d7f\u2800\u3164\ua720-\ua7ff\ufe00-\ufe0f\ue000-\uf8ff\U000e0000-\U0010ffff]"
)
#: Marked words, and words that are to be run, may be a command of a program that no table has.
_MARKED = warm.pattern(
    r"`(?:[a-z./$~!%\\]|[A-Z]:\\|[A-Z][a-z]{1,12}-[A-Z]|[A-Z_]{1,60}=[^`\s]{0,200} [a-z./])"
    r"[^`\s]{0,200}[ \t][^`]{1,400}`"
    r"|\b(?:run|runs|running|ran|execut\w{1,3}|launch\w{0,3}|invok\w{1,3})\b[^\n]{0,80}(?:\s--?[a-z]|\d:\d)"
    r"|(?:运行|执行)[^\n]{0,60}(?:\s--?[a-z]|\d:\d)|[A-Za-z0-9+/]{40}"
)
_LEET = warm.pattern(r"[a-z][013457][a-z]|\b[013457][a-z]{2}")
_APART = warm.pattern(r"(?<!\w)[^\W\d_](?:[ ._/-]{1,3}[^\W\d_]){5}")
_TOKEN = warm.pattern(r"[a-z0-9_.+:-]+")


def is_awake(words: str) -> bool:
    """True if a text may hold what is judged."""
    plain = unicodedata.normalize("NFKC", words)
    folded = plain.lower()
    if _SIGNS.search(folded) or _MARKED.search(plain) or _APART.search(folded) or len(_LEET.findall(folded)) > 2:
        return True
    names, parts = _waking()
    tokens = {token.strip(".:") for token in _TOKEN.findall(folded)}
    tokens |= {part for token in tokens for part in re.split(r"[.:/]", token)}
    return not names.isdisjoint(tokens) or any(part in folded for part in parts)


@cache
def _waking() -> tuple[frozenset[str], tuple[str, ...]]:
    wake, programs, settings, commands = (_data(name) for name in ("wake", "programs", "settings", "commands"))
    names = {name for row, listed in programs.items() if row not in ("passing", "code_options") for name in listed}
    named = {name.lower() for kind in ("checks-off", "security-off", "safeguards-off") for name in settings[kind]}
    optional = {option.lower() for options in settings["options"].values() for option in options}
    names |= {name for row in commands["row"] for name in row["names"]} - set(commands["ambiguous"])
    names -= set(wake["everyday"])
    return frozenset(names | {f"{name}3" for name in names} | named | optional | set(wake["words"])), tuple(
        wake["parts"]
    )


def _data(name: str) -> dict[str, Any]:
    return warm.table(resources.files("pipeline").joinpath("data", "advice", f"{name}.toml").read_text("utf-8"))


# Which fields of an entry are words of strangers, and which of those are not passed on.

#: Fields with words of strangers: alone, in lists of objects, in lists.
SINGLE = ("root_cause", "root_cause_zh", "official_doc_section")
LISTS = {
    "workarounds": ("action", "how", "condition"),
    "dead_ends": ("action", "why_fails", "condition"),
    "versions": ("version", "introduced", "deprecated", "removed", "behavior_change"),
    "environment": ("name", "value"),
    "evidence": ("quote",),
    "leads": ("quote",),
}
#: Of each statement of a case.
SAID = ("text", "text_zh", "how", "condition", "why_fails")
PLAIN_LISTS = ("workarounds_zh", "dead_ends_zh", "tags")
#: What shows the error itself: it may say anything.
_SHOWN = "occurrence"


def refused(entry: Mapping[str, Any]) -> Iterator[tuple[str, Refusal]]:
    """(place, why) of each statement of `entry`, anybody's JSON, that is not passed on; the error's own words stay."""
    owners = tuple(sorted(_owners(entry)))
    for place, words in statements(entry):
        found = refusal(words, owners=owners)
        if found is not None:
            yield place, found


def statements(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(place, words) of each statement."""
    for name in SINGLE:
        yield from _text(name, entry.get(name))
    for name, fields in LISTS.items():
        for number, item in enumerate(_listed(entry, name)):
            if not isinstance(item, Mapping) or (name == "evidence" and item.get("role") == _SHOWN):
                continue
            for field in fields:
                yield from _text(f"{name}[{number}].{field}", item.get(field))
            yield from _replied(f"{name}[{number}]", item)
            if isinstance(beside := item.get("passage"), Mapping):
                yield from _text(f"{name}[{number}].passage.quote", beside.get("quote"))
    yield from _said_in_cases(entry)
    yield from _documented(entry)
    for name in PLAIN_LISTS:
        for number, item in enumerate(_listed(entry, name)):
            yield from _text(f"{name}[{number}]", item)
    systems = entry.get("os_specific")
    for system, quotes in systems.items() if isinstance(systems, Mapping) else ():
        for number, quote in enumerate(quotes if isinstance(quotes, list | tuple) else ()):
            yield from _text(f"os_specific.{system}[{number}]", quote)


def _documented(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    told = entry.get("documentation")
    if isinstance(told, Mapping):
        checks = [one for one in _listed(told, "checks") if isinstance(one, Mapping)]
        for place, part in (("", told), *((f".checks[{number}]", one) for number, one in enumerate(checks))):
            for field in ("text", "text_zh"):
                yield from _text(f"documentation{place}.{field}", part.get(field))


def _said_in_cases(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for number, case in enumerate(_listed(entry, "cases")):
        for place, item in enumerate(_listed(case, "statements") if isinstance(case, Mapping) else ()):
            for field in SAID if isinstance(item, Mapping) else ():
                yield from _text(f"cases[{number}].statements[{place}].{field}", item.get(field))
            if isinstance(item, Mapping):
                yield from _replied(f"cases[{number}].statements[{place}]", item)


def _replied(place: str, item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for number, reply in enumerate(_listed(item, "replies")):
        if isinstance(reply, Mapping):
            yield from _text(f"{place}.replies[{number}].quote", reply.get("quote"))


def _text(place: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and value:
        yield place, value


def _listed(entry: Mapping[str, Any], name: str) -> list[Any]:
    listed = entry.get(name)
    return list(listed) if isinstance(listed, list | tuple) else []


def _owners(entry: Mapping[str, Any]) -> Iterator[str]:
    for piece in (*_listed(entry, "evidence"), *_listed(entry, "leads")):
        repo = piece.get("repo") if isinstance(piece, Mapping) else None
        if isinstance(repo, str) and repo:
            yield repo.partition("/")[0].lower()
