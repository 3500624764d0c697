"""What would be shown of a thread, judged with the whole window in sight before anything is.

A passage by itself tells whether it can be understood, not whether it answers another question of the thread, or
whether a later post contradicts it. Of sixty statements that passed such a question two readers called five wrong and
two vague; this one turned down four and both, and two of 28 that were right for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pipeline.engines.chat import ChatModel
from pipeline.engines.enrich.answer import Verdict, verdicts
from pipeline.engines.enrich.grounding import Found
from pipeline.engines.enrich.prompt import Question, Statement, judge
from pipeline.engines.http import Refused

#: What names a statement: (kind, unit, the unit that tells how it ended, number of the error).
Key = tuple[str, int, int, int]
Verdicts = Mapping[Key, Verdict | Refused]


def key(claim: Found) -> Key:
    """The statement that a claim would be."""
    return claim.kind, claim.of.number, claim.unit.number, claim.error


def statements(claims: Sequence[Found], untils: Mapping[int, int]) -> dict[Key, Statement]:
    """The statements of these claims, in their order; `untils` are the last units of passages, by their first.

    Advice of which somebody says how it ended is no statement of its own: what is said of that goes for it.
    """
    ended = {(claim.of.number, claim.error) for claim in claims if claim.kind in ("worked", "failed")}
    found: dict[Key, Statement] = {}
    for claim in claims:
        if claim.kind == "remedy" and (claim.unit.number, claim.error) in ended:
            continue
        first = claim.of.number
        found.setdefault(key(claim), Statement(claim.kind, first, untils[first], claim.unit.number, claim.error + 1))
    return found


def judged(judging: ChatModel, asked: Question, told: Mapping[Key, Statement], *, shelf: str) -> Verdicts:
    """What the model says of each; the same reason for all where it says nothing that can be used."""
    if not told:
        return {}
    said = judging.ask(judge(asked, list(told.values())), shelf=shelf)
    if isinstance(said, Refused):
        return dict.fromkeys(told, said)
    given = verdicts(said.value)
    if given is None:
        return dict.fromkeys(told, Refused("verdicts is no list", why="answer_unusable"))
    return {name: given[number] for number, name in enumerate(told, 1) if number in given}


def of(claim: Found, found: Verdicts) -> Verdict | Refused | None:
    """The verdict on a claim, None if the answer has none: that of what ended well goes for the advice as well."""
    kind, unit, _ended, error = key(claim)
    if key(claim) in found or kind != "remedy":
        return found.get(key(claim))
    ends = (said for (other, of, _, about), said in found.items() if (of, about) == (unit, error) and other == "worked")
    return next(ends, None)


def passages(claims: Iterable[tuple[Found, int]]) -> dict[int, int]:
    """The last unit of each passage, by its first: the longest that any claim about it goes on to."""
    found: dict[int, int] = {}
    for claim, until in claims:
        found[claim.of.number] = max(found.get(claim.of.number, 0), until)
    return found
