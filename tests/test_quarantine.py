"""A document that kills its worker goes to quarantine; the rest is built; it can be tried again."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from pipeline import raw, run
from pipeline.records.errors import ConfigError
from pipeline.run import Places, shards
from pipeline.run.build import mapping
from pipeline.run.check import quarantine
from tests import golden
from tests.golden import SAMPLE

POISONED = "github.com/errmine-fixtures/gemmforge#9"
real_map_document = mapping.map_document


def deadly(layer: raw.RawLayer, refs: raw.DocumentRefs) -> shards.MapResult:
    if refs.document_key == POISONED:
        os.abort()
    return real_map_document(layer, refs)


def deadly_task(*work: Any) -> str:
    mapping.map_document = deadly  # type: ignore[assignment]
    return original_task(*work)


original_task = mapping.map_task


@pytest.fixture(scope="module")
def home_with_it(tmp_path_factory: pytest.TempPathFactory) -> Path:
    places = Places.of(tmp_path_factory.mktemp("poisoned"))
    source = tmp_path_factory.mktemp("source") / "issues.jsonl"
    lines = (SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    source.write_text("".join(line for line in lines if re.search(r"/gemmforge/issues/\d\"", line)), encoding="utf-8")
    run.import_files(places.raw, [source])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(mapping, "map_task", deadly_task)
        summary = run.build(places, workers=1, partition_documents=1000)
    assert summary.stages[0].reasons == (("crash", 1),)
    return places.home


@pytest.fixture
def poisoned(home_with_it: Path, tmp_path: Path) -> Places:
    return Places.of(golden.copied(home_with_it, tmp_path))


def test_one_poisoned_document_costs_one_document(poisoned: Places) -> None:
    (document,) = quarantine.listed(poisoned)
    assert (document.document_key, document.reason) == (POISONED, "crash")
    closeup = quarantine.closeup(poisoned, POISONED)
    assert closeup is not None
    assert [page.document_key for page in closeup.pages] == [POISONED]


@pytest.mark.long
def test_a_second_build_does_not_try_it_again_until_it_is_let_out(poisoned: Places) -> None:
    again = run.build(poisoned, workers=1, partition_documents=1000)
    assert again.stages[0].skipped == 1
    quarantine.retry(poisoned, [POISONED])
    cured = run.build(poisoned, workers=1, partition_documents=1000)
    assert cured.stages[0].skipped == 0
    assert quarantine.listed(poisoned) == []


def test_a_document_that_is_not_inside_is_named(poisoned: Places) -> None:
    with pytest.raises(ConfigError, match="not in quarantine: nobody"):
        quarantine.retry(poisoned, ["nobody"])
