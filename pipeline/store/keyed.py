"""A digest of each of many things by its key, as Arrow holds them.

A build has two such lists of all documents, of now and of before: as Python's own texts each took 250 bytes a document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

_SCHEMA = pa.schema([("key", pa.string()), ("digest", pa.string())])


class Digests:
    """Digests by key, which are in order."""

    def __init__(self, table: pa.Table) -> None:
        """Of a table of keys, in order, and their digests."""
        self.table = table.rename_columns(_SCHEMA.names).cast(_SCHEMA)

    @classmethod
    def of(cls, digests: Mapping[str, str]) -> Digests:
        """The digests that Python has by key."""
        keys = sorted(digests)
        return cls(pa.Table.from_arrays([pa.array(keys, pa.string()), pa.array(map(digests.get, keys))], _SCHEMA.names))

    def changed(self, now: Digests) -> list[str]:
        """The keys that came, went, or have another digest now, in order."""
        both = self.table.join(now.table, "key", join_type="full outer", right_suffix=" now")
        is_same = pc.fill_null(pc.equal(both["digest"], both["digest now"]), fill_value=False)
        return sorted(both.filter(pc.invert(is_same))["key"].to_pylist())

    def places(self, keys: Sequence[str]) -> list[int]:
        """The place of each of these keys in the order, of those that are there."""
        found = pc.index_in(pa.array(keys, pa.string()), value_set=self.table["key"])
        return [place for place in found.to_pylist() if place is not None]

    def with_those_of(self, keys: Sequence[str], now: Digests) -> Digests:
        """The same, of these keys alone as they are in `now`, or without them where that has none."""
        is_other = pc.is_in(self.table["key"], value_set=pa.array(keys, pa.string()))
        both = pa.concat_tables([self.table.filter(pc.invert(is_other)), now.table])
        return Digests(both.sort_by("key").combine_chunks())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digests) and bool(self.table.equals(other.table))

    __hash__ = None  # type: ignore[assignment]
