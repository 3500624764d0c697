"""What passed before: lines of entries that an export need not ask, put into words and write again.

A line is known by its digest, under the digest of all else that decides what is made of it: the code and the tables of
the gate and of the export, the packs, the libraries. Where any of that is another, nothing is known. The file holds no
words; a page that it names is taken from the last bundle, if it is to the bit what was written there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.records import kept
from pipeline.records.bundle import FileRecord

#: Bytes of a line's digest: that two different lines of a home have the same does not happen.
_DIGEST_BYTES = 16


def digest(line: str) -> str:
    """What a line, without its end, is known by."""
    return hashlib.blake2b(line.encode(), digest_size=_DIGEST_BYTES).hexdigest()


@dataclass(frozen=True, slots=True)
class Passed:
    """The lines that passed the gate, and the files that were made of them."""

    made_by: str = ""  # digest of all that decides besides the line; "": nothing is kept
    pages: Mapping[str, FileRecord | None] = field(default_factory=dict)  # of a line -> its page, if it was made
    tables: Mapping[str, FileRecord] = field(default_factory=dict)  # of all lines -> the file made of them

    @classmethod
    def read(cls, path: Path, *, made_by: str) -> Passed:
        """What the file at `path` says of lines that were judged by what `made_by` stands for; nothing if by others."""
        nothing = cls(made_by)
        try:
            told = kept.unsealed_json(path)
        except kept.Damaged:  # nothing is lost but time
            return nothing
        if told.get("made_by") != made_by:
            return nothing
        pages = {key: _record(row) if row else None for key, row in told["pages"].items()}
        return cls(made_by, pages, {key: _record(row) for key, row in told["tables"].items()})

    def write(self, path: Path) -> None:
        """Nothing; `path` holds it then.

        Raises:
            OSError: the disk refuses.
        """
        pages = {key: _row(record) if record else None for key, record in self.pages.items()}
        tables = {key: _row(record) for key, record in self.tables.items()}
        kept.write(path, kept.sealed_json({"made_by": self.made_by, "pages": pages, "tables": tables}))

    def only(self, lines: Iterable[str]) -> Passed:
        """What is known of `lines`, which all have passed."""
        keys = list(map(digest, lines))
        return Passed(self.made_by, {key: self.pages.get(key) for key in keys}, self.tables)


def kept_files(path: Path) -> Iterable[kept.KeptFile]:
    """The file, if there is one, with what a look at it says."""
    if not path.exists():
        return
    try:
        kept.unsealed_json(path)
        verdict = kept.Verdict.OK
    except kept.Damaged as error:
        verdict = error.verdict
    yield kept.KeptFile(path, "passed", verdict, "Nothing: the next export asks all entries again.")


def _row(record: FileRecord) -> list[object]:
    return [record.path, record.sha256, record.bytes]


def _record(row: list[object]) -> FileRecord:
    path, sha256, size = row
    return FileRecord.model_validate({"path": path, "sha256": sha256, "bytes": size})
