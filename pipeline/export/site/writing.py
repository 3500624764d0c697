"""A site on disk: made beside the old one from a bundle alone, then exchanged with it; what did not change is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from pipeline import __version__
from pipeline.export import content
from pipeline.export import reading as bundles
from pipeline.export.placing import Layout, publish
from pipeline.export.site import lists, paths, reading, rendering
from pipeline.export.site.pages import Page, Site, pages
from pipeline.export.writing import passed_on
from pipeline.lexicon.advice import tables
from pipeline.records import Skipped, disk, kept
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ConfigError, ExportError

#: What a site consists of: nothing else in its folder is touched. `site.json` says that a folder is one.
MANIFEST = "site.json"
LAYOUT = Layout(
    (
        "en",
        "zh",
        "entries",
        "assets",
        "pagefind",
        "index.html",
        "404.html",
        "llms.txt",
        "robots.txt",
        "sitemap.xml",
        MANIFEST,
    ),
    MANIFEST,
)
_SEARCH_MODULE = "pagefind_bin_extended"
#: A site of 6,476 entries is indexed in 20 s.
_SEARCH_SECONDS = 1800


@dataclass(slots=True)
class Written:
    """What a site consists of now."""

    folder: Path
    entry_count: int
    page_count: int = 0
    kept_count: int = 0  # pages that are the files of last time
    byte_count: int = 0
    refused: tuple[Skipped, ...] = ()  # entries that are not passed on, pages whose place is taken


@dataclass(slots=True)
class _Old:
    """The site of last time: its files are taken where they would be made again."""

    folder: Path
    files: dict[str, list[str]] = field(default_factory=dict)  # path -> [key, sha256]

    def body(self, path: str, *, key: str) -> bytes | None:
        """The bytes of the page at `path`, if it was made from what `key` stands for and nobody changed it."""
        found = self.files.get(path)
        if not key or found is None or found[0] != key:
            return None
        try:
            return kept.checked(self.folder / path, found[1])
        except kept.Damaged:
            return None


def write(
    folder: Path, bundle: Path, *, site_url: str = "", official: reading.Official = lambda _: None, search: bool = True
) -> Written:
    """What was written: the site of the bundle in `bundle`, in `folder`, whole or not at all.

    `site_url` is where it will stand, for canonical addresses and the site map; `official` gives the Chinese of
    official words.

    Raises:
        ConfigError: `folder` holds something that is no site; `site_url` is no address; the search is not installed.
        ExportError: the bundle is damaged, or the folder cannot be written.
    """
    command = search_command() if search else []
    url = _checked_url(site_url)
    old = _old(folder)
    site, refused = _site(bundle, old, url, official, has_search=search)
    written = Written(folder, len(site.entries), refused=refused)

    def fill(staged: Path) -> None:
        filling = _Filling(staged, old, written)
        for page in pages(site):
            if search or not page.path.endswith("/search.html"):
                filling.page(page)
        for entry in site.entries.values():
            filling.put(paths.data(entry.id), _json(entry), key=tables.digest())
        for path, body in _others(site):
            filling.put(path, body)
        if search:
            _index(command, staged)
        filling.finish(site)

    publish(folder, fill, LAYOUT)
    return written


def _site(
    bundle: Path, old: _Old, url: str, official: reading.Official, *, has_search: bool
) -> tuple[Site, tuple[Skipped, ...]]:
    manifest = bundles.read_manifest(bundle)
    every = {one.id: one for one in bundles.read_entries(bundle)}  # of two of one id, only one is judged and shown
    # of the very words that were read: whoever sealed the bundle may have named any other sha256 for the entry's file
    hashes = {name: kept.sha256(_json(one)) for name, one in every.items()}
    passed = {name for name in every if old.files.get(paths.data(name)) == [tables.digest(), hashes[name]]}
    asked, refused = passed_on(one for name, one in every.items() if name not in passed)
    entries = sorted([*(every[name] for name in passed), *asked], key=lambda one: one.id)
    renderer = rendering.Renderer(site_url=url, has_search=has_search, licence_note=manifest.licence_note)
    key = f"{rendering.digest()} {__version__} {url} {has_search} {manifest.licence_note}"
    made = Site(
        renderer=renderer,
        entries={entry.id: entry for entry in entries},
        hashes=hashes,
        lists=lists.gathered(entries),
        manifest=manifest,
        registry=bundles.read_registry(bundle),
        site_url=url,
        official=official,
        key=key,
    )
    return made, refused


def _json(entry: KnowledgeEntry) -> bytes:
    """The file of an entry that passed the gate: made of what the gate read, not of what lies beside it."""
    return content.page(content.fields_of(entry)).encode()


class _Filling:
    """The folder that is being made."""

    def __init__(self, staged: Path, old: _Old, written: Written) -> None:
        self._staged, self._old, self._written = staged, old, written
        self._files: dict[str, list[str]] = {}
        self._folders: set[str] = set()

    def page(self, page: Page) -> None:
        """Nothing; the page stands there: the old file where that is the same. The first at a place has it."""
        if not self._is_free(page.path):
            self._written.refused += (Skipped("export", page.path, "place_taken"),)
            return
        body = self._old.body(page.path, key=page.key)
        self._written.page_count += 1
        self._written.kept_count += self.put(page.path, page.make().encode() if body is None else body, key=page.key)

    def _is_free(self, path: str) -> bool:
        """Whether neither a file nor a folder stands at `path`, and no file where a folder of it would be."""
        return not (path in self._files or path in self._folders or self._files.keys() & _folders(path))

    def put(self, path: str, body: bytes, *, key: str = "") -> bool:
        """Whether the file of last time is the one that stands there now, with the day on which it was made."""
        sha256 = kept.sha256(body)
        place = self._staged / path
        if path.rpartition("/")[0] not in self._folders:
            place.parent.mkdir(parents=True, exist_ok=True)
            self._folders |= _folders(path)
        before = self._old.files.get(path)
        self._files[path] = [key, sha256]
        self._written.byte_count += len(body)
        if before is not None and before[1] == sha256 and _linked(self._old.folder / path, place, body):
            return True
        place.write_bytes(body)
        return False

    def finish(self, site: Site) -> None:
        """Nothing; the list of the files stands there, and with it the site is whole."""
        told = {
            "generator": f"errmine {__version__}",
            "bundle_id": site.manifest.bundle_id,
            "site_url": site.site_url,
            "files": self._files,
        }
        self.put(MANIFEST, json.dumps(told, sort_keys=True, indent=0).encode())


def _folders(path: str) -> set[str]:
    """Every folder in which `path` stands."""
    return {str(folder) for folder in PurePosixPath(path).parents}


def _linked(old: Path, place: Path, body: bytes) -> bool:
    """True if `place` is a second name of `old` now, which holds `body`."""
    try:
        if disk.body(old) != body:
            return False
        os.link(old, place)
    except OSError:
        return False
    return True


def _others(site: Site) -> Iterable[tuple[str, bytes]]:
    """The files that are no pages of the site: what pages load, the entrance, what robots read."""
    for name in rendering.ASSETS:
        yield f"assets/{name}", rendering.asset(name)
    by_language = dict.fromkeys(paths.LANGUAGES, "index.html")
    entrance = {"target": "en/index.html", "title": "errmine", "sentence": ""}
    yield "index.html", site.renderer.page("moved.html", by_language, "en", entrance).encode()
    missing = dict.fromkeys(paths.LANGUAGES, "404.html")
    root = site.site_url or "/"  # a server shows it under any address
    told = {"root": root, "paths_by_language": {lang: f"{lang}/index.html" for lang in paths.LANGUAGES}}
    yield "404.html", site.renderer.page("missing.html", missing, "en", told).encode()
    made = content.llms(site.manifest.answers, pages=_PAGES, beside=content.LLMS_FILES[:1])
    yield content.LLMS, made.encode()
    if site.site_url:
        yield "robots.txt", f"User-agent: *\nAllow: /\nSitemap: {site.site_url}sitemap.xml\n".encode()
        yield "sitemap.xml", _sitemap(site).encode()


#: What llms.txt says of the pages.
_PAGES = (
    ("An error, English", "en/errors/{domain}/{slug}.html"),
    ("An error, 中文", "zh/errors/{domain}/{slug}.html"),
    ("Most reported, new, without an answer", "en/index.html"),
    ("By error code", "en/codes.html"),
)


def _sitemap(site: Site) -> str:
    places = [f"{lang}/index.html" for lang in paths.LANGUAGES]
    places += [paths.error(lang, entry_id) for entry_id in site.entries for lang in paths.LANGUAGES]
    lines = "".join(f"<url><loc>{escape(site.site_url + place)}</loc></url>\n" for place in places)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'
    )


# ---------------------------------------------------------------- what is there, and what is asked for


def _old(folder: Path) -> _Old:
    """The site that stands in `folder`.

    Raises:
        ConfigError: what stands there is no site of ours.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return _Old(folder)
    try:
        told = json.loads(disk.body(folder / MANIFEST))
    except (OSError, ValueError) as error:
        raise _no_site(folder) from error
    files = _files(told)
    if files is None:
        raise _no_site(folder)
    return _Old(folder, files)


