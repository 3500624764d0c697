"""What names people: home folders, mail addresses, prompts of shells, mentions. Rows and words: secrets/people.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pipeline.records import warm
from pipeline.text.names import Column, Named, named_rules
from pipeline.text.tokens import PlaceGate, Span

# The longest name in front of an @ that mail allows.
_MAX_NAME = 64
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-\\"
_PROMPT_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

_LETTERS = warm.pattern(r"[a-z]+")
#: Behind these a path is one of a site: https://example.com/home/docs.
_SITES = tuple(f".{end}{slash}" for end in ("com", "org", "net", "io", "cn") for slash in ("/", "\\/", ""))
# A folder's name: of any letters where a folder follows, of ASCII where prose may.
_NAME = r"(?P<name>[\w.@+$~-]{1,64}(?:\\{0,4} [A-Z][\w.-]{0,31})?(?=\\{0,4}/)|[A-Za-z0-9_][A-Za-z0-9_.@+~-]{0,63})"
_WINDOWS = r"(?P<name>[^\\/:*?\"<>|\s]{1,64}(?: [^\\/:*?\"<>|\s]{1,32}){0,2}(?=[\\/])|[^\\/:*?\"<>|\s]{1,64})"


@dataclass(frozen=True, slots=True)
class Folder:
    """Folders whose next part is a person's name."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    pattern: re.Pattern[str]
    keep: frozenset[str]  # names of nobody, in small letters
    is_sure: bool  # else a name that has a word of nobody's in it is nobody's as well
    start: re.Pattern[bytes] | None  # what stands where a keyword does, in a text without quoting

    def place_gate(self, keyword: str) -> PlaceGate | None:
        """What has to stand at a place of the keyword in a text without quoting; None if anything may."""
        return self.start.match if self.start else None

    def spans(self, text: str) -> Iterator[Span]:
        """The places of the names."""
        for match in self.pattern.finditer(text):
            name = match["name"].rstrip(".")
            words = {name.lower()} if self.is_sure else {name.lower(), *_LETTERS.findall(name.lower())}
            if name and words.isdisjoint(self.keep) and not text.endswith(_SITES, 0, match.start()):
                yield (match.start("name"), match.start("name") + len(name), "user")


