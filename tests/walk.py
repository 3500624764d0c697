"""One issue's walk through the package, from a file to the bundle: `python -m tests.walk [FILE]`.

It traces every call of a function of `pipeline` while one issue is imported, mapped, published and exported, in one
process, and prints what was visited: modules, functions, rooms, in which order the stages were entered, and every call
that went up (from a room to one above it, or from one stage into another).

A table is read once a process, whoever comes first: what is called while a function without arguments makes what it
keeps is no step of the issue's, and is told apart. So the walk is the same from cold and in a process that knows all.
"""

from __future__ import annotations

import functools
import gc
import inspect
import json
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

SAMPLE = Path(__file__).parents[1] / "raw" / "sample" / "issues.jsonl"
#: The issue of the sample that has a traceback, remedies, a cause, versions and replies.
NUMBER = 21
#: The stages in the order in which a record passes them; a document's claims are read before clusters are made.
STAGES = (
    "providers.fetch", "raw", "providers.read", "extract", "normalise", "distil.claims", "cluster", "distil.drafts",
    "translate", "validate", "store", "export",
)  # fmt: skip
#: Modules that read what the last build left: no step of the record's.
_MEMORY = ("pipeline.export.reading", "pipeline.store.reading", "pipeline.store.opening", "pipeline.store.querying")
#: Rooms from the top floor down; the stages are one floor.
FLOORS = ("cli", "flows", "run", "ask", "stage", "engines", "lexicon", "text", "records", "config")


@dataclass
class Walk:
    """What was visited."""

    functions: set[tuple[str, str]] = field(default_factory=set)
    modules: dict[str, int] = field(default_factory=dict)  # module -> calls, in the order of the first visit
    entered: list[str] = field(default_factory=list)  # stages as `run` and `ask` enter them, each time it changes
    upwards: Counter[tuple[str, str]] = field(default_factory=Counter)  # (caller, callee) by module
    loading: set[str] = field(default_factory=set)  # modules in which tables were read

    @property
    def rooms(self) -> list[str]:
        """The rooms in the order of the first visit."""
        return list(dict.fromkeys(room(name) for name in self.modules))

    @property
    def steps_back(self) -> list[tuple[str, str]]:
        """Where `run` went from a stage to one before it: of the import, of the map step and of the reduce step."""
        passed = [name for name in self.entered if name in STAGES]
        places = [STAGES.index(name) for name in passed]
        return [(passed[i], passed[i + 1]) for i in range(len(places) - 1) if places[i + 1] < places[i]]


def room(module: str) -> str:
    """ "cluster" of "pipeline.cluster.leaders"."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def stage(module: str) -> str:
    """The stage that a module belongs to, or ""."""
    name = room(module)
    if name == "providers":
        parts = set(module.split("."))
        name = "providers.fetch" if parts & {"files", "fetch", "recognise", "provider"} else "providers.read"
    if name == "distil":
        name = ".".join(module.split(".")[1:3])
    return name if name in STAGES and module not in _MEMORY else ""


def floor(module: str) -> int:
    """How far down a module lies."""
    name = room(module)
    if name in FLOORS:
        return FLOORS.index(name)
    return FLOORS.index("stage") if any(each.split(".")[0] == name for each in STAGES) else len(FLOORS)


def traced(work: Callable[[], object]) -> Walk:
    """The walk of `work`."""
    walk, readers = Walk(), _readers()
    within: FrameType | None = None  # the outermost of the functions at work that read a table

    def read(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal within
        if event == "return" and frame is within:
            within = None
        return read

    def trace(frame: FrameType, _event: str, _argument: Any) -> Any:  # None: of a function only that it is called
        nonlocal within
        module = frame.f_globals.get("__name__", "")
        code = frame.f_code
        if not module.startswith("pipeline") or code.co_name == "<module>":
            return None
        if code.co_filename == "<string>" or code.co_qualname == "__getattr__":
            return None  # what a dataclass generates, or imports a name of a package, is no place to go to
        if within is not None:
            walk.loading.add(module)
            return None
        if code in readers:
            within, frame.f_trace_lines = frame, False
            walk.loading.add(module)
            return read
        walk.modules[module] = walk.modules.get(module, 0) + 1
        walk.functions.add((module, code.co_qualname))
        caller = frame.f_back.f_globals.get("__name__", "") if frame.f_back else ""
        if not caller.startswith("pipeline") or room(caller) == room(module):
            return None
        if code.co_flags & inspect.CO_GENERATOR:
            return None  # it goes on for whoever asks for the next item, which is not who called it
        if floor(module) < floor(caller) or (stage(module) and stage(caller)):
            walk.upwards[caller, module] += 1
        if room(caller) in ("run", "ask") and stage(module) and walk.entered[-1:] != [stage(module)]:
            walk.entered.append(stage(module))
        return None

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return walk


def _readers() -> set[types.CodeType]:
    """The functions of the package that keep what they give for the whole process: those without arguments.

    What others keep, by their arguments, is forgotten, so that the walk does not depend on who was here before.
    """
    found: set[types.CodeType] = set()
    for kept in [one for one in gc.get_objects() if isinstance(one, type(functools.cache(len)))]:
        inner = kept.__wrapped__
        if getattr(inner, "__module__", "").startswith("pipeline.") and isinstance(inner, types.FunctionType):
            if inner.__code__.co_argcount:
                kept.cache_clear()
            else:
                found.add(inner.__code__)
    return found


def one_issue(home: Path, source: Path) -> None:
    """A file with one issue, from the file to the bundle, as `errmine import`, `build` and `export` do it."""
    from pipeline import run
    from pipeline.run.build import building, mapping

    places = run.Places.of(home)
    run.import_files(places.raw, [source])
    partitions = run.plan(places.raw, partition_documents=500)
    for partition in partitions:  # in this process: a worker's calls cannot be seen from here
        task = SimpleNamespace(name=partition.name, items=partition.documents)
        folders = mapping.Folders(places.raw, places.shards, places.shards)
        mapping.map_task(folders, (), "", task, lambda _number: None)
    building.publish(places, partitions)
    run.export(places)


def sample_issue(folder: Path) -> Path:
    """A file with one issue of the sample."""
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    path = folder / "issue.jsonl"
    path.write_text(next(line for line in lines if json.loads(line).get("number") == NUMBER) + "\n", encoding="utf-8")
    return path


def walked(source: Path | None = None) -> Walk:
    """The walk of one issue."""
    import pipeline.flows  # noqa: F401  (imports are no visit)

    with tempfile.TemporaryDirectory() as folder:
        chosen = source or sample_issue(Path(folder))
        return traced(lambda: one_issue(Path(folder) / "home", chosen))


def main() -> None:
    """Print the walk."""
    walk = walked(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    rooms = Counter(room(name) for name in walk.modules)
    print(f"{len(walk.modules)} modules, {len(walk.functions)} functions, {len(walk.rooms)} rooms")
    print(f"where tables are read: {len(walk.loading - walk.modules.keys())} modules more")
    print("stages entered:", " -> ".join(walk.entered))
    print("steps back:", walk.steps_back or "none")
    print("calls upwards:", dict(walk.upwards) or "none")
    for name in walk.rooms:
        inside = [module.removeprefix(f"pipeline.{name}.") for module in walk.modules if room(module) == name]
        print(f"  {name} ({rooms[name]}): {' '.join(inside)}")


if __name__ == "__main__":
    main()
