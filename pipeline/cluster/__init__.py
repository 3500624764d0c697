"""Templates to clusters: gates, candidates, a fuzzy check, leaders; names from content; people overrule."""

from pipeline.cluster.index import Abstention, Candidate, Index, Match
from pipeline.cluster.overrides import NONE, Override, Overrides, lint, read_overrides
from pipeline.cluster.partition import Partition, founder, partition

__all__ = [
    "NONE",
    "Abstention",
    "Candidate",
    "Index",
    "Match",
    "Override",
    "Overrides",
    "Partition",
    "founder",
    "lint",
    "partition",
    "read_overrides",
]
