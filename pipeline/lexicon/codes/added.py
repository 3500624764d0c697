"""How the codes of packs are printed: what their catalogues say of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pipeline import packs
from pipeline.lexicon.code_families import CODES, Catalogue, Code, families
from pipeline.lexicon.codes.printed import Mention, Way, starts_word
from pipeline.records import warm

__all__ = ["CODES", "Catalogue", "ways"]


#: What varies in the words of a code, as long as it is on one line.
_HOLE = r"[^\n]{1,200}?"


def ways(reach: int) -> tuple[Way, ...]:
    """How the codes of packs are printed; one that decides does so within `reach` characters."""
    return tuple(way for row in families().values() for way in _ways(row, reach))


def _ways(row: Catalogue, reach: int) -> Iterator[Way]:
    named = {name: code.name for code in row.entries for name in (code.name, *code.also)}
    deciding = {code.name for code in row.entries if code.decides}
    if deciding and not row.decides:
        own = {name: code for name, code in named.items() if code in deciding}
        yield Way(f"{row.name}: decides", row.signs, _reader(row, own, is_open=False), decides=True, reach=reach)
    yield Way(f"{row.name}: printed", row.signs, _reader(row, named, is_open=row.is_open), row.decides, reach)
    if said := [(words, code) for code in row.entries for words in code.says]:
        signs = tuple(max(words.split("{}"), key=len).strip().lower() for words, _ in said)
        decides = all(row.decides or code.decides for _, code in said)
        yield Way(f"{row.name}: says", signs, _said(row, said), decides, reach)


def _reader(row: Catalogue, known: Mapping[str, str], *, is_open: bool) -> Callable[[str], Iterator[Mention]]:
    def read(text: str) -> Iterator[Mention]:
        for expression in row.printed:
            for match in packs.compiled(expression).finditer(text):
                name = known.get(match[1]) or (match[1] if is_open else None)
                if name and starts_word(text, match.start(1)):
                    yield Mention(f"{row.name}:{name}", match.start(), match.end())

    return read


def _said(row: Catalogue, said: Sequence[tuple[str, Code]]) -> Callable[[str], Iterator[Mention]]:
    """Words are a code where a line begins with them, or a colon leads to them, and the line ends with them."""
    wordings = [(_HOLE.join(map(re.escape, words.split("{}"))), code) for words, code in said]
    pattern = warm.pattern(
        rf"(?:^|: {{1,4}})(?:{'|'.join(f'({words})' for words, _ in wordings)})\.?[ \t\r]{{0,8}}$", re.MULTILINE
    )

    def read(text: str) -> Iterator[Mention]:
        for match in pattern.finditer(text):
            assert match.lastindex is not None
            place = match.lastindex
            yield Mention(f"{row.name}:{wordings[place - 1][1].name}", match.start(place), match.end(place))

    return read
