"""Which lines of Python are understood: known modules, no processes, sockets, code made of text (commands.toml)."""

from __future__ import annotations

import ast
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from pipeline.lexicon.advice.tables import table
from pipeline.records import warm

#: Modules that come with Python: of these only those of the table are understood.
STANDARD = sys.stdlib_module_names
_LONGEST = 4_000


def is_understood(code: str, shell: Callable[[str], bool], *, is_whole: bool) -> bool:
    """True if nothing in `code` does more than the table knows; what cannot be parsed is understood unless `is_whole`.

    `shell` says whether commands are understood that the code starts.
    """
    tree = _parsed(code)
    return next(_strange(tree, shell), None) is None if tree is not None else not is_whole


def _parsed(code: str) -> ast.AST | None:
    bare = re.sub(r"(?m)^[ \t]{0,8}(?:>>>|\.\.\.|In \[\d{1,4}\]:) ?", "", code).strip()
    if not bare or len(bare) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(bare)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@cache
def _known() -> tuple[frozenset[str], frozenset[str], re.Pattern[str], re.Pattern[str]]:
    rows: dict[str, Any] = table("commands")["python"]
    return (
        frozenset(rows["standard"]),
        frozenset(rows["strange"]),
        warm.pattern("|".join(rows["calls"])),
        warm.pattern("|".join(rows["attributes"])),
    )


def _strange(tree: ast.AST, shell: Callable[[str], bool]) -> Iterator[str]:
    """What is not understood."""
    standard, strange, calls, attributes = _known()
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                bound[alias.asname or root] = alias.name if alias.asname else root
                bound.setdefault(alias.name, alias.name)
        elif isinstance(node, ast.ImportFrom):
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for name in bound.values():
        root = name.partition(".")[0]
        if root in strange or (root in STANDARD and root not in standard) or calls.fullmatch(name):
            yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and attributes.fullmatch(node.attr):
            yield node.attr
        elif isinstance(node, ast.Call):
            yield from _called(node, bound, calls, shell)


def _called(
    node: ast.Call, bound: dict[str, str], calls: re.Pattern[str], shell: Callable[[str], bool]
) -> Iterator[str]:
    name = _name(node.func, bound)
    if name in _STARTING:
        said = _said(node.args[0]) if node.args else None
        if said is None or not shell(said):
            yield name
    elif calls.fullmatch(name):
        if not (name == "exec" and _FROM_FILE.fullmatch(ast.unparse(node))):
            yield name
    elif (name == "getattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant | ast.Name)) or (
        name in ("open", "io.open") and _writes(node) and not _is_near(node)
    ):
        yield name


#: They start the commands that they are given.
_STARTING = frozenset(
    {"os.system", "os.popen"}
    | {f"subprocess.{one}" for one in ("run", "call", "check_call", "check_output", "Popen", "getoutput")}
)
_FROM_FILE = warm.pattern(
    r"exec\((?:compile\()?open\('(?![/~.])[\w/.-]{1,80}'\)\.read\(\)(?:, '[\w/.-]{1,80}', 'exec'\))?\)"
)


def _said(node: ast.expr) -> str | None:
    """The command that a text or a list of words is, None where not all of it stands there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        said = [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return shlex.join(said) if said and len(said) == len(node.elts) else None
    return None


def _name(node: ast.expr, bound: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return bound.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value, bound)}.{node.attr}"
    if isinstance(node, ast.Call):
        return f"{_name(node.func, bound)}()"
    return "?"


def _writes(node: ast.Call) -> bool:
    modes = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    return any(isinstance(one, ast.Constant) and re.search("[wax+]", str(one.value)) for one in modes)


def _is_near(node: ast.Call) -> bool:
    """True if what is written stands below the folder where one stands, or under a name that is not said."""
    target = node.args[0] if node.args else None
    if isinstance(target, ast.Constant):
        return not str(target.value).startswith(("/", "~", ".", "C:"))
    return isinstance(target, ast.Name | ast.Attribute)
