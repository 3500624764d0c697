"""Which lines of a statement are commands, which of them configure programs that start commands, and which are code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from pipeline.lexicon.advice import origins, prose, understood
from pipeline.lexicon.advice.spelling import folded, pieces
from pipeline.lexicon.advice.tables import heads, table, words
from pipeline.records import warm

#: No statement is longer.
_LONGEST = 8_000
_PROMPT = warm.pattern(
    r"\s{0,20}(?:\((?!gdb|lldb|pdb)[\w.-]{1,30}\)\s?)?"
    r"(?:[$>❯➜](?=\s)|[%!]|[\w.-]{1,30}@[\w.-]{1,60}[^$#\n|;]{0,40}[$#]|PS [^>\n]{0,80}>|[A-Z]:\\[^>\n]{0,80}>)"
    r"\s{0,3}(?=[\w./~\"'$&(])"
)
_SET = warm.pattern(r"(?:[A-Za-z_]\w{0,60}=(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|[^\s;|&]{0,300})\s{1,4}){1,6}")
_FIRST = warm.pattern(r"\s{0,20}(?P<head>[^\s|;&<>]{1,200})(?:\s{1,20}(?P<next>[^\s]{1,200}))?")
_OPTION = warm.pattern(r"(?:^|\s)(?:--[a-zA-Z][\w-]{1,60}|-[a-zA-Z]{1,8})(?=[\s=]|$)")
_JOINED = warm.pattern(r"(?:\|{1,2}|&&|;|\$\()\s{0,4}([\w./-]{2,60})(?=\s|$)")
#: A line of so many words is more often a sentence than a command of a program that nobody knows.
_SENTENCE = 6
_NO_COMMAND = warm.pattern(r"(?:[=:]|:=|==|\+=|->|=>|,|\)|is|are|was|has)$|=[^=]?$")
_VARIABLE = warm.pattern(r"\$\{?[A-Z][A-Z_]{1,40}\}?(?:/\S{1,80})?$")
#: Somebody's machine among the words.
_REMOTE = warm.pattern(
    r"\s(?:\d{1,3}(?:\.\d{1,3}){3}|[\w-]+(?:\.[\w-]+)+):\d{2,5}\b|\s[\w.-]+@[\w-]+\.[\w.-]+(?:\s|:|$)"
)
_CMDLET = warm.pattern(r"[A-Z][a-z]{2,12}-[A-Z][A-Za-z]{2,40}$")
_PATH = warm.pattern(r"(?:\.{1,2}/|~/|/|[A-Za-z]:\\|\\\\|\.\\)\S+$")
_LOWER = warm.pattern(r"[a-z][\w.+-]{1,40}$")
_WORDY = warm.pattern(r"[A-Za-z一-鿿']{1,40}[.,;:!?]?$")
_HEREDOC = warm.pattern(r"<<-?\s?['\"]?(\w{1,20})['\"]?")
#: What a file of packages, of a container, of a job names: a hook's command, an image, an action, a dependency.
_NAMED_START = warm.pattern(
    r"\"(?:command|pre(?:install|pare|publish|test|build|start)|post(?:install|start|build|test|CreateCommand|StartCommand)|prepare"
    r"|initializeCommand|onCreateCommand)\"\s{0,4}:\s{0,4}\"((?:[^\"\\\n]|\\.){3,400})\""
)
_IMAGE = warm.pattern(
    r"(?:^|\n|`)\s{0,8}(?-i:FROM)\s{1,3}(?:--\S{1,60}\s)?([a-z0-9][\w./:-]{2,120})"
    r"|(?:^|[\n`{,])\s{0,12}-?\s?[\"']?image[\"']?\s?[:=]\s?[\"']?([a-z0-9][\w.-]{0,80}/[\w./:-]{2,120})"
)
_ACTION = warm.pattern(r"\buses:\s{0,3}[\"']?([\w.-]{1,60})/[\w./-]{1,80}@")
_DEPENDENCY = warm.pattern(r"(?:^|\n)\s{0,8}([a-z][\w-]{2,40})\s{0,3}=\s{0,3}(?:\"[\^~=]?\d|\{\s?version)")
_SQLS = frozenset({"sql", "mysql", "postgresql", "pgsql", "plsql", "tsql", "sqlite"})
_STATEMENT = warm.pattern(
    r"\s{0,8}(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|DROP|TRUNCATE|ALTER|CREATE|GRANT|REVOKE|COPY)\s[^\n]{1,300}[;)]",
    re.IGNORECASE,
)
#: A model whose repository brings code that is run.
_TRUSTED = warm.pattern(r"[\"']([\w.-]{1,60}/[\w.-]{1,80})[\"'][^)\n]{0,200}trust_remote_code\s?=\s?True")
_SERVED = warm.pattern(
    r"(?<![/\w.-])([A-Za-z][\w.-]{1,60}/[\w.-]{1,80})(?=\s)[^\n`]{0,300}\s--trust[-_]remote[-_]code\b"
    r"|\s--trust[-_]remote[-_]code\s[^\n`]{0,200}?(?<![/\w.-])([A-Za-z][\w.-]{1,60}/[\w.-]{1,80})(?![/\w])"
)
#: R takes packages from accounts and addresses of anybody.
_R_INSTALLS = warm.pattern(r"\binstall_(?:github|gitlab|bitbucket)\(\s?[\"']([\w.-]{1,60})/[\w.-]{1,80}")
_R_FETCHES = warm.pattern(r"\binstall_(?:url|git|svn)\(\s?[\"'](\S{4,200}?)[\"']")
_SHELLS = frozenset({"sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "powershell", "ps1", "pwsh",
                     "cmd", "bat", "batch", "dos", "fish", "ksh"})  # fmt: skip
_PYTHONS = frozenset({"", "python", "py", "python3", "pycon", "ipython"})
#: What may stand behind the name of a program in a sentence for it to be a command and no word of the sentence.
_TELLING = warm.pattern(r"(?!v?\d)(?:-{1,2}[A-Za-z]|[\"'][\w./$]|[./~$]\S|\S*[=/@\\$*]\S|\S+\.[A-Za-z]\w{0,4}$)")
#: What is to be run, in words without marks.
_TOLD = warm.pattern(
    r"(?:\b(?:run|runs|running|ran|execut\w{1,3}|launch\w{0,3}|invok\w{1,3})|运行|执行)[ :]{1,3}"
    r"(?P<command>(?P<head>[a-z][\w.-]{2,40})(?: [^\s,;]{1,80}){1,8})"
)
_SIGNS = frozenset({"|", "||", "&&", ";", ">", ">>", "<", "|&"})
_END = warm.pattern(r"[.,;:!?]{1,3}[)\"]{0,2}$|[。，；：！？）]")
_STOP = warm.pattern(r"[.,;:!?)]{1,3}$|[。，；：！？）].*")


def not_understood(text: str, owners: Collection[str]) -> str | None:
    """The kind of the first thing in `text`, made plain, that is a command or code and is not understood."""
    return next(_unknown(text, owners), None)


def _unknown(text: str, owners: Collection[str]) -> Iterator[str]:
    if len(text) > _LONGEST:
        yield "length"
        return
    yield from _named(text, owners)
    for piece, is_code, language in pieces(text):
        if is_code:
            yield from _in_code(piece, language.lower(), owners)
        else:
            for line in piece.split("\n"):
                yield from _in_prose(line, owners)


def _named(text: str, owners: Collection[str]) -> Iterator[str]:
    """What a text names wherever it stands: code of other languages, hooks, images, actions, dependencies."""
    if any(pattern.search(text) for pattern in _strange_code()):
        yield "code"
    if prose.is_doubtful(text):
        yield "sensitive"
    for started in _NAMED_START.findall(text):
        yield from understood.unknown_in(started.replace('\\"', '"'), owners)
    for image in _IMAGE.finditer(text):
        if not origins.is_known_image(image[1] or image[2], owners):
            yield "image"
    for account in _ACTION.findall(text):
        if not origins.is_known(f"https://github.com/{account}/x", owners):
            yield "action"
    if next(origins.mistyped(_DEPENDENCY.findall(text), "cargo"), None):
        yield "package"


def _of_strangers(piece: str, owners: Collection[str]) -> Iterator[str]:
    """Models whose code is run and packages of R, where nobody knows whose they are."""
    served = (before or behind for before, behind in _SERVED.findall(piece))
    if not all(origins.is_known_model(repository, owners) for repository in (*_TRUSTED.findall(piece), *served)):
        yield "model"
    accounts = (f"https://github.com/{account}/x" for account in _R_INSTALLS.findall(piece))
    if not all(origins.is_known(one, owners) for one in (*accounts, *_R_FETCHES.findall(piece))):
        yield "package"


def _in_code(piece: str, language: str, owners: Collection[str]) -> Iterator[str]:
    lines = piece.split("\n")
    if _is_sql(piece, language) and not understood.is_understood_sql(piece):
        yield "statement"
    yield from _of_strangers(piece, owners)
    is_shell = language in _SHELLS
    has_prompts = any(_PROMPT.match(line) for line in lines) and len(lines) > 1
    code: list[str] = []
    for line in _logical(lines):
        bare = _PROMPT.sub("", line, count=1) if _PROMPT.match(line) else line
        is_asked = not has_prompts or _PROMPT.match(line) is not None
        if not bare.strip() or bare.lstrip().startswith(("#", "//", "REM ", "::")):
            continue
        if is_asked and is_command(bare.partition("\n")[0], is_shell=is_shell, is_alone=len(lines) == 1):
            code.append(bare)
            if _is_heredoc(bare):
                yield "here-document"
        elif started := _started(bare):
            code += started
    if code:
        yield from understood.unknown_in("\n".join(code), owners)
    elif (
        language in _PYTHONS
        and ("(" in piece or "import " in piece)
        and not understood.is_understood_python(piece, owners)
    ):
        yield "code"


def _is_sql(piece: str, language: str) -> bool:
    return language in _SQLS or _STATEMENT.match(piece) is not None


def _logical(lines: Sequence[str]) -> Iterator[str]:
    """Lines, each with the lines of the here-document that it opens."""
    waiting = ""
    held: list[str] = []
    for line in lines:
        if waiting:
            held.append(line)
            if line.strip() == waiting:
                yield "\n".join(held)
                waiting, held = "", []
            continue
        found = _HEREDOC.search(line)
        if found and "<<<" not in line:
            waiting, held = found[1], [line]
        else:
            yield line
    if held:
        yield "\n".join(held)


def _is_heredoc(line: str) -> bool:
    return "\n" in line or (_HEREDOC.search(line) is not None and "<<<" not in line and "<<" in line[:200])


def is_command(line: str, *, is_shell: bool = False, is_alone: bool = True) -> bool:
    """True if a line of code is a command of a shell, not a name, a value, a line of another language or of output."""
    whole = line.strip()
    bare = _SET.sub("", whole, count=1) if _SET.match(whole) else whole
    found = _FIRST.match(bare)
    if not found or whole.endswith(("{", "(", ",")):
        return False
    head, after = found["head"], found["next"]
    if head[0] in "-#@}{<'\"[" or head.endswith((":", ",")) or ("(" in head and head[0] not in "$("):
        return False
    name = folded(head)
    if head.rstrip(":") in words("commands", "languages") or (after is not None and _NO_COMMAND.match(after)):
        return name in ("set", "test", "export") and after is not None and "=" in after[1:]
    is_known = name in _words()
    if after is None:
        return is_known and (is_shell or bare != whole)
    if name in words("commands", "ambiguous"):
        is_told = _TELLING.match(after) is not None and not after.endswith(":")
        return is_told or after in _SIGNS or folded(after) in _words() - words("commands", "ambiguous")
    if is_known:
        is_sure = is_alone or is_shell or name not in words("wake", "everyday")
        return is_sure or _OPTION.search(bare) is not None
    if _CMDLET.match(head) or _VARIABLE.match(head) or (is_shell and head[0] == "$"):
        return True
    if _PATH.match(head):
        return _OPTION.search(bare) is not None or is_shell or (is_alone and len(bare.split()) < _SENTENCE)
    if not _LOWER.match(head) or whole.endswith((";", ")", "}")):
        return False
    is_short = is_shell and len(bare.split()) < _SENTENCE
    return (
        is_short or _REMOTE.search(bare) is not None or _OPTION.search(bare[len(head) :]) is not None or _goes_on(bare)
    )


def _goes_on(line: str) -> bool:
    """True if a known program stands behind a sign that joins commands."""
    return any(folded(found[1]) in _words() for found in _JOINED.finditer(line))


@cache
def _words() -> frozenset[str]:
    return frozenset(understood.rows()) | heads()


# Files that start commands: a line of a container's recipe, a unit, a job, a package's hooks.


@cache
def _starting() -> re.Pattern[str]:
    return warm.pattern(table("commands")["files"]["starting"])


@cache
def _strange_code() -> tuple[re.Pattern[str], ...]:
    return tuple(warm.pattern(one) for one in table("commands")["files"]["strange"])


def _started(line: str) -> list[str]:
    """The commands that a line of a file starts."""
    found = _starting().match(line)
    if found is None:
        return []
    value = found["value"].strip().rstrip(",")
    if value[:1] == "[" and value[-1:] == "]":
        value = " ".join(one.strip().strip("\"'") for one in value[1:-1].split(","))
    value = value.strip("\"'|> ")
    return [value] if " " in value and is_command(value) else []


# Sentences: a word that names a program, with something behind it that no sentence has there.


def _in_prose(line: str, owners: Collection[str]) -> Iterator[str]:
    for told in _TOLD.finditer(line):
        bare = _STOP.sub("", told["command"])
        if folded(told["head"]) not in _words() and is_command(bare):
            yield "program"
    tokens = list(re.finditer(r"\S+", line))
    done = -1
    for place, token in enumerate(tokens[:-1]):
        name = folded(token[0])
        if (
            place <= done
            or not _names(name, tokens, place)
            or not _LOWER.match(token[0].strip("`*("))
            or _END.search(token[0])
        ):
            continue
        end = _ends(tokens, place + 1, is_everyday=name in words("wake", "everyday"), name=name)
        if end > place + 1:
            done = end
            said = " ".join(one[0] for one in tokens[place:end])
            yield from understood.unknown_in(_STOP.sub("", said), owners)


def _names(name: str, tokens: Sequence[re.Match[str]], place: int) -> bool:
    """True if a word of a sentence may name a program: not what another is asked, and no everyday word."""
    is_option = tokens[place + 1][0].startswith("-")
    before = folded(tokens[place - 1][0].strip("`\"'")) if place else ""
    if any("rest" not in row.takes for row in understood.rows().get(before, ())):
        return False
    if name not in understood.rows() or name in words("commands", "ambiguous"):
        return is_option and name in _words()
    return tokens[place + 1][0][:1] not in "(\"'" or not any(row.verbs for row in understood.rows()[name])


def _ends(tokens: Sequence[re.Match[str]], start: int, *, is_everyday: bool, name: str) -> int:
    """Where the command that a sentence holds ends; `start` if it is none."""
    first = tokens[start][0].strip("`*")
    is_verb = not is_everyday and any(
        (first.lower(),) == verb[:1] for row in understood.rows().get(name, ()) for verb in row.verbs
    )
    if not (is_verb or _TELLING.match(first)) or (is_everyday and not first.startswith("-")):
        return start
    end, last, quote = start, start, ""
    while end < len(tokens):
        word = tokens[end][0]
        was_open, quote = bool(quote), _quote_after(word, quote)
        if was_open or quote or word in _SIGNS or tokens[end - 1][0] in _SIGNS:
            last = end + 1
            end += 1
            continue
        is_end = _END.search(word) is not None
        if end > start and _WORDY.match(word) and word.lower().rstrip(".,;:!?") in words("commands", "sentence"):
            break
        if not _WORDY.match(word) or end == start or (is_verb and end == start + 1 and not is_end):
            last = end + 1
        end += 1
        if is_end and not word.endswith(('"', ")")):
            break
    return last


def _quote_after(word: str, quote: str) -> str:
    """The quotation mark that is open behind a word, "" if none is."""
    for letter in word:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
    return quote
