"""The rows of a shard, and their columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from itertools import accumulate, chain, islice
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Generic, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from pipeline.records import Claim, Document, DocumentHead, Event, Signature, Skipped, content_id

# The records that the map step hands on: a partition's documents without their text, its events, claims and losses.

#: A longer message is kept by its beginning; the whole stands in raw.
DETAIL_CHARACTERS = 1000
#: The longest quote that an entry may show (DESIGN, limits of trust).
QUOTE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class DocumentRow(DocumentHead):
    """A document without its text and posts."""

    post_count: int
    character_count: int


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event in its document, with its signature and the words that prove it.

    `quote` is verbatim: `document.text[signature.start:signature.end]`, cut at 300 characters. `signature` is None
    where the event is not grouped (a warning, an interruption).
    """

    event_id: str
    document_id: str
    ordinal: int  # 0 for the first event of the document
    event: Event
    signature: Signature | None
    quote: str
    posted_at: datetime | None
    author_role: str | None
    post_url: str | None


@dataclass(frozen=True, slots=True)
class MapResult:
    """Everything that one partition gives; the reduce step reads nothing else."""

    documents: tuple[DocumentRow, ...] = ()
    events: tuple[EventRow, ...] = ()
    claims: tuple[Claim, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def __add__(self, other: MapResult) -> MapResult:
        """Both results, this one's rows first."""
        return MapResult(
            self.documents + other.documents,
            self.events + other.events,
            self.claims + other.claims,
            self.skipped + other.skipped,
        )


@dataclass(frozen=True, slots=True)
class Part:
    """What one document gives; `digest` tells its pages and the code that read them from any others."""

    document_key: str
    digest: str
    result: MapResult


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in the tables of a shard the rows of one document are."""

    document_key: str
    digest: str
    documents: tuple[int, ...]
    events: tuple[int, ...]
    claims: tuple[int, ...]
    skipped: tuple[int, ...]


def document_row(document: Document) -> DocumentRow:
    """`document` without its text and posts."""
    head = {field.name: getattr(document, field.name) for field in fields(DocumentHead)}
    return DocumentRow(**head, post_count=len(document.posts), character_count=len(document.text))


def event_row(document: Document, event: Event, *, ordinal: int, signature: Signature | None) -> EventRow:
    """The row of `event`: its id, its quote, and who posted it when."""
    start, end = (signature.start, signature.end) if signature else (event.start, event.end)
    place = document.post_at(start)
    post = document.posts[place] if place >= 0 else None
    return EventRow(
        event_id=content_id("event", document.document_id, str(event.start), str(event.end)),
        document_id=document.document_id,
        ordinal=ordinal,
        event=replace(event, detail=event.detail[:DETAIL_CHARACTERS]),
        signature=signature,
        quote=document.text[start : min(end, start + QUOTE_CHARACTERS)],
        posted_at=post.posted_at if post else document.opened_at,
        author_role=post.author_role if post else None,
        post_url=(post.url if post else None) or document.url,
    )


# The Arrow columns of a record, and the way there and back, derived from its fields: no record is named here.
#
# ::
#
#     str, int, float, bool, datetime     text, 64-bit number, double, flag, UTC time; what may be None may be null
#     an enum                             its text
#     tuple[str, ...], tuple[int, ...]    a list of texts, or of numbers
#     a record                            a struct of its own fields; null where there is none
#     tuple of named tuples               a list of structs: stack frames and slots, of which there are many
#     any other tuple                     JSON text: records inside records, and pairs
#
# Work goes column by column: millions of rows pass, and a dict for every row costs more than all that is in it.

Record = TypeVar("Record")
Text = Callable[[str], str]

_ARROW: dict[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us", tz="UTC"),
    tuple[str, ...]: pa.list_(pa.string()),
    tuple[int, ...]: pa.list_(pa.int64()),
}


class Column(Protocol):
    """The values of one field."""

    @property
    def arrow(self) -> pa.DataType:
        """The type of the column."""

    def array(self, values: Sequence[Any]) -> pa.Array:
        """`values` as Arrow has them."""

    def values(self, array: pa.Array) -> list[Any]:
        """What was made an array, as it was."""


class Table(Generic[Record]):
    """The columns of a record and of the records in it; a row is one record.

    Of the fields that are `shared` a text that was read is that of every other row, in any table, that has the same.
    """

    def __init__(self, record: type[Record], *, shared: Collection[str] = ()) -> None:
        self._record = record
        hints = get_type_hints(record)
        names = [field.name for field in fields(record)]  # type: ignore[arg-type]
        self._columns = {name: _column(hints[name], sys.intern if name in shared else None) for name in names}
        self._fields = [pa.field(name, column.arrow) for name, column in self._columns.items()]
        self.arrow = pa.struct(self._fields)
        self.schema = pa.schema(self._fields)

    def write(self, records: Sequence[Record]) -> pa.Table:
        """A row for each of `records`."""
        return pa.Table.from_arrays(self._arrays(records), schema=self.schema)

    def read(self, table: pa.Table) -> list[Record]:
        """The records that were written into `table`."""
        return list(self._records([column.combine_chunks() for column in table.columns]))

    def array(self, values: Sequence[Record | None]) -> pa.Array:
        """`values` as one array of structs; see `Column`."""
        absent = [value is None for value in values]
        if not any(absent):
            return pa.StructArray.from_arrays(self._arrays(values), fields=self._fields)
        cells = [
            column.array([None if value is None else getattr(value, name) for value in values])
            for name, column in self._columns.items()
        ]
        return pa.StructArray.from_arrays(cells, fields=self._fields, mask=pa.array(absent))

    def values(self, array: pa.Array) -> list[Record | None]:
        """The records of an array of structs; see `Column`."""
        present = array.is_valid().to_pylist()
        records = iter(self._records(array.filter(array.is_valid()).flatten()))
        return [next(records) if is_there else None for is_there in present]

    def _arrays(self, records: Sequence[Any]) -> list[pa.Array]:
        return [column.array(list(map(attrgetter(name), records))) for name, column in self._columns.items()]

    def _records(self, arrays: Sequence[pa.Array]) -> map[Record]:
        cells = [column.values(array) for column, array in zip(self._columns.values(), arrays, strict=True)]
        return map(self._record, *cells)


@dataclass(frozen=True, slots=True)
class _Plain:
    """Values that Arrow takes as they are; `made` makes Python's own form of what comes back."""

    arrow: pa.DataType
    made: Callable[[Any], Any] | None = None

    def array(self, values: Sequence[Any]) -> pa.Array:
        try:
            return pa.array(values, type=self.arrow)
        except UnicodeEncodeError:  # a lone surrogate, from JSON such as "\ud800": one character for one character
            return pa.array([_sound(value) for value in values], type=self.arrow)

    def values(self, array: pa.Array) -> list[Any]:
        made = self.made
        values: list[Any] = array.to_pylist()
        return values if made is None else [None if value is None else made(value) for value in values]


class _Structs:
    """Tuples of named tuples. Field by field: Arrow takes four times as long over a dict for every stack frame."""

    def __init__(self, item: Any, text: Text | None) -> None:
        self._item = item
        self._columns = [_column(hint, text) for hint in get_type_hints(item).values()]
        named = zip(item._fields, self._columns, strict=True)
        self._fields = [pa.field(name, column.arrow) for name, column in named]
        self.arrow = pa.list_(pa.struct(self._fields))

    def array(self, values: Sequence[Any]) -> pa.Array:
        ends = accumulate((len(items or ()) for items in values), initial=0)
        items = list(chain.from_iterable(items or () for items in values))
        columns = zip(*items, strict=True) if items else ((),) * len(self._columns)
        cells = [column.array(cells) for column, cells in zip(self._columns, columns, strict=True)]
        structs = pa.StructArray.from_arrays(cells, fields=self._fields)
        return pa.ListArray.from_arrays(pa.array(ends, type=pa.int32()), structs, type=self.arrow)

    def values(self, array: pa.Array) -> list[Any]:
        cells = array.flatten().flatten()
        columns = [column.values(values) for column, values in zip(self._columns, cells, strict=True)]
        items = map(self._item, *columns)
        return [tuple(islice(items, length)) for length in array.value_lengths().to_pylist()]


class _Json(_Plain):
    """What no query asks field by field."""

    def __init__(self, hint: Any, text: Text | None) -> None:
        super().__init__(pa.string(), partial(_parsed, _thaw(hint, text)))

    def array(self, values: Sequence[Any]) -> pa.Array:
        return super().array([None if value is None else _json(value) if value else "[]" for value in values])


def _column(hint: Any, text: Text | None) -> Column:
    hint = _certain(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return Table(hint, shared=[] if text is None else [field.name for field in fields(hint)])
    if get_origin(hint) is tuple and hasattr(get_args(hint)[0], "_fields"):
        return _Structs(get_args(hint)[0], text)
    if _is_enum(hint):
        return _Plain(pa.string(), _member(hint))
    if hint not in _ARROW:
        return _Json(hint, text)
    if hint is datetime:
        return _Plain(_ARROW[hint], _utc)
    if get_origin(hint) is tuple:
        return _Plain(_ARROW[hint], _tuple_of(get_args(hint)[0], text))
    return _Plain(_ARROW[hint], text if hint is str else None)


def _tuple_of(item: Any, text: Text | None) -> Callable[[list[Any]], tuple[Any, ...]]:
    """How a list becomes a tuple of texts or numbers."""
    return tuple if text is None or item is not str else lambda cells: tuple(map(text, cells))


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, StrEnum)


def _member(kind: type[StrEnum]) -> Callable[[str], StrEnum]:
    """The member of a text; a table, for calling the class takes five times as long."""
    return {one.value: one for one in kind}.__getitem__


def _certain(hint: Any) -> Any:
    """The type without its `None`: every column may be null."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    (kind,) = (one for one in get_args(hint) if one is not NoneType)
    return kind


def _utc(time: datetime) -> datetime:
    """The same time with Python's own UTC: Arrow gives a zone object of another library."""
    return time.replace(tzinfo=UTC)


def _json_fields(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


#: The same text for equal values: sorted keys, no spaces, UTF-8 as it is.
_json = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_json_fields
).encode


def _parsed(thaw: Callable[[Any], Any], text: str) -> Any:
    return () if text == "[]" else thaw(json.loads(text))


def _thaw(hint: Any, text: Text | None) -> Callable[[Any], Any]:
    """How what became JSON gets its own types again."""
    hint = _certain(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        made = {name: _thaw(kind, text) for name, kind in get_type_hints(hint).items()}
        return lambda cells: cells and hint(**{name: made[name](cell) for name, cell in cells.items()})
    if _is_enum(hint):
        return _member(hint)
    if hasattr(hint, "_fields"):
        cells_of = [_thaw(kind, text) for kind in get_type_hints(hint).values()]
        return lambda cells: hint(*(thawed(cell) for thawed, cell in zip(cells_of, cells, strict=True)))
    if get_origin(hint) is not tuple:
        return lambda cell: text(cell) if text is not None and isinstance(cell, str) else cell
    first = get_args(hint)[0]
    thaw = _thaw(first, text)
    return _tuple_of(first, text) if first is str else lambda items: tuple(map(thaw, items))


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [_sound(cell) for cell in value] if isinstance(value, list | tuple) else value
