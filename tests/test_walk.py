"""One issue's walk through the package stays short: `python -m tests.walk` prints it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.golden import ROOT

#: Modules that the issue visits: 161 when this was written, 190 before modules of one caller were merged into it; what
#: reads values, and what sentences cite, have been parted from acts and commands since, which they are not, and what
#: is kept of tables and expressions, of all shards, of whom a change concerns, where documents lie, records by key, the
#: registry of ids in columns, and what of it an export reads, are subjects of their own. Why it stops there, and that
#: seventy would have over 400 lines each, is said in CONTRIBUTING.md, "Where things belong".
MOST_MODULES = 170
#: What a build hands down lies in files and is read when it is asked for: entries, clusters, ids and where
#: rows lie by the store, texts and proofs by who proves expressions. Of all calls these go up.
HANDED = {
    ("pipeline.store.writing", "pipeline.run.build.worded"),
    ("pipeline.store.writing", "pipeline.run.build.grouping"),
    ("pipeline.store.writing", "pipeline.run.build.registry"),
    ("pipeline.store.replacing", "pipeline.run.build.grouping"),
    ("pipeline.store.replacing", "pipeline.run.build.registry"),
    ("pipeline.store.replacing", "pipeline.run.build.rows"),
    ("pipeline.cluster.proofs", "pipeline.run.build.grouping"),
}


#: In a process of its own: what others read there before would be no visit, and what they left to be read again one.
WALK = """
import json
from tests.walk import walked
walk = walked()
print(json.dumps([len(walk.modules), len(walk.rooms), walk.steps_back, sorted(walk.upwards)]))
"""


@pytest.mark.long
def test_an_issue_visits_few_rooms_each_once_and_never_calls_upwards() -> None:
    done = subprocess.run([sys.executable, "-c", WALK], cwd=ROOT, capture_output=True, text=True, check=True)
    modules, rooms, steps_back, upwards = json.loads(done.stdout.splitlines()[-1])
    assert modules <= MOST_MODULES
    assert rooms <= 16  # packs, whose rows all others read, are one
    assert not steps_back
    assert {tuple(one) for one in upwards} <= HANDED
