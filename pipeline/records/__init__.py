"""The records that cross a stage border, in the order in which they come to be.

Frozen and slotted: millions pass. A stage takes records and gives back records or :class:`Skipped`; a dict never
crosses a border. Times are aware and UTC; offsets count characters (code points) of the text named beside them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

#: Author associations as GitHub names them, most trusted first. None: the source does not say.
MAINTAINER_ROLES = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})

#: What the id of a rule begins with if the "rule" is a language model: "llm:<model>@<host>#<prompt>".
MODEL_RULES = "llm:"


def content_id(prefix: str, *parts: str) -> str:
    """`prefix:` and 16 hexadecimal digits made from `parts` alone: same content, same id, anywhere, any day."""
    digest = hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=8)
    return f"{prefix}:{digest.hexdigest()}"


def shelf_of(document_id: str) -> str:
    """The name of a folder for what is kept about one document, without its address."""
    return content_id("thread", document_id).replace(":", "-")


# ---------------------------------------------------------------- raw


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


# ---------------------------------------------------------------- documents


class Post(NamedTuple):
    """One piece of writing inside a document: its title, body, a comment, a review. `document.text[start:end]`.

    A named tuple, as `Frame` is: there are many, and a frozen dataclass takes 2.6 us to make, this 0.5.
    """

    kind: str  # "title" | "body" | "comment" | "review" | "section"
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

    # What a text states: "text_mention" | "duplicate_of" | "closes" (keyword of a pull request's description; the API
    # may say so too). What only the API states: "closed_by" | "cross_reference" | "commit_ref".
    kind: str
    target: (
        str  # document id ("github.com/o/r#5"), commit ("github.com/o/r@sha") or "#5" where the repository is unknown
    )
    start: int | None  # where the text says so; None if the API said it
    end: int | None


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
class Document:
    """One thread, page or foreign entry, whole: `text` holds title, body and comments one after the other.

    Secrets are redacted and control and bidi characters removed before `text` is made, so every quote taken from it may
    be shown. Every offset in this project, unless it says otherwise, counts in this text.
    """

    document_id: str  # "github.com/o/r#5", "openxla.org/xla/errors/error_1001", or "page:<sha256[:16]>" if unknown
    kind: str  # "issue" | "pull" | "doc" | "entry"
    url: str  # canonical URL, or urn:sha256:<raw sha256> where no URL is known
    repo: str | None
    number: int | None
    title: str | None
    text: str
    posts: tuple[Post, ...]
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


# ---------------------------------------------------------------- extract


class Frame(NamedTuple):
    """One stack frame, outermost first in a traceback."""

    file: str | None
    line: int | None
    function: str | None


@dataclass(frozen=True, slots=True)
class Link:
    """An exception that was printed before (or inside) the event's own one."""

    link: str  # "cause" | "context" | "group" | "reraise" | "remote" | "wrapper"
    exception_type: str | None
    message: str  # first line
    frame_count: int
    detail: str = ""  # the whole message where it has more than one line (bounded)


@dataclass(frozen=True, slots=True)
class Slot:
    """A typed parameter: what varies between occurrences of one error."""

    name: str  # "required", "limit", "bytes", "shape", "dtype", "device", "rank", "path", "arch", ...
    value: str  # as printed
    number: float | None  # its value in `unit`, where it has one
    unit: str | None  # "byte", "thread", ...


@dataclass(frozen=True, slots=True)
class Event:
    """One failure as a text shows it: a traceback with its chain, a native diagnostic, a status line.

    `start` and `end` are offsets of the whole block in the text given to `extract.events`. `message` is the first line
    of the message of the last printed exception, without boilerplate; `detail` is the whole of it (bounded).
    """

    dialect: str  # "python" | "pytest" | "ipython" | "faulthandler" | "cpp" | "glog" | "llvm" | "mlir" | "ptxas" | ...
    exception_type: str | None  # as printed, qualified: "triton.runtime.errors.OutOfResources"
    message: str
    detail: str
    frames: tuple[Frame, ...]
    chain: tuple[Link, ...]  # earlier exceptions, first printed first; the last printed one is the event itself
    codes: tuple[str, ...]  # "xla:E1001", "absl:RESOURCE_EXHAUSTED", "cuda:cudaErrorIllegalAddress", "nccl:..."
    start: int
    end: int
    is_truncated: bool
    severity: (
        str  # "error" | "warning" | "interruption" (KeyboardInterrupt ...) | "wrapper" (`make: *** Error`); see build
    )


# ---------------------------------------------------------------- normalise


