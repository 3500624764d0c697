"""What one repository's ingest must remember between runs: how far it came, and the validators of what raw holds.

One small SQLite file a repository, changed in one transaction each time after the pages were safe in raw: a process
that is killed leaves either the old or the new memory, and the old one only costs requests. It holds nobody's text.
Deleting it means a full sweep next time, nothing else.

SQLite has no checksums, and a watermark with a flipped bit would skip what was never seen. So who closes the file seals
its rows, the first change takes the seal away, and who opens it again compares.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from pipeline.records import disk
from pipeline.records.errors import SourceError, StoreError
from pipeline.records.kept import KeptFile, KeptKind, Verdict

VERSION = 2
# Version 1 set marks by whatever `Date` an answer had. One that lay in the future may be past by now and shows nothing;
# so its marks are believed no more, which costs one reading of the whole listing.
_OLD_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS progress (version INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS validators (
    url TEXT, token TEXT, etag TEXT NOT NULL, sha256 TEXT NOT NULL, next_url TEXT, PRIMARY KEY (url, token)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS crossings (number INTEGER PRIMARY KEY, mark TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS troubles (item TEXT PRIMARY KEY, runs INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS seal (place INTEGER PRIMARY KEY CHECK (place = 1), sha256 TEXT NOT NULL);
"""
_LOG = logging.getLogger(__name__)
_TIME = "%Y-%m-%dT%H:%M:%SZ"
#: What SQLite says where the disk, not the file, is in the way: busy, read-only, I/O error, full, cannot open.
_DISK = frozenset({5, 8, 10, 13, 14})
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]")


@dataclass(frozen=True, slots=True)
class Validator:
    """What lets one URL be asked for again at no cost, under one token."""

    url: str
    token: str  # fingerprint
    etag: str
    sha256: str  # of the body that the validator stands for
    next_url: str | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the ingest of one repository came. Times are ISO in UTC, by GitHub's clock."""

    selection: str = ""  # state and labels asked for; another selection is another sweep
    covered_from: str | None = None  # where the first complete sweep began; None: at the beginning
    watermark: str | None = None  # the next sweep begins here; None: no sweep was ever complete
    threads: int = 0  # held in raw when this was written; fewer in raw later means that raw was thrown away
    canonical: str | None = None  # owner/name by which GitHub knows it
    run_started_at: str | None = None  # of the run that is not complete yet
    run_since: str | None = None  # where that run began
    position: str | None = None  # everything up to this time of change is in raw
    recheck_after: int = 0  # REST only: timelines up to this number were looked at
    mentioned: tuple[int, ...] = ()  # named by texts that are newer than the timelines held; still to be looked at


