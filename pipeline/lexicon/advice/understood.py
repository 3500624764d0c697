"""Which commands are understood: known programs in known shapes, as rows of `data/advice/commands.toml` draw them.

A list of the bad never ends, so this asks the other way round: what no row takes is not passed on as a command. It need
not be dangerous. What is understood is asked of all the other rules too: each half knows what the other does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pipeline.lexicon.advice import origins, places, pythonic
from pipeline.lexicon.advice.outputs import printed_words
from pipeline.lexicon.advice.shell import NOTHING, Command, From, Redirect, Shell, TooDeep, Value
from pipeline.lexicon.advice.spelling import folded
from pipeline.lexicon.advice.tables import table, words
from pipeline.records import warm

#: Characters that are parsed at once: the parser needs quadratic time for some texts, and no advice is longer.
_LONGEST = 2_000
#: A quoted word is read as commands of its own down to this depth.
_MOST_INNER = 4
_OPTION = warm.pattern(r"[-+](?!\d)\S|/[a-zA-Z?]$")
_CLUSTER = warm.pattern(r"-[a-zA-Z]{1,4}$")
_ASSIGNED = warm.pattern(r"([A-Za-z_]\w{0,60})\+?=(.*)", re.DOTALL)
_LOCAL = warm.pattern(r"(?:\.{1,2}/|\.\\)?(?!/|~)[\w.+@-]+(?:[/\\][\w.+@$-]+){0,8}$")
#: A program below a folder that a variable names.
_BELOW = warm.pattern(r"\$[A-Z_]{2,40}(?:/[\w.-]{1,40}){1,6}$")
_COUNT = warm.pattern(r"\d[\d.,-]*[smhdGMK]?$")
#: Options of programs that start others, whose values stand in a word of their own.
_VALUED = frozenset(
    ["-u", "-g", "-n", "-c", "-p", "-s", "-t", "-k", "-C", "-U", "-I", "-P", "-L", "-N", "-w", "-e", "-b", "-H", "-np",
     "--name", "--prefix", "--user", "--tool", "--uid"]
)  # fmt: skip
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", ">&"})


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: what a program may be asked."""

    verbs: tuple[tuple[str, ...], ...]
    takes: tuple[str, ...]
    options: frozenset[str] | None  # None: any
    never: frozenset[str]
    reads: bool
    after: str


@cache
def rows() -> Mapping[str, tuple[Row, ...]]:
    """Name of a program -> its rows."""
    whole = table("commands")
    found: dict[str, list[Row]] = {}
    for raw in whole["row"]:
        row = Row(
            verbs=tuple(tuple(one.split()) for one in raw.get("verbs", ())),
            takes=tuple(raw.get("takes", whole["usual"])),
            options=frozenset(raw["options"]) if "options" in raw else None,
            never=frozenset([*whole["never"], *raw.get("never", ())]),
            reads=bool(raw.get("reads")),
            after=raw.get("after", [""])[0],
        )
        for name in raw["names"]:
            found.setdefault(name, []).append(row)
    return {name: tuple(listed) for name, listed in found.items()}


@cache
def _kinds() -> Mapping[str, re.Pattern[str]]:
    return {name: warm.pattern(pattern, re.IGNORECASE) for name, pattern in table("commands")["kinds"].items()}


