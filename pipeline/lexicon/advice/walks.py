"""Loops of Python that delete all that they find in a folder, as `rm -rf FOLDER/*` does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from pipeline.lexicon.advice import places
from pipeline.records import warm

#: What gives the files of a folder, and what deletes one of them.
_WALKING = warm.pattern(r"(?:^|\.)(?:r?glob|iglob|iterdir|listdir|scandir|walk)$")
_UNLINKING = warm.pattern(r"(?:^|\.)(?:unlink|remove|rmdir|rmtree)$")
_ALL = warm.pattern(r"[*.?]+$")

#: How a loop begins, in a line or over some; and a list of what calls give, in brackets.
_LOOP = warm.pattern(
    r"(?:\bfor [\w, ()]{1,60} in [^\n:]{1,300}:\s{0,40}){1,4}|[\[{(](?=[\w.]{1,60}\([^\n]{0,200}\)\s{1,8}for\s)"
)

Reader = Callable[[ast.expr], str]


def deletes_all(tree: ast.AST, name: Reader, known: Reader) -> bool:
    """True if a loop deletes every file of a folder which no program makes anew.

    Args:
        tree: what may hold such a loop.
        name: the dotted name that an expression calls.
        known: the text that an expression stands for, as far as it is known.
    """
    for targets, walked, body in _loops(tree):
        calls = (part for one in body for part in ast.walk(one) if isinstance(part, ast.Call))
        deleted = {one for call in calls if _UNLINKING.search(name(call.func)) for one in _names(call)}
        if deleted & set(_names(targets)) and any(
            _is_all_of_a_place(part, name, known) for part in ast.walk(walked) if isinstance(part, ast.Call)
        ):
            return True
    return False


def beginnings(code: str) -> Iterator[tuple[int, int]]:
    """(where a loop begins, where what it does begins) for those that stand in a text which is no Python as a whole."""
    for found in _LOOP.finditer(code):
        yield found.start(), found.start() if found[0] in ("[", "{", "(") else found.end()


def _loops(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, list[ast.stmt] | list[ast.expr]]]:
    """(what is bound, what is walked, what is done) of each loop."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            yield node.target, node.iter, node.body
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            for one in node.generators:
                yield one.target, one.iter, [node.elt]


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _is_all_of_a_place(call: ast.Call, name: Reader, known: Reader) -> bool:
    """True for what gives all files of such a folder; those of a pattern that holds a name are some."""
    called = name(call.func)
    if not _WALKING.search(called):
        return False
    given, kind = known(call.args[0]) if call.args else "", called.rpartition(".")[2]
    if isinstance(call.func, ast.Attribute) and name(call.func.value) not in ("glob", "os"):
        place, pattern = known(call.func.value), given
    else:
        place, _, pattern = given.rpartition("/") if kind in ("glob", "iglob") else (given, "", "")
    is_all = not pattern or _ALL.match(pattern.rpartition("/")[2]) is not None
    return is_all and bool(place) and not places.is_disposable(place)
