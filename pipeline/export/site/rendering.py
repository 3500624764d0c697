"""Templates to pages. The engine escapes every word of an entry; what a reader cannot see is taken out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from pipeline import packs
from pipeline.export.site import paths
from pipeline.lexicon import catalogues, headings, vocabulary
from pipeline.text import clean

#: What a page may load: its own style and pictures, nothing else, from nowhere else, and no script. Programs that judge
#: pages ask for robots.txt in the name of one: `connect-src`.
POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'"
#: The page of the search: its own scripts, which fetch and run the index (WebAssembly) that lies beside them.
SEARCH_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; "
    "worker-src 'self'; form-action 'self'; base-uri 'none'"
)
#: The files that every page loads.
ASSETS = ("icon.svg", "search.js", "site.css")
_CODE = re.compile(r"`([^`\n]+)`")
_HAN = re.compile("[\u4e00-\u9fff]+")
_JOINTS = re.compile(r"(?<=\w[._/:])(?=\w{4})")


class Renderer:
    """Pages of one site."""

    def __init__(self, *, site_url: str, has_search: bool, licence_note: str) -> None:
        self._site = {"site_url": site_url, "has_search": has_search}
        self._licence_note = licence_note
        self._shared = {lang: self._words(lang) for lang in paths.LANGUAGES}

    def page(self, template: str, by_language: Mapping[str, str], lang: str, told: Mapping[str, Any]) -> str:
        """The page `by_language[lang]`, made of `told`."""
        path = by_language[lang]
        root = paths.to_root(path)
        place = {"path": path, "root": root, "paths_by_language": by_language}
        return _environment().get_template(template).render({**self._shared[lang], **place, **told})

    def _words(self, lang: str) -> dict[str, Any]:
        other = next(one for one in paths.LANGUAGES if one != lang)
        licence_note = headings.sentence(self._licence_note, lang)
        return {
            **self._site,
            "licence_note": licence_note,
            "licence_lang": "en" if licence_note == self._licence_note else paths.TAGS[lang],
            "lang": lang,
            "tag": paths.TAGS[lang],
            "other": other,
            "other_tag": paths.TAGS[other],
            "languages": tuple(paths.TAGS.items()),
            "policy": POLICY,
            "t": headings.table("words", lang),
            "roles": headings.table("roles", lang),
            "said_names": headings.table("said", lang),
            "states": headings.table("states", lang),
            "tiers": labels("tiers", lang),
            "counted": partial(_counted, lang),
            "domain_name": partial(named, "domains", lang),
            "error_path": partial(paths.error, lang),
        }


def _counted(lang: str, key: str, number: int) -> str:
    return headings.counted(key, number, lang)


@packs.cached
def labels(name: str, lang: str) -> Mapping[str, str]:
    """Id -> label of a closed vocabulary."""
    return {key: row[lang] for key, row in vocabulary.labels(name).items()}


def named(name: str, lang: str, key: str) -> str:
    """The label of an id of a closed vocabulary; the id where it has none, as in entries made elsewhere."""
    return labels(name, lang).get(key, key)


def visible(value: object) -> object:
    """A text without what nobody sees (bidi, zero-width, escape sequences); what is markup or a number as it is."""
    return clean(value) if type(value) is str else value


def prose(text: str) -> Markup:
    """`text` as markup with `code` between backticks; nothing else in it means anything."""
    parts = _CODE.split(clean(text))
    shown = (
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )
    return Markup().join(shown)


def breakable(text: str) -> Markup:
    """`text` with places to break a line in dotted names and paths, which a phone cannot hold."""
    return Markup("<wbr>").join(map(escape, _JOINTS.split(clean(text))))


def pieces(text: str) -> str:
    """Every Chinese character of `text` and every two that follow each other, apart: what a search may ask for.

    Browsers cut a question into words otherwise than Pagefind cuts the pages; to them 显存 is two words.
    """
    runs = _HAN.findall(text)
    found = [run[n : n + size] for run in runs for size in (1, 2) for n in range(len(run) - size + 1)]
    return " ".join(dict.fromkeys(found))


def short(text: str, most: int) -> str:
    """`text` on one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


@cache
def _environment() -> Environment:
    """The templates, each compiled once a process."""
    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"breakable": breakable, "pieces": pieces, "prose": prose, "short": short}
    return environment


@cache
def _template(name: str) -> str:
    return files("pipeline.export.site").joinpath("templates", name).read_text("utf-8")


def asset(name: str) -> bytes:
    """One of `ASSETS`."""
    return files("pipeline.export.site").joinpath("static", name).read_bytes()


@cache
def digest() -> str:
    """sha256 over what pages are made with, beside entries: another one makes every page anew."""
    package = files("pipeline.export.site")
    made = [*package.iterdir(), *(package / "templates").iterdir(), files("pipeline.export") / "charts.py"]
    read = sorted((one for one in made if one.name.endswith((".py", ".html"))), key=lambda one: one.name)
    words = {name: dict(vocabulary.labels(name)) for name in vocabulary.VOCABULARIES}
    told = repr((headings.everything(), words, catalogues.listed())).encode()
    return hashlib.sha256(b"\0".join([told, *(one.read_bytes() for one in read)])).hexdigest()
