"""Readable names: the slug that an entry would like to have, and its tags.

A slug is made of units (a word, an exception's name, an identifier) that are taken whole or not at all. What a sentence
denies it denies in the slug, and a sentence that is too long ends where one of its phrases ends.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from pipeline.distil import tables
from pipeline.distil.drafts.meaning import short_type
from pipeline.lexicon import catalogues, vocabulary
from pipeline.lexicon.vocabulary import Class
from pipeline.records import Cluster, DocRecord
from pipeline.text import frames

MAX_SLUG = 72
#: Where another error has the slug already, the message may say more: `export` cuts at 80.
MAX_LONGER = 80
#: Words of a message in a slug: read on 120 ids of the corpus, ten still name one thing.
MOST_WORDS = 10
#: A message is not cut before this many words, even where a phrase ends there.
_LEAST_WORDS = 3
_MAX_TAGS = 12
_SEARCHED = 300

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SLOT = re.compile(r"<[^<>\n]{1,40}>")
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:['’][a-z]{1,2}(?![A-Za-z]))?")
#: Between two words of one phrase stands nothing else; a full stop before a space ends a sentence.
_JOINS = re.compile(r"(?:[\s\"'`’_/-]|\.(?!\s))*")
#: An address of memory, of one run alone; codes of Windows have eight digits too, and stand in no function's arguments.
_ADDRESS = re.compile(r"0x[0-9a-f]{5,16}\b", re.IGNORECASE)
_NOT = re.compile(r"n['’]t\Z")
#: A notebook's name for a cell: another one in every session.
_CELL = re.compile(r"<?ipython-input-\d{1,6}-[0-9a-f]{6,16}>?|ipykernel_\d{1,9}(?:[\\/]\d{1,12})?", re.IGNORECASE)
#: Ends of a type's name that are words of their own, whatever stands before them: OSError, GLError.
_TYPE_ENDS = ("Error", "Exception", "Warning", "Failure")
#: A piece of a camel-case name is a word from this many letters on: OpenCV, MXNet and PyTorch are names.
_LEAST_PIECE = 3
#: Words from a denial on that are kept where the slug has no room for all that stands before it: "not found".
_DENIED = 2
#: Discriminators in the order in which they tell errors apart best; "kind" is a family's id and already a slug.
_TELLING = (
    "resource",
    "space",
    "symbol",
    "place",
    "module",
    "op",
    "assertion",
    "backend",
    "library",
    "signal",
    "errno",
    "status",
    "tool",
)
#: With one of these the words of the message add nothing.
_ENOUGH = ("resource", "space", "symbol", "module", "assertion", "library", "code")

Unit = tuple[str, ...]


@cache
def _list(name: str) -> frozenset[str]:
    """One list of words of slugs.toml."""
    return frozenset(tables.table("slugs.toml")[name].split())


def wanted(cluster: Cluster, codes: Sequence[str], *, domain: str, places: Sequence[str] = ()) -> tuple[str, ...]:
    """The slugs that an error would like to have, best first; the later ones say more, for where another has the first.

    ASCII, at most 80 characters, made of type, code or family, discriminators, and words of the message: its
    beginning, more of it, its end. `places` are names of where it was met, a function or a project; each may stand
    behind the first slug, the best one first.
    """
    named = [(unit, True) for unit in _named(cluster, codes)]
    words = list(_told(_plain(_CELL.sub(" ", _SLOT.sub("|", cluster.text[:_SEARCHED])))))
    is_enough = any(key in dict(cluster.gate) for key in _ENOUGH)
    first = _denying(named, [] if is_enough else _opening(words), words, domain)
    made = (
        first,
        _joined([*named, *words], domain, MAX_LONGER),
        _joined([*named, *words[-MOST_WORDS:]], domain, MAX_LONGER),
        *(_beside(first, where, domain) for where in places if where),
    )
    return tuple(dict.fromkeys(slug or "error" for slug in made))


def _denying(
    named: list[tuple[Unit, bool]], opening: list[tuple[Unit, bool]], words: list[tuple[Unit, bool]], domain: str
) -> str:
    """The slug of `named` and `opening`; if it lost what the message denies, fewer words and the denial instead."""
    made = _joined([*named, *opening], domain, MAX_SLUG)
    denial = next((place for place, (unit, _) in enumerate(words) if _denies(unit)), None)
    if denial is None or _says_no(made.split("-")):
        return made
    denied = [(unit, place == denial) for place, (unit, _) in enumerate(words[denial : denial + _DENIED], denial)]
    for most in range(min(len(opening), denial), -1, -1):
        shorter = _joined([*named, *opening[:most], *denied], domain, MAX_SLUG)
        if shorter.endswith("-".join(word for unit, _ in denied for word in unit)):
            return shorter
    return made


def _denies(unit: Unit) -> bool:
    return not _list("negations").isdisjoint(unit)


def _says_no(words: Iterable[str]) -> bool:
    """Whether some word denies, be it one that a type or a family's name has for it."""
    return not (_list("negations") | _list("deny_too")).isdisjoint(words)


