"""Replies resolved to the suggestion they answer: "that worked, thanks" says something only beside what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.distil.rules import Finding
from pipeline.records import Document

#: How many posts back a reply may reach; in labelled threads 19 of 20 true pairs are neighbours or next but one.
_REACH = 2


def pairs(document: Document, found: Sequence[Finding]) -> Iterator[tuple[Finding, Finding]]:
    """(suggestion, reply) for every reply that answers exactly one suggestion."""
    by_post: dict[int, list[Finding]] = {}
    for finding in found:
        if finding.cue.kind == "ask" or (finding.cue.kind == "remedy" and finding.cue.outcome is None):
            by_post.setdefault(finding.sentence.post, []).append(finding)
    taken: set[int] = set()
    for reply in found:
        post = reply.sentence.post
        if reply.cue.kind != "reply" or post in taken or _has_own(found, post):
            continue
        suggestion = _answered(document, by_post, post)
        if suggestion is not None:
            taken.add(post)
            yield suggestion, reply


def _has_own(found: Sequence[Finding], post: int) -> bool:
    """True if the post itself says what it did: then it speaks of that, and another rule has read it."""
    return any(f.sentence.post == post and f.cue.kind == "remedy" for f in found)


def _answered(document: Document, by_post: dict[int, list[Finding]], post: int) -> Finding | None:
    seen = 0
    for earlier in range(post - 1, 0, -1):
        before, reply = document.posts[earlier], document.posts[post]
        if before.is_bot:
            continue
        seen += 1
        if seen > _REACH:
            return None
        if before.author_hash is not None and before.author_hash == reply.author_hash:
            continue
        suggestions = by_post.get(earlier)
        if suggestions:
            # two suggestions in one post: "that" could be either
            return suggestions[0] if len({s.key or str(s.start) for s in suggestions}) == 1 else None
    return None