@dataclass(slots=True)
class Reader:
    """Reads commands as `Shell` finds them and keeps what is not understood."""

    owners: Collection[str]
    unknown: list[str] = field(default_factory=list)  # kinds of what no row takes
    shell: Shell = field(init=False)
    _inner: int = 0

    def __post_init__(self) -> None:
        self.shell = Shell(self._run)

    def read(self, code: str) -> Value:
        """What `code` prints; `unknown` has what is not understood of it."""
        if len(code) > _LONGEST or self._inner >= _MOST_INNER:
            self.unknown.append("length")
            return NOTHING
        self._inner += 1
        try:
            return self.shell.read(code)
        except TooDeep:
            self.unknown.append("length")
            return NOTHING
        finally:
            self._inner -= 1

    def _run(self, command: Command) -> Value:
        for name, value in command.assigned:
            self._set(name, value.text)
        said = printed_words(command)
        for redirect in command.redirects:
            self._redirected(redirect, said)
        if command.words:
            fault = self._fault(command)
            if fault:
                self.unknown.append(fault)
        return said

    def _set(self, name: str, value: str) -> None:
        fine = table("commands")["variables"].get(name.upper())
        if fine is not None and not re.fullmatch(fine, value):
            self.unknown.append("variable")

    def _redirected(self, redirect: Redirect, said: Value) -> None:
        target = redirect.target.text
        if redirect.operator not in _WRITES or target.isdigit() or target in ("-", "/dev/null", "$null", "nul", ""):
            return
        if _kinds()["startup"].fullmatch(target):
            if not re.fullmatch(table("commands")["kinds"]["setting"], said.text.strip()):
                self.unknown.append("redirection")
        elif not _kinds()["target"].fullmatch(target):
            self.unknown.append("redirection")

    # ------------------------------------------------------------ one command

    def _fault(self, command: Command) -> str | None:
        """What of the command is not understood, None if all of it is."""
        first = command.words[0]
        name = folded(first.text)
        if first.text.lstrip("$") in words_of("programs_by_variable"):
            return None if self._takes_all(command.words[1:], table("commands")["usual"]) else "operand"
        is_below = first.source == From.UNKNOWN and _BELOW.match(first.text) is not None and name in rows()
        if (first.source or first.text.startswith("$")) and not is_below:
            return "computed"
        listed = rows().get(name, ())
        if not listed:
            listed = rows().get(name.rpartition("\\")[2], ())
        if not listed:
            is_local = ("/" in first.text or "\\" in first.text) and _LOCAL.match(first.text) is not None
            return None if is_local and self._takes_all(command.words[1:], table("commands")["usual"]) else "program"
        faults = [self._by(row, name, command) for row in listed]
        return None if None in faults else next((one for one in faults if one != "verb"), "verb")

    def _by(self, row: Row, name: str, command: Command) -> str | None:
        args: Sequence[Value] = command.words[1:]
        if command.stdin is not None and not row.reads and not _is_fed_by_words(command, name):
            return "pipe"
        if row.verbs:
            left = _behind_verb(row, args)
            if left is None:
                return "verb"
            args = left
        if fault := _option_fault(row, args):
            return fault
        if row.after:
            places_ = [n for n, one in enumerate(args) if one.text == row.after]
            args = args[places_[0] + 1 :] if places_ else args
            name = f"{name} --" if places_ else name
        whole = _WHOLE.get(row.takes[0])
        if whole is not None:
            return whole(self, name, args, command)
        return None if self._takes_all(args, row.takes) else "operand"

    def _takes_all(self, args: Sequence[Value], takes: Sequence[str]) -> bool:
        return all(self._takes(one, takes) for one in args if not _OPTION.match(one.text) or one.is_quoted)

    def _takes(self, one: Value, takes: Sequence[str]) -> bool:
        text = one.text.strip()
        if not text:
            return not one.source & (From.NETWORK | From.DECODED | From.SECRET)
        for kind in takes:
            if kind in _CODED:
                if _CODED[kind](self, one):
                    return True
            elif kind in _kinds() and _kinds()[kind].fullmatch(text):
                return True
        return False

    def found(self, _name: str, args: Sequence[Value], command: Command) -> str | None:
        """What `find` starts for each file; its other words are everybody's."""
        for place, one in enumerate(args):
            if one.text in ("-exec", "-execdir", "-x"):
                left = [other for other in args[place + 1 :] if other.text not in (";", "+", "{}")]
                inner = replace(command, words=tuple(left), redirects=(), assigned=(), stdin=None)
                if fault := self._fault(inner) if left else "program":
                    return fault
                args = args[:place]
                break
        return None if self._takes_all(args, ("word", "path", "text", "number")) else "operand"

    def rest(self, name: str, args: Sequence[Value], command: Command) -> str | None:
        """What of the command behind a program that starts it is not understood."""
        left = list(args)
        skips_name = name in words_of("entering") | {"ssh"}
        while left:
            text = left[0].text
            if text in _VALUED and len(left) > 1 and not (text == "-c" and name in ("su", "watch", "time")):
                left = left[2:]
            elif text.startswith("-") or _COUNT.match(text) or (name != "ssh" and _ASSIGNED.match(text)):
                assigned = _ASSIGNED.match(text)
                if assigned:
                    self._set(assigned[1], assigned[2])
                left = left[1:]
            elif text in words_of("measures") and name in words_of("measuring"):
                left = left[1:]
            elif skips_name:
                skips_name, left = False, left[1:]
            else:
                break
        is_entered = name.partition(" ")[0] in words_of("entering") and len(left) == 1
        if is_entered and folded(left[0].text) in words("programs", "shells"):
            return None
        if not left:
            return None if name not in ("sudo", "doas", "xargs", "parallel", "start") else "program"
        if left[0].is_quoted and " " in left[0].text:
            return self.within(" ".join(one.text for one in left))
        fed = None if name in ("xargs", "parallel") else command.stdin
        return self._fault(replace(command, words=tuple(left), redirects=(), assigned=(), stdin=fed))

    def script(self, _name: str, args: Sequence[Value], command: Command) -> str | None:
        """What of a file of commands, with its own words behind it, is not understood."""
        left = list(args)
        while left and left[0].text in words_of("script_options"):
            left = left[1:]
        is_fine = bool(left) and command.stdin is None and _kinds()["script"].fullmatch(left[0].text) is not None
        return None if is_fine and self._takes_all(left[1:], table("commands")["usual"]) else "operand"

    def scripted(self, name: str, args: Sequence[Value], _command: Command) -> str | None:
        """What of the words of `sed` and `awk`, whose first are lines of their own languages, is not understood."""
        plain = [one for one in args if not _OPTION.match(one.text) or one.is_quoted]
        kind = "sed" if name == "sed" else "awk"
        is_fine = all(_kinds()[kind].fullmatch(one.text) for one in plain)
        return None if is_fine and self._takes_all(plain[1:], ("path", "target", "word", "text")) else "operand"

    def line(self, _name: str, args: Sequence[Value], _command: Command) -> str | None:
        """What of words that are looked at together is not understood."""
        said = " ".join(one.text for one in args if not _OPTION.match(one.text) or one.is_quoted)
        return None if _kinds()["gitconfig"].fullmatch(said) else "operand"

    def last(self, _name: str, args: Sequence[Value], _command: Command) -> str | None:
        """What is read may stand anywhere, what is written where `target` says: the last word."""
        plain = [one for one in args if not _OPTION.match(one.text) or one.is_quoted]
        is_fine = self._takes_all(plain[:-1], ("path", "target", "mode", "number", "host"))
        return None if is_fine and self._takes_all(plain[-1:], ("target", "host")) else "operand"

    def within(self, code: str) -> str | None:
        """What of commands that stand in a word of another is not understood."""
        before = len(self.unknown)
        self.read(code)
        found = self.unknown[before:]
        del self.unknown[before:]
        return found[0] if found else None

    def is_fine(self, code: str) -> bool:
        """True if commands are understood."""
        return self.within(code) is None

    def python(self, _name: str, args: Sequence[Value], command: Command) -> str | None:
        """What of a call of Python is not understood."""
        for place, one in enumerate(args):
            if one.text == "-c":
                code = args[place + 1].text if len(args) > place + 1 else ""
                return None if pythonic.is_understood(code, self.is_fine, is_whole=True) else "code"
            if one.text == "-m":
                return self._module(args[place + 1 :], command)
            if not one.text.startswith("-"):
                is_fine = _kinds()["script"].fullmatch(one.text) is not None and command.stdin is None
                return None if is_fine else "operand"
            if one.text not in words_of("python_options"):
                return "option"
        return "pipe" if command.stdin is not None else None

    def _module(self, args: Sequence[Value], command: Command) -> str | None:
        if not args:
            return None
        name = args[0].text
        if name in rows():
            return self._fault(replace(command, words=tuple(args), redirects=(), assigned=()))
        root = name.partition(".")[0]
        if command.stdin is not None and name != "json.tool":
            return "pipe"
        is_fine = root not in pythonic.STANDARD or name in words_of("python_modules")
        return None if is_fine and re.fullmatch(r"[\w.]{1,80}", name) else "code"

    def commands(self, _name: str, args: Sequence[Value], command: Command) -> str | None:
        """What of commands in an option's word is not understood."""
        for place, one in enumerate(args):
            if re.fullmatch(r"-[a-z]{0,3}c|/[ck]|-command|--", one.text, re.IGNORECASE):
                return self.within(" ".join(left.text for left in args[place + 1 :]))
        plain = [one.text.lower() for one in args]
        is_asked = bool(plain) and all(one in words_of("shell_options") or one.isalnum() for one in plain)
        return None if is_asked and plain[0].startswith("-") and command.stdin is None else "operand"

    def hook(self, _name: str, args: Sequence[Value], _command: Command) -> str | None:
        """`eval` of what a program says that everybody's manual has one evaluate."""
        asked = " ".join(one.made_by or one.text for one in args)
        return None if _kinds()["hook"].fullmatch(asked.strip()) else "evaluation"

    def aliased(self, _name: str, args: Sequence[Value], _command: Command) -> str | None:
        """What an alias stands for; a name that programs have is given to nothing else."""
        for one in args:
            found = re.fullmatch(r"([\w.-]+)=(.*)", one.text, re.DOTALL)
            if found is None or found[1] in ("sudo", "ls", "cd", "git", "ssh", "su", "cat") or self.within(found[2]):
                return "operand"
        return None

    def image(self, _name: str, args: Sequence[Value], command: Command) -> str | None:
        """What a container is started from, and what is started in it."""
        usual = ("mount", "word", "number", "text", "path")
        for place, one in enumerate(args):
            text = one.text
            if one.made_by and not text:
                continue
            if re.fullmatch(r"[a-z0-9][\w.-]*(?::\d+)?(?:/[a-z0-9][\w.-]*){1,5}(?::[\w.-]+)?(?:@sha256:\w+)?", text):
                if not origins.is_known_image(text, self.owners):
                    return "image"
                inner = args[place + 1 :]
                if inner and folded(inner[0].text) in rows() and len(inner) > 1:
                    return self._fault(replace(command, words=tuple(inner), redirects=(), assigned=(), stdin=None))
                return None if self._takes_all(inner, ("word", "path", "text", "number")) else "operand"
            if _OPTION.match(text) and not one.is_quoted:
                continue
            if re.fullmatch(r"[a-z][\w.-]+(?::[\w.-]+)?", text) and not origins.is_known_image(text, self.owners):
                return "image"
            if not self._takes(one, usual) or (":/" in text and not _kinds()["mount"].fullmatch(text)):
                return "operand"
        return None


