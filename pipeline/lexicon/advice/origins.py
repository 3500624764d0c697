"""Whether software comes from somebody known: hosts, owners, channels, names of packages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from urllib.parse import urlsplit

from rapidfuzz.distance import OSA

from pipeline.lexicon.advice.tables import table, words
from pipeline.records import warm

_ADDRESS = warm.pattern(r"(?:git\+)?(?:https?|ftp|ssh|git|file)(?:\+\w+)?://[^\s'\"`<>|;)]+|git@[\w.-]+:[\w./-]+")
#: Hosts on which the first part of a path is an account.
_FORGES = frozenset(
    ["github.com", "www.github.com", "raw.githubusercontent.com", "gitlab.com", "gitee.com", "codeload.github.com",
     "gist.githubusercontent.com", "gist.github.com", "api.github.com", "bitbucket.org", "codeberg.org"]
)  # fmt: skip
_NAME = warm.pattern(r"^([A-Za-z0-9][\w.-]{2,60}?)(?:\[[^\]]*\])?(?:[=<>!~@;]=?.*)?$")


def addresses(text: str) -> list[str]:
    """The addresses in a text."""
    return _ADDRESS.findall(text)


def is_known(address: str, owners: Collection[str] = ()) -> bool:
    """True if who publishes at `address` is known; `owners`: accounts that are no strangers here, in lower case."""
    address = address.removeprefix("git+").rstrip(".,")
    if re.match(r"[\w.-]+@[\w.-]+:", address):
        address = "ssh://" + address.partition("@")[2].replace(":", "/", 1)
    if "://" not in address:
        address = "https://" + address
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
    except ValueError:
        return False
    local = host in ("localhost", "127.0.0.1", "0.0.0.0", "::1")  # noqa: S104
    if parts.scheme in ("http", "ftp", "git") and not local:
        return False
    if "@" in parts.netloc and parts.scheme != "ssh":
        return False
    if parts.scheme == "file" or local:
        return True
    path = parts.path.strip("/").lower()
    account = path.removeprefix("repos/").partition("/")[0]
    if host in _FORGES:
        return account in _owners() or account in owners
    if host.endswith((".github.io", ".gitlab.io")):
        return host.partition(".")[0] in _owners() or host.partition(".")[0] in owners or _listed(host, path)
    return _listed(host, path)


#: An address in a command, whatever program it is for; what stands between its letters may be a variable.
_NAMED = warm.pattern(r"\b(?:https?|ftp|ssh|git|oci|rsync|tcp|wss?|s3)://([^\s'\"`<>|;),]+)", re.IGNORECASE)
_PRIVATE = warm.pattern(
    r"(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)\.[\d.]+|0\.0\.0\.0|\[::1?\]|[\w-]+"
    r"|(?:.*\.)?(?:example\.(?:com|org|net)|localhost|local|internal|lan|invalid|test|placeholder)"
)
_UNSAID = warm.pattern(r"[${}%*]|\.\.\.|your|my[-_.]|xxx", re.IGNORECASE)


def strangers(text: str, owners: Collection[str] = ()) -> Iterator[str]:
    """The addresses in `text` of which nobody knows whose they are: not private, no example, not in the tables."""
    for found in _NAMED.finditer(text) if "://" in text else ():
        host = found[1].partition("/")[0].rpartition("@")[2].partition(":")[0].lower().rstrip(".")
        if _PRIVATE.fullmatch(host) or _UNSAID.search(host):
            continue
        if not is_known(f"https://{host}/{found[1].partition('/')[2]}", owners):
            yield found[0]


def _listed(host: str, path: str) -> bool:
    whole = f"{host}/{path}"
    for known in table("origins")["hosts"]:
        if "/" in known:
            if whole == known or whole.startswith(known + "/") or f"/{whole}/".startswith(f"/{known}/"):
                return True
        elif host == known or host.endswith("." + known):
            return True
    return False


@cache
def _owners() -> frozenset[str]:
    return words("origins", "owners")


def is_known_channel(channel: str, owners: Collection[str] = ()) -> bool:
    """True if conda's `channel` is one that is known, or an address of somebody known."""
    low = channel.lower().strip("/")
    if "://" in low:
        return is_known(low, owners)
    known = words("origins", "channels")
    return low in known or low.partition("/")[0] in known or low in owners


_LIBRARIES = ("docker.io/library/", "docker.io/", "library/", "registry.hub.docker.com/")


def is_known_image(image: str, owners: Collection[str] = ()) -> bool:
    """True if who publishes a container's image is known; one without an account is official or one's own."""
    name = image.partition("@")[0].lower()
    for library in _LIBRARIES:
        name = name.removeprefix(library)
    name = re.sub(r":[\w.-]+$", "", name)
    first, _, rest = name.partition("/")
    if _near_one(name.rpartition("/")[2], words("origins", "images")):
        return False
    if not rest:
        return True
    if (_PRIVATE.fullmatch(first.partition(":")[0]) and "." in first) or _UNSAID.search(first) or first == "localhost":
        return True
    if first in words("origins", "registries"):
        return True
    is_host = "." in first or ":" in first
    if is_host and not _listed(first.partition(":")[0], ""):
        return False  # whose registry it is nobody knows, whatever accounts are called there
    account = rest.partition("/")[0] if is_host else first
    return account in _owners() or account in owners or account in words("origins", "image_owners")


