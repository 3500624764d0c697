"""Every page of a site: where it stands in each language, what it is made from, and how it is made."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.export import charts
from pipeline.export.site import paths, reading
from pipeline.export.site.lists import HOME_ROWS, PAGE_ROWS, Group, Lists, Row
from pipeline.export.site.rendering import SEARCH_POLICY, Renderer, labels, named, short
from pipeline.lexicon import catalogues, headings
from pipeline.records.bundle import Manifest, Registry
from pipeline.records.entry import STANDINGS, Edge, KnowledgeEntry, is_answered

#: What search engines show of a page.
_DESCRIPTION_CHARACTERS = 155


@dataclass(frozen=True, slots=True)
class Page:
    """One page, not made yet: if `key` is that of the page of last time, its bytes are the same."""

    path: str
    make: Callable[[], str]
    key: str = ""  # "": only its bytes tell


@dataclass(frozen=True, slots=True)
class Site:
    """What pages are made from."""

    renderer: Renderer
    entries: Mapping[str, KnowledgeEntry]
    hashes: Mapping[str, str]  # entry id -> sha256 of its JSON
    lists: Lists
    manifest: Manifest
    registry: Registry
    site_url: str
    official: reading.Official
    key: str  # of all that is not an entry's


def pages(site: Site) -> Iterator[Page]:
    """All pages; those of entries have keys, and come first: what else wants the place of one does not get it."""
    for entry in site.entries.values():
        yield from _of_entry(site, entry, site.hashes[entry.id])
    yield from _homes(site)
    yield from _domains(site)
    yield from _repositories(site)
    yield from _codes(site)
    yield from _moved(site)
    for lang in paths.LANGUAGES:
        yield _page(site, "search.html", _both("{}/search.html"), lang, {"policy": SEARCH_POLICY})


def _both(form: str) -> dict[str, str]:
    return {lang: form.format(lang) for lang in paths.LANGUAGES}


def _page(
    site: Site, template: str, by_language: Mapping[str, str], lang: str, told: Mapping[str, Any], key: str = ""
) -> Page:
    return Page(by_language[lang], lambda: site.renderer.page(template, by_language, lang, told), key)


# ---------------------------------------------------------------- entries


def _of_entry(site: Site, entry: KnowledgeEntry, sha256: str) -> Iterator[Page]:
    by_language = {lang: paths.error(lang, entry.id) for lang in paths.LANGUAGES}
    known = [
        (kind, edge, site.lists.rows[edge.entry_id]) for kind, edge in _edges(entry) if edge.entry_id in site.entries
    ]
    names = "".join(
        f"{row.entry_id}\0{row.signatures['en'].text}\0{row.signatures['zh'].text}\0" for _, _, row in known
    )
    key = hashlib.sha256(f"{site.key}\0{sha256}\0{names}".encode("utf-8", "surrogatepass")).hexdigest()
    for lang in paths.LANGUAGES:
        yield Page(by_language[lang], _maker(site, entry, by_language, lang, known), key)


def _maker(
    site: Site,
    entry: KnowledgeEntry,
    by_language: Mapping[str, str],
    lang: str,
    known: Sequence[tuple[str, Edge, Row]],
) -> Callable[[], str]:
    return lambda: site.renderer.page("entry.html", by_language, lang, told(site, entry, lang, known))


def _edges(entry: KnowledgeEntry) -> Iterator[tuple[str, Edge]]:
    graph = entry.transition_graph
    for kind in ("leads_to", "preceded_by", "frequently_confused_with"):
        for edge in getattr(graph, kind):
            yield kind, edge


def told(site: Site, entry: KnowledgeEntry, lang: str, known: Sequence[tuple[str, Edge, Row]]) -> dict[str, Any]:
    """What the template of an entry asks for."""
    by_id = {piece.evidence_id: piece for piece in entry.evidence}
    words = headings.table("words", lang)
    cause = reading.cause(entry, lang, by_id)
    remedies = reading.remedies(entry, lang, by_id, site.official)
    threads, thread_count = reading.threads(entry, lang)
    signature = reading.signature(entry, lang)
    description = _description(entry, lang, cause, remedies)
    return {
        "entry": entry,
        "signature": signature,
        "description": description,
        "linked_data": _linked_data(site, entry, lang, signature.text, description),
        "json_path": paths.data(entry.id),
        "domain": named("domains", lang, entry.domain),
        "domain_path": paths.domain(lang, entry.domain),
        "category": named("categories", lang, entry.category),
        "tier": named("tiers", lang, entry.verification_tier),
        "first_seen": headings.written_day(entry.first_seen or "", lang),
        "last_seen": headings.written_day(entry.last_confirmed or "", lang),
        "codes": [{"name": code, "path": paths.code(lang, code)} for code in entry.codes],
        "is_answered": is_answered(entry),
        "documentation": reading.documentation(entry, lang),
        "cause": cause,
        "cause_kind": labels("root_cause_types", lang).get(cause.kind, "") if cause else "",
        "cause_types": labels("cause_types", lang),
        "remedies": remedies,
        "cases": [reading.case(case, lang, by_id) for case in entry.cases],
        "leads": reading.leads(entry, lang),
        "threads": threads,
        "thread_count": thread_count,
        "quotes": reading.quotes(entry, lang),
        "official": _official_links(entry, lang),
        "timeline": charts.timeline(reading.months(entry), title=words["timeline"]),
        "versions": charts.bars(reading.versions(entry, lang), title=words["versions"]),
        "environment": reading.environment(entry),
        "parameters": reading.parameters(entry, lang),
        "related": _related(lang, known),
    }


def _description(
    entry: KnowledgeEntry, lang: str, cause: reading.Remedy | None, remedies: Mapping[str, Sequence[reading.Remedy]]
) -> str:
    best = next((one for kind in STANDINGS for one in remedies[kind]), cause)
    said = best.said.text if best else headings.label("words", "unanswered", lang) if not is_answered(entry) else ""
    told = f"{headings.counted('documents', entry.evidence_count, lang)}. {said or reading.signature(entry, lang).text}"
    return short(told, _DESCRIPTION_CHARACTERS)


def _linked_data(site: Site, entry: KnowledgeEntry, lang: str, name: str, description: str) -> dict[str, Any]:
    """The entry for search engines, as schema.org has it; addresses only where the site's own is known."""
    made: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": short(name, 110),
        "description": description,
        "inLanguage": paths.TAGS[lang],
        "identifier": entry.id,
        "isPartOf": {"@type": "WebSite", "name": "errmine"},
        "keywords": [*entry.codes, *entry.tags],
    }
    if entry.first_seen:
        made["datePublished"] = entry.first_seen
    if entry.last_updated:
        made["dateModified"] = entry.last_updated
    if site.site_url:
        made["url"] = site.site_url + paths.error(lang, entry.id)
        json_url = site.site_url + paths.data(entry.id)
        made["encoding"] = {"@type": "MediaObject", "encodingFormat": "application/json", "contentUrl": json_url}
    return made


