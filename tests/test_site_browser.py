"""The site in a real browser: nothing is loaded from elsewhere, nothing a stranger wrote runs, everybody can read it.

Skipped where there is no Chromium (`apt install chromium`), or what drives it (requirements/browser.txt) is missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from pipeline import export
from pipeline.export import site
from pipeline.export.site import paths, serving
from tests.golden import GOLDEN, ROOT
from tests.rings import first_alone
from tests.test_site import HOSTILE, hostile_entry

AXE = ROOT / "tests" / "contract" / "node_modules" / "axe-core" / "axe.min.js"
#: CHROMIUM names another one than the one that is found.
CHROMIUM = next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser"))), None)
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE, DESK = {"width": 360, "height": 780}, {"width": 1280, "height": 800}
ENTRY, HOSTILE_ENTRY = "errors/triton/out-of-resources-threads.html", "errors/triton/hostile.html"
#: One page of every kind.
KINDS = (
    "index.html", ENTRY, HOSTILE_ENTRY, "errors/pytorch/torch-mm-shape-mat1-mat2-shapes-cannot-multiplied.html",
    "errors/xla/e1000-compile-time-hbm-oom.html", "domains.html", "domains/triton.html", "codes.html", "codes/xla.html",
    "codes/xla/e1000.html", "repositories.html", "repositories/errmine-fixtures/tilelab.html", "search.html",
)  # fmt: skip


class Shown:
    """The site in a browser that keeps what went wrong."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address
        self.complaints: list[str] = []

    def page(self, path: str, **how: Any) -> Any:
        """The page at `path`, loaded; what its console said, what it asked of others and what popped up is kept."""
        page = self.browser.new_context(**{"viewport": DESK, **how}).new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: self.complaints.append(f"{path}: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"{path}: {error}"))
        page.on("dialog", lambda dialog: (self.complaints.append(f"{path}: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda asked: self._asked(path, asked.url))
        page.goto(f"{self.address}/{path}")
        return page

    def _asked(self, path: str, url: str) -> None:
        if not url.startswith(f"{self.address}/"):
            self.complaints.append(f"{path}: asked {url}")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """One site of the sample with a hostile entry in it, one server, one browser, for all tests here."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: `make test` installs it")
    if CHROMIUM is None:
        pytest.skip("no chromium: `apt install chromium`")
    folder = tmp_path_factory.mktemp("browser")
    export.write(folder / "bundle", [*export.read_entries(GOLDEN), hostile_entry()])
    site.write(folder / "site", folder / "bundle")
    with serving.server(folder / "site", 0) as server, playwright.sync_playwright() as driver:
        Thread(target=server.serve_forever, daemon=True).start()
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield Shown(browser, f"http://{serving.HOST}:{server.server_port}")
        browser.close()
        server.shutdown()


@pytest.fixture(autouse=True)
def _nothing_went_wrong(shown: Shown) -> Iterator[None]:
    """A test ends without a word on the console, a question to another host, or a dialog.

    Its pages are closed: each that stays open makes every later one slower.
    """
    shown.complaints.clear()
    yield
    for context in shown.browser.contexts:
        context.close()
    assert shown.complaints == []


@pytest.mark.parametrize(
    ("scheme", "lang", "kinds"),
    first_alone(
        [
            ("light", "en", KINDS[1:2]),
            *(("light", lang, KINDS) for lang in paths.LANGUAGES),
            *(("dark", lang, KINDS[:3]) for lang in paths.LANGUAGES),
        ]
    ),
)
def test_every_kind_of_page_is_readable_by_everybody_in_light_and_dark(
    shown: Shown, scheme: str, lang: str, kinds: tuple[str, ...]
) -> None:
    if not AXE.exists():
        pytest.skip(f"no {AXE.name}: `make test` installs it with npm")
    rules, found = AXE.read_text("utf-8"), []
    page = shown.page(f"{lang}/index.html", color_scheme=scheme)
    for kind in kinds:
        page.goto(f"{shown.address}/{lang}/{kind}")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.evaluate(rules)
        report = page.evaluate("axe.run({resultTypes: ['violations'], rules: {'target-size': {enabled: true}}})")
        assert len(report["passes"]) > 10  # it looked
        for rule in report["violations"]:
            found += [f"{scheme} {lang}/{kind}: {rule['id']}: {node['html'][:120]}" for node in rule["nodes"][:3]]
    assert found == []


@pytest.mark.parametrize(
    ("lang", "kinds"), first_alone([("en", KINDS[1:2]), *((lang, KINDS) for lang in paths.LANGUAGES)])
)
def test_no_page_is_wider_than_a_phone(shown: Shown, lang: str, kinds: tuple[str, ...]) -> None:
    page = shown.page(f"{lang}/index.html", viewport=PHONE)
    for kind in kinds:
        page.goto(f"{shown.address}/{lang}/{kind}")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], kind


@pytest.mark.long
def test_a_count_of_any_length_stands_on_one_line_and_titles_below_each_other(shown: Shown) -> None:
    page = shown.page("en/index.html", viewport=PHONE)
    lines, edges = page.evaluate("""() => {
        const [first, second] = document.querySelectorAll(".rows .count");
        first.textContent = "12,345";
        const range = document.createRange();
        range.selectNodeContents(first);
        const left = (count) => count.nextElementSibling.getBoundingClientRect().left;
        return [range.getClientRects().length, new Set([left(first), left(second)]).size];
    }""")
    assert (lines, edges) == (1, 1)


@pytest.mark.long
def test_a_remedy_stands_on_the_first_screen(shown: Shown) -> None:
    for screen in (PHONE, DESK):
        for lang in paths.LANGUAGES:
            page = shown.page(f"{lang}/{ENTRY}", viewport=screen)
            box = page.locator(".remedies .action").first.bounding_box()
            assert box["y"] + box["height"] < screen["height"]


@pytest.mark.parametrize(
    ("lang", "words", "wanted"),
    first_alone(
        [
            ("en", "out of memory", "out-of-memory-error-torch-oom-cuda"),
            ("zh", "显存不足", "out-of-memory-error-torch-oom-cuda"),
            ("zh", "out of memory", "out-of-memory-error-torch-oom-cuda"),
            ("en", "显存不足", "out-of-memory-error-torch-oom-cuda"),
            ("en", "num_warps", "out-of-resources-threads"),
        ]
    ),
)
def test_words_of_either_language_are_found(shown: Shown, lang: str, words: str, wanted: str) -> None:
    page = shown.page(f"{lang}/index.html")
    page.fill("input[type=search]", words)
    page.keyboard.press("Enter")
    first = page.locator("#results a").first
    first.wait_for()
    assert page.input_value("input[type=search]") == words
    addresses = page.locator("#results a").evaluate_all("(all) => all.map((one) => one.href)")
    assert any(one.endswith(f"{wanted}.html") for one in addresses)
    first.click()
    page.wait_for_load_state()
    assert page.locator("h1").count() == 1


@pytest.mark.long
def test_what_is_searched_for_and_what_is_found_is_text(shown: Shown) -> None:
    page = shown.page(f"en/search.html?q={quote('<img src=x onerror=alert(1)>')}")
    page.locator("#state:not(:empty)").wait_for()
    page.goto(f"{shown.address}/en/search.html?q=onerror")
    page.locator("#results a").first.wait_for()
    assert HOSTILE[0] in page.locator("#results").inner_text()
    assert page.locator("#results img, #results script").count() == 0
    page.goto(f"{shown.address}/en/search.html?q={quote('zzzz qqqq')}")
    page.locator("#state:not(:empty)").wait_for()
    assert page.locator("#state").inner_text() == "Nothing found."


def test_words_of_strangers_are_shown_and_do_nothing(shown: Shown) -> None:
    page = shown.page(f"en/{HOSTILE_ENTRY}")
    assert all(words in page.locator("main").inner_text() for words in ("<script>alert('m1')", "</script>", "onerror"))
    assert page.locator("main img, main iframe, main style, main b:has-text('m7')").count() == 0
    schemes = page.locator("a").evaluate_all("(all) => all.map((one) => one.protocol)")
    assert set(schemes) <= {"http:", "https:"}


@pytest.mark.long
def test_keys_alone_lead_through_a_page(shown: Shown) -> None:
    page = shown.page(f"en/{ENTRY}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    evidence = page.locator("details.evidence")
    evidence.locator("summary").first.focus()
    assert not evidence.locator("q").first.is_visible()
    page.keyboard.press("Enter")
    assert evidence.locator("q").first.is_visible()


@pytest.mark.long
def test_all_but_the_search_works_without_javascript(shown: Shown) -> None:
    page = shown.page(f"zh/{ENTRY}", java_script_enabled=False)
    assert page.locator("#confirmed").is_visible()
    page.locator("details.evidence summary").click()
    assert page.locator("details.evidence q").first.is_visible()
    page.locator("a.other").click()
    assert page.url.endswith(f"en/{ENTRY}")
    page.goto(f"{shown.address}/en/search.html")
    assert "Search needs JavaScript" in page.locator("main").inner_text()
    page.goto(f"{shown.address}/")
    page.wait_for_url("**/en/index.html")
