"""Adds to `memory/written_zh_Hans.tsv` what people translated: `python -m pipeline.translate.compile_memory ZH.PO...`.

The files are of `errmine translate export`. Every line passes the gates or is named with the reason; one that is marked
fuzzy takes its row out of the memory. Neither the English nor what is in its places is kept. Needs polib (extra `dev`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pipeline.records.errors import PipelineError
from pipeline.translate import exchange
from pipeline.translate.remembered import PLACE, SIGNATURE, STATEMENT, key, template

TSV = Path(__file__).parent / "memory" / "written_zh_Hans.tsv"


def rows(path: Path = TSV) -> dict[str, str]:
    """The rows of a memory: Chinese by key."""
    return dict(line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines())


def learnt(known: Mapping[str, str], lines: Iterable[exchange.Line]) -> tuple[dict[str, str], list[exchange.Line]]:
    """(the rows with what the lines say, the lines that were refused with the reason)."""
    found, refused = dict(known), []
    for line in lines:
        row = _row(line)
        if line.reason == exchange.FUZZY and row:
            found.pop(row[0], None)
        elif line.reason or row is None:
            refused.append(line if line.reason else replace(line, reason=_NO_ROW))
        else:
            found[row[0]] = row[1]
    return found, refused


_NO_ROW = "it has other values than the English"


def _row(line: exchange.Line) -> tuple[str, str] | None:
    """(key, Chinese with places); of a statement that stands there with its values, they become places."""
    if line.context == SIGNATURE:
        return key(SIGNATURE, line.text), " ".join(line.chinese.split())
    english, chinese = template(line.text), template(line.chinese)
    if english is None or chinese is None:
        return None
    left = list(english.values)
    order: list[int] = []
    for value in chinese.values:
        if value not in left:
            return None
        order.append(left.index(value) + 1)
        left[order[-1] - 1] = ""
    places = PLACE.sub(lambda place: f"{{{order[int(place[1]) - 1]}}}", chinese.text)
    return key(STATEMENT, english.text), places


def written(found: Mapping[str, str]) -> str:
    """The file of the rows; equal rows give equal bytes."""
    return "".join(f"{name}\t{chinese}\n" for name, chinese in sorted(found.items()))


def main(paths: list[str]) -> int:
    """Exit status 1 if a line was refused, 2 if a file is no PO file."""
    known = rows()
    found = known
    is_whole = True
    for path in paths:
        try:
            found, refused = learnt(found, exchange.judged(Path(path)))
        except PipelineError as error:
            sys.stderr.write(f"{error}\n{error.hint()}\n")
            return 2
        for line in refused:
            sys.stdout.write(f"{path}:{line.number}: refused: {line.reason}\n")
        is_whole = is_whole and not refused
    TSV.write_text(written(found), encoding="utf-8")
    sys.stdout.write(f"{len(found):,} rows, {len(known):,} before\n")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