#: Names of what a row may take beside the patterns of the table.
KINDS = frozenset({"link", "text", "sql", "path", "rest", "python", "commands", "hook", "aliased", "image", "found",
                   "last", "script", "scripted", "line", "none"})  # fmt: skip


def words_of(name: str) -> frozenset[str]:
    """The words of one list of the table."""
    return words("commands", name)


def _behind_verb(row: Row, args: Sequence[Value]) -> Sequence[Value] | None:
    """The words without those that say what is to be done; None if no verb of the row is among them."""
    plain = [(n, one.text.lower()) for n, one in enumerate(args) if not _OPTION.match(one.text) or one.is_quoted]
    for verb in row.verbs:
        if verb == ("*",):
            return args
        if verb[0].startswith("-"):
            if args and args[0].text == verb[0] and [one.text for one in args[: len(verb)]] == list(verb):
                return args[len(verb) :]
            continue
        for start in (0, 1, 2):  # an option's value may stand before it
            said = [word for _, word in plain[start : start + len(verb)]]
            if len(said) == len(verb) and all(_is_word(one, other) for one, other in zip(said, verb, strict=True)):
                gone = {n for n, _ in plain[start : start + len(verb)]}
                before = plain[start - 1][0] if start else -1
                if start and not (before and _OPTION.match(args[before - 1].text)):
                    continue
                return [one for n, one in enumerate(args) if n not in gone]
    return () if not plain and all(_OPTION.match(one.text) for one in args) and _asks_only(args) else None


