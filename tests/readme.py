"""What programs write of README.md and docs/entry.md: what `match` says of a log, an entry, the help of every command.

`python -m tests.readme` writes it anew (`make golden` does); a test compares it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from typer import Context
from typer.main import get_command

from tests.golden import GOLDEN, ROOT

README = ROOT / "README.md"
ENTRY = ROOT / "docs" / "entry.md"
_ENTRY = re.compile(r"<!-- entry: (\S+) -->\n.*?<!-- /entry -->", re.DOTALL)
_HELP = re.compile(r"<!-- help -->\n.*?<!-- /help -->", re.DOTALL)
_MATCH = re.compile(r"<!-- match -->\n.*?<!-- /match -->", re.DOTALL)
_QUERIES = re.compile(r"<!-- queries -->\n```sql\n(.*?)```\n<!-- /queries -->", re.DOTALL)


#: As a test of two ranks prints it: an error that the sample knows, and one that nobody reported.
LOG = ROOT / "docs" / "bench.log"


def commands() -> dict[str, str]:
    """The first paragraph of every command's help, by name."""
    from pipeline.cli import application

    return dict(sorted(_sentences("", get_command(application()))))


def help_texts(name: str) -> list[str]:
    """What a command says of itself and of each of its options; of all of them where `name` is ""."""
    from pipeline.cli import application

    command: Any = get_command(application())
    for part in name.split():
        command = dict(_below(command))[part]
    return [text for one in (command, *command.params) if (text := getattr(one, "help", None))]


def _sentences(prefix: str, group: Any) -> Iterator[tuple[str, str]]:
    for name, command in _below(group):
        yield f"{prefix}{name}", " ".join((command.help or "").split("\n\n")[0].split())
        if hasattr(command, "commands"):
            yield from _sentences(f"{prefix}{name} ", command)


def _below(group: Any) -> Iterator[tuple[str, Any]]:
    """The commands of a group, those too that it makes when it is asked for them."""
    context = Context(group)
    for name in group.list_commands(context):
        yield name, group.get_command(context, name)


def filled(text: str) -> str:
    """`text` with what `match` says, its entry and its table of commands as they are now."""
    from tests.cli import run

    told = run("match", LOG, "--bundle", GOLDEN).out
    called = f"errmine match {LOG.relative_to(ROOT)} --bundle {GOLDEN.relative_to(ROOT)}"
    shown = f"<!-- match -->\n```\n$ {called}\n{told.rstrip()}\n```\n<!-- /match -->"

    def entry(found: re.Match[str]) -> str:
        body = (GOLDEN / "entries" / f"{found.group(1)}.json").read_text(encoding="utf-8")
        return f"<!-- entry: {found.group(1)} -->\n```json\n{body.rstrip()}\n```\n<!-- /entry -->"

    rows = "\n".join(f"| `errmine {name}` | {sentence} |" for name, sentence in commands().items())
    table = f"<!-- help -->\n| command | does |\n|---|---|\n{rows}\n<!-- /help -->"
    return _MATCH.sub(lambda _: shown, _HELP.sub(lambda _: table, _ENTRY.sub(entry, text)))


def queries(text: str) -> list[str]:
    """The SQL that README shows, one statement each."""
    found = _QUERIES.search(text)
    assert found is not None
    return [statement.strip() for statement in found.group(1).split(";") if statement.strip()]


if __name__ == "__main__":
    for page in (README, ENTRY):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)
