"""Distil: acts on software that no table knows, named by the thread or left out."""

from __future__ import annotations

from pipeline.distil import actions
from pipeline.distil.project import Project
from tests.each import each

TEXT = "It fails on till 1.4.0 with Python 3.11 and CUDA 12.1.\n\n```\nscanner==2.0.1\n```\n"
TILL = Project("till", "till", TEXT)

UPGRADES = [
    "Upgrading till to 1.5.0 fixed it.",
    "Upgrading to till 1.5.0 solved the issue for me.",
    "Upgrading to 1.5.0 fixed it.",
    "After I updated it to version 1.5.0 the error is gone.",
    "I bumped `till` to v1.5.0 and it works.",
    "升级到 till 1.5.0 后问题解决了。",
    "升级到 1.5.0 后就好了。",
    "把 till 升级到 1.5.0 就好了",
    "till 从 1.4.0 升级到 1.5.0 之后恢复正常",
    "升级 till 到 1.5.0 可以解决。",
]


@each("said", UPGRADES)
def test_the_same_upgrade_in_other_words_is_one_remedy(said: str) -> None:
    act = actions.action(said, TILL)
    assert act is not None
    assert act.key == "version|till|1.5.0"


OTHERS = [
    ("Downgrading to 1.3.0 solved it.", "version|till|1.3.0"),
    ("降级到 1.3.0 可以解决。", "version|till|1.3.0"),
    ("Pinning till to 1.3.0 fixed the problem.", "version|till|1.3.0"),
    ("I rolled back to 1.3.0 and it works.", "version|till|1.3.0"),
    ("Upgrading scanner to 2.1.0 fixed it.", "version|scanner|2.1.0"),  # the thread names a version of it
    ("I downgraded `cash-drawer` to 2.1.4 and it works.", "version|cash-drawer|2.1.4"),
    ("`npm install @till/scan@1.5.0` fixed it.", "version|@till/scan|1.5.0"),
    ("Upgrading Python to 3.12 fixed it.", "version|python|3.12"),
    ("执行 `till-print --reset` 后解决。", "remedy.run_command|till-print --reset"),
]


@each("said,key", OTHERS)
def test_a_product_is_what_the_thread_or_a_table_knows(said: str, key: str) -> None:
    act = actions.action(said, TILL)
    assert act is not None
    assert act.key == key


NO_PRODUCT = [
    "Bumping the timeout to 1.5 fixed it.",
    "Upgrading everything to 2.1 fixed it.",
    "Upgrading the server to 2.1 fixed it.",
    "Upgrading wheels to 2.1 fixed it.",  # nothing says that it is software
    "Move TILL-12 to 2.0.3 in the list of changes.",
    "Upgrading to 3.12 fixed it.",  # of Python, of which the thread names 3.11
    "Downgrading to 12.0 solved it.",  # of CUDA
    "Upgrading Python and going back to 3.9 fixed it.",
    "升级到 3.12 后就好了。",
    "`other-tool --reset` fixed it.",
]


@each("said", NO_PRODUCT)
def test_what_may_be_something_else_is_no_version_of_the_project(said: str) -> None:
    act = actions.action(said, TILL)
    assert act is None or "package" not in dict(act.fact.slots) or dict(act.fact.slots)["package"] == "Python"


def test_without_a_project_a_version_is_of_nothing() -> None:
    act = actions.action("Upgrading to 1.5.0 fixed it.")
    assert act is not None
    assert act.fact.template == "remedy.upgrade_version"


def test_where_no_version_of_the_project_is_named_a_lone_one_may_be_that_of_anything_named() -> None:
    assert not Project("till", "till", "It fails on PHP Version 5.2.17.").has_version("5.3")
    assert Project("till", "till", "It fails on PHP Version 5.2.17.").has_version("1.3")


def test_a_version_that_is_only_advised_is_of_nothing_and_one_that_was_tried_is_the_project_s() -> None:
    for said, template in (
        ("You could try using 1.3.0 here.", "remedy.use_version"),
        ("I tried with 1.3.0 and it works.", "remedy.pin"),
    ):
        act = actions.action(said, TILL)
        assert act is not None
        assert act.fact.template == template


def test_of_a_project_that_stands_on_others_a_lone_version_needs_its_own_beside() -> None:
    hub = Project("PyTorch", "pytorch", "It crashes.")
    assert not hub.has_version("10.12")
    assert Project("PyTorch", "pytorch", "It crashes with torch==1.4.0.").has_version("1.5")
