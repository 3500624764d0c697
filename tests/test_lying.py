"""Records of clusters in columns are those that were written into them, whoever asks for some or for all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.cluster import Proof
from pipeline.records import Assignment, Cluster
from pipeline.run.build import grouping
from pipeline.run.build.grouping import Assigned, Clusters, KeptProofs, Lying
from pipeline.store.contents import InColumns

NAMES = [f"cluster:{number:03}" for number in range(100)]
BARE = [Cluster(name, f"s{name}", None, "it fails", (("code", "E7"),), (f"s{name}",), "", 100.0) for name in NAMES]
PROVEN = KeptProofs.of({name: Proof(name, "", f"it {number} fails", "", ()) for number, name in enumerate(NAMES)})
CLUSTERS = Clusters.of(BARE, PROVEN)
WHOLE = [replace(one, regex=PROVEN[one.cluster_id].regex) for one in BARE]


def lines(clusters: Clusters) -> dict[str, str]:
    """The text of each cluster."""
    told = clusters.lines()
    return dict(zip(told["cluster_id"].to_pylist(), told["line"].to_pylist(), strict=True))


def test_each_cluster_has_the_expression_that_is_proven() -> None:
    assert CLUSTERS == WHOLE
    assert (CLUSTERS[7], CLUSTERS[-1], CLUSTERS[2:4]) == (WHOLE[7], WHOLE[-1], WHOLE[2:4])
    assert CLUSTERS.of_ids(["cluster:999", NAMES[9], NAMES[3]]) == [WHOLE[3], WHOLE[9]]
    assert CLUSTERS.of_clusters({NAMES[5], "cluster:999"}) == [WHOLE[5]]
    with pytest.raises(IndexError):
        CLUSTERS[100]


def test_a_text_tells_all_that_a_record_is() -> None:
    assert isinstance(CLUSTERS, InColumns)
    told = lines(CLUSTERS)
    assert list(told) == NAMES
    for one in (replace(BARE[0], lowest_score=90.5), replace(BARE[0], exception_type=""), replace(BARE[0], members=())):
        assert lines(Clusters.of([one, *BARE[1:]], PROVEN))[NAMES[0]] != told[NAMES[0]]
    other = PROVEN.with_those_of({NAMES[0]: Proof(NAMES[0], "", "another", "", ())})
    assert {one for one, line in lines(Clusters.of(BARE, other)).items() if line != told[one]} == {NAMES[0]}


def test_who_asks_for_the_cluster_of_an_error_gets_that_of_its_row() -> None:
    rows = [Assignment(f"s{name}", name, "founder", 100.0, "it is alone") for name in NAMES]
    assigned = Assigned(Lying.written(grouping.ASSIGNMENTS, rows))
    assert assigned["scluster:007"] == "cluster:007"
    assert "scluster:999" not in assigned
    assert dict(assigned.items()) == dict(assigned) == {one.signature_id: one.cluster_id for one in rows}
