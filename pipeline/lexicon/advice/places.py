"""Which folder may be deleted with all that is in it, and which files hold secrets or open doors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.lexicon.advice.tables import table, words
from pipeline.records import warm

_VARIABLE = warm.pattern(r"\$(?:env:)?\{?(\w+)\}?|%(\w+)%", re.IGNORECASE)
_HOME = frozenset({"~", "$home", "${home}", "%userprofile%", "$env:userprofile", "/root", "$pwd", "."})
_WILD = warm.pattern(r"^[*?.\[\]!^{},]+$")


def is_disposable(path: str, folder: str = "") -> bool:
    """True if all that is at `path` (seen from `folder`, "" where that is not known) is made anew by a program."""
    path = path.strip().strip("'\"`,;").rstrip(".") if path not in (".", "..") else path
    if folder and not path.startswith(("/", "~", "$", "\\")):
        path = f"{folder}/{path}"
    parts = [part for part in re.split(r"[/\\]+", path.lower()) if part not in ("", ".")]
    if ".." not in parts and any(path.startswith(one) for one in table("places")["disposable_paths"]):
        return True
    if ".." in parts:
        first = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
        if ".." in parts[first:]:
            return False
    for place, part in enumerate(parts):
        if _is_named(part):
            inside = [one for one in parts[place + 1 :] if not _WILD.fullmatch(one)]
            return part not in words("places", "wide") or bool(inside) or _is_project(parts, place)
    return False


def _is_project(parts: Sequence[str], place: int) -> bool:
    """A folder of a project, such as `logs`, not the system's own."""
    return place == len(parts) - 1 and parts[0] not in ("tmp", "var", "usr", "temp", "c:") and parts[place] not in (
        "site-packages", "dist-packages", "tmp", "temp",
    )  # fmt: skip


def _is_named(part: str) -> bool:
    found = _VARIABLE.fullmatch(part) or _VARIABLE.match(part)
    if found:
        name = (found[1] or found[2] or "").lower()
        return any(one in name for one in words("places", "disposable_variables"))
    if _WILD.fullmatch(part) or part in _HOME:
        return False
    bare = part.rstrip("*")
    return bare in words("places", "disposable") or any(one in part for one in table("places")["disposable_parts"])


def is_disposable_pattern(pattern: str) -> bool:
    """True if `find -name PATTERN` finds only what a program makes anew."""
    return pattern.lower() in words("places", "disposable_patterns") or _is_named(pattern.lower())


def is_secret(path: str) -> bool:
    """True if the file holds a key, a token or a password."""
    low = path.lower().replace("\\", "/").strip("'\"@")
    if low.endswith((".pub", ".example", ".sample", ".template")) or "known_hosts" in low:
        return False
    if low.rstrip("/").rpartition("/")[2] in (".ssh", ".aws", ".gnupg", ".kube"):
        return True
    for part in table("places")["secrets"]:
        if part == ".env":
            if low.rpartition("/")[2] == ".env":
                return True
        elif part == ".pem":
            if low.endswith(".pem") and not any(one in low for one in ("cert", "ca", "bundle", "chain")):
                return True
        elif part in low:
            return True
    return False


def is_home(path: str) -> bool:
    """True if a path is somebody's whole home folder, or the folder of all settings in it."""
    bare = path.lower().strip("'\"").rstrip("/*.").replace("\\", "/")
    return bare in ("~", "~/.config", "$home/.config") or bare in _HOME - {"$pwd", "."} or (
        re.fullmatch(r"/home(?:/[\w.-]+)?|/users/[\w.-]+", bare) is not None
    )  # fmt: skip


def is_secret_name(name: str) -> bool:
    """True if a variable of this name holds a secret."""
    low = name.lower()
    return any(part in low for part in table("places")["secret_names"]) and "tokeniz" not in low and "max_" not in low


def is_door(path: str) -> bool:
    """True if what is written into the file starts programs or lets somebody in."""
    low = path.lower().replace("\\", "/")
    return any(part.replace("\\", "/") in low for part in table("places")["doors"])


def is_of_the_system(path: str) -> bool:
    """True for files and devices without which a machine does not start."""
    low = path.lower()
    return any(low.startswith(part) for part in table("places")["system_files"])
