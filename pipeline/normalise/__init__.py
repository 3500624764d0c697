"""Normalise: what an event is, with what varies taken out of it.

Order of work: strip boilerplate, unwrap wrappers, choose the culprit line by a named rule, recognise known families and
codes, else mask what varies as typed slots and let the deciding words of the rest be gates. Rules live in
`pipeline/data/normalise`; its README says how to add one.

Gate keys, closed: code, resource, space, backend, library, assertion, module, symbol, op, status, exception, polarity,
feature, tool, errno, signal, place, and `kind`, the id of a known family.
"""

from pipeline.normalise.assemble import (
    NORMALISER_VERSION,
    PLACE,
    is_arisen,
    is_elsewhere,
    is_empty,
    is_named,
    place_name,
    placed_as,
    signature,
)
from pipeline.normalise.masks import template as masked
from pipeline.normalise.other_readings import readings
from pipeline.normalise.peel import is_specific
from pipeline.normalise.text_signature import is_consequence, main_event, rank, signature_of_text

__all__ = [
    "NORMALISER_VERSION",
    "PLACE",
    "is_arisen",
    "is_consequence",
    "is_elsewhere",
    "is_empty",
    "is_named",
    "is_specific",
    "main_event",
    "masked",
    "place_name",
    "placed_as",
    "rank",
    "readings",
    "signature",
    "signature_of_text",
]
