"""The site: whole, from the bundle alone, in two languages, and nothing that a stranger wrote is more than text."""

from __future__ import annotations

import json
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any, get_args
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

from pipeline import export
from pipeline.export import charts, content, site
from pipeline.export.site import paths, rendering, serving
from pipeline.lexicon import headings, vocabulary
from pipeline.normalise.added import GATE_KEYS
from pipeline.records import PROGRAM, kept
from pipeline.records.bundle import FileRecord, Published, Registry, bundle_id
from pipeline.records.entry import CaseStatement, KnowledgeEntry, Lead, Reply, Role, TransitionGraph
from pipeline.records.errors import ConfigError, ExportError
from tests import cli
from tests import entry_factory as make
from tests.each import each
from tests.golden import GOLDEN

URL = "https://errors.errmine-fixtures.example/"
#: Words that want to be more than text, each with a mark of its own.
HOSTILE = (
    "<script>alert('m1')</script>",
    '"><img src=x onerror=alert("m2")>',
    "</script><script>alert('m3')</script>",
    "javascript:alert('m4')",
    "{{ 7 * 6 }}m5{% raw %}",
    "\u202egnp.exe\u202c m6 \x1b[31m",
    "`</code><b>m7</b>`",
    "<style>*{display:none}</style> m8",
)
WORDS = " ".join(HOSTILE)


class Read(HTMLParser):
    """A page as a browser takes it: its tags, its links, its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.closed = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.closed = False

    def handle_data(self, data: str) -> None:
        if data.strip():
            (self.scripts if self.tags and self.tags[-1][0] == "script" and not self.closed else self.words).append(
                data
            )

    def handle_endtag(self, tag: str) -> None:
        self.closed = True

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def addresses(self) -> Iterator[str]:
        for _, attributes in self.tags:
            for name in ("href", "src", "action"):
                if attributes.get(name) is not None:
                    yield str(attributes[name])


@cache
def read(text: str) -> Read:
    """The page; several tests look at all pages of a site, and to read one takes longer than to look at it."""
    return Read(text)


def pages(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in sorted(folder.rglob("*.html"))}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the sample, at a known address, without search: what needs Pagefind is tested in a browser."""
    folder = tmp_path_factory.mktemp("site") / "site"
    site.write(folder, GOLDEN, site_url=URL, search=False)
    return folder


