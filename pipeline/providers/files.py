"""Files on disk: what is in them, and whose each piece of content is."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pipeline.providers import PROVIDERS, assemble
from pipeline.providers.page import is_html
from pipeline.providers.provider import Place, json_value, unknown_key
from pipeline.records import RawPage, Skipped

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# What a piece of content is: its form, the document that it belongs to, its part and version. From content alone.


def places(value: object, sha256: str) -> tuple[Place, ...] | str:
    """The places that a JSON value takes (an event of GH Archive takes two), or the reason why it takes none."""
    if isinstance(value, list):
        return _list_places(value, sha256) or "unknown_json"
    if not isinstance(value, dict):
        return "unknown_json"
    for provider in PROVIDERS:
        for rule in provider.rules().json:
            found = rule(value, sha256)
            if found is not None:
                return found
    return "unknown_json"


def text_place(text: str, sha256: str) -> Place | str:
    """The place that a page of text takes, or the reason why it takes none; what fits nothing is plain text."""
    start = text.lstrip("\ufeff \t\r\n")
    if not start:
        return "empty_file"
    for provider in PROVIDERS:
        for rule in provider.rules().texts:
            place = rule(start, sha256)
            if place is not None:
                return place
    return "unknown_html" if is_html(start) else Place("plain-text", unknown_key(sha256), "page:text", "", None)


def is_one_list(value: list[object], sha256: str = "") -> bool:
    """True for a list that belongs together, such as a timeline, which only as a whole tells whose it is."""
    return _list_places(value, sha256) is not None


def _wrapped(value: dict[str, object]) -> str | None:
    """The name of the field in which an answer holds a list of other objects, None of any other object."""
    rules = (rule for provider in PROVIDERS for rule in provider.rules().wrappers)
    return next((name for rule in rules if (name := rule(value)) is not None), None)


def _list_places(value: list[object], sha256: str) -> tuple[Place, ...] | None:
    for provider in PROVIDERS:
        for rule in provider.rules().lists:
            found = rule(value, sha256)
            if found is not None:
                return found
    return None


# Pages from files on disk: JSON, JSONL, GH Archive hours, saved pages; plain or gzip, told apart by their content.

# A line above this is passed over unread. The longest of 22,694 real threads has 650 kB; GH Archive's longest lines
# are a few MB.
MAX_LINE_BYTES = 32 * 1024 * 1024
# A file that is one JSON document, or one saved page, is held in memory whole.
MAX_FILE_BYTES = 64 * 1024 * 1024
# A pretty-printed document has at least this many lines before one of them is an object by itself.
PROBE_LINES = 5

#: Entries made elsewhere are known by their bytes and say anything of their age; none of it is believed.
_UNDATED = frozenset({"entry"})
#: Where nobody says what time it is.
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)

_GZIP = b"\x1f\x8b"
#: What is unpacked at once.
_PACKED_BYTES = 1 << 17
#: How Python's reader says that what should be the next member is none: of a first one the magic was compared before.
_NO_GZIP = "Not a gzipped file"
_BOM = b"\xef\xbb\xbf"
_READ_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Bytes of one object, or None where they could not be had for `reason`."""

    place: str
    body: bytes | None
    reason: str = ""
    detail: str = ""


def pages(paths: Iterable[Path], *, now: datetime | None = None) -> Iterator[RawPage | Skipped]:
    """Every page in `paths` (files, or folders with all that is in them, sorted), and a `Skipped` for all else.

    What states a time behind `now` is skipped: it would be newer than whatever the real thread becomes.
    """
    latest = now or _LATEST
    for path in sorted(set(paths)):
        for item in _files(path, ()):
            if isinstance(item, Skipped):
                yield item
            else:
                yield from _pages_of(item, latest)


def _skipped(item_id: str, reason: str, detail: str = "") -> Skipped:
    """An item that stays outside; bytes of its path that are no UTF-8 are written out."""
    return Skipped("import", os.fsencode(item_id).decode("utf-8", "backslashreplace"), reason, detail[:300])


def _files(path: Path, parents: tuple[tuple[int, int], ...]) -> Iterator[Path | Skipped]:
    """The regular files under `path`; `parents` are the folders being read, so that a link cannot lead round."""
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            yield path
            return
        if not stat.S_ISDIR(status.st_mode):
            yield _skipped(str(path), "not_a_file")
            return
        identity = (status.st_dev, status.st_ino)
        if identity in parents:
            yield _skipped(str(path), "link_loop")
            return
        names = sorted(os.listdir(path))
    except OSError as error:
        yield _system_reason(path, error)
        return
    for name in names:
        if not _is_text(name):
            yield _skipped(str(path / name), "name_not_utf8")
        elif name.startswith("."):
            yield _skipped(str(path / name), "hidden")
        else:
            yield from _files(path / name, (*parents, identity))


