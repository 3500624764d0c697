"""What the build before this one left in the database: its journal, its clusters, its events.

Events whose words are the same and whose signature is another were read anew: by another normaliser. They carry over
who was who.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline import store
from pipeline.lexicon.repositories import current_key
from pipeline.records.bundle import Published, Registry
from pipeline.records.errors import StoreError
from pipeline.run import shards
from pipeline.store import reading

#: Subjects of the journal that are clusters; the others are entries.
_CLUSTER = "cluster:"


@dataclass(frozen=True, slots=True)
class Journal:
    """The notes so far, and which of them are not published yet.

    Ids of entries count as given when the bundle is exported. The notes on entries of a build that never was exported
    are therefore dropped by the next build, which makes them again: a build that was killed or repeated leaves no
    trace. What happened to clusters stays.
    """

    rows: tuple[store.JournalRow, ...] = ()
    base: int = 0  # the notes before those of the last build that made any
    before: str = ""  # digest of the registry that this build started from

    def continued(
        self,
        notes: Sequence[store.JournalRow],
        registry: Registry,
        *,
        about_clusters: Sequence[store.JournalRow] = (),
        run_id: str = "",
    ) -> Journal:
        """The journal with the notes of a build that started from `registry`, under the name of its run."""
        notes, about_clusters = (
            [replace(row, run_id=run_id or None) for row in rows] for rows in (notes, about_clusters)
        )
        now = hashlib.sha256(registry.model_dump_json().encode()).hexdigest()
        rows, base = self.rows, len(self.rows)
        if self.before == now:
            base = self.base
            rows = (*rows[:base], *(row for row in rows[base:] if row.subject_id.startswith(_CLUSTER)))
        if not notes:
            return Journal((*rows, *about_clusters), self.base, self.before)
        return Journal((*rows, *about_clusters, *notes), base, now)

    def meta(self) -> dict[str, str]:
        """For the table `meta`, from which `journal_of` reads it back."""
        return {"journal_base": str(self.base), "journal_registry": self.before}


def journal_of(rows: tuple[store.JournalRow, ...], meta: Mapping[str, str]) -> Journal:
    """The journal that a database holds."""
    return Journal(rows, int(meta.get("journal_base", len(rows))), meta.get("journal_registry", ""))


@dataclass(frozen=True, slots=True)
class LastBuild:
    """What the build before this one left."""

    journal: Journal = Journal()
    memberships: tuple[reading.Membership, ...] = ()
    overrides: tuple[store.OverrideRow, ...] = ()
    cluster_aliases: tuple[tuple[str, str], ...] = ()
    normaliser: str = ""

    def cluster_of(self) -> dict[str, str]:
        """The cluster of each signature."""
        return {member: old.cluster_id for old in self.memberships for member in old.members}


def last_build(database: Path) -> LastBuild:
    """The build that `database` holds; nothing if there was none or its file is broken."""
    if not database.exists():
        return LastBuild()
    try:
        with store.held(database):
            meta = store.meta(database)
            return LastBuild(
                journal=journal_of(reading.journal(database), meta),
                memberships=reading.memberships(database),
                overrides=reading.overrides(database),
                cluster_aliases=reading.cluster_aliases(database),
                normaliser=meta.get("normaliser", ""),
            )
    except StoreError:  # what can be broken is about to be replaced; one that is held or newer was refused before
        return LastBuild()


# ---------------------------------------------------------------- events read anew


@dataclass(frozen=True, slots=True)
class Moved:
    """Events whose words are those of the last build and whose signature is not, by (old, new) signature id."""

    counts: Mapping[tuple[str, str], int]
    before: str  # version of the normaliser then
    now: str

    def heir(self) -> dict[str, str]:
        """Old signature id -> the one that most of its events have now."""
        found: dict[str, tuple[int, str]] = {}
        for (old, new), count in self.counts.items():
            found[old] = min(found.get(old, (1, "")), (-count, new))
        return {old: new for old, (_, new) in found.items()}

    def followed(self, registry: Registry) -> Registry:
        """`registry` with the errors that its ids name as they are called now."""
        heir = self.heir()

        def anew(ids: Mapping[str, Published]) -> dict[str, Published]:
            return {
                name: error.model_copy(update={"medoid": heir.get(error.medoid, error.medoid)})
                for name, error in ids.items()
            }

        if not heir:
            return registry
        return registry.model_copy(update={"ids": anew(registry.ids), "merged": anew(registry.merged)})


def moved(database: Path, last: LastBuild, result: shards.MapResult, *, normaliser: str) -> Moved:
    """The events of `result` that this normaliser reads otherwise than the one of the last build.

    An event is the same if its document has the same words for it, under whatever name its repository has now, or if it
    was and is the only one there; where in the text it stands, another reader may say otherwise.
    """
    now = _Events(result)
    gone = sorted(last.cluster_of().keys() - now.signatures)
    rows = reading.event_signatures(database, gone) if gone else []
    only = Counter(current_key(document_id) for document_id, _, _ in rows)
    counts: Counter[tuple[str, str]] = Counter()
    for document_id, old, message in rows:
        key = current_key(document_id)
        new = now.signature_of(key, message, is_only=only[key] == 1)
        if new is not None:
            counts[old, new] += 1
    return Moved(counts, last.normaliser, normaliser)


class _Events:
    """The events of a build by their documents, for who looks for one that was read before."""

    def __init__(self, result: shards.MapResult) -> None:
        self.signatures: set[str] = set()
        self._by_words: dict[tuple[str, str], str] = {}
        self._by_document: dict[str, list[str]] = {}
        for row in sorted(result.events, key=lambda row: (row.document_id, row.ordinal)):
            if row.signature is None:
                continue
            signature_id = row.signature.signature_id
            self.signatures.add(signature_id)
            self._by_words.setdefault((row.document_id, row.event.message), signature_id)
            self._by_document.setdefault(row.document_id, []).append(signature_id)

    def signature_of(self, document_id: str, message: str, *, is_only: bool) -> str | None:
        """The signature of the event with these words; of the document's only one, if it was its only one."""
        there = self._by_document.get(document_id, ())
        return self._by_words.get((document_id, message), there[0] if is_only and len(there) == 1 else None)
