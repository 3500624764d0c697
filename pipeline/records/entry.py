"""The published knowledge entry. `schemas/entry-1.0.json` is generated from here and compared in a test.

A field is only ever added, with a sentence and a new `SCHEMA_VERSION`. Every number in an entry is counted from its
`evidence`; what is not known is null. Lists are sorted, so equal knowledge has equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from pipeline.records.claims import Role

SCHEMA_VERSION = "1.0"

#: An ISO date, "2026-03-11".
IsoDate = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
EntryId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9._-]*$")]
Rate = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
#: Digits of every rate in an entry: more than counts of documents can carry, so that equal shares have equal bytes.
_RATE_DIGITS = 3


Tier = Literal["documented", "maintainer_confirmed", "user_confirmed", "reported", "ai_generated"]
Standing = Literal["confirmed", "documented", "fixed", "replied", "suggested"]  # of one remedy, the best first
STANDINGS: tuple[Standing, ...] = get_args(Standing)
TranslationStatus = Literal[
    "source", "template", "tm_exact", "reviewed", "human", "llm_checked", "mt_checked", "imported_checked",
    "untranslated", "not_applicable",
]  # fmt: skip
#: An entry has at most so many leads, of shares from there on. Less sure finds stay candidates: shown where nothing
#: else was known, of 21 that two readers judged with their threads they called 7 wrong, and 6 right.
MOST_LEADS, LEAST_LEAD_SHARE = 3, 50
#: What stands where a quoted block goes on.
CUT = "\n…"
#: A statement shows at most so many replies.
MOST_REPLIES = 3
#: `root_cause_type` of a cause that the program prints itself, or the string of its code.
PROGRAM = "program"
#: One or two sentences.
Sentences = Annotated[str, Field(min_length=20, max_length=600)]
Chinese = Annotated[str, Field(min_length=8, max_length=300)]
Address = Annotated[str, Field(pattern=r"^https://[^\s]{3,400}$")]
#: More is a manual: it stands at the address.
MOST_CHECKS = 2


def rate(good: float, other: float) -> Rate | None:
    """The share of `good` among both counts, rounded to 3 digits; None where both are 0: nobody said."""
    return round(good / (good + other), _RATE_DIGITS) if good + other else None


class _Part(BaseModel):
    """Frozen, unknown fields refused: a typing error in a field's name is an error, not a silent null."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Evidence(_Part):
    """One quote in one document, with the place where anybody can check it."""

    evidence_id: str = Field(description="Made from document, offsets and role; remedies and claims refer to it.")
    role: Role
    url: str = Field(description="Permalink of the post or page; urn:sha256:... where the source has no known URL.")
    kind: Literal["issue", "pull", "doc"]
    document_id: str = Field(description="The document counted: evidence_count is the number of distinct ones.")
    repo: str | None
    number: int | None
    state: str | None
    posted_at: str | None = Field(description="ISO time of the post, null if the source does not say.")
    author_role: str | None = Field(description="GitHub's author_association, or PROGRAM; never a name.")
    quote: Annotated[str, Field(min_length=1, max_length=300)]
    quote_lang: str
    start: Count = Field(description="Offset in the document's text, in characters.")
    end: Count
    raw_sha256: str = Field(description="sha256 of the raw page that the quote was read from.")
    rule: str = Field(description="Id of the rule that found it.")


class _Shown(_Part):
    """Words that an entry shows and counts nowhere, with the place where anybody can read them."""

    quote: Annotated[str, Field(min_length=1, max_length=300)] = Field(description="Verbatim; nobody checked it.")
    quote_lang: str
    url: str = Field(description="Permalink of the post; urn:sha256:... where the source has no known URL.")
    document_id: str
    repo: str | None
    number: int | None
    posted_at: str | None = Field(description="ISO time of the post, null if the source does not say.")
    author_role: str | None = Field(description="GitHub's author_association; never a name.")
    start: Count = Field(description="Offset in the document's text, in characters.")
    end: Count
    raw_sha256: str = Field(description="sha256 of the raw page that the quote was read from.")
    claim_id: str = Field(description="The row of the view `candidates`.")


