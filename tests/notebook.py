"""docs/notebook.ipynb executed on the sample by nbclient, its pictures with it: `make notebook`.

Every cell runs in a kernel of its own process; a cell that fails ends it with its traceback. What asks the bundle (tag
"asks") is also run by tests/test_api.py, which needs neither a kernel nor matplotlib.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import golden

PAGE = golden.ROOT / "docs" / "notebook.ipynb"
QUESTIONS = 5


def cells(kind: str = "code") -> Iterator[dict[str, Any]]:
    """The cells of one kind, in order."""
    return (cell for cell in json.loads(PAGE.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind)


def asking() -> Iterator[str]:
    """The code of the cells that ask the bundle."""
    return ("".join(cell["source"]) for cell in cells() if "asks" in cell["metadata"].get("tags", ()))


def executed(home: Path) -> Any:
    """The notebook with what its cells print and draw in `home`."""
    import nbclient  # of the group notebook, which `make notebook` installs
    import nbformat

    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(golden.ROOT), os.environ.get("PYTHONPATH"))))
    told = nbformat.read(PAGE, as_version=4)
    nbclient.NotebookClient(told, timeout=120, resources={"metadata": {"path": str(home)}}).execute()
    for cell in told.cells:
        cell.metadata.pop("execution", None)  # wall-clock times
    drawn = sum("image/png" in output.get("data", {}) for cell in told.cells for output in cell.get("outputs", ()))
    assert drawn == QUESTIONS, f"{drawn} plots for {QUESTIONS} questions"
    return told


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        golden.make(Path(scratch))
        text = json.dumps(executed(Path(scratch)), indent=1, ensure_ascii=False, sort_keys=True)
    PAGE.write_text(text + "\n", encoding="utf-8")
    print(PAGE, f"{PAGE.stat().st_size >> 10} kB")
