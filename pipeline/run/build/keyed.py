"""Records by key, in files that never change: what a build changed is a small file more, whose rows count before those
of the older ones.

Files are joined so that each has more than twice the rows of the next one: a row is written again as often as there are
files, which grows like the logarithm of all. They are read where they lie; a record becomes Python's own when somebody
asks for its key, and what is asked of all of them is asked of columns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pipeline.records import kept
from pipeline.run.shards.columns import Table

Record = TypeVar("Record")
Mask = NDArray[np.bool_]
#: Where more than one in so many is asked for, all are read.
_MANY = 8
#: To copy a piece of a table as it lies takes as long as to look up so many rows by themselves.
_A_PIECE = 100
#: No cell holds it.
SEPARATOR = "\x1f"
_GONE = pa.field("is_gone", pa.bool_())


@dataclass(frozen=True)
class Segment:
    """A file: rows in the order of their keys, which stand in the first column; of who is gone nothing else counts."""

    name: str
    table: pa.Table

    @cached_property
    def keys(self) -> pa.Array:
        """Of its rows."""
        return whole(self.table.column(0))


class Keyed(Mapping[str, Record], Generic[Record]):
    """The records of some files, and what changed since; the key is the first field of a record."""

    def __init__(
        self,
        table: Table[Record],
        segments: Sequence[Segment] = (),
        changed: Mapping[str, Record | None] = MappingProxyType({}),
    ) -> None:
        """Of the keys that `changed` names there are those records, or none."""
        self.table = table
        self.segments = tuple(segments)
        self.changed = changed

    @classmethod
    def schema(cls, table: Table[Record]) -> pa.Schema:
        """Of a file."""
        return table.schema.append(_GONE)

    def with_those_of(self, changed: Mapping[str, Record], *, gone: Iterable[str] = ()) -> Self:
        """The same, but these records are there, and those that are `gone` and not among them are not.

        One that is as it was is no change.
        """
        many = self.several(list(changed))
        differing: dict[str, Record | None] = {key: one for key, one in changed.items() if many.get(key) != one}
        differing |= {key: None for key in gone if key not in changed and key in many}
        return type(self)(self.table, self.segments, {**self.changed, **differing})

    # ------------------------------------------------------------ by key

    def __getitem__(self, key: str) -> Record:
        if key in self.changed:
            if (one := self.changed[key]) is None:
                raise KeyError(key)
            return one
        for segment in reversed(self.segments):
            at = place(segment.keys, key)
            if at >= 0:
                if segment.table["is_gone"][at].as_py():
                    break
                (found,) = self.table.read(segment.table.slice(at, 1).select(self.table.schema.names))
                return found
        raise KeyError(key)

    def several(self, keys: Sequence[str]) -> Mapping[str, Record]:
        """The records of some keys, and perhaps of others; where many are asked for all are read at once."""
        return dict(zip(self, self.every(), strict=True)) if len(keys) * _MANY > len(self) else self

    def __len__(self) -> int:
        return sum(int(mask.sum()) for mask in self._alive) + len(self._fresh)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.rows([self.table.schema.names[0]]).column(0).to_pylist()))

    def every(self) -> list[Record]:
        """All records, in the order of their keys."""
        return self.table.read(self.rows(self.table.schema.names).sort_by(self.table.schema.names[0]))

    # ------------------------------------------------------------ of all

    def without(self, keys: pa.Array) -> frozenset[str]:
        """The keys of those that are not among these."""
        own = self.rows([self.table.schema.names[0]]).column(0)
        return frozenset(own.filter(pa.array(~is_in(own, keys))).to_pylist())

    @cached_property
    def _fresh(self) -> pa.Table:
        return self.table.write([one for _, one in sorted(self.changed.items()) if one is not None])

    @cached_property
    def _alive(self) -> list[Mask]:
        """Which rows of each segment count."""
        newer = pa.array(sorted(self.changed), pa.string())
        found = []
        for segment in reversed(self.segments):
            is_older = ~is_in(segment.keys, newer)
            found.append(is_older & ~numbers(segment.table["is_gone"]))
            newer = pa.concat_arrays([newer, segment.keys])
        return found[::-1]

    def naming(self, name: str, values: Iterable[str], *, field: str = "") -> list[Record]:
        """The records in whose list of this name one of some values is, or a record with it in this field."""
        return self.having((name,), lambda inner: is_in(inner.field(field) if field else inner, values))

    def having(self, names: Sequence[str], are_hits: Callable[..., Mask]) -> list[Record]:
        """The records that have a hit in their lists of these names, which are equally long: of what all of these lists
        hold, one after the other, it tells which places are.
        """
        tables = [(one.table, mask) for one, mask in zip(self.segments, self._alive, strict=True)]
        parts = []
        for table, mask in (*tables, (self._fresh, np.ones(len(self._fresh), bool))):
            lists = [whole(table[name]) for name in names]
            hits = np.zeros(len(table), bool)
            hits[numbers(pc.list_parent_indices(lists[0]))[are_hits(*(one.flatten() for one in lists))]] = True
            parts.append(table.select(self.table.schema.names).filter(pa.array(hits & mask)))
        return self.table.read(pa.concat_tables(parts))

    def rows(self, names: Sequence[str]) -> pa.Table:
        """These columns of all records, in any order."""
        parts = [
            part if mask.all() else part.filter(pa.array(mask))
            for segment, mask in zip(self.segments, self._alive, strict=True)
            for part in [segment.table.select(names)]
        ]
        return pa.concat_tables([*parts, self._fresh.select(names)])

    # ------------------------------------------------------------ kept

    def write(
        self, folder: Path, kind: str, known: dict[str, dict[str, Any]], *, is_purged: bool
    ) -> list[dict[str, Any]]:
        """What a list says of the files of the folder `kind` in `folder`, the oldest first, which lie there then.

        Those that are `known` stay as they are; with `is_purged` none that holds anything but what counts.

        Raises:
            OSError: the disk refuses.
        """
        segments = list(self.segments)
        if self.changed:
            segments.append(Segment("", self._changed_rows()))
        while len(segments) > 1 and (is_purged or is_due(*(len(one.table) for one in segments[-2:]))):
            segments[-2:] = [self._joined(segments[-2:], is_oldest=len(segments) == 2)]
        if is_purged and segments and segments[0].name:
            segments = [self._joined(segments, is_oldest=True)]
        number = max((int(Path(one.name).stem) for one in self.segments), default=0)
        listed = []
        for segment in segments:
            name = segment.name
            if name not in known:
                number += 1
                name = f"{kind}/{number}.arrow"
                body = as_it_lies(segment.table)
                kept.write(folder / name, body)
                (known[name],) = kept.listed([(name, body)])
            listed.append(known[name])
        return listed

    def _changed_rows(self) -> pa.Table:
        """The rows of a file of what changed."""
        gone = sorted(key for key, one in self.changed.items() if one is None)
        fresh = self._fresh.append_column(_GONE, pa.repeat(pa.scalar(False), len(self._fresh)))
        names = self.table.schema.names
        cells = [pa.array(gone, pa.string())]
        cells += [pa.nulls(len(gone), self.table.schema.field(name).type) for name in names[1:]]
        away = pa.Table.from_arrays([*cells, pa.repeat(pa.scalar(True), len(gone))], schema=self.schema(self.table))
        both = pa.concat_tables([fresh.cast(away.schema), away])
        return both.sort_by(names[0]).combine_chunks()

    def _joined(self, segments: Sequence[Segment], *, is_oldest: bool) -> Segment:
        """The rows of segments, the oldest first, of which each newer one counts before; those of all that is gone
        have to be told as long as there is an older one.
        """
        newer = pa.array([], pa.string())
        parts = []
        for segment in reversed(segments):
            stays = ~is_in(segment.keys, newer)
            if is_oldest:
                stays &= ~numbers(segment.table["is_gone"])
            parts.append(segment.table.filter(pa.array(stays)))
            newer = pa.concat_arrays([newer, segment.keys])
        return Segment("", pa.concat_tables(parts).sort_by(self.table.schema.names[0]).combine_chunks())


def is_due(older: int, newer: int) -> bool:
    """Whether files of so many rows or bytes become one: each is to have more than twice of what the next one has."""
    return older <= 2 * newer


def opened(path: Path, schema: pa.Schema) -> pa.Table:
    """The rows of a file, where they lie.

    Raises:
        OSError, pyarrow.ArrowException: it cannot be read.
        ValueError: it has other columns.
    """
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    if not table.schema.equals(schema):
        raise ValueError(f"{path.name} has other columns")
    return table


def as_it_lies(table: pa.Table) -> pa.Buffer:
    """A file of a table that takes no work to read: of Parquet keys take as long as grouping whom they spare."""
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue()


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column in one piece; one that is in one piece lies where it lay, which `combine_chunks` would copy."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def place(keys: pa.Array, key: str) -> int:
    """Where a key is among keys in order; -1 where it is not."""
    found = bisect_left(range(len(keys)), key, key=lambda at: keys[at].as_py())
    return found if found < len(keys) and keys[found].as_py() == key else -1


def replaced(last: pa.Table, is_gone: Mask, made: pa.Table) -> pa.Table:
    """The rows of `last` but those that are gone, and those that were `made`, in one piece.

    They are in the order of their keys, which stand in the first column, as those of `last` are. What stays between two
    changes is copied as it lies: to sort all takes ten times as long.
    """
    made = made.sort_by(made.column_names[0])
    there, keys = whole(last.column(0)), made.column(0).to_pylist()
    stay = np.flatnonzero(~is_gone)
    before = [bisect_left(range(len(there)), key, key=lambda at: there[at].as_py()) for key in keys]
    order = np.insert(stay, np.searchsorted(stay, before), np.arange(len(last), len(last) + len(keys)))
    both = pa.concat_tables([last, made])
    begins = np.flatnonzero(np.diff(order, prepend=-2) != 1)
    if len(begins) * _A_PIECE > len(order):
        return both.take(pa.array(order)).combine_chunks()
    ends = np.append(begins[1:], len(order))
    pieces = zip(order[begins].tolist(), (ends - begins).tolist(), strict=True)
    return pa.concat_tables([both.slice(0, 0), *(both.slice(*piece) for piece in pieces)]).combine_chunks()


def is_in(column: pa.ChunkedArray | pa.Array, values: pa.Array | pa.ChunkedArray | Iterable[str]) -> Mask:
    """Which cells are among some values; null is among none."""
    some = whole(values) if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(sorted(values), pa.string())
    return numbers(pc.is_in(column, value_set=some, skip_nulls=True))


def numbers(column: pa.ChunkedArray | pa.Array) -> NDArray[Any]:
    """A column as numpy has it."""
    found: NDArray[Any] = whole(column).to_numpy(zero_copy_only=False)
    return found


def owners(keys: pa.ChunkedArray, lists: pa.ChunkedArray, values: Iterable[str]) -> list[str]:
    """The keys of rows in whose list one of some values is, each once."""
    lists = whole(lists)
    parents = pc.list_parent_indices(lists).filter(pa.array(is_in(lists.flatten(), values)))
    found: list[str] = whole(keys).take(pc.unique(parents)).to_pylist()
    return found


def lines(table: pa.Table, names: Sequence[str]) -> pa.Array:
    """The cells of each row as one text."""
    cells = [_text(whole(table[name])) for name in names]
    return pc.binary_join_element_wise(*cells, SEPARATOR, null_handling="replace", null_replacement="\0")


def _text(column: pa.Array) -> pa.Array:
    if pa.types.is_list(column.type):
        inner = column if pa.types.is_string(column.type.value_type) else column.cast(pa.list_(pa.string()))
        return pc.binary_join(inner, "\x1e")
    return column if pa.types.is_string(column.type) else column.cast(pa.string())
