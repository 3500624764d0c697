"""Documents: a case folder a form (tests/cases/documents), the true seeds, and what holds for every document."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.providers import assemble, documents, links
from pipeline.providers import files as archive
from pipeline.providers.saved import text_page
from pipeline.records import Document, RawPage, Skipped
from pipeline.text import markup
from tests import linear
from tests.rings import one_in

CASES = Path(__file__).parent / "cases" / "documents"
SHARED = Path(__file__).parents[2] / "shared"

shared = pytest.mark.shared
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the internal corpus is not here")


def pages_of(path: Path) -> list[RawPage]:
    items = list(archive.pages([path]))
    return [item for item in items if isinstance(item, RawPage)]


def read(path: Path) -> list[Document | Skipped]:
    """The documents of a file's pages, sorted by key."""
    keys: dict[str, list[RawPage]] = {}
    for page in pages_of(path):
        keys.setdefault(page.document_key, []).append(page)
    return [documents.document(pages) for _, pages in sorted(keys.items())]


def as_json(values: dict[str, Any]) -> dict[str, Any]:
    """The values as JSON gives them back."""
    plain: dict[str, Any] = json.loads(json.dumps(values, default=str))
    return plain


def as_case(document: Document | Skipped) -> dict[str, object]:
    """What expected.json holds: every field that is not empty, posts with their own words instead of offsets."""
    values = as_json(dataclasses.asdict(document))
    if isinstance(document, Document):
        values["posts"] = [
            {
                **{k: v for k, v in as_json(post._asdict()).items() if v and k not in ("start", "end")},
                "text": document.text[post.start : post.end],
            }
            for post in document.posts
        ]
        values["links"] = [
            [link.kind, link.target, document.text[link.start : link.end] if link.start is not None else None]
            for link in document.links
        ]
        del values["text"], values["raw_sha256"]
        if not values["hidden_count"]:
            del values["hidden_count"]
    return {key: value for key, value in values.items() if value not in (None, [], ())}


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_the_pages_of_a_case_give_its_expected_documents(case: str) -> None:
    folder = CASES / case
    found = [as_case(document) for document in read(next(folder.glob("input.*")))]
    assert found == json.loads((folder / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_posts_do_not_overlap_and_lie_in_the_text_and_nothing_private_is_left(case: str) -> None:
    for document in read(next((CASES / case).glob("input.*"))):
        assert isinstance(document, Document)
        position = 0
        for post in document.posts:
            assert position <= post.start < post.end <= len(document.text)
            position = post.end
        for link in document.links:
            if link.start is not None and link.end is not None:
                assert "#" in document.text[link.start : link.end] or "/" in document.text[link.start : link.end]
        for private in (
            "fixture-anna",
            "/home/anna",
            "mo@example.org",
            "maker@example.com",
            "ghp_",
            "nam/",
            "nam@",
            "Nam\\",
            "\u202e",
            "\x1b",
        ):
            assert private not in document.text
            assert private not in (document.payload or "")


def test_the_order_of_the_pages_does_not_matter() -> None:
    pages = pages_of(CASES / "pull_with_parts" / "input.jsonl")
    assert len(pages) == 4
    assert documents.document(pages) == documents.document(pages[::-1])


def test_of_a_thread_and_a_saved_copy_of_it_the_thread_is_read() -> None:
    (whole,) = pages_of(CASES / "html_embedded" / "input.html")
    thread = dataclasses.replace(
        whole, form="github-thread", part="main", body=b'{"title": "From the API", "number": 57, "state": "closed"}'
    )
    document = documents.document([whole, thread])
    assert isinstance(document, Document)
    assert (document.title, document.form, document.state) == ("From the API", "github-thread", "closed")


def test_what_an_object_claims_is_taken_only_where_it_has_the_form_of_the_field() -> None:
    evil = '"><script>alert(1)</script>'
    body = json.dumps(
        {
            "title": "t",
            "body": "b",
            "repo": f"a/{evil}",
            "number": -5,
            "state": evil,
            "state_reason": evil,
            "author_association": evil,
            "comments": [
                {"body": "c", "html_url": f"https://github.com/a/b/issues/5{evil}", "author_association": evil}
            ],
        }
    ).encode()
    for key in ("page:0123456789abcdef", "github.com/a/b#5"):
        document = documents.document([page("github-thread", body, key)])
        assert isinstance(document, Document)
        assert "script" not in repr(dataclasses.replace(document, text=""))


def test_comments_without_their_issue_still_make_a_document() -> None:
    pages = [page for page in pages_of(CASES / "rest_issue" / "input.jsonl") if page.part != "main"]
    document = documents.document(pages)
    assert isinstance(document, Document)
    assert (document.title, document.number, document.state, document.is_lossy) == (None, 12, None, True)
    assert [post.kind for post in document.posts] == ["comment"] * 3


def test_one_author_has_one_hash_in_a_document_and_another_in_the_next() -> None:
    first = documents.document(pages_of(CASES / "rest_issue" / "input.jsonl"))
    assert isinstance(first, Document)
    hashes = [post.author_hash for post in first.posts]
    assert hashes[0] == hashes[1] == hashes[3] != hashes[2]
    other = documents.document(pages_of(CASES / "pull_with_parts" / "input.jsonl"))
    assert isinstance(other, Document)
    assert not {post.author_hash for post in other.posts} & set(hashes) - {None}


def page(form: str, body: bytes, key: str = "page:0123456789abcdef") -> RawPage:
    return RawPage("0" * 64, "import", None, form, key, "main", "", None, None, body)


def test_a_form_without_a_reader_is_skipped_with_its_name() -> None:
    found = documents.document([page("tape", b"x")])
    assert found == Skipped("document", "page:0123456789abcdef", "no_reader", "tape")


@pytest.mark.parametrize("form", sorted(documents.FORMS))
@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[[[", b"null", b"{}", b"[" * 100_000, b"<html", b'{"title": 5}'])
def test_no_page_makes_a_reader_raise(form: str, body: bytes) -> None:
    assert isinstance(documents.document([page(form, body)]), Document | Skipped)


def test_a_debuggers_frames_and_numbers_of_colours_are_no_threads() -> None:
    text = "#0 0x00007f00 in abort ()\n#12 torch::jit::run (x)\na&#39;b and color: #1a2b3c, README.md#5, C#7"
    assert links.mentions(text, links.Home("github.com", "a/b", 1)) == ()


RELATED = "Duplicate of #5. Fixed in #6, closes #7; fix: #8. See https://github.com/A/B/pull/9 and c/d#10, and #1."


@pytest.mark.parametrize(("description", "kind"), [((0, 0), "text_mention"), ((0, len(RELATED)), "closes")])
def test_a_link_knows_its_relation_only_from_the_words_before_it(description: tuple[int, int], kind: str) -> None:
    """Words never say what closed a thread; what a pull request closes, only the keywords of its description."""
    found = links.mentions(RELATED, links.Home("github.com", "a/b", 1), description=description)
    assert [(link.kind, link.target) for link in found] == [
        ("duplicate_of", "github.com/a/b#5"),
        ("text_mention", "github.com/a/b#6"),
        (kind, "github.com/a/b#7"),
        (kind, "github.com/a/b#8"),
        ("text_mention", "github.com/a/b#9"),
        ("text_mention", "github.com/c/d#10"),
    ]


def test_two_runs_of_one_program_in_a_log_stay_two() -> None:
    run = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    main()\nValueError: '
    text = f"{run}1\n{run}2\n{run}1"
    assert text_page.without_repetition(text) == text


def test_a_text_that_repeats_some_lines_is_left_alone() -> None:
    text = "Error\nfirst run\nError\nsecond run with other words and a longer line\n"
    assert text_page.without_repetition(text) == text


@given(st.text(alphabet="ab >\n:wroteOn,", max_size=300))
@settings(max_examples=200, deadline=None)
@pytest.mark.long
def test_dropping_a_quoted_mail_adds_nothing(text: str) -> None:
    kept = assemble.without_reply(text)
    assert len(kept) <= len(text)
    assert assemble.without_reply(kept) == kept


@pytest.mark.parametrize(
    "text",
    one_in(
        4,
        [
            "On " * 40_000,
            "> On x wrote:\n" * 8_000,
            "#" * 100_000,
            "#1 " * 30_000,
            "a/b#1" * 20_000,
            "closes " * 15_000,
            "https://github.com/a/b/issues/" * 3_000,
            "@a\nCopy link\n" * 8_000,
            "Projects\n" * 11_000,
            "Projects\n" * 9_000 + "@a\nCopy link\n",
            "a\n" + "".join(f"a\n{n}\n" for n in range(14_000)),
            "a\nb\n" + "a b\n" * 30_000,
            "<!doctype html>" + "<div class=timeline-comment>" * 3_500,
        ],
    ),
)
def test_a_hostile_text_of_100_kB_is_read_quickly(text: str) -> None:
    def read(text: str) -> None:
        for form in ("plain-text", "github-text", "issue-markdown", "github-html"):
            documents.document([page(form, text.encode())])

    linear.within(5.0, read, text)


# ---------------------------------------------------------------- the true seeds


@shared
@needs_shared
class TestSeeds:
    def seed(self, start: str) -> Document:
        document = read(next((SHARED / "seeds").glob(f"{start}*")))[0]
        assert isinstance(document, Document)
        return document

    def test_001_is_one_issue_of_a_known_repository(self) -> None:
        document = self.seed("001")
        assert (document.document_id, document.repo, document.number) == (
            "github.com/pytorch/helion#470",
            "pytorch/helion",
            470,
        )
        assert document.url == "https://github.com/pytorch/helion/issues/470"
        assert (document.kind, document.state) == ("issue", "open")
        assert (str(document.opened_at), str(document.updated_at)) == (
            "2025-08-08 16:28:00+00:00",
            "2025-08-08 16:29:00+00:00",
        )
        assert [post.kind for post in document.posts] == ["title", "body"]
        assert "No comments yet" not in document.text
        assert "lucaskabela" not in document.text.replace("torchinductor_lucaskabela", "")

    def test_002_is_a_draft_pull_request_of_unknown_repository(self) -> None:
        document = self.seed("002")
        assert (document.kind, document.number, document.repo, document.is_draft) == ("pull", 713, None, True)
        assert document.document_id == f"page:{document.raw_sha256[:16]}"
        assert document.url == f"urn:sha256:{document.raw_sha256}"
        assert (document.opened_at, str(document.updated_at)[:7]) == (None, "2026-06")
        assert [(post.kind, post.is_bot) for post in document.posts] == [
            ("title", False),
            ("body", False),
            ("comment", True),
        ]
        for chrome in ("Skip to content", "Copy link", "Sign up for free", "force-pushed", "Successfully merging"):
            assert chrome not in document.text

    def test_004_counts_its_repeated_text_once(self) -> None:
        document = self.seed("004")
        assert (document.repo, document.number, document.title, document.opened_at) == (None, None, None, None)
        assert document.text.replace(" ", "").count("LinearLayout::reshapeOuts") == 1
        assert [link.target for link in document.links] == ["#2494", "#2111", "#2487", "#2128"]
        assert {link.kind for link in document.links} == {"text_mention"}

    def test_000_keeps_its_json(self) -> None:
        document = self.seed("000")
        assert document.kind == "entry"
        assert json.loads(document.payload or "")["id"] == "cuda/triton-compilation-llvm-crash"


@shared
@needs_shared
def test_every_thread_of_the_corpus_head_becomes_a_document_with_its_words_in_place() -> None:
    found = read(SHARED / "corpus" / "sample_core_1500.jsonl.gz")
    assert len(found) == 1500
    for document in found:
        assert isinstance(document, Document)
        assert document.posts[0].start == 0
        assert document.posts[-1].end == len(document.text)


def test_every_phrase_of_a_bot_holds_one_of_the_signs_that_are_looked_for_first() -> None:
    table = tomllib.loads((Path(documents.__file__).parents[1] / "data" / "bots.toml").read_text("utf-8"))
    for phrase in table["phrases"]:
        assert any(sign in phrase for sign in assemble.signs())
        assert assemble.is_bot_text(f"This issue: {phrase} and more.")
    assert not assemble.is_bot_text("It works. " * 40 + table["phrases"][0])


def test_markup_that_never_closes_its_tags_is_refused_before_it_is_parsed() -> None:
    assert markup.soup("<p>" + "<a " * 30_000) is None
    kept = markup.soup("<p>a < b, c < d</p>")
    assert kept is not None
    assert kept.get_text() == "a < b, c < d"


MANUAL = """# Debug errors of the pond

See [the page of the error](./errors/pond_1.md).

## Example

jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Ran out of ponds

## Steps

Count them.
"""


def test_a_page_of_a_manual_shows_errors_and_reports_none() -> None:
    found = documents.document([page("plain-text", MANUAL.encode())])
    assert isinstance(found, Skipped)
    assert found.reason == "manual_page"
    for other in (MANUAL.replace("./errors/pond_1.md", "https://example.org/pond_1.md"), MANUAL.replace("## ", "")):
        assert isinstance(documents.document([page("plain-text", other.encode())]), Document)
