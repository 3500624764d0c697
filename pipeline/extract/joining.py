"""Which of the diagnostics that a text shows are one failure, and which stand for themselves.

What a compiler lists is one failure; `Aborted (core dumped)` right below a diagnostic is its end, not another one. An
error of another program, or of which a row says that it stands for itself, is an error of its own.
"""

from __future__ import annotations

import re

from pipeline.extract.rule import Block, Lazy
from pipeline.lexicon.codes import codes_in

#: Lines that may stand between two diagnostics of one compiler run, or between a failure and its `Aborted`.
_JOIN_LINES, _JOIN_WIDTH = 12, 3000
_TRAIL_LINES = 4
#: A compiler counts the errors of one source: what follows is another source's.
_COUNTED = Lazy(r"\b\d{1,6} errors? (?:detected in the compilation of|generated)\b")


#: A command that somebody types between two errors: they are of two programs.
_COMMAND = re.compile(r"(?m)^(?:\([\w.-]{1,40}\) )?(?:[\w.-]{1,40}@[\w.-]{1,60}[: ][^\n$#]{0,80})?[$#] [\w./~]")


def _without_overlap(blocks: list[Block]) -> list[Block]:
    kept: list[Block] = []
    for block in blocks:
        if kept and block.start < kept[-1].end:
            kept[-1].end = max(kept[-1].end, block.end)
        else:
            kept.append(block)
    return kept


def joined(text: str, blocks: list[Block]) -> list[Block]:
    """The blocks, given by start, without overlap, and with one failure's parts made one."""
    joined: list[Block] = []
    for block in _without_overlap(blocks):
        if joined and _yields(text, joined[-1], block):
            joined[-1] = block
        elif joined and _belongs(text, joined[-1], block):
            joined[-1].said = joined[-1].said or joined[-1].end
            joined[-1].end = block.end
            if block.rule.trails:
                joined[-1].codes += tuple(codes_in(text[block.start : block.end]))
        else:
            joined.append(block)
    return joined


def _yields(text: str, before: Block, block: Block) -> bool:
    """Whether the earlier line only announced what follows."""
    if not before.rule.yields or block.rule.trails or block.start - before.end > _JOIN_WIDTH:
        return False
    if before.rule.is_of_pack and before.rule.name == block.rule.name:
        return False  # the next line of a log announces no more than this one
    return text.count("\n", before.end, block.start) <= _JOIN_LINES


def _belongs(text: str, before: Block, block: Block) -> bool:
    gap = text[before.end : block.start] if block.start - before.end <= _JOIN_WIDTH else "```"
    if "```" in gap or "\n\n\n" in gap or _COMMAND.search(gap):
        return False
    lines = gap.count("\n")
    if block.rule.trails:
        if before.rule.exits and block.rule.dialect == "signal":
            return False
        return lines <= (_JOIN_LINES if block.rule.dialect == "build" else _TRAIL_LINES)
    if _lists(before, block):
        return lines <= _JOIN_LINES and not _COUNTED.search(
            text, max(before.start, block.start - _JOIN_WIDTH), block.start
        )
    return lines <= 2 and _masked(block.message) == _masked(before.message)


def _lists(before: Block, block: Block) -> bool:
    """Whether both may be of one list: of one program, of which no row says that the later one stands for itself."""
    if not (block.rule.joins and before.rule.joins) or block.rule.dialect != before.rule.dialect:
        return False
    if block.function != before.function and not (block.file or before.file):
        return False
    return block.rule.follows is None or block.rule.follows.search(block.message) is not None


def _masked(message: str) -> str:
    return re.sub(r"\d+|0x[0-9a-f]+", "0", message)
