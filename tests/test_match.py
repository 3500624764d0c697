"""A text against a bundle: the entry of its error, or an abstention with the reason."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pipeline.ask import Answer, Matcher, group_texts, nearest_case, read, read_pasted, template_of
from pipeline.ask.known import KnownErrors
from pipeline.providers import documents
from pipeline.records import Document, RawPage, Template, kept
from pipeline.records.errors import ExportError
from pipeline.run import Places
from tests import golden, linear
from tests.each import each

SHARED_MEMORY = """Traceback (most recent call last):
  File "/srv/bench/attention.py", line 88, in <module>
    kernel[grid](q, k, v)
triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 999424, Hardware limit: 232448. \
Reducing block sizes or `num_stages` may help.
"""
UNKNOWN = """Traceback (most recent call last):
  File "/srv/shop/till.py", line 3, in <module>
    basket.pay()
shop.errors.BasketError: the basket was lost on the way to the till
"""
LOG = "2026-03-04T10:00:00Z INFO gateway: request 17 served in 12 ms\nloss=0.312 lr=0.0001 step 400\n"
PROSE = """The exit status is negative if the child was killed: it is -SIG, where SIG is the signal that killed it.
Errors are not raised here; see the documentation of the parent class for what may fail and why.
"""


@pytest.fixture(scope="module")
def bundle(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = golden.copied(sample_home, tmp_path_factory.mktemp("home"))
    return Places.of(home).curated


@pytest.fixture(scope="module")
def ready(bundle: Path) -> Matcher:
    return Matcher.read(bundle)


def test_an_error_with_other_numbers_and_paths_finds_its_entry(ready: Matcher) -> None:
    answer = ready.match(SHARED_MEMORY)
    assert answer.entry_id is not None
    assert answer.entry_id.startswith("triton/out-of-resources-shared-memory")
    assert answer.score >= 90


CRASH = """Fatal Python error: Segmentation fault

Current thread 0x00007f1111111111 (most recent call first):
  File "/usr/lib/python3.12/ctypes/__init__.py", line 525 in string_at
  File "/opt/venv/lib/python3.12/site-packages/raygarden/main.py", line 4 in crash
  File "/srv/show.py", line 5 in <module>
