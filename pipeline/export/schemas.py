"""The published JSON Schemas, generated: `python -m pipeline.export.schemas [FOLDER]` writes them all."""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pipeline.records.bundle import PUBLISHED, SCHEMA_HOME
from pipeline.records.entry import SCHEMA_VERSION

#: Those of the files of a bundle, which has them in `schemas/`.
OF_BUNDLE = (f"entry-{SCHEMA_VERSION}", "manifest-1.0", "index-1.0", "registry-1.0", "delta-1.0")
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """File name -> text of every published schema."""
    return {f"{name}.json": _schema(name, PUBLISHED[name].model_json_schema()) for name in sorted(PUBLISHED)}


def _schema(name: str, generated: dict[str, Any]) -> str:
    whole = {"$schema": _DIALECT, "$id": f"{SCHEMA_HOME}{name}.json", **generated}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


@cache
def committed() -> dict[str, bytes]:
    """File name -> bytes of every published schema as it was committed: no release of pydantic has a say in them."""
    package = Path(str(files("pipeline")))
    travelling = package / "data" / "schemas"  # in a wheel; a checkout has them beside the package
    folder = travelling if travelling.is_dir() else package.parent / "schemas"
    return {f"{name}.json": (folder / f"{name}.json").read_bytes() for name in sorted(PUBLISHED)}


def of_bundle() -> dict[str, bytes]:
    """Path in a bundle -> bytes of the schemas that it has."""
    return {f"schemas/{name}.json": committed()[f"{name}.json"] for name in sorted(OF_BUNDLE)}


def main(folder: Path) -> None:
    """Nothing; the schemas stand in `folder` then."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "schemas")
