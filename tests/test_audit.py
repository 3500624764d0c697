"""`make audit` never takes silence for an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import audit, locked

CLEAN = {"name": "requests", "version": "2.34.2", "vulns": []}
HOLE = {"name": "urllib3", "version": "2.2.0", "vulns": [{"id": "PYSEC-2026-1996"}, {"id": "GHSA-38jv-5279-wg99"}]}
SKIPPED = {"name": "rich", "skip_reason": "Dependency not found on PyPI and could not be audited: rich (15.0.0)"}


@pytest.mark.parametrize(
    ("wanted", "reports", "status"),
    [
        (["requests 2.34.2"], [[CLEAN]], audit.OK),
        (["requests 2.34.2", "rich 15.0.0"], [[CLEAN, SKIPPED]], audit.NO_DATA),
        (["rich 15.0.0"], [[SKIPPED], [{"name": "rich", "version": "15.0.0", "vulns": []}]], audit.OK),
        (["rich 15.0.0"], [[], []], audit.NO_DATA),
        (["requests 2.34.2"], [[{**CLEAN, "version": "2.34.1"}]], audit.NO_DATA),
        (["urllib3 2.2.0", "rich 15.0.0"], [[HOLE, SKIPPED]], audit.VULNERABLE),
    ],
    ids=["answered", "skipped", "another database", "nobody reached", "another version", "a hole beside silence"],
)
def test_a_version_counts_only_if_a_database_answered_for_it(
    wanted: list[str], reports: list[list[dict[str, Any]]], status: int
) -> None:
    assert audit.judged(wanted, [{"dependencies": each} for each in reports]).status == status


def test_a_hole_is_named_by_its_advisories() -> None:
    verdict = audit.judged(["urllib3 2.2.0"], [{"dependencies": [HOLE]}])
    assert verdict.holes == {"urllib3 2.2.0": ("GHSA-38jv-5279-wg99", "PYSEC-2026-1996")}


def program(folder: Path, answers: str) -> str:
    """A pip-audit that prints the same, whatever it is asked."""
    path = folder / "pip-audit"
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{answers}\nEND\n")
    path.chmod(0o755)
    return str(path)


def test_an_index_without_advisories_is_no_clean_bill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.dumps({"dependencies": [{"name": row.name, "skip_reason": "?"} for row in locked.rows("dev")]})
    assert audit.main(program(tmp_path, told)) == audit.NO_DATA
    printed = capsys.readouterr().out
    assert "runtime: NO DATA for " in printed
    assert "says nothing about holes" in printed


def test_no_network_is_no_clean_bill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(program(tmp_path, "ConnectionError: Failed to resolve")) == audit.NO_DATA
    assert "no answer" in capsys.readouterr().err


def test_answers_for_all_are_a_clean_bill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row for name in locked.FILES for row in locked.rows(name)]
    told = [{"name": row.name, "version": row.version, "vulns": []} for row in rows]
    assert audit.main(program(tmp_path, json.dumps({"dependencies": told}))) == audit.OK
    assert "no known holes" in capsys.readouterr().out
