"""One sentence for people: why a template is in its cluster. Stored when decided, never computed again."""

from __future__ import annotations

from pipeline.cluster.leaders import CUTOFF
from pipeline.records import Cluster, Template

#: Characters of a text that a sentence shows.
SHOWN_CHARACTERS = 80


def gate_words(gate: tuple[tuple[str, str], ...]) -> str:
    """The gate for people: "resource shared memory, backend cuda"."""
    return ", ".join(f"{key} {value}" for key, value in gate) or "none"


def shown(text: str) -> str:
    """The beginning of a text on one line, in quotation marks."""
    line = " ".join(text[: 4 * SHOWN_CHARACTERS].split())
    return f'"{line}"' if len(line) <= SHOWN_CHARACTERS else f'"{line[:SHOWN_CHARACTERS]}…"'


def sentence(rule: str, score: float, *, template: Template, cluster: Cluster) -> str:
    """The explanation of one assignment."""
    gate = gate_words(template.gate)
    text = shown(cluster.text)
    if rule == "founder":
        return f"Names the cluster as its earliest template; gate: {gate}; {score:.1f} against {text}."
    if rule == "leader":
        return f"The most frequent text, which others were compared with; gate: {gate}; {score:.1f} against {text}."
    if rule == "gate":
        return f"The gate alone identifies the error: {gate}; the text, {score:.1f} against {text}, decides nothing."
    if rule == "equal":
        return f"Same gate ({gate}) and the same text as {text} but for case, spaces or kinds of slots."
    if rule == "slot":
        return f"Same gate ({gate}) and word for word {text}, but for values where one of the two has a slot."
    if rule == "prefix":
        return f"A cut text with the same gate ({gate}) that {text} or a member of its cluster continues."
    if rule == "quote":
        return f"Its words quote {text} or another text of its cluster whole; own gate: {gate}."
    if rule == "untyped":
        return f"The words of {text} without their exception type, which no other type prints; own gate: {gate}."
    if rule == "review":
        return f"A cut text that no text of its gate ({gate}) alone continues: a group of its own until reviewed."
    if rule == "override":
        return f"People put it here; own gate: {gate}; {score:.1f} against {text}."
    return f"Same gate ({gate}) and {score:.1f} >= {CUTOFF:.0f} against {text}, no telling word differs."
