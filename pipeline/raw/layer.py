"""The raw layer: pages as they came, kept for ever, replayable without a network.

::

    raw/segments/<sha256>.zip   pages; named by its own bytes, written once, never changed
        <sha256>                one member a page, its body
        pages.jsonl             one page a line: every field of RawPage but the body, and where the body lies
    raw/index.jsonl             names every segment, in chained lines: what is missing or changed is noticed
    raw/set-aside/<name>        damaged segments that a person said to go on without (`mending`)
    raw/forgotten/<hash>        one empty file a document that was forgotten; it hides the document at once
    raw/identities/<sha256>     what tells the pages of that segment from all others; made anew wherever it does not fit
    raw/lock                    held shared while pages are added, alone while a document is forgotten

A segment appears whole or not at all: it is written under a temporary name, synced, renamed, then named in the index.
Two processes may add pages at the same time: segments are named by their content. A whole segment that the index
does not name (its writer was killed, somebody copied it here) is named by who adds pages or builds next. Files are
private to the user (0600): bodies hold what is redacted everywhere else.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from pipeline.lexicon import repositories
from pipeline.raw.segment import (
    SegmentIndex,
    SegmentWriter,
    Stock,
    index_rows,
    is_whole,
    line,
    ref_of,
    writing_to,
)
from pipeline.records import Appended, PageRef, RawPage, Skipped, disk, kept
from pipeline.records.errors import RawError
from pipeline.records.kept import Seen

# A segment is closed at either limit: small enough to rewrite when a document is forgotten, large enough that a year of
# GitHub is some hundred files.
MAX_SEGMENT_PAGES = 4096
MAX_SEGMENT_BYTES = 48 * 1024 * 1024
# Another import may be cleaning up when ours starts, which takes milliseconds; a `forget` takes seconds.
LOCK_ATTEMPTS = 100
LOCK_WAIT_SECONDS = 0.1
#: Folder with the identities of the pages of each segment: who adds fifty pages need not read the lists of a million.
_IDENTITIES = "identities"
_IDENTITY_BYTES, _SUM_BYTES = 16, 32
#: Part of what such a file is checked by: another identity, another file.
_IDENTITY_VERSION = 1


@dataclass(frozen=True, slots=True)
class DocumentRefs:
    """The current pages of one document, one for each part, sorted by part."""

    document_key: str
    refs: tuple[PageRef, ...]


class RawLayer:
    """The kept pages of one folder. Opening it touches nothing; the folder is made when the first page comes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.segments = folder / "segments"
        self._forgotten = folder / "forgotten"
        self._identified = folder / _IDENTITIES
        self.index = SegmentIndex(folder)
        self._indexed: set[tuple[str, int]] = set()  # name and size of the segments whose pages are in `_known`
        self._known: set[bytes] = set()

    def append(self, items: Iterable[RawPage | Skipped]) -> Appended:
        """How many pages were new and how many known already; what was skipped comes back as it was.

        Pages are safe on disk segment by segment: an import that is broken off keeps what it had finished, and the
        same import run again adds the rest.
        """
        with self.locked(exclusive=False):
            self._name_unnamed()
            writer = SegmentWriter(self.segments)
            try:
                return self._append(items, writer)
            finally:
                writer.discard()

    def _append(self, items: Iterable[RawPage | Skipped], writer: SegmentWriter) -> Appended:
        known_before = self._identities()
        added: set[bytes] = set()
        hidden = self.hidden()
        skipped: list[Skipped] = []
        written: list[bytes] = []  # since the last segment
        new = known = 0
        for item in items:
            if isinstance(item, Skipped):
                skipped.append(item)
            elif _is_hidden(item.document_key, hidden):
                skipped.append(Skipped("raw", item.document_key, "forgotten"))
            elif (identity := _identity(item)) in known_before or identity in added:
                known += 1
            else:
                added.add(identity)
                with writing_to(self.folder):
                    writer.add(item)
                written.append(identity)
                new += 1
            if writer.pages >= MAX_SEGMENT_PAGES or writer.size >= MAX_SEGMENT_BYTES:
                self._finish(writer, written)
                written.clear()
        self._finish(writer, written)
        return Appended(new, known, tuple(skipped))

    def _finish(self, writer: SegmentWriter, identities: Iterable[bytes]) -> str:
        """The name of the segment that was written and named in the index, "" if no page was left for one.

        What tells its pages apart is kept with it, so that the next who adds need not read what it lists.
        """
        with writing_to(self.folder):
            made = writer.finish()
            self.index.add(*([line("added", made)] if made else []))
        if made:
            self._keep_identities(made.name, made.bytes, identities)
        return made.name if made else ""

    def _name_unnamed(self) -> None:
        with writing_to(self.folder):
            self.index.add(*(line("found", one) for one in self.index.unnamed()))

    def _identities(self) -> Set[bytes]:
        """What tells the pages of all segments apart. A segment never changes, so its list is read once.

        A live ingest appends a hundred times; 22,000 pages cost it 2 MiB here.
        """
        files = {(path.name, path.stat().st_size): path for path in self.index.files()}
        if not self._indexed <= files.keys():  # a document was forgotten: its segment was written anew
            self._indexed.clear()
            self._known.clear()
        for name in sorted(files.keys() - self._indexed):
            self._known.update(self._identities_of(files[name]))
            self._indexed.add(name)
        return self._known

    def _identities_of(self, path: Path) -> Iterable[bytes]:
        """Of the pages of one segment; kept then, where the disk takes it."""
        size = path.stat().st_size
        with suppress(OSError):
            told, body = (whole := disk.body(self._identified / path.stem))[:_SUM_BYTES], whole[_SUM_BYTES:]
            if _identities_sum(path.name, size, body) == told:
                return (body[start : start + _IDENTITY_BYTES] for start in range(0, len(body), _IDENTITY_BYTES))
        found = list(map(_identity, self.refs_of(path)))
        self._keep_identities(path.name, size, found)
        return found

    def _keep_identities(self, name: str, size: int, identities: Iterable[bytes]) -> None:
        body = b"".join(sorted(identities))
        with suppress(OSError):
            self._identified.mkdir(mode=0o700, exist_ok=True)
            kept.write(self._identified / Path(name).stem, _identities_sum(name, size, body) + body)

    def _drop_identities(self) -> None:
        """Remove the identities of segments that are not there any more: they tell of pages that are forgotten."""
        there = {path.stem for path in self.index.files()}
        for path in self._identified.glob("*"):
            if path.name not in there:
                path.unlink(missing_ok=True)

    def refs(self) -> list[PageRef]:
        """Every page once, sorted by document, part, version and content; forgotten documents are not among them.

        A page kept under a former name of its repository is given under the present one: a thread is one document.
        """
        return _ordered(chain.from_iterable(map(self.shown, self.index.files())))

    def shown(self, path: Path) -> list[PageRef]:
        """The pages of one segment as it lists them, but those of forgotten documents."""
        hidden = self.hidden()
        return [ref for ref in self.refs_of(path) if not _is_hidden(ref.document_key, hidden)]

    def refs_of(self, path: Path) -> list[PageRef]:
        """The pages of one segment as it lists them, those of forgotten documents included."""
        return [ref_of(row, path) for row in index_rows(path)]

    def documents(self) -> list[DocumentRefs]:
        """The current pages of every document, sorted by document key, whatever the order in which they came."""
        return current(chain.from_iterable(map(self.shown, self.index.files())))

    def read(self, refs: Sequence[PageRef]) -> list[RawPage]:
        """The pages of `refs`, in that order, each checked against its sha256."""
        by_segment: dict[str, list[PageRef]] = {}
        for ref in refs:
            by_segment.setdefault(ref.segment, []).append(ref)
        bodies: dict[tuple[str, int], bytes] = {}
        for segment, wanted in by_segment.items():
            bodies.update(((segment, offset), body) for offset, body in _bodies(self.segments / segment, wanted))
        return [_page(ref, bodies[ref.segment, ref.offset]) for ref in refs]

    def forget(self, document_key: str) -> int:
        """How many kept pages of the document were erased. It is never taken in again, nor are its pages found.

        Only a hash of the key stays; it stands for every name of the thread. Nobody may add pages meanwhile.
        """
        with self.locked(exclusive=True):
            self._forgotten.mkdir(mode=0o700, parents=True, exist_ok=True)
            erased = sum(ref.document_key == repositories.current_key(document_key) for ref in self.refs())
            (self._forgotten / _tombstone(document_key)).touch(mode=0o600)
            disk.sync(self._forgotten)
            hidden = self.hidden()
            for path in self.index.files():
                self._rewrite(path, hidden)
            with writing_to(self.folder):
                self._drop_identities()
        return erased

    def forget_names(self, names: Iterable[str]) -> None:
        """Nothing; `has_forgotten` is true for the names then, of which only hashes stay."""
        for name in sorted(names):
            self._forgotten.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self._forgotten / _tombstone(f"name\x1f{name}")).touch(mode=0o600)
        if self._forgotten.exists():
            disk.sync(self._forgotten)

    def has_forgotten(self, name: str) -> bool:
        """True of a name that went with a forgotten document."""
        return (self._forgotten / _tombstone(f"name\x1f{name}")).exists()

    def is_forgotten(self, document_key: str) -> bool:
        """True if the document was forgotten: a source need not ask for it again."""
        return any((self._forgotten / _tombstone(key)).exists() for key in repositories.keys(document_key))

    def stock(self) -> Stock:
        """The segments that are there against those that the index names; every one is read and hashed.

        Raises:
            RawError: the index or a segment cannot be read at all.
        """
        return self.index.stock()

    def settled(self, seen: Seen | None = None) -> Stock:
        """The stock; what lay there whole and unnamed is named in the index then, where raw can be written to.

        A segment that `seen` knows as whole is not read again.
        """
        stock = self.index.stock(seen)
        if stock.unnamed:
            with suppress(RawError), self.locked(exclusive=False):  # a raw that is mounted read-only is read as it is
                self._name_unnamed()
        return stock

    def check(self) -> int:
        """The number of pages, after every segment and every page was read and compared with its sha256."""
        for path in self.index.files():
            if not is_whole(path):
                raise RawError(f"{path}: its bytes are not the ones that its name promises", path=path)
        refs = self.refs()
        for start in range(0, len(refs), MAX_SEGMENT_PAGES):
            self.read(refs[start : start + MAX_SEGMENT_PAGES])
        return len(refs)

    def hidden(self) -> frozenset[str]:
        """What stands for the forgotten documents: a hash for each."""
        return frozenset(path.name for path in self._forgotten.glob("*"))

    def _rewrite(self, path: Path, hidden: frozenset[str]) -> None:
        """Puts a segment without its forgotten pages in the place of `path`, where it has any."""
        refs = self.refs_of(path)
        kept = [ref for ref in refs if not _is_hidden(ref.document_key, hidden)]
        if len(kept) == len(refs):
            return
        name = self.written(self.read([ref])[0] for ref in kept)
        with writing_to(self.folder):
            self.index.add({"change": "replaced", "segment": path.name, "by": name})
            path.unlink()
            disk.sync(self.segments)

    def written(self, pages: Iterable[RawPage]) -> str:
        """The name of a new segment with these pages, "" if there are none."""
        writer, identities = SegmentWriter(self.segments), []
        try:
            for page in pages:
                writer.add(page)
                identities.append(_identity(page))
            return self._finish(writer, identities)
        finally:
            writer.discard()

    @contextmanager
    def locked(self, *, exclusive: bool) -> Iterator[None]:
        """A context in which no other process adds pages (or, unless `exclusive`, forgets a document)."""
        path = self.folder / "lock"
        with writing_to(self.folder):
            self.segments.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = disk.descriptor(path, os.O_RDWR | os.O_CREAT)
        try:
            alone = _locked(descriptor, fcntl.LOCK_EX, attempts=1)
            if alone:
                # of a process that was killed: none is at work now
                for left_over in (*self.segments.glob(".*.tmp"), *self.index.leftovers()):
                    left_over.unlink()
            if not (alone if exclusive else _locked(descriptor, fcntl.LOCK_SH, attempts=LOCK_ATTEMPTS)):
                hint = "Wait until the other errmine process on this folder has ended, then run the command again."
                raise RawError(f"{path}: another process is at work on the raw layer", path=path, hint=hint)
            yield
        finally:
            os.close(descriptor)


