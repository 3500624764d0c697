"""A finished folder in the place of another: in one system call where the system can, manifest last where not."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pipeline.records import disk, kept, leaves
from pipeline.records.errors import ExportError


@dataclass(frozen=True, slots=True)
class Layout:
    """Names in a folder that belong to what is published there; anything else in it is carried over."""

    names: tuple[str, ...]
    manifest: str  # the one that is written last, and moved last: what has it is whole


BUNDLE = Layout(leaves.BUNDLE_NAMES, kept.MANIFEST)

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
#: What a kernel or file system says that cannot exchange two folders (or has one mounted).
_CANNOT_EXCHANGE = frozenset({errno.ENOSYS, errno.EINVAL, errno.EXDEV, errno.EBUSY, errno.EPERM, errno.ENOTSUP})


@dataclass(frozen=True, slots=True)
class Spare:
    """A folder that was replaced: most files of the next one are there already, under second names."""

    path: Path
    is_kept: bool = True  # whether the one that is replaced now may stay after it


def publish(folder: Path, fill: Callable[[Path], None], layout: Layout = BUNDLE, *, spare: Spare | None = None) -> None:
    """Nothing; `folder` then holds what `fill` wrote into an empty folder; if anything failed, what it held before.

    Of a `spare` that is there `fill` gets the files, without the manifest; then what was replaced is there, or the new
    one under second names, if it has leaves: to give each file of a large bundle one, and to take it away again, costs
    more than what changes in it.
    """
    target = folder.resolve()
    staged = target.with_name(f".{target.name}.new-{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_leftovers(target, layout)
        _begin(staged, spare, layout)
        fill(staged)
        _flush(staged)
        _swap(staged, target, layout)
    except OSError as error:
        _retire(staged, target, layout)
        raise ExportError(f"cannot write {folder}: {error.strerror or error}", path=folder) from error
    except BaseException:
        _retire(staged, target, layout)
        raise
    _retire(staged, target, layout, spare=spare)
    if spare is not None and (target / leaves.FOLDER).is_dir() and not spare.path.exists():
        _name_again(target, spare.path, layout)


def _begin(staged: Path, spare: Spare | None, layout: Layout) -> None:
    """Nothing; `staged` is there, with the files of the spare or empty."""
    if spare is not None and spare.path.is_dir():
        (spare.path / layout.manifest).unlink(missing_ok=True)  # it is no whole bundle any more
        with suppress(OSError):  # another file system
            spare.path.rename(staged)
            return
        shutil.rmtree(spare.path)
    staged.mkdir()


def _name_again(folder: Path, spare: Path, layout: Layout) -> None:
    """Nothing; each file of the bundle in `folder` has a second name in `spare`, its manifest last, or none has."""
    try:
        for name in layout.names:
            for place in sorted((folder / name).rglob("*")) if (folder / name).is_dir() else [folder / name]:
                if place.is_file():
                    again = spare / place.relative_to(folder)
                    again.parent.mkdir(parents=True, exist_ok=True)
                    os.link(place, again)
    except OSError:  # this file system gives a file one name alone
        shutil.rmtree(spare, ignore_errors=True)


def _swap(staged: Path, target: Path, layout: Layout) -> None:
    if not target.exists():
        staged.rename(target)
    elif _link_strangers(staged, target, layout) and _exchange(staged, target):
        _move_strangers(staged, target, layout)
    else:
        _replace_one_by_one(staged, target, layout)
    disk.sync(target.parent)


def _strangers(folder: Path, layout: Layout) -> Iterable[Path]:
    return sorted(path for path in folder.iterdir() if path.name not in layout.names)


def _link_strangers(staged: Path, target: Path, layout: Layout) -> bool:
    """True if every plain file of `target` that is not published has a second name in `staged` now."""
    try:
        for path in _strangers(target, layout):
            if path.is_file() and not path.is_symlink():
                os.link(path, staged / path.name)
    except OSError:
        return False
    return True


def _move_strangers(old: Path, target: Path, layout: Layout) -> None:
    for path in _strangers(old, layout):
        if not os.path.lexists(target / path.name):
            path.rename(target / path.name)


def _exchange(one: Path, other: Path) -> bool:
    """True if the two folders changed places; False if this system cannot."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT_EXCHANGE:
        return False
    raise OSError(code, os.strerror(code))


def finish(folder: Path) -> None:
    """Nothing; what a killed run was doing to the bundle in `folder` is done to its end, or undone.

    Raises:
        ExportError: the folder cannot be written.
    """
    target = folder.resolve()
    try:
        _clear_leftovers(target, BUNDLE)
    except OSError as error:
        raise ExportError(f"cannot write the bundle {folder}: {error.strerror or error}", path=folder) from error


def _replace_one_by_one(staged: Path, target: Path, layout: Layout) -> None:
    """A bundle without manifest is not whole: readers refuse it during the moment this takes."""
    manifest = layout.manifest
    source = staged
    if staged.stat().st_dev != target.stat().st_dev:  # the folder is a mount point
        source = target / f".new-{os.getpid()}"
        shutil.copytree(staged, source)
    gone = [name for name in layout.names if (target / manifest).exists() and not (source / name).exists()]
    (target / manifest).unlink(missing_ok=True)
    for name in gone:  # of a bundle without entries; where a killed run is taken up, they were moved before
        if (target / name).is_dir():
            shutil.rmtree(target / name, ignore_errors=True)
        else:
            (target / name).unlink(missing_ok=True)
    for name in layout.names:
        if not (source / name).exists():
            continue
        if (target / name).is_dir():
            shutil.rmtree(target / name)
        (source / name).replace(target / name)
    if source is not staged:
        shutil.rmtree(source)
    disk.sync(target)


def _clear_leftovers(target: Path, layout: Layout) -> None:
    """Nothing; what a killed run left beside `target` is gone, and what it had not carried over yet is back."""
    for leftover in sorted(target.parent.glob(f".{target.name}.new-*")):
        pid = leftover.name.rpartition("-")[2]
        if pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists():
            continue
        # the manifest is written last and moved last: what has one was whole, and its names were being moved
        if target.exists() and (leftover / layout.manifest).exists() and not (target / layout.manifest).exists():
            _replace_one_by_one(leftover, target, layout)
        _retire(leftover, target, layout)
    for leftover in target.glob(".new-*") if target.exists() else ():  # copies for a mounted folder
        shutil.rmtree(leftover)


def _retire(old: Path, target: Path, layout: Layout, *, spare: Spare | None = None) -> None:
    if not old.exists():
        return
    with suppress(OSError):
        if target.exists():
            _move_strangers(old, target, layout)
        is_large = (old / layout.manifest).exists() and (old / leaves.FOLDER).is_dir()
        if spare is not None and spare.is_kept and is_large:
            for path in _strangers(old, layout):  # second names of what is in the new one
                path.unlink()
            spare.path.parent.mkdir(parents=True, exist_ok=True)
            old.rename(spare.path)
            return
    shutil.rmtree(old, ignore_errors=True)


def _flush(folder: Path) -> None:
    """Nothing; everything in `folder` is on the disk: one call for thousands of files instead of one each."""
    call = getattr(ctypes.CDLL(None), "syncfs", None)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if call is None or call(descriptor) != 0:
            os.sync()
    finally:
        os.close(descriptor)