def is_known_model(repository: str, owners: Collection[str] = ()) -> bool:
    """True if who publishes a model at `account/name` is known, or it is a placeholder."""
    account = repository.partition("/")[0].lower()
    is_listed = account in _owners() or account in owners or account in words("origins", "model_owners")
    return (
        is_listed
        or _UNSAID.search(repository) is not None
        or account in ("path", "local", "models", "org", "user", ".")
    )


def mistyped(packages: Sequence[str], registry: str = "pypi") -> Iterator[tuple[str, str]]:
    """(name, the well-known one that it nearly is) of the packages of a registry that are not themselves known."""
    for word in packages:
        found = _NAME.fullmatch(word.partition("/")[2] if word.startswith("@") else word)
        if not found:
            continue
        name = re.sub(r"[-_.]+", "-", found[1].lower())
        near = _near(name, registry)
        if near:
            yield name, near


@cache
def _known_packages(registry: str) -> tuple[frozenset[str], frozenset[str]]:
    """(well-known names of a registry, real ones beside them)."""
    listed, real = list(table("packages").get(registry, ())), list(table("packages")["real"])
    if registry == "pypi":
        listed += table("origins")["packages"]
        real += table("origins")["neighbours"]
    real += table("packages").get(f"{registry}_neighbours", ())
    return frozenset(re.sub(r"[-_.]+", "-", one) for one in listed) | {"python"}, frozenset(real)


@cache
def _near(name: str, registry: str) -> str:
    """The well-known name that `name` nearly is, "" if it is known or near none.

    Near: a letter is another, missing or in the wrong place, other marks, digits for letters, a word behind it.
    """
    known, real = _known_packages(registry)
    if len(name) < _SHORTEST or name in known or name in real:
        return ""
    for one in sorted(known):
        if len(one) >= _LONG and _is_like(name, one):
            return one
        if _SHORTEST <= len(one) < _LONG and sorted(name) == sorted(one):
            return one
    for part in name.split("-"):  # two letters of a part in the wrong order
        for one in known if len(part) >= _LONG and part not in known else ():
            if part != one and sorted(part) == sorted(one) and OSA.distance(part, one) == 1:
                return one
    stem, _, last = name.rpartition("-")
    if not stem or last.rstrip("0123456789") not in table("packages")["affixes"]:
        return ""
    parts = stem.split("-")
    begins = ("-".join(parts[:end]) for end in range(len(parts), 0, -1))
    named = (one for one in begins if one in known or one in table("packages")["projects"])
    return next(named, "") or _squeezed_names(registry).get(_squeezed(stem), "")


@cache
def _squeezed_names(registry: str) -> dict[str, str]:
    """The well-known names of a registry by what is left of them without marks and doubled letters."""
    return {_squeezed(one): one for one in sorted(_known_packages(registry)[0])}


def _is_like(name: str, one: str) -> bool:
    far = 2 if min(len(name), len(one)) >= _TWO_SLIPS and name[:2] == one[:2] and name[-1] == one[-1] else 1
    if OSA.distance(name, one, score_cutoff=far) <= far and re.sub(r"[\d.]", "", name) != re.sub(r"[\d.]", "", one):
        return True
    return _squeezed(name) == _squeezed(one)


def is_mixed(text: str) -> bool:
    """True if a word mixes letters of two scripts that look alike: nobody types such a word by chance."""
    return _MIXED.search(text) is not None


#: A Cyrillic letter among Latin ones; Greek ones are units and mathematics.
_MIXED = warm.pattern(
    "(?<=[a-zA-Z])[\u0400-\u052f](?=[a-zA-Z])|(?<![\u0400-\u052f])[\u0430-\u045f](?=[a-z]{3})|(?<=[a-z]{3})[\u0430-\u045f](?![\u0400-\u052f])"
)
#: Shorter names are near too many others; longer ones may have two letters wrong.
_SHORTEST, _LONG, _TWO_SLIPS = 4, 5, 9


def _near_one(name: str, known: Collection[str]) -> str:
    """The name of `known` that `name` nearly is, "" if it is one of them or near none."""
    if name in known or len(name) < _SHORTEST:
        return ""
    return next((one for one in sorted(known) if len(one) >= _LONG and _is_like(name, one)), "")


def _squeezed(name: str) -> str:
    """A name without its marks, with letters for the digits that look like them, each doubled letter once."""
    bare = re.sub(r"[-_./@]", "", name).translate(str.maketrans("013457", "oleast"))
    return re.sub(r"(.)\1+", r"\1", bare)
