"""How many published statements are so: drawn from built homes, judged by people who read the whole thread.

    python -m benchmarks.statements [--home FOLDER]...                        the verdicts, and what is still published
    python -m benchmarks.statements --home FOLDER... --draw FOLDER [--seed 6] [--per-kind cause=12,worked=16,...]

The verdicts are `tests/quality/statements.jsonl`: places and judgements, no text. A draw takes statements whose thread
nobody has judged yet, so many of each kind, at most one of a thread, and writes a folder for readers: one file a
statement with what the entry says and the whole thread, no rule. The places stand beside it, in FOLDER.drawn.jsonl.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.internal import ROOT
from benchmarks.knowledge import read_documents
from pipeline import export
from pipeline.records import Document

VERDICTS = ROOT / "tests" / "quality" / "statements.jsonl"
KINDS = ("cause", "worked", "advice", "fix", "closed", "failed")
JUDGEMENTS = ("right", "partly", "vague", "wrong")
#: Rules of what a tracker or the API says, not a person.
_BY_TRACKER = ("fix.closed_by_", "fix.release_notes")
#: What the parts of an entry are called in `statements.jsonl`.
_PART = {"cause": "cause", "failed": "dead_end"}


@dataclass(frozen=True)
class Statement:
    """One thing that an entry says, with the evidence that it rests on, the telling one first."""

    kind: str  # one of KINDS
    entry: dict[str, Any]
    said: dict[str, Any]  # what readers of the entry see
    evidence: tuple[dict[str, Any], ...]

    @property
    def place(self) -> tuple[str, int, int]:
        """(document, start, end) of its first quote, which is how verdicts name it."""
        first = self.evidence[0]
        return first["document_id"], first["start"], first["end"]

    @property
    def rules(self) -> list[str]:
        """The rules that found its quotes."""
        return sorted({one["rule"] for one in self.evidence})


def published(home: Path) -> Iterator[Statement]:
    """What the bundle of a home says by people, programs or trackers: causes, remedies, dead ends, cases."""
    for entry in export.read_entries(home / "curated"):
        yield from _of_entry(entry.model_dump(mode="json"))


def _of_entry(entry: dict[str, Any]) -> Iterator[Statement]:
    known = {one["evidence_id"]: one for one in entry["evidence"]}

    def statement(part: str, said: dict[str, Any], ids: Sequence[str]) -> Iterator[Statement]:
        words = said.get("action") or said.get("text") or said.get("root_cause")
        shown = [known[one] for one in ids if one in known]  # of much evidence an entry shows a part
        cited = sorted(shown, key=lambda one: (one["quote"] != words, one["role"] == "worked"))
        if cited:
            yield Statement(_kind(part, said, cited), entry, said, tuple(cited))

    if entry["root_cause_type"] == "quoted":
        names = ("root_cause", "root_cause_zh", "cause_type", "verification_tier")
        said = {name: entry[name] for name in names}
        yield from statement("cause", said, entry["root_cause_evidence"])
    for part, name in (("workaround", "workarounds"), ("dead_end", "dead_ends")):
        for one in entry[name]:
            yield from statement(part, one, one["evidence"])
    for case in entry["cases"]:
        for one in case["statements"]:
            told = one | {"said of": f"{case['repo']}, {case['frame'] or 'this thread'}"}
            yield from statement(one["kind"], told, one["evidence"])


def _kind(part: str, said: dict[str, Any], cited: Sequence[dict[str, Any]]) -> str:
    if part != "workaround":
        return "cause" if part == "cause" else "failed"
    if all(one["rule"].startswith(_BY_TRACKER) for one in cited):
        return "closed"
    if any(one["role"] == "fix" for one in cited):
        return "fix"
    return "worked" if said["worked"] else "advice"


def verdicts() -> list[dict[str, Any]]:
    """The judgements that are kept."""
    return [json.loads(line) for line in VERDICTS.read_text("utf-8").splitlines()]


def draw(homes: Sequence[Path], wanted: dict[str, int], seed: int) -> list[Statement]:
    """So many statements of each kind from all homes together, none of a thread that was judged, one a thread."""
    judged = {row["document"] for row in verdicts()}
    pool: dict[str, list[Statement]] = defaultdict(list)
    for home in homes:
        for statement in published(home):
            # a page (saved without an address, or of OpenXLA's docs) is in no archive that a reader could be shown
            if statement.place[0] not in judged and "#" in statement.place[0]:
                pool[statement.kind].append(statement)
    chosen: list[Statement] = []
    taken: set[str] = set()
    for kind, count in wanted.items():
        found = sorted(pool[kind], key=lambda s: (s.entry["id"], s.place))
        random.Random(f"{seed}{kind}").shuffle(found)
        left = count
        for statement in found:
            if left and statement.place[0] not in taken:
                taken.add(statement.place[0])
                chosen.append(statement)
                left -= 1
    random.Random(seed).shuffle(chosen)
    return chosen


#: Parts of a statement that readers of the entry do not see as words.
_HIDDEN = ("evidence", "sources", "action_lang", "text_lang", "kind", "success_rate", "fail_rate")
#: A thread's text is cut for readers behind so many characters.
_MOST = 60_000
_WIDEST = 600  # characters of one line


def write(chosen: Sequence[Statement], folder: Path) -> None:
    """The folder for readers, and the places that they do not see (`drawn.jsonl` beside it)."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {d.document_id: d for d in read_documents({s.place[0] for s in chosen})}
    with (folder.parent / f"{folder.name}.drawn.jsonl").open("w", encoding="utf-8") as out:
        for number, statement in enumerate(chosen, 1):
            document_id, start, end = statement.place
            part = _PART.get(statement.kind, "workaround")
            row = {"item": number, "document": document_id, "kind": part, "start": start, "end": end}
            row |= {"rules": statement.rules, "drawn_as": statement.kind, "entry": statement.entry["id"]}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            (folder / f"{number:03}.md").write_text(_shown(statement, texts[document_id]), "utf-8")


