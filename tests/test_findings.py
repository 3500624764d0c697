"""Every failure of a text once, most telling first; and what is known of an entry, most useful first."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline import normalise
from pipeline.ask import Findings, Matcher, digest, evidence_by_weight, read, standing, template_of
from pipeline.records.entry import statement_label
from tests import entry_factory as make
from tests import linear
from tests.each import each

OVEN = """Traceback (most recent call last):
  File "/srv/bakery/oven.py", line 12, in heat
    raise OvenError("door {n} is open")
bakery.OvenError: the door of oven {n} is open
"""
MIXER = """Traceback (most recent call last):
  File "/srv/bakery/mixer.py", line 7, in turn
    self.axle.turn()
bakery.MixerError: the axle of the mixer is bent beyond repair
"""
STRANGE = """Traceback (most recent call last):
  File "/srv/bakery/till.py", line 3, in pay
    drawer.open()
bakery.TillError: the drawer of the till is jammed
"""
NOISE = "2026-03-04T10:00:00Z INFO bakery: loaf 17 sold\n"


def row(entry_id: str, text: str) -> dict[str, Any]:
    """An index row of the entry of the one error of `text`."""
    signature = next(one for _, one in read(text).signed() if one is not None)
    template = template_of(signature, 1)
    return {
        "id": entry_id,
        "cluster_id": f"cluster:{entry_id}",
        "medoid": template.signature_id,
        "signature": template.text,
        "regex": None,
        "exception_type": template.exception_type,
        "lowest_score": 100.0,
        "templates": [{**asdict(template), "gate": [list(pair) for pair in template.gate]}],
    }


def asked(text: str, *known: dict[str, Any], ignored: tuple[str, ...] = ()) -> Findings:
    """The findings of `text` in a bundle of these rows."""
    aside = [
        {"signature_id": one["templates"][0]["signature_id"], "text": "", "reason": "healthy"}
        for one in (row("x/x", text) for text in ignored)
    ]
    return Matcher(Path(), {"entries": list(known), "ignored": aside}).findings(text)


def told(found: Findings) -> list[tuple[str | None, int]]:
    """Entry and count of each finding."""
    return [(one.answer.entry_id, one.count) for one in found.findings]


def test_a_log_of_three_failures_tells_of_all_three() -> None:
    text = NOISE.join([OVEN.format(n=1), STRANGE, MIXER])
    found = asked(text, row("bakery/oven", OVEN.format(n=1)), row("bakery/mixer", MIXER))
    assert told(found) == [("bakery/mixer", 1), ("bakery/oven", 1), (None, 1)]
    assert found.main == 0
    assert [text[one.spans[0][0] : one.spans[0][1]].count("Traceback") for one in found.findings] == [1, 1, 1]
    assert found.findings[2].answer.reason


def test_forty_ranks_that_print_one_error_are_one_finding() -> None:
    lines = [f"[rank{n}]: {line}" for n in range(40) for line in OVEN.format(n=n).splitlines()]
    found = asked("\n".join(lines) + "\n", row("bakery/oven", OVEN.format(n=1)))
    assert told(found) == [("bakery/oven", 40)]
    assert len(found.findings[0].spans) == 20


CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"


def test_a_chain_is_one_finding() -> None:
    assert len(asked(OVEN.format(n=1) + CAUSE + STRANGE).findings) == 1


JAM = """Traceback (most recent call last):
  File "/srv/bakery/till.py", line 3, in pay
    drawer.open()