"""


def test_the_case_of_the_same_project_and_place_is_nearest(ready: Matcher) -> None:
    answer = ready.match(CRASH)
    assert answer.entry_id is not None
    assert (answer.frame, answer.packages) == ("show:<module>", ("raygarden",))
    cases = ready.entry(answer.entry_id)["cases"]
    assert [case["repo"] for case in cases] == ["errmine-fixtures/raygarden"]
    assert nearest_case(cases, answer) == 0
    assert nearest_case(cases, ready.match(CRASH.replace("/raygarden/", "/gemmforge/"))) is None


@each(
    "why, cases, wanted",
    [
        ("the place before the project", [("o/ray-garden", "b:g", None), ("o/ray-garden", "a:f", None)], 1),
        ("the project before the library", [("o/tool", None, "ray_garden"), ("o/ray-garden", None, None)], 1),
        ("the library where no project is", [("o/tool", None, None), ("o/other", "a:f", "ray_garden")], 1),
        ("a library that did not raise it", [("o/tool", None, "scenes")], None),
        ("a place alone says nothing", [("o/tool", "a:f", None)], None),
    ],
)
def test_which_case_is_nearest(why: str, cases: list[tuple[str, str | None, str | None]], wanted: int | None) -> None:
    rows = [{"repo": repo, "frame": frame, "library": library} for repo, frame, library in cases]
    answer = Answer(
        None, None, 0.0, "abstained", "", "", None, "", packages=("ray_garden", "scenes"), places=frozenset(["a:f"])
    )
    assert nearest_case(rows, answer) == wanted, why


def test_a_look_alike_of_another_resource_is_another_entry_or_none(ready: Matcher) -> None:
    first = ready.match(SHARED_MEMORY)
    other = ready.match(SHARED_MEMORY.replace("shared memory", "tensor memory"))
    assert other.entry_id != first.entry_id


@pytest.mark.parametrize("text", [LOG * 40, PROSE, "", "\n", "ok", "'quoted'", "def f(x):\n    return x\n"])
def test_a_text_without_an_error_is_not_answered(ready: Matcher, text: str) -> None:
    answer = ready.match(text)
    assert (answer.entry_id, answer.rule) == (None, "abstained")
    assert answer.reason


def test_an_unknown_error_is_not_answered_and_the_nearest_is_only_a_runner_up(ready: Matcher) -> None:
    answer = ready.match(UNKNOWN)
    assert (answer.entry_id, answer.cluster_id) == (None, None)
    assert answer.reason


def test_the_answer_says_where_in_a_log_its_error_stands(ready: Matcher) -> None:
    text = LOG * 30 + SHARED_MEMORY + LOG
    answer = ready.match(text)
    assert answer.entry_id == ready.match(SHARED_MEMORY).entry_id
    assert answer.start is not None
    assert answer.end is not None
    assert "OutOfResources" in text[answer.start : answer.end]
    assert answer.start >= 29 * len(LOG)


def test_where_the_last_error_is_unknown_an_earlier_known_one_is_named_as_such(ready: Matcher) -> None:
    text = f"{SHARED_MEMORY}\n{LOG}{UNKNOWN}"
    answer = ready.match(text)
    assert answer.entry_id == ready.match(SHARED_MEMORY).entry_id
    assert answer.start is not None
    assert "OutOfResources" in text[answer.start : answer.end]


def test_log_lines_after_a_message_do_not_hide_it(ready: Matcher) -> None:
    text = SHARED_MEMORY.rstrip("\n") + "\nCollecting package-17==2.0\nSuccessfully installed package-17\n"
    assert ready.match(text).entry_id == ready.match(SHARED_MEMORY).entry_id


#: Quotes that do not lead back to their entry, by the beginning of the entry's id, each with the reason: what tells
#: entries of the same words apart stands at the end.
NOT_FOUND_AGAIN: dict[str, str] = {
    "pytorch/torch-mm-shape-mat1-mat2-shapes-cannot-multiplied": "who hands such matrices over no stack shows",
    "cpp/fatal-python-error-sigsegv-main-crash-segmentation-fault": "any program dies so: no stack shows which",
}


def test_every_quoted_occurrence_of_the_sample_finds_its_own_entry(ready: Matcher, bundle: Path) -> None:
    """What an entry quotes is read by `match` as the build read it, whatever stood around it there."""
    lines = (bundle / "entries.jsonl").read_text(encoding="utf-8").splitlines()
    quotes = [
        (entry["id"], piece["quote"])
        for entry in map(json.loads, lines)
        for piece in entry["evidence"]
        if piece["role"] == "occurrence"
    ]
    assert len(quotes) > 40
    lost = [(own, quote) for own, quote in quotes if ready.match(quote).entry_id != own]
    missed = [(next((one for one in NOT_FOUND_AGAIN if own.startswith(one)), own), quote) for own, quote in lost]
    assert [row for row in missed if row[0] not in NOT_FOUND_AGAIN] == []
    assert {own for own, _ in missed} == set(NOT_FOUND_AGAIN), "an exception that is none any more leaves the table"


@pytest.mark.parametrize("last", ["Segmentation fault", "Aborted", "Bus error"])
def test_the_death_of_python_is_one_error_for_build_group_and_match(last: str) -> None:
    text = f"Fatal Python error: {last}"
    reading = read(text)
    (built,) = [signature for _, signature in reading.signed() if signature is not None]
    assert reading.whole.signature_id == built.signature_id
    known = Matcher(Path(), {"entries": [_row("cpp/death", template_of(built, 1))]})
    assert known.match(text).entry_id == "cpp/death"


STACK = (
    'Traceback (most recent call last):\n  File "/x/site-packages/{package}/fire.py", line 7, in heat\n    {name}()\n'
)
NONE = "AttributeError: 'NoneType' object has no attribute '{name}'\n"


def _built(text: str, project: str) -> Template:
    (signature,) = [one for _, one in read(text, project).signed() if one is not None]
    return template_of(signature, 1)


def test_words_that_any_program_prints_are_told_apart_by_where_they_arise() -> None:
    shown = {one: (STACK + NONE).format(package=one, name="shut") for one in ("kiln", "oven", "stove")}
    first = _built(shown["kiln"], "potter/one")
    assert first == _built(shown["kiln"], "potter/two")  # one library, whoever reports it
    entries = [_row("x/kiln", first), _row("x/oven", _built(shown["oven"], ""))]
    known = Matcher(Path(), {"entries": entries})
    assert [known.match(shown[one]).entry_id for one in ("kiln", "oven", "stove")] == ["x/kiln", "x/oven", None]
    assert "2 entries have these words" in known.match(NONE.format(name="shut")).reason
    assert "none of them arises in stove" in known.match(shown["stove"]).reason
    alone = Matcher(Path(), {"entries": entries[:1]})
    assert alone.match(NONE.format(name="shut")).entry_id == "x/kiln"  # they name something, and one entry has them
    assert alone.match(shown["stove"]).entry_id is None


def test_a_report_without_a_stack_is_its_projects_and_a_title_is_what_the_stack_below_it_shows() -> None:
    words = NONE.format(name="shut")
    assert _built(words, "potter/kiln") == _built((STACK + NONE).format(package="kiln", name="shut"), "potter/shop")
    assert _built(words, "potter/kiln") != _built(words, "potter/oven")
    text = f"{words}\n```\n{(STACK + NONE).format(package='oven', name='shut')}```\n"
    signed = {one.signature_id for _, one in read(text, "potter/kiln").signed() if one is not None}
    assert signed == {_built((STACK + NONE).format(package="oven", name="shut"), "").signature_id}


def _row(entry_id: str, *members: Template) -> dict[str, Any]:
    """An index row of one entry, as `export` writes it."""
    first = members[0]
    return {
        "id": entry_id,
        "cluster_id": f"cluster:{entry_id}",
        "medoid": first.signature_id,
        "signature": first.text,
        "regex": None,
        "exception_type": first.exception_type,
        "lowest_score": 100.0,
        "templates": [{**asdict(one), "gate": [list(pair) for pair in one.gate]} for one in members],
    }


def test_a_pasted_text_is_made_safe_as_a_document_is_before_it_is_read() -> None:
    pasted = "\x1b[31mDrumError\x1b[0m: the press at keeper@mill-works.org lost its grip\r\non sheet 5\r\n"
    page = RawPage("0" * 64, "none", None, "plain-text", "page:1", "main", "", None, None, pasted.encode())
    document = documents.document([page])
    assert isinstance(document, Document)
    built = [signature.text for _, signature in read(document.text).signed() if signature is not None]
    assert built == [read_pasted(pasted).whole.text]
    assert "keeper" not in built[0]


def test_an_error_is_read_as_a_build_reads_it_before_the_rest_of_the_text_is_looked_at() -> None:
    """The words around an error say more, but the entry was made from the error alone."""
    text = '> File "/srv/layer.py", line 372, in __init__\n>     assert self.drum is not None\n> AssertionError'
    event = next(event for event in read(text).events if event.severity == "error")
    built = read(text).signature(event)
    assert built.signature_id != read(text).whole.signature_id
    known = Matcher(Path(), {"entries": [_row("python/drum", template_of(built, 1))]})
    assert known.match(text).entry_id == "python/drum"


@pytest.mark.parametrize("is_ready", [False, True])
@pytest.mark.parametrize(
    ("full", "cut"),
    [
        # the words that a gate comes from were cut off: "cannot" is one
        ("ValueError: the axle of the mixer bends, it cannot be repaired here", "ValueError: the axle of the mixer..."),
        # the exception type was left out, and the end
        ("ValueError: axle out of range", "axle out of..."),
    ],
)
def test_a_cut_text_is_matched_across_gates_that_come_from_words_as_it_is_grouped(
    full: str, cut: str, *, is_ready: bool
) -> None:
    one, other = group_texts([full, cut])
    assert one.cluster_id == other.cluster_id
    whole = read(full).whole
    assert whole.gate != read(cut).whole.gate
    strange = read("PressError: sheet <n> lost its grip at the end of the shift").whole
    rows = [_row("python/axle", template_of(whole, 1)), _row("python/press", template_of(strange, 1))]
    known = KnownErrors(rows)
    if is_ready:
        known.prepare()
    match = known.assign(read(cut).whole)
    assert (match.cluster_id, match.rule) == ("cluster:python/axle", "prefix")


def test_a_matcher_made_ready_for_many_answers_as_one_asked_once(bundle: Path, ready: Matcher) -> None:
    many = Matcher.read(bundle)
    many.prepare()
    for text in (SHARED_MEMORY, UNKNOWN, LOG, PROSE, SHARED_MEMORY.replace("may help", "could help")):
        one, other = ready.match(text), many.match(text)
        assert (one.entry_id, one.rule, one.score) == (other.entry_id, other.rule, other.score)


def test_an_answer_is_plain_json(ready: Matcher) -> None:
    answer = ready.match(SHARED_MEMORY)
    assert json.loads(json.dumps(answer.as_dict()))["entry_id"] == answer.entry_id


def test_the_entry_of_an_answer_is_read_from_its_own_page(ready: Matcher) -> None:
    answer = ready.match(SHARED_MEMORY)
    assert answer.entry_id is not None
    assert ready.entry(answer.entry_id)["cluster_id"] == answer.cluster_id


@pytest.mark.parametrize("body", ["{}", "[]", "null", '{"entries": [{"id": "a/b"}]}', "not json", '{"entries": [7]}'])
def test_an_index_of_another_form_is_refused_with_a_hint(tmp_path: Path, body: str) -> None:
    as_bundle(tmp_path, body)
    with pytest.raises(ExportError, match=r"cannot read .*index\.json") as caught:
        Matcher.read(tmp_path)
    assert "errmine export" in caught.value.hint()


def as_bundle(folder: Path, index: str) -> None:
    """A bundle of nothing but an index."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.json").write_text(index)
    files = kept.listed([("index.json", index.encode())])
    (folder / "manifest.json").write_bytes(kept.sealed_json({"files": files}))


