"""The Python API: what docs/python.md shows, what is refused and how, and what importing it costs."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pipeline
from pipeline import export, store
from tests import golden, notebook, python_page
from tests.cli import run
from tests.golden import GOLDEN, ROOT

TOO_MANY_THREADS = "triton/out-of-resources-threads"


@pytest.fixture(scope="module")
def home(sample_home: Path) -> Path:
    return sample_home


@pytest.fixture(scope="module")
def bundle(home: Path) -> pipeline.Bundle:
    return pipeline.open_bundle(home)


@pytest.fixture(scope="module")
def bare() -> pipeline.Bundle:
    """The sample's bundle as somebody fetches it: without a database."""
    return pipeline.open_bundle(GOLDEN)


def test_the_examples_of_the_page_print_what_the_page_says(home: Path) -> None:
    text = python_page.PAGE.read_text(encoding="utf-8")
    assert text.count("```text\n") >= 5
    assert python_page.filled(text, home) == text, "run `make golden`"


def test_every_question_of_the_notebook_has_an_answer_and_its_plot_is_kept(home: Path) -> None:
    """`make notebook` runs all of it, with matplotlib in a kernel; here it is only asked."""
    names: dict[str, object] = {}
    with contextlib.chdir(home):
        for code in notebook.asking():
            exec(compile(code, notebook.PAGE.name, "exec"), names)
    answers = [value for value in names.values() if isinstance(value, list)]
    assert len(answers) == notebook.QUESTIONS
    assert all(answers)
    kept = [output for cell in notebook.cells() for output in cell["outputs"] if "image/png" in output.get("data", {})]
    assert len(kept) == notebook.QUESTIONS
    for cell in notebook.cells():
        compile("".join(cell["source"]), notebook.PAGE.name, "exec")


def test_importing_reads_nothing_and_every_name_is_there() -> None:
    code = (
        "import sys; before = set(sys.modules); import pipeline; "
        "print(sorted(name for name in sys.modules if name.startswith('pipeline'))); "
        "print([getattr(pipeline, name) is not None for name in pipeline.__all__])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["['pipeline']", str([True] * len(pipeline.__all__))]
    with pytest.raises(AttributeError, match="no attribute 'open_bundel'"):
        _ = pipeline.open_bundel


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "pipeline" / "py.typed").is_file()


def test_an_entry_is_found_by_its_id_its_former_ids_and_its_cluster(bundle: pipeline.Bundle, tmp_path: Path) -> None:
    entry = bundle.entry(TOO_MANY_THREADS)
    assert entry is not None
    assert entry.model_dump(mode="json") == json.loads(
        (bundle.folder / "entries" / f"{TOO_MANY_THREADS}.json").read_text(encoding="utf-8")
    )
    assert entry.cluster_id is not None
    assert bundle.entry(entry.cluster_id) == entry
    renamed = tmp_path / "renamed"
    shutil.copytree(bundle.folder, renamed, ignore=shutil.ignore_patterns("*.duckdb"))
    registry = json.loads((renamed / "registry.json").read_text(encoding="utf-8"))
    registry["aliases"] = {"triton/of-old": TOO_MANY_THREADS}
    registry["cluster_aliases"] = {"cluster:0": entry.cluster_id}
    export.write(renamed, bundle.entries(), facts=_facts(registry))
    again = pipeline.open_bundle(renamed)
    assert again.entry("triton/of-old") == again.entry("cluster:0") == again.entry(TOO_MANY_THREADS) == entry


def _facts(registry: dict[str, object]) -> export.Facts:
    from pipeline.records.bundle import Registry

    return export.Facts(registry=Registry.model_validate(registry))


@pytest.mark.parametrize(
    "wanted", ["", "nope/nope", "../../etc/passwd", "triton/../triton/out-of-resources-threads", "/"]
)
def test_what_is_no_entry_is_none_and_leads_nowhere(bundle: pipeline.Bundle, wanted: str) -> None:
    assert bundle.entry(wanted) is None


def test_a_bundle_without_a_database_is_searched_and_matched_too(
    bundle: pipeline.Bundle, bare: pipeline.Bundle
) -> None:
    assert not bare.database.exists()
    words = ("显存不足", "out of resource threads")
    for word in words:
        assert [hit.entry_id for hit in bare.search(word, limit=3)] == [
            hit.entry_id for hit in bundle.search(word, limit=3)
        ]
    assert bare.match("out of resource: threads, Required: 4096, Hardware limit: 1024").entry_id == TOO_MANY_THREADS
    with pytest.raises(pipeline.PipelineError, match="no database"), bare.connect():
        pass
    with pytest.raises(pipeline.PipelineError, match="no database"):
        bare.explain(TOO_MANY_THREADS)


def test_top_goes_by_documents_as_the_command_and_leaves_out_what_is_answered(
    bundle: pipeline.Bundle, home: Path
) -> None:
    everything = list(bundle.entries())
    from pipeline.records.entry import is_answered

    reported = {entry.id for entry in everything if entry.occurrence_count}
    assert {entry.id for entry in bundle.top(limit=1000)} == reported
    for unanswered in (False, True):
        asked = ["top", "--home", home, "--limit", 1000, "--json", *(["--unanswered"] if unanswered else [])]
        listed = [row["entry_id"] for row in json.loads(run(*asked).out)]
        assert [entry.id for entry in bundle.top(limit=1000, unanswered=unanswered)] == list(filter(None, listed))
    counts = [entry.evidence_count for entry in bundle.top(limit=1000)]
    assert counts == sorted(counts, reverse=True)
    open_ones = bundle.top(domain="pytorch", unanswered=True, limit=1000)
    wanted = {entry.id for entry in everything if entry.domain == "pytorch" and not is_answered(entry)}
    assert {entry.id for entry in open_ones} == wanted
    assert wanted
    with pytest.raises(pipeline.PipelineError, match="limit is 0"):
        bundle.top(limit=0)


def test_explain_says_why_and_the_connection_writes_nothing(bundle: pipeline.Bundle) -> None:
    found = bundle.explain(TOO_MANY_THREADS)
    assert found is not None
    assert found["entry_id"] == TOO_MANY_THREADS
    assert bundle.explain("nope") is None
    with bundle.connect() as db:
        assert db.execute("SELECT count(*) FROM entries").fetchall() == [(len(list(bundle.entries())),)]
        with pytest.raises(Exception, match="read-only"):
            db.execute("DELETE FROM entries")
    assert store.table_counts(bundle.database)["entries"] == len(list(bundle.entries()))


def test_a_damaged_file_is_named_and_not_used(bundle: pipeline.Bundle, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(GOLDEN, folder)
    opened = pipeline.open_bundle(folder)
    page = folder / "entries" / f"{TOO_MANY_THREADS}.json"
    page.write_text(page.read_text(encoding="utf-8").replace("2048", "9999"), encoding="utf-8")
    with pytest.raises(pipeline.PipelineError, match=r"out-of-resources-threads\.json.*not those that were written"):
        opened.entry(TOO_MANY_THREADS)
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(pipeline.PipelineError, match=r"manifest\.json"):
        pipeline.open_bundle(folder)


def test_the_sample_is_what_the_page_speaks_of(home: Path) -> None:
    assert golden.bundle_bytes(home / "curated") == golden.bundle_bytes(GOLDEN)