bakery.errors.DrawerJammed: drawer {n} is jammed behind the coins
"""


@each(
    "line",
    [
        "DrawerJammed: drawer 7 is jammed behind the coins",
        "2026-01-01 10:00:00,123 ERROR bakery.till DrawerJammed: drawer 7 is jammed behind the coins",
        "till-1  | bakery.errors.DrawerJammed: drawer 7 is jammed behind the coins",
    ],
)
def test_a_class_that_the_bundle_knows_is_an_error_in_any_line(line: str) -> None:
    found = asked(f"{NOISE}{line}\n{NOISE}", row("bakery/drawer", JAM.format(n=1)))
    assert told(found) == [("bakery/drawer", 1)]
    assert found.findings[0].lines == ((2, 2),)


def test_a_known_class_before_words_that_nobody_knows_is_no_error() -> None:
    assert told(asked("DrawerJammed: what to do about it in the shop", row("bakery/drawer", JAM.format(n=1)))) == []


def test_a_line_that_names_a_known_class_takes_no_traceback_s_place() -> None:
    found = asked(
        STRANGE + "DrawerJammed: drawer 7 is jammed behind the coins\n", row("bakery/drawer", JAM.format(n=1))
    )
    assert sorted(told(found), key=str) == [("bakery/drawer", 1), (None, 1)]


EXIT = "mpi.LauncherError: mpirun failed with exit code 1"


CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def test_a_known_cause_is_found_behind_an_error_that_nobody_knows() -> None:
    found = asked(OVEN + CAUSE + STRANGE, row("x/oven", OVEN))
    assert told(found) == [("x/oven", 1)]
    assert found.answer.entry_id == "x/oven"
    assert found.findings[0].lines == ((4, 4),)
    assert found.findings[0].followed_by == ("the drawer of the till is jammed",)


def test_what_was_raised_while_a_known_error_was_handled_stands_beside_it() -> None:
    found = asked(OVEN + CONTEXT + STRANGE, row("x/oven", OVEN))
    assert told(found) == [("x/oven", 1), (None, 1)]
    assert found.answer.entry_id == "x/oven"


def test_of_a_chain_of_known_errors_both_are_found() -> None:
    found = asked(OVEN + CAUSE + STRANGE, row("x/oven", OVEN), row("x/till", STRANGE))
    assert sorted(told(found)) == [("x/oven", 1), ("x/till", 1)]
    assert found.answer.entry_id == "x/till"


def test_a_cause_that_people_ignore_is_not_shown_for_an_error() -> None:
    found = asked(OVEN + CAUSE + STRANGE, row("x/oven", OVEN), ignored=(OVEN,))
    assert told(found) == [(None, 1)]


def test_an_exit_status_below_its_cause_stands_with_it_and_far_from_one_alone() -> None:
    oven = row("bakery/oven", OVEN.format(n=1))
    near = asked(OVEN.format(n=1) + NOISE + EXIT + "\n", oven)
    assert told(near) == [("bakery/oven", 1)]
    assert len(near.findings[0].followed_by) == 1
    far = asked(OVEN.format(n=1) + NOISE * 100 + EXIT + "\n", oven)
    assert [one.is_consequence for one in far.findings] == [False, True]
    assert far.findings[0].followed_by == ()


def test_a_known_exit_is_not_hidden_behind_an_unknown_cause() -> None:
    found = asked(f"{STRANGE}{NOISE}{EXIT}\n", row("mpi/exit", EXIT))
    assert [(one.status, one.is_consequence) for one in found.findings] == [("unknown", False), ("known", True)]
    assert found.answer.entry_id == "mpi/exit"
    assert found.main == 1


def test_a_line_of_a_summary_that_was_cut_is_no_second_failure() -> None:
    text = MIXER + "FAILED tests/test_mixer.py::test_turns - bakery.MixerError: the axle of the mixer is...\n"
    assert told(asked(text, row("bakery/mixer", MIXER))) == [("bakery/mixer", 1)]


def test_what_people_ignore_stands_last_and_hides_nothing() -> None:
    text = STRANGE + OVEN.format(n=1)
    found = asked(text, row("bakery/oven", OVEN.format(n=1)), ignored=(OVEN.format(n=2),))
    assert [(one.status, one.answer.entry_id) for one in found.findings] == [("unknown", None), ("ignored", None)]
    assert "healthy" in found.findings[1].answer.reason


def test_words_of_a_known_message_are_a_finding_and_other_words_are_none() -> None:
    known = row("bakery/mixer", MIXER)
    assert told(asked("the axle of the mixer is bent beyond repair", known)) in ([("bakery/mixer", 1)], [])
    assert asked(NOISE * 3, known).findings == ()
    assert asked("", known).findings == ()


def test_the_answer_to_the_text_as_one_is_that_of_match() -> None:
    rows = [row("bakery/oven", OVEN.format(n=1)), row("bakery/mixer", MIXER)]
    matcher = Matcher(Path(), {"entries": rows})
    for text in (OVEN.format(n=1) + STRANGE, STRANGE + MIXER, MIXER, STRANGE, NOISE, OVEN.format(n=1) + MIXER):
        found = matcher.findings(text)
        assert found.answer == matcher.match(text)
        if found.main is not None:
            assert found.findings[found.main].answer.entry_id == found.answer.entry_id


def test_findings_are_plain_json() -> None:
    found = asked(OVEN.format(n=1) + STRANGE, row("bakery/oven", OVEN.format(n=1)))
    shown = json.loads(json.dumps([one.as_dict() for one in found.findings]))
    assert [one["entry_id"] for one in shown] == ["bakery/oven", None]


@each(
    "message, is_one",
    [
        ("mpirun failed with exit code 1", True),
        ("command 'gcc' failed with exit status 1", True),
        ("Process completed with exit code 2.", True),
        ("exited with code 3221225477", True),
        ("HTTP returned status code 404", False),
        ("exit code 3 means that the disk is full", False),
        ("__index__ returned non-int (type 3)", False),
    ],
)
def test_what_only_says_that_something_ended(message: str, is_one: bool) -> None:
    (event,) = read(f"RuntimeError: {message}\n").events
    assert normalise.is_consequence(event) is is_one


def test_many_different_errors_take_time_in_line_with_their_number() -> None:
    def log(count: int) -> str:
        words = ["axle", "belt", "crank", "drum", "edge", "fan", "gear", "hinge"]
        return "".join(
            f'Traceback (most recent call last):\n  File "/srv/a.py", line {n}, in f\n    g()\n'
            f"bakery.{words[n % 8].title()}Error: the {words[n // 8 % 8]} of the {words[n // 64 % 8]} broke\n"
            for n in range(count)
        )

    matcher = Matcher(Path(), {"entries": [row("bakery/mixer", MIXER)]})
    linear.check(lambda unit: matcher.findings(log(len(unit))), "x", size=100)


# ---------------------------------------------------------------- digest


def remedy(action: str, *quotes: dict[str, Any], worked: int = 0, tier: str = "reported") -> dict[str, Any]:
    return {
        "action": action,
        "action_lang": "en",
        "how": None,
        "condition": None,
        "success_rate": None,
        "worked": worked,
        "failed": 0,
        "tier": tier,
        "sources": [piece["url"] for piece in quotes],
        "evidence": [piece["evidence_id"] for piece in quotes],
    }


def test_what_helped_stands_apart_from_what_is_only_suggested() -> None:
    entry = make.raw_entry()
    said = make.evidence(1, role="workaround", quote="Perhaps fewer stages.")
    owner = make.evidence(3, role="workaround", quote="Lower the block size.", author_role="OWNER")
    page = make.evidence(1, role="official", quote="Use smaller tiles.", kind="doc")
    entry["evidence"] += [said, owner, page]
    entry["workarounds"] += [
        remedy("Use fewer stages.", said),
        remedy("Lower the block size.", owner, tier="maintainer_confirmed"),
        remedy("Use smaller tiles.", page, tier="documented"),
    ]
    entry["workarounds_zh"] += [None, None, "使用更小的分块。"]
    found = digest(entry)
    assert [one.action for one in found.confirmed] == ["Set TRITON_STAGES=2."]
    assert [one.action for one in found.official] == ["Use smaller tiles."]
    assert [one.action for one in found.suggested] == ["Lower the block size.", "Use fewer stages."]
    assert [one.action for one in found.dead_ends] == ["Raise num_warps."]
    assert found.confirmed[0].said[0].url == "https://github.com/errmine-fixtures/kernels/issues/2"
    assert found.confirmed[0].said[0].is_by_maintainer
    assert found.standing == "confirmed"
    assert standing(found) == (
        "known since 2026-03-01, in 3 documents; 1 remedy that helped, 1 official remedy, "
        "2 suggestions that nobody confirmed"
    )
    assert standing(found, "zh") == (
        "自 2026 年 3 月 1 日起已知，见于 3 份文档；1 个办法有人确认有效，1 个官方办法，2 个建议尚无人确认"
    )


def test_what_closed_a_report_is_the_project_s_fix_and_is_counted_once() -> None:
    entry = make.raw_entry(dead_ends=[], dead_ends_zh=[])
    closed = make.evidence(4, role="fix", quote="Kernels fail with two stages")
    named = {"kind": "version", "value": "2.3.1", "status": "fixed", "count": 1, "evidence": [closed["evidence_id"]]}
    entry["evidence"] = [make.evidence(1), closed]
    entry["versions"] = [named | {"version": "errmine-fixtures/kernels 2.3.1"}]
    action = "Use version 2.3.1 of errmine-fixtures/kernels or later: its tracker closed the report as fixed there."
    entry["workarounds"] = [remedy(action, closed, tier="user_confirmed"), remedy("Use fewer stages.", closed)]
    entry["workarounds_zh"] = [None, None]
    found = digest(entry)
    assert [(one.standing, one.action) for one in found.suggested] == [
        ("fixed", action),
        ("suggested", "Use fewer stages."),
    ]
    assert standing(found).endswith("; 1 fix by the project, 1 suggestion that nobody confirmed")
    assert standing(found, "zh").endswith("；1 处项目修复，1 个建议尚无人确认")


@each(
    "kind, worked, tier, label",
    [
        ("workaround", 1, "user_confirmed", "workaround"),
        ("workaround", 0, "user_confirmed", "fixed"),
        ("workaround", 0, "maintainer_confirmed", "suggested"),
        ("workaround", 0, "documented", "suggested"),
        ("workaround", 0, "reported", "suggested"),
        ("cause", 0, "user_confirmed", "cause"),
        ("dead_end", 0, None, "dead_end"),
    ],
)
def test_an_act_that_nobody_says_to_have_helped_is_not_called_one_that_helped(
    kind: str, worked: int, tier: str | None, label: str
) -> None:
    assert statement_label(kind, worked, tier) == label


def test_where_nobody_knows_it_is_said() -> None:
    entry = make.raw_entry(
        workarounds=[], workarounds_zh=[], dead_ends=[], dead_ends_zh=[], evidence=[make.evidence(1)], evidence_count=1
    )
    found = digest(entry)
    assert (found.standing, found.has_remedy) == ("none", False)
    assert standing(found) == "known since 2026-03-01, in 1 document; nobody reported a fix"
    assert standing(found, "zh").endswith("见于 1 份文档；尚无人报告解决办法")
    assert [thread.name for thread in found.threads] == ["errmine-fixtures/kernels#1"]


def test_what_one_project_says_is_told_as_its_own() -> None:
    found = digest(make.raw_entry_with_case())
    assert [(one.repo, one.frame) for one in found.confirmed] == [
        (None, None),
        ("errmine-fixtures/kernels", "attention:forward"),
    ]


def test_threads_that_answer_come_first_then_the_newest() -> None:
    found = digest(make.raw_entry())
    assert [thread.number for thread in found.threads] == [2, 3, 1]


def test_evidence_that_tells_most_comes_first_and_no_quote_twice() -> None:
    entry = make.raw_entry()
    machine = make.evidence(9, role="environment", quote="NVIDIA H200")
    again = {**machine, "evidence_id": "evidence:other", "start": 900, "end": 911}
    entry["evidence"] = [machine, again, *entry["evidence"]]
    assert [piece["role"] for piece in evidence_by_weight(entry)] == ["worked", "failed", "occurrence", "environment"]


def test_a_card_is_named_once_however_reporters_write_it() -> None:
    names = ["GTX 1080Ti", "GeForce GTX 1080 Ti", "NVIDIA GeForce GTX 1080 Ti", "NVIDIA A100-SXM4-80GB", "Tesla T4"]
    rows = [{"name": "GPU", "value": name, "count": 9 - n, "evidence": []} for n, name in enumerate(names)]
    rows.append({"name": "OS", "value": "NVIDIA DGX OS", "count": 1, "evidence": []})
    found = dict(digest(make.raw_entry(environment=rows)).environment)
    assert found == {"GPU": ("GTX 1080 Ti", "A100-SXM4-80GB", "Tesla T4"), "OS": ("NVIDIA DGX OS",)}


REFUSED = "redis.exceptions.ConnectionError: Connection refused"


def test_of_an_error_that_nobody_reported_documentation_says_what_it_means() -> None:
    found = asked(f"{REFUSED}\n", row("x/oven", OVEN.format(n=1)))
    (one,) = found.findings
    assert (one.status, one.answer.entry_id) == ("unknown", None)
    assert one.documentation is not None
    assert set(one.documentation) == {"text", "text_zh", "checks", "url", "row"}


def test_of_one_that_has_an_entry_or_is_set_aside_the_finding_says_nothing_of_its_own() -> None:
    (known,) = asked(f"{REFUSED}\n", row("x/refused", REFUSED)).findings
    (ignored,) = asked(f"{REFUSED}\n", ignored=(REFUSED,)).findings
    (strange,) = asked(STRANGE).findings
    assert [one.status for one in (known, ignored, strange)] == ["known", "ignored", "unknown"]
    assert [one.documentation for one in (known, ignored, strange)] == [None, None, None]
