"""Templates to clusters: gates, candidates, a fuzzy check, leaders; names from content; people overrule."""

from pipeline.cluster.candidates import hard
from pipeline.cluster.index import Abstention, Candidate, Index, Match
from pipeline.cluster.journal import Change, aliases, changes, dry_run, resolved
from pipeline.cluster.neighbours import why_two
from pipeline.cluster.partition import Partition, Ruling, founder, partition, rulings
from pipeline.cluster.people import NONE, Override, Overrides, read_overrides
from pipeline.cluster.proofs import Proof, Proofs, Untouched, regexes_for
from pipeline.cluster.titles import Print, is_type, title

__all__ = [
    "NONE",
    "Abstention",
    "Candidate",
    "Change",
    "Index",
    "Match",
    "Override",
    "Overrides",
    "Partition",
    "Print",
    "Proof",
    "Proofs",
    "Ruling",
    "Untouched",
    "aliases",
    "changes",
    "dry_run",
    "founder",
    "hard",
    "is_type",
    "partition",
    "read_overrides",
    "regexes_for",
    "resolved",
    "rulings",
    "title",
    "why_two",
]
