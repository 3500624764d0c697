"""The parts of README.md that programs write: what `match` says of a log, the entry shown, the help of every command.

`python -m tests.readme` writes them anew (`make golden` does); a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from tests.golden import GOLDEN, ROOT

README = ROOT / "README.md"
_ENTRY = re.compile(r"<!-- entry: (\S+) -->\n.*?<!-- /entry -->", re.DOTALL)
_HELP = re.compile(r"<!-- help -->\n.*?<!-- /help -->", re.DOTALL)
_MATCH = re.compile(r"<!-- match -->\n.*?<!-- /match -->", re.DOTALL)
_QUERIES = re.compile(r"<!-- queries -->\n```sql\n(.*?)```\n<!-- /queries -->", re.DOTALL)


#: A log as a test prints it: an error that the sample knows, on two ranks, and one that nobody reported.
_LOG = "".join(
    f"[rank{rank}]: {line}\n"
    for rank in (0, 1)
    for line in (
        "Traceback (most recent call last):",
        '  File "/srv/bench/attention.py", line 88, in launch',
        "    kernel[grid](q, k, v)",
        "triton.runtime.errors.OutOfResources: out of resource: threads, Required: 2048, Hardware limit: 1024.",
    )
)
_LOG += """Traceback (most recent call last):
  File "/srv/shop/till.py", line 3, in pay
    drawer.open()
shop.errors.TillError: the drawer of the till is jammed
"""


def commands() -> dict[str, str]:
    """The first paragraph of every command's help, by name."""
    from pipeline.cli import application

    return dict(sorted(_sentences("", get_command(application()))))


def help_texts(name: str) -> list[str]:
    """What a command says of itself and of each of its options; of all of them where `name` is ""."""
    from pipeline.cli import application

    command: Any = get_command(application())
    for part in name.split():
        command = command.commands[part]
    return [text for one in (command, *command.params) if (text := getattr(one, "help", None))]


def _sentences(prefix: str, group: Any) -> Iterator[tuple[str, str]]:
    for name, command in group.commands.items():
        yield f"{prefix}{name}", " ".join((command.help or "").split("\n\n")[0].split())
        if hasattr(command, "commands"):
            yield from _sentences(f"{prefix}{name} ", command)


def filled(text: str) -> str:
    """`text` with what `match` says, its entry and its table of commands as they are now."""
    from tests.cli import run

    told = run("match", "--bundle", GOLDEN, stdin=_LOG).out
    shown = f"<!-- match -->\n```\n$ torchrun bench.py 2>&1 | errmine match\n{told.rstrip()}\n```\n<!-- /match -->"

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
    README.write_text(filled(Path(README).read_text(encoding="utf-8")), encoding="utf-8")
    print(README)
