"""Which statements of rules are not sure enough to be said and counted: those are leads at most.

A rule reads one sentence. What it cannot see is whether the thread speaks of this error there, and whether the words
mean in their place what they mean by themselves. Two things tell of that: what the thread shows, and a trained reader
that sees its other units. Shares are of the statements of older draws that readers of the threads judged
(`tests/quality/statements.jsonl`, draws 1 to 9, 289 statements of people that the rules of today still make), and of
3,374 labelled units of `train` and `tune`; benchmarks/README.md, "Statements that are leads".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.distil import actions, tables
from pipeline.distil.claims import replies
from pipeline.distil.claims.candidates import Candidate, Reader, kind_of
from pipeline.distil.claims.prose import Prose
from pipeline.distil.claims.subjects import Pair, named_words, seen, shown_by
from pipeline.records import MAINTAINER_ROLES, Claim, ClaimKind, Document, Outcome, PostKind, Quote
from pipeline.records.entry import LEAST_LEAD_SHARE

#: Causes, and advice that nobody says to have helped, stand only where the trained reader shares them; of those that
#: it does not share so many were right. Of causes 14 of 21 statements and 2 of 6 labels (where it agrees 47 of 56 and
#: 11 of 12), of advice 2 of 7 labels (17 of 20). Of what worked it knows no better than the rules: 19 of 21 were right
#: that it does not share, 71 of 76 that it does; nor of fixes and failures: 12 of 12. It learned from English.
_NOT_SHARED = 50
_READ = "en"
#: Where two errors or more have been shown, which one is meant is anybody's guess: of labels 68 % (200 of 295) are of
#: the error that the rules take; of all errors of a report that was fixed, 96 %. Where one alone was shown so far, and
#: another later, 96 % if the title names it, 76 % if not.
_OF_SEVERAL = 60
#: Threads drift from lines that have no class, no code and no family, if their words are not in the title either: 9 of
#: 13 statements were right, of all others 252 of 276.
_UNNAMED = 70
#: What one post suggests and another one confirms or denies in a few words ("that worked") may be of something that
#: stands between them, or of half of it: of 15 such statements of draws 1 to 11 11 were right.
_OF_TWO_POSTS = 70
#: Where one of the next two posts says that something does not help or is there still, what helped somebody was right
#: in 9 of 22 statements of draws 1 to 12 and wrong in 4; of those that nothing else puts in doubt in 6 of 12 (2 wrong),
#: and of the 62 that are not followed so one was wrong. Readers of whole threads say of 30 of 66 fixes so followed
#: that they are taken back, of 19 of 924 others; of acts that helped of 10 of 129, and of 5 of 699.
_CONTESTED = 45
_NEXT_POSTS, _MOST_READ = 2, 800
#: Who goes on in the same post to say that it fails still tells of half a fix, or of another error's: of six so said
#: three were right. So does who says it of one case of several ("but other operators have this issue"): of 260 fixes
#: that readers judged two were so said, one wrong and one right in part.
_HALF = 50
#: Whose failure names a version that a later post says to have helped did it otherwise: of 68 failures that readers
#: judged the two so followed were wrong.
_CURED_LATER = 45
#: An answer that gives a cause and names nothing of the program (no name, no word of the error) may tell of a post
#: before it, of the message, of a workaround's drawback: of 30 causes of draws 1 to 13 so said 15 were right, 4 wrong
#: and 4 vague; of 79 others 62, 2 and 3.
_NAMELESS = 50
#: What helped somebody whose error is a similar one, by the words of their own answer, helped against another: the one
#: statement of 230 that draws 1 to 17 judged and that stands beside such words was wrong.
_SIMILAR = 50
#: Of 151 statements of fixes of draws 14 to 19, of threads that no rule had seen, 19 were wrong: four of eight where so
#: many posts or more stand, two of nine that name the latest release alone: nobody can tell later which.
_MANY_POSTS, _LONG = 8, 50
_LATEST, _LATEST_SHARE = "fix.in_latest", 77
#: Which fix somebody tells of behind other words may be that of another thing they speak of: of 25 such statements that
#: were read four were wrong, of 218 with which a post begins (behind a greeting or a name) eight.
_BEGINS, _WITHIN = 20, 80
#: Which release has the fix is anybody's guess where a bare number may be the version of another program, which the
#: title names with its own, or where the report is of a later line of the same program: of 43 releases that readers
#: judged the two so said were wrong.
_WHICH_RELEASE = 50
#: Where somebody asks for a better message, what is fixed afterwards may be the message: the mistake fails as before.
_WORDS = 50
#: What did not help is told of another thing where the comment says before that the error is past, or asks how to reach
#: something: of 60 published failures that were read with their threads seven were wrong, three of them so.
_MOVED_ON = 50
#: What a program advises on a guess ("try", "may", an object whose build it does not know) cured the error in 8 of 24
#: threads that readers judged, and in 14 something else did; of 14 other hints 11 were right and one was wrong. Too
#: few for a lead: who has the message has the advice.
GUESSED = 40
#: What the trained reader alone finds is no lead where the next posts contest it (of 96 labelled finds .76 were right,
#: of 591 others .90; of ten that readers judged three were wrong), where an act or fix may be of another of several
#: errors (.66 of 65 labels, .88 of 343 of one error), where its own words say that the error came back, and where who
#: opens a report says why (four of 22 judged ones were wrong, of 34 causes in answers two; the labels, which the
#: network learned from, do not show it).
_NO_LEAD = 45
#: What who asked confirms in the next post, that it helped, is as sure as the words of two posts.
CONFIRMED = _OF_TWO_POSTS
#: A title or a statement names an error with so many words of its message, or its class.
_NAMING = 2
#: So many characters behind a fix still tell of it.
_NEAR = 120
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,6}(?:\.\d{1,6}){1,4})(?![\w.]*\d)", re.IGNORECASE)
_ZEROS = re.compile(r"(?:\.0)+$")
#: What a word is worth that is a program's own name.
_NAME = 3


@dataclass(frozen=True, slots=True)
class Beside:
    """What a thread says beside a statement."""

    failures: Sequence[Claim] = ()  # its statements that an act did not help, of those that stand
    fixers: frozenset[str] = frozenset()  # the authors, by their hash, who tell of the fix


#: A thread that says nothing else.
NOTHING = Beside()

#: Posts, by their places, and spans of words that say nothing against a statement though they tell of a failure.
Accounted = tuple[frozenset[int], frozenset[tuple[int, int]]]


def doubt(text: Prose, errors: Sequence[Pair], claim: Claim, reader: Reader, beside: Beside = NOTHING) -> int | None:
    """Of a hundred statements as doubtful as this one of a person so many were right; None for one that stands."""
    document = text.document
    quote, kind = claim.quote, kind_of(claim)
    found = []
    is_vouched = claim.rule == replies.DIAGNOSED or (
        claim.kind == ClaimKind.CAUSE and _is_vouched(text, claim, beside.fixers)
    )
    if not is_vouched and _is_shareable(claim) and reader.share(kind, quote.start, quote.end) < LEAST_LEAD_SHARE:
        found.append(_NOT_SHARED)
    found += _of_answers(text, errors, claim)
    is_contested = _is_contested(text, claim.last_quote.end, _accounted_for(text, claim, beside.failures))
    if claim.kind == ClaimKind.FIX and (_goes_on_failing(text, quote.end) or _is_narrowed(document, quote)):
        found.append(_HALF)
    if (claim.kind == ClaimKind.FIX or claim.outcome == Outcome.WORKED) and is_contested:
        found.append(_CONTESTED)
    if claim.kind == ClaimKind.FIX:
        found += _of_fix(text, claim)
    if _is_of_similar(document, claim.last_quote.start):
        found.append(_SIMILAR)
    meant = [(event, signature) for event, signature in errors if signature.signature_id in claim.signature_ids]
    if claim.kind == ClaimKind.CAUSE and (is_contested or not is_vouched) and _is_nameless(document, claim, meant):
        found.append(_CONTESTED if is_contested else _NAMELESS)
    is_titled = named_words(document.title or "", meant) >= _NAMING
    if len(claim.signature_ids) == 1 and _is_one_of_several(document, errors, quote.start, is_titled=is_titled):
        found.append(_OF_SEVERAL)
    is_known = any(e.exception_type or e.codes or dict(s.gate).get("kind") for e, s in meant)
    if not is_known and not is_titled and named_words(quote.text, meant) < _NAMING:
        found.append(_UNNAMED)
    return min(found, default=None)


def _of_answers(text: Prose, errors: Sequence[Pair], claim: Claim) -> Iterator[int]:
    """What a statement has against it that several posts make, or one that has spoken of something else."""
    document, answer = text.document, claim.outcome_quote
    if claim.rule == replies.DIAGNOSED and replies.asker(document) is None:
        yield _OF_TWO_POSTS
    if answer is not None and claim.rule != replies.CONFIRMED:
        yield _OF_TWO_POSTS
    elif answer is not None:
        if _goes_on_failing(text, answer.end) or _shows_an_error(document, errors, answer):
            yield _HALF
        if claim.fact is None and tables.has_release().search(claim.quote.text):
            yield _LATEST_SHARE
    if claim.outcome == Outcome.FAILED:
        if _has_moved_on(document, claim.last_quote.start):
            yield _MOVED_ON
        if _is_cured_later(text, claim):
            yield _CURED_LATER


def found_share(text: Prose, errors: Sequence[Pair], found: Candidate) -> int:
    """The share of what the trained reader alone found, too small for a lead where the thread speaks against it."""
    share = found.share
    words = text.document.text[found.unit.start : found.unit.end]
    if share < CONFIRMED and _is_confirmed(text, found, words):
        share = CONFIRMED
    if share < LEAST_LEAD_SHARE:
        return share
    post = text.document.posts[found.unit.post] if found.unit.post >= 0 else None
    if found.kind == "cause":
        is_unsure = post is not None and post.kind == PostKind.BODY
    else:
        is_back = tables.relapses().search(words) is not None or has_other_sign(found.kind, words)
        is_unsure = is_back or len({signature.signature_id for _, signature in errors}) > 1
    return _NO_LEAD if is_unsure or _is_contested(text, found.unit.end) else share


def _is_confirmed(text: Prose, found: Candidate, words: str) -> bool:
    """True for what an answer advises, or gives as the cause beside it, where who asked says that it helped."""
    if found.kind not in ("cause", "remedy"):
        return False
    if found.kind == "remedy":
        return replies.is_order(words) and replies.is_confirmed(text, found.unit.post, words)
    advice = [one for one in _beside(text, found) if replies.is_order(one)]
    return any(replies.is_confirmed(text, found.unit.post, one) for one in advice)


def _beside(text: Prose, found: Candidate) -> Iterator[str]:
    """The other sentences of the post."""
    post = text.document.posts[found.unit.post]
    for one in text.sentences(post.start, min(post.end, post.start + _MOST_READ)):
        if one.end <= found.unit.start or found.unit.end <= one.start:
            yield one.text


def has_other_sign(kind: str, words: str) -> bool:
    """True where the words say that an act had no effect, and are taken for help, or that it helped, for a failure."""
    helped, is_vain = tables.has_helped(words), tables.has_no_effect(words)
    return helped and not is_vain if kind == "failure" else is_vain and not helped


def _is_vouched(text: Prose, claim: Claim, fixers: frozenset[str]) -> bool:
    """True for a cause that somebody gives who knows the program, or that the next post agrees to.

    The trained reader learned from threads of which nobody's role was known.
    """
    quote = claim.quote
    if quote.author_role in MAINTAINER_ROLES or quote.author_hash in fixers:
        return True
    document = text.document
    number = document.post_at(quote.end)
    later = (post for post in document.posts[number + 1 :] if not post.is_bot)
    answer = next(later, None) if number >= 0 else None
    if answer is None or {answer.author_hash, None} & {quote.author_hash}:
        return False
    pattern, refuse = tables.agrees()
    first = next(iter(text.sentences(answer.start, min(answer.end, answer.start + _MOST_READ))), None)
    return first is not None and bool(pattern.search(first.text)) and not refuse.search(first.text)


def _is_nameless(document: Document, claim: Claim, meant: Sequence[Pair]) -> bool:
    """True for a cause in an answer that names neither anything of a program nor a word of the error."""
    quote = claim.quote
    post = document.post_at(quote.start)
    if quote.lang != _READ or post < 0 or document.posts[post].kind == PostKind.BODY:
        return False
    return max(replies.named_words(quote.text).values(), default=0) < _NAME and not named_words(quote.text, meant)


def _of_fix(text: Prose, claim: Claim) -> Iterator[int]:
    """What a statement of a fix has against it."""
    document = text.document
    if tables.wants_words().search(document.text, 0, claim.quote.start):
        yield _WORDS
    if sum(not post.is_bot for post in document.posts) >= _MANY_POSTS:
        yield _LONG
    if claim.rule == _LATEST:
        yield _LATEST_SHARE
    if _is_doubtful_release(document, claim):
        yield _WHICH_RELEASE
    post = document.post_at(claim.quote.start)
    is_within = post >= 0 and claim.quote.start - document.posts[post].start >= _BEGINS
    if is_within and not replies.is_seconded(text, post, claim.fact):
        yield _WITHIN


def _is_doubtful_release(document: Document, claim: Claim) -> bool:
    """True for a release that may be another program's, or that is of an earlier line than the report's own."""
    slots = dict(claim.fact.slots) if claim.fact is not None else {}
    version = slots.get("version")
    if version is None:
        return False
    own = (document.repo or "").lower().rpartition("/")[2]
    titled = actions.versioned(document.title or "")
    if "package" not in slots and titled is not None:
        name = titled[0].lower()
        if name not in own and own not in claim.quote.text.lower():
            return True
    name = slots.get("package", own).lower()
    stated = (one.value for one in seen(document) if one.name.lower() == name)
    return any(_line(value) > _line(version) for value in stated if _line(value) and _line(version))


def _line(version: str) -> tuple[int, ...]:
    """Its first two numbers; empty for what is no version."""
    found = _VERSION.search(version)
    return tuple(int(number) for number in found[1].split(".")[:2]) if found else ()


def _is_of_similar(document: Document, place: int) -> bool:
    """True for an answer in which somebody says that theirs is a similar error, so another one."""
    number = document.post_at(place)
    if number < 0 or document.posts[number].kind == PostKind.BODY:
        return False
    post = document.posts[number]
    return tables.similar().search(document.text, post.start, min(post.end, post.start + _MOST_READ)) is not None


def _has_moved_on(document: Document, place: int) -> bool:
    """True for a comment that speaks of another thing than the error in what stands before the place."""
    number = document.post_at(place)
    if number < 0 or document.posts[number].kind == PostKind.BODY:
        return False
    begin = max(document.posts[number].start, place - _MOST_READ)
    return tables.moved_on().search(document.text, begin, place) is not None


def _is_narrowed(document: Document, quote: Quote) -> bool:
    """True for a fix of one case or part alone, by its own words or those right behind it."""
    post = document.post_at(quote.start)
    until = min(document.posts[post].end if post >= 0 else quote.end, quote.end + _NEAR)
    # a reference that a link was made of ends its line
    words = " ".join(document.text[quote.start : until].split())
    pattern, refuse = tables.narrowed()
    return pattern.search(words) is not None and refuse.search(words) is None


def _is_cured_later(text: Prose, claim: Claim) -> bool:
    """True where a later post says that a version helped which the failure names."""
    tried = _versions(claim.quote.text)
    document, end = text.document, claim.last_quote.end
    return bool(tried) and any(
        tried & _versions(one.text) and tables.has_helped(one.text)
        for post in document.posts
        if post.start >= end and not post.is_bot
        for one in text.sentences(post.start, min(post.end, post.start + _MOST_READ))
    )


def _versions(words: str) -> set[str]:
    """The versions that words name, 1.5 as 1.5.0."""
    return {_ZEROS.sub("", found[1]) for found in _VERSION.finditer(words)}


def _is_shareable(claim: Claim) -> bool:
    """True for what the trained reader tells apart; who maintains the project knows what they advise."""
    is_advice = claim.kind == ClaimKind.REMEDY and claim.outcome is None
    is_known = is_advice and claim.quote.author_role in MAINTAINER_ROLES
    return claim.quote.lang == _READ and (claim.kind == ClaimKind.CAUSE or (is_advice and not is_known))


def _accounted_for(text: Prose, claim: Claim, failures: Sequence[Claim]) -> Accounted:
    """What somebody else says did not help, and is counted as that: it casts no doubt on the claim besides.

    Of the act itself whatever the post says; of what has other names the words that say so, and no more.
    """
    said = claim.last_quote
    others = [
        other
        for other in failures
        if other.key
        and not {said.author_hash, None} & {other.quote.author_hash}
        and set(claim.signature_ids) <= set(other.signature_ids)
    ]
    same = [other for other in others if claim.outcome == Outcome.WORKED and other.key == claim.key]
    posts = frozenset(text.document.post_at(other.quote.start) for other in same)
    names = _names(claim.quote.text)
    apart = [other for other in others if names and names.isdisjoint(found := _names(other.quote.text)) and found]
    return posts, frozenset((quote.start, quote.end) for other in apart for quote in (other.quote, other.last_quote))


def _names(words: str) -> set[str]:
    """What of a program the words name."""
    return {name for name, weight in replies.named_words(words).items() if weight >= _NAME}


def _is_contested(text: Prose, end: int, but: Accounted = (frozenset(), frozenset())) -> bool:
    """True if one of the two posts behind `end` says that something does not help or is there still."""
    rows = [(n, post) for n, post in enumerate(text.document.posts) if post.start >= end and not post.is_bot]
    posts, spans = but
    return any(
        number not in posts and _contests(text, post.start, min(post.end, post.start + _MOST_READ), spans)
        for number, post in rows[:_NEXT_POSTS]
    )


def _goes_on_failing(text: Prose, end: int) -> bool:
    """True if the post itself says so behind `end`."""
    number = text.document.post_at(end)
    if number < 0:
        return False
    # from the sentence at `end` on, which is passed over: the next one begins at its border
    until = min(text.document.posts[number].end, end + _MOST_READ)
    return _contests(text, end - 1, until, but=((0, end),))


def _shows_an_error(document: Document, errors: Sequence[Pair], quote: Quote) -> bool:
    """True if the post of the quote shows an error behind it: the next one, then."""
    number = document.post_at(quote.start)
    return any(event.start >= quote.end and document.post_at(event.start) == number for event, _ in errors)


def _contests(text: Prose, start: int, end: int, but: Iterable[tuple[int, int]] = ()) -> bool:
    pattern, refuse = tables.contested()
    return any(
        pattern.search(one.text)
        and not refuse.search(one.text)
        and not any(a < one.end and one.start < b for a, b in but)
        for one in text.sentences(start, end)
    )


def _is_one_of_several(document: Document, errors: Sequence[Pair], place: int, *, is_titled: bool) -> bool:
    every = len({signature.signature_id for _, signature in errors})
    return shown_by(document, errors, place) > 1 or (every > 1 and not is_titled)