class Passage(_Part):
    """What belongs to quoted words, of the same post: neither says it without the other."""

    quote: Annotated[str, Field(min_length=1, max_length=300)] = Field(description="Verbatim; nobody checked it.")
    start: Count = Field(description="Offset in the document's text, in characters.")
    end: Count
    is_cut: bool = Field(description="It goes on there behind what is quoted.")

    @property
    def text(self) -> str:
        """Its words, and a mark where they go on."""
        return self.quote + (CUT if self.is_cut else "")


class Lead(_Shown):
    """Words that a trained reader, a language model or a doubted rule takes for a statement: counted nowhere."""

    kind: Literal["cause", "remedy", "fix", "failure"] = Field(
        description="What it may be: why the error comes, what helps, where it is fixed, what did not help."
    )
    share: Annotated[int, Field(ge=LEAST_LEAD_SHARE, le=100)] = Field(
        description="Of a hundred labelled passages of such a score, or statements as doubtful, so many were right: at "
        f"least {LEAST_LEAD_SHARE}."
    )
    passage: Passage | None = Field(
        default=None,
        description="What the quote announces, a block, a list or lines; or the sentence before, that names what it "
        "points at. Null where the quote says it alone.",
    )

    @property
    def is_led(self) -> bool:
        """Whether its passage stands before the quote."""
        return self.passage is not None and self.passage.start < self.start


class Reply(_Shown):
    """What somebody answers to an act in one of the next posts, in few words: to read, counted nowhere."""

    outcome: Literal["worked", "failed"] = Field(description="What the words say became of it.")


class Workaround(_Part):
    """Something that people did or were told to do against the error."""

    action: Annotated[str, Field(min_length=1)]
    action_lang: str = Field(description='Language of `action`: "en", or the quote\'s own, such as "zh".')
    how: str | None = Field(description="A command or the quoted words, where they add to `action`; never equal to it.")
    condition: str | None = Field(description="When it applies, in the words of the quote; null if nobody says.")
    success_rate: Rate | None = Field(description="worked / (worked + failed); null if nobody said.")
    worked: Count = Field(description="Documents in which somebody said that it helped.")
    failed: Count
    tier: Tier
    sources: list[str] = Field(description="URLs of the evidence.")
    evidence: list[str] = Field(description="evidence_id of every quote that counts here.")
    replies: Annotated[list[Reply], Field(max_length=MOST_REPLIES)] = Field(
        default_factory=list,
        description='What the next posts answer to it ("That fixed it, thanks!"), oldest first. It may be of something '
        "that stands between them, so it is read beside the act, and `worked` and `failed` count none of it.",
    )


class DeadEnd(_Part):
    """Something that was tried and did not help: attempt and outcome are both quoted."""

    action: Annotated[str, Field(min_length=1)]
    action_lang: str
    why_fails: str | None = Field(description="Why it did not help, in the words of the quote; null if nobody says.")
    condition: str | None
    fail_rate: Rate | None = Field(description="failed / (worked + failed).")
    worked: Count
    failed: Annotated[int, Field(ge=1)]
    sources: list[str]
    evidence: list[str]


