"""What people, programs and official pages say about an error, with the words that say it.

`read` is the map step, local to a document; `draft` the reduce step, over everything known about one cluster.
Rules live in `pipeline/data/distil`; each has an id, and its measured precision stands in rule_precision.toml.
"""

from pipeline.distil.actions import key as remedy_key
from pipeline.distil.chains import causal, chained
from pipeline.distil.material import DocumentFacts, Material, Occurrence, Official, Reading
from pipeline.distil.pages import official
from pipeline.distil.pointing import pointed
from pipeline.distil.reading import STAGE, is_fixed, read
from pipeline.distil.reduce import draft

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
    "pointed",
    "read",
    "remedy_key",
]