def test_an_entry_that_points_outside_the_bundle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("{}")
    as_bundle(tmp_path / "bundle", '{"entries": []}')
    with pytest.raises(ExportError, match="is no id"):
        Matcher.read(tmp_path / "bundle").entry("../../secret")


def test_no_bundle_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ExportError) as caught:
        Matcher.read(tmp_path)
    assert "errmine run" in caught.value.hint()


def test_an_empty_bundle_answers_nothing(tmp_path: Path) -> None:
    as_bundle(tmp_path, '{"entries": []}')
    empty = Matcher.read(tmp_path)
    assert empty.match(SHARED_MEMORY).entry_id is None
    assert empty.match("").entry_id is None


def test_hostile_text_stays_quick(ready: Matcher) -> None:
    texts = ("Error: " * 15_000, "(" * 100_000, "Traceback (most recent call last):\n" * 3_000, "\x00" * 100_000)
    linear.within(5, ready.match, *texts)


def test_groups_do_not_depend_on_the_order_of_texts() -> None:
    texts = [SHARED_MEMORY, UNKNOWN, SHARED_MEMORY.replace("999424", "1"), "one more message", UNKNOWN]
    there = [label.cluster_id for label in group_texts(texts)]
    back = [label.cluster_id for label in group_texts(texts[::-1])]
    assert there == back[::-1]
    assert there[0] == there[2]
    assert there[1] == there[4]
    assert len(set(there)) == 3


