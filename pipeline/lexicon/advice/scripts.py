"""What lines of Python do: the same questions as of a shell, asked of the syntax tree that `ast` makes."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipeline.lexicon.advice import origins, places, walks
from pipeline.lexicon.advice.shell import From, Value
from pipeline.records import warm

if TYPE_CHECKING:
    from pipeline.lexicon.advice.effects import Effects

#: Names that stand for names are followed so often.
_MOST_NAMES = 3
#: Longer pieces are not read as Python; they are read as words.
_LONGEST = 4_000
_FETCHING = warm.pattern(
    r"(?:^|\.)(?:urlopen|urlretrieve|recv|downloadstring|retrbinary)$|^(?:requests|httpx|aiohttp|urllib3|niquests)\."
    r"(?:get|post|request|put)$|^(?:session|s|client|http)\.get$|^wget\.download$|^torch\.hub\.load_state_dict_from_url$"
)
_DECODING = warm.pattern(
    r"(?:^|\.)(?:b64decode|b32decode|b85decode|a85decode|decodebytes|unhexlify|fromhex|decompress|decode|rot13|chr|reverse"
    r"|standard_b64decode|urlsafe_b64decode|join)$"
)
_RUNNING = warm.pattern(
    r"^(?:exec|eval|compile|execfile|__import__\(\)\.(?:system|popen))$|^(?:pickle|cPickle|marshal|dill|cloudpickle|joblib)\."
    r"loads?$|^runpy\.run_\w+$|^code\.interact$|^types\.functiontype$|\.exec_module$|^get_ipython\(\)\.\w+$"
)
_SHELLING = warm.pattern(
    r"^(?:os|posix|nt|__import__\(\))\.(?:system|popen|exec\w+|spawn\w+|startfile)$|^(?:subprocess|sp|commands|__import__\(\))\."
    r"(?:run|call|popen|check_call|check_output|getoutput|getstatusoutput)$|^(?:pty|__import__\(\))\.spawn$"
    r"|^asyncio\.create_subprocess_\w+$"
)
_DELETING = warm.pattern(r"(?:^|\.)(?:rmtree|removedirs)$|^distutils\.dir_util\.remove_tree$|^send2trash")
_REMOVING = warm.pattern(r"^os\.(?:remove|unlink|rmdir)$")
_SOCKETS = warm.pattern(r"(?:^|\.)socket(?:\.socket)?$|create_connection$")
_TAKING = warm.pattern(r"(?:^|\.)(?:dup2|spawn|call|run|popen|system|check_output)$")
_SENDING = warm.pattern(
    r"(?:requests|httpx|urllib\.request|session|s)\.(?:post|put|get|urlopen|request)$|\.send(?:all)?$|urlopen$"
)
_STARTS = warm.pattern(
    r"(?<![\w.])(?:exec|eval|compile|__import__|getattr|os|subprocess|sp|shutil|requests|urllib|httpx|socket|pickle|marshal|pty"
    r"|importlib|builtins|runpy|pip|ctypes|ssl|torch|pathlib|Path|import|from|rmtree|urlopen|globals|vars|setattr|open)\b"
)


def is_script(text: str) -> bool:
    """True if a piece of text may be Python that does something."""
    return "(" in text and _STARTS.search(text) is not None


def faults(code: str, effects: Effects) -> list[str]:
    """What Python code does that nobody is told to do; the commands that it starts are asked of `effects`."""
    found: list[str] = []
    scripts = [_Script(tree, effects) for tree in _trees(code[:_LONGEST])]
    for script in scripts:
        found += script.faults()
    if any(script.fetches for script in scripts) and any(script.runs_a_name for script in scripts):
        found.append("runs-the-network")
    return found


def _trees(code: str) -> Iterator[ast.AST]:
    """The syntax trees of all that can be read as Python: the whole, else each line, else each call in a line."""
    tree = _parsed(code.strip())
    if tree is not None:
        yield tree
        return
    for first, body in walks.beginnings(code):
        end = _end(code, body)
        tree = _parsed(code[first:end]) if end else None
        if tree is not None:
            yield tree
    for line in code.splitlines():
        bare = re.sub(r"^\s*(?:>>>|\.\.\.|In \[\d+\]:)\s?", "", line).strip()
        tree = _parsed(bare)
        if tree is not None:
            yield tree
            continue
        done = 0
        for start in _STARTS.finditer(bare):
            if start.start() < done:
                continue
            end = _end(bare, start.start())
            tree = _parsed(bare[start.start() : end]) if end else None
            if tree is not None and end:
                yield tree
                done = end


def _parsed(code: str) -> ast.AST | None:
    if not code or len(code) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _end(line: str, start: int) -> int | None:
    """Where the last of the joined calls that begin at `start` closes."""
    depth, end = 0, None
    for place in range(start, len(line)):
        letter = line[place]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return end
            if depth == 0:
                end = place + 1
                if line[end : end + 1] not in (".", "(", "[", ";", ",", " "):
                    return end
        elif depth == 0 and end is not None and letter == " " and line[place + 1 : place + 2] not in ("=", ";"):
            return end
    return end


class _Script:
    """One syntax tree, with the names that it binds."""

    def __init__(self, tree: ast.AST, effects: Effects) -> None:
        self._tree = tree
        self._effects = effects
        self._names: dict[str, str] = {}  # as bound -> as imported
        self._values: dict[str, ast.expr] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self._names |= {
                    (a.asname or a.name).split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names
                }
            elif isinstance(node, ast.ImportFrom):
                self._names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self._values[target.id] = node.value
            elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                self._values[node.optional_vars.id] = node.context_expr

    def faults(self) -> list[str]:
        """What the calls do."""
        found: list[str] = ["deletes"] if walks.deletes_all(self._tree, self._name, self._known) else []
        calls = [node for node in ast.walk(self._tree) if isinstance(node, ast.Call)]
        named = [(self._name(call.func), call) for call in calls]
        for name, call in named:
            found += self._judged(name, call)
        opens = any(_SOCKETS.search(name) for name, _ in named)
        if opens and any(_TAKING.search(name) or _SHELLING.search(name) for name, _ in named):
            found.append("reverse-shell")
        if opens and any(_RUNNING.search(name) for name, _ in named):
            found.append("runs-the-network")
        return found

    @property
    def fetches(self) -> bool:
        """True if something of the network is read."""
        return any(isinstance(n, ast.Call) and _FETCHING.search(self._name(n.func)) for n in ast.walk(self._tree))

    @property
    def runs_a_name(self) -> bool:
        """True if what a name stands for is run, and it is not said here what that is."""
        return any(
            isinstance(n, ast.Call)
            and self._name(n.func) in ("exec", "eval")
            and n.args
            and isinstance(n.args[0], ast.Name)
            and n.args[0].id not in self._values
            for n in ast.walk(self._tree)
        )  # fmt: skip

    def _judged(self, name: str, call: ast.Call) -> Iterator[str]:
        source = self._source([*call.args, *(k.value for k in call.keywords)])
        if _RUNNING.search(name) or _SHELLING.search(name):
            yield from self._run(name, call, source)
        path = self._path(call)
        if _DELETING.search(name) and (path is None or not places.is_disposable(path)):
            yield "deletes"
        if _REMOVING.search(name) and path and (places.is_of_the_system(path) or places.is_secret(path)):
            yield "deletes"
        if (_SENDING.search(name) or name == "print") and source & From.SECRET:
            yield "credentials"
        if name in ("open", "pathlib.Path", "Path") and path and places.is_door(path):
            yield "security-off"
        if name == "torch.hub.load" and path and self._is_foreign(path, call):
            yield "foreign-source"
        if name.endswith("urlretrieve") and len(call.args) > 1:
            link, target = (self._text(one) for one in call.args[:2])
            if link and target and not origins.is_known(link):
                self._effects.keep(target, Value("", From.NETWORK))

    def _run(self, name: str, call: ast.Call, source: From) -> Iterator[str]:
        """What a call runs that is not its own words, and what its words do."""
        if source & From.NETWORK:
            yield "runs-the-network"
        elif source & From.DECODED and not name.startswith(("compile", "re.")):
            yield "hidden-code"
        for text in filter(None, map(self._text, call.args[:1])):
            if _SHELLING.search(name):
                self._effects.read(text)
            elif name in ("exec", "eval"):
                yield from faults(text, self._effects)

    def _is_foreign(self, path: str, call: ast.Call) -> bool:
        """True if `torch.hub.load` runs a repository of somebody unknown."""
        is_local = path.startswith(("$", "/", ".", "~")) or any(k.arg == "source" for k in call.keywords)
        return not is_local and "/" in path and not origins.is_known(f"https://github.com/{path}", self._effects.owners)

    def _name(self, node: ast.expr) -> str:
        """The dotted name that an expression calls, with what it was imported as."""
        if isinstance(node, ast.Name):
            bound = self._values.get(node.id)
            if bound is not None and isinstance(bound, ast.Attribute | ast.Name) and bound is not node:
                return self._name(bound) if not (isinstance(bound, ast.Name) and bound.id == node.id) else node.id
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self._name(node.value)}.{node.attr}".removeprefix("builtins.").removeprefix("__builtins__.")
        if isinstance(node, ast.Call):
            called = self._name(node.func)
            if called == "getattr" and len(node.args) > 1:
                return f"{self._name(node.args[0])}.{self._text(node.args[1]) or '?'}"
            if called in ("__import__", "importlib.import_module") and node.args:
                return self._text(node.args[0]) or "__import__()"
            return f"{called}()"
        if isinstance(node, ast.Subscript):
            return (
                f"{self._name(node.value)}.{self._text(node.slice) or '?'}".replace("globals().", "")
                .replace("__builtins__.", "")
                .replace("__dict__.", "")
            )
        return "?"

    def _source(self, nodes: list[ast.expr], level: int = 0) -> From:
        """Where the values of expressions come from."""
        found = From.WORDS
        for node in nodes:
            for part in ast.walk(node):
                if isinstance(part, ast.Call):
                    found |= self._given(part)
                elif isinstance(part, ast.Attribute | ast.Subscript):
                    found |= self._read(node, part)
                elif isinstance(part, ast.Slice) and isinstance(part.step, ast.UnaryOp):
                    found |= From.DECODED
                elif isinstance(part, ast.Name) and part.id in self._values and level < _MOST_NAMES:
                    found |= self._source([self._values[part.id]], level + 1)
        return found

    def _given(self, call: ast.Call) -> From:
        """Where what a call gives comes from."""
        name, path = self._name(call.func), self._path(call) or ""
        found = From.NETWORK if _FETCHING.search(name) else From.WORDS
        if _DECODING.search(name) and (self._hides(call) or not name.endswith((".decode", ".join"))):
            found |= From.DECODED
        is_file = name in ("open", "pathlib.Path", "Path") and places.is_secret(path)
        if is_file or (name in ("os.getenv", "os.environ.get") and places.is_secret_name(path)):
            found |= From.SECRET
        return found

    def _read(self, node: ast.expr, part: ast.Attribute | ast.Subscript) -> From:
        """Secrets of the environment: all of it, or a variable that is one."""
        if isinstance(part, ast.Subscript):
            is_secret = self._name(part.value) == "os.environ" and places.is_secret_name(self._text(part.slice) or "")
        else:
            is_secret = self._name(part) == "os.environ" and not self._is_read(node, part)
        return From.SECRET if is_secret else From.WORDS

    @staticmethod
    def _hides(call: ast.Call) -> bool:
        """True for `.join` of letters that are computed, not for one of words."""
        inner = [one for arg in call.args for one in ast.walk(arg) if isinstance(one, ast.Call)]
        return any(isinstance(one.func, ast.Name) and one.func.id in ("chr", "map", "reversed") for one in inner)

    @staticmethod
    def _is_read(node: ast.expr, part: ast.Attribute) -> bool:
        """True where one variable of the environment is read, not all of them."""
        return any(
            isinstance(one, ast.Subscript | ast.Attribute) and one.value is part for one in ast.walk(node)
        )  # fmt: skip

    def _path(self, call: ast.Call) -> str | None:
        """The first argument, as far as it is known: a name stands for itself."""
        return self._known(call.args[0]) if call.args else None

    def _known(self, node: ast.expr) -> str:
        return self._text(node) or self._spelled(node)

    def _spelled(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            bound = self._values.get(node.id)
            known = self._text(bound) if bound is not None else None
            return known or f"${node.id}"
        if isinstance(node, ast.Call):
            inner = [self._text(one) or self._spelled(one) for one in node.args]
            return "/".join(inner) or f"${self._name(node.func).rpartition('.')[2]}"
        if isinstance(node, ast.Attribute):
            return f"${node.attr}"
        if isinstance(node, ast.BinOp):
            return "/".join(self._text(one) or self._spelled(one) for one in (node.left, node.right))
        if isinstance(node, ast.JoinedStr):
            return "".join(
                str(one.value) if isinstance(one, ast.Constant) else self._spelled(one.value)
                for one in node.values
                if isinstance(one, ast.Constant | ast.FormattedValue)
            )
        return "$?"

    def _text(self, node: ast.expr | None, level: int = 0) -> str | None:
        """The text that an expression stands for, None if that is not known."""
        if node is None or level > 8:
            return None
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bytes):
                return node.value.decode("utf-8", "replace")
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            one, two = self._text(node.left, level + 1), self._text(node.right, level + 1)
            return None if one is None or two is None else one + two
        if isinstance(node, ast.List | ast.Tuple):
            known = [self._text(one, level + 1) for one in node.elts]
            return " ".join(f'"{one}"' if one and " " in one else one or "" for one in known)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("expanduser", "home")
        ):
            if node.func.attr == "expanduser" and not node.args and isinstance(node.func.value, ast.Call):
                return self._text(next(iter(node.func.value.args), None), level + 1)
            return self._text(node.args[0], level + 1) if node.args else "~"
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "join"
            and node.args
        ):
            between = self._text(node.func.value, level + 1)
            parts = node.args[0]
            if between is not None and isinstance(parts, ast.List | ast.Tuple):
                known = [self._text(one, level + 1) for one in parts.elts]
                return None if None in known else between.join(one or "" for one in known)
        if isinstance(node, ast.Name) and node.id in self._values and self._values[node.id] is not node:
            return self._text(self._values[node.id], level + 4)
        return None
