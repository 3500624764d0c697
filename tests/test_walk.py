"""One issue's walk through the package stays short: `python -m tests.walk` prints it."""

from __future__ import annotations

from tests.walk import walked

#: Modules that the issue visits: 176 when this was written, 17 of them the gate of advice, which rows of documentation
#: pass as well. Seventy would have over 400 lines each, and a file is to have at most 350. Units, which the next build
#: takes over, are four more.
MOST_MODULES = 183
#: What a build hands to the store reads each entry when the store asks for it: of its calls the one that goes up.
ENTRIES = ("pipeline.store.writing", "pipeline.run.build.worded")


def test_an_issue_visits_few_rooms_each_once_and_never_calls_upwards() -> None:
    walk = walked()
    assert len(walk.modules) <= MOST_MODULES
    assert len(walk.rooms) <= 16  # packs, whose rows all others read, are one
    assert not walk.steps_back
    assert set(walk.upwards) <= {ENTRIES}
