"""What commands do: where what they run comes from, what they delete, read, send and open.

Commands that begin in prose are read from each beginning on, and only once: not where a parse from further in front has
read them already.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from pipeline.lexicon.advice import origins, places, prose
from pipeline.lexicon.advice.exchanges import fetched, goes_home, keys, opens, sends_home, strange, touches
from pipeline.lexicon.advice.installs import install_fault
from pipeline.lexicon.advice.interpreters import evaluated, interpreted, runs
from pipeline.lexicon.advice.outputs import SOCKET, printed, same_file
from pipeline.lexicon.advice.removals import removal_fault
from pipeline.lexicon.advice.sentences import Sentence
from pipeline.lexicon.advice.shell import NOTHING, Command, From, Redirect, Shell, TooDeep, Value
from pipeline.lexicon.advice.spelling import folded
from pipeline.lexicon.advice.tables import heads, words
from pipeline.records import warm

_WORD = warm.pattern(r"[^\s|;&()<>]+|(?<=[(;|&])\s*\)")
#: A variable or a substitution as a command, or what is set for later ones.
_COMPUTED = warm.pattern(r"[\"'`]?\$[({'\w]|[A-Za-z_]\w*=")
#: A picture or a link: where it is shown from is no variable of a shell. Its other words are read, models see them.
_SHOWN_FROM = warm.pattern(r"\b(?:src|href|poster)\s?=\s?[\"']?[^\s\"'<>]{1,800}[\"']?", re.IGNORECASE)
_TAG = warm.pattern(r"<(?:img|a|video|picture)\s[^<>\n]{1,1000}>", re.IGNORECASE)
_OPENED = warm.pattern(r"(?:\w{1,20}\s?\(\)\s{0,2})?(?:[({]\s{0,4}){1,8}$")
#: What ends a command.
_BETWEEN = warm.pattern(r"[;|&\n`(){}]")
_BEFORE = 40
_MARKS = "`*!%:"


#: Characters that are parsed at once, from one command on: the parser needs quadratic time for some texts.
_WINDOW = 600
#: A text in which parsing begins anew so often is no advice that anybody could follow.
_MOST_PARSES = 60
#: A quoted word is read as commands of its own down to this depth: `ssh host "bash -c 'rm -rf /'"`.
_MOST_INNER = 4
_INDEXES = warm.pattern(
    r"(?:PIP|UV|POETRY|PDM|NPM_CONFIG|YARN|CONDA|CARGO)_\w*(?:INDEX|REGISTRY|FIND_LINKS|CHANNEL)\w*|GOPROXY"
)
#: A secret in an address.
_TOLD = warm.pattern(r"://.*\$\w*(?:TOKEN|SECRET|KEY|PASSW)")
#: A name in front of a quoted value.
_SETTING = warm.pattern(r"[A-Za-z][\w.-]*=!?\s*(?=.*\s)", re.DOTALL)
#: Programs whose addresses are taken from, not read by people.
_TAKING = heads() - {
    "echo",
    "printf",
    "open",
    "xdg-open",
    "links",
    "lynx",
    "w3m",
    "host",
    "get",
    "set",
    "at",
    "r",
    "as",
    "start",
}
_BARE = frozenset({"curl", "wget", "go"})
_ACCOUNT = warm.pattern(r"[A-Za-z0-9][\w-]*/[A-Za-z0-9][\w.-]*(?:[@#]\S*)?")
_HOST = warm.pattern(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,10}/\S")
#: Package managers: they start a program only where they are told to.
_INSTALLING = frozenset({"conda", "mamba", "uv", "poetry", "pipenv"})
#: They run, or install with the right to run, the files that they are given.
_OPENING = frozenset({"dpkg", "rpm", "apt", "apt-get", "yum", "dnf", "installer", "msiexec", "pip", "insmod", "open"})
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", ">&"})


def begins(piece: str, *, is_code: bool) -> Iterator[int]:
    """Where commands may begin: a piece of code, a word that names a judged program, a word that is computed."""
    if is_code:
        yield 0
    last = -1  # where the last named program stands
    for found in _WORD.finditer(piece):
        word = found[0]
        is_named = folded(word) in heads()
        is_computed = not is_named and _COMPUTED.match(piece, found.start()) is not None
        if is_computed and last >= 0 and not _BETWEEN.search(piece, last, found.start()):
            continue  # a word of the command before
        last = found.start() if is_named else last
        if is_named or is_computed:
            opened = _OPENED.search(piece, max(0, found.start() - _BEFORE), found.start())
            if opened is not None:
                yield opened.start()
            bare = word.lstrip(_MARKS)
            is_open = bare[:1] in ("'", '"') and bare.count(bare[0]) == 1  # the quotes are around more than the word
            yield found.start() + len(word) - len(bare) + is_open


def spots(code: str, start: int, offsets: set[int]) -> set[int]:
    """Places in the whole text of what stands so many bytes behind the begin of `code`, which is at `start`."""
    if code.isascii():
        return {start + offset for offset in offsets}
    raw = code.encode("utf-8", "replace")
    return {start + len(raw[:offset].decode("utf-8", "ignore")) for offset in offsets}


def closed(code: str) -> str:
    """`code` without the last of an odd number of backticks: it is Markdown's, and would hide what follows."""
    if code.count("`") % 2:
        before, _, after = code.rpartition("`")
        return before + " " + after
    return code


