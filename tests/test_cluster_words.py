"""The word rule: which differing words forbid joining."""

from __future__ import annotations

import pytest

from pipeline.cluster.shapes import Shape, folded, tokens
from pipeline.cluster.words import conflict, is_variant


def shape(text: str) -> Shape:
    return Shape(folded(text), tokens(folded(text)))


LONG = "the feeder of press <n> lost its grip on sheet <n> while the drum was turning at full speed"


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("VM Started", "VM Paused", "started / paused"),
        ("device lost", "device not lost", "- / not"),
        (LONG, LONG.replace("lost", "kept"), "lost / kept"),
        (LONG + " in row <n>", LONG + " in column <n>", "row / column"),
        ("bad value <n> in int8 mode of the drum", "bad value <n> in int4 mode of the drum", "int8 / int4"),
        ("显存不足", "显存充足", "不 / -"),
        ("__heat__ returned a cold fire", "__burn__ returned a cold fire", "__heat__ / __burn__"),
        (LONG + " in __heat__", LONG + " in __burn__", "__heat__ / __burn__"),
        ("heat_kiln(<path>): " + LONG, "open_door(<path>): " + LONG, "heat_kiln / open_door"),
        ("c: no such file or directory", "cc: no such file or directory", "c / cc"),
        ("heat: no such file or directory", "no such file or directory", "heat / -"),
    ],
)
def test_a_telling_word_forbids_joining_whichever_comes_first(one: str, other: str, words: str) -> None:
    assert conflict(shape(one), shape(other)) == words
    assert conflict(shape(other), shape(one)) == " / ".join(reversed(words.split(" / ")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LONG, LONG.replace("sheet", "sheets")),
        (LONG, LONG.replace("the drum", "a drum")),
        (LONG, LONG.replace("turning", "turnng")),
        (LONG, LONG + " see the manual"),
        ("feed drum <n>: broken pipe in the mill", "feed drums <n>: broken pipe in mill"),
        (LONG + " in fold_left_7", LONG + " in trim_edge_99"),
        ("shape <shape> is bad", "Shape <dtype>  is bad!"),
    ],
)
def test_inflections_spelling_names_and_unimportant_words_forbid_nothing(one: str, other: str) -> None:
    assert conflict(shape(one), shape(other)) == ""


def test_short_words_numbers_and_other_beginnings_are_no_variants() -> None:
    assert is_variant("kernel", "kernels")
    assert is_variant("allocated", "allocating")
    assert not is_variant("bind", "find")
    assert not is_variant("float16", "float32")
    assert not is_variant("supported", "unsupported")
