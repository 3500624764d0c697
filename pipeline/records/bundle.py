"""The published files beside the entries: manifest, index, registry, delta, and the lines that commands print.

Like `entry`: frozen, unknown fields refused, schemas generated from here, a field only ever added.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pipeline.records import leaves
from pipeline.records.entry import SCHEMA_VERSION, KnowledgeEntry, is_answered, is_documented
from pipeline.records.matched import MatchResult

#: Version of the bundle's layout. A minor step adds, a major step changes.
BUNDLE_VERSION = "2.0"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class FileRecord(_Part):
    """One file of the bundle."""

    path: str = Field(description="Relative to the manifest, with forward slashes.")
    sha256: Sha256
    bytes: Count


class LeafRecord(_Part):
    """One part of the entries."""

    prefix: str = Field(
        description='Its entries are those for whose id blake2b (8 bytes) begins so, in `leaves/<prefix>/`; "": all.'
    )
    entries: Count


class Coverage(_Part):
    """How much of a Chinese field there is."""

    field: str = Field(description="signature_zh, root_cause_zh, workarounds_zh, dead_ends_zh or cases_zh.")
    wanted: Count = Field(description="Values that could be there: the English side exists.")
    present: Count = Field(description="Values that are Chinese and passed their gates.")
    by_status: dict[str, Count] = Field(
        default_factory=dict, description="How they came to be: status -> values, as in an entry's translations."
    )


class Answers(_Part):
    """How many errors of a domain have an answer: a cause, a remedy, a fix, or text of an official page."""

    domain: str
    entries: Count
    answered: Count = Field(description="Those of them that have one; dead ends alone are none.")
    documented: Count = Field(default=0, description="Those that documentation explains, answered or not.")
    known: Count = Field(default=0, description="Those that are answered or documented.")


def answers(entries: Iterable[KnowledgeEntry | Mapping[str, Any]]) -> list[Answers]:
    """One row for each domain of `entries`, records or their JSON, sorted by its name."""
    told: dict[str, Counter[str]] = {}
    for entry in entries:
        domain = entry["domain"] if isinstance(entry, Mapping) else entry.domain
        told.setdefault(domain, Counter()).update(known_by(entry))
    return [Answers.model_validate({"domain": name, **told[name]}) for name in sorted(told)]


def known_by(entry: KnowledgeEntry | Mapping[str, Any]) -> dict[str, int]:
    """What an entry adds to the row of its domain."""
    answered, documented = is_answered(entry), is_documented(entry)
    return {"entries": 1, "answered": answered, "documented": documented, "known": answered or documented}


class PackRecord(_Part):
    """A pack that the bundle was made with and that does not come with errmine, or one that comes and was left out."""

    name: str = Field(description='Its name; "-ml" where it was left out.')
    version: str
    sha256: Sha256 = Field(description="Of all its files.")


class Manifest(_Part):
    """What is in a bundle, and how to check it. It is written last: a bundle without it is not whole."""

    schema_version: str = Field(description="Version of the entries.")
    bundle_version: str = Field(description="Version of this layout.")
    bundle_id: Sha256 = Field(description="sha256 over paths and sha256 of all files: equal bundles, equal ids.")
    generator: str = Field(description='"errmine 0.1.0".')
    normaliser: str = Field(
        description='Version of the normalisation rules; with packs added or left out "5+" and a hash.'
    )
    packs: list[PackRecord] = Field(
        default=[], description="The packs that a team added, then those left out; others come with the generator."
    )
    counts: dict[str, Count] = Field(description="entries, evidence, evidence_documents, workarounds, tier.<tier>, ...")
    sources: dict[str, Count] = Field(description="Source -> documents taken from it.")
    chinese: list[Coverage]
    answers: list[Answers] = Field(default=[], description="By domain; empty in bundles of before.")
    licence_note: str = Field(description="What the quotes are and where their rights lie.")
    leaves: list[LeafRecord] = Field(
        default=[],
        description="The parts in which the entries stand, by prefix; empty in bundles of before: all is one.",
    )
    files: list[FileRecord] = Field(description="Every file but this one, by path.")
    seal: Sha256 | None = Field(
        default=None,
        description="sha256 of this file with the 64 digits of this value written as zeros; null in bundles of before.",
    )


class IndexTemplate(_Part):
    """One template of an entry's cluster: what matching compares."""

    signature_id: str
    exception_type: str | None
    text: str
    gate: list[tuple[str, str]]
    is_gate_complete: bool
    is_truncated: bool
    count: Count
    first_seen: str


