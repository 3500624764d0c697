"""The map step: the current pages of some documents become a shard of documents, events with signatures, and claims.

A partition's name is made from its pages and from the code, so a shard that exists need not be made again.

Documents are mapped singly: one that lies in the shard of any partition, of the same pages and read by the same code,
is carried over from there. Fifty new documents cost the reading of fifty, and their partitions' rows written anew.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from pipeline import __version__, ask, distil, extract, normalise, packs, raw
from pipeline.providers import documents
from pipeline.records import (
    Claim,
    ClaimKind,
    DocRecord,
    Document,
    DocumentKind,
    Event,
    Link,
    PostKind,
    Severity,
    Signature,
    Skipped,
    content_id,
    short_class,
)
from pipeline.records.errors import RawError, StoreError
from pipeline.records.kept import KeptFile, Seen, Verdict
from pipeline.run import pool, shards
from pipeline.run.build.itself import own_files, releases
from pipeline.run.build.lean import uncollected

Item = TypeVar("Item")

#: Bits of the hash of a document's key.
_HASH_BITS = 64
#: Stages whose `Skipped` stands for a whole document.
UNREAD = frozenset({"raw", "document", "extract"})
#: Events, and different errors among them, that one document may give. Of 22,694 real threads one had 62 events,
#: another 12 errors; one post made of 9,940 errors had made as many entries.
MOST_EVENTS, MOST_ERRORS = 500, 50
#: Pages that a worker is worth having for. Of fifty more threads sixteen workers took 10.7 CPU seconds and 120,000 page
#: faults, two of them 6.4 and 32,000: each has to touch what it shares with the others, and to make its own of it.
_PAGES_A_WORKER = 25
#: What of a pack decides what a shard holds; the rest is read when entries are made.
READING = (packs.Stage.EVENTS, packs.Stage.CLAIMS)
#: Files of the package that no shard depends on: how the database, its pages and the site are written.
_UNMAPPED = (".sql", ".po", ".html", ".css", ".js", ".svg")
#: Imported by the process from which workers are forked; it imports this module.
PRELOAD = "pipeline.run.build.preloaded"


@dataclass(frozen=True, slots=True)
class Partition:
    """Documents that are mapped together into the shard `name`."""

    name: str  # "p", the bits with which the hashes of its documents' keys begin, "-", a digest of what they are
    documents: Sequence[raw.DocumentRefs]
    packs: str  # digest of what packs that do not ship bring to its shard


def leaves(hashed: Sequence[tuple[int, Item]], bits: str, most: int) -> Iterator[tuple[str, list[Item]]]:
    """The shortest beginnings of hashes that `most` items at most share, from `bits` on, with these."""
    if len(hashed) <= most or len(bits) == _HASH_BITS:
        if hashed:
            yield bits, [item for _, item in hashed]
        return
    place = _HASH_BITS - 1 - len(bits)
    for bit in (0, 1):
        yield from leaves([one for one in hashed if one[0] >> place & 1 == bit], f"{bits}{bit}", most)


def map_partitions(
    partitions: Sequence[Partition],
    *,
    raw_path: Path,
    shard_folder: Path,
    workers: int,
    limits: pool.Limits = pool.Limits(),
    kept_folder: Path | None = None,
    seen: Seen | None = None,
    coming: int = 0,
) -> Iterator[str]:
    """The name of each partition as its shard is finished; those that exist already come first.

    Where no more partitions wait than pages are `coming`, as many workers map them as these pages are worth. What lies
    in the shards of `kept_folder`, by default those of `shard_folder`, is not mapped again. A document whose worker
    hangs, dies or runs out of memory twice becomes a `Skipped` in a shard of its own.
    """
    existing = finished(partitions, shard_folder, seen)
    yield from sorted(existing)
    waiting = [pool.Task(p.name, p.documents) for p in partitions if p.name not in existing]
    # what a killed run left of documents that were tried alone: they are tried again
    names = {task.name for task in waiting}
    alone = {name for name in shards.names(shard_folder) if partition_of(name) in names and name not in names}
    shards.discard(shard_folder, alone)
    if not waiting:
        return
    packs.check(packs.active().added)  # a bad row is told before an hour of work
    folders = Folders(raw_path, shard_folder, kept_folder or shard_folder)
    work = partial(map_task, folders, packs.active().folders, partitions[0].packs)
    workers = crew(workers, coming) if len(waiting) <= coming else workers  # more wait: of a run that was killed
    for result in pool.run(work, waiting, workers=workers, limits=limits, preload=PRELOAD):
        if isinstance(result, pool.Failure):
            lost = Skipped("extract", result.item.document_key, result.reason, result.detail)
            part = _part(result.item, shards.MapResult(skipped=(lost,)), partitions[0].packs)
            shards.write_parts(shard_folder, result.task, [part])
        else:
            yield result


def crew(workers: int, pages: int) -> int:
    """How many of so many workers are worth having for that many pages."""
    return max(1, min(workers, -(-pages // _PAGES_A_WORKER)))


def finished(partitions: Sequence[Partition], shard_folder: Path, seen: Seen | None = None) -> set[str]:
    """The names of the partitions whose shards account for every document, read or skipped.

    A partition with a poisoned document has several shards; a run that was killed may have left only some of them. A
    file that `seen` knows as whole is not read again.
    """
    pieces: dict[str, list[shards.ShardPaths]] = {}
    for name, paths in shards_of(shard_folder).items():
        pieces.setdefault(partition_of(name), []).append(paths)

    def accounted(name: str) -> int:
        return sum(_documents_of(piece, seen) for piece in pieces.get(name, ()))

    return {p.name for p in partitions if len(p.documents) == accounted(p.name)}


def drop_shards(folder: Path, partitions: Set[str]) -> None:
    """Nothing; no shard of these partitions is left, nor a piece of one."""
    shards.discard(folder, {name for name in shards.names(folder) if partition_of(name) in partitions})


def drop_damaged(folder: Path, partitions: Sequence[Partition], seen: Seen | None = None) -> list[KeptFile]:
    """The files of the partitions' shards that are not what was written; their shards are gone, to be made anew.

    One that `seen` knows as whole is not read again.
    """
    wanted = {partition.name for partition in partitions}
    bad = [
        file
        for file in shards.kept_files(folder, seen)
        if file.verdict != Verdict.OK and partition_of(file.path.stem) in wanted
    ]
    drop_shards(folder, {partition_of(file.path.stem) for file in bad})
    return bad


def partition_of(shard_name: str) -> str:
    """The partition that a shard is of."""
    return shard_name.split(".", 1)[0]


def _documents_of(shard: shards.ShardPaths, seen: Seen | None) -> int:
    """The documents that a shard accounts for; a shard that cannot be read accounts for none and is made anew."""
    try:
        shards.check(shard, seen)
        return shards.count_documents(shard)
    except StoreError:
        return -1


def shards_of(folder: Path) -> dict[str, shards.ShardPaths]:
    """The finished shards by name: "<partition>", and "<partition>.<n>" of a document that was tried alone."""
    return {shard.skipped.stem: shard for shard in shards.listing(folder)}


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a task of the map step reads and writes."""

    raw: Path
    shards: Path
    kept: Path  # shards from which documents are carried over


