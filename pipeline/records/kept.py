"""Kept files: written whole, and read only if they are to the bit what was written.

A file's hash stands in one of two places::

    in a list     of a file that other programs read as it is: Parquet, and every file of the bundle, whose list is
                  manifest.json; a shard has a list of its own
    in itself     of a list, and of any other JSON of ours. Its member "seal" is the sha256 of the file with the 64
                  digits of that value written as zeros, as tar does with the checksum in a header

Lists name paths, so that a valid file under another's name does not fit either. What is done with a file that does not
fit, its owner decides: make it anew, ask again, or refuse it by name.

What was read whole is known again by size, inode and the times of its last change (`Seen`), as `git` knows the files of
its index: who only wants to hear once more that it is whole need not read it again. A file that was changed a moment
before it was looked at is not noted: a second change might fall into the same tick of the clock.

pydantic is not imported: `errmine match` reads a bundle through here, and has to be quick.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.records import disk

#: The list of a bundle.
MANIFEST = "manifest.json"
#: The value of "seal" while the seal is computed.
UNSEALED = "0" * 64
#: In JSON a quotation mark inside a text has a backslash before it: no text can look like this member.
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SEAL = re.compile(rb'"seal": ?"([0-9a-f]{64})"')


#: Folders that hold a list alone -> what brings a file of it, by its sha256.
_ORIGINS: dict[Path, Callable[[str], bytes]] = {}
#: Nanoseconds after its last change from which a file is noted. File systems have ticks of 10 ms, and some of 2 s.
_SETTLED = 3 * 10**9
#: A clock whose times are no multiples of its ticks has ticks of 10 ms at most; Windows' own has some of 16.
_COARSE, _TICK = 10**7, 2 * 10**7
#: Size, inode, time of the last change of its bytes, and of anything of it.
Sign = tuple[int, int, int, int]


class Verdict(StrEnum):
    """What a look at a kept file says."""

    OK = "ok"
    DAMAGED = "damaged"
    MISSING = "missing"


class KeptKind(StrEnum):
    """What a kept file outside raw is."""

    SHARD = "shard"
    PLAN = "plan"
    RESULTS = "results"
    ANSWER = "answer"
    LEDGER = "ledger"
    TRANSLATIONS = "translations"
    BUNDLE = "bundle"
    REGISTRY = "registry"
    PASSED = "passed"
    DATABASE = "database"


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A kept file outside raw, and what is to be done where it is not ok."""

    path: Path
    kind: KeptKind
    verdict: Verdict
    cure: str


