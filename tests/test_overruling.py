"""People overrule the grouping, through the command line: overrides in a home, the journal, and ids that last.

A build writes so small a database whole. One test of each kind of overruling has it brought up to date (`never_few`).
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline import normalise, store
from pipeline.cli import streams, work
from pipeline.normalise import assemble
from pipeline.records import Slot
from pipeline.run import Places
from pipeline.run.build import mapping
from tests import golden
from tests.cli import Done, run
from tests.rings import first_alone

MESSAGES = {
    1: "RuntimeError: widget 3 is gone from the tray of the feeder",
    2: "RuntimeError: widget 9 is gone from the tray of the feeder",
    3: "RuntimeError: the feeder could not find any widget 4 to hand out",
    4: "ValueError: gadget 5 refused the whole request of the client",
    5: "ValueError: gadget 6 refused a whole request of the client",
    6: "OSError: gadget 2 is warming up its oven",
}
MERGE = """
[[merge]]
reason = "the feeder reworded its message in 2.0"
texts = ["RuntimeError: widget 7 is gone from the tray of the feeder",
         "RuntimeError: the feeder could not find any widget 1 to hand out"]
"""
RENAME = """
[[rename]]
reason = "the name that its users search for"
name = "widget-gone"
texts = ["RuntimeError: widget 7 is gone from the tray of the feeder"]
"""
IGNORE = """
[[ignore]]
reason = "printed by a healthy start"
texts = ["OSError: gadget 2 is warming up its oven"]
"""


def issue(number: int, message: str) -> str:
    url = f"https://github.com/errmine-fixtures/feeder/issues/{number}"
    body = (
        f'Traceback (most recent call last):\n  File "/srv/feeder.py", line {number}, in serve\n    go()\n{message}\n'
    )
    row: dict[str, Any] = {"number": number, "title": "It fails", "body": body, "state": "open", "comments": []}
    row |= {"html_url": url, "created_at": f"2026-01-{number:02d}T08:00:00Z", "labels": []}
    return json.dumps(row)


def imported(home: Path, messages: dict[int, str], *, seed: int = 0) -> Path:
    lines = [issue(number, message) for number, message in messages.items()]
    random.Random(seed).shuffle(lines)
    home.mkdir(parents=True, exist_ok=True)
    (home / "issues.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert run("import", "--home", home, home / "issues.jsonl").code == 0
    return home


def built(home: Path, overrides: str = "", *, is_exported: bool = True) -> Done:
    """`errmine build` with these overrides, and `export`."""
    (home / "overrides.toml").write_text(overrides, encoding="utf-8")
    done = run("build", "--home", home, "--workers", "1", "--json")
    assert done.code == 0, done.err
    assert not is_exported or run("export", "--home", home).code == 0
    return done


def rows(home: Path, sql: str) -> list[dict[str, Any]]:
    return json.loads(run("query", "--home", home, "--format", "json", sql).out)


def matched(home: Path, message: str) -> str | None:
    text = f'Traceback (most recent call last):\n  File "x.py", line 1, in f\n{message}\n'
    return json.loads(run("match", "--home", home, "--json", stdin=text).out)["entry_id"]


@pytest.fixture(scope="module")
def first_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = imported(tmp_path_factory.mktemp("made") / "home", MESSAGES)
    built(made)
    return made


@pytest.fixture
def home(first_build: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first_build, tmp_path / "home"))


@pytest.mark.usefixtures("never_few")
def test_a_merge_teaches_is_journalled_and_can_be_taken_back(home: Path) -> None:
    before = golden.bundle_bytes(Places.of(home).curated)
    old = [matched(home, MESSAGES[2]), matched(home, MESSAGES[3])]
    assert None not in old
    assert old[0] != old[1]
    built(home, MERGE)
    assert matched(home, MESSAGES[2]) == matched(home, MESSAGES[3]) == old[0]
    assert matched(home, MESSAGES[3].replace("4", "77")) == old[0]
    shown = json.loads(run("show", old[1], "--home", home, "--json").out)
    assert (shown["id"], shown["aliases"], shown["evidence_count"]) == (old[0], [old[1]], 3)
    [note] = rows(home, f"SELECT * FROM journal WHERE action = 'merged' AND subject_id = '{old[1]}'")
    assert note["other_id"] == old[0]
    assert "the feeder reworded its message in 2.0" in note["detail"]
    merged = rows(home, "SELECT * FROM journal WHERE action = 'merged' AND subject_id LIKE 'cluster:%'")
    assert "the feeder reworded its message in 2.0" in merged[0]["detail"]
    assert rows(home, f"SELECT flow FROM runs WHERE run_id = '{merged[0]['run_id']}'") == [{"flow": "build"}]
    assert merged[0]["subject_id"] in {row["alias"] for row in rows(home, "FROM cluster_aliases")}
    assert json.loads(run("show", merged[0]["subject_id"], "--home", home, "--json").out)["id"] == old[0]

    kept = rows(home, "FROM journal")
    built(home)
    assert golden.bundle_bytes(Places.of(home).curated) == before
    after = rows(home, "FROM journal")
    assert after[: len(kept)] == kept
    told = {(row["action"], row["subject_id"].partition(":")[0] == "cluster"): row for row in after[len(kept) :]}
    assert told[("split", False)]["subject_id"] == old[1]
    assert 'no longer in overrides.toml: "the feeder reworded' in told[("split", True)]["detail"]


@pytest.mark.long
def test_a_merge_taken_out_gives_back_the_ids_where_the_other_error_stood_for_both(tmp_path: Path) -> None:
    # the id of the one that was reported first stays, and the other stands for both
    home = imported(tmp_path / "home", {1: MESSAGES[3], 2: MESSAGES[2], 3: MESSAGES[1]})
    built(home)
    ids = [matched(home, text) for text in (MESSAGES[1], MESSAGES[3])]
    facts = "SELECT cluster_id, entry_id FROM clusters ORDER BY ALL"
    before = rows(home, facts), golden.bundle_bytes(Places.of(home).curated)
    built(home, MERGE)
    assert matched(home, MESSAGES[1]) == matched(home, MESSAGES[3])
    for _ in range(2):
        built(home)
        assert [matched(home, text) for text in (MESSAGES[1], MESSAGES[3])] == ids
        assert (rows(home, facts), golden.bundle_bytes(Places.of(home).curated)) == before


@pytest.mark.long
def test_messages_that_come_later_join_the_merged_entry(home: Path) -> None:
    built(home, MERGE)
    one = matched(home, MESSAGES[1])
    imported(home, {7: "RuntimeError: the feeder could not find any widget 8 to hand out."})
    built(home, MERGE)
    assert json.loads(run("show", str(one), "--home", home, "--json").out)["evidence_count"] == 4


@pytest.mark.long
def test_a_name_that_people_give_stays_and_all_former_ones_lead_to_it(home: Path) -> None:
    first = str(matched(home, MESSAGES[1]))
    built(home, RENAME)
    domain = first.partition("/")[0]
    assert matched(home, MESSAGES[1]) == f"{domain}/widget-gone"
    assert json.loads(run("show", first, "--home", home, "--json").out)["id"] == f"{domain}/widget-gone"
    built(home, RENAME.replace("widget-gone", "widget-lost"))
    for name in (first, f"{domain}/widget-gone", f"{domain}/widget-lost"):
        shown = json.loads(run("show", name, "--home", home, "--json").out)
        assert (shown["id"], shown["aliases"]) == (f"{domain}/widget-lost", sorted([first, f"{domain}/widget-gone"]))
    notes = rows(home, "SELECT subject_id, other_id, detail FROM journal WHERE action = 'renamed' ORDER BY ordinal")
    assert [note["other_id"] for note in notes] == [f"{domain}/widget-gone", f"{domain}/widget-lost"]
    assert all("the name that its users search for" in note["detail"] for note in notes)
    built(home, RENAME.replace("widget-gone", first.partition("/")[2]))
    assert matched(home, MESSAGES[1]) == first


@pytest.mark.long
def test_a_name_that_is_taken_back_is_undone_and_leads_on(home: Path) -> None:
    first = str(matched(home, MESSAGES[1]))
    name = f"{first.partition('/')[0]}/widget-gone"
    built(home, RENAME)
    assert matched(home, MESSAGES[1]) == name
    for _ in range(2):
        built(home)
        shown = json.loads(run("show", name, "--home", home, "--json").out)
        assert (shown["id"], shown["aliases"]) == (first, [name])
    [note] = rows(home, f"SELECT other_id, detail FROM journal WHERE action = 'renamed' AND subject_id = '{name}'")
    assert (note["other_id"], "no longer" in note["detail"]) == (first, True)
    built(home, RENAME)
    assert matched(home, MESSAGES[1]) == name


@pytest.mark.long
def test_a_name_that_was_there_from_the_first_build_on_is_undone_too(first_build: Path, tmp_path: Path) -> None:
    plain, renamed = first_build, imported(tmp_path / "renamed", MESSAGES)
    built(renamed, RENAME)
    name = str(matched(renamed, MESSAGES[1]))
    assert name.endswith("/widget-gone")
    built(renamed)
    assert matched(renamed, MESSAGES[1]) == matched(plain, MESSAGES[1])
    assert json.loads(run("show", name, "--home", renamed, "--json").out)["id"] == matched(plain, MESSAGES[1])


@pytest.mark.long
@pytest.mark.usefixtures("never_few")
def test_a_renamed_entry_that_is_merged_and_parts_again_has_its_names_back(home: Path) -> None:
    first, other = str(matched(home, MESSAGES[3])), str(matched(home, MESSAGES[1]))
    rename = RENAME.replace("RuntimeError: widget 7 is gone from the tray of the feeder", MESSAGES[3])
    built(home, rename)
    name = str(matched(home, MESSAGES[3]))
    built(home, MERGE)
    assert {json.loads(run("show", one, "--home", home, "--json").out)["id"] for one in (first, name)} == {other}
    for overrides, now in ((rename, name), ("", first)):
        built(home, overrides)
        assert {json.loads(run("show", one, "--home", home, "--json").out)["id"] for one in (first, name)} == {now}


@pytest.mark.long
def test_a_split_is_permanent_and_its_reason_is_shown(home: Path) -> None:
    together = rows(home, "SELECT cluster_id FROM clusters WHERE signature LIKE '%gadget%refused%'")
    assert len(together) == 1
    split = f'[[split]]\nreason = "one is a mistake"\ntexts = ["{MESSAGES[4]}", "{MESSAGES[5]}"]\n'
    built(home, split)
    assert len(rows(home, "SELECT cluster_id FROM clusters WHERE signature LIKE '%gadget%refused%'")) == 2
    assert matched(home, MESSAGES[4]) != matched(home, MESSAGES[5])
    reasons = rows(home, "SELECT DISTINCT reason FROM neighbours WHERE reason LIKE 'kept apart%'")
    assert reasons == [{"reason": "kept apart by overrides.toml: one is a mistake"}]
    imported(home, {8: MESSAGES[4].replace("5", "55"), 9: MESSAGES[5].replace("6", "66")})
    built(home, split)
    assert matched(home, MESSAGES[4]) != matched(home, MESSAGES[5])


@pytest.mark.long
@pytest.mark.usefixtures("never_few")
def test_what_is_ignored_is_counted_with_its_reason_and_comes_back(home: Path) -> None:
    entry = str(matched(home, MESSAGES[6]))
    summary = json.loads(built(home, IGNORE).out)
    events = next(stage for stage in summary["stages"] if stage["stage"] == "events")
    assert (events["reasons"], events["taken"] - events["given"]) == ({"ignored": 1}, 1)
    found = rows(home, "SELECT stage, reason, detail FROM skipped")
    assert found == [{"stage": "events", "reason": "ignored", "detail": "printed by a healthy start"}]
    assert matched(home, MESSAGES[6]) is None
    built(home)
    assert matched(home, MESSAGES[6]) == entry
    assert rows(home, "FROM skipped") == []


@pytest.mark.long
def test_what_is_ignored_takes_nothing_of_the_others_with_it(home: Path) -> None:
    before = rows(home, "SELECT cluster_id, entry_id FROM clusters WHERE signature LIKE '%gadget%refused%'")
    one, other = (IGNORE.replace(MESSAGES[6], MESSAGES[number]) for number in (4, 5))  # one of them is the medoid
    for overrides, gone in ((one, 4), (one, 4), ("", None), (other, 5), (other + MERGE, 5), ("", None)):
        built(home, overrides, is_exported=overrides in (one, other + MERGE))
        assert rows(home, "SELECT cluster_id, entry_id FROM clusters WHERE signature LIKE '%gadget%refused%'") == before
        assert len(rows(home, "FROM skipped WHERE reason = 'ignored'")) == (gone is not None)
        for number in (4, 5) if overrides in (one, other + MERGE) else ():
            assert matched(home, MESSAGES[number]) == (None if number == gone else before[0]["entry_id"])


@pytest.mark.long
def test_a_text_that_people_ignore_is_matched_with_nothing_and_the_reason_is_said(home: Path) -> None:
    built(home, IGNORE.replace(MESSAGES[6], MESSAGES[5]))
    said = "set aside by overrides.toml: printed by a healthy start"
    for text in (f"Traceback (most recent call last):\n  File 'x.py', line 1, in f\n{MESSAGES[5]}\n", MESSAGES[5]):
        answer = json.loads(run("match", "--home", home, "--json", stdin=text).out)
        assert (answer["entry_id"], answer["rule"], answer["reason"]) == (None, "abstained", said)


@pytest.mark.long
def test_rows_that_do_nothing_are_said_in_the_summary_with_the_reason_and_kept_in_the_database(home: Path) -> None:
    mine = matched(home, MESSAGES[1])
    taken = RENAME.replace("widget-gone", str(matched(home, MESSAGES[4])).partition("/")[2])
    split = f'[[split]]\nreason = "x"\ntexts = ["{MESSAGES[1]}", "{MESSAGES[2]}"]\n'
    (home / "overrides.toml").write_text(MERGE.replace("could not find", "never met") + split + taken, encoding="utf-8")
    done = run("build", "--home", home, "--workers", "1")
    assert done.code == 0
    assert run("export", "--home", home).code == 0
    (build, *_) = [
        row for row in json.loads(run("status", "--home", home, "--json").out)["runs"] if row["flow"] == "build"
    ]
    told = {row["rule"].partition(" (")[0]: row["problem"] for row in build["detail"]["idle_overrides"]}
    assert told.keys() == {"merge number 1", "split number 1", "rename number 1"}
    assert "nothing in raw reads as 'RuntimeError: the feeder never met any widget" in told["merge number 1"]
    assert told["split number 1"] == "two of its texts are one template: only values differ between them"
    assert "another entry has or had this one" in told["rename number 1"]
    said = " ".join(done.err.split())
    assert all(rule in said and problem in said for rule, problem in told.items())
    assert {row["kind"]: row["problem"] for row in rows(home, "FROM overrides")} == {
        rule.partition(" ")[0]: problem for rule, problem in told.items()
    }
    assert matched(home, MESSAGES[1]) == mine


@pytest.mark.parametrize(
    ("text", "said"),
    first_alone(
        [
            (
                "[[merge]]\nreason = 'x'\ntexts = ['a']\n",
                "overrides.toml: merge number 1 needs at least 2 different texts",
            ),
            ("[[rename]]\nreason = 'x'\nname = '../../etc'\ntexts = ['a']\n", "a name that no entry can have"),
            (
                f"{MERGE}\n[[split]]\nreason = 'x'\ntexts = ['{MESSAGES[1]}', '{MESSAGES[3]}']\n",
                "keeps apart what merge",
            ),
        ]
    ),
)
def test_a_file_that_cannot_be_used_stops_the_build_and_harms_nothing(home: Path, text: str, said: str) -> None:
    before = store.digest(Places.of(home).database)
    (home / "overrides.toml").write_text(text, encoding="utf-8")
    done = run("build", "--home", home, "--workers", "1")
    assert done.code == 2
    assert said in done.err
    assert store.digest(Places.of(home).database) == before


@pytest.mark.long
def test_the_file_may_lie_elsewhere_and_must_exist_then(home: Path, tmp_path: Path) -> None:
    (home / "errmine.toml").write_text('[grouping]\noverrides = "../decisions/feeder.toml"\n', encoding="utf-8")
    done = run("build", "--home", home)
    assert (done.code, "feeder.toml: no such file" in done.err) == (2, True)
    (tmp_path / "decisions").mkdir()
    (tmp_path / "decisions" / "feeder.toml").write_text(MERGE, encoding="utf-8")
    assert json.loads(run("build", "--home", home, "--json").out)["overrides"] == {"merge": 1}


@pytest.mark.long
@pytest.mark.usefixtures("never_few")
def test_overrides_give_the_same_bytes_in_any_order_of_raw(home: Path, tmp_path: Path) -> None:
    made = []
    other = imported(tmp_path / "other", MESSAGES, seed=2)
    assert (other / "issues.jsonl").read_bytes() != (home / "issues.jsonl").read_bytes()
    built(other)
    for one in (home, other):
        built(one, MERGE + RENAME + IGNORE)
        made.append((golden.bundle_bytes(Places.of(one).curated), store.digest(Places.of(one).database)))
    assert made[0] == made[1]


# ---------------------------------------------------------------- seen before it is done, and asked about


def files(home: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(home.rglob("*")) if path.is_file()
    }


def test_a_dry_run_says_original_new_and_same_and_touches_nothing(home: Path) -> None:
    (home / "overrides.toml").write_text(MERGE + IGNORE, encoding="utf-8")
    imported(home, {7: MESSAGES[1].replace("3", "33"), 8: "KeyError: a new one that nobody saw before"})
    before = files(home)
    done = run("regroup", "--dry-run", "--home", home, "--workers", "1", "--json")
    assert files(home) == before
    told = json.loads(done.out)
    kept, joined = matched(home, MESSAGES[1]), matched(home, MESSAGES[3])
    [reworded] = [row for row in told["rows"] if "could not find" in row["text"]]
    assert (reworded["original_entry"], reworded["same"]) == (joined, False)
    assert reworded["new"] == next(row["new"] for row in told["rows"] if row["original_entry"] == kept)
    assert told["changes"] == {"merged": 1, "new": 1, "withdrawn": 1}
    why = {row["action"]: row["why"] for row in told["journal"]}
    assert "the feeder reworded its message in 2.0" in why["merged"]
    assert "printed by a healthy start" in why["withdrawn"]

    shown = run("regroup", "--dry-run", "--home", home, "--workers", "1")
    assert all(word in shown.out for word in ("original", "new", "same?", "merged 1"))


def test_a_dry_run_shows_what_would_be_renamed(home: Path) -> None:
    (home / "overrides.toml").write_text(RENAME, encoding="utf-8")
    entry = str(matched(home, MESSAGES[1]))
    named = f"{entry.partition('/')[0]}/widget-gone"
    shown = run("regroup", "--dry-run", "--home", home, "--workers", "1")
    assert shown.out == f"renamed {entry} {named}: overrides.toml\nno cluster changes\n"
    told = json.loads(run("regroup", "--dry-run", "--home", home, "--workers", "1", "--json").out)
    assert told["renamed"] == [{"entry_id": entry, "new_id": named}]


@pytest.mark.long
def test_regroup_shows_and_then_builds(home: Path) -> None:
    (home / "overrides.toml").write_text(MERGE, encoding="utf-8")
    assert run("regroup", "--home", home, "--workers", "1").code == 0
    assert run("regroup", "--dry-run", "--home", home, "--workers", "1").out == "no cluster changes\n"
    assert run("export", "--home", home).code == 0
    assert matched(home, MESSAGES[1]) == matched(home, MESSAGES[3])


@pytest.mark.long
def test_regroup_builds_also_where_nobody_reads_what_changes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "overrides.toml").write_text(MERGE, encoding="utf-8")

    def gone(*_: Any, **__: Any) -> None:
        raise streams.ReaderGone

    monkeypatch.setattr(work, "_tell_of_regrouping", gone)
    assert run("regroup", "--home", home, "--workers", "1").code == 0
    monkeypatch.undo()
    assert run("regroup", "--dry-run", "--home", home, "--workers", "1").out == "no cluster changes\n"


@pytest.mark.long
def test_regroup_reads_new_pages_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(home, {7: MESSAGES[1].replace("3", "33")})
    read: list[str] = []
    real = mapping.pool.run

    def counting(work: Any, tasks: Any, **options: Any) -> Any:
        read.extend(task.name for task in tasks)
        return real(work, tasks, **options)

    monkeypatch.setattr(mapping.pool, "run", counting)
    assert run("regroup", "--home", home, "--workers", "1").code == 0
    assert len(read) == 1
    assert len(rows(home, "FROM documents")) == len(MESSAGES) + 1


def test_a_dry_run_without_a_build_says_what_to_do(tmp_path: Path) -> None:
    done = run("regroup", "--dry-run", "--home", imported(tmp_path, MESSAGES))
    assert (done.code, "there is no database" in done.err) == (3, True)


@pytest.mark.long
def test_two_ids_are_explained_by_what_people_said(home: Path) -> None:
    ids = {number: str(matched(home, MESSAGES[number])) for number in MESSAGES}
    split = f'[[split]]\nreason = "one is a mistake"\ntexts = ["{MESSAGES[4]}", "{MESSAGES[5]}"]\n'
    built(home, MERGE + split + IGNORE)

    def explained(one: str, other: str) -> dict[str, Any]:
        return json.loads(run("explain", one, other, "--home", home, "--json").out)

    together = explained(ids[1], ids[3])
    assert together["together"]
    assert together["reasons"][0] == 'overrides.toml, merge number 1: "the feeder reworded its message in 2.0"'
    parted = explained(str(matched(home, MESSAGES[4])), str(matched(home, MESSAGES[5])))
    assert (parted["together"], parted["reasons"]) == (False, ['overrides.toml, split number 1: "one is a mistake"'])
    ignored = rows(home, "SELECT unnest(flatten(signature_ids)) AS one FROM overrides WHERE kind = 'ignore'")[0]["one"]
    assert 'ignore number 1: "printed by a healthy start"' in explained(ignored, ids[1])["reasons"][0]
    assert "explain" not in run("explain", ids[1], ids[4], "--home", home).err
    assert run("explain", ids[1], "triton/nothing", "--home", home).code == 1


def test_two_ids_that_nobody_spoke_of_are_explained_by_gate_or_likeness(home: Path) -> None:
    shown = run("explain", str(matched(home, MESSAGES[1])), str(matched(home, MESSAGES[4])), "--home", home)
    assert shown.out.startswith("not one cluster")
    assert "likeness" in shown.out
    event, *_ = rows(home, "SELECT event_id FROM cluster_events WHERE message LIKE 'widget 3%'")
    same = run("explain", event["event_id"], str(matched(home, MESSAGES[2])), "--home", home)
    assert same.out.startswith("one cluster")


# ---------------------------------------------------------------- another normaliser


@pytest.mark.long
@pytest.mark.usefixtures("never_few")
def test_another_normaliser_moves_events_prints_the_map_and_keeps_every_id(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(home, MERGE)
    names = {number: matched(home, text) for number, text in MESSAGES.items()}
    old = {row["text"]: row["cluster_id"] for row in rows(home, "SELECT signature AS text, cluster_id FROM clusters")}
    version = normalise.NORMALISER_VERSION
    monkeypatch.setattr(assemble, "NORMALISER_VERSION", "test-2")
    monkeypatch.setattr(normalise, "NORMALISER_VERSION", "test-2")
    real = assemble.masked

    def masked(line: str, kept: frozenset[str]) -> tuple[str, tuple[Slot, ...]]:
        """The same, but that the feeder and the client are values now."""
        text, slots = real(line, kept)
        return text.replace("feeder", "<name>").replace("client", "<name>"), slots

    monkeypatch.setattr(assemble, "masked", masked)
    monkeypatch.setattr(mapping, "code_digest", lambda: "another")
    monkeypatch.setattr(mapping.pool, "run", lambda work, tasks, **_: (work(task, lambda _n: None) for task in tasks))
    built(home, MERGE)
    told = json.loads(run("status", "--home", home, "--json").out)["runs"]
    moved = next(row["detail"] for row in told if row["flow"] == "build" and "moved" in str(row["detail"]))
    assert json.dumps({"normaliser": [version, "test-2"]})[1:-1] in json.dumps(moved)
    assert {number: matched(home, text) for number, text in MESSAGES.items()} == names
    now = {row["cluster_id"] for row in rows(home, "SELECT cluster_id FROM clusters")}
    assert not now & set(old.values())
    assert {row["alias"] for row in rows(home, "FROM cluster_aliases")} >= set(old.values())
    for cluster_id in old.values():
        assert run("show", cluster_id, "--home", home).code == 0
    notes = rows(home, "SELECT detail FROM journal WHERE action = 'renamed' AND subject_id LIKE 'cluster:%'")
    assert any(f"events read anew (normaliser {version} -> test-2)" in note["detail"] for note in notes)