@dataclass(frozen=True, slots=True)
class Signature:
    """What an event is, with what varies taken out. Events with equal (`gate`, `text`) are one template.

    `gate` holds the discriminators, sorted pairs such as ("code", "cuda:cudaErrorIllegalAddress"), ("resource",
    "shared memory"): two signatures with different gates are never joined, whatever a fuzzy score says.
    """

    signature_id: str  # content_id("signature", version, gate, text)
    exception_type: str | None  # canonical, short where the equivalence table says so
    text: str  # readable template, slots as <name>: "out of resource: shared memory, Required: <n>, ..."
    gate: tuple[tuple[str, str], ...]
    is_gate_complete: bool  # True: the gate alone identifies the error, the text needs no fuzzy check
    frame_key: str  # innermost meaningful frames, "" if there are none; explains, never gates
    slots: tuple[Slot, ...]
    culprit: str  # id of the rule that chose the culprit line
    start: int  # the culprit line in the text given to `extract.events`
    end: int
    is_truncated: bool  # a cut text never founds a group by itself
    notes: tuple[str, ...]  # one short note per rule that acted, "rule-id: what it did"


# ---------------------------------------------------------------- cluster


@dataclass(frozen=True, slots=True)
class Template:
    """A distinct (gate, text) with its weight: what clustering sees."""

    signature_id: str
    exception_type: str | None
    text: str
    gate: tuple[tuple[str, str], ...]
    is_gate_complete: bool
    is_truncated: bool
    count: int  # events that have it
    first_seen: str  # least ISO date of its events, "" if unknown


@dataclass(frozen=True, slots=True)
class Assignment:
    """Why a template is in its cluster; stored when decided, never recomputed."""

    signature_id: str
    cluster_id: str
    rule: str  # founder, leader, gate, equal, ratio, slot, prefix, untyped, quote, override or review
    score: float  # 0-100 against the medoid
    explanation: str  # one sentence for people


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Two clusters that look alike and are not one, with the reason: "why are these two not together?"."""

    cluster_id: str
    other_id: str
    score: float
    reason: str  # "gate resource: shared memory / threads" or "score 78.1 < 90"


@dataclass(frozen=True, slots=True)
class Cluster:
    """One error: templates that mean the same."""

    cluster_id: str
    medoid: str  # signature_id of the representative
    exception_type: str | None
    text: str  # the medoid's
    gate: tuple[tuple[str, str], ...]
    members: tuple[str, ...]  # signature ids, sorted
    regex: str  # RE2, bounded gaps, matches every member; "" if none could be proven
    lowest_score: float

    @property
    def headline(self) -> str:
        """The text, with the exception's name in front where the text does not say it; the id of one without words."""
        if not self.exception_type or self.exception_type.rsplit(".", 1)[-1] in self.text:
            return self.text or self.exception_type or self.cluster_id
        return f"{self.exception_type}: {self.text}" if self.text else self.exception_type


# ---------------------------------------------------------------- distil


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document, verbatim: `text == document.text[start:end]`, at most 300 characters."""

    document_id: str
    url: str
    raw_sha256: str
    start: int
    end: int
    text: str
    lang: str  # "en" | "zh" | "ja" | "ko" | "und"
    posted_at: str | None  # ISO time
    author_role: str | None
    author_hash: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    """A language-free statement: a message template's id and its atoms. `translate` renders it in both languages."""

    template: str  # id in the catalogue, "remedy.set_env"
    slots: tuple[tuple[str, str], ...]  # atoms only: identifiers, numbers, glossary terms; sorted by name


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that one quote says about the error of the events named."""

    claim_id: str
    # "cause" | "remedy" | "fix" | "version" | "environment" | "link", and two that `reduce` puts where they belong:
    # "official" (a page's words), "closing" (a merged pull request's, about the report that it closed: `key` is its id)
    kind: str
    rule: str  # id of the rule that found it
    fact: Fact | None  # None: prose, the quote itself is the statement
    outcome: str | None  # remedies: "worked" | "failed" | None (merely suggested)
    key: str  # what makes two claims the same remedy: gates on flag, direction, package and version; "" if unkeyed
    quote: Quote
    outcome_quote: Quote | None  # where outcome was said elsewhere than the remedy
    signature_ids: tuple[str, ...]  # the errors of that document that it speaks about


@dataclass(frozen=True, slots=True)
class Pointed:
    """Words of a document that a language model pointed at, `document.text[start:end]`; not yet a claim."""

    kind: str  # "cause" | "remedy"
    start: int
    end: int
    statement: str  # what the words say in the model's own sentence; read for typed facts, never published
    rule: str  # "llm:<model>@<host>#<prompt>"


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that could not go on. Counted, reported, never silent: in = out + skipped."""

    stage: str
    item_id: str  # file and place, or a record's id
    reason: str  # one of the reasons in data/skip_reasons.toml
    detail: str = ""  # for people, bounded, no secrets
