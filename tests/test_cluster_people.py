"""What people decide (overrides.toml) and what they are told (the journal)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cluster import Change, aliases, changes, dry_run, partition, people, read_overrides, resolved, rulings
from pipeline.records.errors import ConfigError
from tests.test_cluster import template


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[merge]]\nreason = 'x'\ntexts = ['only one']\n", "merge number 1 needs at least 2 different texts"),
        ("[[split]]\ntexts = ['a', 'b']\n", "split number 1 needs a reason"),
        ("[[rename]]\nreason = 'x'\ntexts = ['a']\n", "rename number 1 needs a name"),
        ("[[ignore]]\nreason = 'x'\ntexts = 'a'\n", "ignore number 1 needs texts"),
        ("[[ignore]]\nreason = 'x'\ntexts = ['a']\ncolour = 1\n", "unknown key 'colour'"),
        ("[[mrege]]\n", "unknown table 'mrege'"),
        ("merge = 3\n", "merge must be a list of tables"),
        ("[[merge]\n", "overrides.toml"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "overrides.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_overrides(path)
    assert message in str(caught.value)


def test_the_file_that_ships_has_no_rows() -> None:
    assert read_overrides(Path(__file__).parent.parent / "pipeline" / "data" / "overrides.toml").rows == ()


def test_example_texts_may_be_raw_messages_where_the_caller_resolves_them(tmp_path: Path) -> None:
    one, two = template("lamp <n> is dark"), template("the bulb of lamp <n> burnt out")
    path = tmp_path / "overrides.toml"
    path.write_text("[[merge]]\nreason = 'same'\ntexts = ['lamp 7 is dark', 'the bulb of lamp 8 burnt out']\n")
    known = {"lamp 7 is dark": one, "the bulb of lamp 8 burnt out": two}
    rows = read_overrides(path, read=known.__getitem__)
    assert len(partition([one, two], overrides=rows).clusters) == 1
    assert len(partition([one, two]).clusters) == 2


def test_a_split_holds_inside_a_complete_gate_and_teaches_the_others() -> None:
    names = ["fuse <n> blown in the attic", "fuse <n> melted down in the cellar", "fuse <n> melted in the old cellar"]
    templates = [template(name, gate={"code": "f"}, complete=True) for name in names]
    row = people.Override("split", "two defects", (names[0], names[1]))
    together = partition(templates, overrides=people.Overrides((row,))).cluster_of()
    ids = [together[one.signature_id] for one in templates]
    assert ids[0] != ids[1] == ids[2]


def test_a_split_wins_although_both_are_near_a_third() -> None:
    names = ["the lamp at <n> refused a request of <size>", "a lamp at <n> refused the request of <size>"]
    third = template("the lamp at <n> refused the request of <size>", count=9)
    row = people.Override("split", "two defects", tuple(names))
    templates = [*(template(name) for name in names), third]
    together = partition(templates, overrides=people.Overrides((row,))).cluster_of()
    assert together[templates[0].signature_id] != together[templates[1].signature_id]
    assert len(partition(templates).clusters) == 1


def test_a_bond_carries_whole_groups_and_says_why() -> None:
    lamps = [template("lamp <n> is dark in the hall", count=9), template("lamp <n> is dark in the hall!")]
    bulb = template("the bulb of lamp <n> burnt out", first_seen="2020-01-01")
    row = people.Override("merge", "reworded in 2.0", (lamps[1].text, bulb.text))
    made = partition([*lamps, bulb], overrides=people.Overrides((row,)))
    assert len(made.clusters) == 1
    told = {one.signature_id: one.explanation for one in made.assignments}
    assert 'Merged by overrides.toml: "reworded in 2.0".' in told[bulb.signature_id]
    assert 'Merged by overrides.toml: "reworded in 2.0".' in told[lamps[1].signature_id]


def test_what_is_kept_apart_stays_apart_when_a_bond_pulls_at_both() -> None:
    x, w = template("fuse <n> of the main board is blown"), template("fuse <n> of the main board is blown!")
    y, z = template("panel <n> lost its current at night"), template("panel <n> lost its current at night!")
    rows = (
        people.Override("merge", "one", (x.text, z.text), place="merge number 1"),
        people.Override("split", "two", (x.text, y.text), place="split number 1"),
    )
    templates = [x, w, y, z]
    assert len(partition(templates).clusters) == 2
    together = partition(templates, overrides=people.Overrides(rows)).cluster_of()
    ids = [together[one.signature_id] for one in templates]
    assert ids[0] == ids[1] == ids[3] != ids[2]


def test_rows_that_share_a_text_are_one_bond_whatever_else_is_kept_apart() -> None:
    a, b, c = template("alpha broke the gearbox"), template("the belt of beta tore"), template("gamma ran out of oil")
    d = template("gamma ran out of oil.", count=7)
    rows = (
        people.Override("merge", "one", (a.text, b.text)),
        people.Override("merge", "two", (b.text, c.text)),
        people.Override("split", "three", (a.text, d.text)),
    )
    together = partition([a, b, c, d], overrides=people.Overrides(rows)).cluster_of()
    ids = [together[one.signature_id] for one in (a, b, c, d)]
    assert ids[0] == ids[1] == ids[2] != ids[3]


def test_rows_that_contradict_each_other_are_named() -> None:
    one, two = template("lamp <n> is dark"), template("the bulb of lamp <n> burnt out")
    rows = (
        people.Override("merge", "x", (one.text, two.text), place="merge number 1"),
        people.Override("split", "y", (one.text, two.text), place="split number 1"),
    )
    with pytest.raises(ConfigError, match=r"split number 1 .* keeps apart what merge number 1 put together"):
        partition([one, two], overrides=people.Overrides(rows))


def test_an_error_text_stands_for_its_whole_complete_gate() -> None:
    seen = [template(text, gate={"code": "f"}, complete=True) for text in ("fuse <n> blown", "a fuse melted at <n>")]
    bulb = template("the bulb of lamp <n> burnt out")
    row = people.Override("merge", "same", ("fuse 7 went off", bulb.text))
    read = {"fuse 7 went off": template("fuse <n> went off", gate={"code": "f"}, complete=True)}
    assert len(partition([*seen, bulb], overrides=people.Overrides((row,), read)).clusters) == 1


def test_a_cut_text_does_not_bring_back_what_was_split() -> None:
    full = template("the lamp in the long hall of the east wing is dark since noon")
    cut = template("the lamp in the long hall of the east", cut=True)
    row = people.Override("split", "two defects", (full.text, cut.text))
    assert len(partition([full, cut]).clusters) == 1
    made = partition([full, cut], overrides=people.Overrides((row,)))
    assert len(made.clusters) == 2
    assert [one.reason for one in made.neighbours] == ["kept apart by overrides.toml: two defects"] * 2


@pytest.mark.parametrize("is_complete", [False, True])
def test_what_is_ignored_leaves_the_others_as_they_were(is_complete: bool) -> None:
    names = ["lamp <n> is dark in the hall", "lamp <n> is dark in the hall!", "lamp <n> is dark in the hall."]
    gate = {"code": "f"} if is_complete else {}
    seen = [
        template(name, gate=gate, complete=is_complete, count=n, first_seen=f"2024-01-0{n}")
        for n, name in enumerate(names, 1)
    ]
    whole = partition(seen)
    for left in range(len(seen)):
        rows = tuple(people.Override("ignore", "a lamp", (name,)) for name in names[: left + 1])
        made = partition(seen, overrides=people.Overrides(rows))
        ignored = {one.signature_id for one in seen[: left + 1]}
        assert made.cluster_of() == {s: c for s, c in whole.cluster_of().items() if s not in ignored}
        assert {(one.signature_id, one.cluster_id) for one in made.ignored} == {
            (s, c) for s, c in whole.cluster_of().items() if s in ignored
        }
        assert all(one.medoid in one.members for one in made.clusters)


def test_only_one_template_of_a_cluster_claims_to_have_named_it() -> None:
    often = template("lamp <n> is dark in the hall", count=9, first_seen="2024-02-01")
    early = template("lamp <n> is dark in the hall!", first_seen="2024-01-01")
    rules = {one.signature_id: one.rule for one in partition([often, early]).assignments}
    assert rules == {often.signature_id: "leader", early.signature_id: "founder"}


def test_rows_that_no_longer_act_are_reported() -> None:
    one, two = template("lamp <n> is dark in the hall"), template("lamp <n> is dark in the hall!")
    rows = people.Overrides(
        (
            people.Override("merge", "x", (one.text, two.text)),
            people.Override("split", "x", (one.text, two.text)),
            people.Override("ignore", "x", ("no such text",)),
        )
    )
    found = rulings(rows, [one, two])
    assert [(row.override.kind, row.problem) for row in found] == [
        ("merge", "its texts are one cluster without it"),
        ("split", ""),
        ("ignore", "nothing in raw reads as 'no such text'"),
    ]
    assert found[1].sides == ((one.signature_id,), (two.signature_id,))


def test_every_kind_of_change_is_named() -> None:
    old = {"s1": "A", "s2": "A", "s3": "B", "s4": "C", "s5": "D", "s6": "E", "s7": "F"}
    new = {"s1": "A", "s2": "A2", "s3": "BC", "s4": "BC", "s6": "E", "s8": "E", "s9": "N", "s7": "F2"}
    found = changes(old, new)
    assert [(one.kind, one.old_ids, one.new_ids) for one in found] == [
        ("grown", ("E",), ("E",)),
        ("merged", ("B", "C"), ("BC",)),
        ("new", (), ("N",)),
        ("renamed", ("F",), ("F2",)),
        ("split", ("A",), ("A", "A2")),
        ("withdrawn", ("D",), ()),
    ]
    assert found[1] == Change("merged", ("B", "C"), ("BC",), "signatures came: 1 from B, 1 from C")


def test_nothing_changed_gives_no_rows() -> None:
    assert changes({"s1": "A"}, {"s1": "A"}) == []
    assert dry_run({"s1": "A"}, {"s1": "A"}) == []


def test_a_dry_run_lists_original_new_and_same_for_clusters_that_change() -> None:
    old, new = {"s1": "A", "s2": "A", "s3": "B"}, {"s1": "A", "s2": "C", "s3": "B"}
    assert dry_run(old, new) == [("s1", "A", "A", True), ("s2", "A", "C", False)]


def test_aliases_resolve_for_ever_and_a_living_id_is_none() -> None:
    first = aliases({}, {"s1": "A", "s2": "B"}, {"s1": "AB", "s2": "AB"})
    assert first == {"A": "AB", "B": "AB"}
    second = aliases(first, {"s1": "AB", "s2": "AB"}, {"s1": "Z", "s2": "Z"})
    assert [resolved(one, second) for one in ("A", "B", "AB", "Z")] == ["Z"] * 4
    third = aliases(second, {"s1": "Z", "s2": "Z"}, {"s1": "A", "s2": "Z"})
    assert "A" not in third
    assert resolved("A", third) == "A"


def test_two_runs_with_new_data_between_them_give_a_journal() -> None:
    start = [template("lamp <n> is dark in the hall", first_seen="2024-01-01")]
    later = [*start, template("lamp <n> is dark in the hall!", first_seen="2024-02-01"), template("door <n> is open")]
    kinds = [one.kind for one in changes(partition(start).cluster_of(), partition(later).cluster_of())]
    assert kinds == ["grown", "new"]
