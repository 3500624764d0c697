"""Which packs are active: decided once, at the edges, before anything is read.

Each process decides for itself: what starts a worker hands it :attr:`Active.folders`, and the worker compares digests.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from pipeline.packs.folder import HEADER, Pack, Stage, read_pack
from pipeline.packs.problem import PackError

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

T = TypeVar("T")

#: Before the name of a pack that ships and is to be left out.
WITHOUT = "-"
#: Digits of the packs' hash in a version.
_DIGITS = 12

_SHIPPED = Path(__file__).parents[1] / "data" / "packs"
#: What `functools.cache` and `lru_cache` make.
_KEEPS = type(functools.cache(len))
_LOCK = threading.RLock()


@dataclass(frozen=True)
class Active:
    """The packs that are active: those that a team added by name, then those that ship, by name. So come their rows."""

    packs: tuple[Pack, ...]
    left_out: tuple[Pack, ...] = ()  # that ship, and that the settings do without; by name

    @property
    def added(self) -> tuple[Pack, ...]:
        """Those that do not ship."""
        return tuple(pack for pack in self.packs if not pack.is_shipped)

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the added ones lie, and "-name" of those left out: what `activate` of another process is given."""
        return (*(str(pack.folder) for pack in self.added), *(WITHOUT + pack.name for pack in self.left_out))

    def told(self) -> list[dict[str, str]]:
        """What a bundle says of the packs that were added, and under "-name" of those that were left out."""
        gone = [{**pack.told(), "name": WITHOUT + pack.name} for pack in self.left_out]
        return [*(pack.told() for pack in self.added), *gone]

    def digest(self, *stages: Stage) -> str:
        """Of what the packs added and left out bring to the stages; "" where that is nothing: the package decides."""
        told = [(pack.name, pack.digest(frozenset(stages))) for pack in self.added]
        told += [(WITHOUT + pack.name, "gone" if pack.digest(frozenset(stages)) else "") for pack in self.left_out]
        lines = [f"{name}\x1f{digest}\x1e" for name, digest in told if digest]
        return hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""


@functools.cache
def _shipped() -> tuple[Pack, ...]:
    if not _SHIPPED.is_dir():
        return ()
    return tuple(read_pack(path.parent, is_shipped=True) for path in sorted(_SHIPPED.glob(f"*/{HEADER}")))


@functools.cache
def _usual() -> Active:
    return Active(_shipped())


#: What was decided last; None where nobody did. `Table.rows` asks whether the packs are the very same.
_decided: Active | None = None


def active() -> Active:
    """The packs that are active now; those that ship, until `activate` was called."""
    return _usual() if _decided is None else _decided


def reading(folders: Iterable[Path | str]) -> Active:
    """The packs of `folders` as they are now, with those that ship; nothing is activated.

    The folder of one that ships names that one; the text "-name" leaves the one of that name out.

    Raises:
        PackError: there is no pack in a folder, two have one name, or none that ships has the name.
    """
    given = set(folders)
    without = {one.removeprefix(WITHOUT) for one in given if _leaves_out(one)}
    left_out = tuple(pack for pack in _shipped() if pack.name in without)
    if odd := without - {pack.name for pack in left_out}:
        there = ", ".join(pack.name for pack in _shipped())
        advice = f"Correct [fields] packs of errmine.toml; there are {there}. A folder of such a name is ./{WITHOUT}…"
        raise PackError.of(Path(WITHOUT + min(odd)), None, "no pack of that name comes with errmine", advice)
    kept = tuple(pack for pack in _shipped() if pack.name not in without)
    added = {Path(folder).resolve() for folder in given if not _leaves_out(folder)}
    if added:  # to ask for the true place of each that ships takes 8 ms, and every step of a run activates packs
        added -= {pack.folder.resolve() for pack in kept}
    packs = tuple(sorted(map(read_pack, sorted(added)), key=lambda pack: pack.name))
    names = {pack.name: pack for pack in kept}
    for pack in packs:
        if (other := names.setdefault(pack.name, pack)) is not pack:
            message = f"{pack.name!r} is the name of another pack too, in {other.folder}"
            raise PackError.of(pack.folder / HEADER, None, message, "Give the pack another name, or name it once.")
    return Active((*packs, *kept), left_out) if packs or left_out else _usual()


def _leaves_out(folder: Path | str) -> TypeGuard[str]:
    return isinstance(folder, str) and folder.startswith(WITHOUT)  # a path that begins so is a folder


def activate(folders: Iterable[Path | str] = ()) -> Active:
    """The packs of `folders` are active from now on, with those that ship; what others gave is forgotten.

    Raises:
        PackError: there is no pack in a folder, two have one name, or one to leave out does not ship.
    """
    found = reading(folders)
    _decide(found)
    return found


def _decide(found: Active) -> None:
    global _decided  # noqa: PLW0603  (one decision a process)
    with _LOCK:
        if found != active():
            _decided = found
            _forget()


def _forget() -> None:
    """Nothing; what was worked out from the rows of other packs is not kept anywhere.

    A cache two calls above a table shows no sign of packs, so all that functions of the package's modules keep is
    emptied. That is the one way: what keeps something elsewhere keeps it by the packs (`Table.rows`).
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("pipeline.") and not name.startswith("pipeline.packs"):
            for value in list(vars(module).values()):
                if isinstance(value, _KEEPS):
                    value.cache_clear()


@contextmanager
def using(*folders: Path | str) -> Iterator[Active]:
    """The packs of `folders` are active as long as the context lasts, then those of before, as they were then."""
    before = active()
    try:
        yield activate(folders)
    finally:
        _decide(before)


def marked(version: str) -> str:
    """The version of rules that read texts; with packs added or left out "5+" and their hash.

    Only what names the rules is marked so. Ids carry the number alone: what two teams read alike has one id, whatever
    else their packs know.
    """
    brought = active().digest(Stage.EVENTS)
    return f"{version}+{brought[:_DIGITS]}" if brought else version


def cached(work: Callable[..., T]) -> _lru_cache_wrapper[T]:
    """A function of a module, with what it gave kept, as `functools.cache` does, until other packs are activated."""
    return functools.cache(work)


def activated(folders: tuple[str, ...], wanted: str, *stages: Stage) -> None:
    """Nothing; the packs of `folders` are active in this process, and are those that whoever started it had read.

    Raises:
        PackError: a pack was changed meanwhile.
    """
    if activate(folders).digest(*stages) != wanted:
        where: Any = folders[0] if folders else _SHIPPED
        raise PackError.of(Path(where), None, "the pack was changed while it was in use", "Run the command again.")
