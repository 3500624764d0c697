"""What a signature means and what its program says about the cause, as facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

from pipeline.distil.material import Occurrence
from pipeline.lexicon import catalogues, vocabulary
from pipeline.lexicon.vocabulary import Class
from pipeline.records import Cluster, Fact

#: Slot values longer than this are no atoms any more.
_MOST = 80

#: Category of vocabulary.toml -> template that needs only the exception's type.
_BY_CATEGORY = {
    "shape_error": "meaning.shape_error",
    "type_error": "meaning.type_error",
    "device_error": "meaning.device_error",
    "import_error": "meaning.import_error",
    "compile_error": "meaning.compile_error",
    "build_error": "meaning.build_error",
    "numerics": "meaning.numerics",
    "communication": "meaning.communication",
    "io_error": "meaning.io_error",
    "configuration": "meaning.configuration",
    "resource_limit": "meaning.resource_limit",
    "crash": "meaning.crash",
    "value_error": "meaning.value_error",
    "missing_name": "meaning.missing_name",
    "unsupported": "meaning.unsupported",
    "timeout": "meaning.timeout",
}


def short_type(cluster: Cluster) -> str | None:
    """The exception's type without its module, None if the event had none."""
    name = cluster.exception_type
    return name.rsplit(".", 1)[-1].rsplit("::", 1)[-1][:_MOST] if name else None


def meaning(cluster: Cluster, kind: Class, codes: Sequence[str], occurrences: Sequence[Occurrence]) -> Fact | None:
    """The most telling fact about what the signature means, None if nothing is known of it."""
    name = short_type(cluster)
    return (
        _by_code(codes, name)
        or _by_gate(cluster, kind, name)
        or _by_slot(dict(cluster.gate).get("kind", ""), occurrences)
        or _by_category(kind, name)
    )


def _fact(template: str, **slots: str) -> Fact:
    return Fact(template, tuple(sorted(slots.items())))


def _is_explained(family: str) -> bool:
    """Whether the fact about a code of the family holds what its program prints for it."""
    template = vocabulary.meanings_of_codes().get(family)
    return template is not None and "string" in vocabulary.table()["facts"][template]["slots"]


def _by_code(codes: Sequence[str], name: str | None) -> Fact | None:
    for code in codes:
        family, _, rest = code.partition(":")
        if (template := vocabulary.meanings_of_codes().get(family)) is None:
            continue
        said = (catalogues.explains(code) or "")[:160]
        known = {"code": rest, "name": catalogues.code_name(code), "string": said, "type": rest if name else None}
        slots = {slot: known[slot] for slot in vocabulary.table()["facts"][template]["slots"]}
        if all(slots.values()):
            return _fact(template, **{slot: value for slot, value in slots.items() if value})
    return None


def _by_gate(cluster: Cluster, kind: Class, name: str | None) -> Fact | None:
    gate = dict(cluster.gate)
    named = name or "error"
    if gate.get("resource") in _terms("resource"):
        return _fact("meaning.out_of_resource", resource=gate["resource"], type=named)
    if "space" in gate:
        return _fact("meaning.out_of_space", space=gate["space"])
    if kind.category == "out_of_memory":
        place = "host" if kind.subcategory == "host_memory" else "device"
        if kind.subcategory in {"host_memory", "device_memory"}:
            return _fact(f"meaning.{place}_out_of_memory", type=named)
    for key, template, slot in (
        ("module", "meaning.missing_module", "module"),
        ("assertion", "meaning.assertion", "assertion"),
        ("signal", "meaning.signal", "signal"),
        ("op", "meaning.unsupported_op", "op"),
        ("tool", "meaning.tool_failed", "tool"),
    ):
        # an atom: longer values are sentences, and sentences are no slots
        if key in gate and len(gate[key]) <= _MOST and (key != "module" or kind.subcategory == "missing_module"):
            return _fact(template, **{slot: gate[key]})
    return None


def _by_slot(family: str, occurrences: Sequence[Occurrence]) -> Fact | None:
    """A fact whose atom every occurrence shows with the same value."""
    wanted = {
        "no-module": ("module", "meaning.missing_module"),
        "cannot-import-name": ("symbol", "meaning.cannot_import"),
        "shared-library-missing": ("library", "meaning.missing_library"),
        "undefined-symbol": ("symbol", "meaning.undefined_symbol"),
    }.get(family)
    if wanted is None:
        return None
    slot, template = wanted
    values = {s.value for o in occurrences for s in o.slots if s.name in {slot, "name"}}
    return _fact(template, **{slot: min(values)[:_MOST]}) if len(values) == 1 else None


def _by_category(kind: Class, name: str | None) -> Fact | None:
    if name is None:
        return None  # a domain alone says nothing that the entry's `domain` does not say
    return _fact(_BY_CATEGORY.get(kind.category, "meaning.exception"), type=name)


@cache
def _terms(name: str) -> frozenset[str]:
    return frozenset(vocabulary.table()["terms"][name])


def program_cause(cluster: Cluster, occurrences: Sequence[Occurrence]) -> tuple[Fact, list[Occurrence]] | None:
    """(fact, the occurrences that show it): the numbers that the program printed, the most frequent pair of them.

    Where occurrences show other pairs as well, the fact says that this one is an example.
    """
    resource = dict(cluster.gate).get("resource")
    if resource not in _terms("resource"):
        return None
    pairs: Counter[tuple[str, str]] = Counter()
    showing: dict[tuple[str, str], list[Occurrence]] = {}
    for occurrence in occurrences:
        slots = {slot.name: slot.value for slot in reversed(occurrence.slots)}
        pair = (slots.get("required", ""), slots.get("limit", ""))
        if all(pair):
            pairs[pair] += 1
            showing.setdefault(pair, []).append(occurrence)
    if not pairs:
        return None
    pair = min(pairs, key=lambda p: (-pairs[p], p))
    return _exceeded(str(resource), pair, is_example=len(pairs) > 1), showing[pair]


def _exceeded(resource: str, pair: tuple[str, str], *, is_example: bool) -> Fact:
    listed = vocabulary.table()
    template = listed["units"].get(resource, "cause.exceeds") + ("_example" if is_example else "")
    slots = {"resource": resource, "required": pair[0], "limit": pair[1]}
    return _fact(template, **{name: slots[name] for name in listed["facts"][template]["slots"]})


def code_cause(cluster: Cluster, codes: Sequence[str]) -> Fact | None:
    """The official string of the first code that has one and is a cause, not a status; None where the error says it."""
    shown = cluster.text.lower()
    for code in codes:
        family, _, rest = code.partition(":")
        if (
            _is_explained(family)
            and (text := catalogues.explains(code))
            and text.partition(" (")[0].lower() not in shown
        ):
            return _fact("cause.code", code=rest, string=text[:160])
    return None
