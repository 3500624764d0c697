"""A knowledge entry that was made elsewhere: kept whole, to be validated; it is no evidence of anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pipeline.providers.assemble import Piece, assembled, page_document, safe
from pipeline.records import Document, DocumentKind, PostKind, RawPage, Skipped
from pipeline.text import hidden_count


def read(pages: Sequence[RawPage]) -> Document | Skipped:
    """The entry as a document: its own JSON in `payload`, its sentences in `text`."""
    page = pages[0]
    try:
        told = json.loads(page.body)
        value = _safe_value(told)
    except (ValueError, RecursionError) as error:
        return Skipped("document", page.document_key, "unreadable_page", str(error)[:200])
    if not isinstance(value, dict):
        return Skipped("document", page.document_key, "unreadable_page", "not an object")
    text, posts, _ = assembled(
        [Piece(PostKind.TITLE, str(value.get("signature") or "")), *_sentences(value)], page.document_key
    )
    if not text:
        return Skipped("document", page.document_key, "no_text")
    return page_document(
        page,
        kind=DocumentKind.ENTRY,
        url=f"urn:sha256:{page.sha256}",
        title=text[posts[0].start : posts[0].end],
        text=text,
        posts=posts,
        hidden_count=hidden_count(json.dumps(told, ensure_ascii=False)),
        payload=json.dumps(value, ensure_ascii=False),
    )


def _sentences(value: dict[str, object]) -> Iterator[Piece]:
    if isinstance(cause := value.get("root_cause"), str):
        yield Piece(PostKind.SECTION, cause)
    for name in ("workarounds", "dead_ends"):
        steps = value.get(name)
        for step in steps if isinstance(steps, list) else ():
            if isinstance(step, dict):
                words = dict.fromkeys(str(step.get(key) or "") for key in ("action", "how", "why_fails"))
                yield Piece(PostKind.SECTION, "\n".join(word for word in words if word))


def _safe_value(value: object) -> object:
    """The JSON value with every string in it cleaned and redacted."""
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, list):
        return [_safe_value(item) for item in value]
    if isinstance(value, dict):
        return {safe(str(name)): _safe_value(item) for name, item in value.items()}
    return value


READERS = {"entry": read}
