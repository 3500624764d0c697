"""How the codes of packs are printed: what their catalogues say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline import packs
from pipeline.lexicon.code_families import CODES, Catalogue, families
from pipeline.lexicon.codes.printed import Mention, Way, starts_word

__all__ = ["CODES", "Catalogue", "ways"]


def ways(reach: int) -> tuple[Way, ...]:
    """How the codes of packs are printed; one that decides does so within `reach` characters."""
    return tuple(
        Way(f"{name}: printed", row.signs, _reader(row), decides=row.decides, reach=reach)
        for name, row in families().items()
    )


def _reader(row: Catalogue) -> Callable[[str], Iterator[Mention]]:
    known = {name: code.name for code in row.entries for name in (code.name, *code.also)}

    def read(text: str) -> Iterator[Mention]:
        for expression in row.printed:
            for match in packs.compiled(expression).finditer(text):
                name = known.get(match[1]) or (match[1] if row.is_open else None)
                if name and starts_word(text, match.start(1)):
                    yield Mention(f"{row.name}:{name}", match.start(), match.end())

    return read
