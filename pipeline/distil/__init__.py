"""What people, programs and official pages say about an error, with the words that say it.

`read` is the map step, local to a document; `draft` the reduce step, over everything known about one cluster.
Rules live in `pipeline/data/distil`; each has an id, and its measured precision stands in rule_precision.toml.
"""

from pipeline.distil.actions import key as remedy_key
from pipeline.distil.claims.claiming import STAGE, owners, passed_on, untitled
from pipeline.distil.claims.closing import is_fixed
from pipeline.distil.claims.pages import official
from pipeline.distil.claims.pointing import pointed
from pipeline.distil.claims.reading import read
from pipeline.distil.claims.released import read as read_release
from pipeline.distil.claims.replies import causal, chained, refuted_places
from pipeline.distil.drafts.reduce import draft
from pipeline.distil.material import DocumentFacts, Material, Occurrence, Official, Reading

__all__ = [
    "STAGE",
    "DocumentFacts",
    "Material",
    "Occurrence",
    "Official",
    "Reading",
    "causal",
    "chained",
    "draft",
    "is_fixed",
    "official",
    "owners",
    "passed_on",
    "pointed",
    "read",
    "read_release",
    "refuted_places",
    "remedy_key",
    "untitled",
]