class Ledger:
    """The memory of one repository's ingest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _on_disk(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(disk.descriptor(path, os.O_RDWR | os.O_CREAT))
            self._open()

    def _open(self) -> None:
        path = self.path
        self._db = sqlite3.connect(path, isolation_level=None)
        self._is_sealed = True  # or as it was found
        try:
            self._db.executescript(_TABLES)
            _check(self._db)
            self.progress = self._read()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # damaged: it can be made anew
            if _is_of_the_disk(error):
                raise
            _LOG.warning("%s is damaged (%s): it is made anew, with a full sweep", path, error)
            self._db.close()
            path.unlink()
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.executescript(_TABLES)
            self.progress = Progress()

    def close(self) -> None:
        """Lets go of the file, and seals what changed in it."""
        if not self._is_sealed:
            with suppress(sqlite3.OperationalError):  # a full disk: without a seal it is taken as it is
                self._db.execute("INSERT OR REPLACE INTO seal VALUES (1, ?)", (_sum(self._db),))
        self._db.close()

    def validator(self, url: str, token: str) -> Validator | None:
        """What is known about `url` under the token of this fingerprint."""
        row = self._db.execute("SELECT * FROM validators WHERE url = ? AND token = ?", (url, token)).fetchone()
        return Validator(*row) if row else None

    def crossings(self) -> dict[int, str]:
        """The mark of each thread's cross-references as they were when its timeline was last kept."""
        return dict(self._db.execute("SELECT number, mark FROM crossings"))

    def troubles(self) -> dict[str, int]:
        """What could not be had, a thread's number or a hash, and in how many runs."""
        return dict(self._db.execute("SELECT item, runs FROM troubles"))

    def save(
        self,
        progress: Progress,
        validators: Iterable[Validator] = (),
        crossings: Iterable[tuple[int, str]] = (),
        troubles: Mapping[str, int] | None = None,
    ) -> None:
        """Remembers all of it, or nothing; of troubles these and no others.

        Only to be called when the pages it speaks of are in raw.
        """
        rows = [(v.url, v.token, v.etag, v.sha256, v.next_url) for v in validators]
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO validators VALUES (?, ?, ?, ?, ?)", rows)
            self._db.executemany("INSERT OR REPLACE INTO crossings VALUES (?, ?)", crossings)
            if troubles is not None:
                self._db.execute("DELETE FROM troubles")
                self._db.executemany("INSERT INTO troubles VALUES (?, ?)", sorted(troubles.items()))
            text = json.dumps(asdict(progress))
            self._db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?)", (VERSION, text))
        self.progress = progress

    def forget_validators(self) -> None:
        """Forgets every validator: what they stand for is no longer in raw."""
        with self._transaction():
            self._db.execute("DELETE FROM validators")
            self._db.execute("DELETE FROM crossings")

    def forget_thread(self, number: int) -> None:
        """Nothing is left that says that there was such a thread, on free pages of the file neither."""
        thread = re.compile(rf"/(?:issues|pulls)/{number}(?![\w.])")
        urls = [
            row[:1] for row in self._db.execute("SELECT DISTINCT url, next_url FROM validators") if _names(thread, row)
        ]
        progress = self.progress
        with self._transaction():
            self._db.executemany("DELETE FROM validators WHERE url = ?", urls)
            self._db.execute("DELETE FROM crossings WHERE number = ?", (number,))
            self._db.execute("DELETE FROM troubles WHERE item = ?", (str(number),))
        self.save(replace(progress, mentioned=tuple(one for one in progress.mentioned if one != number)))
        self._db.execute("VACUUM")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _on_disk(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            self._is_sealed = False
            try:
                self._db.execute("DELETE FROM seal")
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite has rolled back already where the disk is full
                    self._db.execute("ROLLBACK")
                raise

    def _read(self) -> Progress:
        query = "SELECT version, value FROM progress WHERE version IN (?, ?) ORDER BY version DESC"
        row = self._db.execute(query, (VERSION, _OLD_VERSION)).fetchone()
        if row is None:
            return Progress()
        try:
            values = json.loads(row[1])
            progress = Progress(**{**values, "mentioned": tuple(values["mentioned"])})
        except (ValueError, TypeError, KeyError):
            return Progress()
        marks = (progress.covered_from, progress.watermark, progress.run_started_at, progress.run_since)
        if not all(mark is None or _is_time(mark) for mark in (*marks, progress.position)):
            return Progress(canonical=progress.canonical)
        return progress if row[0] == VERSION else without_marks(progress)


def without_marks(progress: Progress) -> Progress:
    """The same, as if no listing was ever read to its end: the next run reads it from the beginning."""
    return replace(progress, watermark=None, run_started_at=None, run_since=None, position=None)


def _is_time(mark: object) -> bool:
    try:
        return isinstance(mark, str) and datetime.strptime(mark, _TIME).strftime(_TIME) == mark
    except ValueError:
        return False


def _sum(database: sqlite3.Connection) -> str:
    """sha256 over the rows of all tables but the seal's own."""
    digest = hashlib.sha256()
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'seal' ORDER BY name"
    for (name,) in database.execute(names).fetchall():
        for row in database.execute(f'SELECT * FROM "{name}" ORDER BY 1, 2'):  # noqa: S608  (from the catalogue)
            digest.update(f"{name}\x1f{row!r}\x1e".encode())
    return digest.hexdigest()


def _check(database: sqlite3.Connection) -> None:
    """Nothing, or an error; what a killed run left, and a file of before, has no seal and is taken as it is.

    Raises:
        DatabaseError: the rows are not those that were sealed, or cannot be read.
    """
    sealed = database.execute("SELECT sha256 FROM seal").fetchall()
    if _sum(database) != (sealed[0][0] if sealed else _sum(database)):
        raise sqlite3.DatabaseError("its rows are not those that were written")


def kept_files(folder: Path) -> Iterator[KeptFile]:
    """Every ledger under `folder`, with what a look at its rows says; nothing is changed."""
    for path in sorted(folder.rglob("*.sqlite")):
        verdict = Verdict.OK
        try:
            database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            try:
                if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'seal'").fetchone():
                    _check(database)
            finally:
                database.close()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            verdict = Verdict.DAMAGED
        yield KeptFile(path, KeptKind.LEDGER, verdict, "The next ingest makes it anew, with a full sweep.")


@contextmanager
def _on_disk(path: Path) -> Iterator[None]:
    """Nothing; what the disk refuses inside the context is an error that says what to do."""
    try:
        yield
    except (OSError, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.DatabaseError) and not _is_of_the_disk(error):
            raise
        hint = "Check free space and rights of the folder, then run the command again: what was fetched is in raw."
        raise StoreError(f"cannot write {path}: {error}", path=path, hint=hint) from error


def _is_of_the_disk(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK


def _names(thread: re.Pattern[str], urls: tuple[str | None, ...]) -> bool:
    return any(url and thread.search(url) for url in urls)


def read_progress(path: Path) -> Progress:
    """How far the ingest came whose ledger lies there; nothing is made."""
    if not path.is_file():
        return Progress()
    ledger = Ledger(path)
    try:
        return ledger.progress
    finally:
        ledger.close()


def ledger_path(folder: Path, host: str, repo: str) -> Path:
    """Where the memory of `owner/name` at `host` lies in `folder`."""
    parts = [_UNSAFE.sub(lambda m: f"_{ord(m[0]):x}_", part) for part in (host, *repo.lower().split("/"))]
    return folder.joinpath(*parts[:-1], f"{parts[-1]}.sqlite")


def ledgers_of(folder: Path, repo: str) -> list[Path]:
    """Where the memories of `owner/name` lie in `folder`, from whatever servers it was read."""
    name = ledger_path(Path(), "", repo).as_posix()
    return sorted(folder.glob(f"*/{name.lstrip('/')}"))


@contextmanager
def alone(folder: Path, url: str) -> Iterator[None]:
    """A context in which no other process of this home talks to GitHub: requests are made one after the other.

    Raises:
        SourceError: another process is at it.
    """
    with _on_disk(folder / "lock"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = disk.descriptor(folder / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        hint = "Wait until it has ended; GitHub asks for one request at a time."
        raise SourceError("another ingest of this home is at work", url=url, hint=hint) from error
    try:
        yield
    finally:
        os.close(descriptor)