class Damaged(Exception):
    """A kept file is not what was written; the message says in what way, `verdict` whether it is there at all."""

    def __init__(self, path: Path, reason: str, *, verdict: Verdict = Verdict.DAMAGED) -> None:
        super().__init__(reason)
        self.path = path
        self.verdict = verdict


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file to write to; `path` holds it then, on the disk; after a kill or a full disk it holds what it held before.

    Raises:
        OSError: the disk refuses.
    """
    # not the process's number: another machine that shares the folder may have a process of the same one
    staged = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with staged.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except OSError:
        with suppress(OSError):
            staged.unlink(missing_ok=True)
        raise


def write(path: Path, body: bytes) -> None:
    """Nothing; `path` holds `body` as `replaced` has it, which says what is raised."""
    with replaced(path) as file:
        file.write(body)


def read(path: Path) -> bytes:
    """The bytes of a file, not compared with anything yet.

    Raises:
        Damaged: it is missing or cannot be read.
    """
    try:
        return disk.body(path)
    except FileNotFoundError as error:
        raise Damaged(path, "it is missing", verdict=Verdict.MISSING) from error
    except OSError as error:
        raise Damaged(path, f"it cannot be read: {error.strerror or error}") from error


def sha256(body: bytes) -> str:
    """The hash by which lists and seals know a file: sha256 in hexadecimal digits."""
    return hashlib.sha256(body).hexdigest()


def is_sha256(text: str) -> bool:
    """Whether `text` is one of these hashes, which may be the name of a file."""
    return _SHA256.fullmatch(text) is not None


def _is_inside(name: str) -> bool:
    """Whether a path stays in the folder that it is relative to."""
    return not name.startswith("/") and ".." not in name.split("/")


def checked(path: Path, wanted: str) -> bytes:
    """The bytes of a file whose sha256 is `wanted`.

    Raises:
        Damaged: it is missing, or holds other bytes.
    """
    return _fitting(path, read(path), wanted)


def _fitting(path: Path, body: bytes, wanted: str) -> bytes:
    if sha256(body) != wanted:
        raise Damaged(path, "it is empty" if not body else "its bytes are not those that were written")
    return body


# ---------------------------------------------------------------- in itself: seals


def sealed(body: bytes) -> bytes:
    """`body`, JSON with the member "seal" whose value is `UNSEALED`, with its seal."""
    place = _place(body)
    assert place is not None
    return body[:place] + sha256(body).encode() + body[place + len(UNSEALED) :]


def sealed_json(fields: Mapping[str, Any]) -> bytes:
    """`fields` and their seal as one line of JSON; in ASCII, because a text may hold half a surrogate."""
    return sealed(json.dumps({**fields, "seal": UNSEALED}, sort_keys=True).encode("ascii") + b"\n")


def is_sealed(body: bytes) -> bool:
    """Whether JSON has the member "seal"."""
    return _place(body) is not None


def _place(body: bytes) -> int | None:
    """Where the digits of the seal begin, of several the last: a value may hold one too, and "seal" sorts behind it."""
    starts = [found.start(1) for found in _SEAL.finditer(body)]
    return starts[-1] if starts else None


def unsealed_json(path: Path, body: bytes | None = None) -> dict[str, Any]:
    """The fields of a sealed file without the seal; `body` if it was read already.

    Raises:
        Damaged: it is missing, has no seal, or another one than its bytes have.
    """
    body = read(path) if body is None else body
    place = _place(body)
    if place is None:
        raise Damaged(path, "it is empty" if not body else "it has no seal")
    end = place + len(UNSEALED)
    if sha256(body[:place] + UNSEALED.encode() + body[end:]).encode() != body[place:end]:
        raise Damaged(path, "its bytes are not those that were written")
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise Damaged(path, f"it is no JSON: {error}") from error
    return {name: value for name, value in fields.items() if name != "seal"}


def unsealed_once(path: Path) -> dict[str, Any]:
    """The same, read once by this process as long as nothing touches the file: a build asks four times for each shard.

    Raises:
        Damaged: as above.
    """
    sign = sign_of(path)
    if sign is None or not _is_settled(sign):
        return unsealed_json(path)
    return _unsealed_as(path, sign)


@lru_cache(maxsize=8192)
def _unsealed_as(path: Path, _sign: Sign) -> dict[str, Any]:
    return unsealed_json(path)


# ---------------------------------------------------------------- in a list


def listed(files: Iterable[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """What a list says of (path, bytes), in the form of the manifest's `files`."""
    return [{"bytes": len(body), "path": path, "sha256": sha256(body)} for path, body in files]


@lru_cache(maxsize=1)
def _manifest(path: Path, body: bytes) -> Mapping[str, str]:
    """The files that a manifest names, made once of the same bytes: who reads several files asks for it each time.

    Raises:
        Damaged: it is not what was written, or names what is no file.
    """
    return _sums(path, unsealed_json(path, body))


def _sums(path: Path, fields: Mapping[str, Any]) -> Mapping[str, str]:
    """Path in the folder -> sha256, of the files that a list names."""
    try:
        sums = {file["path"]: file["sha256"] for file in fields["files"]}
        strange = [name for name, wanted in sums.items() if not _is_inside(name) or not is_sha256(wanted)]
    except (AttributeError, KeyError, TypeError) as error:
        raise Damaged(path, f"it lists no files: {error!r}") from error
    if strange:  # anybody can seal a list: neither a name nor a hash of it may lead out of a folder
        raise Damaged(path, f"it lists what is no file of this folder: {strange[0]!r}")
    return sums