def _official_links(entry: KnowledgeEntry, lang: str) -> list[tuple[str, str]]:
    """(name, address) of each official page: the entry's own, then those of its codes."""
    found: dict[str, str] = {}
    if url := paths.address(entry.official_doc_url):
        found[url] = entry.official_doc_section or url.partition("://")[2].partition("/")[0]
    for code in entry.codes:
        if url := paths.address(catalogues.official_url(code)):
            found.setdefault(url, code)
    return [(name, url) for url, name in found.items()]


def _related(
    lang: str, known: Sequence[tuple[str, Edge, Row]]
) -> list[tuple[str, list[tuple[str, str, str, str, str]]]]:
    grouped: dict[str, list[tuple[str, str, str, str, str]]] = {}
    for kind, edge, row in known:
        said = row.signatures[lang]
        reason = headings.sentence(edge.reason, lang) if kind == "frequently_confused_with" else ""
        reason_lang = "en" if reason == edge.reason else paths.TAGS[lang]
        link = (paths.error(lang, row.entry_id), said.text, said.lang, reason, reason_lang)
        grouped.setdefault(headings.label("relations", kind, lang), []).append(link)
    return list(grouped.items())


def _moved(site: Site) -> Iterator[Page]:
    """A page under every former id, which leads to the entry that has its place now."""
    aliases = {alias: entry.id for entry in site.entries.values() for alias in entry.aliases}
    aliases |= {alias: target for alias, target in site.registry.aliases.items() if target in site.entries}
    for alias, target in sorted(aliases.items()):
        if alias in site.entries:
            continue
        by_language = {lang: paths.error(lang, alias) for lang in paths.LANGUAGES}
        for lang in paths.LANGUAGES:
            title = short(site.lists.rows[target].signatures[lang].text, 90)
            sentence = headings.label("words", "moved", lang)
            told = {"target": paths.error(lang, target), "title": title, "sentence": sentence}
            yield _page(site, "moved.html", by_language, lang, told)


# ---------------------------------------------------------------- lists


def _homes(site: Site) -> Iterator[Page]:
    lists, counts = site.lists, site.manifest.counts
    chosen = {"most_reported": lists.most_reported, "newest": lists.newest, "without_answer": lists.unanswered}
    answered = sum(row.is_answered for row in lists.rows.values())
    documents = len({piece.document_id for entry in site.entries.values() for piece in entry.evidence})
    told_counts = {"entries": len(lists.rows), "documents": documents, "answered": answered}
    for lang in paths.LANGUAGES:
        title = headings.label("words", "timeline", lang)
        told = {
            "sections": [(name, rows[:HOME_ROWS]) for name, rows in chosen.items()],
            "counts": told_counts,
            "domains": _groups(lists.domains, lang, paths.domain, "domains")[:_HOME_DOMAINS],
            "timeline": charts.timeline(lists.months, title=title),
            "linked_data": {
                "@context": "https://schema.org",
                "@type": "Dataset",
                "name": "errmine",
                "description": headings.label("words", "tagline", lang),
                "inLanguage": paths.TAGS[lang],
                "version": site.manifest.bundle_id,
                "size": f"{counts.get('entries', 0)} entries",
            },
        }
        yield _page(site, "home.html", _both("{}/index.html"), lang, told)