class CaseStatement(_Part):
    """What somebody says in one case: why the error comes there, what helped, what did not."""

    kind: Literal["cause", "workaround", "dead_end"]
    text: Annotated[str, Field(min_length=1, description="A fact as a sentence, or the quoted words.")]
    text_lang: str = Field(description='Language of `text`: "en", or the quote\'s own, such as "zh".')
    text_zh: str | None = Field(description="The same in Chinese, null with the reason in `translations`.")
    cause_type: str | None = Field(
        default=None, description="Causes: what kind, as `cause_type` of an entry; null where no kind is sure."
    )
    how: str | None = Field(description="A command or the quoted words, where they add to `text`; never equal to it.")
    condition: str | None = Field(description="When it applies, in the words of the quote; null if nobody says.")
    why_fails: str | None = Field(description="Dead ends: why, in the words of the quote; null if nobody says.")
    worked: Count = Field(description="Documents in which somebody said that it helped.")
    failed: Count
    tier: Tier
    sources: list[str] = Field(description="URLs of the evidence.")
    evidence: list[str] = Field(description="evidence_id of every quote that counts here.")
    replies: Annotated[list[Reply], Field(max_length=MOST_REPLIES)] = Field(
        default_factory=list, description="Acts: what the next posts answer, as `replies` of a workaround."
    )


class Case(_Part):
    """The error as one project meets it in one place: what is said here was said of that, and of no other program."""

    repo: str = Field(description="The project whose threads these are, owner/repo.")
    frame: str | None = Field(description='"module:function" that raised it there, null if no frames are shown.')
    library: str | None = Field(description="Installed package whose code raised it, null where none is known.")
    documents: list[str] = Field(description="document_id of each thread of the project that shows it there.")
    documents_omitted: Count = Field(
        default=0, description="Further such threads, of which the entry shows no evidence; see `evidence_omitted`."
    )
    statements: Annotated[list[CaseStatement], Field(min_length=1)] = Field(
        description="Causes, then what helped, then what did not; best supported first."
    )


class Version(_Part):
    """A version in which the error was seen, introduced or fixed."""

    version: str = Field(description='Product and version, "Triton 3.6.0".')
    introduced: str | None
    deprecated: str | None
    removed: str | None
    behavior_change: str | None
    status: str = Field(description='"affected", "fixed" or "active" (imported entries).')
    count: Count = Field(description="Documents that name it.")
    evidence: list[str]


class Environment(_Part):
    """A fact about where the error was seen: GPU, driver, CUDA, OS, Python, ..."""

    name: str
    value: str
    count: Count
    evidence: list[str]


class Edge(_Part):
    """A typed relation to another entry."""

    entry_id: str
    count: Count = Field(description="Documents that show it; 0 for frequently_confused_with, which is computed.")
    reason: str
    evidence: list[str]


class TransitionGraph(_Part):
    """How this error and others follow or resemble each other."""

    leads_to: list[Edge]
    preceded_by: list[Edge]
    frequently_confused_with: list[Edge]


class Translation(_Part):
    """How one field came into its second language."""

    status: TranslationStatus = Field(
        description="source: people wrote it in Chinese; reviewed: written by hand from the official text and read by "
        "two others; template, tm_exact, human, llm_checked, mt_checked: how errmine got it; imported_checked: it "
        "came with an entry made elsewhere, who wrote it is unknown."
    )
    engine: str | None = Field(
        description='"template/cause.exceeds@1"; "tm/signatures", "tm/statements": a translator wrote it for this '
        'sentence, values apart; "llm:<model>"; null if untranslated.'
    )
    gates: dict[str, bool] = Field(description="Every gate that looked at it, and whether it passed.")
    source_lang: str
    source_sha256: str = Field(description="sha256 of the source text in UTF-8: a changed source voids it.")
    reason: str | None = Field(description="Why it is null, if it is.")


class Provenance(_Part):
    """Which rules made this entry, and how good they are."""

    rules: dict[str, Count] = Field(description="Rule id -> pieces of evidence that it found.")
    rule_precision: dict[str, str] = Field(description='Rule id -> "right/all" on the labelled file, where measured.')
    normaliser: str = Field(description="Version of the normalisation rules.")
    origin: Literal["mined", "imported", "catalogue"]
    imported_from: str | None = Field(description="sha256 of the foreign entry, if it was imported.")
    withheld: dict[str, Count] = Field(
        default_factory=dict,
        description="Reason -> statements of threads that are not shown: advice that nobody tried, or words of one "
        "project that no case can name; the table `withheld` has each.",
    )


