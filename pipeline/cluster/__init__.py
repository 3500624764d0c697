"""Templates to clusters: gates, candidates, a fuzzy check, leaders; names from content; people overrule."""

from pipeline.cluster.index import Abstention, Candidate, Index, Match
from pipeline.cluster.journal import Change, aliases, changes, dry_run, resolved
from pipeline.cluster.overrides import NONE, Lint, Override, Overrides, lint, read_overrides
from pipeline.cluster.partition import Partition, founder, partition
from pipeline.cluster.proofs import regex_for, regexes_for

__all__ = [
    "NONE",
    "Abstention",
    "Candidate",
    "Change",
    "Index",
    "Lint",
    "Match",
    "Override",
    "Overrides",
    "Partition",
    "aliases",
    "changes",
    "dry_run",
    "founder",
    "lint",
    "partition",
    "read_overrides",
    "regex_for",
    "regexes_for",
    "resolved",
]
