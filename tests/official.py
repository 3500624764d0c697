"""`python -m tests.official PAGES...`: the sentences of official pages and which of them have no Chinese yet.

PAGES are Markdown files of OpenXLA's error pages. `--keep` writes the keys of their sentences (no words) to
`memory/openxla_sentences.json` of `pipeline.translate`: those of PAGES and, with `--old`, of earlier revisions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from pipeline.providers.openxla import markdown
from pipeline.text.sentences import sentences
from pipeline.translate import official

#: The revision of openxla/xla whose pages were translated; the catalogue of codes is of the same.
REVISION = "183fa00cb5d82384463a1a7aed1ab06bc9026974"
KEPT = Path(__file__).parents[1] / "pipeline" / "translate" / "memory" / "openxla_sentences.json"


def of_page(body: str) -> Iterator[str]:
    """Every sentence of a page outside its code."""
    for block in markdown.blocks(body, lambda link: link).blocks:
        if block.kind != "code":
            for span in sentences(block.text):
                if official.is_prose(block.text[span.start : span.end]):
                    yield block.text[span.start : span.end]


def code_of(path: Path) -> str:
    """The code of a page by its path: "error_1001.md", "error_1001/02_2026-01-14_b624d75d15.md"."""
    return next(f"E{part[6:10]}" for part in reversed(path.parts) if part.startswith("error_"))


def keys(paths: list[Path]) -> dict[str, list[str]]:
    """The keys of the pages' sentences by code, each once, in the order of the page."""
    found: dict[str, dict[str, None]] = {}
    for path in paths:
        for sentence in of_page(path.read_text("utf-8")):
            found.setdefault(code_of(path), {}).setdefault(official.key(sentence))
    return {code: list(found[code]) for code in sorted(found)}


def kept(now: list[Path], old: list[Path]) -> str:
    """The file of keys, a page a line."""
    parts = {"pages": keys(now), "earlier": keys(old)}
    lines = [
        f'"{name}": {{\n' + ",\n".join(f"{json.dumps(code)}: {json.dumps(row)}" for code, row in rows.items()) + "\n}"
        for name, rows in parts.items()
    ]
    source = json.dumps(f"openxla/xla {REVISION[:12]} docs/errors/*.md: sha256 of each sentence, 16 digits")
    return f'{{\n"source": {source},\n' + ",\n".join(lines) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--old", nargs="*", type=Path, default=[])
    parser.add_argument("--keep", action="store_true")
    said = parser.parse_args()
    for path in (*said.pages, *said.old):
        for sentence in of_page(path.read_text("utf-8")):
            if official.key(sentence) not in official.memory():
                sys.stdout.write(f"{code_of(path)}\t{official.key(sentence)}\t{sentence}\n")
    if said.keep:
        KEPT.write_text(kept(sorted(said.pages), sorted(said.old)), encoding="utf-8")


if __name__ == "__main__":
    main()
