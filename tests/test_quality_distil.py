"""How often the sentence rules are right, on labels kept without the text (ids, offsets, judgements).

Each label says whether one emitted statement, its fact included, was right; parts 1 and 4 were read while the rules
were narrowed, 2, 3 and 5 afterwards, on statements that had not been looked at; part 6 is all that the rules of its day
added, read while they were made. `second` is the judgement of another
pass that did not see the first. Whole threads say what a reader finds stated, by kind and post: recall. Recomputed
from the internal corpus.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.distil import tables
from pipeline.distil.claims import candidates
from pipeline.distil.drafts.support import wilson_lower
from pipeline.records import Claim, Document, DocumentKind, Post
from tests.distil_factory import claims

ROOT = Path(__file__).parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "issues.jsonl.gz"
LABELS = ROOT / "tests" / "quality" / "distil_labels.jsonl"
THREADS = ROOT / "tests" / "quality" / "distil_threads.jsonl"
#: Parts that were sampled after the rules were as they are.
FRESH = frozenset({2, 3, 5})
#: Two passes must agree at least so well, by Cohen's kappa ("substantial" begins at 0.61).
LEAST_KAPPA = 0.61
#: Share of the statements of whole threads that the rules find: they are made to be right, not to find everything.
#: Part 1 (60 threads) was read before rules were added: 11 of 85 found then, 26 now. Part 2 (18) was read afterwards:
#: 6 of 21, and the rules before would have found 4. Part 3 (31 threads) was labelled more generously, each hint of a
#: cause or remedy: 12 of 80; after rules were added with it in view 16 (parts 1 and 2: 32 and 9).
#: Since a statement must stand by itself, be about one error that is shown, be no guess and, of causes and
#: fixes, stand in a short thread, 32 of 186 (57 before); 26 since events were grouped anew and gates were added.
LEAST_RECALL = 0.13
#: What every emitted kind must reach; "version" has too few sentences in the corpus to be held to it.
LEAST_WILSON = 0.75
KINDS = ("advice", "cause", "failed", "fix", "worked")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CORPUS.is_file(), reason="the internal corpus is absent"),
]


def _labels() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]


def _threads() -> list[dict[str, Any]]:
    return [json.loads(line) for line in THREADS.read_text("utf-8").splitlines()]


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _document(row: dict[str, Any]) -> Document:
    """The corpus row as the labels count its offsets: title, body, comments, each a post."""
    pieces = [("title", row["title"], row["created_at"], None), ("body", row["body"], row["created_at"], None)]
    pieces += [("comment", c["body"], c["created_at"], c.get("author_association")) for c in row["comments"] or []]
    posts, texts, at = [], [], 0
    for kind, body, when, role in pieces:
        text = (body or "").replace("\r\n", "\n")
        posts.append(Post(kind, at, at + len(text), None, _moment(when), role, None, False, 0))
        texts.append(text)
        at += len(text) + 2
    return Document(
        document_id=f"github.com/{row['repo']}#{row['number']}",
        kind=DocumentKind.ISSUE if row["kind"] == "issue" else DocumentKind.PULL,
        url=row["html_url"] or "urn:x",
        repo=row["repo"],
        number=row["number"],
        title=row["title"],
        text="\n\n".join(texts),
        posts=tuple(posts),
        state=row["state"],
        state_reason=None,
        is_draft=None,
        is_merged=None,
        labels=(),
        opened_at=_moment(row["created_at"]),
        updated_at=None,
        closed_at=None,
        links=(),
        record=None,
        payload=None,
        raw_sha256=hashlib.sha256(row["uid"].encode()).hexdigest(),
        source="import",
        form="corpus",
        is_lossy=False,
        fixed_in=(),
        hidden_count=0,
    )


def _kind(claim: Claim) -> str:
    if claim.kind == "remedy":
        return claim.outcome or "advice"
    return claim.kind


@pytest.fixture(scope="module")
def emitted() -> dict[str, tuple[Document, tuple[Claim, ...]]]:
    """Every labelled thread by its id, with what the rules say of it.

    What the trained reader alone points at is no statement, and takes none from the rules: it is not asked. It would
    take four fifths of the time.
    """
    wanted = {one["document"] for one in (*_labels(), *_threads())}
    with pytest.MonkeyPatch.context() as patch, gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        patch.setattr(candidates.Reader, "candidates", lambda _: iter(()))
        patch.setattr(candidates.Reader, "share", lambda *_: 100)
        return {made.document_id: (made, claims(made)) for made in _named(wanted, lines)}


def _named(wanted: set[str], lines: Iterable[str]) -> Iterator[Document]:
    """The first row of each document: some stand there twice."""
    for row in map(json.loads, lines):
        name = f"github.com/{row['repo']}#{row['number']}"
        if name in wanted:
            wanted.remove(name)
            yield _document(row)


@pytest.fixture(scope="module")
def judged(emitted: dict[str, tuple[Document, tuple[Claim, ...]]]) -> dict[str, dict[str, list[int]]]:
    """{"rule", "kind" or "fresh": {name: [right, all]}} of the labelled statements that the rules emit today."""
    wanted: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for label in _labels():
        wanted[label["document"]].append(label)
    found: dict[str, dict[str, list[int]]] = {name: defaultdict(lambda: [0, 0]) for name in ("rule", "kind", "fresh")}
    for name, labels in wanted.items():
        if name in emitted:
            _judge(*emitted[name], labels, found)
    return found


def _judge(
    document: Document,
    said: tuple[Claim, ...],
    labels: list[dict[str, Any]],
    found: dict[str, dict[str, list[int]]],
) -> None:
    emitted = {}
    for claim in said:
        if claim.kind in {"cause", "fix", "remedy", "version"} and not claim.rule.startswith(("hint.", "environment.")):
            emitted[(claim.outcome_quote or claim.quote).start, _kind(claim)] = claim
    for label in labels:
        claim = emitted.get((document.posts[label["post"]].start + label["start"], label["kind"]))
        if claim is not None:
            tables_of = [("rule", claim.rule), ("kind", label["kind"])]
            tables_of += [("fresh", label["kind"])] if label["part"] in FRESH else []
            for table, name in tables_of:
                found[table][name][0] += label["label"]
                found[table][name][1] += 1


@pytest.mark.parametrize("sample", ["kind", "fresh"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_right_often_enough(judged: dict[str, dict[str, list[int]]], kind: str, sample: str) -> None:
    right, everything = judged[sample][kind]
    bound = wilson_lower(right, everything)
    assert bound is not None
    assert bound >= LEAST_WILSON, f"{kind}: {right}/{everything}"


def test_the_table_of_precision_is_what_the_labels_give(judged: dict[str, dict[str, list[int]]]) -> None:
    counted = {rule: f"{right}/{everything}" for rule, (right, everything) in sorted(judged["rule"].items())}
    assert counted == tables.precision()


def test_labels_hold_no_text() -> None:
    for label in _labels():
        assert set(label) - {"second"} == {"part", "document", "post", "start", "end", "kind", "label"}
    for thread in _threads():
        assert set(thread) == {"part", "document", "stated"}


def test_two_passes_agree() -> None:
    both = [(label["label"], label["second"]) for label in _labels() if "second" in label]
    assert len(both) >= 150
    kappa = _kappa(both)
    assert kappa >= LEAST_KAPPA, kappa


def _kappa(both: list[tuple[int, int]]) -> float:
    agreed = sum(one == two for one, two in both) / len(both)
    first, second = (sum(column) / len(both) for column in zip(*both, strict=True))
    by_chance = first * second + (1 - first) * (1 - second)
    return (agreed - by_chance) / (1 - by_chance)


def test_of_what_whole_threads_state_some_share_is_found(
    emitted: dict[str, tuple[Document, tuple[Claim, ...]]],
) -> None:
    wanted = {thread["document"]: {(kind, post) for kind, post in thread["stated"]} for thread in _threads()}
    assert len(wanted) >= 60
    stated = found = 0
    for name, told in wanted.items():
        if name in emitted:
            stated += len(told)
            found += len(told & _places(*emitted[name]))
    assert found / stated >= LEAST_RECALL, f"{found}/{stated}"


def _places(document: Document, said: tuple[Claim, ...]) -> set[tuple[str, int]]:
    places = [(_kind(c), (c.outcome_quote or c.quote).start) for c in said if not c.rule.startswith("hint.")]
    return {(kind, sum(post.start <= at for post in document.posts) - 1) for kind, at in places}
