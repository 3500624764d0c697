"""What passed before: lines of entries that an export need not ask, and leaves that it need not make again.

A line is known by its digest, under the digest of all else that decides what is made of it: the code and the tables of
the gate and of the export, the packs, the libraries. Where any of that is another, nothing is known. The file holds no
words. A file of a leaf is known by its sha256: to make it is what this saves, not to read it, so that no damage is
published again.
"""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.records import kept, leaves
from pipeline.records.bundle import Answers, Coverage, FileRecord, known_by

# What the manifest counts, leaf by leaf: what is counted of a leaf that did not change is not counted again.

#: An entry as its JSON has it: what every file of a bundle is made from.
Fields = Mapping[str, Any]
#: What is counted: "count", "wanted" or "present" of a name, "answers" or "status" of two.
Key = tuple[str, ...]
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
class Counted:
    """What is counted of a leaf: how often each of the keys, and the documents that it quotes."""

    keys: tuple[Key, ...]  # shared by leaves that were read together
    counts: np.ndarray  # int64, one a key
    documents: np.ndarray  # uint64, of each document the first 64 bits of its digest

    @classmethod
    def of(cls, entries: Iterable[Fields]) -> Counted:
        """What is counted of some entries."""
        found: Counter[Key] = Counter()
        documents: set[int] = set()
        for entry in entries:
            found.update(_counted(entry))
            documents.update(int(leaves.place_of(piece["document_id"]), 16) for piece in entry["evidence"])
        keys = tuple(sorted(found))
        counts = np.array([found[key] for key in keys], np.int64)
        return cls(keys, counts, np.array(sorted(documents), np.uint64))


@dataclass(frozen=True, slots=True)
class Tally:
    """What the manifest counts: how often each key, and documents, which are told once however often quoted."""

    counts: Mapping[Key, int]
    document_count: int

    @classmethod
    def of(cls, parts: Sequence[Counted]) -> Tally:
        """The counts of all the leaves together."""
        keys, counts = _side_by_side(parts)
        documents = [one.documents for one in parts]
        every = np.unique(np.concatenate(documents)) if documents else ()
        total = zip(keys, counts.sum(axis=0).tolist(), strict=True)
        return cls({key: count for key, count in total if count}, len(every))

    def of_manifest(self) -> dict[str, int]:
        """The counts of the manifest."""
        named = {key[1]: count for key, count in self.counts.items() if key[0] == "count"}
        return {**dict.fromkeys(_ALWAYS, 0), **named, "evidence_documents": self.document_count}

    def coverage(self) -> list[Coverage]:
        """How much of each Chinese field there is."""
        return [
            Coverage(
                field=name,
                wanted=self.counts.get(("wanted", name), 0),
                present=self.counts.get(("present", name), 0),
                by_status={key[2]: count for key, count in sorted(self.counts.items()) if key[:2] == ("status", name)},
            )
            for name in _COVERED
        ]

    def answers(self) -> list[Answers]:
        """One row for each domain, by its name."""
        told: dict[str, dict[str, int]] = {}
        for key, count in sorted(self.counts.items()):
            if key[0] == "answers":
                told.setdefault(key[2], {"answered": 0})[key[1]] = count
        return [Answers.model_validate({"domain": name, **told[name]}) for name in sorted(told)]


def _side_by_side(parts: Sequence[Counted]) -> tuple[list[Key], np.ndarray]:
    """All keys in order, and how often each stands in each part: a row a part, a column a key."""
    shared = {id(one.keys): one.keys for one in parts}
    keys = sorted({key for own in shared.values() for key in own})
    place = {key: number for number, key in enumerate(keys)}
    columns = {name: [place[key] for key in own] for name, own in shared.items()}
    made = np.zeros((len(parts), len(keys)), np.int64)
    for row, one in zip(made, parts, strict=True):
        row[columns[id(one.keys)]] = one.counts
    return keys, made


def _counted(entry: Fields) -> Counter[Key]:
    found: Counter[Key] = Counter()
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

#: Of a digest: see `digest`.
_DIGEST_BYTES = 32