def _is_word(said: str, verb: str) -> bool:
    if verb.startswith("*"):
        return said.endswith(verb[1:])
    return said == verb or (verb.startswith("http") and said.startswith(verb))


def _asks_only(args: Sequence[Value]) -> bool:
    return all(one.text in ("--version", "-v", "-V", "--help", "-h", "-version", "--info") for one in args)


def _option_fault(row: Row, args: Sequence[Value]) -> str | None:
    for one in args:
        text = one.text
        if not _OPTION.match(text) or one.is_quoted:
            if not row.never.isdisjoint((text.lower(), text.partition("=")[0])):
                return "operand"
            continue
        name = text.partition("=")[0]
        if row.takes[0] in ("rest", "python", "commands", "script") and row.options is None and name not in row.never:
            continue
        if row.options is not None and not text.startswith("/"):
            short = re.match(r"-[a-zA-Z](?=[\d/.:$\"'])", text)
            if not (name in row.options or (short and short[0] in row.options)):
                return "option"
            continue
        if name in row.never or any(text.startswith(long) and len(long) > 2 for long in row.never):
            return "option"
        if _CLUSTER.match(text) and any(len(long) == 2 and long[1] in text[1:] for long in row.never):
            return "option"
    return None


def _is_fed_by_words(command: Command, name: str) -> bool:
    """True where what is read is no more than words that stand here: `echo y | apt install x`."""
    fed = command.stdin
    is_plain = fed is not None and bool(fed.text) and not fed.source and len(fed.text) < 40
    return is_plain and name not in words("programs", "shells") | words("programs", "interpreters")


