"""Official codes that a text names: the one place that knows them, for events, gates and entries alike.

Names, numbers and printed texts stand in `pipeline/data/catalogues`; here stands how programs print them, as an ordered
list of ways. A way reads only where one of its signs stands in the text. `extract` asks for all codes of a text,
`normalise` for the one that a message is; both get the catalogue's spelling.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline import packs
from pipeline.lexicon.codes import added, gpu, status
from pipeline.lexicon.codes.printed import Mention, Way
from pipeline.text.needed import Signs

__all__ = ["Mention", "Way", "code_of", "codes_in", "mentions", "ways"]


@packs.cached
def ways() -> tuple[Way, ...]:
    """Every way, in the order in which a message's own code is chosen: NCCL prints CUDA's errors inside its own."""
    return (
        *added.ways(gpu.REACH),
        *gpu.nccl_ways(),
        *gpu.library_ways(),
        *gpu.cuda_ways(),
        *gpu.hip_ways(),
        *status.xla_ways(),
        *status.absl_ways(),
        *status.process_ways(),
        *status.tools_ways(),
    )


@packs.cached
def _signs() -> Signs:
    return Signs(sign for way in ways() for sign in way.signs)


@packs.cached
def _by_sign() -> dict[str, tuple[int, ...]]:
    """The numbers of the ways that a sign calls for."""
    found: dict[str, tuple[int, ...]] = {}
    for number, way in enumerate(ways()):
        for sign in way.signs:
            found[sign] = (*found.get(sign, ()), number)
    return found


def mentions(text: str) -> Iterator[tuple[Way, Mention]]:
    """Every code that the text names, with the way and the place, in the order of the ways."""
    present = _signs().present(text.lower())
    if present:
        by_sign, every = _by_sign(), ways()
        for number in sorted({number for sign in present for number in by_sign[sign]}):
            yield from ((every[number], mention) for mention in every[number].read(text))


def codes_in(text: str) -> tuple[str, ...]:
    """The codes that the text names, sorted, each once: "xla:E1001", "cuda:cudaErrorIllegalAddress", ..."""
    return tuple(sorted({mention.code for _, mention in mentions(text)}))


def code_of(text: str) -> Mention | None:
    """The code that a message is: the first of the first way that decides, None if none does."""
    for way, mention in mentions(text):
        if way.decides and (way.reach is None or mention.start < way.reach):
            return mention
    return None


@added.CODES.tested
def _named(text: str) -> list[added.Catalogue]:
    """The catalogues of packs of which the text names a code."""
    families = {code.partition(":")[0] for code in codes_in(text)}
    return [row for row in added.CODES.rows() if row.name in families]