def digest(line: str) -> str:
    """What a line, without its end, is known by; a database can say it of its rows."""
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class MadeLeaf:
    """A leaf that was made: of what, its files, and what the manifest counts of it."""

    told: str  # a digest of all that it was made of
    count: int  # entries
    files: tuple[FileRecord, ...]
    counted: Counted


@dataclass(frozen=True, slots=True)
class Passed:
    """The lines that passed the gate, and the leaves that were made of them."""

    made_by: str = ""  # digest of all that decides besides the line; "": nothing is kept
    lines: pa.Array = field(default_factory=partial(pa.array, [], pa.string()))  # digests
    leaves: Mapping[str, MadeLeaf] = field(default_factory=dict)  # by prefix
    made_of: str = ""  # what made the rows that the leaves are of: see `store.Told`

    @classmethod
    def read(cls, path: Path, *, made_by: str) -> Passed:
        """What the file at `path` says of lines that were judged by what `made_by` stands for; nothing if by others."""
        nothing = cls(made_by)
        try:
            told = kept.unsealed_json(path)
            if told.get("made_by") != made_by:
                return nothing
            lines, made_of = _hexadecimal(b64decode(told["lines"])), str(told["made_of"])
            return cls(made_by, lines, dict(_leaves(told)), made_of)
        except (kept.Damaged, KeyError, TypeError, ValueError, zlib.error):  # nothing is lost but time
            return nothing

    def write(self, path: Path) -> None:
        """Nothing; `path` holds it then.

        Raises:
            OSError: the disk refuses.
        """
        made = sorted(self.leaves.items())
        keys, counts = _side_by_side([leaf.counted for _, leaf in made])
        documents = [leaf.counted.documents for _, leaf in made]
        body = {
            "made_by": self.made_by,
            "made_of": self.made_of,
            "lines": _text(bytes.fromhex("".join(self.lines.to_pylist()))),
            "leaves": [[prefix, *_row(leaf)] for prefix, leaf in made],
            "keys": keys,
            "counts": _text(zlib.compress(counts.astype("<i8").tobytes(), 1)),  # of most keys a leaf has none
            "documents": _text(b"".join(one.astype("<u8").tobytes() for one in documents)),
            "document_counts": list(map(len, documents)),
        }
        kept.write(path, kept.sealed_json(body))

    def only(self, lines: pa.Array) -> Passed:
        """What is known of lines with these digests, which all have passed."""
        return replace(self, lines=lines)


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


def _text(body: bytes) -> str:
    return b64encode(body).decode("ascii")


def _hexadecimal(body: bytes) -> pa.Array:
    """Digests of 32 bytes as `digest` has them."""
    count, rest = divmod(len(body), _DIGEST_BYTES)
    if rest:
        raise ValueError("these are no digests")
    places = np.arange(0, 2 * len(body) + 1, 2 * _DIGEST_BYTES, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(places), pa.py_buffer(body.hex().encode("ascii")))


def _row(leaf: MadeLeaf) -> list[Any]:
    return [leaf.told, leaf.count, [[one.path, one.sha256, one.bytes] for one in leaf.files]]


def _leaves(told: Mapping[str, Any]) -> Iterator[tuple[str, MadeLeaf]]:
    """Prefix and leaf, of each that is told."""
    keys = tuple(map(tuple, told["keys"]))
    counts = np.frombuffer(zlib.decompress(b64decode(told["counts"])), "<i8").reshape(len(told["leaves"]), len(keys))
    documents = np.frombuffer(b64decode(told["documents"]), "<u8")
    ends = np.cumsum([0, *told["document_counts"]]).tolist()
    if ends[-1] != len(documents):
        raise ValueError("these are not all documents")
    for row, (start, end), (prefix, decided, count, own) in zip(counts, pairwise(ends), told["leaves"], strict=True):
        files = tuple(FileRecord.model_construct(path=path, sha256=sha256, bytes=size) for path, sha256, size in own)
        yield prefix, MadeLeaf(decided, count, files, Counted(keys, row, documents[start:end]))