def hostile_entry(**changes: Any) -> KnowledgeEntry:
    """An entry in which every free text of a stranger is hostile, with a case and all that a page shows."""
    raw = make.raw_entry_with_case(id="triton/hostile", signature=f"E: {WORDS}", signature_zh=f"错误：{WORDS}")
    raw |= {
        "root_cause": WORDS,
        "root_cause_type": "quoted",
        "official_doc_url": HOSTILE[3],
        "codes": [f"cuda:{WORDS}"],
    }
    raw |= {"official_doc_section": WORDS, "exception_type": WORDS, "regex": WORDS[:40], "domain": "triton"}
    raw["root_cause_evidence"] = [raw["evidence"][0]["evidence_id"]]
    for piece in raw["evidence"]:
        piece |= {"quote": WORDS[:300], "repo": "../../../<b>m9</b>", "quote_lang": '"><b>m10'}
    raw["evidence"][1]["url"] = HOSTILE[3]
    for remedy in (*raw["workarounds"], *raw["dead_ends"], *raw["cases"][0]["statements"]):
        remedy |= {"condition": WORDS}
    raw["environment"][0] |= {"name": WORDS, "value": WORDS}
    raw["versions"] = [
        {"version": WORDS, "introduced": None, "deprecated": None, "removed": None, "behavior_change": None,
         "status": "affected", "count": 1, "evidence": []}
    ]  # fmt: skip
    raw["cases"][0] |= {"repo": WORDS, "frame": WORDS, "library": WORDS}
    return KnowledgeEntry.model_validate({**raw, **changes})


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a bundle that wants to be more than text."""
    folder = tmp_path_factory.mktemp("hostile")
    registry = Registry(
        aliases={"triton/former": "triton/hostile"}, ids={"triton/hostile": Published(cluster_id="c", medoid="s")}
    )
    other = make.entry(id="triton/other", transition_graph={
        "leads_to": [{"entry_id": "triton/hostile", "count": 1, "reason": WORDS, "evidence": []},
                     {"entry_id": "triton/absent", "count": 1, "reason": "", "evidence": []}],
        "preceded_by": [], "frequently_confused_with": [],
    })  # fmt: skip
    export.write(folder / "bundle", [hostile_entry(), other], facts=export.Facts(registry=registry))
    site.write(folder / "site", folder / "bundle", search=False)
    return folder / "site"


def test_every_entry_has_a_page_in_both_languages_and_its_json(made: Path) -> None:
    for entry in export.read_entries(GOLDEN):
        for lang in paths.LANGUAGES:
            page = read((made / paths.error(lang, entry.id)).read_text("utf-8"))
            assert page.all("html")[0]["lang"] == paths.TAGS[lang]
            assert entry.id in "".join(page.words)
        assert (made / "entries" / f"{entry.id}.json").read_bytes() == (
            GOLDEN / f"entries/{entry.id}.json"
        ).read_bytes()


def test_every_link_within_the_site_leads_to_a_file(made: Path, hostile: Path) -> None:
    for folder, url in ((made, URL), (hostile, "")):
        for path, text in pages(folder).items():
            for address in read(text).addresses():
                if address.startswith(("http:", "https:")) and not (url and address.startswith(url)):
                    continue
                target = address.removeprefix(url) if url and address.startswith(url) else ""
                here = folder if target or path == "404.html" else (folder / path).parent
                place = unquote(urlsplit(target or address.removeprefix("/" if path == "404.html" else "")).path)
                if place.endswith("search.html") or not place:  # written with the search; or a place in the page
                    continue
                assert (here / place).resolve().is_relative_to(folder.resolve()), f"{path}: {address}"
                assert (here / place).is_file(), f"{path}: {address}"


def test_pages_of_two_languages_name_each_other_and_their_own_address(made: Path) -> None:
    for path, text in pages(made).items():
        if path in ("index.html", "404.html"):
            continue
        links = read(text).all("link")
        alternates = {str(one["hreflang"]): str(one["href"]) for one in links if one.get("hreflang")}
        assert set(alternates) == {"en", "zh-Hans", "x-default"}, path
        assert alternates["en"] == alternates["x-default"]
        own = next(str(one["href"]) for one in links if one["rel"] == "canonical")
        assert own == URL + path
        assert own == alternates["zh-Hans" if path.startswith("zh/") else "en"]
        assert alternates["zh-Hans"].removeprefix(f"{URL}zh/") == alternates["en"].removeprefix(f"{URL}en/")


def test_every_page_has_a_policy_and_nothing_in_it_that_the_policy_forbids(made: Path, hostile: Path) -> None:
    for folder in (made, hostile):
        for path, text in pages(folder).items():
            page = read(text)
            policy = next(
                str(one["content"]) for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy"
            )
            assert policy.startswith("default-src 'none'"), path
            assert "unsafe-inline" not in policy
            assert "http" not in policy
            kinds = {one.get("type") for one in page.all("script")}
            assert kinds <= {"application/ld+json"}, path
            assert page.all("style") == []
            assert [a for _, a in page.tags if any(name == "style" or name.startswith("on") for name in a)] == []
            loaded = [a.get("src") or a.get("href") for tag, a in page.tags if tag in ("img", "script", "iframe")]
            assert [one for one in loaded if one] == [], path
            far = {one["rel"] for one in page.all("link") if re.match(r"https?:", str(one["href"]))}
            assert path == "404.html" or far <= {"canonical", "alternate"}


def test_hostile_words_are_text_wherever_they_stand(hostile: Path) -> None:
    shown = 0
    for path, text in pages(hostile).items():
        page = read(text)
        assert not {"img", "style", "iframe"} & {tag for tag, _ in page.tags}, path
        assert "<b>m" not in text, path
        assert re.search(r"<script(?! type=\"application/ld\+json\")", text) is None, path
        assert [one for one in page.addresses() if re.match(r"\s*(?!https?:)[a-z]+:", one, re.I)] == [], path
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "42m5" not in text
        shown += "".join(page.words).count("alert('m1')")
        for data in page.scripts:
            assert json.loads(data)["@context"] == "https://schema.org"
    assert shown > 20  # and they are there to be read


def test_linked_data_names_the_entry_and_leads_to_its_json(made: Path) -> None:
    entry = export.read_entries(GOLDEN)[0]
    for lang in paths.LANGUAGES:
        (data,) = read((made / paths.error(lang, entry.id)).read_text("utf-8")).scripts
        told = json.loads(data)
        assert (told["@type"], told["identifier"], told["inLanguage"]) == ("TechArticle", entry.id, paths.TAGS[lang])
        assert told["encoding"]["contentUrl"] == f"{URL}entries/{entry.id}.json"
        assert told["url"] == URL + paths.error(lang, entry.id)


def test_what_was_only_suggested_stands_apart_from_what_helped(made: Path) -> None:
    text = (made / "en/errors/triton/out-of-resources-threads.html").read_text("utf-8")
    helped, suggested = text.index('id="confirmed"'), text.index('id="suggested"')
    assert (
        helped
        < text.index("Set num_warps to 16.", helped)
        < suggested
        < text.index("Decrease num_warps to 32.", helped)
    )
    assert "worked in 1" in text
    assert "https://github.com/errmine-fixtures/tilelab/issues/21#issuecomment-21002" in text
    assert "Nobody has reported" not in text
    silent = (made / "en/errors/pytorch/torch-mm-shape-mat1-mat2-shapes-cannot-multiplied.html").read_text("utf-8")
    assert "Nobody has reported a cause or a fix yet." in silent
    assert 'id="confirmed"' not in silent


def test_a_chinese_page_says_it_in_chinese_first_and_has_the_original_beside_it(made: Path) -> None:
    text = (made / "zh/errors/triton/out-of-resources-threads.html").read_text("utf-8")
    zh, en = (
        '<span lang="zh-Hans">将 num_warps 设为 16。</span>',
        '<span class="original" lang="en">Set num_warps to 16.</span>',
    )
    assert zh + en in text
    assert "有效的办法" in text
    bare = (made / "zh/errors/cpp/sigabrt-n-100-total-size-must-match.html").read_text("utf-8")
    assert '<h1 class="sig" lang="en">' in bare
    assert "尚无中文" in bare


def test_a_former_id_leads_to_its_entry(hostile: Path) -> None:
    text = (hostile / "en/errors/triton/former.html").read_text("utf-8")
    assert 'content="0; url=../../../en/errors/triton/hostile.html"' in text


def test_the_same_bundle_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    site.write(tmp_path / "again", GOLDEN, site_url=URL, search=False)
    assert tree(tmp_path / "again") == tree(made)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def inodes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_ino for path in folder.rglob("*.html")}


@pytest.mark.long
def test_an_unchanged_entry_keeps_its_files_and_what_lies_beside_the_site_stays(tmp_path: Path) -> None:
    one, two = make.entry(), make.entry(id="cuda/second", domain="cuda", signature="CUDA error: second")
    export.write(tmp_path / "bundle", [one, two])
    site.write(tmp_path / "site", tmp_path / "bundle", search=False)
    (tmp_path / "site" / "CNAME").write_text("errors.example")
    before = inodes(tmp_path / "site")
    changed = two.model_copy(update={"signature": "CUDA error: another second"})
    export.write(tmp_path / "bundle", [one, changed])
    written = site.write(tmp_path / "site", tmp_path / "bundle", search=False)
    after = inodes(tmp_path / "site")
    own = f"en/errors/{one.id}.html"
    assert after[own] == before[own]
    assert after["en/errors/cuda/second.html"] != before["en/errors/cuda/second.html"]
    assert "another second" in (tmp_path / "site/en/errors/cuda/second.html").read_text("utf-8")
    assert 0 < written.kept_count < written.page_count
    assert (tmp_path / "site" / "CNAME").read_text() == "errors.example"
    site.write(tmp_path / "fresh", tmp_path / "bundle", search=False)
    (tmp_path / "site" / "CNAME").unlink()
    assert tree(tmp_path / "fresh") == tree(tmp_path / "site")


@pytest.mark.long
def test_a_page_that_somebody_changed_is_made_anew(tmp_path: Path) -> None:
    export.write(tmp_path / "bundle", [make.entry()])
    site.write(tmp_path / "site", tmp_path / "bundle", search=False)
    page = tmp_path / "site/en/errors" / f"{make.entry().id}.html"
    whole = page.read_bytes()
    page.write_bytes(b"changed")
    site.write(tmp_path / "site", tmp_path / "bundle", search=False)
    assert page.read_bytes() == whole


@pytest.mark.long
def test_an_entry_that_is_gone_takes_its_pages_along(tmp_path: Path) -> None:
    export.write(tmp_path / "bundle", [make.entry(), make.entry(id="cuda/second", domain="cuda")])
    site.write(tmp_path / "site", tmp_path / "bundle", search=False, site_url=URL)
    export.write(tmp_path / "bundle", [make.entry()])
    site.write(tmp_path / "site", tmp_path / "bundle", search=False)
    assert not (tmp_path / "site/en/errors/cuda").exists()
    assert not (tmp_path / "site/sitemap.xml").exists()


def test_a_folder_that_is_no_site_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    for told in (
        None,
        "{}",
        "[]",
        '{"generator": "other 1", "files": {}}',
        '{"generator": "errmine 1", "files": {"a": 1}}',
    ):
        if told is not None:
            (tmp_path / "mine" / "site.json").write_text(told)
        with pytest.raises(ConfigError, match="no site of errmine") as caught:
            site.write(tmp_path / "mine", GOLDEN, search=False)
        assert "new folder" in caught.value.hint()
    assert (tmp_path / "mine" / "index.html").read_text() == "mine"


@pytest.mark.long
def test_a_damaged_bundle_leaves_the_site_as_it_was(tmp_path: Path) -> None:
    bundle = Path(shutil.copytree(GOLDEN, tmp_path / "bundle"))
    site.write(tmp_path / "site", bundle, search=False)
    before = tree(tmp_path / "site")
    damaged = bundle / "entries.jsonl"
    damaged.write_bytes(damaged.read_bytes().replace(b"16", b"61"))
    with pytest.raises(ExportError, match=r"entries\.jsonl"):
        site.write(tmp_path / "site", bundle, search=False)
    assert tree(tmp_path / "site") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle", "site"]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "example.org", "https://e.example/?a=1", "https://e.example/#a"]
)
def test_an_address_where_no_site_can_stand_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="no address of a site"):
        site.write(tmp_path / "site", GOLDEN, site_url=url, search=False)


def test_search_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.export.site.writing._SEARCH_MODULE", "pagefind_that_nobody_has")
    with pytest.raises(ConfigError) as caught:
        site.write(tmp_path / "site", GOLDEN)
    assert "extra `site`" in caught.value.hint()
    assert not (tmp_path / "site").exists()


def reseal(bundle: Path, path: str, body: bytes) -> None:
    """A file of a bundle by whoever can seal one: anybody."""
    (bundle / path).write_bytes(body)
    listed = json.loads((bundle / "manifest.json").read_bytes())
    for file in listed["files"]:
        if file["path"] == path:
            file.update(sha256=kept.sha256(body), bytes=len(body))
    listed["bundle_id"] = bundle_id([FileRecord.model_validate(file) for file in listed["files"]])
    listed["seal"] = kept.UNSEALED
    (bundle / "manifest.json").write_bytes(kept.sealed(json.dumps(listed).encode()))


def hostile_line(entry: KnowledgeEntry) -> bytes:
    raw = entry.model_dump(mode="json")
    raw["workarounds"][0]["action"] = "Run `rm -rf /` as root."
    return content.line(content.fields_of(KnowledgeEntry.model_validate(raw))).encode()


def test_the_json_of_an_entry_is_what_passed_the_gate_of_advice(tmp_path: Path) -> None:
    bundle, entry = tmp_path / "bundle", make.entry()
    export.write(bundle, [entry])
    whole = (bundle / paths.data(entry.id)).read_bytes()
    reseal(bundle, paths.data(entry.id), hostile_line(entry))
    for _ in range(2):  # made new, and made again
        site.write(tmp_path / "site", bundle, search=False)
        assert (tmp_path / "site" / paths.data(entry.id)).read_bytes() == whole


@pytest.mark.long
def test_a_line_that_changed_alone_is_asked_again(tmp_path: Path) -> None:
    bundle, entry = tmp_path / "bundle", make.entry()
    export.write(bundle, [entry])
    whole = (bundle / "entries.jsonl").read_bytes()
    site.write(tmp_path / "site", bundle, search=False)
    reseal(bundle, "entries.jsonl", hostile_line(entry) + whole)  # two of one id
    site.write(tmp_path / "site", bundle, search=False)
    assert [path for path, body in tree(tmp_path / "site").items() if b"rm -rf" in body] == []
    reseal(bundle, "entries.jsonl", hostile_line(entry))
    written = site.write(tmp_path / "site", bundle, search=False)
    assert [item.item_id for item in written.refused] == [entry.id]
    assert [path for path, body in tree(tmp_path / "site").items() if b"rm -rf" in body] == []


def test_a_page_does_not_take_the_place_of_another(tmp_path: Path) -> None:
    one, two = make.entry(), make.entry(id="cuda/second", domain="cuda", codes=["cuda:second", "CUDA:third"])
    below = f"{one.id}.html/below"  # where a file stands, no folder can
    aliases = {one.id.title(): two.id, below: two.id, "cuda/Former": two.id}
    export.write(tmp_path / "bundle", [one, two], facts=export.Facts(registry=Registry(aliases=aliases)))
    written = site.write(tmp_path / "site", tmp_path / "bundle", search=False)
    for lang in paths.LANGUAGES:
        assert one.id in (tmp_path / "site" / paths.error(lang, one.id)).read_text("utf-8")
        assert (tmp_path / "site" / paths.error(lang, "cuda/former")).is_file()
    taken = {paths.error(lang, name) for lang in paths.LANGUAGES for name in (one.id, below)}
    assert {(item.item_id, item.reason) for item in written.refused} == {(path, "place_taken") for path in taken}
    assert written.page_count == len(pages(tmp_path / "site")) - 2


def test_families_and_domains_that_differ_in_capitals_are_one(tmp_path: Path) -> None:
    one = make.entry(id="cuda/first", domain="CUDA", codes=["CUDA:first-of-ours"])
    two = make.entry(id="cuda/second", domain="cuda", codes=["cuda:second-of-ours"])
    export.write(tmp_path / "bundle", [one, two])
    assert site.write(tmp_path / "site", tmp_path / "bundle", search=False).refused == ()
    for path, wanted in (("en/codes.html", "codes/cuda.html"), ("en/domains.html", "domains/cuda.html")):
        links = list(Read((tmp_path / "site" / path).read_text("utf-8")).addresses())
        assert sum(link.endswith(wanted) for link in links) == 1
    family = (tmp_path / "site/en/codes/cuda.html").read_text("utf-8")
    assert "first-of-ours" in family
    assert "second-of-ours" in family


def test_the_site_map_of_any_address_can_be_parsed(tmp_path: Path) -> None:
    url = "https://h.example/a&b/'c'/"
    export.write(tmp_path / "bundle", [make.entry()])
    site.write(tmp_path / "site", tmp_path / "bundle", site_url=url, search=False)
    found = [one.text for one in ElementTree.parse(tmp_path / "site/sitemap.xml").iter() if one.tag.endswith("loc")]
    assert found[0] == f"{url}en/index.html"


def test_what_errmine_writes_in_english_reads_in_chinese() -> None:
    licence = headings.sentence(json.loads((GOLDEN / "manifest.json").read_text("utf-8"))["licence_note"], "zh")
    assert licence.startswith("引文简短")
    told = headings.sentence("gate resource: shared memory / threads; symbol: a; b / c", "zh")
    assert told == "标识不同：资源：共享内存 / 线程；符号：a; b / c"
    assert headings.sentence("score 39.0 < 85", "zh") == "相似度 39.0，低于 85"
    assert headings.sentence("gate op: add / mul", "en") == "gate op: add / mul"


def test_every_heading_is_asked_for() -> None:
    """By a name in a template or in the code, or, of what bundles hold, by a value that a field may have."""
    names = ("export/site", "export/report", "export/markdown.py", "cli")
    read = [
        path.read_text("utf-8")
        for place in (Path(str(files("pipeline"))) / name for name in names)
        for path in ([place] if place.is_file() else place.rglob("*"))
        if path.suffix in (".py", ".html")
    ]
    said = "\n".join(read)
    lists = "\n".join(re.findall(r".*(?:\bname(?:, \w+)? in \(|_LISTS = |chosen = ).*", said))
    words = set(re.findall(r"\bt\.(\w+)", said)) | set(re.findall(r"\"(\w+)\"", lists))
    begin = r"(?:\bword\(|\bsmall\(|\b_both\(|\bwords\[|label\(\"words\", |both\([\"']words[\"'], )"
    words |= set(re.findall(rf"{begin}[\"'](\w+)", said)) | {
        "confirmed_one",
        "fixed_one",
        "suggested_one",
        "replied_one",
    }  # of the groups of `errmine match`
    asked = {
        "words": words,
        "lines": set(re.findall(r"word\([\"'](\w+)[\"'], [^()]*(?:\([^()]*\))?[^()]*[\"']lines[\"']\)", said)),
        "reasons": set(headings.everything()["reasons"]),  # tests/test_cli_match.py
        "sentences": {"licence", "gate", "low"},  # test_what_errmine_writes_in_english_reads_in_chinese
        "gates": GATE_KEYS | {"kind", "code", "place"},
        "resources": set(vocabulary.table()["terms"]["resource"]),
        "replies": set(get_args(Reply.model_fields["outcome"].annotation)),
        "values": set(headings.everything()["values"]),  # words of messages
        "counts": set(re.findall(r"counted\(\"(\w+)\"", said)) | set(re.findall(r"counted\('(\w+)'", said)),
        "relations": set(TransitionGraph.model_fields),
        "roles": set(get_args(Role)),
        "said": {"fixed", "suggested", *get_args(CaseStatement.model_fields["kind"].annotation)},
        "leads": set(get_args(Lead.model_fields["kind"].annotation)),
        "version_states": {"fixed", "active"},
        "states": {"open", "closed", "released", "prerelease"},
        "authors": {"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "NONE", PROGRAM},
    }
    assert {
        name: set(rows) - asked[name] for name, rows in headings.everything().items() if set(rows) - asked[name]
    } == {}


@each(
    "name, wanted",
    [
        ("tilelab", "tilelab"),
        ("Tile.Lab_1-x", "tile.lab_1-x"),
        ("..", "~2e."),
        (".hidden", "~2ehidden"),
        ("", "~"),
        ("a/b\\c", "a~2fb~5cc"),
        ('"><b>', "~22~3e~3cb~3e"),
        ("显存", "~e6~98~be~e5~ad~98"),
        ("a~p2", "a~7ep2"),
        ("\ud800", "~ed~a0~80"),
    ],
)
def test_a_name_is_one_harmless_segment(name: str, wanted: str) -> None:
    assert paths.segment(name) == wanted


def test_long_names_stay_apart_and_fit_a_file_system() -> None:
    one, two = paths.segment("a" * 500), paths.segment("a" * 499 + "b")
    assert one != two
    assert len(paths.numbered(f"{one}.html", 1000)) < 255


def test_a_timeline_has_a_bar_for_every_month_with_reports_and_tells_them() -> None:
    drawn = str(charts.timeline({"2025-11": 2, "2026-02": 4, "no month": 9}, title="Reports"))
    assert drawn.count('class="bar"') == 2
    assert 'aria-label="Reports. 2025-11: 2; 2026-02: 4"' in drawn
    assert charts.timeline({"2026-01": 3}, title="one bar says nothing") == ""
    long = str(charts.timeline({"1990-01": 1, "2026-12": 1}, title="Reports"))
    assert "1990: 1; 2026: 1" in long


def test_bars_escape_their_names_and_keep_their_proportions() -> None:
    drawn = str(charts.bars([charts.Bar("<b>x</b>", 4), charts.Bar("y", 1, "fixed")], title='T"'))
    assert "<b>" not in drawn
    widths = [float(one) for one in re.findall(r'<rect class="bar[^"]*" x="1" y="\d+" width="([\d.]+)"', drawn)]
    assert widths[0] == pytest.approx(4 * widths[1], rel=0.01)
    assert charts.bars([], title="") == ""


def test_prose_has_code_between_backticks_and_no_other_markup() -> None:
    assert str(rendering.prose("a `b<c` <d>")) == "a <code>b&lt;c</code> &lt;d&gt;"


@pytest.fixture(scope="module")
def address(made: Path) -> Iterator[str]:
    with serving.server(made, 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{serving.HOST}:{server.server_port}"
        server.shutdown()


def answer(url: str) -> tuple[int, Any, bytes]:
    try:
        with urllib.request.urlopen(url) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def test_the_server_gives_pages_with_their_headers_and_nothing_else(address: str, made: Path) -> None:
    status, headers, body = answer(f"{address}/en/index.html")
    assert (status, body) == (200, (made / "en/index.html").read_bytes())
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer(f"{address}/entries/triton/out-of-resources-threads.json")[1]["Content-Type"] == "application/json"
    for place in ("/entries/", "/nothing", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd"):
        status, _, body = answer(address + place)
        assert (status, body) == (404, (made / "404.html").read_bytes()), place


def test_a_port_that_is_taken_is_named(address: str, made: Path) -> None:
    port = int(address.rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"), serving.server(made, port):
        pass


@pytest.mark.parametrize("port", [99999, -1])
def test_a_port_that_cannot_be_is_refused_before_anything_is_written(tmp_path: Path, port: int) -> None:
    folder = tmp_path / "site"
    done = cli.run("site", "--bundle", GOLDEN, "--to", folder, "--no-search", "--serve", "--port", port)
    assert done.code == 2
    assert "--port" in done.err
    assert not folder.exists()


def test_the_command_writes_a_site_of_a_bundle(tmp_path: Path) -> None:
    done = cli.run("site", "--bundle", GOLDEN, "--to", tmp_path / "site", "--no-search", "--json")
    told = json.loads(done.out)
    assert (told["entries"], told["unchanged"], told["refused"]) == (len(export.read_entries(GOLDEN)), 0, [])
    assert told["pages"] == len(pages(tmp_path / "site")) - 2  # the entrance and 404.html are no pages of anything
