"""What ships in packs: every row of a table knows its examples, and leaves alone what only looks like them."""

from __future__ import annotations

from pipeline.lexicon import vocabulary
from pipeline.lexicon.added_classes import DOMAINS, Domain
from tests.each import each


@each("row, text", [(row, text) for row in DOMAINS.rows() for text in row.examples])
def test_a_domain_has_its_examples(row: Domain, text: str) -> None:
    assert vocabulary.domain(vocabulary._clues(text))[0] == row.name


@each("row, text", [(row, text) for row in DOMAINS.rows() for text in row.lookalikes])
def test_a_domain_has_not_its_lookalikes(row: Domain, text: str) -> None:
    assert vocabulary.domain(vocabulary._clues(text))[0] != row.name
