"""Which deletions, writes over disks and grants of rights are more than advice may ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from pipeline.lexicon.advice import places
from pipeline.lexicon.advice.shell import Value
from pipeline.lexicon.advice.tables import table, words
from pipeline.records import warm

#: A file by its name and ending, where one stands.
_NAMED_FILE = warm.pattern(
    r"(?!\.)[\w-][\w.-]{0,60}\.(?:json|lock|lockb|txt|log|toml|yaml|yml|cfg|ini|so|o|pyc|whl|zip|gz|tar)"
)
_RECURSIVE = warm.pattern(r"-[a-zA-Z]*[rR][a-zA-Z]*$|--recursive$|-rec\w*$|/s$|-r\w*$", re.IGNORECASE)
_PLACE = warm.pattern(r"^/|^~|^[A-Za-z]:|^-|^\d$|\$|/s$")
_OPTION = warm.pattern(r"-|/[a-zA-Z]$")
#: Databases that tests make anew, by their names.
_OF_TESTS = warm.pattern(r"(?:\w+_)?(?:tests?|ci|tmp|temp)(?:_\w+)?|\w+_test\d*", re.IGNORECASE)
_OPEN = warm.pattern(r"(?:[augo]*\+[rwx]*w[rwx]*)|0?[0-7]?[0-7][0-7][2367]$")
_SETUID = warm.pattern(r"[ugoa]*\+[rwxt]*s|0?[2467][0-7]{3}$")


def removal_fault(name: str, args: Sequence[Value], folder: str) -> str | None:
    """The kind of what the command does that nobody is told to do, None if it does nothing of the kind."""
    texts = [one.text for one in args]
    if name in words("removals", "removers"):
        return _removed(name, texts, folder)
    if name in ("find", "fd", "fdfind"):
        return _found(texts, folder)
    if name == "git":
        return _cleaned(texts, folder)
    if name in ("rsync", "robocopy"):
        wipes = any(re.match(r"--delete|/mir|/purge", one, re.IGNORECASE) for one in texts)
        kept = [one for one in texts if not one.lower().startswith(("-", "/mir"))]
        return "deletes" if wipes and kept and not places.is_disposable(kept[-1], folder) else None
    if name in ("docker", "podman") and any(re.match(r"(?:-v=?|--volume=?|source=)?/:/", one) for one in texts):
        return "security-off"
    return _wiped(name, texts) or _granted(name, texts)


def _wiped(name: str, texts: Sequence[str]) -> str | None:
    """What destroys a disk, a machine's system, or all that a service holds."""
    joined = " ".join(texts)
    is_wiped = False
    if name.startswith(tuple(table("removals")["disks"])):
        is_wiped = any(_PLACE.search(one) for one in texts)
    elif name == "dd":
        is_wiped = any(places.is_of_the_system(one[3:]) for one in texts if one.startswith("of="))
    elif name == "mv":
        is_wiped = any(one.rstrip(".,") == "/dev/null" for one in texts[1:])
        is_wiped = is_wiped or (bool(texts) and places.is_of_the_system(texts[0]))
    elif name in ("truncate", "clear-content", "cp"):
        is_wiped = any(places.is_of_the_system(one) for one in texts[-1:])
        many = [one for one in texts if "*" in one and not one.startswith("-")] if name != "cp" else []
        is_wiped = is_wiped or any(not places.is_disposable_pattern(one.rpartition("/")[2]) for one in many)
    elif name == "userdel":
        is_wiped = bool(texts)
    elif name == "dropdb":
        named = [one for one in texts if not one.startswith("-")]
        is_wiped = not named or not all(_OF_TESTS.fullmatch(one) for one in named)
    elif name in _words_of("destroying"):
        is_wiped = re.search(_words_of("destroying")[name], joined, re.IGNORECASE) is not None
    return "deletes" if is_wiped else None


@cache
def _words_of(name: str) -> Mapping[str, str]:
    """Program -> the words with which it does what the rows of a table say."""
    return {program: row["words"] for row in table("removals")[name] for program in row["names"]}


_FOUND_AND_GONE = warm.pattern(
    r"(?:^|\s)-delete\b|-exec(?:dir)?\s.*(?:\b(?:rm|shred|unlink|truncate|mv|dd)\b|sh -c)|-ok\s.*\brm\b|-[xX]\s+rm"
)


