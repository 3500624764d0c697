"""The quarantine: documents on which a worker hung, died or ran out of memory twice, and how they get another try."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pipeline import raw
from pipeline.lexicon import repositories
from pipeline.records.errors import ConfigError
from pipeline.run import shards
from pipeline.run.build.mapping import partition_of, shards_of
from pipeline.run.build.places import Places

#: Reasons that `pool` gives for an item that failed twice.
POISON = frozenset({"timeout", "memory", "crash"})


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A document in quarantine."""

    document_key: str
    reason: str
    detail: str
    partition: str


@dataclass(frozen=True, slots=True)
class Closeup:
    """A document in quarantine and the raw pages that it is made of."""

    document: Quarantined
    pages: tuple[raw.PageRef, ...]


def listed(places: Places) -> list[Quarantined]:
    """Every document in quarantine, by its key."""
    found = {
        item.item_id: Quarantined(item.item_id, item.reason, item.detail, partition_of(name))
        for name, paths in sorted(shards_of(places.shards).items())
        for item in shards.read_skipped([paths.skipped])
        if item.stage == "extract" and item.reason in POISON
    }
    return [found[key] for key in sorted(found)]


def closeup(places: Places, document_key: str) -> Closeup | None:
    """The document of that key and its pages; None if it is not in quarantine."""
    document_key = repositories.current_key(document_key)
    document = next((each for each in listed(places) if each.document_key == document_key), None)
    if document is None:
        return None
    pages = [refs.refs for refs in raw.RawLayer(places.raw).documents() if refs.document_key == document_key]
    return Closeup(document, pages[0] if pages else ())


def retry(places: Places, document_keys: Collection[str] = ()) -> list[Quarantined]:
    """The documents let out, all of them without `document_keys`: the next build tries them again.

    Raises:
        ConfigError: one of the keys is not in quarantine.
    """
    inside, document_keys = listed(places), set(map(repositories.current_key, document_keys))
    unknown = sorted(document_keys - {each.document_key for each in inside})
    if unknown:
        raise ConfigError(f"not in quarantine: {', '.join(unknown)}", hint="`errmine quarantine list` names them.")
    let_out = [each for each in inside if not document_keys or each.document_key in document_keys]
    for each in let_out:
        _let_out(places.shards, each)
    return let_out


def _let_out(folder: Path, document: Quarantined) -> None:
    """Nothing; no shard of its partition accounts for the document, all account for the others."""
    for name, shard in shards_of(folder).items():
        if partition_of(name) == document.partition:
            keys = frozenset(one.document_key for one in shards.origins(shard))
            if keys == {document.document_key}:
                shards.discard(folder, {name})
            elif document.document_key in keys:
                shards.write_parts(folder, name, (), [shards.Carried(shard, keys - {document.document_key})])
