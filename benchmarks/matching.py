"""Whether `errmine match` is right, how fast it is, and how often it answers where it should not.

    python benchmarks/matching.py HOME [--peer PYTHON] [--misses N]

HOME is a built home. Of every cluster with two documents or more one document is held out, of the clusters of one
document one in five; a bundle is made of the rest, and the held-out blocks are matched against it. What the whole
partition says is the truth: an abstention about a known error is not right, an answer to a held-out cluster is wrong.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import unrelated

from pipeline import cluster, export, raw, store
from pipeline.ask import Answer, Matcher
from pipeline.providers import documents
from pipeline.records import Document, Template
from pipeline.store import reading

#: One in so many clusters of one document is kept out of the bundle altogether.
UNKNOWN_SHARE = 5
ENTRIES, TIMED = 50_000, 2000
#: Texts of each set that the peer is asked: a long log costs it seconds.
PEER_TEXTS = 60


@dataclass(frozen=True)
class Occurrence:
    """One event of the corpus with the cluster that the whole partition gives it."""

    document_id: str
    signature_id: str
    cluster_id: str
    start: int
    end: int


@dataclass(frozen=True)
class Split:
    """What the bundle knows, and what is asked of it."""

    known: tuple[Occurrence, ...]
    held_out: tuple[Occurrence, ...]
    unknown: tuple[Occurrence, ...]


def occurrences(database: Path) -> list[Occurrence]:
    """Every grouped event of issues and pull requests."""
    sql = """
        SELECT e.document_id, e.signature_id, a.cluster_id, e.start_offset, e.end_offset
        FROM events e JOIN assignments a USING (signature_id) JOIN documents d USING (document_id)
        WHERE e.severity = 'error' AND d.kind IN ('issue', 'pull')
        ORDER BY e.document_id, e.ordinal"""
    return [Occurrence(*row) for row in store.query(database, sql).rows]


def split(found: Sequence[Occurrence]) -> Split:
    """One document of each cluster of several held out; one cluster of one document in UNKNOWN_SHARE unknown."""
    of_cluster: dict[str, set[str]] = defaultdict(set)
    for one in found:
        of_cluster[one.cluster_id].add(one.document_id)
    chosen: dict[str, str] = {}
    for name, where in of_cluster.items():
        ranked = sorted(where, key=lambda document: _lot(name + document))
        if len(ranked) > 1 or int(_lot(name)[:8], 16) % UNKNOWN_SHARE == 0:
            chosen[name] = ranked[0]
    out = [one for one in found if chosen.get(one.cluster_id) == one.document_id]
    first = {(one.cluster_id): one for one in reversed(out)}
    return Split(
        known=tuple(one for one in found if chosen.get(one.cluster_id) != one.document_id),
        held_out=tuple(one for name, one in sorted(first.items()) if len(of_cluster[name]) > 1),
        unknown=tuple(one for name, one in sorted(first.items()) if len(of_cluster[name]) == 1),
    )


def _lot(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def texts(raw_folder: Path, wanted: set[str]) -> dict[str, Document]:
    """The wanted documents, read again from raw."""
    layer, found = raw.RawLayer(raw_folder), {}
    for refs in layer.documents():
        if refs.document_key in wanted:
            document = documents.document(layer.read(refs.refs))
            if isinstance(document, Document):
                found[document.document_id] = document
    return found


def templates(database: Path) -> dict[str, Template]:
    """Every template of the database by its id."""
    return {one.signature_id: one for one in reading.facts(database).templates}


def index_of(known: Sequence[Template]) -> dict[str, Any]:
    """What index.json of a bundle made of these templates holds, as far as matching reads it."""
    partition = cluster.partition(known)
    by_id = {one.signature_id: one for one in known}
    rows = [
        {
            "id": f"entry/{one.cluster_id[8:]}",
            "cluster_id": one.cluster_id,
            "medoid": one.medoid,
            "signature": one.text,
            "regex": one.regex,
            "exception_type": one.exception_type,
            "lowest_score": one.lowest_score,
            "codes": [],
            "templates": [
                {**_fields(by_id[member]), "gate": [list(pair) for pair in by_id[member].gate]}
                for member in one.members
            ],
        }
        for one in partition.clusters
    ]
    return {"entries": rows}


def _fields(template: Template) -> dict[str, Any]:
    return {name: getattr(template, name) for name in Template.__dataclass_fields__}


class Judge:
    """A matcher over the known part, and which clusters of the whole its own clusters stand for."""

    def __init__(self, parts: Split, known: dict[str, Template]) -> None:
        counts = Counter(one.signature_id for one in parts.known)
        whole = {one.signature_id: one.cluster_id for one in parts.known}
        kept = [_counted(known[name], count) for name, count in sorted(counts.items())]
        index = index_of(kept)
        self.entry_count = len(index["entries"])
        self.matcher = Matcher(Path(), index)
        self.matcher.prepare()
        self._stands_for = {
            row["cluster_id"]: {whole[member["signature_id"]] for member in row["templates"]}
            for row in index["entries"]
        }

    def knows(self, text: str) -> bool:
        """Whether this very message is in the bundle: the corpus holds errors of Java and Postgres too."""
        return self.matcher.match(text).rule == "equal"

    def verdict(self, text: str, truth: str | None) -> tuple[str, Answer]:
        """The word "right", "wrong" or "abstained", and the answer; with `truth` None any answer is wrong."""
        answer = self.matcher.match(text)
        if answer.cluster_id is None:
            return "abstained", answer
        return ("right" if truth in self._stands_for[answer.cluster_id] else "wrong"), answer


def _counted(template: Template, count: int) -> Template:
    return Template(**{**_fields(template), "count": count})


def asked(parts: Split, found: dict[str, Document], judge: Judge) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Name of a set, and its (text, true cluster or None) pairs."""
    held = [(_block(one, found), one.cluster_id) for one in parts.held_out if one.document_id in found]
    noise = unrelated.logs(len(held), seed=7)
    yield "held-out blocks", list(held)
    yield (
        "the same in a log of other lines",
        [(f"{log}\n{text}\n{log}", truth) for (text, truth), log in zip(held, noise, strict=True)],
    )
    yield "errors without an entry", [(_block(one, found), None) for one in parts.unknown if one.document_id in found]
    several = zip(parts.unknown, parts.held_out, strict=False)
    yield (
        "a held-out block, then an error without an entry",
        [
            (f"{_block(known, found)}\n\n{_block(new, found)}\n", known.cluster_id)
            for new, known in several
            if new.document_id in found and known.document_id in found
        ],
    )
    strange = [text for text in unrelated.OTHER_ERRORS if not judge.knows(text)]
    yield "errors of other trades", [(text, None) for text in strange]
    yield "ordinary logs", [(text, None) for text in unrelated.logs(500)]
    yield "ordinary log lines", [(text, None) for text in unrelated.log_lines(1000)]
    yield "prose", [(text, None) for text in unrelated.prose(500)]
    yield "source code", [(text, None) for text in unrelated.code(500)]


