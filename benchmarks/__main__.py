"""One command that prints the table of figures: `python -m benchmarks [NAME...]` runs every module that has `quick`."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time

import benchmarks


def main() -> None:
    """Run the quick form of each benchmark, or of those that are named."""
    wanted = set(sys.argv[1:])
    for found in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda one: one.name):
        if found.name == "__main__" or (wanted and found.name not in wanted):
            continue
        module = importlib.import_module(f"benchmarks.{found.name}")
        if hasattr(module, "quick"):
            summary = (module.__doc__ or found.name).strip().split("\n", 1)[0]
            print(f"\n## {found.name}: {summary}\n", flush=True)
            began = time.perf_counter()
            module.quick()
            print(f"\n({time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
