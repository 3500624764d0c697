"""Which error of a thread a statement speaks about: the one it names, the one beside it, the one it answers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from pipeline.distil.prose import is_prose
from pipeline.records import Document, Event, PostKind, Severity, Signature

Pair = tuple[Event, Signature]

#: How many errors one closing change may speak about where a report opens with several.
_MOST_SUBJECTS = 3
#: A text names one of several errors with its type, or with so many words of its message.
_NAMING = 3
#: Between two errors of one log stands no fence and no sentence, in at most so many characters.
_MOST_LOG = 6_000
_WORD = re.compile(r"[A-Za-z_][\w.]{3,}")


def errors_of(events: Sequence[Event], signatures: Sequence[Signature]) -> list[Pair]:
    """The events that are errors, each with its signature."""
    return [(e, s) for e, s in zip(events, signatures, strict=True) if e.severity == Severity.ERROR]


def subject(document: Document, errors: Sequence[Pair], start: int, end: int) -> str | None:
    """The signature of the error that the words at `start` to `end` speak about, None where nothing says which.

    The one that the words name. Else, where the thread shows one error alone, that, unless nobody had shown it yet.
    Else the last that their own post shows before them: who says what helped and prints an error behind it tells of two
    ("X is fixed, now I get"). Only a report may say first what was tried. Else the one shown by the post that
    they answer, which is the post before, or the report where no other post between shows an error. Of several errors
    in one log the last is meant, which ended the program.
    """
    named = _named_by(document.text[start:end], errors)
    if len(named) == 1:
        return named[0]
    post = document.post_at(start)
    if len({s.signature_id for _, s in errors}) == 1:
        # before anybody shows the error people speak of something else
        return errors[0][1].signature_id if document.post_at(errors[0][0].start) <= post else None
    own = [(e, s) for e, s in errors if document.post_at(e.start) == post]
    if own:
        before = [s for e, s in own if e.start < start]
        is_report = _is_opening(document, post) and len({s.signature_id for _, s in own}) == 1
        return before[-1].signature_id if before else own[0][1].signature_id if is_report else None
    return _answered(document, errors, post)


def _answered(document: Document, errors: Sequence[Pair], post: int) -> str | None:
    """The error of the post before; that of the report, where it is the only post before that shows any."""
    before = [(e, s) for e, s in errors if document.post_at(e.start) < post]
    others = sorted({place for e, _ in before if not _is_opening(document, place := document.post_at(e.start))})
    if not before:
        return None
    if others:
        last = [(e, s) for e, s in before if document.post_at(e.start) == others[-1]]
        answers_last = others[-1] == post - 1 or len(last) == len(before)
        return _shown(document, last if answers_last else before)
    # a title tells in short what the body shows
    shown = [(e, s) for e, s in before if document.post_at(e.start) == document.post_at(before[-1][0].start)]
    named = _named_by(document.title or "", shown)
    return named[0] if len(named) == 1 else _shown(document, shown)


def _shown(document: Document, shown: Sequence[Pair]) -> str | None:
    """The one error of a post, or the last where they stand in one log."""
    is_one = len({s.signature_id for _, s in shown}) == 1
    return shown[-1][1].signature_id if is_one or _is_log(document, shown) else None


def _is_log(document: Document, shown: Sequence[Pair]) -> bool:
    """True if the errors stand in one post, and nobody says a word between them."""
    if len({document.post_at(e.start) for e, _ in shown}) != 1:
        return False
    for (one, _), (two, _) in itertools.pairwise(shown):
        between = document.text[one.end : two.start]
        if len(between) > _MOST_LOG or "```" in between or any(map(is_prose, between.split("\n"))):
            return False
    return True


def reported(document: Document, errors: Sequence[Pair], start: int, end: int) -> tuple[str, ...]:
    """What the words at `start` to `end` say is fixed: the error that they name, or those of the report.

    "Fixed" is said of a report as a whole, not of what its own post prints, nor of what somebody met on the way: so the
    errors of the report, where nobody else shows another before.
    """
    named = _named_by(document.text[start:end], errors)
    if len(named) == 1:
        return (named[0],)
    post = document.post_at(start)
    opened = {s.signature_id for e, s in errors if _is_opening(document, document.post_at(e.start))}
    others = {s.signature_id for e, s in errors if document.post_at(e.start) < post} - opened
    return tuple(sorted(opening(document, errors))) if opened and not others else ()


def opening(document: Document, errors: Sequence[Pair]) -> list[str]:
    """The signatures of the errors that a report opens with; where its title names some of them, those.

    The first that anybody shows where the report itself shows none.
    """
    opened = [(e, s) for e, s in errors if _is_opening(document, document.post_at(e.start))]
    named = _named_by(document.title or "", opened)
    shown = opened or errors[:1]
    return named or list(dict.fromkeys(s.signature_id for _, s in shown))[:_MOST_SUBJECTS]


def _named_by(text: str, errors: Sequence[Pair]) -> list[str]:
    """The signatures of the errors that `text` names best, none where it names none well enough."""
    words = set(_WORD.findall(text.lower()))
    scores = [_score(words, event) for event, _ in errors]
    most = max(scores, default=0)
    if most < _NAMING:
        return []
    return list(dict.fromkeys(s.signature_id for (_, s), score in zip(errors, scores, strict=True) if score == most))


def _score(words: set[str], event: Event) -> int:
    """How well words name an error: words of its message, its type as much as it takes."""
    kind = (event.exception_type or "").rpartition(".")[2].lower()
    return len(words.intersection(_WORD.findall(event.message.lower()))) + (_NAMING if kind in words else 0)


def _is_opening(document: Document, post: int) -> bool:
    return post < 0 or document.posts[post].kind in (PostKind.TITLE, PostKind.BODY)
