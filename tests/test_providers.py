"""The rows of providers: each folder has what its row says, and a provider of one's own is one folder and one row."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import providers
from pipeline.providers import PROVIDERS, Provider, documents
from pipeline.providers.catalogue import pages
from tests.golden import ROOT

#: A provider as somebody else would write it: four small modules. A folder plays the network.
POND = {
    "__init__.py": '''"""Letters from a pond."""

from pydantic import Field

from pipeline.providers.provider import Provider, Section, Source


class PondSource(Section):
    """`[sources.pond]`: where the letters lie."""

    shore: str = Field(description="A folder.")


PROVIDER = Provider(
    name="pond",
    package=__name__,
    forms=("pond-letter",),
    source=Source(ingest="pond", key="pond", section=PondSource, is_list=False, description="Letters."),
)
''',
    "recognise.py": '''"""Which JSON is a letter."""

from pipeline.providers.provider import Place, Rules


def letter(value, sha256):
    """A letter has a pond and a text."""
    if not {"pond", "letter"} <= value.keys():
        return None
    return (Place("pond-letter", f"pond/{value['pond']}", "main", "", None),)


RULES = Rules(json=(letter,))
''',
    "read.py": '''"""The document of a letter."""

import json

from pipeline.providers.assemble import page_document
from pipeline.records import DocumentKind, Post, PostKind


def read(pages):
    """The letter's text."""
    text = json.loads(pages[0].body)["letter"]
    body = Post(PostKind.BODY, 0, len(text), None, None, None, None, False, 0)
    url = "https://pond.example"
    return page_document(pages[0], kind=DocumentKind.DOC, url=url, title="a letter", text=text, posts=(body,))


READERS = {"pond-letter": read}
''',
    "fetch.py": '''"""Letters from the shore into raw."""

import hashlib
from pathlib import Path

from pipeline.providers.provider import kept
from pipeline.records import RawPage


def bring(job):
    """Every letter on the shores."""
    files = [path for section in job.sections for path in sorted(Path(section.shore).glob("*.json"))]
    return kept("pond", job.raw, (_page(path.stem, path.read_bytes()) for path in files), [])


def _page(name, body):
    sha256 = hashlib.sha256(body).hexdigest()
    return RawPage(sha256, "pond", None, "pond-letter", f"pond/{name}", "main", "", None, None, body)
''',
}
LETTER = (
    '{"pond": "7", "letter": "Traceback (most recent call last):\\n  File \\"frog.py\\", line 3, in <module>\\n'
    '    jump()\\nValueError: the pond is 3 metres deep"}'
)


@pytest.mark.parametrize("row", PROVIDERS, ids=lambda row: row.name)
def test_a_folder_has_what_its_row_says(row: Provider) -> None:
    assert row.package == f"{providers.__name__}.{row.name}"
    assert all(row.reader(form) for form in row.forms)
    assert row.rules()
    if row.source is not None:
        assert callable(row.fetch().bring)


def test_every_form_has_one_provider_and_every_parser_of_pages_a_form() -> None:
    assert len(documents.FORMS) == sum(len(row.forms) for row in PROVIDERS)
    assert {f"{pages.FORM_PREFIX}{name}" for name in pages.PARSERS} <= documents.FORMS.keys()


@pytest.mark.long
def test_reading_a_document_loads_nothing_that_asks_the_network() -> None:
    code = (
        "import sys; from pipeline.run.build import preloaded; assert preloaded.READ.documents;"
        "print([name for name in sys.modules if name.split('.')[0] in ('requests', 'urllib3')])"
    )
    assert python(code, tree=ROOT, folder=ROOT).strip() == "[]"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one folder and one row more."""
    root = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "pipeline", root / "pipeline")  # with what is compiled: its files keep their times
    folder = root / "pipeline" / "providers" / "pond"
    folder.mkdir()
    for name, text in POND.items():
        (folder / name).write_text(text, encoding="utf-8")
    rows = root / "pipeline" / "providers" / "__init__.py"
    text = rows.read_text(encoding="utf-8").replace("openxla, saved\n", "openxla, pond, saved\n")
    rows.write_text(
        text.replace("    saved.PROVIDER,\n", "    saved.PROVIDER,\n    pond.PROVIDER,\n"), encoding="utf-8"
    )
    return root


def python(code: str, *arguments: str, tree: Path, folder: Path) -> str:
    """What a program prints that runs in `folder` with the package of `tree`."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


#: Commands, one after the other in one process, each in the home that is named before it; a null ends what it prints.
COMMANDS = """
import json, sys
from pipeline.cli import application
for home, *words in json.loads(sys.argv[1]):
    application()([*words, "--home", home], standalone_mode=False)
    print(end="\\0", flush=True)
"""


def errmine(tree: Path, folder: Path, *commands: tuple[Path | str, ...]) -> list[str]:
    """What each command prints, whose first word is its home."""
    lines = [[str(word) for word in words] for words in commands]
    return python(COMMANDS, json.dumps(lines), tree=tree, folder=folder).split("\0")[:-1]


@pytest.mark.long
def test_a_provider_of_ones_own_is_one_folder_and_one_row(tree: Path, tmp_path: Path) -> None:
    shore, home = tmp_path / "shore", tmp_path / "other"
    shore.mkdir()
    home.mkdir()
    (shore / "a.json").write_text(LETTER, encoding="utf-8")
    (tmp_path / "errmine.toml").write_text(f'[sources.pond]\nshore = "{shore}"\n', encoding="utf-8")
    ingested, imported, _, asked = errmine(
        tree,
        tmp_path,
        (tmp_path, "ingest", "pond", "--json"),  # its command and its settings
        (home, "import", shore / "a.json", "--json"),  # its files
        (home, "build", "-q"),
        (home, "query", "SELECT signature FROM entries", "--json"),
    )
    assert '"new_pages": 1' in ingested
    assert '"new_pages": 1' in imported
    assert "the pond is <n> metres deep" in asked


@pytest.mark.long
def test_the_flows_and_the_schedules_know_it_too(tree: Path, tmp_path: Path) -> None:
    code = (
        "from pipeline import flows; from pipeline.config import Settings; from pipeline.run.ingest import sourcing;"
        "settings = Settings.model_validate({'sources': {'pond': {'shore': '.'}}});"
        "print(flows.ingest_pond.name, sourcing.configured(settings), sourcing.schedule_of('pond'))"
    )
    assert python(code, tree=tree, folder=tmp_path).strip() == "ingest-pond ('pond',) ingest"
