"""What the reader learns from, for a machine with a GPU alone: python -m benchmarks.learning.material OUT.

`labelled.jsonl.gz` holds the threads of `train` and `tune` with their labels, `unlabelled.jsonl.gz` threads of other
owners than those of `test`, chosen by digest of their id. `--weights model.safetensors` packs the weights that the
teacher starts from as whole numbers, a byte each with a scale for each row, in two files.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.knowledge import SOURCES, Thread, error_digest, rows, threads
from pipeline import extract, normalise, raw, run
from pipeline.distil.claims import rules
from pipeline.distil.claims.candidates import KINDS, Seen, seen
from pipeline.distil.claims.prose import Prose
from pipeline.distil.claims.subjects import errors_of
from pipeline.lexicon import repositories
from pipeline.providers import documents
from pipeline.records import MAINTAINER_ROLES, Document, Event, PostKind, Signature, Skipped
from pipeline.text.units import Unit, units

#: What the heads of both networks say, in order: `right` about the error that errmine puts the unit to, `agreed` about
#: whatever error, `firm` the same and no guess.
HEADS = (
    *(f"{said}:{kind}" for said in ("right", "agreed", "firm") for kind in KINDS),
    *("condition", "confirmation", "refutation", "guess", "other", "back"),
)
FOLDS = 5
#: Unlabelled threads that are longer, or of fewer or more units, are left out.
_MOST_CHARACTERS, _UNITS = 30_000, (4, 600)
_SHOWN = {"spoken": 600, "printed": 200}  # characters of a unit


def main() -> None:
    """Write the material."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--weights", type=Path, help="model.safetensors of all-mpnet-base-v2")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, lines in (("labelled", labelled()), ("unlabelled", unlabelled())):
        with gzip.open(options.out / f"{name}.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)
    if options.weights:
        pack(options.weights, options.out)


def labelled() -> list[dict[str, Any]]:
    """The labelled threads, each with the fold of its owner; owners of most units first, each to the lightest fold."""
    made = [_labelled(thread) for thread in threads(("train", "tune"))[0]]
    sizes: Counter[str] = Counter()
    for line in made:
        sizes[owner(line["id"])] += len(line["rows"])
    fold_of, load = {}, [0] * FOLDS
    for name in sorted(sizes, key=lambda o: (-sizes[o], hashlib.sha256(o.encode()).hexdigest())):
        fold_of[name] = load.index(min(load))
        load[fold_of[name]] += sizes[name]
    return [line | {"fold": fold_of[owner(line["id"])]} for line in made]


def _labelled(thread: Thread) -> dict[str, Any]:
    read, signatures, line = _line(thread.document, thread.events, thread.units)
    known = {error_digest(e): s.signature_id for e, s in zip(thread.events, signatures, strict=True)}
    back = {label.of for label in thread.labels if label.kind == "refutation"}
    targets: dict[int, list[int]] = {}
    for one in read:
        told = set()
        for label in (label for label in thread.labels if label.unit == one.unit.number):
            is_other, is_guess = "o" in label.flags, "g" in label.flags
            told |= {name for name, is_so in (("guess", is_guess), ("other", is_other)) if is_so}
            if label.kind not in KINDS:
                told.add(label.kind)
            elif not is_other:
                told.add(f"agreed:{label.kind}")
                if not is_guess:
                    told.add(f"firm:{label.kind}")
                    is_about = known.get(label.error) in one.about[label.kind]
                    told |= {f"right:{label.kind}"} if is_about and one.unit.number not in back else set()
        told |= {"back"} if told and one.unit.number in back else set()
        if told:
            targets[one.unit.number] = [int(head in told) for head in HEADS]
    return line | {"targets": targets}


def unlabelled() -> Iterator[dict[str, Any]]:
    """Threads that nobody labelled, of owners that have no part in `test`."""
    known = {row["id"] for row in rows()}
    closed = {owner(row["id"]) for row in rows() if row["split"] == "test"}

    def is_wanted(document_id: str, row: Mapping[str, Any]) -> bool:
        said = sum(len(comment.get("body") or "") for comment in row.get("comments") or [])
        return document_id not in known and owner(document_id) not in closed and 0 < said < _MOST_CHARACTERS

    for document in _documents(is_wanted):
        if len(document.text) > _MOST_CHARACTERS:
            continue
        events = extract.events(document.text)
        pieces = units(document, events)
        if _UNITS[0] <= len(pieces) <= _UNITS[1]:
            line = _line(document, events, pieces)[2]
            if len(line["rows"]) > 1:
                yield line


def _line(
    document: Document, events: list[Event], pieces: list[Unit]
) -> tuple[list[Seen], list[Signature], dict[str, Any]]:
    signatures = [normalise.signature(event, document.text) for event in events]
    errors = errors_of(events, signatures)
    read = list(seen(document, pieces, errors, list(rules.findings(Prose(document, events)))))
    messages = {s.signature_id: f"{e.exception_type or ''}: {e.message[:300]}" for e, s in reversed(errors)}
    meant = [s for one in read if one.is_read for s in (*one.about["cause"], *one.about["fix"])]
    reporter = next((p.author_hash for p in document.posts if p.kind == PostKind.BODY), None)
    line = {
        "id": document.document_id,
        "title": document.title or "",
        "state": str(document.state),
        "errors": [messages[s] for s in dict.fromkeys([*meant, *messages])][:2],
        "posts": [
            [post.kind.value, _who(post.author_hash, reporter, post.author_role in MAINTAINER_ROLES), post.is_bot]
            for post in document.posts
        ],
        "units": [[unit.kind.value, unit.post, _shown(document, unit)] for unit in pieces],
        "rows": [one.unit.number for one in read if one.is_read],
        "words": [one.words for one in read],
        "traits": [sorted(one.traits) for one in read],
    }
    return read, signatures, line


def _who(author: str | None, reporter: str | None, is_maintainer: bool) -> str:
    return "reporter" if author is not None and author == reporter else "maintainer" if is_maintainer else "user"


def _shown(document: Document, unit: Unit) -> str:
    most = _SHOWN["spoken" if unit.kind in ("sentence", "item") else "printed"]
    return document.text[unit.start : min(unit.end, unit.start + most)]


def owner(document_id: str) -> str:
    """Who the repository of a document belongs to."""
    return document_id.split("/")[1].lower() if "/" in document_id else ""


def _documents(is_wanted: Callable[[str, Mapping[str, Any]], bool]) -> Iterator[Document]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "threads.jsonl"
        with file.open("w", encoding="utf-8") as out:
            for source in SOURCES:
                with gzip.open(source, "rt", encoding="utf-8") as lines:
                    for line in lines:
                        row = json.loads(line)
                        key = repositories.current_key(f"github.com/{row['repo']}#{row['number']}".lower())
                        if is_wanted(key, row):
                            out.write(line)
        run.import_files(Path(folder) / "raw", [file])
        layer = raw.RawLayer(Path(folder) / "raw")
        for refs in layer.documents():
            document = documents.document(layer.read(refs.refs))
            if not isinstance(document, Skipped):
                yield document


def pack(path: Path, out: Path) -> None:
    """Write the weights at `path` as `mpnet.0.npz` and `mpnet.1.npz` of about the same size."""
    from safetensors import safe_open

    files: list[dict[str, Any]] = [{}, {}]
    sizes = [0, 0]
    with safe_open(path, "np") as kept:
        for name in kept.keys():  # noqa: SIM118  (it is no mapping)
            weight = kept.get_tensor(name)
            if name.endswith("position_ids"):
                continue
            made = {name: weight.astype(np.float32)}
            if weight.ndim > 1 and weight.size > 2_000:
                scale = np.abs(weight).max(1) / 127 + 1e-12
                whole = np.round(weight / scale[:, None]).astype(np.int8)
                made = {f"{name}|q": whole, f"{name}|s": scale.astype(np.float32)}
            place = sizes.index(min(sizes))
            files[place] |= made
            sizes[place] += sum(value.nbytes for value in made.values())
    for place, content in enumerate(files):
        np.savez_compressed(out / f"mpnet.{place}.npz", **content)


if __name__ == "__main__":
    main()
