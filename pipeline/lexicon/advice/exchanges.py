"""What commands bring from the network, send there, show and open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pipeline.lexicon.advice import origins, places
from pipeline.lexicon.advice.interpreters import STDIN, is_script_file
from pipeline.lexicon.advice.outputs import SOCKET
from pipeline.lexicon.advice.shell import NOTHING, Command, From, Value
from pipeline.lexicon.advice.tables import words
from pipeline.records import warm

if TYPE_CHECKING:
    from pipeline.lexicon.advice.effects import Effects

_SENDING = warm.pattern(
    r"^(?:-d|-F|-T|-dbin|--data\S*|--form\S*|--upload-file|--post-file\S*|--post-data\S*|--body\S*|-body|-infile|-H|-u"
    r"|--header|--json|-X)"
)
_KEYS = warm.pattern(
    r"^(?:gh auth token|gpg .*--export-secret|gcloud auth print|aws configure get|security find-|git credential fill"
    r"|kubectl get secrets?|az account get-access|vault read|pass show|op read|docker-credential)"
)
_LINK = warm.pattern(
    r"https?://|@[\w.-]+:|ftp://|\b[\w-]+(?:\.[\w-]+)+(?:/|:\d)|\.\w{2,8}(?:/|$)|^\$|localhost|\d+\.\d+\.\d+\.\d+"
)
#: `git@host:path`, `me@host:path`.
_REMOTE = warm.pattern(r"[\w.-]+@[\w.-]+:")
_AWAY = warm.pattern(r"^(?:[\w.-]+@)?[\w.-]{2,}::?|://")
_PATHLIKE = warm.pattern(r"[./\\]")
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", ">&"})


def fetched(effects: Effects, name: str, args: Sequence[Value], fed: Value) -> Value:
    """What a program brings from the network, and whether it takes something secret there."""
    if fed.source & From.SECRET:
        effects.faults.append("credentials")
    for place, one in enumerate(args):
        before = args[place - 1].text if place else ""
        sent = one.text.partition("@")[2] if "@" in one.text and "://" not in one.text else ""
        at = _SENDING.match(before) or _SENDING.match(one.text) or name in ("scp", "rclone", "gsutil", "sftp", "nc")
        if one.source & From.SECRET and (at or not before.startswith(("-H", "--header", "-u"))):
            is_login = before in ("-H", "--header", "-u") and not one.source & From.NETWORK
            if not is_login or not goes_home(effects, args):
                effects.faults.append("credentials")
        named = [part for part in re.findall(r"\$(\w+)", one.text) if places.is_secret_name(part)]
        if named and one.source & From.UNKNOWN and not goes_home(effects, args):
            effects.faults.append("credentials")
        if (at or name in ("scp", "nc")) and (places.is_secret(sent or one.text) and "://" not in one.text):
            effects.faults.append("credentials")
    if not any(_LINK.search(one.text) or one.source for one in args):
        return fed
    made = Value("", From.NETWORK)
    link = next((one.text for one in args if "://" in one.text), "")
    trusted = bool(link) and all(
        origins.is_known(one.text, effects.owners) for one in args if "://" in one.text
    )  # fmt: skip
    for path in _written(name, args):
        effects.keep(path, NOTHING if trusted else made)
    return made


def keys(name: str, args: Iterable[Value]) -> bool:
    """True if a command prints a key or a token."""
    return _KEYS.search(" ".join([name, *(one.text for one in args)])) is not None


def sends_home(name: str, args: Sequence[str]) -> bool:
    """True if a program copies a home folder, or a file with secrets, to another machine."""
    if name not in words("programs", "copiers"):
        return False
    plain = [one for one in args if not one.startswith("-")]
    is_remote = name not in ("rsync", "scp") or any(_AWAY.search(one) for one in plain[1:])
    sources = plain[:-1] if name in ("rsync", "scp") else plain
    return is_remote and any(places.is_home(one) or places.is_secret(one) for one in sources)


def goes_home(effects: Effects, args: Iterable[Value]) -> bool:
    """True if a token is shown to a host that is known: that is what it is for."""
    links = [one.text for one in args if "://" in one.text]
    return bool(links) and all(origins.is_known(link, effects.owners) for link in links)


def touches(effects: Effects, name: str, command: Command, fed: Value) -> None:
    """Nothing; files with secrets that a command shows, and doors that it opens, are faults."""
    args = command.words[1:]
    paths = [one.text for one in args if not one.text.startswith("-")]
    if name in ("cat", "less", "more", "head", "tail", "base64", "xxd", "strings", "type", "get-content", "gc", "bat",
                "tac", "nl", "od", "pbcopy", "xclip", "clip", "hexdump", "tee", "cp", "tar", "zip", "7z", "rsync",
                "gpg", "openssl", "grep", "sed", "awk", "sort"):  # fmt: skip
        is_login = name in ("cp",) and not command.pipes_to
        if any(places.is_secret(path) for path in paths) and not is_login:
            effects.faults.append("credentials")
    if name in ("tee", "cp", "mv", "install", "ln", "dd", "sponge", "add-content", "set-content", "out-file"):
        if any(
            places.is_door(path.removeprefix("of="))
            for path in paths[-1 if name not in ("tee", "add-content", "set-content", "out-file") else 0 :]
        ):
            effects.faults.append("security-off" if "key" not in " ".join(paths) else "credentials")
        for path in paths if name in ("tee", "sponge") else ():
            effects.keep(path, fed)
    if name in ("cp", "install", "mv") and len(paths) > 1 and paths[0] in STDIN:
        effects.keep(paths[-1], fed)
    if name in ("cp", "mv", "ln", "install") and len(paths) > 1 and (held := effects.held(paths[0])) is not None:
        effects.keep(paths[-1], held)
    if name in ("mail", "mailx", "sendmail", "ssh") and fed.source & From.SECRET:
        effects.faults.append("credentials")
    if name in ("echo", "printf", "write-output", "write-host"):
        shown = [one for one in args if one.source & From.UNKNOWN and places.is_secret_name(one.text)]
        if shown and not command.pipes_to and not any(r.operator in _WRITES for r in command.redirects):
            effects.faults.append("credentials")


def opens(name: str, command: Command) -> bool:
    """True if a command gives a shell to whoever connects."""
    args = [one.text for one in command.words[1:]]
    if name in ("nc", "ncat", "netcat", "busybox"):
        return any(re.match(r"-[a-zA-Z]*[ec]$|--(?:exec|sh-exec|lua-exec)", one) for one in args) or bool(
            command.stdin and command.stdin.source & From.UNKNOWN and any(r.operator == ">" for r in command.redirects)
        )
    if name == "socat":
        return any(re.search(r"(?:exec|system|shell):?", one, re.IGNORECASE) for one in args)
    if name in ("xterm",):
        return "-display" in args
    if name == "telnet":
        return bool(command.stdin and command.stdin.source & From.UNKNOWN)
    return name in words("programs", "shells") and "-i" in args and any(
        SOCKET.search(one.target.text) for one in command.redirects
    )  # fmt: skip


def strange(effects: Effects, name: str, called: str, args: Sequence[str]) -> None:
    """Nothing; what is run or installed out of somebody unknown's files is a fault."""
    links = [one for one in args if "://" in one or _REMOTE.match(one)]
    if name in ("git", "gh", "hg", "svn") and {"clone", "checkout", "submodule"}.intersection(args[:3]):
        effects.has_strange_code |= any(not origins.is_known(link, effects.owners) for link in links)
    elif effects.has_strange_code and (
        called.startswith(("./", "../"))
        or name in ("make", "cmake", "ninja", "docker-compose")
        or (
            (name in words("programs", "shells") or name in words("programs", "interpreters"))
            and any(is_script_file(one) for one in args)
        )
        or (
            name in ("pip", "uv", "npm", "cargo", "poetry", "conda")
            and {"install", "build", "i", "sync"}.intersection(args)
        )
    ):
        effects.faults.append("foreign-source")


def _written(name: str, args: Sequence[Value]) -> list[str]:
    """The files that a fetcher writes: as its options say, else as the address ends."""
    found: list[str] = []
    for place, one in enumerate(args):
        before = args[place - 1].text if place else ""
        if re.fullmatch(
            r"-[a-zA-Z]*[oO]|--output(?:-document)?|--out|-outfile|--dir|--output-dir", before, re.I
        ) and not (one.text.startswith("-") or "://" in one.text):
            found.append(one.text)
        elif found_in := re.match(r"(?:--output(?:-document)?=|-[oO])(.+)", one.text):
            found.append(found_in[1])
        elif name == "scp" and ":" in one.text:
            found.append(one.text.rpartition(":")[2])
        elif "://" in one.text or (name in ("wget",) and _LINK.search(one.text)):
            found.append(re.sub(r"[?#].*", "", one.text).rstrip("/").rpartition("/")[2])
        elif name in ("bitsadmin", "certutil", "start-bitstransfer", "scp", "rclone", "gsutil") and _PATHLIKE.search(
            one.text
        ):
            found.append(one.text)
    return found
