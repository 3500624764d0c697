"""What passed before: lines of entries that an export need not ask, and leaves that it need not make again.

A line is known by its digest, under the digest of all else that decides what is made of it: the code and the tables of
the gate and of the export, the packs, the libraries. Where any of that is another, nothing is known. The file holds no
words. A file of a leaf is known by its sha256: to make it is what this saves, not to read it, so that no damage is
published again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.records import kept, leaves
from pipeline.records.bundle import Answers, Coverage, FileRecord, known_by

# What the manifest counts, leaf by leaf: what is counted of a leaf that did not change is not counted again.

#: An entry as its JSON has it: what every file of a bundle is made from.
Fields = Mapping[str, Any]
#: Chinese field of an entry -> the English one that it says.
_OF_ENTRY = {"signature_zh": "signature", "root_cause_zh": "root_cause"}
_LISTS = ("workarounds_zh", "dead_ends_zh")
_COVERED = (*_OF_ENTRY, *_LISTS, "cases_zh")
#: What is counted of every bundle, also where there is none of it.
_ALWAYS = (
    "entries", "answered", "documented", "known", "evidence", "occurrences", "workarounds", "dead_ends",
    "case_statements",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts by what is counted, which can be added up, and the documents that are told once however often quoted."""

    counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    documents: set[str] = field(default_factory=set)  # of each 64 bits of its id

    @classmethod
    def of(cls, entries: Iterable[Fields]) -> Tally:
        """What is counted of some entries."""
        made = cls()
        for entry in entries:
            made.counts.update(_counted(entry))
            made.documents.update(leaves.place_of(piece["document_id"]) for piece in entry["evidence"])
        return made

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Tally:
        """What `as_json` gave."""
        return cls(Counter({tuple(key): count for *key, count in told["counts"]}), set(told["documents"]))

    def as_json(self) -> dict[str, Any]:
        """As it is kept."""
        counts = [[*key, count] for key, count in sorted(self.counts.items())]
        return {"counts": counts, "documents": sorted(self.documents)}

    def add(self, other: Tally) -> None:
        """Nothing; this one counts the entries of `other` as well."""
        self.counts.update(other.counts)
        self.documents.update(other.documents)

    def of_manifest(self) -> dict[str, int]:
        """The counts of the manifest."""
        named = {key[1]: count for key, count in self.counts.items() if key[0] == "count"}
        return {**dict.fromkeys(_ALWAYS, 0), **named, "evidence_documents": len(self.documents)}

    def coverage(self) -> list[Coverage]:
        """How much of each Chinese field there is."""
        return [
            Coverage(
                field=name,
                wanted=self.counts["wanted", name],
                present=self.counts["present", name],
                by_status={key[2]: count for key, count in sorted(self.counts.items()) if key[:2] == ("status", name)},
            )
            for name in _COVERED
        ]

    def answers(self) -> list[Answers]:
        """One row for each domain, by its name."""
        told: dict[str, dict[str, int]] = {}
        for key, count in self.counts.items():
            if key[0] == "answers":
                told.setdefault(key[2], {"answered": 0})[key[1]] = count
        return [Answers.model_validate({"domain": name, **told[name]}) for name in sorted(told)]


def _counted(entry: Fields) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    known = known_by(entry)
    named = {
        **known,
        "evidence": len(entry["evidence"]) + entry["evidence_omitted"],
        "occurrences": entry["occurrence_count"],
        "workarounds": len(entry["workarounds"]),
        "dead_ends": len(entry["dead_ends"]),
        "case_statements": sum(len(case["statements"]) for case in entry["cases"]),
        f"tier.{entry['verification_tier']}": 1,
    }
    found.update({("count", name): count for name, count in named.items() if count})
    found.update({("answers", name, entry["domain"]): int(count) for name, count in known.items() if count})
    for name, value in _chinese(entry):
        found["wanted", name] += 1
        if value is not None:
            found["present", name] += 1
    for key, told in entry["translations"].items():
        if told["status"] != "not_applicable":
            found["status", key.split("[", 1)[0], told["status"]] += 1
    return found


def _chinese(entry: Fields) -> Iterator[tuple[str, str | None]]:
    """(field, its value) of all that could be Chinese: the English side exists."""
    for chinese, english in _OF_ENTRY.items():
        if entry[english] or entry[chinese]:
            yield chinese, entry[chinese]
    for name in _LISTS:
        yield from ((name, value) for value in entry[name])
    for case in entry["cases"]:
        yield from (("cases_zh", one["text_zh"]) for one in case["statements"])


# What was made.


def digest(line: str) -> str:
    """What a line, without its end, is known by; a database can say it of its rows."""
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class MadeLeaf:
    """A leaf that was made: of what, its files, and what the manifest counts of it."""

    told: str  # a digest of all that it was made of
    count: int  # entries
    files: tuple[FileRecord, ...]
    tally: Tally

    def is_whole(self, folder: Path) -> bool:
        """Whether the bundle in `folder` has every file of the leaf as it was made; a link to such a file is none."""
        try:
            for file in self.files:
                if (folder / file.path).is_symlink():
                    return False
                kept.checked(folder / file.path, file.sha256)
        except kept.Damaged:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Passed:
    """The lines that passed the gate, and the leaves that were made of them."""

    made_by: str = ""  # digest of all that decides besides the line; "": nothing is kept
    lines: frozenset[str] = frozenset()  # digests
    leaves: Mapping[str, MadeLeaf] = field(default_factory=dict)  # by prefix

    @classmethod
    def read(cls, path: Path, *, made_by: str) -> Passed:
        """What the file at `path` says of lines that were judged by what `made_by` stands for; nothing if by others."""
        nothing = cls(made_by)
        try:
            told = kept.unsealed_json(path)
            if told.get("made_by") != made_by:
                return nothing
            made = {prefix: _leaf(row) for prefix, row in told["leaves"].items()}
            return cls(made_by, frozenset(told["lines"]), made)
        except (kept.Damaged, KeyError, TypeError, ValueError):  # nothing is lost but time
            return nothing

    def write(self, path: Path) -> None:
        """Nothing; `path` holds it then.

        Raises:
            OSError: the disk refuses.
        """
        told = {prefix: _row(leaf) for prefix, leaf in self.leaves.items()}
        body = {"made_by": self.made_by, "lines": sorted(self.lines), "leaves": told}
        kept.write(path, kept.sealed_json(body))

    def only(self, lines: Iterable[str]) -> Passed:
        """What is known of lines with these digests, which all have passed."""
        return Passed(self.made_by, frozenset(lines), self.leaves)


def kept_files(path: Path) -> Iterable[kept.KeptFile]:
    """The file, if there is one, with what a look at it says."""
    if not path.exists():
        return
    try:
        kept.unsealed_json(path)
        verdict = kept.Verdict.OK
    except kept.Damaged as error:
        verdict = error.verdict
    yield kept.KeptFile(path, kept.KeptKind.PASSED, verdict, "Nothing: the next export asks all entries again.")


def _row(leaf: MadeLeaf) -> dict[str, Any]:
    files = [[one.path, one.sha256, one.bytes] for one in leaf.files]
    return {"told": leaf.told, "count": leaf.count, "files": files, **leaf.tally.as_json()}


def _leaf(row: Mapping[str, Any]) -> MadeLeaf:
    files = tuple(
        FileRecord.model_construct(path=path, sha256=sha256, bytes=size) for path, sha256, size in row["files"]
    )
    return MadeLeaf(row["told"], row["count"], files, Tally.read(row))