def current(refs: Iterable[PageRef]) -> list[DocumentRefs]:
    """The current pages of every document, sorted by document key; `refs` are all of its pages, as raw lists them."""
    found: dict[str, dict[str, PageRef]] = {}
    for ref in _ordered(refs):
        found.setdefault(ref.document_key, {})[ref.part] = ref  # sorted by version: the last one stays
    return [DocumentRefs(key, tuple(parts[part] for part in sorted(parts))) for key, parts in sorted(found.items())]


def _ordered(refs: Iterable[PageRef]) -> list[PageRef]:
    """Every page once, under the present name of its repository, sorted; of equal ones the first."""
    found: dict[bytes, PageRef] = {}
    for ref in refs:
        found.setdefault(_identity(ref), _renamed(ref))
    return sorted(found.values(), key=_order)


def _locked(descriptor: int, kind: int, *, attempts: int) -> bool:
    for attempt in range(attempts):
        if attempt:
            time.sleep(LOCK_WAIT_SECONDS)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return True
    return False


def _identity(page: RawPage | PageRef) -> bytes:
    """What makes two pages the same page: content, document, part and version. Hashed, because a layer has millions.

    The version is in it because content may return to what it was: a comment is added, then deleted.
    """
    parts = "\x1f".join((page.sha256, page.document_key, page.part, page.version_at))
    return hashlib.blake2b(parts.encode(), digest_size=16).digest()