def map_task(
    folders: Folders,
    pack_folders: tuple[str, ...],
    pack_digest: str,
    task: pool.Task[raw.DocumentRefs],
    report: Callable[[int], None],
) -> str:
    """Map those of the task's documents that no shard has, write the shard of all, and give back the task's name.

    Raises:
        PackError: a pack is not what it was when the task was planned.
    """
    packs.activated(pack_folders, pack_digest, *READING)
    layer = raw.RawLayer(folders.raw)
    items = tuple(task.items)  # of a kept plan they are read here: who hands out tasks never has all of them
    # of a document that is tried alone no shard can know anything
    is_whole = task.name == partition_of(task.name)
    carried = carriable(task.name, items, folders.kept, pack_digest) if is_whole else []
    known = frozenset(key for one in carried for key in one.keys)
    parts = []
    with uncollected():
        for number, refs in enumerate(items):
            report(number)
            if refs.document_key not in known:
                parts.append(_part(refs, map_document(layer, refs), pack_digest))
    shards.write_parts(folders.shards, task.name, parts, carried)
    return task.name


def carriable(name: str, documents: Sequence[raw.DocumentRefs], folder: Path, brought: str) -> list[shards.Carried]:
    """The shards of `folder` that hold some of the documents of a partition, each document in one of them only.

    Only those of partitions whose bits begin those of this one, or begin with them, can.
    """
    missing = {refs.document_key: document_digest(refs, brought) for refs in documents}
    found = []
    for shard in shards.listing(folder, partial(_are_related, name)):
        if missing:
            try:
                shards.check(shard)
                keys = _carried_of(shard, missing)
            except StoreError:  # it is damaged: its documents are mapped again
                continue
            if keys:
                found.append(shards.Carried(shard, keys))
                missing = {key: digest for key, digest in missing.items() if key not in keys}
    return found


