"""Readable names: the slug that an entry would like to have, and its tags."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from pipeline.distil.meaning import short_type
from pipeline.lexicon import catalogues
from pipeline.lexicon.vocabulary import Class
from pipeline.records import Cluster

MAX_SLUG = 60
_MAX_TAGS = 12
#: Words of a signature that a slug can do without.
_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "is",
        "was",
        "be",
        "for",
        "on",
        "at",
        "by",
        "with",
        "and",
        "or",
        "that",
        "this",
        "it",
        "its",
        "as",
        "from",
        "error",
        "errors",
        "exception",
        "path",
        "n",
        "name",
        "size",
        "hex",
        "shape",
        "dtype",
        "quoted",
        "version",
        "url",
        "value",
        "got",
        "but",
        "line",
        "file",
        "message",
        "no",
        "such",
    ]
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SLOT = re.compile(r"<[^<>\n]{1,40}>")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
#: Discriminators in the order in which they tell errors apart best; "kind" is a family's id and already a slug.
_TELLING = (
    "resource",
    "space",
    "symbol",
    "module",
    "op",
    "assertion",
    "backend",
    "library",
    "signal",
    "errno",
    "status",
    "tool",
    "feature",
)

#: With one of these the words of the message add nothing.
_ENOUGH = ("resource", "space", "symbol", "module", "assertion", "code")


def slug(cluster: Cluster, codes: Sequence[str], *, domain: str) -> str:
    """The wanted slug: ASCII, at most 60 characters, from type, code or family, and discriminators."""
    gate = dict(cluster.gate)
    parts: list[str] = []
    name = short_type(cluster)
    if name and name not in {"RuntimeError", "Exception", "Error"}:
        parts.append(_slugged(_CAMEL.sub("-", name)))
    if code := gate.get("code") or next(iter(codes), None):  # its own before those that are printed with it
        family, _, rest = code.partition(":")
        parts.append(_slugged(_CAMEL.sub("-", catalogues.code_name(code) or rest) if family != "absl" else rest))
    if not codes and "kind" in gate:
        parts.append(_slugged(gate["kind"].removesuffix("-message")))  # a program's sentence: what it says comes next
    parts += [_slugged(gate[key]) for key in _TELLING[:-1] if key in gate]
    parts.append("-".join(_words(gate.get("feature", ""))))
    if not any(key in gate for key in _ENOUGH):
        parts.append("-".join(_words(cluster.text)))
    return _joined(parts, domain) or "error"


def _words(text: str) -> list[str]:
    found = [w.lower() for w in _WORD.findall(_CAMEL.sub(" ", _SLOT.sub(" ", text[:300])))]
    return [word for word in found if word not in _STOP and len(word) > 1][:7]


def _slugged(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def _joined(parts: Sequence[str], domain: str) -> str:
    """The words of all parts, each once, cut at a word's border; the id names the domain already."""
    words: list[str] = []
    for part in parts:
        for word in part.split("-"):
            if word and word != domain and (word not in words or word.isdigit()):
                words.append(word)
    kept: list[str] = []
    for word in words:
        if len("-".join([*kept, word])) > MAX_SLUG:
            break
        kept.append(word)
    return "-".join(kept) or "-".join(words)[:MAX_SLUG].strip("-")


def tags(cluster: Cluster, kind: Class, codes: Sequence[str]) -> tuple[str, ...]:
    """What somebody would filter by: domain, category, families of codes, telling discriminators."""
    gate = dict(cluster.gate)
    found = {_slugged(kind.domain), _slugged(kind.category)}
    found |= {_slugged(kind.subcategory)} if kind.subcategory else set()
    found |= {_slugged(code.partition(":")[0]) for code in codes}
    found |= {_slugged(gate[key])[:40] for key in ("resource", "space", "backend", "library", "tool") if key in gate}
    name = short_type(cluster)
    found |= {_slugged(_CAMEL.sub("-", name))[:40]} if name else set()
    return tuple(sorted(tag for tag in found if tag))[:_MAX_TAGS]