_HOME_DOMAINS = 30


def _groups(
    groups: Sequence[Group], lang: str, place: Callable[[str, str], str], vocabulary: str = ""
) -> list[dict[str, Any]]:
    return [
        {
            "name": named(vocabulary, lang, group.name) if vocabulary else group.name,
            "path": place(lang, group.name),
            "count": len(group.rows),
            "answered": group.answered_count,
            "reports": group.report_count,
        }
        for group in groups
    ]


def _domains(site: Site) -> Iterator[Page]:
    groups = site.lists.domains
    for lang in paths.LANGUAGES:
        told = {
            "name": headings.label("words", "domains", lang),
            "groups": _groups(groups, lang, paths.domain, "domains"),
        }
        yield _page(site, "groups.html", _both("{}/domains.html"), lang, told)
        for group in groups:
            parent = ("domains", "{}/domains.html")
            name = named("domains", lang, group.name)
            yield from _list(site, group, name, lang, paths.domain, parent)


def _repositories(site: Site) -> Iterator[Page]:
    groups = site.lists.repositories
    for lang in paths.LANGUAGES:
        told = {
            "name": headings.label("words", "repositories", lang),
            "groups": _groups(groups, lang, paths.repository),
        }
        yield _page(site, "groups.html", _both("{}/repositories.html"), lang, told)
        for group in groups:
            yield from _list(site, group, group.name, lang, paths.repository, ("repositories", "{}/repositories.html"))


def _list(
    site: Site,
    group: Group,
    name: str,
    lang: str,
    place: Callable[[str, str], str],
    parent: tuple[str, str],
    facts: Sequence[tuple[str, str, str | None]] = (),
) -> Iterator[Page]:
    """The pages of a list, `PAGE_ROWS` errors each."""
    count = max(1, -(-len(group.rows) // PAGE_ROWS))
    word, form = parent
    for number in range(1, count + 1):
        by_language = {one: paths.numbered(place(one, group.name), number) for one in paths.LANGUAGES}
        told = {
            "name": name,
            "number": number,
            "count": len(group.rows),
            "answered": group.answered_count,
            "facts": facts if number == 1 else (),
            "parent": headings.label("words", word, lang),
            "parent_path": form.format(lang),
            "rows": group.rows[(number - 1) * PAGE_ROWS : number * PAGE_ROWS],
            "with_domain": word != "domains",
            "page_paths": [paths.numbered(place(lang, group.name), one) for one in range(1, count + 1)],
        }
        yield _page(site, "list.html", by_language, lang, told)


def _codes(site: Site) -> Iterator[Page]:
    families = site.lists.families
    for lang in paths.LANGUAGES:
        rows = {family: [_code_row(site, one, lang) for one in codes] for family, codes in families.items()}
        told = {
            "families": [
                {"name": family, "path": paths.family(lang, family), "count": len(found),
                 "errors": sum(row["errors"] for row in found)}
                for family, found in rows.items()
            ]
        }  # fmt: skip
        yield _page(site, "codes.html", _both("{}/codes.html"), lang, told)
        for family, found in rows.items():
            by_language = {one: paths.family(one, family) for one in paths.LANGUAGES}
            yield _page(site, "family.html", by_language, lang, {"name": family, "codes": found})
        for group in site.lists.codes.values():
            family = group.name.partition(":")[0]
            yield from _list(
                site, group, group.name, lang, paths.code, ("codes", f"{{}}/codes/{paths.segment(family)}.html"),
                facts=_code_facts(group.name, lang),
            )  # fmt: skip


def _code_row(site: Site, one: catalogues.Listed, lang: str) -> dict[str, Any]:
    group = site.lists.codes.get(paths.code("en", one.code))
    url = paths.address(one.url)
    return {
        "name": one.name or one.code,
        "number": one.number,
        "string": one.string or one.status or "",
        "errors": len(group.rows) if group else 0,
        "path": paths.code(lang, one.code) if group else "",
        "url": url,
        "host": url.partition("://")[2].partition("/")[0] if url else "",
    }


def _code_facts(code: str, lang: str) -> list[tuple[str, str, str | None]]:
    """What the official catalogue says of a code: name, printed text, page."""
    words = headings.table("words", lang)
    facts: list[tuple[str, str, str | None]] = []
    name, printed, url = catalogues.code_name(code), catalogues.explains(code), catalogues.official_url(code)
    if name:
        facts.append((words["name"], name, None))
    if printed:
        facts.append((words["printed"], printed, None))
    if url := paths.address(url):
        facts.append((words["official"], url, url))
    return facts
