"""An event ends with its post: what the next person says is no part of what a program printed."""

from __future__ import annotations

from pipeline.records import Document
from pipeline.run.build import mapping
from tests import distil_factory
from tests.each import each

REPORT = """==77==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000990 at pc 0x55ce0a bp 0x0 sp 0x1
READ of size 8 at 0x602000000990 thread T0
    #0 0x55ce09 in bakery::Oven::heat(float) /src/oven.cpp:77:21
    #1 0x4f6010 in main /src/main.cc:5:3

SUMMARY: AddressSanitizer: heap-use-after-free /src/oven.cpp:77:21 in bakery::Oven::heat(float)"""
#: A brace that no later line closes.
OPENED = """[ERROR] :  Script Error {
[ERROR] :      column = 225;
[ERROR] :      message = "no oven is connected";"""


def thread(body: str, *comments: str, title: str = "The oven stops") -> Document:
    """A report and what is said to it."""
    posts = [{"kind": "title", "text": title}, {"kind": "body", "text": body}]
    posts += [{"kind": "comment", "text": comment} for comment in comments]
    return distil_factory.document({"number": 3, "kind": "issue", "posts": posts})


@each("body", [REPORT, f"```\n{REPORT}\n```", REPORT + "\n==77==ABORTING"])
def test_a_sanitizer_s_report_ends_where_a_person_speaks(body: str) -> None:
    made = thread(body, "`close` frees what `heat` reads, as #12 shows it.", "Have you tried this?", "Yes. #12 works.")
    (event,) = (event for event, _ in mapping.signed(made))
    assert event.end <= made.posts[1].end
    assert made.text[event.start : event.end].rstrip("`\n").endswith(("heat(float)", "ABORTING"))
    assert len(event.frames) == 2


def test_no_event_reaches_into_the_next_post() -> None:
    made = thread(OPENED, "Connect the oven, then it works.", "Thanks.")
    (event,) = (event for event, _ in mapping.signed(made))
    assert event.end == made.posts[1].end


def test_what_a_title_begins_goes_on_in_the_report() -> None:
    title, _, rest = REPORT.partition("\n")
    (event,) = (event for event, _ in mapping.signed(thread(rest, title=title)))
    assert len(event.frames) == 2
