"""Acts that people describe, read as typed facts: "setting `X=1`" -> remedy.set_env{name: X, value: 1}."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pipeline.distil import tables, values
from pipeline.distil.project import Project
from pipeline.lexicon.products import PRODUCTS, Product
from pipeline.records import Fact, warm
from pipeline.text.needed import late

_SPAN = warm.pattern(r"`[^`\n]{2,160}`")
_NOT = warm.pattern(
    r"(?:\bnot|n't|\bnever|\bavoid|\bwithout|不要|别|无需|不用)(?: ?\w+)?[^\w.;,!?。，；！？]{0,3}$", re.IGNORECASE
)
_PLACEHOLDER = warm.pattern(r"^(?:<.*|\.\.\.|x+|path|value|your\w*|foo|bar|/path/.*|none|[$].*)$", re.IGNORECASE)

_HAN = warm.pattern(r"[\u4e00-\u9fff]")
_LATIN = warm.pattern(r"[A-Za-z][\w.+-]{2,}")
#: Calls, names in CamelCase, names of files: code although no mark says so (pages saved as text lose their marks).
_LOOKS = (
    r"\b[A-Za-z_]\w{1,40}\(\)|(?-i:\b[a-z]+[A-Z]\w+|\b[A-Z][a-z0-9]+[A-Z]\w+)"
    r"|\b[\w-]{1,40}\.(?:py|json|ya?ml|toml|hp?p?|cp?p|cu|so|dll|pb|h5|cfg|txt|sh|onnx|gguf|ini|proto)\b"
)

#: Where something is said, not what: "I tried [this](https://...)" names no act.
_ADDRESS = warm.pattern(r"\]\([^()\s]{1,300}\)|(?:https?://|www\.)[^\s)>\]]{1,300}")
_QUERY = warm.pattern(r"(https?://[^\s)>\]?#]{1,300})([?#][^\s)>\]]{1,300})")
_GIVEN = frozenset(
    {"remedy.set_parameter", "remedy.set_env", "remedy.set_flag", "remedy.add_flag", "remedy.call", "remedy.use"}
)
_TAKEN_AWAY = warm.pattern(
    r"(?:remov(?:e|ed|ing)|delet(?:e|ed|ing)|drop(?:ped|ping)?|comment(?:ed|ing)? out|instead of|去掉|删除|注释)"
    r"\W(?:\W|\w+\W){0,2}$",
    re.IGNORECASE,
)

#: Families of templates that say the same: only the family enters the key.
_FAMILIES = {
    "remedy.pin": "version",
    "remedy.upgrade_to": "version",
    "remedy.downgrade_to": "version",
    "remedy.set_env": "set",
    "remedy.set_flag": "set",
    "remedy.set_parameter": "set",
    "remedy.add_flag": "set",
    "remedy.enable": "set",
    "remedy.disable": "set",
    "remedy.remove_flag": "remove",
    "remedy.remove_parameter": "remove",
    "fix.merged": "change",
    "fix.closed_by": "change",
}
#: A statement that names no version gives way to one of the same sentence and package that does.
_UNVERSIONED = frozenset({"remedy.install", "remedy.upgrade", "remedy.downgrade", "remedy.reinstall"})
#: Values that options of builds take, and nobody's environment.
_OF_BUILDS = frozenset({"ON", "OFF"})
#: Behind an assignment, the file in which it is written: a setting of a build, not of the environment. Those that a
#: shell reads set its variables.
_IN_FILE = warm.pattern(
    r"[`'\"{}\w)]{0,12} (?:to|in|into|of|inside) (?:the |your |my |its )?(?:file )?[`'\"]?(?:[\w.~-]{1,60}/){0,6}"
    r"(?:[\w-]{1,60}\.(?:xcconfig|cmake|mk|mak|properties|ini|cfg|conf|toml|ya?ml|json|gradle|pri|pro|txt|config|h)"
    r"|(?:GNU)?[Mm]akefile(?:\.\w{1,12})?|CMakeLists|Config(?:ure)?\.\w{1,12})\b",
)
#: A shell takes no blank behind the mark alone: a line of a file of settings.
_FILE_LIKE = warm.pattern(r"\w= ")
#: A version, or a bound for one, in a form that no row reads: "tensorflow <= 1.8", "pip 19".
_BOUND = warm.pattern(r"[`'\")]{0,2} ?(?:version |v)?(?:[<>=~]{1,2} ?)?v?\d", re.IGNORECASE)
_VERSIONED = frozenset({"remedy.pin", "remedy.upgrade_to", "remedy.downgrade_to"})
#: Fragments of verbs with which rows begin: looked for once a sentence, not once a row.
_VERBS = ("LESS", "MORE", "UP", "DOWN", "PIN", "SET")
_FRAGMENT = warm.pattern(rf"<({'|'.join(_VERBS)})>")
_REMOVING = frozenset({"remedy.remove_flag", "remedy.remove_parameter", "remedy.clear_cache"})
#: More paths that are removed, or the rest of one: "`~/.cache`, `~/.config` and all", "`build`/x".
_GOES_ON = warm.pattern(
    r"[`'\"]{0,2}(?:\s?[,、，]\s?(?:and |or )?|\s(?:and|or|plus|as well as)\s|\s?[和及与]\s?)"
    r"(?:the |your )?[`'\"]{0,2}(?:[~./$][\w~./]|\w{1,40}/)|[`'\"]{0,2}[/~\\]"
)
#: Acts that name a version and not of what: it is one of the thread's own software, where it may be.
_OF_PROJECT = {
    "remedy.upgrade_version": "remedy.upgrade_to",
    "remedy.downgrade_version": "remedy.downgrade_to",
    "remedy.use_version": "remedy.pin",
}
#: "Try 0.4.1" may advise another version of what the project stands on; who tells what became of it means the project.
_ADVISED = warm.pattern(r"\b(?:could|can|should|may|might|please|try)\b", re.IGNORECASE)
#: Acts that leave out a value: where the words name one, they stand for themselves.
_WITHOUT_VALUE = frozenset(
    {f"remedy.{way}_{what}" for way in ("increase", "decrease") for what in ("flag", "parameter", "quantity")}
    | {"remedy.set_env_any", "remedy.set_parameter_any"}
)
#: "from 30s to 500ms", "调小到 500m": words behind an act that name its value.
_AIMED = warm.pattern(
    r"[`'\")]{0,2}[^;,!?，。；！？\n]{0,40}?(?:\b(?:to|by|from|as)\b|到|至|为|成|[=:])(?: \w+){0,3}?"
    r" ?[`'\"]{0,2}[-+~<>=]{0,2}\d",
    re.IGNORECASE,
)
#: What else belongs to a version or bound: "1.8.3-rc.1", "2.0.0.Final", ">=1.2,<2"; and what makes it another thing's.
_VERSION_REST = warm.pattern(
    r"(?:[-+][A-Za-z0-9]+(?:[._][A-Za-z0-9]+)*(?![A-Za-z0-9])|\.(?:Final|RELEASE|GA|SNAPSHOT)\b"
    r"|, ?(?:[<>=!~]=|[<>])[\w.*]+)+"
)
_OF_ANOTHER = warm.pattern(
    r"-(?:based|compatible|compliant|style|like|only|ish|specific|related|or|to|and)\b|\.(?:exe|zip|whl|tar|gz|jar|deb|rpm)\b",
    re.IGNORECASE,
)
#: More of a command than its row reads.
_MORE_OPTIONS = warm.pattern(r" --?[A-Za-z]")
_SWITCHED_ON = frozenset({"remedy.add_flag", "remedy.enable"})
_TARGETS = {
    "computer": "machine",
    "pc": "machine",
    "内核": "kernel",
    "电脑": "machine",
    "机器": "machine",
    "服务器": "server",
    "容器": "container",
}


@dataclass(frozen=True, slots=True)
class Action:
    """A fact with the place in the sentence where it is said."""

    fact: Fact
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Row:
    template: str
    literal: str  # must occur
    verb: str  # the name of verbs one of which must occur
    pattern: re.Pattern[str]
    is_of_thread: bool  # which products it names, the thread tells


@cache
def _rows() -> tuple[_Row, ...]:
    """The rows of actions.toml, fragments filled in."""
    rows = tables.table("actions.toml")
    spellings = sorted(tables.products(), key=lambda s: (-len(s), s))
    fragments = dict(rows["fragments"])
    fragments["PKG"] = r"(?<![\w/.-])(?:" + "|".join(map(re.escape, spellings)) + ")"
    fragments["QUANTITY"] = "|".join(rows["quantities"].values())
    return tuple(
        _Row(
            r["template"],
            r.get("with", ""),
            _verb(r["pattern"]),
            _compiled(r["pattern"], fragments),
            r.get("of_thread", False),
        )
        for r in rows["action"]
    )


def _verb(pattern: str) -> str:
    """The first fragment of verbs that the row cannot do without, "" if it has none."""
    if pattern.startswith("(?:把|将)?"):  # Chinese word order
        return "HAN"
    found = _FRAGMENT.match(pattern)
    return found.group(1) if found else ""


@cache
def _verbs() -> dict[str, re.Pattern[str]]:
    fragments = tables.table("actions.toml")["fragments"]
    return {name: _compiled(fragments[name], {}) for name in _VERBS} | {"HAN": _HAN}


def _compiled(pattern: str, fragments: Mapping[str, str]) -> re.Pattern[str]:
    for name, fragment in fragments.items():
        pattern = pattern.replace(f"<{name}>", f"(?:{fragment})")
    return late(pattern, re.IGNORECASE)


@cache
def _official_rows() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows = tables.table("actions.toml")
    fragments = {"LESS": rows["fragments"]["LESS"], "QUANTITY": "|".join(rows["quantities"].values())}
    return tuple((row["template"], _compiled(row["pattern"], fragments)) for row in rows["official"])


@cache
def _objects() -> re.Pattern[str]:
    rows = tables.table("actions.toml")
    fragments, nouns = rows["fragments"], rows["objects"]["nouns"]
    words = "|".join([*map(re.escape, nouns), *rows["quantities"].values()])
    # nouns in Latin letters need word borders, those in Han have none
    return warm.pattern(
        rf"`[^`\n]{{2,}}`|{fragments['ENV']}|{fragments['FLAG']}|{fragments['NAME']}|(?<![A-Za-z])(?:{words})s?(?![A-Za-z])"
        rf"|{_LOOKS}|[\w-]{{2,40}}==|(?<![\w.])(?:{fragments['VER']})(?![\w.])",
        re.IGNORECASE,
    )


#: Markup of pages and mails: its attributes are no settings.
_TAG = warm.pattern(r"</?(?:a|b|br|code|div|em|html|i|li|p|pre|span|strong|tt|ul)(?:\s[^<>]{0,300})?/?>", re.IGNORECASE)


def action(text: str, project: Project | None = None) -> Action | None:
    """The first typed act that `text` describes, None if no table row reads it or it is negated.

    `project`: the software that the thread is about, which a version without a name may be of, and which tells what
    else is a product there. Without it only products of the tables are read.
    """
    first: Action | None = None
    text = _QUERY.sub(lambda query: query[1] + " " * len(query[2]), text)  # "?_ga=2.13" sets nothing
    for act in _acts(_TAG.sub(lambda tag: " " * len(tag.group()), text), project):
        if first is None:
            first = act
        elif _package(act) == _package(first):
            return act  # "upgrade X to 4.43 (pip install -U X)": the one that names the version
        if first.fact.template not in _UNVERSIONED:
            break
    return first


def _acts(text: str, project: Project | None) -> Iterator[Action]:
    """The acts that the rows read, in the order of the rows; behind the first only those that name a version."""
    lowered = text.lower()
    absent = {name for name, verbs in _verbs().items() if not verbs.search(text)}
    is_first = True
    for row in _rows():
        template = row.template
        if row.verb in absent or row.literal not in lowered or not (is_first or template in _VERSIONED):
            continue
        if row.is_of_thread and project is None:
            continue
        for found in row.pattern.finditer(text):
            if _is_other(template, text, found):
                continue
            end = _end(template, text, found)
            if end is None:
                return  # the fact would tell something else than the words
            fact = _of_thread(template, found, project) if row.is_of_thread and project else _fact(template, found)
            if fact is not None:
                fact = _of_project(fact, text, project) if project else fact
                is_first = False
                yield Action(fact, key(fact), found.start(), end)
                break


def _is_other(template: str, text: str, found: re.Match[str]) -> bool:
    """True if the words around it turn the act round, or say more of it than the fact would."""
    before = text[max(0, found.start() - 24) : found.start()]
    if _NOT.search(before) or (template in _GIVEN and _TAKEN_AWAY.search(before)):
        return True
    if template in _REMOVING and _GOES_ON.match(text, found.end()):
        return True  # what else is removed would be left out of the fact: the words stand for themselves
    if template in _UNVERSIONED and _BOUND.match(text, found.end()):
        return True  # the version that the row does not read is what the act is about
    return template in _WITHOUT_VALUE and bool(_AIMED.match(text, found.end()))


def _end(template: str, text: str, found: re.Match[str]) -> int | None:
    """Where the act ends, its value read whole; None if what the row reads is only part of it."""
    if template == "remedy.run_command" and _MORE_OPTIONS.match(text, found.end()):
        return None
    if "value" not in found.re.groupindex:
        return found.end()
    read = values.value(text, found.start("value"))
    return max(found.end(), read[1]) if read else None


def _of_thread(template: str, found: re.Match[str], project: Project) -> Fact | None:
    """The fact of words that name software which the thread, and no table, knows."""
    slots = found.groupdict()
    if "program" in slots:
        is_own = project.is_command(slots["program"])
        return Fact(template, (("command", slots["command"].removeprefix("$ ").strip()),)) if is_own else None
    product = project.product(slots["package"], found.string)
    version = _slot("version", slots["version"].strip("`"), found)
    return Fact(template, (("package", product), ("version", version))) if product and version else None


def _of_project(fact: Fact, text: str, project: Project) -> Fact:
    """The same act with the product that it leaves out; as it is where the version may be of something else."""
    template, version = _OF_PROJECT.get(fact.template), dict(fact.slots).get("version", "")
    if fact.template == "remedy.use_version" and _ADVISED.search(text):
        return fact
    if template is None or _named_products().search(text) or not project.has_version(version):
        return fact
    return Fact(template, (("package", project.name), ("version", version)))


@cache
def _named_products() -> re.Pattern[str]:
    return warm.pattern(rf"(?<![\w/.-])(?:{tables.trie(sorted(tables.products()))})(?![\w-])", re.IGNORECASE)


def _package(act: Action) -> str:
    return dict(act.fact.slots).get("package", "").lower()


#: An official remedy says what to do in its lead and its first sentence or two; what follows says why.
_LEAD = 260


def official(text: str, flags: Sequence[str]) -> Fact | None:
    """The fact that the remedy of an official page states, None if it is more than one act or none that is typed."""
    lead = text[:_LEAD]
    for template, pattern in _official_rows():
        found = pattern.search(lead)
        fact = _fact(template, found) if found else None
        if fact is not None:
            said = " ".join(value for _, value in fact.slots)
            return fact if all(flag.split("=")[0] in said for flag in flags if flag in lead) else None
    return None


def without_addresses(text: str) -> str:
    """The text without what says where something is to be read, marks of markup included."""
    return _ADDRESS.sub(" ", _TAG.sub(" ", text))


def has_object(text: str) -> bool:
    """True if the sentence names something that can be acted on: code, a flag, a variable, a product with version."""
    text = without_addresses(text)
    if _objects().search(text):
        return True
    # a Latin word inside a Chinese sentence is a technical term nearly always
    return bool(_HAN.search(text) and _LATIN.search(text))


#: What `git describe` prints: the tag before a commit, how many commits later it is, and the commit.
_DESCRIBED = warm.pattern(
    r"(?<![\w.])v?\d{1,4}\.\d[\w.]{0,20}(?:-(?:rc|alpha|beta|dev|pre)[\w.]{0,10})?-(?P<later>\d{1,6})-g[0-9a-f]{5,40}"
    r"(?:-dirty)?(?!\w)",
    re.IGNORECASE,
)


def without_describe(text: str) -> str:
    """`text`, as long as before, without the `git describe` strings of commits behind their tag.

    "v1.12.0-9492-g2c319fb415" is 9,492 commits later than 1.12.0: of which version it is part, it does not say. With
    none between them ("v1.13.1-0-g6612da8951") it is the tag itself and stays.
    """
    if "-g" not in text:
        return text
    return _DESCRIBED.sub(lambda m: m.group() if not int(m["later"]) else " " * len(m.group()), text)


@cache
def _versioned() -> re.Pattern[str]:
    spellings = "|".join(map(re.escape, sorted(tables.products(), key=lambda s: (-len(s), s))))
    version = tables.table("actions.toml")["fragments"]["VER"]
    return warm.pattern(rf"(?<![\w/.-])({spellings})[ =v-]{{1,3}}({version})(?!\w|\.\d)", re.IGNORECASE)


def versioned(text: str) -> tuple[str, str] | None:
    """(product, version) where `text` names both side by side."""
    found = _versioned().search(without_describe(text))
    return (tables.products()[found.group(1).lower()], found.group(2).lstrip("vV").rstrip(".-+")) if found else None


def key(fact: Fact) -> str:
    """What makes two facts the same remedy: family, name, value, package and version; never a score."""
    slots = dict(fact.slots)
    family = _FAMILIES.get(fact.template, fact.template)
    if family == "version":
        return f"version|{slots['package'].lower()}|{slots['version'].lstrip('=')}"
    if family in {"set", "remove"}:
        name = (slots.get("name") or slots.get("flag") or "").lstrip("-").replace("-", "_").lower()
        value = slots.get("value", "true" if fact.template in _SWITCHED_ON else "false")
        return f"{family}|{name}|{value.strip(chr(39) + chr(34)).lower() if family == 'set' else ''}"
    return "|".join([family, *(value.lower() for name, value in fact.slots if name != "title")])


def _fact(template: str, found: re.Match[str]) -> Fact | None:
    slots = {}
    for name, said in found.groupdict().items():
        if said is None:
            continue
        if name == "value":
            read = values.value(found.string, found.start(name))
            if read is None:
                return None
            said = read[0]  # noqa: PLW2901
        elif name == "version" and (rest := _VERSION_REST.match(found.string, found.end(name))):
            if _OF_ANOTHER.search(rest.group()):
                return None
            said += rest.group()  # noqa: PLW2901
        clean = _slot(name, said.strip().strip("`"), found)
        if clean is None:
            return None
        slots[name] = clean
    if template == "remedy.use_instead" and slots["new"] == slots["old"]:
        return None
    if template == "remedy.set_env" and slots["value"].strip("'\"`") in _OF_BUILDS:
        return None  # "WITH_LAPACK=OFF" is a line of CMake, and no program reads such a variable
    if template == "remedy.set_env" and (
        _IN_FILE.match(found.string, found.end()) or _FILE_LIKE.search(found.string, found.start("name"), found.end())
    ):
        return None
    return Fact(template, tuple(sorted(slots.items())))


def _slot(name: str, value: str, found: re.Match[str]) -> str | None:
    """The value as it is kept: products by their name, quantities by theirs; None if it is a placeholder."""
    if name == "package":
        known = tables.products().get(value.lower())
        value = value.rstrip(".")
        return known or (value if re.search(r"[a-z]", value) and value.lower() not in _NO_PACKAGE else None)
    if name == "quantity":
        return next((n for pattern, n in tables.quantities() if pattern.fullmatch(value)), None)
    if name == "target":
        return _TARGETS.get(value.lower(), value.lower())
    if name == "version":
        return value.lstrip("vV").removeprefix("==").removeprefix("=").rstrip(".,;:") or None
    if name in {"value", "new", "old", "flag", "name"}:
        value = value.rstrip(".,;:")
        for mark in "\"'":
            value = value.strip(mark) if value.count(mark) % 2 else value
        if not value or _PLACEHOLDER.match(value):
            return value if value.lower() == "none" else None
    return value[:160]


_NO_PACKAGE = frozenset({"the", "it", "this", "that", "from", "with", "and", "or", "all", "them", "again", "r"})


def without_code(text: str) -> str:
    """`text` with code spans replaced by a mark, so that words inside code are not read as words."""
    return _SPAN.sub("`_`", text)


@PRODUCTS.tested
def _of_product(text: str) -> list[Product]:
    """The rows whose product the text names with a version."""
    found = versioned(text)
    return [row for row in PRODUCTS.rows() if found is not None and row.product == found[0]]
