"""Memory that a build is done with is the system's again, and who builds keeps the pool that he had."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pipeline import run
from pipeline.records.errors import PipelineError
from pipeline.run.build import building, exporting
from tests import golden


def test_a_build_and_an_export_take_arrow_s_memory_from_the_system_and_leave_the_pool_as_it_was(
    sample_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, str] = {}

    def watched(name: str, real: object) -> object:
        def called(*given: object, **named: object) -> object:
            seen[name] = pa.default_memory_pool().backend_name
            return real(*given, **named)  # type: ignore[operator]

        return called

    before = pa.default_memory_pool()
    for module, name in ((building, "planned"), (building.results, "read"), (exporting.bundle, "write_rows")):
        monkeypatch.setattr(module, name, watched(name, getattr(module, name)))
    home = run.Places.of(golden.copied(sample_home, tmp_path / "home"))
    run.build(home, workers=1, partition_documents=500)
    run.export(home)
    assert seen == dict.fromkeys(("planned", "read", "write_rows"), "system")
    assert pa.default_memory_pool().backend_name == before.backend_name


def test_the_pool_is_as_it_was_after_a_build_that_fails(tmp_path: Path) -> None:
    before = pa.default_memory_pool()
    with pytest.raises(PipelineError):
        run.export(run.Places.of(tmp_path))
    assert pa.default_memory_pool().backend_name == before.backend_name