def _beside(slug: str, where: str, domain: str) -> str:
    """The slug with a name behind it: where the error was met."""
    units = [((word,), False) for word in slug.split("-")]
    room = MAX_LONGER - len("-".join(word for unit in _units(where) for word in unit)) - 1
    cut = _joined(units, "", max(room, _LEAST_PIECE))
    return _joined(
        [*(((word,), False) for word in cut.split("-")), *((unit, False) for unit in _units(where))], domain, MAX_LONGER
    )


def _opening(words: list[tuple[Unit, bool]]) -> list[tuple[Unit, bool]]:
    """The first words of a message, up to where a phrase ends."""
    if len(words) <= MOST_WORDS:
        return words
    ends = [end for end in range(_LEAST_WORDS, MOST_WORDS + 1) if words[end][1] and _ends_phrase(words[end - 1][0])]
    return words[: ends[-1] if ends else MOST_WORDS]


def _ends_phrase(unit: Unit) -> bool:
    return unit[-1] not in _list("needs_more")


def page_slug(page: DocRecord) -> str:
    """The slug of the error that an official page describes: its number and its name."""
    name = catalogues.code_name(page.code) or page.name or page.title
    rest = page.code.partition(":")[2]
    units = [*_units(rest), *_units(name if name != rest else page.title)]
    return _joined([(unit, True) for unit in units], "", MAX_LONGER)


def tags(cluster: Cluster, kind: Class, codes: Sequence[str]) -> tuple[str, ...]:
    """What somebody would filter by: domain, category, families of codes, telling discriminators."""
    gate = dict(cluster.gate)
    found = {_slugged(kind.domain), _slugged(kind.category)}
    found |= {_slugged(kind.subcategory)} if kind.subcategory else set()
    found |= {_slugged(code.partition(":")[0]) for code in codes}
    found |= {_slugged(gate[key])[:40] for key in ("resource", "space", "backend", "library", "tool") if key in gate}
    found |= {"-".join(word for unit in _units(short_type(cluster) or "") for word in unit)[:40]}
    return tuple(sorted(tag for tag in found if tag))[:_MAX_TAGS]


def _named(cluster: Cluster, codes: Sequence[str]) -> Iterator[Unit]:
    """What is known of the error besides its words: type, code or family, discriminators."""
    gate = dict(cluster.gate)
    name = short_type(cluster)
    if name and name not in {"RuntimeError", "Exception", "Error"}:
        yield from _units(name)
    if code := gate.get("code") or next(iter(codes), None):  # its own before those that are printed with it
        family, _, rest = code.partition(":")
        named = [_slugged(rest).split("-")] if family == "absl" else _units(catalogues.code_name(code) or rest)
        yield from ((word,) for unit in named for word in unit)
    if not codes and "kind" in gate:
        yield tuple(_slugged(gate["kind"].removesuffix("-message")).split("-"))  # a program's sentence comes next
    for key in _TELLING:
        # of `package.module.Class.method` the end says most; a package, a project or a script names no error
        value = frames.parted(gate.get(key, ""))[1] if key == "place" else gate.get(key, "")
        value = "" if value.endswith(":<module>") else value
        value = _ADDRESS.sub(" ", frames.without_arguments(value)) if key == "place" else value
        value = ".".join(value.split(".")[-2:]) if key in ("symbol", "place") else value
        operator = tables.table("slugs.toml")["operators"].get(value) if key == "op" else None
        yield from [(operator,)] if operator else _units(value)
    yield from (unit for unit, _ in _told(_plain(gate.get("feature", ""))))