def fill_from(folder: Path, bring: Callable[[str], bytes]) -> None:
    """Nothing; in this process the files that the list in `folder` names are brought by `bring`, and checked."""
    _ORIGINS[folder] = bring


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a folder that a list names; each is read only if it is the one that the list means."""

    folder: Path
    path: Path  # of the list
    sums: Mapping[str, str]  # path in the folder -> sha256

    @classmethod
    def of(cls, folder: Path, name: str) -> Listing:
        """The files that the sealed list `name` of `folder` names.

        Raises:
            Damaged: the list is missing or not what was written.
        """
        path = folder / name
        return cls(folder, path, _sums(path, unsealed_json(path)))

    @classmethod
    def of_once(cls, folder: Path, name: str) -> Listing:
        """The same, of a list that is read once: see `unsealed_once`."""
        path = folder / name
        return cls(folder, path, _sums(path, unsealed_once(path)))

    @classmethod
    def of_bundle(cls, folder: Path) -> Listing:
        """The files that the manifest of the bundle in `folder` names.

        Bundles of before have a manifest without a seal: of theirs the files and the id must fit together.

        Raises:
            Damaged: the manifest is missing or not what was written.
        """
        path = folder / MANIFEST
        body = read(path)
        if is_sealed(body):
            return cls(folder, path, _manifest(path, body))
        from pipeline.records.bundle import Manifest, bundle_id, parsed  # noqa: PLC0415  (see above: pydantic)

        try:
            manifest = parsed(body, Manifest)
        except ValueError as error:
            raise Damaged(path, "it is empty" if not body else str(error)) from error
        if bundle_id(manifest.files) != manifest.bundle_id:
            raise Damaged(path, "its files are not those that its bundle_id is made of")
        return cls(folder, path, {file.path: file.sha256 for file in manifest.files})

    def read(self, name: str) -> bytes:
        """The bytes of a file of the list.

        Raises:
            Damaged: it is missing, not in the list, or not what the list means.
        """
        path = self.folder / name
        if name not in self.sums:
            raise Damaged(path, f"{self.path.name} does not name it")
        bring = _ORIGINS.get(self.folder)
        if bring is None:
            return checked(path, self.sums[name])
        return _fitting(path, bring(self.sums[name]), self.sums[name])

    def _compare(self, name: str) -> None:
        """Nothing, or `Damaged`, as `read`; a file of gigabytes is not held for it."""
        path = self.folder / name
        if name not in self.sums or self.folder in _ORIGINS:
            self.read(name)
            return
        try:
            with disk.opened(path) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            found = ""
        if found != self.sums[name]:
            self.read(name)  # tells what is wrong with it

    def check(self, name: str, seen: Seen | None = None) -> None:
        """Nothing; a file of the list is what the list means. One that `seen` knows as whole is not read again.

        Raises:
            Damaged: it is missing, not in the list, or not what the list means.
        """
        if seen is None or not seen.is_whole(self.folder / name, self.sums.get(name, "")):
            self._compare(name)
            if seen is not None:
                seen.note(self.folder / name, self.sums[name])

    def verdicts(self, seen: Seen | None = None) -> Iterator[tuple[Path, Verdict]]:
        """Each file of the list with what is to be said of it, the list's own first; see `check`."""
        yield self.path, Verdict.OK
        for name in sorted(self.sums):
            try:
                self.check(name, seen)
            except Damaged as error:
                yield error.path, error.verdict
            else:
                yield self.folder / name, Verdict.OK


