"""Which clusters what came, changed or went may concern: of all others it stands what the last build made of them.

A draft is made from its cluster, from what documents show and say of its errors, from its neighbours, from official
pages, and from which clusters the other errors are in that are spoken of. Each of these is asked what differs; who is
told by none of them is neither counted nor looked up. `results` still decides by a digest of all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.records import Claim
from pipeline.run.build import grouping, keyed, results
from pipeline.run.build.grouping import KeptProofs
from pipeline.run.build.narrow import Touched


def told_anew(
    kept: grouping.Kept, cluster_of: Mapping[str, str], standing: results.State, touched: Touched | None
) -> frozenset[str] | None:
    """The clusters whose errors, or what documents show of them, may be others; None where nothing is known of any."""
    if touched is None or not len(kept.clusters) or not len(standing.grouping.clusters):
        return None
    shown = {cluster_of[one] for one in touched.shown if one in cluster_of}
    names = [name for name in kept.clusters.column_names if name not in ("unit", "alike")]
    return frozenset(shown.union(_differing(kept.clusters, standing.grouping.clusters, names)))


def proven_anew(now: KeptProofs, before: KeptProofs) -> set[str]:
    """The clusters whose expression is another one now."""
    there = ((one, before.get(owner)) for owner, one in now.changed.items() if one is not None)
    return {one.cluster_id for one, known in there if known is None or known.regex != one.regex}


def by_rule(
    kept: grouping.Kept,
    cluster_of: Mapping[str, str],
    standing: results.State,
    touched: Touched,
    placed: pa.Table,
) -> dict[str, set[str]]:
    """The clusters whose drafts may be others though their errors are not, by the rule that says so."""
    moved = _pairs(kept.assignments, standing.grouping.assignments, ("signature_id", "cluster_id"))
    gone_or_come = {signature_id for signature_id, _ in moved}
    named = _pairs(kept.neighbours, standing.grouping.neighbours, ("cluster_id", "other_id", "score", "reason"))
    claimed = _placed_anew(placed, standing.placed, touched)
    return {
        "said": {cluster_of[one] for one in touched.spoken if one in cluster_of},
        "placed": {cluster_of[one] for one in claimed if one in cluster_of},
        "near": {one for row in named for one in row[:2]},
        "spoken": {one.cluster_id for one in standing.results.naming("spoken", gone_or_come)},
    }


def placed_rows(claims: Sequence[Claim]) -> pa.Table:
    """What others than an error's own documents claim, for the next build to compare with."""
    cells = [
        (keyed.SEPARATOR.join((c.claim_id, c.kind, c.key, str(c.share))), c.quote.document_id, list(c.signature_ids))
        for c in sorted(claims, key=lambda claim: claim.claim_id)
    ]
    columns = list(zip(*cells, strict=True)) or [()] * len(results.PLACED)
    return pa.table(
        [pa.array(column, kind.type) for column, kind in zip(columns, results.PLACED, strict=True)],
        schema=results.PLACED,
    )


def _placed_anew(now: pa.Table, before: pa.Table, touched: Touched) -> set[str]:
    """The signatures of claims that others place, and that came, went, or stand in documents that changed."""
    rows = [{(row["line"], *row["signature_ids"]): row for row in one.to_pylist()} for one in (now, before)]
    found = [row for one, other in (rows, rows[::-1]) for key, row in one.items() if key not in other]
    found += [row for one in rows for row in one.values() if row["document_id"] in touched.documents]
    return {name for row in found for name in row["signature_ids"]}


def _differing(now: pa.Table, before: pa.Table, names: Sequence[str]) -> list[str]:
    """What stands first in rows of `now` that `before` has otherwise, or not at all."""
    is_other = pc.invert(pc.is_in(keyed.lines(now, names), value_set=keyed.lines(before, names)))
    found: list[str] = now[names[0]].filter(is_other).to_pylist()
    return found


def _pairs(now: pa.Table, before: pa.Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The cells of rows that only one of two tables has."""
    found: list[tuple[str, ...]] = []
    lines, known = keyed.lines(now, names), keyed.lines(before, names)
    for table, own, other in ((now, lines, known), (before, known, lines)):
        rows = table.filter(pc.invert(pc.is_in(own, value_set=other))).select(names)
        found += zip(*(column.to_pylist() for column in rows.columns), strict=True)
    return found
