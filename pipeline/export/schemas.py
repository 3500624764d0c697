"""The published JSON Schemas, generated: `python -m pipeline.export.schemas [FOLDER]` writes them all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pipeline.records.bundle import PUBLISHED, SCHEMA_HOME

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """File name -> text of every published schema."""
    return {f"{name}.json": _schema(name, PUBLISHED[name].model_json_schema()) for name in sorted(PUBLISHED)}


def _schema(name: str, generated: dict[str, Any]) -> str:
    whole = {"$schema": _DIALECT, "$id": f"{SCHEMA_HOME}{name}.json", **generated}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def main(folder: Path) -> None:
    """Nothing; the schemas stand in `folder` then."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "schemas")