def _units(text: str) -> list[Unit]:
    """The names in `text`, each the words that it is made of."""
    plain = _plain(_CELL.sub(" ", text))
    return [unit for unit in (_words_of(name) for name in re.findall(r"[A-Za-z0-9_]+", plain)) if unit]


def _words_of(name: str) -> Unit:
    return tuple(word.lower() for part in name.split("_") for word in _pieces(part) if word)


def _pieces(name: str) -> list[str]:
    """The words of a camel-case name; a product's name is one, and so is what would leave a piece of two letters."""
    if name.lower() in _products():
        return [name]
    made: list[str] = []
    for piece in _CAMEL.split(name):
        whole = made[-1] + piece if made else ""
        is_short = any(_is_no_word(one) for one in (piece, *made[-1:]))
        if whole and (is_short or whole.lower() in _products()) and piece not in _TYPE_ENDS:
            made[-1] += piece
        else:
            made.append(piece)
    return made


def _is_no_word(piece: str) -> bool:
    return len(piece) < _LEAST_PIECE and piece.lower() not in _list("short")


@cache
def _products() -> frozenset[str]:
    """Names that are one word to those who search for them."""
    labels = (row["en"] for row in vocabulary.labels("domains").values())
    return frozenset(name.lower() for name in (*labels, *tables.products()) if name.isalnum()) | _list("whole")


def _told(text: str) -> Iterator[tuple[Unit, bool]]:
    """Each word of `text` that tells something, and whether a phrase begins with it."""
    end, begins = 0, False
    for found in _TOKEN.finditer(text):
        begins = begins or _JOINS.fullmatch(text, end, found.start()) is None
        end = found.end()
        for word in _spoken(found.group()):
            begins = begins or word in _list("begins")
            if word not in _list("stop") and len(word) > 1:
                yield _words_of(word), begins
                begins = False


def _spoken(token: str) -> tuple[str, ...]:
    """A word, its negation as a word of its own: "couldn't" is "could not"."""
    if token.lower() in ("can't", "can’t", "cant"):
        return ("cannot",)
    if _NOT.search(token):
        return (_NOT.sub("", token).lower(), "not")
    word = re.split("['’]", token)[0]
    return (word.lower() if word.lower() in _list("stop") | _list("begins") else word,)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text.replace("’", "'")).encode("ascii", "ignore").decode()


def _slugged(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", _plain(text).lower()).strip("-")


def _joined(units: Iterable[tuple[Unit, bool]], domain: str, most: int) -> str:
    """The words of all units that say something new, cut where a phrase begins; the id names the domain already."""
    kept: list[str] = []
    units = list(units)
    is_whole = True
    phrases = [0]  # how many words there are before each phrase
    for (unit, begins), (following, _) in pairwise([*units, ((), True)]):
        new = [word for word in unit if word != domain]
        if begins:
            phrases.append(len(kept))
        # a negation is said again where it denies something else
        is_old = following and set(following) <= set(kept)
        if all(word in kept and not word.isdigit() and (is_old or word not in _list("negations")) for word in new):
            continue
        if len("-".join([*kept, *new])) > most:
            kept, is_whole = _cut(kept, phrases) or ["-".join(new)[:most].strip("-")], False
            break
        kept += new
    while len(kept) > 2 and kept[-1] in _list("needs_more") and not (is_whole and _denies((kept[-1],))):
        kept.pop()
    return "-".join(kept)


def _cut(words: list[str], phrases: Sequence[int]) -> list[str]:
    """The words up to the last whole phrase, unless little would be left or a negation would go."""
    ends = [end for end in phrases if _LEAST_WORDS <= end <= len(words) and words[end - 1] not in _list("needs_more")]
    if not ends or 2 * ends[-1] < len(words) or _list("negations").intersection(words[ends[-1] : -1]):
        return words
    return words[: ends[-1]]
