"""A thread in, places in it out: one question to the model, every claim of the answer checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.engines.chat import ChatModel
from pipeline.engines.enrich.answer import MOST_CLAIMS, proposals
from pipeline.engines.enrich.grounding import located, refused
from pipeline.engines.enrich.prompt import question
from pipeline.engines.http import Refused, Tally
from pipeline.records import Document, Pointed, Skipped, shelf_of


@dataclass(frozen=True, slots=True)
class Read:
    """What a model found in one thread; every claim of its answer is in one of the two."""

    pointed: tuple[Pointed, ...]
    refused: tuple[Skipped, ...]
    is_whole: bool  # False if the thread was too long to be shown whole


@dataclass(frozen=True, slots=True)
class Reader:
    """Asks `chat`, whose task is `prompt.TASK`, about one thread at a time."""

    chat: ChatModel

    @property
    def tally(self) -> Tally:
        """What was asked so far."""
        return self.chat.service.tally

    def read(self, document: Document, messages: Sequence[str]) -> Read | Skipped:
        """What the model finds in `document`, whose errors have these messages; or why there is no answer."""
        asked = question(document, messages)
        said = self.chat.ask(asked.text, shelf=shelf_of(document.document_id))
        if isinstance(said, Refused):
            return Skipped("enrich", document.document_id, said.why, said.reason)
        claims = proposals(said.value)
        if claims is None:
            return Skipped("enrich", document.document_id, "answer_unusable", "claims is no list")
        pointed: list[Pointed] = []
        lost: list[Skipped] = []
        for number, claim in enumerate(claims):
            if number >= MOST_CLAIMS:
                lost.append(refused(document, "too_many_claims"))
                continue
            if claim is None:
                lost.append(refused(document, "answer_unusable", f"claim {number} has another form"))
                continue
            found = located(claim, asked, document, rule=said.name)
            if isinstance(found, Pointed):
                pointed.append(found)
            else:
                lost.append(found)
        return Read(tuple(pointed), tuple(lost), asked.is_whole)
