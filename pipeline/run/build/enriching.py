"""A step between map and reduce that a user may switch on: a language model reads threads, its claims join the others.

Which threads, and in which order, follows from the rows of the shards alone, and what was answered before is kept by
the content of the question. So a build that was killed, or whose budget ran out, goes on where it stopped, and a build
that finds every answer kept asks nobody and gives the same bytes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline import distil, raw
from pipeline.engines.enrich import Reader
from pipeline.providers import documents
from pipeline.records import Claim, Document, Pointed, Severity, Skipped
from pipeline.records.errors import RawError
from pipeline.records.summary import count
from pipeline.run import shards
from pipeline.run.build.engines import Added, Engines
from pipeline.run.build.mapping import Partition, finished, partition_of, shards_of
from pipeline.run.build.places import Places
from pipeline.run.build.planning import plan

#: Told of (stage, items done, items in all).
Progress = Callable[[str, int, int], None]

#: Posts of a thread that somebody answered: title, body, and one more.
_ANSWERED_POSTS = 3
#: Name of the shard of what a model claimed; it is made anew by every build.
_SHARD = "model"


def enrich(
    result: shards.MapResult,
    partitions: Sequence[Partition],
    engines: Engines,
    *,
    raw_path: Path,
    shard_folder: Path,
    progress: Progress = lambda _stage, _done, _total: None,
) -> Added:
    """What the reader of `engines` finds in the threads of `result`, also as a shard in `shard_folder`."""
    made, threads = _read(result, partitions, engines, raw_path=raw_path, most=None, progress=progress)
    return made.added(threads, shard_folder)


def asked(
    places: Places,
    engines: Engines,
    *,
    partition_documents: int,
    most: int | None = None,
    progress: Progress = lambda _stage, _done, _total: None,
) -> Asked:
    """What putting the threads of the last build to the reader of `engines` gives; nothing is written.

    With a reader whose service is a batch file this asks, or takes, everything that a build would ask. At most `most`
    threads, the most useful first.
    """
    partitions = plan(places.raw, partition_documents=partition_documents, like=places.planned)
    names = finished(partitions, places.shards)
    there = shards_of(places.shards)
    result = shards.read([paths for name, paths in sorted(there.items()) if partition_of(name) in names])
    built = [partition for partition in partitions if partition.name in names]
    made, threads = _read(result, built, engines, raw_path=places.raw, most=most, progress=progress)
    return Asked(threads, len(made.claims), (*made.unread, *made.refused), len(partitions) - len(built))


@dataclass(frozen=True, slots=True)
class Asked:
    """Threads that were put to a reader, the claims that came of it, what was refused or is still without an answer."""

    threads: int
    claims: int
    skipped: tuple[Skipped, ...]
    unbuilt: int  # partitions of raw that no build has read yet


def _read(
    result: shards.MapResult,
    partitions: Sequence[Partition],
    engines: Engines,
    *,
    raw_path: Path,
    most: int | None,
    progress: Progress,
) -> tuple[_Found, int]:
    """(what became of every thread, how many there were)."""
    assert engines.reader is not None
    rows = _by_document(result)
    known = _answers(result.claims)
    chosen = _chosen(result, rows, frozenset() if engines.reads_all else frozenset(known))[:most]
    made = _Found(engines.reader)
    for done, document in enumerate(_documents(chosen, partitions, raw_path), 1):
        if isinstance(document, Skipped):
            made.unread.append(document)
        else:
            made.read(document, rows[document.document_id], known.get(document.document_id, ()))
        progress("enrich", done, len(chosen))
    return made, len(chosen)


@dataclass(slots=True)
class _Found:
    """What becomes of every thread and of every claim."""

    reader: Reader
    claims: dict[str, Claim] = field(default_factory=dict)  # by id
    unread: list[Skipped] = field(default_factory=list)  # threads
    refused: list[Skipped] = field(default_factory=list)  # claims

    def read(self, document: Document, rows: Sequence[shards.EventRow], known: Sequence[Claim]) -> None:
        """Nothing; the thread was asked about and every claim of the answer judged."""
        found = self.reader.read(document, [row.event for row in rows], _asking(rows))
        if isinstance(found, Skipped):
            self.unread.append(found)
            return
        self.refused += found.refused
        refuted = distil.refuted_places(document, [row.event for row in rows], found.pointed)
        for number, pointed in enumerate(found.pointed):
            place = f"{document.document_id}@{pointed.start}"
            is_refuted = number in refuted
            claim = (
                Skipped("enrich-claims", place, "refuted")
                if is_refuted
                else self._judged(document, rows, known, pointed)
            )
            if isinstance(claim, Claim):
                self.claims[claim.claim_id] = claim
            else:
                self.refused.append(claim)

    def _judged(
        self, document: Document, rows: Sequence[shards.EventRow], known: Sequence[Claim], pointed: Pointed
    ) -> Claim | Skipped:
        place = f"{document.document_id}@{pointed.start}"
        for claim in known:
            is_same = claim.quote.start < pointed.end and pointed.start < claim.quote.end
            if claim.doubt is not None:  # no entry states it yet: two readers who found it apart are surer than one
                continue
            if is_same and (pointed.outcome is None or pointed.outcome == claim.outcome):
                return Skipped("enrich-claims", place, "already_known", claim.rule)
        signature = rows[pointed.event].signature
        assert signature is not None  # it was asked about
        made = distil.pointed(document, [row.event for row in rows], signature, pointed)
        if isinstance(made, Claim) and made.claim_id in self.claims:
            return Skipped("enrich-claims", place, "already_known", made.rule)
        return made

    def added(self, threads: int, shard_folder: Path) -> Added:
        """Everything, counted: in = out + skipped, for threads and for claims."""
        claims, skipped = tuple(self.claims.values()), (*self.unread, *self.refused)
        stages = (
            count("enrich", taken=threads, given=threads - len(self.unread), lost=self.unread),
            count("enrich-claims", taken=len(claims) + len(self.refused), given=len(claims), lost=self.refused),
        )
        files = shards.write(shard_folder, _SHARD, shards.MapResult(claims=claims, skipped=skipped))
        return Added(claims, skipped, stages, (files,))


def _by_document(result: shards.MapResult) -> Mapping[str, list[shards.EventRow]]:
    """The events of every document that shows an error, in the order of the text."""
    rows: dict[str, list[shards.EventRow]] = defaultdict(list)
    for row in sorted(result.events, key=lambda row: (row.document_id, row.ordinal)):
        rows[row.document_id].append(row)
    return {document_id: found for document_id, found in rows.items() if _asking(found)}


def _asking(rows: Sequence[shards.EventRow]) -> list[int]:
    """The places of the errors that are grouped."""
    return [
        place for place, row in enumerate(rows) if row.signature is not None and row.event.severity == Severity.ERROR
    ]


def _answers(claims: Iterable[Claim]) -> Mapping[str, list[Claim]]:
    """What the rules found of causes and remedies, by document."""
    found: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.kind.is_statement:
            found[claim.quote.document_id].append(claim)
    return found


def _chosen(
    result: shards.MapResult, rows: Mapping[str, Sequence[shards.EventRow]], answered: frozenset[str]
) -> list[shards.DocumentRow]:
    """The threads to ask about, most useful first: somebody replied, and the error is met often."""
    shown = {
        document_id: {r.signature.signature_id for r in found if r.signature} for document_id, found in rows.items()
    }
    often = Counter(signature_id for ids in shown.values() for signature_id in ids)

    def rank(row: shards.DocumentRow) -> tuple[bool, int, str]:
        most = max(often[signature_id] for signature_id in shown[row.document_id])
        return row.post_count < _ANSWERED_POSTS, -most, row.document_id

    threads = [row for row in result.documents if row.kind.is_thread and row.document_id in rows]
    return sorted((row for row in threads if row.document_id not in answered), key=rank)


def _documents(
    chosen: Sequence[shards.DocumentRow], partitions: Sequence[Partition], raw_path: Path
) -> Iterator[Document | Skipped]:
    """The texts of the chosen threads, read from raw again: shards hold none."""
    layer = raw.RawLayer(raw_path)
    everything = [refs for part in partitions for refs in part.documents]
    by_key = {refs.document_key: refs for refs in everything}  # a key mostly is an id
    by_page = {page.sha256: refs for refs in everything for page in refs.refs}
    for row in chosen:
        refs = by_key.get(row.document_id) or by_page[row.raw_sha256]
        try:
            document = documents.document(layer.read(refs.refs))
        except RawError as error:
            document = Skipped("enrich", row.document_id, "damaged_page", str(error))
        yield document
