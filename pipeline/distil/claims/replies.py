"""What posts say to each other: who is answered, what is taken back, what is no statement; which error led to which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from pipeline.distil import actions, tables
from pipeline.distil.claims.prose import MAX_QUOTE, Prose, Sentence, quote
from pipeline.distil.claims.rules import Finding
from pipeline.distil.project import project
from pipeline.distil.tables import CueKind
from pipeline.records import (
    Claim,
    ClaimKind,
    Document,
    Event,
    Fact,
    Link,
    Outcome,
    Pointed,
    Post,
    PostKind,
    Severity,
    Signature,
    content_id,
    short_class,
)
from pipeline.text import language_of

# Whether a statement stands by itself: readers see its words alone, and nothing of the thread that they point at.

_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z_][\w.]{2,}")
_NAME = re.compile(r"\w[_.]\w|[a-z][A-Z]")
#: What only leads to the words that would say something: addresses, changes, people.
_LED = re.compile(
    r"\[(?:here|this|that|link|this \w+)\]\([^()\s]{1,300}\)|\]\([^()\s]{1,300}\)|(?:https?://|www\.)[^\s)>\]]{1,300}"
    r"|(?:[\w.-]{1,40}/[\w.-]{1,60})?#\d{1,6}\b|@[\w-]{1,40}|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"
)
_LINK_ENDS = re.compile(r"(?:(?:https?://|www\.)[^\s)>\]]{1,300}|\]\([^()\s]{1,300}\)) {2,}")
_EMPTY_MARKS = re.compile(r"(?<![\w.)\]])\(\s{0,3}\)|``|(?<!\w)''(?!\w)")


@dataclass(frozen=True, slots=True)
class _Row:
    reason: str
    of: frozenset[str]
    within: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    is_met: bool  # by a block that follows the words at once
    is_led: bool  # met by the sentence before


@cache
def _rows() -> tuple[_Row, ...]:
    return tuple(
        _Row(
            row["reason"],
            frozenset(row["of"]),
            row["in"],
            tables.expanded(row["pattern"]),
            tables.expanded(row["except"]) if "except" in row else None,
            row.get("met_by_block", False),
            row.get("met_by_lead", False),
        )
        for row in tables.table("standing.toml")["row"]
    )


@cache
def _lead() -> re.Pattern[str]:
    return tables.expanded(tables.table("standing.toml")["lead"])


@cache
def _gap() -> re.Pattern[str]:
    """Where inline code is missing: two blanks, or a mark apart, beside a word that wants another."""
    words = tables.table("standing.toml")
    after, before = words["gap_after"], words["gap_before"]
    return re.compile(
        rf"\b(?:{after})(?: {{2,}}(?=\S)| (?=[.,;)](?:\s|$)))|(?<=[\w)\]]) {{2,}}(?=(?:{before})\b)", re.IGNORECASE
    )


@cache
def _other_block() -> re.Pattern[str]:
    return tables.expanded(tables.table("standing.toml")["other_block"]["pattern"])


@cache
def _hollow() -> frozenset[str]:
    return frozenset(tables.table("standing.toml")["hollow"])


def fault(quote: str, kind: str, *, is_rendered: bool, has_block: bool = False, has_lead: bool = False) -> str | None:
    """The reason for which `quote` says nothing by itself, None if it does.

    `kind` is "cause", "act" (what was done, in words alone) or "fact" (the same, and a typed fact says it);
    `is_rendered`: the page may have lost its inline code; `has_block`: what it announces is shown with it; `has_lead`:
    so is the sentence before, which names what the words point at.
    """
    text = " ".join(quote.split("\n"))
    if is_rendered and has_hole(text):
        return "hole"
    said = _said(text)
    for row in _rows():
        if (has_block and row.is_met) or (has_lead and row.is_led):
            continue
        within = said if row.within == "said" else text
        if kind in row.of and row.pattern.search(within) and not (row.unless and row.unless.search(within)):
            return row.reason
    return "points_elsewhere" if kind == "cause" and not _says_something(said) else None


#: A sentence of fewer words before "this is because" is a heading, or greets.
_LEAST_BEFORE = 3


def is_of_something_else(prose: Prose, finding: Finding) -> bool:
    """True for a cause of "this" where what stands before it tells of no trouble."""
    pattern, trouble, greeting = tables.refers_back()
    sentence = finding.sentence
    found = pattern.search(sentence.text)
    if found is None:
        return False
    before = sentence.text[: found.start()]
    if found["joined"]:
        return trouble.search(before) is None
    if trouble.search(before):
        return False
    earlier = _sentence_before(prose, sentence)
    if earlier is None or greeting.search(earlier.text) or len(_WORD.findall(earlier.text)) < _LEAST_BEFORE:
        return False
    is_shown = any(earlier.end <= event.start < sentence.start for event in prose.events)
    return not is_shown and trouble.search(earlier.text) is None


def _sentence_before(prose: Prose, sentence: Sentence) -> Sentence | None:
    """The sentence of the same post that stands before another, None for the first."""
    start = prose.document.posts[sentence.post].start if sentence.post >= 0 else 0
    earlier = prose.sentences(max(start, sentence.start - _BEFORE), sentence.start)
    return max((one for one in earlier if one.end <= sentence.start), key=lambda one: one.start, default=None)


def told(prose: Prose, finding: Finding, others: Sequence[Finding]) -> tuple[int, int]:
    """The words to quote of a cause: its sentence, with the next where that goes on and both fit in one quote."""
    sentence = finding.sentence
    if (finding.start, finding.end) != (sentence.start, sentence.end):
        return finding.start, finding.end
    following = prose.sentence(sentence.end + 1) if sentence.end + 1 < len(prose.visible) else None
    is_next = following is not None and not prose.document.text[sentence.end : following.start].strip(" ")
    if following is None or not is_next or following.post != sentence.post:
        return finding.start, finding.end
    is_own = any(other.sentence.start == following.start and other.cue.kind != CueKind.CAUSE for other in others)
    is_refused = not following.text.endswith((".", "。")) or tables.refusals(finding.lang).search(following.text)
    if is_own or is_refused or following.end - finding.start > MAX_QUOTE or not tables.goes_on().match(following.text):
        return finding.start, finding.end
    return finding.start, following.end


#: So far before a sentence the one before it is looked for.
_BEFORE = 1_500


def announces(text: str) -> bool:
    """True for words that say what to do only with the block that follows them, and mean that block."""
    if _other_block().search(text):
        return False
    return any(
        row.is_met and row.pattern.search(text) and not (row.unless and row.unless.search(text)) for row in _rows()
    )


def says_too_little(template: str, outcome: str | None) -> bool:
    """True if the typed act does not say what to do, or does so only where somebody tells that it helped."""
    table = tables.table("standing.toml")["too_little"]
    if outcome == Outcome.FAILED and template in table["failed"]:
        return True
    return template in table["always"] or (outcome != Outcome.WORKED and template in table["unconfirmed"])


def has_hole(text: str) -> bool:
    """True if words of a rendered page stand where something between them is missing; behind a link nothing is."""
    text = _LINK_ENDS.sub("_ ", text)
    return bool(_gap().search(text) or _EMPTY_MARKS.search(text))


def _said(text: str) -> str:
    """What stands behind the words that announce a cause; the whole where none do."""
    lead = _lead().search(text)
    return text[lead.end() :] if lead else text


def _says_something(text: str) -> bool:
    """True if the words name something, addresses and words that stand for others left out."""
    table = tables.table("standing.toml")
    left = _LED.sub(" ", text)
    return bool(
        len(_HAN.findall(left)) >= table["least_han"] or sum(named_words(left).values()) >= table["least_words"]
    )


def named_words(text: str) -> dict[str, int]:
    """The words of `text` that name something, each 1; a program's own name ("num_warps", "TensorShape") is worth 3."""
    words = {word.lower().strip("._"): word for word in _WORD.findall(text)}
    return {word: 3 if _NAME.search(words[word]) else 1 for word in sorted(words.keys() - _hollow())}


