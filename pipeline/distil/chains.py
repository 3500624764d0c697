"""One error that led to another by the program's own word: "the above exception was the direct cause of ..."."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.distil.prose import quote
from pipeline.records import Claim, ClaimKind, Document, Event, Link, Severity, Signature, content_id

#: Links that say "this led to that". The others show one error twice: wrapped, raised again, sent from another process.
CAUSAL = frozenset({"cause", "context"})

#: So much of a message finds its line; the rest may be wrapped or cut.
_TELLING = 60


def causal(event: Event) -> list[Link]:
    """The links of the event's chain that led to it; empty for anything but an error."""
    return [link for link in event.chain if link.link in CAUSAL] if event.severity == Severity.ERROR else []


def chained(
    document: Document, event: Event, signature: Signature, *, earlier: Sequence[tuple[Link, Signature]]
) -> Iterator[Claim]:
    """A claim for each earlier error that the event's traceback prints, quoted where it is printed.

    `signature_ids` are in the order of events. The earlier signature may be nobody's event of its own: then `reduce`
    finds no entry for it, and there is no edge.
    """
    for link, first in earlier:
        if first.signature_id == signature.signature_id:
            continue
        start, end = _line(document.text, link, event)
        rule = f"link.chain_{link.link}"
        yield Claim(
            claim_id=content_id("claim", document.document_id, rule, str(start), first.signature_id),
            kind=ClaimKind.LINK,
            rule=rule,
            fact=None,
            outcome=None,
            key="",
            quote=quote(document, start, end, post=document.post_at(event.start)),
            outcome_quote=None,
            signature_ids=(first.signature_id, signature.signature_id),
        )


def _line(text: str, link: Link, event: Event) -> tuple[int, int]:
    """The line that prints the earlier error; the event's first line where the message was put together from pieces."""
    words = link.message[:_TELLING] or (link.exception_type or "").rsplit(".", 1)[-1]
    at = max(event.start, text.find(words, event.start, event.end)) if words else event.start
    start = max(event.start, text.rfind("\n", event.start, at) + 1)
    end = text.find("\n", at, event.end)
    line = text[start : end if end >= 0 else event.end]
    start += len(line) - len(line.lstrip())
    return start, max(start + 1, start + len(line.strip()))
