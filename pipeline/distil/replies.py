"""Replies resolved to what they answer: "that worked, thanks" and "that was not it" say something only beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.distil import actions, standing, tables
from pipeline.distil.prose import MAX_QUOTE, Prose, Sentence
from pipeline.distil.rules import Finding
from pipeline.distil.tables import CueKind
from pipeline.records import Outcome, PostKind

#: How many posts back a reply may reach. Of the 29 pairs that the corpus gives at 2, 22 of 22 labelled ones are right;
#: at 4 it gives 19 more, of which 7 are right as read, the others answer something in between.
_REACH = 2


#: A suggestion that a short reply answers stands in a short post.
_MOST_READ = 2_000
_ORDER = re.compile(
    r"(?:@\S{1,40}[ ,:]{0,3})?(?:(?:hi|hello|so|then|ok|and|or|also|instead|maybe|please|yes|no)[, ]{1,3}){0,3}"
    r"(?:(?:can|could|would) you (?:please |also )?|have you |did you |you (?:can|could|should|need to|may|have to) "
    r"|just |`|\$ ?)?(?:try|use|using|set|add|upgrade|update|downgrade|install|pip3?|conda|export|sudo|change|replace"
    r"|remove|disable|enable|reduce|decrease|lower|increase|reinstall|uninstall|switch|pass|run|call"
    r"|请|试|建议|把|将|升级|降级|安装|设置)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:tried|still|n't|not|failed|error|my|i'm|i am|i have|was|were)\b|没用|不行|报错|还是", re.IGNORECASE
)


def pairs(prose: Prose, found: Sequence[Finding]) -> Iterator[tuple[Finding, Finding]]:
    """(suggestion, reply) for every reply that answers exactly one suggestion."""
    suggested: dict[int, list[Finding]] = {}
    helped: dict[int, list[Finding]] = {}
    for finding in found:
        if finding.cue.kind == CueKind.ASK or (finding.cue.kind == CueKind.REMEDY and finding.cue.outcome is None):
            suggested.setdefault(finding.sentence.post, []).append(finding)
        if finding.cue.kind == CueKind.REMEDY and finding.cue.outcome == Outcome.WORKED and finding.fact is not None:
            helped.setdefault(finding.sentence.post, []).append(finding)
    taken: set[int] = set()
    for reply in found:
        post = reply.sentence.post
        if reply.cue.kind != CueKind.REPLY or post in taken or _has_own(found, post):
            continue
        # what helped one may fail for the next
        answered = suggested | helped if reply.cue.outcome == Outcome.FAILED else suggested
        suggestion = _answered(prose, answered, reply)
        if suggestion is not None:
            taken.add(post)
            yield suggestion, reply


def _has_own(found: Sequence[Finding], post: int) -> bool:
    """True if the post itself says what it did: then it speaks of that, and another rule has read it."""
    return any(f.sentence.post == post and f.cue.kind == CueKind.REMEDY for f in found)


def _answered(prose: Prose, by_post: dict[int, list[Finding]], reply: Finding) -> Finding | None:
    posts, place = prose.document.posts, reply.sentence.post
    seen = 0
    for earlier in range(place - 1, 0, -1):
        before = posts[earlier]
        if before.is_bot:
            continue
        seen += 1
        if seen > _REACH:
            return None
        if before.author_hash is not None and before.author_hash == posts[place].author_hash:
            continue
        suggestions = by_post.get(earlier) or list(_acts(prose, earlier, reply))
        if suggestions:
            # two suggestions in one post: "that" could be either
            return suggestions[0] if len({s.key or str(s.start) for s in suggestions}) == 1 else None
    return None


def _acts(prose: Prose, post: int, reply: Finding) -> Iterator[Finding]:
    """Every typed act of a comment that a reply follows: an order needs no cue words ("pip install x==1")."""
    written = prose.document.posts[post]
    if written.kind != PostKind.COMMENT:
        return
    for sentence in prose.sentences(written.start, min(written.end, written.start + _MOST_READ)):
        act = actions.action(sentence.text) if len(sentence.text) <= MAX_QUOTE else None
        if act is not None and _ORDER.match(sentence.text) and not _DENIED.search(sentence.text):
            yield Finding(reply.cue, sentence, sentence.start, sentence.end, act.fact, act.key, reply.lang)


#: So much of a post is looked at for words that take an earlier statement back: they stand near its beginning.
_MOST_REFUTING = 1_500
#: Three words of a statement, or one name of a program's, said again name it.
_NAMED = 3


def refuted(prose: Prose, found: Sequence[Finding]) -> frozenset[int]:
    """Where the causes, and the acts that helped or were advised, begin that a later sentence takes back."""
    stated = [
        f
        for f in found
        if f.cue.kind == CueKind.CAUSE or (f.cue.kind == CueKind.REMEDY and f.cue.outcome != Outcome.FAILED)
    ]
    taken: set[int] = set()
    for post in range(min((f.sentence.post for f in stated), default=0), len(prose.document.posts) if stated else 0):
        for row, sentence in _refuting(prose, post):
            taken.update(finding.start for finding in _taken_back(prose, stated, row, sentence))
    return frozenset(taken)


def _refuting(prose: Prose, post: int) -> Iterator[tuple[tables.Refutation, Sentence]]:
    written = prose.document.posts[post] if post >= 0 else None
    if written is None or written.kind == PostKind.TITLE:
        return
    for row in tables.refutations():
        for hit in row.pattern.finditer(prose.visible, written.start, min(written.end, written.start + _MOST_REFUTING)):
            sentence = prose.sentence(hit.start())
            if sentence is not None and not row.refuse.search(sentence.text):
                yield row, sentence


def _taken_back(
    prose: Prose, stated: Sequence[Finding], row: tables.Refutation, sentence: Sentence
) -> Iterator[Finding]:
    """The statements that the sentence takes back: the nearest post before it that has any, at most `_REACH` back."""
    posts, seen = prose.document.posts, 0
    for post in range(sentence.post, -1, -1):
        if posts[post].is_bot:
            continue
        before = [f for f in stated if f.sentence.post == post and f.sentence.start < sentence.start]
        if row.is_named:
            before = [f for f in before if post != sentence.post and _is_named(f, sentence)]
        if before:
            yield from before
            return
        seen += 1
        if seen > _REACH:
            return


def _is_named(finding: Finding, sentence: Sentence) -> bool:
    weights = standing.weights(finding.sentence.text)
    return sum(weights.get(word, 0) for word in standing.weights(sentence.text)) >= _NAMED