class Parameter(_Part):
    """What varied between occurrences, as numbers that SQL can ask about."""

    name: str
    unit: str | None
    least: float | None
    greatest: float | None
    values: list[str] = Field(description="At most 20 distinct values as printed, most frequent first.")
    count: Count


class KnowledgeEntry(_Part):
    """One error, what is known about it, and from where."""

    schema_version: str
    id: EntryId
    cluster_id: str | None
    signature: Annotated[
        str,
        Field(
            min_length=1,
            description="The message, with slots where occurrences differ; docs/counting.md, 'The title'.",
        ),
    ]
    signature_zh: str | None = Field(description="What the signature means, in Chinese; keeps every identifier.")
    regex: str | None = Field(description="RE2; matches every member event and no other cluster's.")
    domain: str
    category: str
    subcategory: str | None
    exception_type: str | None = Field(description="Of nearly all documents that show it; null if there is none.")
    root_cause: str | None
    root_cause_type: str | None = Field(
        description='"documented", "quoted", "program", "generic" (imported) or "model" (a quote that only a language '
        "model picked)."
    )
    cause_type: str | None = Field(
        default=None,
        description="What kind of cause it is, of a closed set (docs/causes.md), so that causes can be counted; null "
        "where no kind is sure. `root_cause_zh` of a quoted cause is its translation where a translator wrote one, "
        "else the sentence of its kind.",
    )
    root_cause_zh: str | None
    root_cause_evidence: list[str]
    documentation: Documentation | None = Field(
        default=None,
        description="What the documentation of its project says that the code or the message means; no thread said it, "
        "and it is no answer. Null where no row of a pack explains it, or an official page is its cause.",
    )
    versions: list[Version]
    environment: list[Environment]
    parameters: list[Parameter]
    os_specific: dict[str, list[str]] = Field(
        description="Operating system -> quoted causes, fixes and remedies that say that they are about it."
    )
    dead_ends: list[DeadEnd]
    dead_ends_zh: list[str | None]
    workarounds: list[Workaround]
    workarounds_zh: list[str | None]
    cases: list[Case] = Field(
        default_factory=list,
        description="Of an error that many programs print, or whose words name nothing: what single projects say of "
        "it. What three unrelated projects did alike stands in `workarounds`.",
    )
    leads: Annotated[list[Lead], Field(max_length=MOST_LEADS)] = Field(
        default_factory=list,
        description="What people may have said of it, picked by a trained reader or by a rule that is not sure, "
        "and confirmed by nobody; best first. "
        "They are no statements: nothing is counted of them, and they are no answer.",
    )
    transition_graph: TransitionGraph
    official_doc_url: str | None
    official_doc_section: str | None
    error_code: str | None
    codes: list[str]
    verification_tier: Tier
    confidence: Rate | None = Field(
        description="Documented formula over counts, README 'Confidence'; null without evidence."
    )
    fix_success_rate: Rate | None
    resolvable: Literal["true", "false", "partial"] | None
    first_seen: IsoDate | None
    last_confirmed: IsoDate | None
    last_updated: IsoDate | None
    evidence_count: Count = Field(
        description="Distinct documents in `evidence` and in what `evidence_omitted` leaves out of it: those that show "
        "the error and those that explain it, fix it or say what helped."
    )
    occurrence_count: Count = Field(description="Events of the cluster, repeats inside a document included.")
    evidence: list[Evidence]
    evidence_omitted: Count = Field(
        default=0,
        description="Pieces of evidence that are counted and not shown: an entry shows 200, more only where each "
        "statement needs its own. Lists of citations and sources then name what is shown; the tables `evidence` and "
        "`citations` of the database have all.",
    )
    tags: list[str]
    locale: str = Field(description='Language of the unsuffixed fields: "en".')
    aliases: list[str]
    translations: dict[str, Translation] = Field(
        description="Field -> how its Chinese came to be; `cases_zh[2]` is that of the third statement of all cases."
    )
    provenance: Provenance

    @property
    def replies(self) -> list[Reply]:
        """What the next posts answer to its acts, in the order of the acts."""
        said = (statement for case in self.cases for statement in case.statements)
        return [
            *(one for act in self.workarounds for one in act.replies),
            *(one for act in said for one in act.replies),
        ]