# Replies resolved to what they answer: "that worked, thanks" and "that was not it" say something only beside it.

#: The rules of advice, and of a cause, that the next post plainly confirms.
CONFIRMED, DIAGNOSED = "reply.confirmed", "cause.confirmed"
#: How many posts back a reply may reach. Of the 29 pairs that the corpus gives at 2, 22 of 22 labelled ones are right;
#: at 4 it gives 19 more, of which 7 are right as read, the others answer something in between.
_REACH = 2


#: A suggestion that a short reply answers stands in a short post.
_MOST_READ = 2_000
_ORDER = re.compile(
    r"(?:@\S{1,40}[ ,:]{0,3})?(?:(?:hi|hello|so|then|ok|and|or|also|instead|maybe|please|yes|no)[, ]{1,3}){0,3}"
    r"(?:(?:can|could|would) you (?:please |also )?|have you |did you |you (?:can|could|should|need to|may|have to) "
    r"|just |`|\$ ?)?(?:try|use|using|set|add|upgrade|update|downgrade|install|pip3?|conda|export|sudo|change|replace"
    r"|remove|disable|enable|reduce|decrease|lower|increase|reinstall|uninstall|switch|pass|run|call|write|read|launch"
    r"|connect|repartition|rename|move|put|wrap|pin|delete|create|configure|restart|rebuild|import|link|append"
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
        act = actions.action(sentence.text, project(prose.document)) if len(sentence.text) <= MAX_QUOTE else None
        if (
            act is not None
            and is_order(sentence.text)
            and not _is_one_of_several(prose.document.text, written, sentence)
        ):
            yield Finding(reply.cue, sentence, sentence.start, sentence.end, act.fact, act.key, reply.lang)


def _is_one_of_several(text: str, post: Post, sentence: Sentence) -> bool:
    """True for a line of a list that a colon announces: "that worked" may mean any of them, or all."""
    begin = text.rfind("\n\n", post.start, sentence.start)
    begin = post.start if begin < 0 else begin + 2
    end = text.find("\n\n", sentence.end, post.end)
    lines = text[begin : post.end if end < 0 else end].strip().split("\n")
    if not lines[0].rstrip().endswith((":", "：")):
        lines = [text[post.start : begin].rstrip().rpartition("\n")[2], *lines]
    return len(lines) > 2 and lines[0].endswith((":", "："))


#: So much of a post is looked at for words that take an earlier statement back: they stand near its beginning.
_MOST_REFUTING = 1_500
#: What a typed fix names: the version, the change.
_OF_FIXES = frozenset({"version", "pr"})
#: Two words of a statement, or one name of a program's, said again name it.
_NAMED = 2


class Stated(NamedTuple):
    """What may be taken back: a cause, an act that helped, did not, or was advised, a fix."""

    start: int
    post: int
    words: str
    of: str  # as a row of refutations calls it
    named: tuple[str, ...] = ()  # of a fix: its version, its change


def refuted(prose: Prose, found: Sequence[Finding]) -> frozenset[int]:
    """Where the findings begin that a later sentence takes back."""
    stated = [_stated(finding, of) for finding in found if (of := _stands_for(finding)) is not None]
    return frozenset(one.start for one in taken_back(prose, stated))


def taken_back(prose: Prose, stated: Sequence[Stated], *, by_same: bool = False) -> Iterator[Stated]:
    """What a sentence behind it takes back, of the same post or the next ones; `by_same`: in its speaker's words."""
    own = {one.post for one in stated}
    for post in range(min(own, default=0), len(prose.document.posts) if stated else 0):
        for row, sentence in _refuting(prose, post, is_own=post in own):
            if row.is_own or row.is_same or not by_same:
                yield from _taken_back(prose, stated, row, sentence)


def refuted_places(document: Document, events: Sequence[Event], found: Sequence[Pointed]) -> frozenset[int]:
    """Of what a model pointed at the places, by their number, that who said it takes back in words that a row knows.

    Who contradicts whom is the model's to read: of six labels of others' statements that rows took back one was so.
    """
    places = [(place.start, place.end, _pointed_as(place)) for place in found]
    gone = taken_back_of(Prose(document, events), places)
    return frozenset(number for number, (start, _, of) in enumerate(places) if (start, of) in gone)


def taken_back_of(prose: Prose, places: Iterable[tuple[int, int, str]]) -> frozenset[tuple[int, str]]:
    """Of the places (start, end, what a row calls it) those that their speakers take back: their starts and names."""
    text, at = prose.document.text, prose.document.post_at
    stated = [Stated(start, at(start), text[start:end], of) for start, end, of in places]
    return frozenset((one.start, one.of) for one in taken_back(prose, stated, by_same=True))


def _pointed_as(place: Pointed) -> str:
    return "failed" if place.outcome == Outcome.FAILED else place.kind.value


def _refuting(prose: Prose, post: int, *, is_own: bool) -> Iterator[tuple[tables.Refutation, Sentence]]:
    written = prose.document.posts[post] if post >= 0 else None
    if written is None or written.kind == PostKind.TITLE:
        return
    end = min(written.end, written.start + _MOST_REFUTING)
    for row in tables.refutations():
        if row.is_own:
            said = prose.sentences(written.start, end) if is_own else ()
            found = (one for one in said if row.pattern.search(one.text))
        else:
            hits = row.pattern.finditer(prose.visible, written.start, end)
            found = (one for one in (prose.sentence(hit.start()) for hit in hits) if one is not None)
        for sentence in found:
            if not row.refuse.search(sentence.text):
                yield row, sentence


def _taken_back(prose: Prose, stated: Sequence[Stated], row: tables.Refutation, sentence: Sentence) -> Iterator[Stated]:
    """The statements that the sentence takes back: the nearest post before it that has any, at most `_REACH` back.

    Who takes back what they said themselves is asked for by name, as far as authors are known.
    """
    who = prose.document.posts[sentence.post].author_hash
    posts, seen = prose.document.posts, 0
    for post in range(sentence.post, -1, -1):
        if posts[post].is_bot:
            continue
        if row.is_same and None not in (who, posts[post].author_hash) and who != posts[post].author_hash:
            continue
        here = [one for one in stated if one.post == post and one.start < sentence.start]
        before = [one for one in here if one.of in row.of]
        if row.is_named:
            before = [one for one in before if post != sentence.post and _is_named(one, sentence)]
        if before:
            yield from before
            return
        if row.is_own:
            return
        seen += 1
        if seen > _REACH:
            return


def _stands_for(finding: Finding) -> str | None:
    """What a refutation calls the finding, None for what is no statement."""
    kind, outcome = finding.cue.kind, finding.cue.outcome
    if kind in (CueKind.REMEDY, CueKind.REPLY) and outcome == Outcome.FAILED:
        return "failed"
    return kind.value if kind in (CueKind.CAUSE, CueKind.FIX, CueKind.REMEDY) else None


def _stated(finding: Finding, of: str) -> Stated:
    slots = finding.fact.slots if finding.fact and finding.cue.kind == CueKind.FIX else ()
    named = tuple(value.rpartition("#")[2] for name, value in slots if name in _OF_FIXES)
    return Stated(finding.start, finding.sentence.post, finding.sentence.text, of, named)


#: A reporter confirms in the first sentences of a post what a short one before advises.
_CONFIRMING, _ADVISING = 2, 800
#: What shared words are worth at least where nobody knows who confirms: a program's own name, or three words.
_NAMED_BY_ANYBODY = 3
#: Threads drift: what is confirmed further down is of another error more often. Where nobody knows whether who asked
#: confirms it, of ten first answers that were published nine were right and one in part; of nine later ones four, and
#: three were wrong: those are what two posts say, leads at most.
_LAST_CONFIRMED = 10
_LAST_BY_ANYBODY = 4


@cache
def _plain() -> tuple[tables.Cue, tables.Cue]:
    """(advice, its confirmation) that two posts make together."""
    worked = next(cue for cue in tables.cues() if cue.rule == "reply.worked")
    return replace(worked, kind=CueKind.ASK, outcome=None, rule="ask.confirmed"), replace(worked, rule=CONFIRMED)


def confirmed(prose: Prose) -> Iterator[tuple[Finding, Finding]]:
    """(advice, reply) where a post begins with plain words that what the one before advises helped.

    Of the post, if it advises one thing; else of the advice that the words name.
    """
    for answer, post in _answers(prose):
        first = _first(prose, post)
        if not first or not any(_confirms(one.text) or _confirms(one.text, "") for one in first):
            continue
        advice = [one for one in prose.sentences(answer.start, answer.end) if _advises(one)]
        whole = [first[0]] * (len(advice) == 1) if _confirms(first[0].text) else []
        least = _least_named(prose, post)
        # in Chinese what was done begins as an order does
        for said in whole or [one for one in first if _HAN.search(one.text) or not _advises(one)]:
            meant = advice if whole else [one for one in advice if _confirms(said.text, one.text, least)]
            if len(meant) == 1:
                yield _pair(prose.document, meant[0], said)
                break


def diagnosed(prose: Prose) -> Iterator[tuple[list[Sentence], bool]]:
    """What an answer says beside its advice, where the next post confirms it; True: who asked says that this was
    the reason.
    """
    opener = asker(prose.document)
    for answer, post in _answers(prose):
        if opener is not None and post.author_hash != opener:
            continue
        first = _first(prose, post)
        is_told = any(
            tables.was_cause().search(one.text) and not tables.confirmed()[2].search(one.text) for one in first
        )
        said = list(prose.sentences(answer.start, answer.end)) if first else []
        words = " ".join(one.text for one in said)
        least = _least_named(prose, post)
        if is_told or (said and (_confirms(first[0].text) or any(_confirms(one.text, words, least) for one in first))):
            yield [one for one in said if not _advises(one)], is_told and opener is not None


def is_seconded(prose: Prose, post: int, fix: Fact | None) -> bool:
    """True if the next post begins with plain words that the fix helped: all of the post, or its number or version."""
    posts = prose.document.posts
    following = next((one for one in posts[post + 1 :] if not one.is_bot), None)
    if following is None or not {following.author_hash, None}.isdisjoint({posts[post].author_hash} - {None}):
        return False
    told = [value.rpartition("#")[2] for name, value in (fix.slots if fix else ()) if name in _OF_FIXES]
    by_name, refuse = tables.confirmed()[1:]
    for one in _first(prose, following):
        named = any(re.search(rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)", one.text) for value in told)
        if _confirms(one.text) or (named and by_name.search(one.text) and not refuse.search(one.text)):
            return True
    return False


def _answers(prose: Prose) -> Iterator[tuple[Post, Post]]:
    """(a short answer, the next post). Nobody confirms what they say themselves; where authors are not known, who
    answers speaks to somebody else.
    """
    posts = prose.document.posts
    before: int | None = None
    last = _LAST_CONFIRMED if asker(prose.document) is not None else _LAST_BY_ANYBODY
    for number, post in enumerate(posts[: last + 1]):
        if post.is_bot:
            continue
        earlier, before = before, number
        if earlier is None or post.kind != PostKind.COMMENT or posts[earlier].kind != PostKind.COMMENT:
            continue
        answer = posts[earlier]
        is_own = answer.author_hash is not None and answer.author_hash == post.author_hash
        if answer.end - answer.start <= _ADVISING and not is_own:
            yield answer, post


def _first(prose: Prose, post: Post) -> list[Sentence]:
    return list(prose.sentences(post.start, min(post.end, post.start + _ADVISING)))[:_CONFIRMING]


def _least_named(prose: Prose, post: Post) -> int:
    """What shared words are worth at least: who is not known to have asked may speak of a like thing."""
    opener = asker(prose.document)
    return _NAMED if opener is not None and post.author_hash == opener else _NAMED_BY_ANYBODY


def asker(document: Document) -> str | None:
    """Who opened the thread, None where nobody knows: archives name nobody."""
    return next((one.author_hash for one in document.posts if one.kind == PostKind.BODY), None)


def _advises(sentence: Sentence) -> bool:
    pattern, refuse = tables.advises()
    return bool(
        len(sentence.text) <= MAX_QUOTE
        and pattern.search(sentence.text.lstrip("*_-•> "))
        and not refuse.search(actions.without_code(sentence.text))
    )


_ALTERNATIVE = re.compile(r"\bor\b|或", re.IGNORECASE)


def has_two_ways(words: str) -> bool:
    """True for advice of which a typed act would state one half."""
    return _ALTERNATIVE.search(words) is not None


def _pair(document: Document, act: Sentence, reply: Sentence) -> tuple[Finding, Finding]:
    asked, told = _plain()
    begins = tables.advises()[0].search(act.text)
    said = act.text[begins.start() if begins else 0 :]
    found = None if has_two_ways(act.text) else actions.action(said, project(document))
    fact, key = (found.fact, found.key) if found else (None, "")
    lang = language_of(act.text)
    advice = Finding(asked, act, act.start, act.end, fact, key, lang)
    return advice, Finding(told, reply, reply.start, reply.end, None, "", lang)


def is_confirmed(prose: Prose, post: int, words: str) -> bool:
    """True if who opened the thread says in the next post that `words` of a short answer, or all of the answer, helped.

    Only where authors are known, and somebody else answers.
    """
    posts, opener = prose.document.posts, asker(prose.document)
    answer = posts[post] if post >= 0 else None
    if opener is None or answer is None or answer.kind != PostKind.COMMENT or answer.end - answer.start > _ADVISING:
        return False
    said = next((one for one in posts[post + 1 :] if not one.is_bot), None)
    if answer.author_hash in (None, opener) or said is None or said.author_hash != opener:
        return False
    first = list(prose.sentences(said.start, min(said.end, said.start + _ADVISING)))[:_CONFIRMING]
    return bool(first) and (_confirms(first[0].text) or any(_confirms(one.text, words) for one in first))


def _confirms(text: str, named: str | None = None, least: int = _NAMED) -> bool:
    """True for words that confirm advice: all of it, or the one that they name; "": whichever they name."""
    bare, by_name, refuse = tables.confirmed()
    if refuse.search(actions.without_code(text)):
        return False
    if named is None:
        return bare.search(text) is not None
    if by_name.search(text) is None:
        return False
    weights = named_words(named)
    return not named or sum(weights.get(word, 0) for word in named_words(text)) >= least


def is_order(words: str) -> bool:
    """True for words that begin as advice does: an order, or what one can or should do."""
    is_asked = words.rstrip().endswith(("?", "？"))
    return not is_asked and _ORDER.match(words.lstrip("*_-•> ")) is not None and not _DENIED.search(words)


def _is_named(one: Stated, sentence: Sentence) -> bool:
    if one.of == CueKind.FIX:
        return any(re.search(rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)", sentence.text) for value in one.named)
    weights = named_words(one.words)
    return sum(weights.get(word, 0) for word in named_words(sentence.text)) >= _NAMED


# One error that led to another by the program's own word: "the above exception was the direct cause of ...".

#: So much of a message finds its line; the rest may be wrapped or cut.
_TELLING = 60


def causal(event: Event) -> list[Link]:
    """The links of the event's chain that led to it; empty for anything but an error."""
    return [link for link in event.chain if link.is_causal] if event.severity == Severity.ERROR else []


def chained(
    document: Document, event: Event, signature: Signature, *, earlier: Sequence[tuple[Link, Signature]]
) -> Iterator[Claim]:
    """A claim for each earlier error that the event's traceback prints, quoted where it is printed.

    `earlier` has a link once for each signature that reports of its error may have: with its frames and without.
    `signature_ids` are in the order of events. The earlier signature may be nobody's event of its own: then `reduce`
    finds no entry for it, and there is no edge.
    """
    seen = {signature.signature_id}
    for link, first in earlier:
        if first.signature_id in seen:
            continue
        seen.add(first.signature_id)
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
    words = link.message[:_TELLING] or short_class(link.exception_type)
    at = max(event.start, text.find(words, event.start, event.end)) if words else event.start
    start = max(event.start, text.rfind("\n", event.start, at) + 1)
    end = text.find("\n", at, event.end)
    line = text[start : end if end >= 0 else event.end]
    start += len(line) - len(line.lstrip())
    return start, max(start + 1, start + len(line.strip()))
