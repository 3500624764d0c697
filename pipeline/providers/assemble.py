"""What readers share: documents assembled of posts, mail quotes and automatic posts set apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from pipeline import text as texts
from pipeline.providers.provider import Place
from pipeline.records import DocRecord, Document, DocumentKind, Post, PostKind, RawPage, content_id, warm
from pipeline.text.needed import Signs

# Who is a program: logins and openings of automatic posts, from data/bots.toml.

# A bot says what it is at once; a long text that mentions one further down was written by a person.
HEAD_CHARACTERS = 240


@cache
def _table() -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    table = warm.table(resources.files("pipeline").joinpath("data/bots.toml").read_text("utf-8"))
    return frozenset(table["logins"]), tuple(table["login_endings"]), tuple(table["phrases"]), tuple(table["signs"])


def is_bot_login(login: str) -> bool:
    """True for a login that belongs to a program."""
    logins, endings, _, _ = _table()
    lower = login.lower()
    return lower in logins or lower.endswith(endings)


def signs() -> tuple[str, ...]:
    """Where none of these stands in a text, :func:`is_bot_text` is false for every part of it."""
    return _table()[3]


def is_bot_text(text: str) -> bool:
    """True for a post that begins as only a program's post does (for sources that name no author)."""
    head = text[:HEAD_CHARACTERS]
    return any(phrase in head for phrase in _table()[2])


# Posts that came by mail: the quoted tail repeats what stands above it, and names people. It is dropped.

_WROTE = re.compile(
    r"^[ \t]{0,8}(?:On\b[^\n]{5,200}(?:\n[^\n]{0,200})?\bwrote:|在\s?[^\n]{5,200}写道[:：])[ \t]*$", re.MULTILINE
)
_TAIL = re.compile(
    r"^[ \t>]{0,8}(?:(?:—|--|-)?[ \t]?\n[ \t>]{0,8})?(?:You are receiving this because|Reply to this email directly)",
    re.MULTILINE,
)

#: Where none of these stands in a text, :func:`without_reply` leaves it and every part of it alone.
SIGNS = (" wrote:", "You are receiving this because", "Reply to this email", "写道")


def without_reply(text: str) -> str:
    """`text` without the mail that it answers and without the notification's last lines.

    An answer written below its quotation stays, if the quotation is marked with ">".
    """
    if not any(sign in text for sign in SIGNS):
        return text
    tail = _TAIL.search(text)
    if tail:
        text = text[: tail.start()]
    kept: list[str] = []
    position = 0
    for match in _WROTE.finditer(text):
        if match.start() < position:
            continue
        kept.append(text[position : match.start()])
        position = _after_quotation(text, match.end())
    kept.append(text[position:])
    return "".join(kept).rstrip() if len(kept) > 1 or tail else text


def _after_quotation(text: str, position: int) -> int:
    """Where the block of ">" lines ends that begins at `position`; the end of the text if nothing is marked."""
    end = position
    marked = False
    while end < len(text):
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end + 1
        line = text[end:line_end].strip()
        if line.startswith(">"):
            marked = True
        elif line:
            break
        end = line_end
    return end if marked else len(text)


# The text of a document from its pieces: cleaned, redacted, joined, with the place of each piece.

SEPARATOR = "\n\n"
# Authors whose mentions are looked for; the largest thread of 22,694 has fewer than 300.
MAX_MENTIONED = 500


class Piece(NamedTuple):
    """One piece of writing as its page gives it, before it is made safe: a named tuple, as millions are made."""

    kind: PostKind
    text: str
    url: str | None = None
    posted_at: datetime | None = None
    role: str | None = None
    author: str | None = None  # a login; it does not leave this package
    is_bot: bool = False
    reactions: int = 0


class Assembled(NamedTuple):
    """The text of a document and what stands in it."""

    text: str
    posts: tuple[Post, ...]
    hidden_count: int  # invisible characters that were taken out