@dataclass(frozen=True, slots=True)
class Address:
    """Mail addresses."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    pattern: re.Pattern[str]  # from the @ to the end of the domain
    keep: frozenset[str]
    ends: frozenset[str]  # last parts of a domain
    attributes: frozenset[str]  # those of them that are no address where a call follows
    words: Mapping[str, frozenset[str]]  # what tells addresses from files: rows of `mail`

    def spans(self, text: str) -> Iterator[Span]:
        """The places of addresses, whatever follows them."""
        done = 0
        for match in self.pattern.finditer(text):
            head = text[max(done, match.start() - _MAX_NAME) : match.start()]
            name = head[len(head.rstrip(_NAME_LETTERS)) :].lstrip("\\.%")
            end = self._end(text, match)
            if name and self._is_nobody(name, match["domain"]):
                continue
            if name and end and name not in self.keep and self._is_no_file(text, match.start() - len(name), match, end):
                yield (match.start() - len(name), end, "<email>")
                done = end

    def _is_nobody(self, name: str, domain: str) -> bool:
        """Whether no person reads it: an address for no answers, or one of an office in a domain kept for examples."""
        name = name.lower()
        return name in _UNREAD or ((name in self.words["roles"] or name in _ANYBODY) and domain.lower() in _RESERVED)

    def _end(self, text: str, match: re.Match[str]) -> int:
        """Behind the last part that is a top-level domain; 0 if none is, or if it is an attribute of something."""
        end = match.end()
        parts = [part.lower() for part in re.split(r"[.\\\s()\[\]]+", match["domain"])]
        while len(parts) > 1 and parts[-1] not in self.ends:
            end -= len(parts.pop()) + 1
            end -= text[end - 1] == "\\"
        if len(parts) < 2 or (len(parts) > 2 and all(part.isdigit() for part in parts[:-1])):
            return 0
        follows = text[end : end + 1]
        if follows == "_" or (parts[-1] in self.attributes and (follows in ("(", "[") or end != match.end())):
            return 0
        return end

    def _is_no_file(self, text: str, start: int, match: re.Match[str], end: int) -> bool:
        """False where the domain ends as a file does and nothing says that it is one."""
        name = text[start : match.start()].rstrip("\\").lower()
        *labels, last = re.split(r"[.\\\s()\[\]]+", text[match.start("domain") : end].lower())
        if last not in self.words["files"]:
            return True
        if not _PLAIN_NAME.match(name) or _GOES_ON_AS_FILE.match(text, end):
            return False
        if any(label in self.words["stems"] or label.startswith("lib") for label in labels):
            return False
        before = _LAST_WORD.search(text[max(0, start - _LONGEST_WORD) : start])
        is_introduced = before is not None and (before[2] == "<" or before[1].lower() in self.words["introduced"])
        if is_introduced or len(labels) > 1 or name in self.words["roles"]:
            return True
        is_shaped = re.search(r"[.+-]", name) is not None and len(name) > 2
        return is_shaped or (
            last in self.words["domains"] and text[start:end].islower() and _HOST.match(labels[-1]) is not None
        )


_UNREAD = frozenset(("noreply", "no-reply", "donotreply", "do-not-reply"))
_ANYBODY = frozenset(
    ("user", "username", "you", "your", "your-email", "youremail", "me", "name", "test", "foo", "someone")
)
#: RFC 2606.
_RESERVED = frozenset(("example.com", "example.org", "example.net"))
_PLAIN_NAME = warm.pattern(r"(?!_)[a-z][a-z0-9]*(?:[._+-][a-z0-9]+)*$|[a-z]+[0-9]*$")
_GOES_ON_AS_FILE = warm.pattern(r":\d|\.\w|[(\[/]")
_HOST = warm.pattern(r"[a-z][a-z0-9-]{2,}$")
_LAST_WORD = warm.pattern(r"([^\W\d_]*:?)[ \t]{0,3}([<(：:]?)[ \t]{0,3}$")
_LONGEST_WORD = 24
_WORD_BEFORE = warm.pattern(r"@(?<=[\w\\]@)\w")
#: An @ as it is written in addresses: itself, escaped, full-width, in a URL, in HTML, in JSON, in words.
_ATS = {
    "@": "@",
    "\uff20": "\uff20",
    "%40": "%40",
    "&#64;": "&#64;",
    "\\u0040": r"\\{1,4}u0040",
    "(at)": r"\(at\) ?",
    "[at]": r"\[at\] ?",
}
_DOMAIN = (
    r"(?P<domain>(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\?\.| ?[\[(](?:dot|DOT)[\])] ?)){1,5}"
    r"[A-Za-z][A-Za-z0-9-]{1,23})"
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a shell writes before a command: `ann@gpu07:~/run$`."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    keep: frozenset[str]

    def spans(self, text: str) -> Iterator[Span]:
        """The places of names with their machines."""
        done = 0
        for match in _PROMPT.finditer(text):
            head = text[max(done, match.start() - _MAX_NAME) : match.start()]
            name = head[len(head.rstrip(_PROMPT_LETTERS)) :]
            if name and name not in self.keep and not (name == "root" and match[0].endswith("@localhost")):
                yield (match.start() - len(name), match.end(), "user@host")
                done = match.end()


_PROMPT = warm.pattern(
    r"@[A-Za-z0-9][\w.-]{0,63}(?=:(?!//)[~/]|:\s?\$| [~/\w.-]{1,100}[^\n\]@]{0,40}\][$#]|:[\w.-]{1,60}\$ )"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Mentions, `@login`, in prose: not in code, where an @ says other things."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    nobody: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]
    in_code: Mapping[str, frozenset[str]]

    def spans(self, text: str) -> Iterator[Span]:
        """The places of the logins, without their @."""
        found = [match for match in _MENTION.finditer(text) if self._is_person(text, match)]
        if found:
            prose = tuple(_prose(text))
            for match in found:
                if any(a <= match.start() < b for a, b in prose) or self._is_person_in_code(text, match):
                    yield (*match.span("name"), "user")

    def _is_person_in_code(self, text: str, match: re.Match[str]) -> bool:
        """Whether the words of a line of code around the @ say that somebody is meant."""
        name = match["name"]
        if name.lower() in self.in_code["nobody"]:
            return False
        line_start = _line_start(text, match.start())
        head = text[line_start : match.start()]
        after = _FIRST_WORD_BEHIND.match(text, match.end())
        comment = _COMMENT.search(head)
        if _ANNOTATION.match(name):
            return (
                comment is not None and self._is_addressed(head) and _ENDS_CLAUSE.match(text, match.end()) is not None
            )
        if self._is_addressed(head) and not _CODE_IN_FRONT.search(head):
            return True
        if comment is None:
            is_first = not head.strip("> \t") or (after is not None and after[0][0] == ",")
            word = _ASKED.match(text, match.end())
            return is_first and word is not None and word[1].lower() in self.in_code["asked"]
        if after and after[0].strip(" ,:)").lower() in self.in_code["after"]:
            return True
        said = head[comment.end() :].strip(" *-")
        is_called = after is not None and after[0][0] in ",:"
        return bool(said or is_called) and _LIKE_A_LOGIN.match(name) is not None

    def _is_named(self, head: str, tail: str) -> bool:
        """Whether the words in front of an @ and behind the name are such as stand around people's names."""
        word = _SAID.match(tail)
        return self._is_addressed(head) or (word is not None and word[1].lower() in self.in_code["said"])

    def _is_addressed(self, head: str) -> bool:
        """Whether the last word in front of an @ is one that is written in front of people's names."""
        word = _WORD_IN_FRONT.search(head)
        return word is not None and word[0].strip(" :,").lower() in self.in_code["before"]

    def _is_person(self, text: str, match: re.Match[str]) -> bool:
        name = match["name"].lower()
        if name in self.nobody or name.endswith("bot"):
            return False
        line_start = _line_start(text, match.start())
        head = text[line_start : match.start()].rstrip()
        line_end = text.find("\n", match.end(), match.end() + _LONGEST_LINE)
        tail = text[match.end() : line_end if line_end >= 0 else match.end() + _LONGEST_LINE]
        is_of_code = "_" in name or name in self.in_code["nobody"] or _CODE_LINE.search(tail) is not None
        # repositories of Bazel have underscores, and files are from them
        if is_of_code and (head.endswith("from") or not self._is_named(f"{head[-_LONGEST_WORD:]} ", tail)):
            return False
        if head.count("`") % 2:
            return False
        if head.rpartition(" ")[2].lower().lstrip("(*_") in self.before:
            return False
        if (word := _FIRST_WORD.match(tail)) and word[0].strip().lower() in self.after:
            return False
        if head.strip("> \t|*-") == "" and not tail.strip():
            below = _NEXT_LINE.match(text, line_end + 1) if line_end >= 0 else None
            return below is None or _DECORATED.match(below[1]) is None
        return True


