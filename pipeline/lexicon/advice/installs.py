"""Which installations bring software from somebody unknown, or under a name that is nearly another's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pipeline.lexicon.advice import origins
from pipeline.lexicon.advice.shell import Value
from pipeline.lexicon.advice.spelling import folded
from pipeline.lexicon.advice.tables import heads, table
from pipeline.records import warm

#: Programs that install others.
INSTALLERS = frozenset(
    [
        *("pip", "pipx", "easy_install", "uv", "uvx", "poetry", "pdm", "pipenv", "conda", "mamba", "micromamba"),
        *("npm", "yarn", "pnpm", "npx", "bunx", "gem", "cargo", "go", "brew", "apt", "apt-get", "yum", "dnf", "zypper"),
        *("rpm", "dpkg", "add-apt-repository", "apt-key", "helm", "julia", "python", "kubectl", "docker", "podman"),
    ]
)
#: What they are asked to do.
VERBS = frozenset(
    [
        *(
            "install",
            "add",
            "i",
            "download",
            "create",
            "sync",
            "get",
            "run",
            "wheel",
            "update",
            "upgrade",
            "exec",
            "-i",
        ),
        *("-U", "-Uvh", "adv", "config", "tap", "compile", "inject", "develop", "--add", "apply", "build"),
    ]
)
_INDEX = warm.pattern(
    r"^(?:-i|-f|--index-url|--extra-index-url|--index|--default-index|--find-links|--pypi-url|--registry|--source"
    r"|--repository|--repo|--index-strategy|-e|--editable|--git|--overrideConfig|--keyserver)$"
)
_PYTHONIC = frozenset({"pip", "pipx", "uv", "poetry", "pdm", "pipenv", "easy_install", "uvx"})
_REGISTRIES = {
    **dict.fromkeys((*_PYTHONIC, "conda", "mamba", "micromamba"), "pypi"),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun", "npx", "bunx"), "npm"),
    "cargo": "cargo",
}
_END = warm.pattern(r"[.,;:]$")
#: A tap of Homebrew, or a formula of one.
_TAP = warm.pattern(r"([A-Za-z][\w-]{0,60})/[\w-]{1,60}(?:/[\w.@+-]{1,60})?")
_CHANNEL = warm.pattern(r"^(?:-c|--channel)$")
_STOP = frozenset(
    {
        "and",
        "then",
        "fixed",
        "solved",
        "to",
        "for",
        "worked",
        "works",
        "or",
        "in",
        "with",
        "helped",
        "from",
        "resolved",
        "did",
        "on",
        "first",
        "after",
        "instead",
    }
)


def install_fault(name: str, args: Sequence[Value], owners: Collection[str]) -> str | None:
    """The kind of fault, "foreign-source" or "typosquat", if the command installs such; None otherwise."""
    texts = [one.text for one in args]
    if name == "python":
        if texts[:2] != ["-m", "pip"] and texts[:2] != ["-m", "easy_install"]:
            return None
        name, texts = "pip", texts[2:]
    if name not in INSTALLERS or not (
        VERBS.intersection(_subcommand(name, texts)) or name in ("npx", "add-apt-repository", "uvx", "easy_install")
    ):
        return None
    if any(_is_strange(address, owners) for address in _from(name, texts)):
        return "foreign-source"
    for place, one in enumerate(texts):
        before = texts[place - 1] if place else ""
        is_channel = name in ("conda", "mamba", "micromamba") and (_CHANNEL.match(before) or before == "channels")
        if is_channel and not origins.is_known_channel(one, owners):
            return "foreign-source"
        if one.startswith("ppa:") and one[4:].partition("/")[0] not in table("origins")["archives"]:
            return "foreign-source"
    registry = _REGISTRIES.get(name)
    plain = [one for one in texts if not one.startswith("-")] if registry == "npm" else texts  # its options stand alone
    packages = list(_packages(plain))
    if registry and next(origins.mistyped(packages, registry), None):
        return "typosquat"
    return None


def _subcommand(name: str, texts: Sequence[str]) -> list[str]:
    """The words among which the verb stands; the sentence behind a command may hold such words too."""
    plain = [one for one in texts if not one.startswith("-")]
    return (
        plain[:1] if name in ("docker", "podman", "kubectl", "helm", "go", "gem", "brew") else [*plain[:3], *texts[:1]]
    )


def _from(name: str, texts: Sequence[str]) -> Iterator[str]:
    """The addresses that a command names: of indexes, archives, repositories."""
    for place, one in enumerate(texts):
        before = texts[place - 1] if place else ""
        option, _, value = one.partition("=")
        if _INDEX.match(before) and re.search(r"[./]\w", one) and not one.startswith((".", "/", "~", "$", "-")) and (
            (name in _PYTHONIC and before not in ("-e", "--editable")) or "://" in one
        ):  # fmt: skip
            yield one
        elif value and _INDEX.match(option):
            yield value
        elif before in ("global.index-url", "global.extra-index-url", "registry", "global.find-links", "index-url"):
            yield one
        elif name != "go" and (found := origins.addresses(one)):
            yield from found
        elif name == "go" and "://" not in one and re.match(r"[\w.-]+\.\w{2,6}/\w", one):
            yield f"https://{one.partition('@')[0]}"
        elif name == "brew" and (tap := _TAP.fullmatch(one)):
            yield f"https://github.com/{tap[1]}/homebrew-tap"
        elif re.match(r"(?:github|gitlab|bitbucket|git):\S", one):
            yield f"https://github.com/{one.partition(':')[2]}"
        elif one.startswith("git@"):
            yield one


def _is_strange(address: str, owners: Collection[str]) -> bool:
    address = _END.sub("", address.strip("'\""))
    if address.startswith(("$", "<", "{")) or address in ("conda-forge",):
        return False
    return not origins.is_known(address, owners)


def _packages(texts: Sequence[str]) -> Iterator[str]:
    started = False
    for place, one in enumerate(texts):
        if one in ("install", "add", "inject", "download", "uvx", "i"):
            started = True
        elif started and (one.lower().rstrip(".,") in _STOP or folded(one) in heads()):
            return
        elif (
            started
            and not one.startswith("-")
            and (place == 0 or not re.match(r"-[a-zA-Z]$|--[\w-]+url$|--channel", texts[place - 1]))
        ):
            yield re.sub(r"(?<=[\w.-])@[\w.^~-]+$", "", re.sub(r"[.,;:]+$", "", one))