class IndexEntry(_Part):
    """What is needed to find an entry without reading it."""

    id: str
    cluster_id: str | None
    medoid: str | None = Field(description="signature_id of the representative.")
    signature: str
    signature_zh: str | None
    regex: str | None
    exception_type: str | None
    codes: list[str]
    domain: str
    category: str
    verification_tier: str
    evidence_count: Count
    occurrence_count: Count
    aliases: list[str]
    answered: bool | None = Field(
        default=None,
        description="Whether it has a cause, a remedy, a fix, or text of an official page; null in bundles of before.",
    )
    documented: bool | None = Field(
        default=None, description="Whether documentation says what it means; null in bundles of before."
    )
    lowest_score: float | None
    templates: list[IndexTemplate]


class IgnoredTemplate(_Part):
    """A template that people set aside in overrides.toml: matching names no entry for it."""

    signature_id: str
    text: str
    reason: str = Field(description="Theirs.")


class Index(_Part):
    """Every entry of the bundle, enough for matching and listing."""

    schema_version: str
    normaliser: str
    entries: list[IndexEntry]
    ignored: list[IgnoredTemplate] = Field(default=[], description="What people said is no error.")


#: The id of an error, of its cluster or of a signature: each is there once, however many records name it.
Id = Annotated[str, AfterValidator(sys.intern)]


class Published(_Part):
    """Which error an id was given to."""

    cluster_id: Id
    medoid: Id = Field(description="signature_id: the cluster that holds it inherits the id.")
    renamed_from: list[Id] = Field(default=[], description="Other ids that it had; they lead to it for ever.")
    own_id: Id | None = Field(
        default=None, description="Its id where no row of overrides.toml renames it; null in registries of before."
    )


class Registry(_Part):
    """Every id that was ever published: ids are given once and never reused."""

    schema_version: str = BUNDLE_VERSION
    ids: dict[Id, Published] = Field(default_factory=dict, description="Entry id -> the error it names.")
    aliases: dict[str, str] = Field(default_factory=dict, description="Former id -> the id that took its place.")
    withdrawn: list[str] = Field(default_factory=list, description="Ids whose evidence is gone.")
    merged: dict[Id, Published] = Field(
        default_factory=dict,
        description="Id that was merged into another -> the error it named: if it parts again, it has its id back.",
    )
    cluster_aliases: dict[str, str] = Field(
        default_factory=dict, description="Former cluster id -> the cluster that has most of its templates."
    )