def _no_site(folder: Path) -> ConfigError:
    hint = "Name a new folder, or one that `errmine site` made: nothing else is ever replaced."
    return ConfigError(f"{folder} is not empty, and no site of errmine: it has no {MANIFEST} of one", hint=hint)


def _files(told: Any) -> dict[str, list[str]] | None:
    """Path -> [key, sha256] of a site's files; None if `told` is no list of ours."""
    if not isinstance(told, dict) or not str(told.get("generator")).startswith("errmine "):
        return None
    files = told.get("files")
    return files if isinstance(files, dict) and all(map(_is_row, files.values())) else None


def _is_row(row: object) -> bool:
    return isinstance(row, list) and len(row) == 2 and all(isinstance(one, str) for one in row)


def _checked_url(url: str) -> str:
    """`url` with a slash at its end, "" for none.

    Raises:
        ConfigError: it is no address under which a site can stand.
    """
    if not url:
        return ""
    if paths.address(url) is None or urlsplit(url).query or urlsplit(url).fragment:
        raise ConfigError(f"--url {url}: no address of a site", hint="Give one as https://example.org/errors/.")
    return url if url.endswith("/") else f"{url}/"


def search_command() -> list[str]:
    """What makes the index of the search.

    Raises:
        ConfigError: it is not installed.
    """
    if find_spec(_SEARCH_MODULE) is None:
        hint = (
            "Install the extra `site` (`pip install -e '.[site]'` in a checkout), or make a site without: --no-search."
        )
        raise ConfigError("Pagefind, which makes the search, is not installed", hint=hint)
    return [sys.executable, "-m", _SEARCH_MODULE]


def _index(command: list[str], staged: Path) -> None:
    asked = [*command, "--site", str(staged), "--silent", "--glob", "{en,zh}/errors/**/*.html"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_SEARCH_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        raise ExportError(f"Pagefind could not be run: {error}", path=staged) from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-500:]
        raise ExportError(f"Pagefind made no index: {said}", path=staged, hint="Or make a site without: --no-search.")
    for path in sorted((staged / "pagefind").iterdir()):  # user interfaces of its own, which no page loads
        if path.name.startswith(_UNUSED):
            path.unlink()


_UNUSED = ("pagefind-ui", "pagefind-modular", "pagefind-component", "pagefind-highlight")