@pytest.mark.parametrize(
    "alone",
    [
        "Future reference: error at `pip install drumkit` was\n\nthe axle of the mixer is bent beyond repair",
        "It throws something like this when I turn it on\nthe axle of the mixer is bent beyond repair",
        "| start of the press | `the axle of the mixer is bent beyond repair` | not fixed yet |",
        "ValueError\n\nthe axle of the mixer is bent beyond repair",
    ],
)
def test_a_text_that_stands_alone_is_read_again_for_what_others_report(alone: str) -> None:
    texts = ["DrumError: the axle of the mixer is bent beyond repair", alone, "a press lost its grip on sheet 5"]
    found = group_texts(texts)
    assert found[0].cluster_id == found[1].cluster_id != found[2].cluster_id
    assert found[1].signature == found[0].signature


def test_a_second_reading_says_why_and_two_that_read_each_other_meet() -> None:
    texts = [
        "We get Drum axle is bent in the mixer\nerror: the press lost its grip on the sheet",
        "Somebody reports error: the press lost its grip on the sheet\nDrum axle is bent in the mixer",
    ]
    found = group_texts(texts)
    assert found[0].cluster_id == found[1].cluster_id
    assert [one.cluster_id for one in group_texts(texts[::-1])] == [one.cluster_id for one in found[::-1]]
    quoting = group_texts(["DrumError: axle of the mixer is bent", "It fails somehow\naxle of the mixer is bent"])
    assert 'it also says "axle of the mixer is bent"' in quoting[1].explanation