def _carried_of(shard: shards.ShardPaths, wanted: Mapping[str, str]) -> frozenset[str]:
    """The keys of the documents of a shard that are as wanted; one whose pages were damaged may be whole now."""
    found = [one for one in shards.origins(shard) if wanted.get(one.document_key) == one.digest]
    skipped = shards.read_skipped([shard.skipped]) if any(one.skipped for one in found) else []
    return frozenset(
        one.document_key for one in found if not any(skipped[place].stage == raw.STAGE for place in one.skipped)
    )


def _are_related(name: str, other: str) -> bool:
    one, two = (each.split("-", 1)[0] for each in (name, other))
    return one.startswith(two) or two.startswith(one)


def _part(refs: raw.DocumentRefs, result: shards.MapResult, brought: str) -> shards.Part:
    return shards.Part(refs.document_key, document_digest(refs, brought), result)


def map_document(layer: raw.RawLayer, refs: raw.DocumentRefs) -> shards.MapResult:
    """Everything that one document gives."""
    try:
        pages = layer.read(refs.refs)
    except RawError as error:
        return shards.MapResult(skipped=(Skipped(raw.STAGE, refs.document_key, "damaged_page", str(error)),))
    document = documents.document(pages)
    if isinstance(document, Skipped):
        return shards.MapResult(skipped=(document,))
    return map_text(document)


#: The words of a message, and how many of a title's stand in the error that it tells of.
_TELLING = re.compile(r"[^\W\d_]{3,}")
_RETOLD = 0.75
#: So many words, all of which an error of the thread has too, has a title of its class or code, and one of neither.
_LEAST_SAME, _LEAST_RETOLD = 3, 4
#: Where a title goes on with where or when it happens; so many places are tried.
_TAIL, _MOST_TAILS = re.compile(r"\s(?:on|in|at|when|while|during|after|for|with|if|since|from)\s(?!the given)"), 6
#: What a title quotes as a name, which says which error it is.
_QUOTED_NAME = re.compile(r"['\"`‘“]([^'\"`’”\n]{1,120})['\"`’”]")


def _is_heading(document: Document, event: Event) -> bool:
    """Whether an event is a guess of a title that only speaks of an error."""
    title = document.posts[0]
    is_guess = event.dialect == extract.GENERIC and title.kind == PostKind.TITLE and event.start < title.end
    return is_guess and extract.is_heading(document.text[title.start : title.end])


def _is_cut_title(document: Document, event: Event, others: Iterable[Event]) -> bool:
    """Whether an event of the title is the beginning of an error that the thread shows whole: one error, not two."""
    title = document.posts[0]
    if title.kind != PostKind.TITLE or event.start >= title.end:
        return False
    begun = " ".join(event.message.split()).rstrip(".… ")
    return len(begun) > extract.SHORTEST_RETOLD and any(
        one.start >= title.end
        and short_class(event.exception_type) in ("", short_class(one.exception_type))
        and _goes_on(begun, " ".join(one.message.split()))
        for one in others
    )


def _is_told_below(document: Document, event: Event, others: Iterable[Event]) -> bool:
    """Whether the title says in few words what the thread shows in many: its class or code, its words are there."""
    title = document.posts[0]
    if title.kind != PostKind.TITLE or event.start >= title.end or event.chain or event.frames:
        return False
    return any(_tells(one, event) for one in others if one.start >= title.end)


