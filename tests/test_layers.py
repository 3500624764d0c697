"""Who may read which data: a file that two rooms read is an import that no contract sees."""

from __future__ import annotations

import re
from pathlib import Path

import pipeline

ROOT = Path(pipeline.__file__).parent
#: The one room that reads each file or folder of `pipeline/data`; what several need they ask that room for.
READERS = {
    "advice": "lexicon",
    "bots.toml": "providers",
    "catalogues": "lexicon",
    "categories.toml": "lexicon",
    "causes.toml": "translate",
    "contrasts.toml": "cluster",
    "distil": "distil",
    "docs": "providers",
    "extract": "extract",
    "facts.toml": "lexicon",
    "gate_words.toml": "lexicon",
    "glossary.tsv": "lexicon",
    "headings.toml": "lexicon",
    "meanings.toml": "translate",
    "message_shapes.toml": "translate",
    "message_words.toml": "lexicon",
    "normalise": "normalise",
    "new_pack": "run",
    "ordinary.txt": "run",
    "packs": "packs",
    "prefixes.toml": "text",
    "products.toml": "lexicon",
    "projects.toml": "providers",
    "repositories.toml": "lexicon",
    "resolutions.toml": "providers",
    "secrets": "text",
    "skip_reasons.toml": "records",
    "vocabulary.toml": "lexicon",
}
#: Data that a command hands on by its path, as it hands on the files that people name.
HANDED_ON = {"overrides.toml", "sample", "schemas"}
#: `joinpath("data", "x")`, `_PACKAGE / "data" / "x"`, `joinpath("data/x/...")`, and a file's name by itself.
_READ = re.compile(r'"data",?[ /]{1,3}"([\w.-]+)"|"data/([\w.-]+)|"([\w-]+\.(?:toml|tsv|txt))"')


def _readings() -> set[tuple[str, str]]:
    """(file or folder of data, room that reads it)."""
    pairs = set()
    for path in sorted(ROOT.rglob("*.py")):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        text = path.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if ".is_file()" not in line]  # looking for a file reads nothing
        for found in _READ.finditer("\n".join(lines)):
            name = found[1] or found[2] or found[3]
            if (ROOT / "data" / name).exists():
                pairs.add((name, room))
    return pairs


def test_every_file_of_data_has_the_one_room_that_reads_it() -> None:
    assert {name: room for name, room in _readings() if name not in HANDED_ON} == READERS
    assert sorted(pair for pair in _readings() if pair[0] not in HANDED_ON) == sorted(READERS.items())


def test_no_data_lies_unread() -> None:
    lying = {path.name for path in (ROOT / "data").iterdir() if not path.name.startswith("__")}
    assert lying - HANDED_ON == set(READERS)