def test_a_known_error_is_not_read_again() -> None:
    texts = [SHARED_MEMORY, "RuntimeError: CUDA error: misaligned address\naxle of the mixer is bent beyond repair"]
    found = group_texts([*texts, "DrumError: axle of the mixer is bent beyond repair"])
    assert len({one.cluster_id for one in found}) == 3


KILN = "frame 4 of the kiln has a bad checksum"


def known(folder: Path) -> Matcher:
    """A bundle that knows one error, which its reports call a ValueError."""
    template = template_of(read(f"ValueError: {KILN}").whole, 1, "2026-01-01")
    return Matcher(folder, {"entries": [_row("python/kiln", template)]})


def test_the_same_words_of_another_class_are_no_equal_and_the_answer_says_so(tmp_path: Path) -> None:
    same, other = (known(tmp_path).match(f"{kind}: {KILN}") for kind in ("ValueError", "KeyError"))
    assert (same.rule, same.score, same.other_classes) == ("equal", 100.0, ())
    assert (other.entry_id, other.rule, other.other_classes) == ("python/kiln", "words", ("ValueError",))
    assert 80 < other.score < 100
    assert "KeyError here, ValueError there" in other.reason


@each("kind", ["RuntimeError", "java.util.concurrent.ExecutionException", "UnicodeError"])
def test_a_class_that_says_nothing_passes_on_or_is_a_kind_of_the_known_one_differs_from_none(kind: str) -> None:
    assert known(Path()).match(f"{kind}: {KILN}").rule == "equal"


def test_a_text_that_shows_another_place_is_not_answered_with_what_one_project_reported() -> None:
    built = _built((STACK + "KeyError: 'heat'\n").format(package="kiln", name="shut"), "potter/shop")
    known = Matcher(Path(), {"entries": [_row("x/kiln", built)]})
    assert known.match("KeyError: 'heat'").entry_id == "x/kiln"
    elsewhere = 'Traceback (most recent call last):\n  File "/srv/app/fire.py", line 7, in burn\n    a["heat"]\n'
    answer = known.match(elsewhere + "KeyError: 'heat'")
    assert answer.entry_id is None
    assert "none of them is known to arise in fire:burn" in answer.reason


def test_words_that_name_nothing_of_a_program_are_not_answered_without_a_place() -> None:
    said = "PDOException: SQLSTATE[42S02]: Base table or view not found: 1146 Table 'shop.fires' doesn't exist"
    one = _built(said, "potter/kiln")
    assert one.gate == _built(said.replace("fires", "clays"), "potter/kiln").gate
    assert one.is_gate_complete
    assert one.gate != _built(said, "potter/oven").gate
    known = Matcher(Path(), {"entries": [_row("x/kiln", _built(said, "potter/kiln"))]})
    assert known.match(said).entry_id is None


def test_a_report_without_a_stack_is_told_apart_by_the_file_it_names() -> None:
    said = "FileNotFoundError: [Errno 2] No such file or directory: '/srv/{}'"
    one, other = (_built(said.format(name), "potter/kiln") for name in ("heat.json", "fire.json"))
    assert one.gate != other.gate
    assert one == _built(said.format("other/heat.json"), "potter/kiln")
    known = Matcher(Path(), {"entries": [_row("x/kiln", one)]})
    assert known.match(said.format("heat.json")).entry_id is None  # the file is whoever's