def _is_text(name: str) -> bool:
    """False for the name of a file that is no UTF-8: Python holds its bytes as half surrogates, which nothing takes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _system_reason(path: Path, error: OSError) -> Skipped:
    if isinstance(error, PermissionError):
        reason = "no_permission"
    elif isinstance(error, FileNotFoundError | NotADirectoryError):
        reason = "missing"
    elif error.errno is not None and os.strerror(error.errno).startswith("Too many levels"):
        reason = "link_loop"
    else:
        reason = "unreadable"
    return _skipped(str(path), reason, error.strerror or "")


def _pages_of(path: Path, now: datetime) -> Iterator[RawPage | Skipped]:
    """The pages of one file. What came before an error stays."""
    try:
        with path.open("rb") as file:
            packed = _Gzip(file) if _is_packed(file) else None
            for chunk in _chunks(io.BufferedReader(packed, _PACKED_BYTES) if packed else file):
                yield from _recognised(chunk, f"{path}{chunk.place}", now)
            if packed and packed.is_followed:
                yield _skipped(str(path), "behind_gzip")
    except _READ_ERRORS as error:
        yield _skipped(str(path), "cut_gzip", str(error))
    except OSError as error:
        yield _system_reason(path, error)


def _is_packed(file: BinaryIO) -> bool:
    magic = file.read(len(_GZIP))
    file.seek(0)
    return magic == _GZIP


class _Gzip(io.RawIOBase):
    """What a gzip file holds. Bytes behind its end that are no gzip end it, as they do for `gzip -d`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unpacked = gzip.GzipFile(fileobj=file)
        self.is_followed = False  # known when all is read

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        try:
            body = self._unpacked.read1(len(view))
        except gzip.BadGzipFile as error:
            if not str(error).startswith(_NO_GZIP):
                raise
            self.is_followed = True
            return 0
        view[: len(body)] = body
        return len(body)

    def seek(self, place: int, whence: int = io.SEEK_SET, /) -> int:
        """The beginning, the one place that is gone back to."""
        if (place, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation("only to the beginning")
        self._file.seek(0)
        self._unpacked = gzip.GzipFile(fileobj=self._file)
        return 0


def _chunks(file: BinaryIO) -> Iterator[_Chunk]:
    """The objects of a file: its lines if it is JSONL, the elements of its list, or the whole of it."""
    head: list[_Chunk] = []
    lines = _lines(file)
    for chunk in lines:
        head.append(chunk)
        if len(head) == PROBE_LINES:
            break
    filled = [chunk for chunk in head if chunk.reason != "empty_line"]
    if not filled:
        yield _Chunk("", None, "empty_file")
    elif _is_jsonl(filled):
        yield from (chunk for chunk in head if chunk.reason != "empty_line")
        yield from (chunk for chunk in lines if chunk.reason != "empty_line")
    else:
        file.seek(0)
        yield from _whole(file)


def _lines(file: BinaryIO) -> Iterator[_Chunk]:
    """The lines of a file, never more than one in memory, none longer than the limit."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        place = f":{number}"
        if len(line) > MAX_LINE_BYTES:
            _pass_over(file, line)
            yield _Chunk(place, None, "line_too_long", f"more than {MAX_LINE_BYTES} bytes")
            continue
        line = line.removeprefix(_BOM).strip(b" \t\r\n") if number == 1 else line.strip(b" \t\r\n")
        yield _Chunk(place, line) if line else _Chunk(place, None, "empty_line")


def _pass_over(file: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(1024 * 1024)


def _is_jsonl(head: list[_Chunk]) -> bool:
    """True if one of the first lines is an object by itself, or too long to be anything else than a line of data."""
    if any(chunk.reason == "line_too_long" for chunk in head):
        return True
    first = head[0].body or b""
    if not first.startswith(b"{"):
        return len(head) > 2 and all(_is_object(chunk.body or b"") for chunk in head[1:])
    return any(_is_object(chunk.body or b"") for chunk in head) or all(
        (chunk.body or b"").startswith(b'{"') for chunk in head
    )


def _is_object(line: bytes) -> bool:
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return False
    try:
        return bool(json.loads(line))
    except (ValueError, RecursionError):
        return False


def _whole(file: BinaryIO) -> Iterator[_Chunk]:
    body = file.read(MAX_FILE_BYTES + 1)
    if len(body) > MAX_FILE_BYTES:
        yield _Chunk("", None, "file_too_large", f"more than {MAX_FILE_BYTES} bytes")
    elif body.removeprefix(_BOM).lstrip().startswith(b"["):
        yield from _elements(body)
    else:
        yield _Chunk("", body)


def _elements(body: bytes) -> Iterator[_Chunk]:
    """The elements of a JSON list, each with its own bytes; a list that is broken or a timeline stays whole."""
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield _Chunk("", body)
        return
    if not isinstance(value, list) or is_one_list(value) or not value:
        yield _Chunk("", body)
        return
    decoder = json.JSONDecoder()
    position = text.index("[") + 1
    for number in range(1, len(value) + 1):
        position = _next(text, position)
        _, end = decoder.raw_decode(text, position)
        yield _Chunk(f":{number}", text[position:end].encode())
        position = end


def _inside(body: bytes) -> Iterator[_Chunk]:
    """What a page of a list or an answer that holds one is made of, each with its own bytes."""
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text)
        name = _wrapped(value) if isinstance(value, dict) else None
        held = value[name] if name else value
        if isinstance(held, list) and held and all(isinstance(item, dict) for item in held):
            yield from _elements(_member(text, name).encode() if name else body)
    except (ValueError, RecursionError):
        return


def _member(text: str, name: str) -> str:
    """The value of a member of a JSON object as it is written; of two of one name the last counts, as in `json`."""
    decoder = json.JSONDecoder()
    found, position = "", _next(text, text.index("{") + 1)
    while text[position] != "}":
        key, end = decoder.raw_decode(text, position)
        start = _next(text, end)
        _, end = decoder.raw_decode(text, start)
        found = text[start:end] if key == name else found
        position = _next(text, end)
    return found


def _next(text: str, position: int) -> int:
    """Where in a JSON list or object the next part begins, from behind another one."""
    while text[position] in " \t\r\n,:":
        position += 1
    return position


def _recognised(chunk: _Chunk, item_id: str, now: datetime, *, is_inside: bool = False) -> Iterator[RawPage | Skipped]:
    """The pages of one object: usually one, two for an event that carries an issue and a comment."""
    if chunk.body is None:
        yield _skipped(item_id, chunk.reason, chunk.detail)
        return
    sha256 = hashlib.sha256(chunk.body).hexdigest()
    found = _places(chunk.body, sha256, is_line=chunk.place != "", now=now)
    if isinstance(found, str):
        reason, _, detail = found.partition(":")
        held = list(_inside(chunk.body)) if reason == "unknown_json" and not is_inside else []
        if held:
            for one in held:
                yield from _recognised(one, f"{item_id}{one.place}", now, is_inside=True)
            return
        yield _skipped(item_id, reason, detail.strip())
        return
    for place in found:
        yield RawPage(
            sha256=sha256,
            source="import",
            url=place.url,
            form=place.form,
            document_key=place.document_key,
            part=place.part,
            version_at=place.version_at,
            fetched_at=None,
            etag=None,
            body=chunk.body,
        )


def _places(body: bytes, sha256: str, *, is_line: bool, now: datetime) -> tuple[Place, ...] | str:
    """Where the object belongs, or "reason: detail"."""
    value, found = _found(body, sha256, is_line=is_line)
    if isinstance(found, str):
        return found
    made: list[Place] = []
    for place in found:
        if place.form in _UNDATED:
            made.append(place)
            continue
        wrong = assemble.impossible(value, now=now)
        named = wrong or assemble.dated(place, now=now)
        if isinstance(named, str):
            return f"impossible_time: {named}"
        made.append(named)
    return tuple(made)


def _found(body: bytes, sha256: str, *, is_line: bool) -> tuple[object, tuple[Place, ...] | str]:
    """The JSON value that the object is, None of a text, and where it belongs, or "reason: detail"."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, f"invalid_utf8: byte {error.start}"
    if "\0" in text:
        return None, "nul_bytes"
    start = text.lstrip()[:1]
    if start not in ("{", "[") and not is_line:
        place = text_place(text, sha256)
        return None, place if isinstance(place, str) else (place,)
    try:
        value = json_value(text)
    except RecursionError:
        return None, "nested_too_deep"
    except ValueError as error:
        if not is_line and not text.rstrip().endswith(("}", "]")) and start == "[":
            place = text_place(text, sha256)  # a log that begins with "[rank0]" or "[12:00:01]"
            return None, place if isinstance(place, str) else (place,)
        return None, f"invalid_json: {error}"
    return value, places(value, sha256)
