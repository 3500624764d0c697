"""The closed vocabularies: labels in both languages, rules that choose, the order in which evidence is asked."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from pipeline.lexicon import vocabulary
from pipeline.lexicon.vocabulary import Class, Clues
from pipeline.records import Frame
from pipeline.text.frames import raising_package


@pytest.mark.parametrize("name", vocabulary.VOCABULARIES)
def test_every_id_has_both_labels(name: str) -> None:
    for identifier, row in vocabulary.labels(name).items():
        assert row["en"].strip(), identifier
        assert row["zh"].strip(), identifier


def clues(
    words: str,
    *,
    repos: tuple[str, ...] = (),
    packages: tuple[str, ...] = (),
    page: str = "",
    dialects: tuple[str, ...] = (),
) -> Clues:
    """The clues of "type | message | gate=value"; the gate "dialect" says how it was printed."""
    kind, _, rest = words.partition(" | ")
    text, _, gate = rest.partition(" | ")
    pairs = dict([gate.split("=", 1)] if gate else [])
    dialects = dialects or (pairs.pop("dialect", ""),)
    codes = tuple([pairs["code"]] if "code" in pairs else [])
    return Clues(kind.strip() or None, pairs, codes, text, packages, repos, page, dialects)


def classed(words: str, **more: Any) -> Class:
    return vocabulary.classify(clues(words, **more))


def test_a_package_that_few_events_show_is_not_the_errors() -> None:
    words = "None | Segmentation fault (core dumped)"
    assert classed(words, packages=("mxnet", *[""] * 4)).domain == "mxnet"
    assert classed(words, packages=("mxnet", *[""] * 5)).domain != "mxnet"


def test_rules_choose_known_ids_only() -> None:
    assert {rule.result for rule in vocabulary.category_rules()} <= vocabulary.ids("categories")
    assert {rule.result for rule in vocabulary._subcategories()} <= vocabulary.ids("subcategories")


def test_every_category_is_chosen_by_some_row() -> None:
    assert vocabulary.ids("categories") - {rule.result for rule in vocabulary.category_rules()} == {"runtime_error"}


@pytest.mark.parametrize("row", vocabulary.category_rows(), ids=lambda row: str(row["id"]))
def test_every_row_decides_its_example_and_leaves_its_counter_example(row: dict[str, Any]) -> None:
    like, other = (clues(row[key]) for key in ("like", "not"))
    if "page" in row:
        like, other = (clues(row[key], page=clues(row[key]).codes[0]) for key in ("like", "not"))
    assert vocabulary.category(like) == (row["is"], row["id"])
    assert vocabulary.category(other)[1] != row["id"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "triton.runtime.errors.OutOfResources | out of resource: threads | resource=threads",
            ("triton", "resource_limit", "threads"),
        ),
        (
            "torch.OutOfMemoryError | CUDA out of memory. | kind=torch-oom",
            ("pytorch", "out_of_memory", "device_memory"),
        ),
        (
            "RuntimeError | CUDA error: an illegal memory access | code=cuda:cudaErrorIllegalAddress",
            ("cuda", "memory_access", None),
        ),
        (
            "ModuleNotFoundError | No module named '<quoted>' | kind=no-module",
            ("python", "import_error", "missing_module"),
        ),
        ("KeyboardInterrupt | ", ("python", "interruption", None)),
        ("jax.errors.TracerBoolConversionError | boolean | kind=jax-tracer", ("jax", "unsupported", "tracing")),
        (" | Ran out of memory in memory space vmem | code=xla:E1001", ("xla", "out_of_memory", None)),
        (
            "torch.distributed.DistBackendError | NCCL error | code=nccl:ncclSystemError",
            ("nccl", "communication", None),
        ),
        (" | words that no row knows", ("other", "runtime_error", None)),
        # the message before the exception's class
        ("ValueError | Out of memory while trying to allocate <size>", ("python", "out_of_memory", None)),
        ("TypeError | mat1 and mat2 have a shape mismatch", ("python", "shape_error", None)),
        ("KeyError | KeyError: 'expected' | kind=key-error", ("python", "missing_name", None)),
        # the innermost class that words name, before words that are in any message
        ("acme.KilnFault | acme.RemoteFailException(java.nio.NoSuchFileException): bad", ("other", "io_error", None)),
        ("org.clay.ipc.RemoteException | RemoteException(java.nio.NoSuchFileException): x", ("java", "io_error", None)),
        ("acme.TaskFault(ZeroDivisionError) | unexpected", ("other", "numerics", None)),
    ],
)
def test_errors_are_classified(words: str, expected: tuple[str, str, str | None]) -> None:
    found = classed(words)
    assert (found.domain, found.category, found.subcategory) == expected


@pytest.mark.parametrize(
    ("words", "more", "expected"),
    [
        ("ValueError | x | code=jax:jax.errors.X", {"page": "xla:E0100"}, ("xla", "page")),
        ("torch.Widget | x | code=xla:E1001", {}, ("xla", "code")),
        ("torch.Widget | x | kind=triton-compile", {}, ("pytorch", "class")),
        ("ValueError | tensorflow is odd | kind=triton-compile", {}, ("triton", "family")),
        ("ValueError | tensorflow is odd", {"packages": ("torch",)}, ("tensorflow", "message")),
        ("ValueError | odd", {"packages": ("torch",), "repos": ("ray-project/ray",)}, ("pytorch", "frame")),
        ("ValueError | odd", {"repos": ("Ray-Project/ray", "ray-project/ray")}, ("ray", "repository")),
        ("ValueError | an odd ndarray", {"repos": ("ray-project/ray",)}, ("ray", "repository")),
        ("ValueError | an odd ndarray", {"repos": ("someone/else",)}, ("numpy", "word")),
        ("ValueError | odd", {"repos": ("someone/else",)}, ("python", "language")),
        (" | odd", {"repos": ("someone/else",)}, ("other", "")),
        ("widget.errors.PoolExhausted | odd | dialect=python", {}, ("python", "language's dialect")),
        ("widget.errors.PoolExhausted | odd | dialect=exception-line", {}, ("other", "")),
        # of classes that several languages have the words say which, then the repository
        ("TypeError | Object #<Kiln> has no method 'heat' | dialect=exception-line", {}, ("javascript", "language")),
        ("TypeError | odd | kind=js-no-method", {}, ("javascript", "language")),
        ("NSInvalidArgumentException | -[Kiln heat:]: odd", {}, ("apple", "language")),
        ("Acme.Kiln.FireException | odd", {}, ("dotnet", "language")),
        ("TypeError | odd", {"repos": ("reduxjs/kiln",)}, ("javascript", "language's repository")),
        ("TypeError | odd", {}, ("python", "name")),
        ("TypeError | kiln.heat is not a function | dialect=python", {}, ("python", "language's dialect")),
        # a line that any program prints is in nobody's form
        ("FireException | odd", {"dialects": ("exception-line", "php")}, ("php", "language's dialect")),
        ("FireException | odd", {"dialects": (*["generic"] * 5, "php")}, ("python", "name")),
        ("widget.errors.PoolExhausted | odd | dialect=python", {"repos": ("ray-project/ray",)}, ("ray", "repository")),
    ],
)
def test_evidence_for_a_domain_is_asked_in_one_order(
    words: str, more: dict[str, Any], expected: tuple[str, str]
) -> None:
    found = classed(words, **more)
    assert (found.domain, found.domain_by) == expected


def test_reports_to_several_projects_are_no_projects_error() -> None:
    mixed = ("ray-project/ray", "wandb/client", "ray-project/ray")
    assert classed("KeyError | 'name'", repos=mixed).domain == "python"
    assert classed("KeyError | 'name'", repos=(*mixed[:1] * 9, "wandb/client")).domain == "ray"
    assert classed("KeyError | 'name'", packages=("torch", "", "torch"), repos=mixed).domain == "pytorch"


def test_what_anybody_meets_is_no_reporters_error() -> None:
    ray = ("ray-project/ray",) * 3
    missing = "ImportError | No module named {0} | kind=no-module | module={0}"
    assert classed(missing.format("numberless"), repos=ray).domain == "python"
    assert classed(missing.format("torchvision.ops"), repos=ray).domain == "pytorch"
    assert classed("OSError | [Errno 24] Too many open files | kind=errno", repos=ray).domain == "python"
    assert classed("| Library not loaded: lid | kind=shared-library-missing", repos=ray).domain == "ray"


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([("/srv/feeder.py", "serve"), ("/usr/lib/python3.11/site-packages/ray/core.py", "get")], "ray"),
        (
            [
                ("C:\\py\\Lib\\site-packages\\mxnet\\base.py", "call"),
                ("/usr/lib/python3.11/json/decoder.py", "decode"),
                ("<frozen importlib._bootstrap>", "_gcd_import"),
            ],
            "mxnet",
        ),
        # native code raises for whoever called it
        (
            [
                ("/x/site-packages/flair/embed.py", "embed"),
                ("/x/site-packages/tensorflow/python/eager/execute.py", "quick_execute"),
            ],
            "flair",
        ),
        ([("/srv/feeder.py", "serve"), ("/x/site-packages/mxnet/base.py", "check_call")], ""),
        # a module that only looks for an attribute, or passes a call on, is not whose error it is
        (
            [
                ("/x/dist-packages/flair/embed.py", "embed"),
                ("/x/dist-packages/torch/nn/modules/module.py", "_call_impl"),
                ("/x/dist-packages/torch/nn/modules/module.py", "__getattr__"),
            ],
            "flair",
        ),
        ([("/x/site-packages/ray/core.py", "get"), ("/srv/feeder.py", "<module>")], ""),
        ([], ""),
    ],
)
def test_the_package_that_raises_is_that_of_the_innermost_code_of_its_own(
    frames: list[tuple[str, str]], expected: str
) -> None:
    assert raising_package([Frame(file, 1, function) for file, function in frames]) == expected


def test_an_unknown_id_has_no_label() -> None:
    assert vocabulary.label("domains", "no-such-domain", "zh") is None
    assert vocabulary.label("categories", "out_of_memory", "zh") == "内存不足"


def test_the_page_for_people_names_all_evidence_in_its_order() -> None:
    page = (Path(__file__).parent.parent / "docs" / "classes.md").read_text("utf-8")
    places = [page.index(f"| `{evidence}` |") for evidence, _ in vocabulary.DOMAIN_EVIDENCE]
    assert places == sorted(places)
    assert all(f"`{name}`" in page for name in vocabulary.ids("categories"))


@pytest.mark.parametrize("piece", ["expected ", "shape ", "no ", "x of type ", "could not ", "config ", "a" * 7])
def test_hostile_messages_are_classified_in_linear_time(piece: str) -> None:
    begun = time.process_time()
    classed(f"ValueError | {piece * (100_000 // len(piece))}")
    assert time.process_time() - begun < 1.0