def _identities_sum(name: str, size: int, body: bytes) -> bytes:
    """By what the identities of a segment are known to be whole, and to be of that segment."""
    return hashlib.sha256(f"{_IDENTITY_VERSION} {name} {size} ".encode() + body).digest()


def _tombstone(document_key: str) -> str:
    return hashlib.sha256(f"forgotten\x1f{document_key}".encode()).hexdigest()


def _is_hidden(document_key: str, hidden: Set[str]) -> bool:
    """True if the thread was forgotten under any of its names."""
    return bool(hidden) and any(_tombstone(key) in hidden for key in repositories.keys(document_key))


def _renamed(ref: PageRef) -> PageRef:
    current = repositories.current_key(ref.document_key)
    return ref if current == ref.document_key else replace(ref, document_key=current)


def _order(ref: PageRef) -> tuple[str, str, bool, str, str]:
    """By it the last of several versions is current: what was fetched wins over what a file says of itself."""
    return (ref.document_key, ref.part, ref.fetched_at is not None, ref.version_at, ref.sha256)


def _bodies(path: Path, refs: Sequence[PageRef]) -> Iterator[tuple[int, bytes]]:
    """Offset and checked body of each of `refs`, all of one segment, read from front to back."""
    try:
        with disk.opened(path) as file:
            for ref in sorted(refs, key=lambda ref: ref.offset):
                file.seek(ref.offset)
                yield ref.offset, _body(file.read(ref.length), ref, path)
    except OSError as error:
        raise RawError(f"{path}: cannot be read: {error.strerror}", path=path) from error


def _body(deflated: bytes, ref: PageRef, path: Path) -> bytes:
    try:
        body = zlib.decompress(deflated, -zlib.MAX_WBITS, bufsize=ref.size or 1)
    except zlib.error as error:
        raise RawError(f"{path}: page {ref.sha256} is damaged: {error}", path=path) from error
    if hashlib.sha256(body).hexdigest() != ref.sha256:
        raise RawError(f"{path}: page {ref.sha256} is not what its name promises", path=path)
    return body


def _page(ref: PageRef, body: bytes) -> RawPage:
    return RawPage(
        sha256=ref.sha256,
        source=ref.source,
        url=ref.url,
        form=ref.form,
        document_key=ref.document_key,
        part=ref.part,
        version_at=ref.version_at,
        fetched_at=ref.fetched_at,
        etag=ref.etag,
        body=body,
    )