def _tells(shown: Event, event: Event) -> bool:
    """Whether an event has what a title says: its class, its code or enough words, and all words but where it arose.

    Of a chain most words are enough: a title sums it up.
    """
    classes = map(short_class, (shown.exception_type, *(link.exception_type for link in shown.chain)))
    whole = " ".join((shown.message, *(link.message for link in shown.chain)))
    kind, told = short_class(event.exception_type), _words(whole)
    if any(name not in whole for name in _QUOTED_NAME.findall(event.message)):
        return False
    is_same = bool(kind) and kind in classes
    if is_same and shown.chain and (said := _words(event.message)):
        return len(said & told) >= _RETOLD * len(said)
    is_same = is_same or not set(event.codes).isdisjoint(shown.codes)
    least = _LEAST_SAME if is_same else _LEAST_RETOLD
    return (is_same or not kind) and any(len(said) >= least and said <= told for said in _sayings(event))


def _sayings(event: Event) -> Iterator[set[str]]:
    """The words of a title, and without its end, which says where or when: "the lid is open on /checkout"."""
    message = event.message
    if event.dialect == extract.GENERIC:
        message = message.partition(": ")[2] or message  # "Import of fires: the lid is open"
    yield _words(message)
    for tail in islice(_TAIL.finditer(message), _MOST_TAILS):
        yield _words(message[: tail.start()])


def _words(message: str) -> set[str]:
    return set(_TELLING.findall(message.lower()))


def _goes_on(begun: str, message: str) -> bool:
    """Whether a message begins with the words `begun`, the last of them whole."""
    return message.startswith(begun) and not message[len(begun) : len(begun) + 1].isalnum()


def signed(document: Document) -> list[tuple[Event, Signature | None]]:
    """The errors of a thread with their signatures; a title that only speaks of one, or cuts one short, is none."""
    reading = ask.read(document.text, document.repo or "")
    return [
        (_within_its_post(document, pair[0]), pair[1])
        for pair in reading.signed()
        if not (
            _is_heading(document, pair[0])
            or _is_cut_title(document, pair[0], reading.errors)
            or _is_told_below(document, pair[0], reading.errors)
        )
    ]


def _within_its_post(document: Document, event: Event) -> Event:
    """The event as far as its post goes: what a reader took for its last lines may be what the next person says.

    What a title begins may go on in the report.
    """
    post = document.post_at(event.start)
    if post < 0:
        return event
    if document.posts[post].kind == PostKind.TITLE and post + 1 < len(document.posts):
        post += 1
    return replace(event, end=min(event.end, max(document.posts[post].end, event.start + 1)))


def map_text(document: Document) -> shards.MapResult:
    """The rows of a document that was read: its events, their signatures, what is said about them."""
    found: list[tuple[Event, Signature | None]]
    if document.kind in (DocumentKind.ENTRY, DocumentKind.RELEASE):  # notes quote the errors that they tell of
        found = []
    elif document.record is not None:
        found = [(event, normalise.signature(event, document.text)) for event in official(document, document.record)]
    else:
        found = signed(document)
    found, left_out = within_limits(found)
    grouped = [(event, signature) for event, signature in found if signature is not None]
    if document.kind == DocumentKind.RELEASE:
        reading = distil.read_release(document)
    else:
        reading = distil.read(document, [event for event, _ in grouped], [signature for _, signature in grouped])
    row, untitled = shards.document_row(document), distil.untitled(document)
    pages = [distil.passed_on(document, claim) for claim in official_claims(document)]
    quoted = tuple(one for one in pages if isinstance(one, Claim))
    unquoted = tuple(one for one in pages if isinstance(one, Skipped))
    return shards.MapResult(
        documents=(replace(row, title=None) if untitled else row,),
        events=tuple(
            shards.event_row(document, event, ordinal=ordinal, signature=signature)
            for ordinal, (event, signature) in enumerate(found)
        ),
        claims=reading.claims + tuple(chain_claims(document, grouped)) + quoted,
        skipped=reading.skipped + untitled + unquoted + tuple(_rest(document, left_out)),
    )


def within_limits(
    found: Sequence[tuple[Event, Signature | None]],
) -> tuple[list[tuple[Event, Signature | None]], int]:
    """The events that a document may give, first come first, and how many it may not."""
    kept: list[tuple[Event, Signature | None]] = []
    errors: set[str] = set()
    for event, signature in found:
        wanted = errors if signature is None else errors | {signature.signature_id}
        if len(kept) < MOST_EVENTS and len(wanted) <= MOST_ERRORS:
            errors = wanted
            kept.append((event, signature))
    return kept, len(found) - len(kept)