@cache
def _filters() -> frozenset[str]:
    return frozenset(name for row in ("passing", "decoders", "fetchers", "filters") for name in words("programs", row))


# What commands do.


@dataclass(slots=True)
class Effects:
    """What the commands of one text do, kept from one to the next: files that they fetched, where they stand."""

    owners: Collection[str]  # accounts that are no strangers: of the thread's own repository
    faults: list[str] = field(default_factory=list)
    files: dict[str, Value] = field(default_factory=dict)  # what a path holds: fetched, decoded, secret
    folder: str = ""
    has_strange_code: bool = False  # somebody unknown's files were fetched: what is run there, is theirs
    shell: Shell = field(init=False)
    _inner: int = 0
    _parses: int = 0
    _sentence: Sentence | None = None  # in which a command is read; None in code

    def __post_init__(self) -> None:
        self.shell = Shell(self.run)

    def read(self, code: str, *, is_code: bool = True) -> Value:
        """What `code`, or the commands in a piece of prose, print; `faults` has what they do that is not passed on."""
        if not is_code and "<" in code:
            code = _TAG.sub(lambda tag: _SHOWN_FROM.sub(" ", tag[0]), code)
        said: Value | None = None
        seen: set[int] = set()
        outer = self._sentence
        self._inner += 1
        for start in begins(code, is_code=is_code):
            if start in seen:
                continue
            self._parses += 1
            if self._parses > _MOST_PARSES or self._inner > _MOST_INNER:
                self.faults.append("unreadable")
                break
            window = closed(code[start : start + _WINDOW])
            self._sentence = None if is_code else Sentence.at(code, start, _WINDOW)
            try:
                given = self.shell.read(window)
            except TooDeep:
                self.faults.append("unreadable")
                break
            said = given if said is None else said
            seen |= spots(window, start, self.shell.named)
        self._inner -= 1
        self._sentence = outer
        return said or NOTHING

    def run(self, command: Command) -> Value:
        """What one command prints."""
        for redirect in command.redirects:
            self._redirected(redirect)
            if redirect.operator == "<" and (held := self.held(redirect.target.text)) is not None:
                command = replace(command, stdin=held)
        for name, value in command.assigned:
            if name.upper() in ("PROMPT_COMMAND", "BASH_ENV", "ENV", "PS1", "GIT_SSH_COMMAND", "EDITOR", "PAGER"):
                self.read(value.text)
            if next(origins.strangers(value.text, self.owners), None):
                self.faults.append("foreign-source")
            elif _INDEXES.fullmatch(name.upper()):
                self.faults += [
                    "foreign-source"
                    for link in origins.addresses(value.text)
                    if not origins.is_known(link, self.owners)
                ]
        if not command.words:
            return NOTHING
        if command.words[0].text == "fork-bomb":
            self.faults.append("deletes")
            return NOTHING
        given = self._named(command)
        for redirect in command.redirects:
            if redirect.operator in _WRITES:
                self.keep(redirect.target.text, given)
        return given

    def _redirected(self, redirect: Redirect) -> None:
        target = redirect.target.text
        if SOCKET.search(target):
            self.faults.append("reverse-shell")
        if redirect.operator in _WRITES:
            if places.is_door(target):
                self.faults.append("credentials" if "key" in target or "shadow" in target else "security-off")
            elif places.is_of_the_system(target):
                self.faults.append("deletes")

    def keep(self, path: str, value: Value) -> None:
        """Nothing; the path holds `value` from now on."""
        if path and not path.startswith("/dev/null"):
            self.files[same_file(path)] = value

    def _named(self, command: Command) -> Value:
        """What the program that `command` names prints, once what stands before it is taken away."""
        first = command.words[0]
        if first.source & From.NETWORK or first.source & From.SECRET:
            self.faults.append("runs-the-network")
            return NOTHING
        if first.source & From.DECODED:
            self.faults.append("hidden-code")
            if first.text:
                self.read(" ".join(one.text for one in command.words))
            return NOTHING
        name = folded(first.text)
        sentence = self._sentence if self._sentence is not None and self._sentence.is_of(name) else None
        if sentence is not None and name not in words("programs", "fetchers") and sentence.is_about(name):
            return NOTHING
        if name in ("&", "(", "powershell.exe"):
            return self._rest(command, 1)
        if name in words("programs", "wrappers"):
            fault = removal_fault(name, command.words[1:], self.folder)
            self.faults += [fault] if fault else []
            inner = self._unwrapped(name, command)
            if inner is not None:
                given = self._named(inner)
                # what runs on another machine prints what that machine wants
                return replace(given, source=given.source | From.NETWORK) if name == "ssh" else given
        self._quoted(name, command)
        for one in command.words[1:]:
            if one.is_stream and one.source & (From.NETWORK | From.DECODED) and runs(name):
                self.judge(one)
        return self._program(name, command, sentence)

    def _rest(self, command: Command, start: int) -> Value:
        left = replace(command, words=command.words[start:])
        return self._named(left) if left.words else NOTHING

    def _unwrapped(self, name: str, command: Command) -> Command | None:
        """The command that a wrapper starts; None if it starts none that is judged."""
        if name in ("xargs", "parallel"):
            return self._fed(command)
        if name in _INSTALLING and command.words[1:2] and command.words[1].text not in ("run", "exec", "x"):
            return None
        for place, one in enumerate(command.words[1:], 1):
            word = folded(one.text)
            if word in ("-c", "--command") and name in ("su", "script", "runuser", "watch", "flock"):
                break
            is_named = word in heads() and word != name and not one.is_quoted
            is_kept = one.text.startswith((".", "/", "\\")) and same_file(one.text) in self.files
            if is_named or one.source & (From.NETWORK | From.DECODED) or (is_kept and name not in ("docker", "env")):
                return replace(command, words=command.words[place:])
        return None

    def _fed(self, command: Command) -> Command | None:
        """The command that `xargs` starts, with what it reads among its words."""
        fed = command.stdin or NOTHING
        is_hidden = bool(fed.source & (From.NETWORK | From.DECODED))
        start = next((n for n, one in enumerate(command.words[1:], 1) if folded(one.text) in heads()), None)
        own = command.words[start:] if start is not None else ()
        if is_hidden and (not own or runs(folded(own[0].text))):
            self.judge(fed)
        if not own:
            return None
        is_code = folded(own[0].text) in words("programs", "shells") and len(own) > 1 and fed.source == From.WORDS
        passed = (Value(fed.text.strip() or "$stdin", fed.source | From.UNKNOWN),)
        return replace(command, words=own if is_code else own[:1] + passed + own[1:])

    def _quoted(self, name: str, command: Command) -> None:
        """Nothing; the quoted words of a command are read as commands, since most that quote commands run them."""
        for one in command.words[1:]:
            if one.source & (From.NETWORK | From.DECODED) or not one.is_quoted:
                continue
            value = _SETTING.match(one.text)  # `alias x='rm -rf ~'`, `git -c alias.x='!rm -rf ~'`
            if value is not None:
                self.read(one.text[value.end() :])
            elif re.search(r"\s", one.text) and name not in ("grep", "sed", "jq", "python"):
                self.read(one.text)

    def _program(self, name: str, command: Command, sentence: Sentence | None) -> Value:
        fed = command.stdin or NOTHING
        args = command.words[1:]
        if name in ("cd", "pushd", "set-location", "chdir"):
            target = args[-1].text if args else "~"
            joined = f"{self.folder}/{target}" if self.folder and not target.startswith(("/", "~", "$")) else target
            self.folder = joined
            return NOTHING
        self._options(name, command)
        strangers = [n for n, one in enumerate(args) if name in _TAKING and self._is_foreign(name, one.text)]
        texts = [one.text for one in command.words]
        if strangers and not (sentence is not None and sentence.cites(name, texts[: strangers[0] + 2])):
            self.faults.append("foreign-source")
        if fed.source & From.NETWORK and not (
            name in _filters() or runs(name) or name in words("programs", "evaluators")
        ):
            self.faults.append("runs-the-network")  # whatever it is: nobody knows it as a filter
        if sends_home(name, [one.text for one in args]):
            self.faults.append("credentials")
        touches(self, name, command, fed)
        strange(self, name, command.words[0].text, [one.text for one in args])
        if name in words("programs", "evaluators"):
            return evaluated(self, name, args, fed)
        if runs(name):
            return interpreted(self, name, args, fed)
        self._started(name, command, fed)
        if keys(name, args):
            return Value("", From.SECRET)
        if name in words("programs", "fetchers"):
            return fetched(self, name, args, fed)
        return printed(self, name, args, fed)

    def _is_foreign(self, name: str, word: str) -> bool:
        """True for the address of somebody unknown; fetchers take one without its scheme too."""
        if name in _BARE and _HOST.match(word):
            word = f"https://{word}"
        elif name in words("programs", "forge_names") and _ACCOUNT.fullmatch(word.removeprefix("github:")):
            word = f"https://github.com/{word.removeprefix('github:')}"
        return next(origins.strangers(word, self.owners), None) is not None

    def _options(self, name: str, command: Command) -> None:
        """Nothing; what a command's own words say that it does is a fault."""
        args = command.words[1:]
        self.faults += prose.short_option_faults([name, *(one.text for one in args)])
        self.faults += filter(None, (removal_fault(name, args, self.folder), install_fault(name, args, self.owners)))
        if opens(name, command):
            self.faults.append("reverse-shell")
        if any(_TOLD.search(one.text) for one in args) and not goes_home(self, args):
            self.faults.append("credentials")

    def _started(self, name: str, command: Command, fed: Value) -> None:
        """Nothing; what was fetched or decoded and is now started, installed or read into a variable is followed."""
        args = command.words[1:]
        opened = args if name in _OPENING else ()
        for one in (command.words[0], *opened):
            if (held := self.held(one.text)) is not None:
                self.judge(held)
        if name in ("read", "mapfile", "readarray"):
            for one in args[-1:]:
                self.shell.variables[one.text] = Value(fed.text, fed.source | From.UNKNOWN)
        if name in ("alias", "trap") and fed.source & (From.NETWORK | From.DECODED):
            self.judge(fed)

    def held(self, path: str) -> Value | None:
        """What a path holds, if it was fetched from somebody unknown or decoded."""
        found = self.files.get(same_file(path)) if "://" not in path else None
        return found if found is not None and found.source & (From.NETWORK | From.DECODED) else None

    def judge(self, code: Value) -> None:
        """Nothing; a program reads `code` and does what it says."""
        if code.source & From.NETWORK:
            self.faults.append("runs-the-network")
        elif code.source & From.DECODED:
            self.faults.append("hidden-code")
        if code.text:
            self.read(code.text)
