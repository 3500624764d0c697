"""One issue's walk through the package stays short: `python -m tests.walk` prints it."""

from __future__ import annotations

from tests.walk import walked

#: Where `reduce` reads the package that raised an error from its frames: of the walk's steps the one that goes back.
FRAMES = ("cluster", "normalise")


def test_an_issue_visits_few_rooms_each_once_and_never_calls_upwards() -> None:
    walk = walked()
    assert len(walk.modules) <= 120  # 100 before packs, stacks, announcements, the fallback, and kinds of causes
    assert len(walk.rooms) <= 16  # packs, whose rows all others read, are one
    assert walk.steps_back == [FRAMES]
    assert not walk.upwards
