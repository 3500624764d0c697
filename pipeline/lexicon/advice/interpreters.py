"""What shells, interpreters and `eval` run: an option's words, a file, what they read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.lexicon.advice import origins, places, scripts
from pipeline.lexicon.advice.shell import NOTHING, From, Value
from pipeline.lexicon.advice.tables import words
from pipeline.records import warm

if TYPE_CHECKING:
    from pipeline.lexicon.advice.effects import Effects

STDIN = frozenset({"-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"})
_ONE_LINER = warm.pattern(
    r"-[a-zA-Z]{0,4}[ceErnp]$|--(?:eval|execute|command|print)$|-command$|-enc\w*$|/c$|-com$", re.IGNORECASE
)
_OPENS = warm.pattern(r"socket|fsockopen|tcpclient|inet/(?:tcp|udp)|net\.connect|io::socket|tcpsocket", re.IGNORECASE)
_RUNS = warm.pattern(
    r"dup2|pty\.spawn|exec|system|spawn|popen|\bsh\b|/bin/|subprocess|iex|invoke-expression|passthru|getline", re.I
)
_WIPES = warm.pattern(
    r"rm_rf|rm_r\b|rmtree|remove_dir_all|rmSync|rmdirSync|rimraf|\.rm\(|delTree|deleteRecursive", re.IGNORECASE
)
_QUOTED_PATH = warm.pattern(r"[\"']([~/.\w][^\"']*)[\"']")
_POWERSHELL = frozenset({"powershell", "pwsh"})
#: A shorter word behind `-e` is no encoded command.
_ENCODED = 12


#: Interpreters that take an address for a file.
_FROM_ADDRESSES = frozenset({"deno", "bun", "mshta", "rundll32", "regsvr32", "msiexec", "java", "julia"})


def runs(name: str) -> bool:
    """True if the program runs code that it is given."""
    return any(name in words("programs", row) for row in ("shells", "interpreters", "evaluators"))


def evaluated(effects: Effects, name: str, args: Sequence[Value], fed: Value) -> Value:
    """What `eval` and `source` print."""
    if name in ("source", "."):
        for one in args[:1]:
            effects.judge(one if one.is_stream else effects.held(one.text) or NOTHING)
            if one.text in STDIN:
                effects.judge(fed)
        return NOTHING
    for code in (fed, *args):
        if code.source & (From.NETWORK | From.DECODED):
            effects.judge(code)
            return NOTHING
    return effects.read(" ".join(one.text for one in args)) if args else effects.read(fed.text)


def interpreted(effects: Effects, name: str, args: Sequence[Value], fed: Value) -> Value:
    """What a shell or an interpreter prints; what it runs is judged: an option's words, a file, what it reads."""
    runs_input = True
    for place, one in enumerate(args):
        before = args[place - 1].text if place else ""
        if _ONE_LINER.match(before) and not (name == "make" and before == "-C"):
            _option(effects, name, before, args[place:])
            runs_input = False
        elif one.is_stream:
            effects.judge(one)
            runs_input = False
        elif one.is_quoted and _opens_a_shell(one.text):
            effects.faults.append("reverse-shell")
        elif (held := effects.held(one.text)) is not None or one.text == "-m" or is_script_file(one.text):
            effects.judge(held or NOTHING)
            runs_input = False
            break  # what stands behind a script is its own
        elif _is_stranger(effects, name, one.text):
            effects.faults.append("runs-the-network")
    if runs_input or any(one.text in STDIN for one in args):
        _input(effects, name, fed)
    return Value("", From.UNKNOWN | (fed.source & From.NETWORK))


def _option(effects: Effects, name: str, option: str, rest: Sequence[Value]) -> None:
    """Nothing; the words behind `-c` and its like are judged as what the program understands."""
    code = rest[0]
    if (
        name in _POWERSHELL
        and option.lower().startswith("-e")
        and len(code.text) > _ENCODED
        and "x" not in option.lower()
    ):
        effects.faults.append("hidden-code")
    elif code.source & (From.NETWORK | From.DECODED):
        effects.judge(code)
    elif name in words("programs", "shells"):
        effects.read(code.text if code.is_quoted else " ".join(one.text for one in rest))
    elif _opens_a_shell(code.text):
        effects.faults.append("reverse-shell")
    elif name != "python" and _WIPES.search(code.text):
        named = [path for path in _QUOTED_PATH.findall(code.text) if "/" in path]
        effects.faults += ["deletes" for path in named if not places.is_disposable(path)]
    else:
        effects.faults += scripts.faults(code.text, effects)
        effects.read(code.text, is_code=False)


def _input(effects: Effects, name: str, fed: Value) -> None:
    """Nothing; what a program reads and runs is judged."""
    if fed.source & (From.NETWORK | From.DECODED):
        effects.judge(fed)
    elif fed.text and name in words("programs", "shells"):
        effects.read(fed.text)
    elif fed.text:
        effects.faults += scripts.faults(fed.text, effects)


def _opens_a_shell(code: str) -> bool:
    return _OPENS.search(code) is not None and _RUNS.search(code) is not None


def _is_stranger(effects: Effects, name: str, word: str) -> bool:
    if word.lower().startswith(("javascript:", "vbscript:")):
        return True
    return "://" in word and name in _FROM_ADDRESSES and not origins.is_known(word, effects.owners)


def is_script_file(word: str) -> bool:
    """True if a word is a file that an interpreter may be given."""
    return bool(
        re.search(r"\w\.(?:py|sh|pl|rb|js|ts|lua|php|r|jl|bash|zsh|ps1|jar|mjs)\b|/\w{2}", word, re.IGNORECASE)
    ) and (not word.startswith("-") and "://" not in word and not word.startswith("/dev/"))