def _removed(name: str, texts: Sequence[str], folder: str) -> str | None:
    """A deletion of more than files that are named: folders that are no cache or build, all in a folder, the system."""
    paths: list[str] = []
    for one in texts:
        if one.lower().rstrip(".,") in words("removals", "ends"):
            break
        if not _OPTION.match(one) or (one.startswith("/") and len(one.rstrip(".,*")) != 2):
            paths.append(one.rstrip(",;:"))
    deep = any(_RECURSIVE.match(one) for one in texts) or name in ("rd", "srm")
    if "--no-preserve-root" in texts:
        return "deletes"
    if "{}" in paths:
        return None  # `find` puts its own there, and is judged itself
    paths = [one for one in paths if one and one != "--"]
    if not paths:
        return "deletes" if deep else None
    for path in paths:
        if _NAMED_FILE.fullmatch(path) and not places.is_secret(path):
            continue  # with `-r` too: it is a file
        everything = re.fullmatch(r"(?:.*/)?[*.?]+|~/?|\$HOME/?", path) is not None
        is_much = everything or (deep and _is_path(path, paths))
        if path.startswith("$stdin") or (is_much and not places.is_disposable(path, folder)):
            return "deletes"
        if places.is_of_the_system(path) or places.is_secret(path) or places.is_door(path):
            return "deletes"
    return None


def _is_path(path: str, paths: Sequence[str]) -> bool:
    """True for what is deleted; words of the sentence behind the command are none."""
    return path is paths[0] or bool(re.search(r"[/~*$.\\_:]", path))


def _found(texts: Sequence[str], folder: str) -> str | None:
    joined = " ".join(texts)
    if not _FOUND_AND_GONE.search(joined):
        return None
    patterns = [
        texts[n + 1]
        for n, one in enumerate(texts[:-1])
        if one in ("-name", "-iname", "-path", "-wholename", "-e", "-g")
    ]
    starts: list[str] = []
    for one in texts:
        if one.startswith(("-", "(", "!")):
            break
        starts.append(one)
    is_everywhere = any(one in ("/", "/*") for one in starts)
    if is_everywhere and not all(one.lower() in ("*.pyc", "*.pyo", "__pycache__") for one in patterns):
        return "deletes"
    if patterns and all(places.is_disposable_pattern(one.rpartition("/")[2] or one) for one in patterns):
        return None
    return None if starts and all(places.is_disposable(one, folder) for one in starts) else "deletes"


def _cleaned(texts: Sequence[str], folder: str) -> str | None:
    """`git clean -fdx` of a checkout is how projects are built anew; of a home folder it deletes everything."""
    if "clean" not in texts:
        return None
    place = next((texts[n + 1] for n, one in enumerate(texts[:-1]) if one == "-C"), folder)
    bare = place.rstrip("/").lower()
    return "deletes" if bare in ("~", "$home", "", "/") and (place or folder) else None


def _granted(name: str, texts: Sequence[str]) -> str | None:
    joined = " ".join(texts).lower()
    if name in ("chmod", "setfacl", "icacls"):
        modes = [one.rstrip(".,") for one in texts if not one.startswith("-")][:1]
        if any(_SETUID.match(one) for one in modes) and name == "chmod":
            return "security-off"
        wide = any(
            re.fullmatch(
                r"0?777|[augo]*[oa][ugo]*[+=]\w*w\w*|\+\w*w\w*|ugo[+=]rwx|0?[0-7]?666|[ugoa=+rwx,]*[oa][=+]rwx", one
            )
            for one in modes
        )
        return "security-off" if wide or re.search(r"everyone:(?:\(\w+\))*\(?f", joined) else None
    if (
        name == "chown"
        and re.search(r"(?:^|\s)-\w*r", joined)
        and re.search(r"\s(?:/|/etc|/usr|/bin|/\*)(?:\s|$)", joined + " ")
    ):
        return "security-off"
    if name in ("systemctl", "service", "sc", "stop-service", "launchctl"):
        off = re.search(r"\b(?:stop|disable|mask|off)\b", joined) or name == "stop-service"
        guard = re.search(
            r"firewalld|ufw|apparmor|auditd|selinux|windefend|fail2ban|mpssvc|falcon|crowdstrike|clamav", joined
        )
        return "security-off" if off and guard else None
    pattern = _words_of("disabling").get(name)
    return "security-off" if pattern and re.search(pattern, joined) else None