def remedy_standing(worked: int, tier: str | None = None, replied: Iterable[str] = ()) -> Standing:
    """Whether somebody said of a remedy that it worked, an official page says it, or it is only advised.

    What closed a report as fixed has the tier of what users confirm, though nobody says that it worked: the project's
    fix. `replied`: the outcomes of its replies; who confirms an act in a reply is somebody, though not counted.
    """
    if worked or tier == "documented":
        return "confirmed" if worked else "documented"
    if tier == "user_confirmed":
        return "fixed"
    return "replied" if "worked" in replied else "suggested"


def statement_label(kind: str, worked: int, tier: str | None) -> str:
    """What a case's statement is called: of an act that nobody counted says to have helped, whose word it is."""
    if kind != "workaround" or worked:
        return kind
    return "fixed" if remedy_standing(worked, tier) == "fixed" else "suggested"


def is_answered(entry: KnowledgeEntry | Mapping[str, Any]) -> bool:
    """Whether an entry, or its JSON, says why the error comes or what helps: a cause, a remedy, a fix, official text.

    In a case as well as of the error itself. What the program prints itself is no answer, nor are dead ends alone;
    docs/counting.md, "An answer".
    """
    told = entry if isinstance(entry, Mapping) else vars(entry)
    return bool(
        is_explained(told)
        or told["workarounds"]
        or "workaround" in _said_of_cases(told)
        or any(_value(version, "status") == "fixed" for version in told["versions"])
        or any(_value(piece, "role") == "official" for piece in told["evidence"])
    )


def is_explained(entry: KnowledgeEntry | Mapping[str, Any]) -> bool:
    """Whether anybody says why the error comes, of itself or in a case.

    A cause that the program states ("program") stands in every log that asks: whoever reads it knows it already.
    """
    told = entry if isinstance(entry, Mapping) else vars(entry)
    has_cause = bool(told["root_cause"] or told["root_cause_zh"]) and told["root_cause_type"] != PROGRAM
    return has_cause or "cause" in _said_of_cases(told)


def _said_of_cases(told: Mapping[str, Any]) -> set[str]:
    """The kinds of what the cases of an entry say."""
    return {_value(one, "kind") for case in told.get("cases", ()) for one in _value(case, "statements")}


def _value(part: object, name: str) -> Any:
    """A field of a part of an entry, which is a record or its JSON."""
    return part[name] if isinstance(part, Mapping) else getattr(part, name)


class FirstCheck(_Part):
    """Where to look first, as the documentation says; nobody counted whether it helped."""

    text: Sentences
    text_zh: Chinese


class Documentation(_Part):
    """What the code or the message means wherever it is printed, in errmine's words; both languages are originals."""

    text: Sentences
    text_zh: Chinese
    checks: Annotated[list[FirstCheck], Field(max_length=MOST_CHECKS)] = Field(
        description="What to look at first; no remedy, and counted nowhere."
    )
    url: Address = Field(description="The page of the project on which it can be read.")
    row: str = Field(description='The row of a pack that says it, "system/sigsegv".')


def is_documented(entry: object) -> bool:
    """Whether documentation says what the error of an entry, or of its JSON, means."""
    told: Mapping[str, Any] = entry if isinstance(entry, Mapping) else vars(entry)
    return bool(told.get("documentation")) or told["root_cause_type"] == "documented"
