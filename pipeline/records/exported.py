"""What an export reads of a database: a sign of every entry, all of those that it has to make, and the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from pipeline.records import Template

if TYPE_CHECKING:
    from pipeline.records.bundle import Named, Registry

#: What tells whether an entry is what it was: its id, bytes and sha256 of its row, and a digest of what the index says
#: of it besides, "" of one without a cluster.
SIGNS = pa.schema([("entry_id", pa.string()), ("size", pa.int64()), ("digest", pa.string()), ("indexed", pa.string())])

#: What a registry says of a name, in the order of `bundle.Named.of`; and with what follows from it.
OF_NAMES = pa.schema(
    [
        *((name, pa.string()) for name in ("name", "state", "leads_to", "cluster_id", "medoid")),
        ("renamed_from", pa.list_(pa.string())),
        ("own_id", pa.string()),
    ]
)
REGISTERED = pa.schema([*OF_NAMES, *((name, pa.int64()) for name in ("place", "low", "high"))])


@dataclass(frozen=True, slots=True)
class RegistryColumns:
    """A registry, of which no record is made."""

    table: pa.Table  # `REGISTERED`, in any order
    version: str  # of the registry of a bundle

    @classmethod
    def of(cls, registry: Registry) -> RegistryColumns:
        """The columns of a record."""
        return cls(registered(registry), registry.schema_version)


def registered(registry: Registry) -> pa.Table:
    """`REGISTERED` of a registry, in any order."""
    from pipeline.records.bundle import named  # noqa: PLC0415  (pydantic; who only asks a file needs none)

    return pa.Table.from_pylist(list(map(asdict, named(registry))), REGISTERED)


def names_in(table: pa.Table) -> list[Named]:
    """What rows say of which `OF_NAMES` are the first columns, in their order."""
    from pipeline.records.bundle import Named  # noqa: PLC0415  (as above)

    columns = (table[name].to_pylist() for name in OF_NAMES.names)
    return [Named.of(*cells) for cells in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as JSON, and what the index says of it besides."""

    entry_id: str
    json: str
    medoid: str | None = None  # of its cluster, None where it has none
    lowest_score: float | None = None
    templates: tuple[Template, ...] = ()  # of its cluster, by their ids


class Rows(Protocol):
    """The entries of a database, or of anything that has some."""

    def signs(self) -> pa.Table:
        """`SIGNS` of every entry, by id."""

    def rows(self, ids: Sequence[str]) -> Iterator[Row]:
        """The entries of these ids, by id."""
