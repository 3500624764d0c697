"""What an entry shows holds for what its documents print."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline import cluster
from pipeline.records import Cluster, Title
from pipeline.run.build import entries, results
from pipeline.run.build.registry import Registered
from pipeline.run.build.rows import opened
from pipeline.translate import entry, meaning
from tests import distil_factory, histories
from tests.test_translate import draft, fact

Member = tuple[str, int] | tuple[str, int, str | None]


def titled(
    members: Sequence[Member], *, kind: str | None = None, gate: tuple[tuple[str, str], ...] = (), cut: str = ""
) -> Title:
    """The title of a cluster whose representative is the first of (text, documents, type or `kind`)."""
    prints = [
        cluster.Print(f"{number}/{one}", f"signature:{number}", (*member[2:], kind)[0], member[0], member[0] == cut)
        for number, member in enumerate(members)
        for one in range(member[1])
    ]
    names = tuple(f"signature:{number}" for number in range(len(members)))
    found = Cluster("cluster:1", names[0], kind, members[0][0], gate, names, "", 90.0)
    made = cluster.title(found, prints)
    random.Random(len(members)).shuffle(prints)
    assert cluster.title(found, prints) == made  # in any order
    return made


@pytest.mark.parametrize(
    ("own", "other", "wanted"),
    [
        ("cannot fire the vessel Beaker", "cannot fire the vessel Urn", "cannot fire the vessel <word>"),
        (
            "glaze of type Matt, got type Gloss",
            "glaze of type Gloss, got type Matt",
            "glaze of type <word>, got type <word>",
        ),
        ("the kiln 'north' is cold", "the kiln 'south' is cold", "the kiln '<quoted>' is cold"),
        ("no clay in shed nr 12 today", "no clay in shed nr 13 today", "no clay in shed nr <n> today"),
        ("no clay in north_shed today", "no clay in <path> today", "no clay in <path> today"),
        ("libkiln.so.CLAY_2.18 not found", "libkiln.so.CLAY_2.32 not found", "libkiln.so.CLAY_2.<n> not found"),
        (
            "call to kiln_fire_slow failed here",
            "call to kiln_cool_slow failed here",
            "call to kiln_<word>_slow failed here",
        ),
        ("no conversion for op _greater yet", "no conversion for op _lesser yet", "no conversion for op <word> yet"),
        ("cone Nr_seven is bent", "cone is bent", "cone <word> is bent"),
        ("the pot was not found on shelf", "the pot was stolen on shelf", "the pot was <words> on shelf"),
        ("shelf 3 holds Urn and Jar", "shelf 3 holds Pot and Bowl", "shelf 3 holds <word> and <word>"),
        ("no glaze for op BlueOr here", "no glaze for op BlueXor here", "no glaze for op <word> here"),
        ("no libkiln.so.9 in the shed", "no libkiln.so.10 and no wood in the shed", "no libkiln.so.<n> in the shed"),
        ("pot with glaze Matt and size here", "pot with glaze Gloss here", "pot with glaze <word> and size here"),
        (
            "no room for shed_Ada:pot_17 on <path>",
            "no room for pot_18 on <path>",
            "no room for <word>:<word> on <path>",
        ),
        ("窑炉 north 没有点火", "窑炉 south 没有点火", "窑炉 <word> 没有点火"),
    ],
)
def test_what_others_print_otherwise_is_a_slot(own: str, other: str, wanted: str) -> None:
    assert titled([(own, 2), (other, 1)]).text == wanted


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("cannot fire the Vessel", "Cannot fire the vessel."),
        ("no vessels were fired today", "no vessel was firing today"),
        ("kiln.fire.Vessel is cracked already", "Vessel is cracked already"),
        ("out-of-clay in the shed", "out of clay in the shed"),
        ("the kiln is cold. Ask Ada to fire it", "the kiln is cold"),
        ("warning from Ada: the kiln is cold", "the kiln is cold"),
        ("the old kiln of the shed is cold", "the kiln of the shed is cold"),
        ("No clay in the shed today", "ValueErrorNo clay in the shed today"),
        ("all pots must be dry pots", "all pots must be dry pots.Pots were ((Urn"),
        ("the kiln is cold and windless", "the kiln is cold and win"),
        ("Ada said 'Beaker' was not in the cold shed", "Ada said 'Beaker"),
        ("the kiln in shed_<n> is cold", "the kiln in shed_east is cold"),
        ("the kiln <name> is cold", "the kiln north is cold"),
        ("small kiln is cold: glaze, clay, water missing", "small kiln is cold: somebody forgot to order wood"),
    ],
)
def test_what_is_only_spelt_otherwise_or_left_out_stays(own: str, other: str) -> None:
    assert titled([(own, 2), (other, 1)]) == Title(own, None, None, is_one_of_several=False)


def test_a_word_at_which_a_text_was_cut_is_no_other_word() -> None:
    members: list[Member] = [("the kiln is cold and windless", 1), ("the kiln is cold and wood", 1)]
    assert titled(members, cut=members[1][0]).text == members[0][0]
    assert titled(members).text == "the kiln is cold and <word>"


def test_a_word_that_nearly_all_print_stays() -> None:
    own, other = "cannot fire the vessel Beaker", "cannot fire the vessel Urn"
    assert titled([(own, 18), (other, 2)]).text == own
    assert titled([(own, 17), (other, 2)]).text != own


def test_words_of_the_gate_stay_however_others_say_them() -> None:
    gate = (("module", "kiln.Fire"),)
    assert (
        titled([("no module kiln.Fire here", 1), ("no module fire_of_kiln here", 1)], gate=gate).text
        == "no module kiln.Fire here"
    )


@pytest.mark.parametrize(
    ("others", "is_shown"),
    [
        ([("kiln cold", 1, "builtins.KeyError")], True),
        ([("kiln cold", 4, None)], False),
        ([("kiln cold", 1, None)], True),
        ([("kiln cold", 1, "ValueError")], False),
        ([("kiln cold", 1, "Error")], True),
        ([("kiln cold", 9, "KeyError"), ("kiln cold", 1, "ValueError")], True),
    ],
)
def test_a_type_is_shown_if_it_is_that_of_nearly_all(others: list[Member], is_shown: bool) -> None:
    found = titled([("kiln cold", 1), *others], kind="KeyError")
    assert found.exception_type == ("KeyError" if is_shown else None)
    assert found.headline == ("KeyError: kiln cold" if is_shown else "kiln cold")


def test_an_error_is_classed_by_a_type_of_half_of_its_documents() -> None:
    assert titled([("kiln cold", 1), ("kiln cold", 1, "ValueError")], kind="KeyError").usual_type == "KeyError"
    assert titled([("kiln cold", 1), ("kiln cold", 4, None)], kind="KeyError").usual_type is None


def test_a_kind_of_a_type_is_of_that_type() -> None:
    members: list[Member] = [("No module named kiln", 1), ("No module named kiln", 1, "ModuleNotFoundError")]
    assert titled(members, kind="ImportError").exception_type == "ImportError"
    members = [("No module named kiln", 1), ("No module named kiln", 1, "ImportError")]
    assert titled(members, kind="ModuleNotFoundError").exception_type == "ImportError"
    members = [("kiln.fire() failed", 1), ("kiln.fire() failed", 1, "kiln.TaskError(ValueError)")]
    assert titled(members, kind="kiln.TaskError(KeyError)").exception_type == "kiln.TaskError"
    assert titled([("kiln cold", 1), ("kiln cold", 1, "OSError")], kind="Exception").exception_type is None


def test_a_type_that_the_gate_names_is_that_of_all() -> None:
    members: list[Member] = [("KilnError: cold", 1), ("cold, said the kiln", 3, "RemoteError")]
    assert titled(members, kind="kiln.KilnError", gate=(("exception", "KilnError"),)).exception_type == "kiln.KilnError"


def test_a_type_that_is_not_shown_does_not_stand_in_the_text_either() -> None:
    members: list[Member] = [("KeyError: kiln cold", 1), ("kiln cold", 4, None)]
    assert titled(members, kind="KeyError").headline == "kiln cold"
    members = [("no page: net::ERR_CLOSED", 1), ("no page: net::ERR_REFUSED", 1, None)]
    assert titled(members, kind="ERR_CLOSED").headline == "no page: net::ERR_<word>"


def test_where_no_two_words_are_left_the_title_is_one_of_several() -> None:
    assert titled([("'Beaker' cracked", 1), ("'Urn' cracked", 1)]) == Title(
        "'Beaker' cracked", None, None, is_one_of_several=True
    )


def test_where_others_use_other_words_the_title_is_one_of_several() -> None:
    members: list[Member] = [("the kiln is cold and dark", 3), ("no fire today, it was forgotten", 1)]
    found = titled(members)
    assert found == Title(members[0][0], None, None, is_one_of_several=True)
    # which error it is a code says, in whatever words
    assert titled(members, gate=(("code", "kiln:COLD"),)) == Title(members[0][0], None, None, is_one_of_several=False)


def test_what_is_mostly_other_words_is_one_slot_up_to_the_end() -> None:
    own = "the kiln is cold today: firing of_pot_1 = Clay(of_shelf_2, Glaze_3, wet)"
    other = "the kiln is cold today: drying it_9 = Bowl(it_8, Salt_7, dry)"
    assert titled([(own, 1), (other, 1)]).text == "the kiln is cold today: firing <words>)"


def test_a_beginning_that_few_print_is_left_out() -> None:
    message = "'Urn' does not fit on the shelf"
    assert titled([(f"Tuesday in the shed: {message}", 1), (message, 3)]).text == message
    assert titled([(f"Tuesday in the shed: {message}", 2), (message, 1)]).text.startswith("Tuesday")
    assert titled([("Tuesday in the shed: cold", 1), ("cold", 3)]).text.startswith("Tuesday")  # too little is left


def test_thousands_of_members_are_drawn_from_and_the_draw_is_always_the_same() -> None:
    members: list[Member] = [
        (f"cannot fire the vessel Urn{chr(65 + n % 26)}x{'ab' * (n % 7)}{n}", 1) for n in range(3000)
    ]
    assert titled(members).text == "cannot fire the vessel <word>"


@pytest.mark.long
def test_a_title_follows_each_new_thread_and_the_id_stays(tmp_path: Path) -> None:
    world, memory, registry, told = histories.World(1), results.Memory("x"), Registered.of(), []
    for number, name in enumerate(("tall_beaker", "tall_beaker", "old_urn", *["tall_beaker"] * 8), 1):
        error = f"ValueError: cannot load the glaze of {name}: two bowls have other sizes than their shelf"
        trace = histories.TRACE.replace("{f}", "press").replace("{n}", "7").replace("{error}", error)
        posts = [
            {"kind": "body", "text": trace, "at": f"2024-01-{number:02d}T10:00:00Z", "role": "NONE", "author": "a"}
        ]
        made = distil_factory.document({"kind": "issue", "number": number, "posts": posts})
        world.documents[made.document_id] = made
        if 3 < number < 11:
            continue
        folder = tmp_path / str(number)
        with opened(histories.sharded(world, folder / "rows"), spill=folder / "spill") as there:
            means = entries.Means(folder / "made", memory=memory)
            found = entries.make(there, entries.group(there), means, registry=registry, min_documents=1)
        registry = found.registry
        memory = replace(memory, results=found.results, texts=found.texts)
        (made_entry,) = (one for one in found.entries if "glaze" in one.signature)
        told.append((made_entry.id, made_entry.signature))
    assert "glaze-tall-beaker" in told[0][0]
    assert {name for name, _ in told} == {told[0][0]}
    assert told[1] == told[0]
    assert told[2][1] == told[0][1].replace("tall_beaker", "<word>")
    assert told[3] == told[0]  # of the same signatures, in more documents


def test_the_mark_of_several_stands_in_both_languages_where_chinese_is_of_the_words() -> None:
    given = draft(text="No such file or directory", exception_type=None)
    several = replace(given, title=replace(given.title, is_one_of_several=True))
    plain, told = entry(given, entry_id="a/b"), entry(several, entry_id="a/b")
    assert plain.signature_zh is not None
    assert told.signature == f"{plain.signature} (one of several)"
    assert told.signature_zh == f"{plain.signature_zh.removesuffix('。')}（多种报错之一）。"
    placed = entry(replace(several, place="Kiln.heat"), entry_id="a/b")
    assert placed.signature == f"{plain.signature} (in Kiln.heat) (one of several)"
    assert placed.signature_zh == f"{plain.signature_zh.removesuffix('。')}（位于 Kiln.heat），多种报错之一。"
    assert meaning.shape_of(placed) == meaning.shape_of(plain)
    of_a_code = replace(
        several, meaning=fact("meaning.out_of_resource", resource="shared memory", type="OutOfResources")
    )
    of_a_code = replace(
        of_a_code, title=Title("out of resource: shared memory", "OutOfResources", None, is_one_of_several=True)
    )
    assert "之一" not in (entry(of_a_code, entry_id="a/b").signature_zh or "之一")