def _rest(document: Document, left_out: int) -> Iterator[Skipped]:
    """One item for all that a document may not give: thousands of them would be what the limit keeps away."""
    if left_out:
        yield Skipped("events", document.document_id, "too_many_errors", f"{left_out:,} more are left out")


def chain_claims(document: Document, grouped: Sequence[tuple[Event, Signature]]) -> Iterator[Claim]:
    """What the chains of the document's tracebacks say about which error led to which."""
    for event, signature in grouped:
        if links := distil.causal(event):
            project = document.repo or ""
            earlier = [
                (link, normalise.signature(alone, document.text, project=project))
                for link in links
                for alone in _alone(event, link)
            ]
            yield from distil.chained(document, event, signature, earlier=earlier)


def _alone(event: Event, link: Link) -> tuple[Event, ...]:
    """The link as if its error had been printed alone, and as a report without a stack shows it."""
    alone = replace(
        event,
        exception_type=link.exception_type,
        message=link.message,
        detail=link.detail,
        frames=link.frames,
        chain=(),
        codes=(),
    )
    return (alone, replace(alone, frames=())) if link.frames else (alone,)


def official_claims(document: Document) -> tuple[Claim, ...]:
    """The quotes of an official page, as claims: they travel with the shard, and `reduce` puts the page together."""
    page = distil.official(document)
    if page is None:
        return ()
    quotes = [("summary", page.summary)] if page.summary else []
    quotes += [(f"remedy:{number:03d}", quote) for number, quote in enumerate(page.remedies)]
    return tuple(
        Claim(
            claim_id=content_id("claim", document.document_id, ClaimKind.OFFICIAL, key, str(quote.start)),
            kind=ClaimKind.OFFICIAL,
            rule=f"official.{key.partition(':')[0]}",
            fact=None,
            outcome=None,
            key=key,
            quote=quote,
            outcome_quote=None,
            signature_ids=(),
        )
        for key, quote in quotes
    )


def official(document: Document, record: DocRecord) -> list[Event]:
    """One event for each sample message of an official page, under the page's own code."""
    made = []
    for sample in record.samples:
        start = max(0, document.text.find(sample))
        first = sample.split("\n", 1)[0]
        made.append(
            Event(
                dialect="official",
                exception_type=None,
                message=first,
                detail=sample,
                frames=(),
                chain=(),
                codes=(record.code,),
                start=start,
                end=start + len(sample),
                is_truncated=False,
                severity=Severity.OFFICIAL,
            )
        )
    return made


def partition(bits: str, refs: Sequence[raw.DocumentRefs], brought: str) -> Partition:
    """The partition of all documents whose hashes begin with `bits`; `brought` is the digest of the packs that read."""
    digest = hashlib.blake2b(digest_size=8)
    for document in refs:
        digest.update(f"{document.document_key}\x1f{document_digest(document, brought)}\x1e".encode())
    return Partition(f"p{bits}-{digest.hexdigest()}", tuple(refs), brought)


def document_digest(refs: raw.DocumentRefs, brought: str) -> str:
    """What tells a document's pages, and the code and the packs that read them, from any others."""
    digest = hashlib.blake2b(f"{code_digest()}{brought}".encode(), digest_size=12)
    for page in refs.refs:
        digest.update(f"{page.document_key}\x1f{page.part}\x1f{page.sha256}\x1e".encode())
    return digest.hexdigest()


def bits_of(document_key: str) -> str:
    """The bits of a document's hash, the first of which say its partition."""
    return f"{hashed(document_key):0{_HASH_BITS}b}"


def hashed(document_key: str) -> int:
    """The hash of a document's key."""
    return int.from_bytes(hashlib.blake2b(document_key.encode(), digest_size=_HASH_BITS // 8).digest(), "big")


@cache
def code_digest() -> str:
    """A digest of what makes shards: this package, code and data, this Python, and these libraries."""
    return _code_digest(own_files())


def _code_digest(package: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.blake2b(f"{__version__} {platform.python_version()} {releases()}".encode(), digest_size=8)
    for path, content in package:
        if not path.endswith(_UNMAPPED):
            digest.update(path.encode() + b"\x1f" + content)
    return digest.hexdigest()