def _is_link(reader: Reader, one: Value) -> bool:
    text = one.text.strip("'\"")
    if "://" not in text and not text.startswith("git@"):
        return False
    if text.startswith(("git@", "git+")):
        return origins.is_known(text, reader.owners) or "example." in text
    return next(origins.strangers(text, reader.owners), None) is None


def _is_text(_reader: Reader, one: Value) -> bool:
    return one.is_quoted and not one.source & (From.NETWORK | From.DECODED | From.SECRET)


def _is_sql(_reader: Reader, one: Value) -> bool:
    return (one.is_quoted or " " in one.text) and is_understood_sql(one.text)


def _is_readable(_reader: Reader, one: Value) -> bool:
    return _kinds()["path"].fullmatch(one.text) is not None and not places.is_secret(one.text)


_CODED: Mapping[str, Callable[[Reader, Value], bool]] = {
    "link": _is_link,
    "text": _is_text,
    "sql": _is_sql,
    "path": _is_readable,
}
_Whole = Callable[[Reader, str, Sequence[Value], Command], str | None]
_WHOLE: Mapping[str, _Whole] = {
    "rest": Reader.rest,
    "python": Reader.python,
    "commands": Reader.commands,
    "hook": Reader.hook,
    "aliased": Reader.aliased,
    "image": Reader.image,
    "found": Reader.found,
    "last": Reader.last,
    "script": Reader.script,
    "scripted": Reader.scripted,
    "line": Reader.line,
}


def is_understood_sql(text: str) -> bool:
    """True for statements that read, or change what they name: rows of `sql` say which."""
    known: dict[str, Any] = table("commands")["sql"]
    bare = re.sub(r"'[^'\n]{0,400}'|--[^\n]{0,400}", "''", text).strip()
    if any(re.search(pattern, text, re.IGNORECASE) for pattern in known["never"]):
        return False
    told = [one.strip().lower() for one in bare.split(";") if one.strip()]
    return all(one.startswith(tuple(known["begins"])) for one in told)


def is_understood_python(code: str, owners: Collection[str]) -> bool:
    """True for lines of Python in which nothing stands that is not understood, and for what is no Python."""
    return pythonic.is_understood(code, Reader(owners).is_fine, is_whole=False)


def unknown_in(code: str, owners: Collection[str]) -> Iterator[str]:
    """The kinds of what is not understood in `code`, commands of a shell."""
    reader = Reader(owners)
    reader.read(code)
    yield from reader.unknown