def looked_at(folder: Path, name: str, kind: KeptKind, cure: str, seen: Seen | None = None) -> Iterator[KeptFile]:
    """The files of the list `name` of `folder`, with what a look at their bytes says; none where there is no list.

    One that `seen` knows as whole is not read again.
    """
    if not (folder / name).exists():
        return
    try:
        verdicts: list[tuple[Path, Verdict]] = list(Listing.of(folder, name).verdicts(seen))
    except Damaged as error:
        verdicts = [(error.path, error.verdict)]
    yield from (KeptFile(path, kind, verdict, cure) for path, verdict in verdicts)


def of_bundle(folder: Path, name: str) -> bytes:
    """The bytes of the file `name` of the bundle in `folder`.

    Raises:
        Damaged: it or the manifest is missing, or not what was written.
    """
    listing = Listing.of_bundle(folder)
    try:
        return listing.read(name)
    except Damaged:
        again = Listing.of_bundle(folder)
        if again.sums == listing.sums:
            raise
        return again.read(name)  # another bundle took the place of the first between the two looks


@dataclass(slots=True)
class Seen:
    """What was whole when it was last read; what nobody asks for any more is not written again."""

    before: dict[str, tuple[str, Sign]] = field(default_factory=dict)  # path: what was expected of it, its sign
    now: dict[str, tuple[str, Sign]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Seen:
        """What the file at `path` says; nothing where it is not what was written."""
        try:
            rows = unsealed_json(path)["files"]
            return cls({name: (told, (size, node, at, ctime)) for name, told, size, node, at, ctime in rows})
        except (Damaged, KeyError, TypeError, ValueError):
            return cls()

    def write(self, path: Path) -> None:
        """Nothing; the next one knows what this one knows. Where the disk refuses, it reads again."""
        if self.now != self.before:
            rows = [[name, told, *sign] for name, (told, sign) in sorted(self.now.items())]
            with suppress(OSError):
                write(path, sealed_json({"files": rows}))

    def is_whole(self, path: Path, told: str = "", *, at: Path | None = None) -> bool:
        """True if the file was found to be what `told` says, and nothing has touched it since; `at` is another name."""
        name, known = str(path), self.before.get(str(path)) or self.now.get(str(path))
        if known is None or known[0] != told or known[1] != sign_of(at or path):
            return False
        self.now[name] = known
        return True

    def note(self, path: Path, told: str = "", *, at: Path | None = None) -> None:
        """Nothing; the file is what `told` says, which was found by reading it just now, at `path` or `at`."""
        sign = sign_of(at or path)
        if sign is not None and _is_settled(sign):
            self.now[str(path)] = (told, sign)

    def look(self, path: Path, told: str) -> None:
        """Nothing; a file that nobody writes any more is noted if it is what `told` says. A known one is not read.

        Waits, where it was changed just now, for another tick of the clock.
        """
        if self.is_whole(path, told):
            return
        sign = sign_to_note(path)
        with suppress(Damaged, OSError):
            checked(path, told)
            if sign is not None and sign == sign_of(path):
                self.now[str(path)] = (told, sign)


def _is_settled(sign: Sign) -> bool:
    """Whether the file was not changed a moment ago: see above."""
    return time.time_ns() - max(sign[2:]) > _SETTLED


def sign_of(path: Path) -> Sign | None:
    """What the file system says of the file at `path`; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def sign_to_note(path: Path) -> Sign | None:
    """What tells the file that is read from now on, whatever touches it meanwhile; None where that may not be seen.

    Waits, where it was changed just now, for another tick of the clock.
    """
    sign = sign_of(path)
    if sign is None or max(sign[2:]) % _COARSE == 0:  # a clock of whole seconds
        return sign if sign and _is_settled(sign) else None
    left = max(sign[2:]) + _TICK - time.time_ns()
    if not 0 < left <= _TICK:
        return sign if left <= 0 else None
    time.sleep(left / 10**9)
    return sign if sign_of(path) == sign else None
