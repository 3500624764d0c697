"""The closed vocabularies: labels in both languages, rules that name known ids only."""

from __future__ import annotations

import pytest

from pipeline.lexicon import vocabulary


@pytest.mark.parametrize("name", vocabulary.VOCABULARIES)
def test_every_id_has_both_labels(name: str) -> None:
    for identifier, row in vocabulary.labels(name).items():
        assert row["en"].strip(), identifier
        assert row["zh"].strip(), identifier


@pytest.mark.parametrize(
    ("rules", "ids"), [("domain", "domains"), ("category", "categories"), ("subcategory", "subcategories")]
)
def test_rules_choose_known_ids_only(rules: str, ids: str) -> None:
    chosen = {rule.result for rule in vocabulary._rules(rules)}
    assert chosen <= vocabulary.ids(ids)


@pytest.mark.parametrize(
    ("exception_type", "gate", "codes", "text", "expected"),
    [
        (
            "triton.runtime.errors.OutOfResources",
            {"resource": "threads"},
            [],
            "out of resource: threads",
            ("triton", "resource_limit", "threads"),
        ),
        (
            "torch.OutOfMemoryError",
            {"kind": "torch-oom"},
            [],
            "CUDA out of memory.",
            ("cuda", "out_of_memory", "device_memory"),
        ),
        (
            "RuntimeError",
            {"code": "cuda:cudaErrorIllegalAddress"},
            [],
            "CUDA error: an illegal memory access was encountered",
            ("cuda", "memory_access", None),
        ),
        (
            "ModuleNotFoundError",
            {"kind": "no-module"},
            [],
            "No module named '<quoted>'",
            ("python", "import_error", "missing_module"),
        ),
        ("KeyboardInterrupt", {}, [], "", ("python", "interruption", None)),
        (
            "jax.errors.TracerBoolConversionError",
            {"kind": "jax-tracer"},
            [],
            "boolean conversion",
            ("jax", "unsupported", "tracing"),
        ),
        (None, {}, ["xla:E1001"], "Ran out of memory in memory space vmem", ("xla", "out_of_memory", None)),
        (
            "torch.distributed.DistBackendError",
            {"code": "nccl:ncclSystemError"},
            [],
            "NCCL error",
            ("nccl", "communication", None),
        ),
        (None, {}, [], "words that no rule knows", ("other", "runtime_error", None)),
    ],
)
def test_errors_are_classified(
    exception_type: str | None, gate: dict[str, str], codes: list[str], text: str, expected: tuple[str, str, str | None]
) -> None:
    found = vocabulary.classify(exception_type, gate.items(), codes, text)
    assert (found.domain, found.category, found.subcategory) == expected


def test_an_unknown_id_has_no_label() -> None:
    assert vocabulary.label("domains", "no-such-domain", "zh") is None
    assert vocabulary.label("categories", "out_of_memory", "zh") == "内存不足"