def _block(one: Occurrence, found: dict[str, Document]) -> str:
    return found[one.document_id].text[one.start : one.end]


def measure(judge: Judge, name: str, pairs: Iterable[tuple[str, str | None]], *, misses: int) -> None:
    """Print a row of the table, and on standard error the first misses."""
    counts: Counter[str] = Counter()
    seconds: list[float] = []
    for text, truth in pairs:
        began = time.perf_counter()
        verdict, answer = judge.verdict(text, truth)
        seconds.append(time.perf_counter() - began)
        counts[verdict] += 1
        if verdict != ("abstained" if truth is None else "right") and counts[verdict] <= misses:
            shown = {"verdict": verdict, "text": text[-600:], "truth": truth, **answer.as_dict()}
            print(json.dumps(shown, ensure_ascii=False, indent=1), file=sys.stderr)
    total = sum(counts.values())
    shares = " | ".join(f"{100 * counts[kind] / total:.1f} %" for kind in ("right", "wrong", "abstained"))
    print(f"| {name} | {total:,} | {shares} | {_ms(seconds, 0.5)} | {_ms(seconds, 0.95)} |", flush=True)


def _ms(seconds: Sequence[float], share: float) -> str:
    return f"{1000 * sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]:.2f}"


def many(known: dict[str, Template], asked_texts: Sequence[str]) -> None:
    """Print loading time and latency with ENTRIES entries: the corpus, filled up with templates reworded by number."""
    base = sorted(known.values(), key=lambda one: one.signature_id)
    rows = index_of(base)["entries"]
    made = list(rows)
    number = 0
    while len(made) < ENTRIES:
        row = rows[number % len(rows)]
        number += 1
        tag = f"variant{number}"
        members = [
            {
                **member,
                "signature_id": f"{member['signature_id']}-{tag}",
                "text": f"{tag} {member['text']} of {_lot(tag)[:6]} {_lot(tag)[6:12]}",
                "gate": [*member["gate"], ["op", f"made-up-{number % 997}"]],
            }
            for member in row["templates"][:2]
        ]
        made.append(
            {
                **row,
                "id": f"{row['id']}-{tag}",
                "cluster_id": f"{row['cluster_id']}-{tag}",
                "medoid": f"{row['medoid']}-{tag}",
                "templates": members,
            }
        )
    began = time.perf_counter()
    matcher = Matcher(Path(), {"entries": made})
    matcher.prepare()
    loaded = time.perf_counter() - began
    gc.freeze()  # as the command does: the collector need not walk the index again and again
    seconds = []
    for text in asked_texts[:TIMED]:
        began = time.perf_counter()
        matcher.match(text)
        seconds.append(time.perf_counter() - began)
    print(
        f"\n{len(made):,} entries: made ready in {loaded:.2f} s; a traceback costs p50 {_ms(seconds, 0.5)} ms, "
        f"p95 {_ms(seconds, 0.95)} ms, p99 {_ms(seconds, 0.99)} ms"
    )


