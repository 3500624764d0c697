"""Of clusters compared in columns only those become records that differ, and what is said of them is the same."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import cluster
from pipeline.run.build import changes, history
from pipeline.store import reading

SIGNATURES = st.sampled_from([f"s{number}" for number in range(9)])
CLUSTERS = st.sampled_from("ABCDE")
GROUPED = st.dictionaries(SIGNATURES, CLUSTERS)
ALIASES = st.dictionaries(CLUSTERS, CLUSTERS)
COUNTS = st.dictionaries(SIGNATURES, st.integers(1, 3))
READ_ANEW = st.dictionaries(st.tuples(SIGNATURES, SIGNATURES), st.integers(1, 3), max_size=3)


def counted(counts: dict[str, int], name: str) -> pa.Table:
    return pa.table({name: pa.array(counts, pa.string()), "event_count": pa.array(counts.values(), pa.int64())})


@settings(max_examples=300, deadline=None)
@given(GROUPED, GROUPED, ALIASES, ALIASES)
def test_what_became_of_clusters_is_told_by_those_that_differ(
    before: dict[str, str], now: dict[str, str], known: dict[str, str], published: dict[str, str]
) -> None:
    last = history.LastBuild(assigned=changes.columns(before), cluster_aliases=tuple(known.items()))
    found = changes.compared(last, changes.columns(now), history.Moved({}, "1", "1"), known=published)
    assert list(found.changes) == cluster.changes(before, now)
    assert found.aliases == cluster.aliases({**published, **known}, before, now)
    assert cluster.dry_run(found.before, found.after) == cluster.dry_run(before, now)
    touched = {cluster_id for _, cluster_id in before.items() ^ now.items()}
    assert {*found.before.values(), *found.after.values()} == touched


@settings(max_examples=100, deadline=None)
@given(GROUPED, GROUPED, READ_ANEW)
def test_of_events_read_anew_every_cluster_is_told(
    before: dict[str, str], now: dict[str, str], moved: dict[tuple[str, str], int]
) -> None:
    """An event may have gone into a cluster that is as it was but for that."""
    counts = {pair: count for pair, count in moved.items() if pair[0] in before and pair[0] not in now}
    last = history.LastBuild(assigned=changes.columns(before))
    found = changes.compared(last, changes.columns(now), history.Moved(counts, "1", "2"), known={})
    flows: Counter[tuple[str, str]] = Counter()
    for (old, new), count in counts.items():
        if new in now:
            flows[before[old], now[new]] += count
    assert found.moved == flows


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(CLUSTERS, st.integers(0, 4)), GROUPED, COUNTS)
def test_a_cluster_grows_by_errors(had: dict[str, int], now: dict[str, str], events: dict[str, int]) -> None:
    have: Counter[str] = Counter()
    for signature_id, count in events.items():
        if signature_id in now:
            have[now[signature_id]] += count
    last = history.LastBuild(counted=counted(had, "cluster_id").cast(reading.EVENT_COUNTS))
    same = changes.compared(last, changes.columns(now), history.Moved({}, "1", "1"), known={})
    past = changes.Past(None, last, history.Moved({}, "1", "1"), same, changes.columns(now))  # type: ignore[arg-type]
    told = past.figures(counted(events, "signature_id"), most=9)
    assert told["changed"]["grown"] == sorted(one for one, count in had.items() if have[one] > count)