def assembled(pieces: Sequence[Piece], document_id: str) -> Assembled:
    """The text of all pieces, and their posts in it. Pieces without a word, or of quoted mail alone, leave no post."""
    whole = SEPARATOR.join(piece.text for piece in pieces)
    hidden, unquoted = 0, texts.bare(whole)
    if not texts.is_clean(whole, unquoted):  # what hides may part a token, or the words that are looked for below
        hidden = texts.hidden_count(whole)
        pieces = [piece._replace(text=texts.clean(piece.text)) for piece in pieces]
        whole = SEPARATOR.join(piece.text for piece in pieces)
        unquoted = texts.bare(whole)
    places = _signs().places(unquoted)
    rules = texts.suspects(whole, unquoted, places)
    of_mail, of_bots = _bare_signs()
    has_mail = not of_mail.isdisjoint(places)
    has_bot = not of_bots.isdisjoint(places)
    names = _names(pieces, document_id)
    mention = _mention(names, whole) if "@" in places else None
    parts: list[str] = []
    posts: list[Post] = []
    position = 0
    for piece in pieces:
        written = piece.text
        if has_mail and piece.kind != PostKind.TITLE:
            written = without_reply(written)
        if rules.rules:
            written = texts.redact(written, rules=rules)
        if mention:
            written = mention.sub("@user", written)
        written = written.rstrip().lstrip("\n")
        if not written:
            continue
        if parts:
            position += len(SEPARATOR)
        parts.append(written)
        end = position + len(written)
        posts.append(
            Post(
                kind=piece.kind,
                start=position,
                end=end,
                url=piece.url,
                posted_at=piece.posted_at,
                author_role=piece.role,
                author_hash=names.get(piece.author or ""),
                is_bot=piece.is_bot or (has_bot and is_bot_text(written)),
                reactions=piece.reactions,
            )
        )
        position = end
    return Assembled(SEPARATOR.join(parts), tuple(posts), hidden)


@cache
def _signs() -> Signs:
    """What the steps above look for, so that a text without any of it is looked at once."""
    return Signs((*texts.redaction_keywords(), *_bare_signs()[0], *_bare_signs()[1]))


@cache
def _bare_signs() -> tuple[frozenset[str], frozenset[str]]:
    """The signs of mail and of bots as they stand in a text without blanks and quotes."""
    of_mail, of_bots = (frozenset(texts.bare(sign).decode() for sign in some) for some in (SIGNS, signs()))
    return of_mail, of_bots


@lru_cache(maxsize=4096)  # labels recur
def safe(text: str) -> str:
    """`text` cleaned and redacted, for what stands outside the document's text: labels, the title field."""
    return texts.safe(text)


#: No report is older. Projects that moved to GitHub brought their reports along with the dates: LLVM's begin in 2003,
#: CPython's before 2000.
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
#: Nothing before it was changed last: GitHub is of 2008, and what moves there is changed by moving.
EARLIEST_CHANGE = datetime(2005, 1, 1, tzinfo=UTC)


def utc(value: object) -> datetime | None:
    """The aware UTC time that an ISO string states, None for anything else and for a time before `EARLIEST`."""
    if not isinstance(value, str) or not value:
        return None
    try:
        time = datetime.fromisoformat(value)
        if time.tzinfo is not UTC:
            time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return time if time >= EARLIEST else None


# Whether the times that a file states can be: what says to be of the future would hide the real thread for ever.

#: How far a clock that wrote a file may go ahead of ours.
SLACK = timedelta(days=1)

#: GitHub's own form, or a day: they compare as text as they do as times.
_OURS = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?")
#: The fields that hold times, and those in which there are more of them.
_TIMES = (
    *("created_at", "updated_at", "closed_at", "merged_at", "submitted_at", "published_at"),
    *("createdAt", "updatedAt", "closedAt", "mergedAt"),
)
_CHANGES = frozenset({"updated_at", "updatedAt"})
_NESTED = ("payload", "issue", "pull_request", "comment", "review", "comments", "reviews")
_DEEPEST = 4


