"""What somebody may have meant who misspelt a name, and the ids that a shell completes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

#: Likeness (0-100) from which a name is offered, and how many are. A letter left out or swapped scores 90, another
#: ending 80, another word 50.
LIKE, OFFERED = 72.0, 3
#: A name that is this much less like it than the best is not offered: repositories of one owner are all a little alike.
NEARER = 8.0
#: Ids that a shell is given.
COMPLETIONS = 200


def near(word: str, names: Iterable[str]) -> list[str]:
    """The names most like `word`, best first; none where none is like it."""
    from rapidfuzz import fuzz, process

    folded = {name: name.lower() for name in names}
    found = process.extract(word.lower(), folded, scorer=fuzz.ratio, score_cutoff=LIKE, limit=OFFERED)
    close = [name for _, score, name in found if score >= found[0][1] - NEARER]
    inside = [name for name, low in folded.items() if len(word) > 3 and word.lower() in low]
    return list(dict.fromkeys([*close, *sorted(inside, key=len)]))[:OFFERED]


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """The question whether one of the names was meant, "" where none is like it."""
    found = near(word, names)
    return f"Did you mean {_listed(found)}?" if found else ""


def _listed(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def complete_id(ctx: Any, incomplete: str) -> list[str]:
    """The ids of entries that begin so, for the shell; none where there is no database."""
    return _completed(ctx, lambda listing, path: listing.entry_ids(path, beginning=incomplete, limit=COMPLETIONS))


def complete_name(kind: str) -> Callable[[Any, str], list[str]]:
    """What gives the shell the domains, codes or repositories that begin so."""

    def complete(ctx: Any, incomplete: str) -> list[str]:
        found = _completed(ctx, lambda listing, path: listing.names(path, kind))
        return [name for name in found if name.startswith(incomplete)][:COMPLETIONS]

    return complete


def _completed(ctx: Any, ask: Callable[[Any, Path], list[str]]) -> list[str]:
    from pipeline.cli.app import settings
    from pipeline.records.errors import PipelineError
    from pipeline.store import listing

    try:
        path = settings(ctx.params.get("home")).database_path
        return ask(listing, path) if path.is_file() else []
    except PipelineError:  # a shell shows no message between two words
        return []
