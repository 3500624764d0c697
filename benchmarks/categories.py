"""What share of the entries of a home has the category that readers gave the same errors.

    python -m benchmarks.categories --home FOLDER [--home FOLDER]

tests/quality/categories_judged.jsonl has the word of readers who saw titles, the definitions of docs/classes.md and no
rule: `id` is the digest of an error's class and signature, `best` what each reader gave it, `also` what each took for
as right or nearly. Rules were written by those of the split `read`, of which nearly all had one reader and most were
drawn where rules say least; `held` was drawn at random, from all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb

ROWS = Path(__file__).parents[1] / "tests" / "quality" / "categories_judged.jsonl"


def digest(kind: str | None, signature: str) -> str:
    """Which error a judged row speaks of."""
    return hashlib.sha256(f"{kind or ''}\t{signature}".encode()).hexdigest()[:16]


def given(homes: list[Path]) -> dict[str, str]:
    """The category of each entry of the homes, by the digest of its error."""
    found = {}
    for home in homes:
        with duckdb.connect(str(home / "curated" / "errmine.duckdb"), read_only=True) as database:
            rows = database.execute(
                "SELECT c.exception_type, c.signature, e.category FROM clusters c JOIN entries e USING (cluster_id)"
            )
            found |= {digest(kind, signature): category for kind, signature, category in rows.fetchall()}
    return found


def table(categories: dict[str, str]) -> Iterator[str]:
    """The lines of the table."""
    yield "| split | judged, of these in the homes | taken by every reader | by none | refused most: ours, theirs |"
    yield "|---|--:|--:|--:|---|"
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    for split in sorted({row["split"] for row in rows}):
        mine = [row for row in rows if row["split"] == split]
        here = [(categories[row["id"]], row) for row in mine if row["id"] in categories]
        taken = [
            [ours in (best, *also) for best, also in zip(row["best"], row["also"], strict=True)] for ours, row in here
        ]
        refused = Counter((ours, row["best"][0]) for (ours, row), by in zip(here, taken, strict=True) if not any(by))
        most = ", ".join(f"{ours} {theirs} {count}" for (ours, theirs), count in refused.most_common(6))
        yield f"| {split} | {len(mine)}, {len(here)} | {sum(map(all, taken))} | {refused.total()} | {most} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", type=Path, action="append", required=True, help="a built home; may be given again")
    print("\n".join(table(given(parser.parse_args().home))))


if __name__ == "__main__":
    main()
