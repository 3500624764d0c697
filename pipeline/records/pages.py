"""From `raw` and `documents`: a page as a source gave it, the document that its pages make, and their ids."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

#: Author associations as GitHub names them, most trusted first. None: the source does not say.
MAINTAINER_ROLES = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
#: The role of words that a program printed, whoever pasted them: its own hints.
PROGRAM = "PROGRAM"


@dataclass(frozen=True, slots=True)
class RawPage:
    """One page, verbatim, as a source gave it: an issue's JSON object, one comment, one saved file, one docs page.

    `document_key` names the document that the page belongs to (it becomes `Document.document_id`) and `part` the place
    it takes there: "main" (issue, PR, page), "comment:<id>", "comments" (a JSON list), "review:<id>", "timeline", ...
    Of several pages with one key and part the one with the greatest (`version_at`, `sha256`) is current.
    """

    sha256: str  # of `body`
    source: str  # which source brought it: "import", "github", "xla", ...
    url: str | None  # where it was fetched from, None if unknown
    form: str  # which reader understands it; see documents.READERS
    document_key: str
    part: str
    version_at: str  # ISO time of this version by the source's own word ("" if unknown)
    fetched_at: datetime | None  # None for files on disk: the wall clock never enters
    etag: str | None
    body: bytes


@dataclass(frozen=True, slots=True)
class PageRef:
    """A page that raw keeps, without its body, and where the body lies."""

    sha256: str
    source: str
    url: str | None
    form: str
    document_key: str
    part: str
    version_at: str
    fetched_at: datetime | None
    etag: str | None
    segment: str  # file name in raw/segments
    offset: int  # of the deflated body in that file
    length: int  # of the deflated body
    size: int  # of the body


class DocumentKind(StrEnum):
    """What a document is."""

    ISSUE = "issue"
    PULL = "pull"
    DOC = "doc"
    RELEASE = "release"  # of a project, with its notes
    ENTRY = "entry"  # knowledge made elsewhere

    @property
    def is_thread(self) -> bool:
        """Whether people talk in it."""
        return self in (DocumentKind.ISSUE, DocumentKind.PULL)


class PostKind(StrEnum):
    """What a post is in its document."""

    TITLE = "title"
    BODY = "body"
    COMMENT = "comment"
    REVIEW = "review"
    SECTION = "section"


class LinkKind(StrEnum):
    """What one document is to another, and who says so."""

    TEXT_MENTION = "text_mention"  # the text
    DUPLICATE_OF = "duplicate_of"  # the text
    CLOSES = "closes"  # a keyword in a pull request's description; or the API
    CLOSED_BY = "closed_by"  # the API alone, as the next two
    CROSS_REFERENCE = "cross_reference"
    COMMIT_REF = "commit_ref"


class Post(NamedTuple):
    """One piece of writing inside a document: its title, body, a comment, a review. `document.text[start:end]`.

    A named tuple, as `Frame` is: there are many, and a frozen dataclass takes 2.6 us to make, this 0.5.
    """

    kind: PostKind
    start: int
    end: int
    url: str | None  # permalink of the piece, where known
    posted_at: datetime | None
    author_role: str | None  # OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, NONE, ...; None if the source does not say
    author_hash: str | None  # salted; the same person in one document has the same hash; never a name
    is_bot: bool
    reactions: int  # thumbs up minus thumbs down, 0 if unknown


@dataclass(frozen=True, slots=True)
class DocLink:
    """A typed edge from this document to another."""

    kind: LinkKind
    target: (
        str  # document id ("github.com/o/r#5"), commit ("github.com/o/r@sha") or "#5" where the repository is unknown
    )
    start: int | None  # where the text says so; None if the API said it
    end: int | None
    title: str | None = None  # of the target, where the API said it beside the edge


@dataclass(frozen=True, slots=True)
class DocRemedy:
    """One remedy that an official page gives. `text == document.text[start:end]`."""

    section: str  # the heading it stands under
    title: str  # its bold lead ("Adjust Block Sizes"), "" if it has none
    text: str
    flags: tuple[str, ...]  # flags, parameters and environment variables that it names
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DocRecord:
    """What an official error page says, the same from Markdown, HTML and (lossy) plain text."""

    code: str  # "xla:E1001"
    name: str | None  # catalogue name, CompileTimeScopedVmemOom
    title: str
    phase: str | None  # "Compile Time"
    category: str | None  # "Scoped Vmem OOM"
    backends: tuple[str, ...]
    status_code: str | None  # as the sample prints it; error_codes.h may disagree and has its own record
    summary: str  # first paragraph
    samples: tuple[str, ...]
    templates: tuple[str, ...]
    scenarios: tuple[str, ...]  # headings of scenario sections
    remedies: tuple[DocRemedy, ...]
    links: tuple[str, ...]
    first_seen: str | None  # ISO date of landing, where the source knows it
    last_updated: str | None
    is_lossy: bool


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """What is known of a thread, page or foreign entry besides its text: what counting and citing need."""

    document_id: str  # "github.com/o/r#5", "openxla.org/xla/errors/error_1001", or "page:<sha256[:16]>" if unknown
    kind: DocumentKind
    url: str  # canonical URL, or urn:sha256:<raw sha256> where no URL is known
    repo: str | None
    number: int | None
    title: str | None
    state: str | None  # "open" | "closed" | None
    state_reason: str | None
    is_draft: bool | None
    is_merged: bool | None
    labels: tuple[str, ...]
    opened_at: datetime | None
    updated_at: datetime | None
    closed_at: datetime | None
    links: tuple[DocLink, ...]
    record: DocRecord | None  # official pages only
    payload: str | None  # kind "entry": the foreign entry's JSON text
    raw_sha256: str  # of the main page
    source: str
    form: str
    is_lossy: bool
    fixed_in: tuple[str, ...]  # versions that its tracker names as those with the fix
    # invisible characters that were taken out when it was read: zero-width, bidi, private use, variation selectors
    hidden_count: int


@dataclass(frozen=True, slots=True)
class Document(DocumentHead):
    """One thread, page or foreign entry, whole: `text` holds title, body and comments one after the other.

    Secrets are redacted and control and bidi characters removed before `text` is made, so every quote taken from it may
    be shown. Every offset in this project, unless it says otherwise, counts in this text.
    """

    text: str
    posts: tuple[Post, ...]

    def post_at(self, offset: int) -> int:
        """The number of the post that holds `offset`, or the last one before it; -1 before the first."""
        return bisect_right(self.posts, offset, key=_start) - 1


def _start(post: Post) -> int:
    return post.start


def iso(moment: datetime | None) -> str | None:
    """A time as records hold it: ISO 8601 in UTC, None where it is unknown."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None


def content_id(prefix: str, *parts: str) -> str:
    """`prefix:` and 16 hexadecimal digits made from `parts` alone: same content, same id, anywhere, any day."""
    digest = hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=8)
    return f"{prefix}:{digest.hexdigest()}"


def shelf_of(document_id: str) -> str:
    """The name of a folder for what is kept about one document, without its address."""
    return content_id("thread", document_id).replace(":", "-")
