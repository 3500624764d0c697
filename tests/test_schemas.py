"""schemas/ is what the records say, and what is published obeys it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from pipeline import export
from pipeline.export.content import OF_BUNDLE
from pipeline.export.schemas import schemas
from tests import entry_factory as make

FOLDER = Path(__file__).parents[1] / "schemas"


def test_the_committed_schemas_are_the_generated_ones() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert committed == schemas(), "run `python -m pipeline.export.schemas` and commit schemas/"


@pytest.mark.parametrize("name", sorted(schemas()))
def test_every_schema_is_valid_and_has_its_id(name: str) -> None:
    schema = json.loads(schemas()[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"].endswith(f"/{name}")


def test_a_written_bundle_obeys_its_schemas(tmp_path: Path) -> None:
    export.write(tmp_path / "c", [make.entry()], facts=export.Facts(clusters=(make.CLUSTER,)))
    for file, schema in (("manifest", "manifest-1.0"), ("index", "index-1.0"), ("registry", "registry-1.0")):
        published = json.loads((tmp_path / "c" / f"{file}.json").read_text())
        jsonschema.validate(published, json.loads(schemas()[f"{schema}.json"]))
    line = json.loads((tmp_path / "c" / "entries.jsonl").read_text())
    jsonschema.validate(line, json.loads(schemas()["entry-1.0.json"]))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**line, "invented": 1}, json.loads(schemas()["entry-1.0.json"]))


def test_a_bundle_and_a_wheel_carry_the_schemas_as_they_were_committed(tmp_path: Path) -> None:
    export.write(tmp_path / "c", [make.entry()])
    carried = {path.name: path.read_bytes() for path in (tmp_path / "c" / "schemas").iterdir()}
    assert set(carried) == {f"{name}.json" for name in OF_BUNDLE}
    assert carried == {name: (FOLDER / name).read_bytes() for name in carried}
    settings = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["schemas"] == "pipeline/data/schemas"