def quotes(curated: Path, *, misses: int) -> None:
    """Print how many quotes of occurrences find the entry that shows them; a build reads as matching does."""
    matcher = Matcher.read(curated)
    matcher.prepare()
    counts: Counter[str] = Counter()
    for entry in (one.model_dump(mode="json") for one in export.read_entries(curated)):
        for piece in entry["evidence"]:
            if piece["role"] != "occurrence":
                continue
            answer = matcher.match(piece["quote"])
            verdict = {entry["id"]: "own", None: "none"}.get(answer.entry_id, "another")
            counts[verdict] += 1
            if verdict != "own" and counts[verdict] <= misses:
                shown = {"entry": entry["id"], "quote": piece["quote"], **answer.as_dict()}
                print(json.dumps(shown, ensure_ascii=False, indent=1), file=sys.stderr)
    total = sum(counts.values())
    shares = ", ".join(f"{100 * counts[kind] / total:.1f} % {kind}" for kind in ("own", "another", "none"))
    print(f"\n{total:,} quotes of occurrences, the entry each finds: {shares}")


def cold(home: Path, name: str, text: str) -> None:
    """Print what one run of the command takes, as a process of its own: the best and the middle of five."""
    root = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-c", "from pipeline.cli import main; main()", "match", "--home", str(home.resolve())]
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(command, input=text.encode(), cwd=root, capture_output=True, check=False)
        seconds.append(time.perf_counter() - began)
    print(f"`errmine match` from start to end, {name}: best {min(seconds):.2f} s, middle {sorted(seconds)[2]:.2f} s")


PEER = """
import json, sys, time
from generator.lookup import lookup
lookup("warm up")
for line in sys.stdin:
    text = json.loads(line)
    began = time.perf_counter()
    found = lookup(text)
    row = [found and found.get("id"), time.perf_counter() - began]
    print(json.dumps(row), flush=True)
"""


def peer(python: str, sets: Sequence[tuple[str, list[tuple[str, str | None]]]], *, misses: int) -> None:
    """Print how often `deadends-dev` answers each set, and how fast. Its entries are others: right is not judged."""
    print("\n| deadends-dev | texts | answered | p50 ms | p95 ms |\n|---|---|---|---|---|")
    for name, every in sets:
        pairs = every[:: max(1, len(every) // PEER_TEXTS)][:PEER_TEXTS]
        lines = "".join(json.dumps(text) + "\n" for text, _ in pairs)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [python, "-c", PEER], input=lines.encode(), cwd=folder, capture_output=True, check=True
            )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        for (text, _), row in list(zip(pairs, rows, strict=True))[:misses]:
            print(json.dumps([text[-200:], row[0]], ensure_ascii=False), file=sys.stderr)
        seconds = [row[1] for row in rows]
        hits = sum(row[0] is not None for row in rows)
        print(
            f"| {name} | {len(rows):,} | {100 * hits / len(rows):.1f} % | {_ms(seconds, 0.5)} | {_ms(seconds, 0.95)} |",
            flush=True,
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--peer", help="a Python that has deadends-dev installed")
    parser.add_argument("--misses", type=int, default=0, help="show so many misses of each set")
    parser.add_argument("--only", help="only the sets whose name holds this")
    chosen = parser.parse_args()
    database = chosen.home / "curated" / "errmine.duckdb"
    known = templates(database)
    parts = split(occurrences(database))
    found = texts(chosen.home / "raw", {one.document_id for one in (*parts.held_out, *parts.unknown)})
    judge = Judge(parts, known)
    sets = [(name, pairs) for name, pairs in asked(parts, found, judge) if not chosen.only or chosen.only in name]
    print(f"{judge.entry_count:,} entries\n")
    print("| texts | n | right | wrong | abstained | p50 ms | p95 ms |\n|---|---|---|---|---|---|---|")
    for name, pairs in sets:
        measure(judge, name, pairs, misses=chosen.misses)
    if chosen.only:
        return
    blocks = [text for text, _ in sets[0][1]]
    many(known, blocks)
    quotes(database.parent, misses=chosen.misses)
    cold(chosen.home, "an entry", blocks[0])
    cold(chosen.home, "an abstention", "BasketError: a basket was lost on the way to the till")
    if chosen.peer:
        peer(chosen.peer, sets, misses=chosen.misses)


if __name__ == "__main__":
    main()