def _shown(statement: Statement, document: Document) -> str:
    entry = statement.entry
    met = [one for one in entry["evidence"] if one["role"] == "occurrence"]
    own = [one["quote"] for one in met if one["document_id"] == document.document_id]
    lines = [f"# The entry: {entry['id']}", f"error: {entry['exception_type'] or ''} {entry['signature']}".strip()]
    lines += [f"printed in this thread: {quote}" for quote in own[:3] or [one["quote"] for one in met[:1]]]
    lines += [f"threads with this error: {len({one['document_id'] for one in met})}"]
    lines += ["", f"# The statement ({_PART.get(statement.kind, 'workaround')})"]
    lines += [f"{name}: {value}" for name, value in statement.said.items() if name not in _HIDDEN and value is not None]
    for one in statement.evidence:
        who = "the program's own hint" if one["rule"].startswith("hint.") else one["author_role"]
        lines.append(f"quoted ({who}, {one['url']}): {one['quote']}")
    return "\n".join([*lines, "", *_thread(document)]) + "\n"


def _thread(document: Document) -> Iterator[str]:
    """The whole thread with who wrote what, people by numbers."""
    yield f"# The thread: {document.url}"
    yield f"state: {document.state} {document.state_reason or ''}"
    if document.fixed_in:
        yield f"its tracker's field of fix versions: {', '.join(document.fixed_in)}"
    yield from (f"link: {link.kind} {link.target} {link.title or ''}" for link in document.links if link.start is None)
    left, people = _MOST, dict[str, int]()
    for number, post in enumerate(document.posts):
        text = document.text[post.start : post.end][:left]
        left -= len(text)
        who = f"person {people.setdefault(post.author_hash, len(people))}" if post.author_hash else "person ?"
        said = [f"post {number}", post.kind, post.author_role or "", who, "bot" if post.is_bot else ""]
        yield f"\n--- {', '.join(filter(None, said))}, {post.posted_at or ''!s:.10}"
        yield from (line.rstrip()[:_WIDEST] for line in text.split("\n"))


def report(homes: Sequence[Path]) -> None:
    """Print the verdicts by draw and kind, and of those what the homes still publish."""
    still = {(s.place[0], s.place[1]) for home in homes for s in published(home)}
    table: dict[tuple[Any, str], Counter[str]] = defaultdict(Counter)
    kept: Counter[str] = Counter()
    for row in verdicts():
        table[row["draw"], "all"][row["verdict"]] += 1
        table[row["draw"], row["kind"]][row["verdict"]] += 1
        kept[row["verdict"]] += (row["document"], row["start"]) in still
    print("| draw | kind | right | partly | vague | wrong |\n|---|---|---|---|---|---|")
    for (number, kind), count in sorted(table.items(), key=str):
        print(f"| {number} | {kind} | " + " | ".join(str(count[one]) for one in JUDGEMENTS) + " |")
    if homes:
        print("| still published | | " + " | ".join(str(kept[one]) for one in JUDGEMENTS) + " |")


def main() -> None:
    """Print the verdicts, or draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, action="append", default=[])
    parser.add_argument("--draw", type=Path, help="folder to write for readers")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--per-kind", default="cause=12,worked=16,advice=6,fix=10,closed=6,failed=10")
    options = parser.parse_args()
    if options.draw is None:
        report(options.home)
        return
    wanted = {kind: int(count) for kind, _, count in (one.partition("=") for one in options.per_kind.split(","))}
    if unknown := wanted.keys() - set(KINDS):
        parser.error(f"no such kind: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    chosen = draw(options.home, wanted, options.seed)
    write(chosen, options.draw)
    print(Counter(s.kind for s in chosen))


if __name__ == "__main__":
    main()