_MENTION = warm.pattern(
    r"@(?:(?<![A-Za-z0-9_./:`@=%&#$+<>\[{!|^~-]@)|(?<=\\n@)|(?<=\[@)(?=[A-Za-z0-9-]{1,39}\]\())"
    r"(?P<name>(?!0x|v?[0-9]+\b)[A-Za-z0-9](?:[A-Za-z0-9]|[-_](?=[A-Za-z0-9])){1,38})"
    r"(?![A-Za-z0-9_(\[{=@$<-]|/|:[A-Za-z0-9/]|\.[A-Za-z0-9_]|::|\\_)"
)
_LONGEST_LINE = 300
_ENDS_CLAUSE = warm.pattern(r"[,:;)]|\.?[ \t]*$", re.MULTILINE)
_ANNOTATION = warm.pattern(r"[A-Z][a-z]+[A-Z]")
_LIKE_A_LOGIN = warm.pattern(r"(?=.*[-0-9])[A-Za-z]")
_COMMENT = warm.pattern(r"(?:^|\s)(?:#|//|/\*|\*|--|;|%|<!--|\(\*|'|\"\"\")(?=[\s!]|$)")
_CODE_IN_FRONT = warm.pattern(r"\b(?:import|require|install|add|npm|yarn|pnpm|npx|from ['\"])")
_WORD_IN_FRONT = warm.pattern(r"[^\W\d_]+(?:[(]|[ :,]{1,3})$")
_SAID = warm.pattern(r"\)?[,:]? {1,2}([a-z]+)")
_ASKED = warm.pattern(r"[,:]? {1,2}([A-Za-z']+)(?= [a-z])")
_FIRST_WORD_BEHIND = warm.pattern(r"[,:)]{0,2} {1,2}[^\W\d_]+|[,:](?=\s|$)")
# What ends a line of code, or calls what another @ names.
_CODE_LINE = warm.pattern(r"[;{}][ \t]*$|@\w+\(|\{[^}]*;|@_")
_FENCE = warm.pattern(r"(?:`{3,}|~{3,})(?=[^`\n]*(?:\n|$))")
_FENCE_STANDS = warm.pattern(r"[ \t>]{0,12}(?:[-*][ \t]|\d{1,2}\.[ \t])?$")
_FIRST_WORD = warm.pattern(r"`?[ \t]*[A-Za-z]+")
_NEXT_LINE = warm.pattern(r"\s*([^\n]*)")
_DECORATED = warm.pattern(
    r"(?:(?:async|export|public|private|protected|static|final|abstract|inline) ){0,4}"
    r"(?:def|class|fun|func|function|interface|void|const|let|var|struct|macro)\b|[@#]"
)


