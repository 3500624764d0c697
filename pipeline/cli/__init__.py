"""The command `errmine`. It binds: arguments in, plain functions called, results printed; no rule, pattern or SQL.

Commands import what they need when they run, so that `errmine --help` answers at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from pipeline.records.errors import ConfigError, PipelineError

if TYPE_CHECKING:
    from typer import Typer
    from typer.models import CommandInfo

#: They register their commands: these, or groups of them.
_MODULES = {
    "agents": ("mcp",),
    "enrich": ("enrich",),
    "fetch": ("ingest", "forget"),
    "init": ("init",),
    "look": ("explain", "status", "validate"),
    "match": ("match",),
    "pack": ("pack",),
    "quarantine": ("quarantine",),
    "query": ("query",),
    "read": ("extract", "group"),
    "reconcile": ("reconcile",),
    "report": ("report",),
    "search": ("search", "top", "list"),
    "serve": ("serve",),
    "share": ("export", "apply"),
    "show": ("show", "open"),
    "site": ("site",),
    "translate": ("translate",),
    "work": ("run", "import", "build", "regroup"),
}
#: Groups whose commands show their switches as those beside them do.
_PLAIN = ("pack", "quarantine", "translate")
#: The help lists first what a newcomer needs: get an answer, look around, then make and share more.
_ORDER = (
    "run", "match", "search", "show", "open", "top", "list", "explain", "query", "mcp", "status", "report",
    "reconcile", "init", "import", "ingest", "build", "regroup", "export", "site", "apply", "validate", "extract",
    "group", "forget", "serve",
)  # fmt: skip


def application(asked: str = "") -> Typer:
    """The application with all its commands; where one is `asked` for that there is, with those of its module."""
    from typer.core import TyperCommand

    from pipeline.cli.app import Command, app

    for name in [name for name, commands in _MODULES.items() if asked in commands] or _MODULES:
        import_module(f"pipeline.cli.{name}")
    groups = [group.typer_instance for group in app.registered_groups if group.name in _PLAIN]
    inner = [one for group in groups if group is not None for one in group.registered_commands]
    for command in (*app.registered_commands, *inner):
        command.cls = Command if command.cls is TyperCommand else command.cls
    app.registered_commands.sort(key=lambda command: _ORDER.index(_name(command)) if _name(command) in _ORDER else 99)
    return app


def _name(command: CommandInfo) -> str:
    return command.name or getattr(command.callback, "__name__", "").rstrip("_")


def main() -> None:
    """Run the command line; exit status: 0 done, 1 found nothing or invalid, 2 usage, 3 the world failed, 4 damage."""
    from pipeline.cli import distribution, streams
    from pipeline.cli.output import complain, is_unicode
    from pipeline.records import warm

    streams.secure()
    if not is_unicode(sys.stdout) and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    if told := distribution.clash():
        complain(told[0], hint=told[1])
    try:
        try:
            application(*sys.argv[1:2])()
        finally:
            streams.finish()
            warm.keep()
    except PipelineError as error:
        streams.drop()
        complain(str(error), hint=error.hint())
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        lacking = distribution.missing(error)
        if lacking is None:
            raise
        complain(lacking[0], hint=lacking[1])
        sys.exit(ConfigError.exit_code)
    except streams.ReaderGone:
        streams.drop()
        sys.exit(0)
    except KeyboardInterrupt:
        complain("interrupted", hint="Nothing is lost: run the same command again.")
        sys.exit(130)
