"""What ties errmine to a field is data: the engine names no product of machine learning but where a list says why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pipeline

ROOT = Path(pipeline.__file__).parent
_NAMES = re.compile(
    r"cuda|triton|\bjax|jaxlib|torch|xla|nccl|tensorflow|ptxas|mlir|helion|tensorrt|ggml|nvidia", re.IGNORECASE
)
#: Modules that still do, and what of: each is to become rows of the pack. Providers and data are not looked at.
NAMING = {
    **dict.fromkeys(("agents/tools.py", "cli/fetch.py", "cli/search.py", "records/entry.py"), "an example in a help"),
    **dict.fromkeys(
        ("lexicon/catalogues.py", "lexicon/codes/__init__.py", "lexicon/codes/gpu.py", "lexicon/codes/printed.py"),
        "catalogues of pipeline/data/catalogues and how their codes are printed",
    ),
    "lexicon/codes/status.py": "the same for statuses",
    **dict.fromkeys(
        ("distil/drafts/reduce.py", "normalise/families.py"),
        "that a code of OpenXLA's is the entry's, and of one kind",
    ),
    **dict.fromkeys(("translate/meaning.py", "translate/rendering.py"), "in which families a bare code is looked up"),
    "translate/official.py": "the sentences of OpenXLA's pages",
    "distil/claims/subjects.py": "the table that nvidia-smi prints, and where CUDA is installed",
    "ask/digesting.py": "a vendor's name before a GPU's",
    "extract/compiler.py": "endings of the files that compilers read",
    "extract/crash.py": "namespaces in stacks",
    "extract/native.py": "a level of a log",
    "normalise/masks.py": "names of operations that look like classes",
    "lexicon/advice/scripts.py": "functions that load and run code of strangers",
    "run/build/preloaded.py": "texts that warm a worker",
}


def _named(path: Path) -> Iterator[str]:
    """The words of a module's code, without its comments and docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented)]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.alias)):
            yield node.name


def test_no_module_of_the_engine_names_a_product_of_machine_learning_but_those_that_are_told() -> None:
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if path.relative_to(ROOT).parts[0] not in ("providers", "data") and any(map(_NAMES.search, _named(path)))
    }
    assert naming == set(NAMING), "a product is a row of a pack; take out of the list who names none any more"