def _line_start(text: str, place: int) -> int:
    """Where the line begins that holds a place, as far as it is looked at."""
    first = max(0, place - _LONGEST_LINE)
    return max(text.rfind("\n", first, place) + 1, first)


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """The places outside of fenced code."""
    start = 0
    fence = ""
    for match in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if not _FENCE_STANDS.match(text[text.rfind("\n", 0, match.start()) + 1 : match.start()][-40:]):
            continue
        if not fence:
            yield start, match.start()
            fence = match[0]
        elif match[0].startswith(fence):
            fence, start = "", match.end()
    if not fence:
        yield start, len(text)


Person = Folder | Address | Prompt | Mention | Named | Column


@cache
def _table() -> Mapping[str, Any]:
    return warm.table(resources.files("pipeline").joinpath("data/secrets/people.toml").read_text("utf-8"))


@cache
def _ends() -> frozenset[str]:
    names = resources.files("pipeline").joinpath("data/secrets/top_level_domains.txt").read_text("utf-8").split()
    return frozenset(names)


@cache
def people_rules() -> tuple[Person, ...]:
    """The rows of people.toml."""
    table = _table()
    nobody = frozenset(name.lower() for name in table["nobody"]["names"])
    contents = nobody | frozenset(table["contents"]["names"])
    mail, mention = table["mail"], table["mention"]
    words = {row: frozenset(mail[row]) for row in ("files", "domains", "stems", "roles", "introduced")}
    return (
        *named_rules(table),
        *(
            Address(
                name="mail address",
                keywords=(sign,),
                gate=_WORD_BEFORE if sign == "@" else None,
                pattern=warm.pattern(at + _DOMAIN),
                keep=frozenset(mail["keep"]),
                ends=_ends(),
                attributes=frozenset(mail["attributes"]),
                words=words,
            )
            for sign, at in _ATS.items()
        ),
        Address(
            name="mail address of another script",
            keywords=tuple(f".{end}" for end in mail["other_ends"]),
            gate=None,
            pattern=warm.pattern(
                rf"@(?P<domain>(?:[^\W_](?:[\w-]{{0,60}}[^\W_])?\.){{1,4}}(?:{'|'.join(mail['other_ends'])}))"
            ),
            keep=frozenset(),
            ends=frozenset(mail["other_ends"]),
            attributes=frozenset(),
            words=words,
        ),
        *(
            Folder(
                name="home folder",
                keywords=tuple(row["keywords"]),
                gate=warm.pattern(row["gate"]) if "gate" in row else None,
                pattern=warm.pattern(row["pattern"].replace("{name}", _NAME).replace("{windows}", _WINDOWS)),
                keep=nobody if row.get("sure", True) else contents,
                is_sure=row.get("sure", True),
                start=warm.pattern(row["start"].encode()) if "start" in row else None,
            )
            for row in table["folder"]
        ),
        Prompt("shell prompt", ("@",), _WORD_BEFORE, frozenset(("git", "user"))),
        Mention(
            "mention",
            ("@",),
            # `@user` is what is written in the place of a mention
            warm.pattern(r"@(?!user(?![A-Za-z0-9-]))(?:(?<![A-Za-z0-9_./:`=]@)|(?<=\\n@))[A-Za-z0-9]"),
            frozenset(mention["nobody"]),
            frozenset(mention["before"]),
            frozenset(mention["after"]),
            {row: frozenset(table["mention_in_code"][row]) for row in ("before", "after", "asked", "said", "nobody")},
        ),
    )
