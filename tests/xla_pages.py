"""What tests of error pages share: facts that a reader found in the 12 pages of OpenXLA's docs, and how to read a page.

The facts are names and numbers of 2026-08-22, no sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from pipeline.providers import documents
from pipeline.providers import files as archive
from pipeline.records import DocRecord, Document, RawPage, Skipped

#: Fields that every form gives alike; text alone loses links, and dates are known where the source states them.
COMPARED = [f.name for f in dataclasses.fields(DocRecord) if f.name not in ("is_lossy", "first_seen", "last_updated")]

#: The remedies of the 12 pages, by hand: the first words of each title, and the flags that it names.
REMEDIES: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "0100": [
        ("Decrease batch size", ()),
        ("Parameter sharding", ()),
        ("Shorten sequence/context length", ()),
        ("Buffer donation", ("jax.jit", "donate_argnums")),
        ("Optimize checkpoint strategy", ()),
        ("Address memory layout", ()),
        ("Ensure no memory", ("jax.Array",)),
        ("", ("tpu_log_allocations_on_oom",)),
    ],
    "0101": [
        ("Decrease batch size", ()),
        ("Parameter sharding", ()),
        ("Shorten sequence/context length", ()),
        ("Buffer donation", ("jax.jit", "donate_argnums")),
        ("Reduce program’s memory", ("tpu_shared_memory_percent",)),
        ("Manage program loading", ()),
        ("Ensure no memory", ("jax.Array",)),
        ("", ("tpu_log_allocations_on_oom",)),
        ("Profile Your Program", ()),
    ],
    "0102": [("Ensure configuration consistency", ()), ("Hardware/topology-specific layouts", ())],
    "0200": [
        ("Retry the job", ()),
        ("Identify and remove", ()),
        ("Verify XLA flags", ("XLA_FLAGS",)),
        ("Check for consistent", ()),
        ("Debug custom kernels", ("pl.debug_print",)),
        ("Check sharding", ()),
        ("Audit synchronization", ("dma_start", "dma_wait")),
        ("Check semaphores", ()),
    ],
    "1000": [
        (
            "Optimize HBM stack",
            (
                "feature_width",
                "max_unique_nz_per_row",
                "logical_replica_count",
                "--xla_sc_num_serialized_tables_to_optimize_hbm",
            ),
        ),
        ("Check padding overhead", ()),
        ("Reduce heap usage", ("maximum_parallel_iterations",)),
        ("Verify sharding", ()),
        ("Remove debugging artifacts", ("jax.debug.print()",)),
        ("Fix inefficient mesh", ()),
        ("Reduce batch size", ()),
        ("Donate input buffers", ("donate_argnums", "jax.jit")),
        ("Enable mixed precision", ()),
        ("Micro-batching (optional)", ()),
        ("Use newer TPU", ()),
        ("Run on a", ()),
        ("Implement advanced sharding", ()),
        ("Use JAX host", ()),
        ("Audit shapes of", ()),
        ("Align dimensions", ()),
        ("Tune key memory", ()),
        ("Tune XLA rematerialization", ("jax.checkpoint", "jax.grad", "jax.remat")),
        ("--xla_tpu_max_hbm_size_mib", ("--xla_tpu_max_hbm_size_mib",)),
        (
            "--xla_tpu_rematerialization_algo=PEAK_PRIORITY",
            ("--xla_tpu_rematerialization_algo=PEAK_PRIORITY",),
        ),
        (
            "--xla_tpu_rematerialization_max_block_size_limit=32",
            ("--xla_tpu_rematerialization_max_block_size_limit=32",),
        ),
        (
            "--xla_tpu_rematerialization_block_effort_factor=10.0",
            ("--xla_tpu_rematerialization_block_effort_factor=10.0",),
        ),
        ("--xla_tpu_pre_fusion_remat=true", ("--xla_tpu_pre_fusion_remat=true",)),
        ("Use advanced profiling", ()),
    ],
    "1001": [
        ("Adjust Block Sizes", ()),
        ("Set Per-Kernel Scoped", ("vmem_limit_bytes",)),
        ("Modify Memory Coloring", ("pallas.tpu.with_memory_space_constraint",)),
        ("Adjust Vmem limit", ("--xla_tpu_scoped_vmem_limit_kib",)),
    ],
    "1200": [
        ("Intended to return", ()),
        ("Intended to return", ()),
        ("Enable logging", ("--vmodule=host_offloader=1",)),
        ("Analyze Logs", ()),
    ],
    "2001": [
        ("Cast to native", ()),
        ("Check Compatibility Mode", ("--xla_mosaic_compat_mode",)),
        ("Upgrade hardware or", ()),
    ],
    "2002": [("", ())],
    "2003": [("Assert alignment explicitly", ("tpu.assume_multiple",)), ("Use aligned loads", ())],
    "3000": [
        ("Check sharding", ()),
        ("Adjust limits", ("max_ids_per_partition", "max_unique_ids_per_partition")),
        ("Dump SparseCore MLIR", ("--xla_sc_dump_mlir_to=/path/to/dump",)),
        ("Dump Mosaic LLO", ("--xla_mosaic_dump_to=/path/to/dump",)),
        ("Reduce scratch sizes", ("scratch_shapes", "pltpu.SMEM")),
        (
            "Disable collective offload",
            (
                "--xla_tpu_enable_sparse_core_collective_offload_all_gather=false",
                "--xla_tpu_enable_sparse_core_collective_offload_all_reduce=false",
            ),
        ),
    ],
    "3001": [
        ("Improve metadata estimations", ("max_nz_per_row", "max_unique_nz_per_row")),
        ("Reduce batch size", ("sample_count",)),
    ],
}

#: (phase, category, backends, status that the sample prints, samples, templates, scenarios) of the 12 pages, by hand.
FIELDS: dict[str, tuple[str, str, tuple[str, ...], str | None, int, int, int]] = {
    "0100": ("Runtime", "Buffer Allocation Failure", ("TPU",), "RESOURCE_EXHAUSTED", 1, 0, 0),
    "0101": ("Runtime", "Program Allocation Failure", ("TPU",), "RESOURCE_EXHAUSTED", 1, 0, 0),
    "0102": ("Runtime", "Program Input Mismatch", ("TPU",), "INVALID_ARGUMENT", 1, 0, 0),
    "0200": ("Runtime", "Core Halted Unexpectedly", ("TPU",), "INTERNAL", 4, 0, 6),
    "1000": ("Compile Time", "HBM OOM", ("TPU",), "RESOURCE_EXHAUSTED", 2, 0, 9),
    "1001": ("Compile Time", "Scoped Vmem OOM", ("TPU",), "RESOURCE_EXHAUSTED", 1, 1, 0),
    "1200": ("Compile Time", "Host Offload Output Mismatch", ("TPU", "GPU"), "INVALID_ARGUMENT", 1, 0, 0),
    "2001": ("Compile Time", "Unsupported RHS DataType on Hardware", ("TPU",), "INTERNAL", 1, 0, 0),
    "2002": ("Compile Time", "Mosaic Input/Output Misaligned Block and Tiling", ("TPU",), "UNIMPLEMENTED", 1, 0, 0),
    "2003": ("Compile Time", "Mosaic Unproven Memory Access Alignment", ("TPU",), "INTERNAL", 1, 0, 0),
    "3000": ("Compile Time", "SparseCore Allocation Failure", ("TPU",), "INTERNAL", 1, 0, 2),
    "3001": ("Compile Time", "SparseCore No Viable Logical Replica Count", ("TPU",), None, 1, 0, 0),
}


def pages_of(path: Path) -> list[RawPage]:
    return [item for item in archive.pages([path]) if isinstance(item, RawPage)]


def read(path: Path) -> Document | Skipped:
    """The document of a file that is one page."""
    return documents.document(pages_of(path))


def document(path: Path) -> Document:
    found = read(path)
    assert isinstance(found, Document), found
    return found


def recorded(found: Document | Skipped) -> tuple[Document, DocRecord]:
    assert isinstance(found, Document), found
    assert found.record is not None
    return found, found.record


def record(path: Path) -> DocRecord:
    return recorded(read(path))[1]


def page(form: str, body: bytes, key: str = "openxla.org/xla/errors/error_1001") -> RawPage:
    return RawPage("0" * 64, "import", None, form, key, "main", "", None, None, body)


def compared(found: DocRecord, *, without: Sequence[str] = ()) -> dict[str, object]:
    """The record's fields; remedies without their offsets."""
    values = {name: getattr(found, name) for name in COMPARED if name not in without}
    values["remedies"] = [(r.section, r.title, r.text, r.flags) for r in found.remedies]
    return values
