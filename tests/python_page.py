"""docs/python.md: under every example what it prints on the sample.

`python -m tests.python_page` writes it anew (`make golden` does); a test compares the whole page.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path

from tests import golden

PAGE = golden.ROOT / "docs" / "python.md"
_EXAMPLE = re.compile(r"```python\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)


def filled(text: str, home: Path) -> str:
    """`text` with what its examples print in `home`, one after the other as in one session."""
    names: dict[str, object] = {}

    def shown(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.chdir(home):
            exec(compile(found[1], PAGE.name, "exec"), names)
        return f"```python\n{found[1]}```\n\n```text\n{printed.getvalue()}```\n"

    return _EXAMPLE.sub(shown, text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        golden.make(Path(scratch))
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Path(scratch)), encoding="utf-8")
    print(PAGE)
