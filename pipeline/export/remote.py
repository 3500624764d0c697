"""A bundle in an object store: published so that no reader ever sees half of it, and read as far as it is asked for.

::

    s3://bucket/prefix/manifest.json        that of the bundle, put last and in one piece: it is the bundle
    s3://bucket/prefix/objects/<sha256>     every file that it names, by its content; written again where damaged

Nothing but the manifest is ever replaced, so who holds one finds all that it names, also while another is published,
and a publication that is killed leaves nothing but objects that the next one need not send. A publication deletes what
neither its manifest nor the one before names, if it was put more than a day ago.

What is read is kept in `$XDG_CACHE_HOME/errmine`, by content, and checked by its sha256 whenever it is read. Stores are
those of Arrow, which is there anyway: `s3://`, `gs://` and `abfs://`, with the credentials that their own tools use;
what else has to be said stands in the address: `s3://bucket/prefix?endpoint_override=localhost:9000&scheme=http`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pipeline.records import kept
from pipeline.records.errors import ConfigError, ExportError
from pipeline.records.leaves import is_remote

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

#: Schemes of stores; Arrow knows others, which nobody asked for.
SCHEMES = ("s3", "gs", "abfs", "abfss")
#: Requests at a time: a small file is all waiting. 7,399 take 26 s on two cores that have the server too.
_AT_A_TIME = 16
#: How long an object that no manifest names is left: readers of the bundle before, and a publication beside this one.
_GRACE_SECONDS = 24 * 3600
#: What was read of a store and not asked for again is forgotten after a month.
_KEPT_SECONDS = 30 * 24 * 3600
_HINT = "Check the address, the network, and the credentials, which are those of the store's own tools."


@dataclass(frozen=True, slots=True)
class Sent:
    """What a publication did."""

    bundle_id: str
    file_count: int  # that the manifest names
    sent_count: int  # of these, those that were not there
    removed_count: int  # objects that nothing names any more


class _There(NamedTuple):
    """What a store says of an object."""

    size: int  # bytes
    at: float  # when it was put, in seconds


def local(place: str | os.PathLike[str]) -> Path:
    """The folder of a bundle: `place` itself, or for the address of a store one that is filled as it is read.

    Raises:
        ConfigError: the address is none of a store.
        ExportError: the store cannot be reached, there is no bundle, or its manifest is not what was written.
    """
    return _opened(os.fspath(place)) if is_remote(place) else Path(place)


def publish(folder: Path, url: str, *, again: bool = False) -> Sent:
    """What was sent of the bundle in `folder` to `url`, whose readers have the one before or this one.

    What is there already is sent where its length is another, and with `again` in any case.

    Raises:
        ConfigError: the address is none of a store.
        ExportError: the bundle is damaged, something else lies there, or the store cannot be reached.
    """
    store = _Store(url)
    try:
        manifest = kept.read(folder / kept.MANIFEST)
        listing = kept.Listing.of_bundle(folder)
        paths = {sha256: path for path, sha256 in listing.sums.items()}
        before = store.listed()
        there = store.objects()

        def lacking(found: Mapping[str, _There]) -> list[str]:
            sizes = {name: one.size for name, one in found.items()}
            return sorted(name for name, path in paths.items() if sizes.get(name) != (folder / path).stat().st_size)

        def send(names: Iterable[str]) -> None:
            store.each(names, lambda sha256: store.put(_object(sha256), listing.read(paths[sha256])))

        missing = sorted(paths) if again else lacking(there)
        send(missing)
        store.put(kept.MANIFEST, manifest)
        # another publication may have deleted meanwhile what was there, and no manifest named, when this one began
        send(lost := lacking(store.objects()) if there else [])
        old = time.time() - _GRACE_SECONDS
        # where no bundle was, what lies there may be anybody's
        left = sorted(name for name, one in there.items() if before and name not in {*paths, *before} and one.at < old)
        if left and store.get(kept.MANIFEST) == manifest:
            store.each(left, lambda sha256: store.remove(_object(sha256)))
        else:
            left = []
    except kept.Damaged as error:
        raise ExportError(
            f"cannot publish {error.path}: {error}", path=error.path, hint="Run `errmine export`."
        ) from error
    except FileNotFoundError as error:
        hint = "Run `errmine export`: another may be at work in this home."
        raise ExportError(f"{error.filename} is gone", path=Path(str(error.filename)), hint=hint) from error
    bundle_id = str(kept.unsealed_json(folder / kept.MANIFEST, manifest)["bundle_id"])
    return Sent(bundle_id, len(listing.sums), len(missing) + len(lost), len(left))


def _object(sha256: str) -> str:
    return f"objects/{sha256}"


def _opened(url: str) -> Path:
    store, cache = _Store(url), _cache()
    body = store.get(kept.MANIFEST)
    path = cache / "bundles" / kept.sha256(body) / kept.MANIFEST
    try:
        kept.unsealed_json(path, body)
    except kept.Damaged as error:
        raise ExportError(f"{url}: no manifest of a bundle: {error}", path=Path(kept.MANIFEST), hint=_HINT) from error
    try:
        _prune(cache)
        kept.write(path, body)
    except OSError as error:
        hint = "XDG_CACHE_HOME names another folder for what is read."
        raise ExportError(f"cannot write {path}: {error.strerror or error}", path=path, hint=hint) from error
    kept.fill_from(path.parent, partial(_brought, store, cache))
    return path.parent


def _brought(store: _Store, cache: Path, sha256: str) -> bytes:
    """The object, from what was read before or from the store; whoever asks checks it."""
    path = cache / "objects" / sha256
    with suppress(kept.Damaged, OSError):
        body = kept.checked(path, sha256)
        os.utime(path)
        return body
    body = store.get(_object(sha256))
    if kept.sha256(body) != sha256:  # who asks says so
        return body
    with suppress(OSError):  # a full disk: it is read again the next time
        kept.write(path, body)
    return body


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "errmine"


def _prune(cache: Path) -> None:
    """Nothing; what nobody asked for in a month is gone."""
    old = time.time() - _KEPT_SECONDS
    for path in [*cache.glob("objects/*"), *cache.glob("bundles/*/*")]:
        with suppress(OSError):
            if path.stat().st_mtime < old:
                path.unlink()


class _Store:
    """A place in an object store."""

    def __init__(self, url: str) -> None:
        self.url = _shown(url)
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.netloc.rpartition("@")[2]:
            hint = f"For example s3://bucket/prefix; there are {', '.join(SCHEMES)}."
            raise ConfigError(f"{self.url}: no address of an object store", hint=hint)
        self._fs, self._root = _file_system(url, self.url)

    def put(self, name: str, body: bytes) -> None:
        """Nothing; the object stands there, whole."""
        with self._asking(name), self._fs.open_output_stream(f"{self._root}/{name}") as stream:
            stream.write(body)

    def get(self, name: str) -> bytes:
        """The bytes of an object."""
        with self._asking(name), self._fs.open_input_stream(f"{self._root}/{name}") as stream:
            found: bytes = stream.read()
            return found

    def remove(self, name: str) -> None:
        """Nothing; the object is gone."""
        with self._asking(name):
            self._fs.delete_file(f"{self._root}/{name}")

    def objects(self) -> dict[str, _There]:
        """Every object by its sha256; what is called otherwise is not ours."""
        from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415  (who has a folder needs none of it)

        with self._asking("objects"):
            found = self._fs.get_file_info(FileSelector(f"{self._root}/objects", allow_not_found=True))
            ours = (one for one in found if one.type == FileType.File and kept.is_sha256(one.base_name))
            return {one.base_name: _There(one.size, one.mtime.timestamp()) for one in ours}

    def listed(self) -> Iterable[str]:
        """The sha256 of each file that the manifest names which stands there; none where there is none.

        Raises:
            ExportError: something stands there that is no manifest of ours.
        """
        from pyarrow.fs import FileType  # noqa: PLC0415

        with self._asking(kept.MANIFEST):
            info = self._fs.get_file_info(f"{self._root}/{kept.MANIFEST}")
        if info.type == FileType.NotFound:
            return ()
        try:
            fields: dict[str, Any] = kept.unsealed_json(Path(kept.MANIFEST), self.get(kept.MANIFEST))
            return [file["sha256"] for file in fields["files"]]
        except (kept.Damaged, KeyError, TypeError) as error:
            hint = "Name another prefix, or delete what stands there."
            message = f"{self.url}/{kept.MANIFEST} is no manifest of a bundle: {error}"
            raise ExportError(message, path=Path(kept.MANIFEST), hint=hint) from error

    def each(self, names: Iterable[str], work: Callable[[str], object]) -> None:
        """Nothing; `work` was done for each of `names`, some at a time; the first error ends it."""
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            futures = [pool.submit(work, name) for name in names]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    @contextmanager
    def _asking(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            message = f"{self.url}/{name} is not there"
            hint = "`errmine export --to` puts a bundle there; open it again if another was published meanwhile."
            raise ExportError(message, path=Path(name), hint=hint) from error
        except (OSError, ValueError) as error:  # Arrow's own errors are of either
            raise ExportError(f"{self.url}/{name}: {error}", path=Path(name), hint=_HINT) from error


def _file_system(url: str, shown: str) -> tuple[FileSystem, str]:
    try:
        from pyarrow import ArrowException, fs  # noqa: PLC0415
    except ImportError as error:  # a pyarrow that somebody built without stores
        raise ExportError(f"{shown}: this pyarrow knows no stores: {error}", path=Path(shown)) from error
    asked = _quick(url)
    try:
        system, root = fs.FileSystem.from_uri(asked)
    except (OSError, ArrowException, ValueError) as error:
        if asked in str(error):  # it repeats the address, with any secret: neither that nor what it came from is shown
            raise ExportError(f"{shown}: this address cannot be read", path=Path(shown), hint=_HINT) from None
        raise ExportError(f"{shown}: {error}", path=Path(shown), hint=_HINT) from error
    return system, str(root).rstrip("/")


def _shown(url: str) -> str:
    """The address without what may be secret: who asks, and the options; also where it is mistyped."""
    scheme, mark, rest = url.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2].partition('?')[0]}"


def _quick(url: str) -> str:
    """The address, with a small file put by one request where it would be three."""
    parts = urlsplit(url.rstrip("/"))
    asked = dict(parse_qsl(parts.query))
    if parts.scheme == "s3":
        asked.setdefault("allow_delayed_open", "true")
    return urlunsplit(parts._replace(query=urlencode(asked)))