def impossible(value: object, *, now: datetime) -> str:
    """The first time in a JSON object or list of GitHub's that cannot be, with its field; "" if all of them can."""
    # what is no time at all is unknown; it does harm only where it would decide which version is the newest
    stated = ((name, text) for name, text in _stated(value, 0) if name in _CHANGES or _moment(text))
    found = ((name, text, _wrong(text, now=now, is_change=name in _CHANGES)) for name, text in stated)
    return next((f"{name} {text[:40]!r} {why}" for name, text, why in found if why), "")


def dated(place: Place, *, now: datetime) -> Place | str:
    """`place` with its version in GitHub's form, so that versions compare, or what is wrong with the version."""
    if not place.version_at or (_OURS.fullmatch(place.version_at) and not _wrong(place.version_at, now=now)):
        return place
    why = _wrong(place.version_at, now=now)
    if why:
        return f"{place.version_at[:40]!r} {why}"
    moment = _moment(place.version_at)
    assert moment is not None
    return replace(place, version_at=moment.isoformat().replace("+00:00", "Z"))


def _stated(value: object, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for item in value if depth < _DEEPEST else ():
            yield from _stated(item, depth + 1)
    if not isinstance(value, dict):
        return
    for name in _TIMES:
        if isinstance(text := value.get(name), str) and text:
            yield name, text
    for name in _NESTED if depth < _DEEPEST else ():
        yield from _stated(value.get(name), depth + 1)


def _wrong(text: str, *, now: datetime, is_change: bool = False) -> str:
    moment = _moment(text)
    if moment is None:
        return "is no time"
    if moment > now + SLACK:
        return f"is in the future of this machine's clock, which says {now:%Y-%m-%d}"  # it may be the clock that errs
    least = EARLIEST_CHANGE if is_change else EARLIEST
    return "" if moment >= least else f"is before {least.year}"


def _moment(text: str) -> datetime | None:
    """The time in UTC of an ISO string, also of one that ends in " UTC", as BigQuery writes it."""
    try:
        moment = datetime.fromisoformat(f"{text[:-4]}Z" if text.endswith(" UTC") else text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _mention(names: Iterable[str], text: str) -> re.Pattern[str] | None:
    """What finds `@login` of the document's own authors. Other words after an @ may be decorators and stay."""
    logins = sorted(names)[:MAX_MENTIONED]
    if text.isascii():  # elsewhere letters of other alphabets may stand for Latin ones
        lower = text.lower()
        logins = [login for login in logins if f"@{login.lower()}" in lower]
    if not logins:
        return None
    return re.compile(rf"@(?:{'|'.join(map(re.escape, logins))})(?![A-Za-z0-9-])", re.IGNORECASE)


def _names(pieces: Sequence[Piece], document_id: str) -> dict[str, str]:
    """A name for each author that tells two of one document apart and nothing else.

    It is made from the order in which they appear, not from the login: a hash of a login can be guessed back.
    """
    names: dict[str, str] = {}
    for piece in pieces:
        if piece.author and piece.author not in names:
            names[piece.author] = content_id("author", document_id, str(len(names)))
    return names


def page_document(  # noqa: PLR0913 - the fields that a page of no thread has
    page: RawPage,
    *,
    kind: DocumentKind,
    url: str,
    title: str | None,
    text: str,
    posts: tuple[Post, ...],
    record: DocRecord | None = None,
    payload: str | None = None,
    opened_at: datetime | None = None,
    updated_at: datetime | None = None,
    is_lossy: bool = False,
    hidden_count: int = 0,
) -> Document:
    """The document of a page that belongs to no thread: it has no number, no state and no labels."""
    return Document(
        document_id=page.document_key,
        kind=kind,
        url=url,
        repo=None,
        number=None,
        title=title,
        text=text,
        posts=posts,
        state=None,
        state_reason=None,
        is_draft=None,
        is_merged=None,
        labels=(),
        opened_at=opened_at,
        updated_at=updated_at,
        closed_at=None,
        links=(),
        record=record,
        payload=payload,
        raw_sha256=page.sha256,
        source=page.source,
        form=page.form,
        is_lossy=is_lossy,
        fixed_in=(),
        hidden_count=hidden_count,
    )
