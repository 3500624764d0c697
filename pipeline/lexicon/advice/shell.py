"""Shell commands as what they give and run: a syntax tree read from left to right, with values as far as known.

The tree is tree-sitter's. It is made for editors, so prose and half commands have one too; what it cannot place is read
part by part. Nothing is run: a value is the text that a command would print where that follows from the words alone
(`echo`, `printf`, a variable, `base64 -d` of a literal), and where it comes from: the network, a decoder, a secret.
These values are what commands hand to each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Flag, auto
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from pipeline.records import warm

#: A longer value is cut: `x=$x$x` doubles it each time.
LONGEST = 2_000


#: Deeper than anybody nests a command that others should copy; what is deeper is not read.
MOST_LEVELS = 24
_WINDOWS = warm.pattern(r"['\"]?(?:[A-Za-z]:\\|\\\\|\.{1,2}\\|%\w+%|\$env:)", re.IGNORECASE)
_WINDOWS_NAMES = frozenset({"rd", "rmdir", "del", "erase", "remove-item", "ri"})
_PLAIN = frozenset({"word", "raw_string", "string", "ansi_c_string", "translated_string", "number"})
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_STATEMENTS = frozenset(
    [
        "command",
        "pipeline",
        "list",
        "redirected_statement",
        "subshell",
        "compound_statement",
        "if_statement",
        "while_statement",
        "for_statement",
        "c_style_for_statement",
        "case_statement",
        "case_item",
        "do_group",
        "elif_clause",
        "else_clause",
        "variable_assignment",
        "variable_assignments",
        "declaration_command",
        "negated_command",
        "function_definition",
        "ERROR",
        "program",
        "test_command",
        "command_substitution",
        "process_substitution",
        "string",
        "concatenation",
        "unset_command",
    ]
)


class From(Flag):
    """Where a value comes from, if not from the words themselves."""

    WORDS = 0
    NETWORK = auto()
    DECODED = auto()
    SECRET = auto()
    UNKNOWN = auto()  # a variable that nobody set, a program that is not known


@dataclass(frozen=True, slots=True)
class Value:
    """A text as far as it is known, and where it comes from."""

    text: str = ""
    source: From = From.WORDS
    is_stream: bool = False  # a process substitution: a file that another command writes
    is_quoted: bool = False
    made_by: str = ""  # the commands of a substitution, as written

    def __add__(self, other: Value) -> Value:
        return Value(
            (self.text + other.text)[:LONGEST],
            self.source | other.source,
            self.is_stream or other.is_stream,
            self.is_quoted or other.is_quoted,
            self.made_by or other.made_by,
        )


NOTHING = Value()


@dataclass(frozen=True, slots=True)
class Redirect:
    """`> file`, `< file` and the like."""

    operator: str
    target: Value


@dataclass(frozen=True, slots=True)
class Command:
    """One command with its words and what it reads."""

    words: tuple[Value, ...]  # name first
    stdin: Value | None
    redirects: tuple[Redirect, ...] = ()
    assigned: tuple[tuple[str, Value], ...] = ()
    pipes_to: str = ""  # the rest of its pipeline, as written


class TooDeep(Exception):
    """Commands are nested deeper than anybody means them."""


@dataclass(slots=True)
class Shell:
    """Reads commands in the order in which they run; `run` says what each gives."""

    run: Callable[[Command], Value]
    variables: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, Value] = field(default_factory=dict)  # what each prints
    named: set[int] = field(default_factory=set)  # where, in bytes, the commands of the last text begin
    _level: int = 0

    def read(self, code: str) -> Value:
        """What `code` prints.

        Raises:
            TooDeep: commands stand in commands stand in commands.
        """
        outer, self.named = self.named, set()
        tree = _parser().parse(code.encode("utf-8", "replace"))
        inner = self._read(tree.root_node, None)
        if self._level:
            self.named = outer
        return inner

    def _read(self, node: Node, stdin: Value | None) -> Value:
        self._level += 1
        try:
            if self._level > MOST_LEVELS:
                raise TooDeep
            return _READERS.get(node.type, Shell._each)(self, node, stdin)
        finally:
            self._level -= 1

    def _each(self, node: Node, stdin: Value | None) -> Value:
        """The parts one after another; what none of them is for, is nothing."""
        said = NOTHING
        for child in node.named_children:
            if child.type in _STATEMENTS:
                said += self._read(child, stdin)
        return said

    def _pipeline(self, node: Node, stdin: Value | None) -> Value:
        given = stdin
        for child in node.named_children:
            said = self._read(child, given)
            given = given if child.type == "ERROR" and said == NOTHING else said  # `| ba?h` has one before its name
        return given or NOTHING

    def _redirected(self, node: Node, stdin: Value | None) -> Value:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if child != body]
        made, fed, rest = self._redirects(redirects)
        if body is None:
            return self.run(Command((), fed or stdin, made))
        if body.type == "command":
            said = self._command(body, fed or stdin, made)
        else:
            said = self._read(body, fed or stdin)
            if made:
                said = self.run(Command((Value("cat"),), said, made))
        for after in rest:  # the rest of a pipeline hangs below the mark of a here-document
            said = self._read(after, said)
        return said

    def _redirects(self, nodes: Sequence[Node]) -> tuple[tuple[Redirect, ...], Value | None, list[Node]]:
        made: list[Redirect] = []
        fed: Value | None = None
        rest: list[Node] = []
        for node in nodes:
            if node.type == "herestring_redirect":
                fed = self._joined(node.named_children)
            elif node.type == "heredoc_redirect":
                bodies = [child for child in node.named_children if child.type == "heredoc_body"]
                fed = Value("".join(_text(child) for child in bodies))
                rest += [child for child in node.named_children if child.type in _STATEMENTS]
            elif node.type == "file_redirect":
                operator = next((_text(c) for c in node.children if not c.is_named), "")
                target = self._joined([c for c in node.named_children if c.type != "file_descriptor"])
                made.append(Redirect(operator, target))
                if operator == "<":
                    fed = target if target.is_stream else fed
        return tuple(made), fed, rest

    def _command(self, node: Node, stdin: Value | None, redirects: tuple[Redirect, ...] = ()) -> Value:
        words: list[Value] = []
        assigned: list[tuple[str, Value]] = []
        own: list[Node] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                assigned.append(self._assigned(child))
            elif child.type in _REDIRECTS:
                own.append(child)
            elif child.type == "command_name":
                self.named.add(child.start_byte)
                name = self._joined(child.named_children or [child])
                is_bare = child.named_child_count == 1 and child.named_children[0].type == "simple_expansion"
                words += _split(replace(name, is_quoted=False) if is_bare else name, child)
            else:
                words += _split(self._word(child), child)
        if words and words[0].text.lower() in _WINDOWS_NAMES:  # there a backslash stands between folders
            named = [child for child in node.named_children if child.type not in _REDIRECTS]
            words = [words[0], *(Value(_text(child).strip("'\"")) for child in named[1:])]
        made, fed, rest = self._redirects(own)
        if words and words[0].text in self.functions:
            return self.functions[words[0].text]
        command = Command(tuple(words), fed or stdin, redirects + made, tuple(assigned))
        said = self.run(command)
        for after in rest:
            said = self._read(after, said)
        return said

    def _assignment(self, node: Node, _stdin: Value | None) -> Value:
        name, value = self._assigned(node)
        self.variables[name] = value
        return self.run(Command((), None, (), ((name, value),)))

    def _declaration(self, node: Node, _stdin: Value | None) -> Value:
        assigned = [self._assigned(child) for child in node.named_children if child.type == "variable_assignment"]
        self.variables.update(assigned)
        return self.run(Command((), None, (), tuple(assigned)))

    def _assigned(self, node: Node) -> tuple[str, Value]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        known = self._word(value) if value is not None else NOTHING
        key = _text(name) if name is not None else ""
        if any(_text(child) == "+=" for child in node.children):
            known = self.variables.get(key, NOTHING) + known
        return key, known

    def _loop(self, node: Node, stdin: Value | None) -> Value:
        name = node.child_by_field_name("variable")
        listed = node.children_by_field_name("value")
        if name is not None and listed:
            self.variables[_text(name)] = self._joined(listed, " ")
        return self._each(node, stdin)

    def _function(self, node: Node, stdin: Value | None) -> Value:
        name = node.child_by_field_name("name")
        if name is not None:
            body = node.child_by_field_name("body")
            if body is not None and len(re.findall(rf"(?<!\w){re.escape(_text(name))}(?!\w)", _text(body))) > 1:
                self.run(Command((Value("fork-bomb"),), None))
        said = self._each(node, stdin)
        if name is not None:
            self.functions[_text(name)] = said
        return NOTHING

    def _joined(self, nodes: Sequence[Node], between: str = "") -> Value:
        said = NOTHING
        for number, node in enumerate(nodes):
            said += (Value(between) if number and between else NOTHING) + self._word(node)
        return said

    def _word(self, node: Node) -> Value:
        self._level += 1
        try:
            if self._level > MOST_LEVELS:
                raise TooDeep
            return self._valued(node)
        finally:
            self._level -= 1

    def _valued(self, node: Node) -> Value:
        kind, raw = node.type, _text(node)
        if kind == "raw_string":
            return Value(raw.strip("'"), is_quoted=True)
        if kind == "ansi_c_string":
            return Value(_unescaped(raw[2:-1]), is_quoted=True)
        if kind == "string_content":
            return Value(re.sub(r'\\([$`"\\])', r"\1", raw), is_quoted=True)
        if kind in ("string", "translated_string"):
            spaced = _between(node)
            return sum(spaced(self._word), Value(is_quoted=True))
        if kind in ("concatenation", "command_name", "array"):
            return self._joined(node.named_children, " " if kind == "array" else "")
        if kind in ("simple_expansion", "expansion"):
            return self._variable(raw)
        if kind in ("command_substitution", "process_substitution"):
            given = self._each(node, None)
            if kind == "process_substitution":
                return Value(given.text, given.source, is_stream=True)
            return Value(given.text.strip(), given.source, made_by=raw.strip("$()` \n"))
        if kind == "arithmetic_expansion":
            return Value("0")
        if node.named_child_count and kind not in ("word", "number"):
            return self._joined(node.named_children)
        return Value(re.sub(r"\\(.)", r"\1", raw) if "\\" in raw and not _WINDOWS.match(raw) else raw)

    def _variable(self, raw: str) -> Value:
        name, _, default = raw.strip("${}").partition(":")
        name = re.sub(r"[^\w@*#?!].*", "", name)
        if name in self.variables:
            known = self.variables[name]
            cut = re.fullmatch(r"(\d{1,3})(?::(\d{1,3}))?", default)
            if cut and not known.source:
                start = int(cut[1])
                return Value(known.text[start : start + int(cut[2])] if cut[2] else known.text[start:])
            return known
        if default[:1] in ("-", "=") and default[1:]:
            return Value(default[1:])
        return Value(f"${name}" if name else raw, From.UNKNOWN)


def _split(value: Value, node: Node) -> list[Value]:
    """The words that a shell makes of a value: what is not quoted falls apart at spaces."""
    if node.type in _PLAIN or value.is_quoted or not re.search(r"\s", value.text):
        return [value]
    return [Value(part, value.source, value.is_stream) for part in value.text.split()]


def _between(node: Node) -> Callable[[Callable[[Node], Value]], Iterator[Value]]:
    """The parts of a quoted string with what stands between them, which the tree leaves out."""

    def parts(read: Callable[[Node], Value]) -> Iterator[Value]:
        whole, at = node.text or b"", node.start_byte
        done = at + (2 if whole.startswith(b"$") else 1)
        for child in node.named_children:
            yield Value(whole[done - at : child.start_byte - at].decode("utf-8", "replace"), is_quoted=True)
            yield read(child)
            done = child.end_byte
        yield Value(whole[done - at : -1].decode("utf-8", "replace"), is_quoted=True)

    return parts


def _unescaped(raw: str) -> str:
    def letter(found: re.Match[str]) -> str:
        body = found[1]
        if body[0] == "x":
            return chr(int(body[1:], 16))
        if body[0] in "uU":
            return chr(min(int(body[1:], 16), 0x10FFFF))
        if body[0].isdigit():
            return chr(int(body, 8) % 0x110000)
        return {"n": "\n", "t": "\t", "r": "\r"}.get(body, body)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|0[0-7]{1,3}|.)", letter, raw)


unescaped = _unescaped


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


_READERS: dict[str, Callable[[Shell, Node, Value | None], Value]] = {
    "pipeline": Shell._pipeline,
    "redirected_statement": Shell._redirected,
    "command": Shell._command,
    "variable_assignment": Shell._assignment,
    "declaration_command": Shell._declaration,
    "for_statement": Shell._loop,
    "function_definition": Shell._function,
}