@dataclass(frozen=True, slots=True)
class Named:
    """What a registry says of one name: an id of now or before, or the former id of a cluster."""

    name: str
    #: standing; withdrawn; merged: its error is part of another; renamed: it leads to an id, and is no more; cluster
    state: str
    leads_to: str | None = None  # what took its place
    cluster_id: str | None = None  # this and what follows is what `Published` says of ids
    medoid: str | None = None
    renamed_from: tuple[str, ...] = ()
    own_id: str | None = None
    place: int = 0  # by which it finds its leaf, see `leaves.places_of`; as a signed number
    low: int = 0  # two halves of a digest of all of the above
    high: int = 0

    @classmethod
    def of(
        cls,
        name: str,
        state: str,
        leads_to: str | None = None,
        cluster_id: str | None = None,
        medoid: str | None = None,
        renamed_from: Sequence[str] = (),
        own_id: str | None = None,
    ) -> Named:
        """A name of which this is said, with its place and its digest."""
        cells = (name, state, leads_to, cluster_id, medoid, tuple(renamed_from), own_id)
        body = hashlib.blake2b(repr(cells).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        halves = (int.from_bytes(half, "big", signed=True) for half in (body[8:], body[:8]))
        place = int.from_bytes(bytes.fromhex(leaves.place_of(name)), "big", signed=True)
        return cls(*cells, place, *halves)


def named(registry: Registry) -> Iterator[Named]:
    """What a registry says, name by name; of an id that has an error of its own it is not said that it was merged."""
    withdrawn = {*registry.withdrawn}
    for name, error in {**registry.merged, **registry.ids}.items():
        is_merged = name not in registry.ids
        state = "merged" if is_merged else "withdrawn" if name in withdrawn else "standing"
        cells = (error.cluster_id, error.medoid, error.renamed_from, error.own_id)
        yield Named.of(name, state, registry.aliases.get(name), *cells)
    for name in (withdrawn | registry.aliases.keys()) - registry.ids.keys() - registry.merged.keys():
        yield Named.of(name, "withdrawn" if name in withdrawn else "renamed", registry.aliases.get(name))
    for name, cluster_id in registry.cluster_aliases.items():
        yield Named.of(name, "cluster", cluster_id)


def registry_of(rows: Iterable[Named], *, version: str = BUNDLE_VERSION) -> Registry:
    """The registry that says this."""
    ordered = sorted(rows, key=lambda row: row.name)
    errors = {
        row.name: Published(
            cluster_id=row.cluster_id, medoid=row.medoid or "", renamed_from=list(row.renamed_from), own_id=row.own_id
        )
        for row in ordered
        if row.cluster_id is not None and row.state != "cluster"
    }
    return Registry(
        schema_version=version,
        ids={row.name: errors[row.name] for row in ordered if row.name in errors and row.state != "merged"},
        aliases={row.name: row.leads_to for row in ordered if row.leads_to is not None and row.state != "cluster"},
        withdrawn=[row.name for row in ordered if row.state == "withdrawn"],
        merged={row.name: errors[row.name] for row in ordered if row.state == "merged"},
        cluster_aliases={row.name: row.leads_to or "" for row in ordered if row.state == "cluster"},
    )


class Delta(_Part):
    """What turns one bundle into another, byte for byte."""

    bundle_version: str = BUNDLE_VERSION
    from_bundle: Sha256 = Field(description="bundle_id of the older bundle.")
    to_bundle: Sha256 = Field(description="bundle_id of the newer one.")
    added: list[str] = Field(description="Ids of new entries.")
    changed: list[str] = Field(description="Ids of entries whose content changed.")
    removed: list[str] = Field(description="Ids that are gone.")
    aliased: dict[str, str] = Field(description="Of the removed: id -> the entry that took its place.")
    files: dict[str, str] = Field(description="Path -> new text, of every text file that is new or changed.")
    deleted_files: list[str]


class ExtractedFrame(_Part):
    """One stack frame."""

    file: str | None
    line: int | None
    function: str | None


class ExtractedLink(_Part):
    """An exception printed before the event's own one."""

    link: str
    exception_type: str | None
    message: str
    frame_count: Count


class ExtractedEvent(_Part):
    """One event of a text; offsets count characters."""

    dialect: str
    exception_type: str | None
    message: str = Field(description="First line of the message.")
    frames: list[ExtractedFrame]
    chain: list[ExtractedLink]
    codes: list[str]
    start: Count
    end: Count
    truncated: bool


class ExtractLine(_Part):
    """One output line of `errmine extract --jsonl`."""

    id: Any = Field(description="As given in the input line.")
    events: list[ExtractedEvent]


class GroupLine(_Part):
    """One output line of `errmine group`."""

    id: Any = Field(description="As given in the input line.")
    cluster_id: str | None = Field(description="Null: overrides.toml says that it is no error.")
    signature: str
    explanation: str


#: Name and version of every published schema.
PUBLISHED: dict[str, type[BaseModel]] = {
    f"entry-{SCHEMA_VERSION}": KnowledgeEntry,
    "manifest-1.0": Manifest,
    "index-1.0": Index,
    "registry-1.0": Registry,
    "delta-1.0": Delta,
    "extract-line-1.0": ExtractLine,
    "group-line-1.0": GroupLine,
    "match-1.0": MatchResult,
}


def bundle_id(files: Iterable[FileRecord]) -> str:
    """One sha256 for all of `files`: paths and their sha256, sorted."""
    lines = sorted(f"{file.path}\0{file.sha256}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


Model = TypeVar("Model", bound=BaseModel)


def parsed(body: bytes | str, model: type[Model]) -> Model:
    """`body`, which is JSON, as a record of `model`; ValueError names the first place that does not fit."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from error


#: The domain of `$id`s; nothing is fetched from there.
SCHEMA_HOME: Literal["https://errmine.invalid/schemas/"] = "https://errmine.invalid/schemas/"
