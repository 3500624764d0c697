"""A thread's title that cuts its error short is that error, and one that says another is another."""

from __future__ import annotations

from pipeline.records import Document
from pipeline.run.build import mapping
from tests import distil_factory
from tests.each import each

TRACEBACK = """Traceback (most recent call last):
  File "/srv/bakery/oven.py", line 12, in heat
    raise {error}
{error}: {message}
"""


def thread(title: str, message: str, *, error: str = "bakery.OvenError") -> Document:
    """A thread of that title whose report shows one error, and whose reply says what fixed it."""
    posts = [
        {"kind": "title", "text": title},
        {"kind": "body", "text": TRACEBACK.format(error=error, message=message), "author": "a", "role": "NONE"},
        {"kind": "comment", "text": "Setting `OVEN_STEPS=4` fixed it.", "author": "b", "role": "NONE"},
    ]
    return distil_factory.document({"number": 3, "kind": "issue", "posts": posts})


WHOLE = "could not heat the oven because its door is open"


@each(
    "title",
    ["OvenError: could not heat the oven", "bakery.OvenError: could not heat ...", "OvenError: could not heat…"],
)
def test_a_title_that_breaks_off_is_the_error_that_the_report_shows_whole(title: str) -> None:
    made = thread(title, WHOLE)
    assert [event.message for event, _ in mapping.signed(made)] == [WHOLE]
    (act,) = [claim for claim in mapping.map_text(made).claims if claim.kind.is_act]
    assert not act.doubt


@each(
    "title, message",
    [
        ("OvenError: could not heat the mixer", WHOLE),
        ("MixerError: could not heat the oven", WHOLE),
        ("OvenError: could not heat the oven", "could not heat the ovens of both shops"),
    ],
)
def test_another_title_is_an_error_of_its_own(title: str, message: str) -> None:
    assert len(mapping.signed(thread(title, message))) == 2


CHAIN = """bakery.OvenError: request to the oven failed
	at bakery.Oven.heat(Oven.java:12)
	at bakery.Main.main(Main.java:3)
Caused by: java.io.IOException: the gas of the oven is shut
	at bakery.Gas.open(Gas.java:7)
	... 2 more
"""


def chained(title: str) -> Document:
    """A thread whose report shows a chain of exceptions."""
    posts = [{"kind": "title", "text": title}, {"kind": "body", "text": CHAIN, "author": "a", "role": "NONE"}]
    return distil_factory.document({"number": 4, "kind": "issue", "posts": posts})


@each("title", ["OvenError: request failed — the gas is shut", "OvenError: request to oven failed, gas shut"])
def test_a_title_that_sums_up_a_chain_is_that_chain(title: str) -> None:
    assert [event.message for event, _ in mapping.signed(chained(title))] == ["the gas of the oven is shut"]


@each("title", ["OvenError: could not heat the mixer", "MixerError: request failed, the gas is shut"])
def test_a_title_with_other_words_or_another_class_is_none_of_the_chain(title: str) -> None:
    assert len(mapping.signed(chained(title))) == 2


@each(
    "title, message",
    [
        ("OvenError: could not heat the oven on /checkout", WHOLE),
        ("OvenError: could not heat the oven when two bakers pay", WHOLE),
        ("bakery: could not heat the oven because its door is open", WHOLE),
    ],
)
def test_a_title_that_says_where_or_when_is_the_error_that_the_report_shows(title: str, message: str) -> None:
    assert [event.message for event, _ in mapping.signed(thread(title, message))] == [message]


@each("title", ["OvenError: could not heat 'rye' on /checkout", "MixerError: could not heat the oven on /checkout"])
def test_another_name_or_class_before_where_it_is_is_an_error_of_its_own(title: str) -> None:
    assert len(mapping.signed(thread(title, WHOLE))) == 2
