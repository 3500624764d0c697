"""ErrorCanon's nested form laid flat, so that the same rules judge what it says. Its form alone is no defect."""

from __future__ import annotations

from typing import Any

from pipeline.validate.problem import Raw, items, mapping, text

#: Rules about our own form, which ErrorCanon does not have: it names its domains itself and has no Chinese fields.
FORM_RULES = frozenset({"vocabulary", "zh_explained"})


def is_canon(raw: Raw) -> bool:
    """Whether `raw` has the form of an ErrorCanon file: the error and the verdict in objects of their own."""
    return text(mapping(raw, "error"), "signature") is not None and bool(mapping(raw, "verdict"))


def flattened(raw: Raw) -> dict[str, Any]:
    """The statements of an ErrorCanon file under the names that ours have."""
    kept = {name: value for name, value in raw.items() if name not in ("error", "verdict", "metadata", "environment")}
    verdict = mapping(raw, "verdict")
    graph = mapping(raw, "transition_graph")
    return {
        **kept,
        **mapping(raw, "error"),
        **verdict,
        "id": "/".join((text(raw, "id") or "").split("/")[:2]),  # the third part names an environment
        "root_cause": verdict.get("summary"),
        "evidence_count": mapping(raw, "metadata").get("evidence_count"),
        "transition_graph": {
            relation: [{**edge, "entry_id": edge.get("error_id")} for _, edge in items(graph, relation)]
            for relation in graph
        },
    }
