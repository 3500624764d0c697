"""Run the labelled failing programs of `programs.jsonl`, each in a process of its own, and keep what they print.

    python benchmarks/gpu/run_programs.py OUT.jsonl

Needs one NVIDIA GPU with CUDA's compiler, PyTorch, Triton, JAX and CuPy. `tests/quality/gpu_runs.jsonl.gz` is what an
H100 gave (PyTorch 2.11, Triton 3.6, JAX 0.11, CUDA 13): {"label", "group", "domain", "exit_status", "text"} a line. A
label is one error; labels of one group are debatable pairs.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).with_name("programs.jsonl")
#: Names that paths get, so that occurrences of one error differ as they do in the wild.
USERS, FOLDERS = ("alice", "bob_ml", "wei", "jenkins", "runner", "mchen"), ("work", "repo", "build", "src/train")
SCRIPTS = ("main", "train", "bench", "run_model", "test_ops", "demo")
LIMIT_S, AT_ONCE = 40, 8
ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": "0", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "HF_HUB_OFFLINE": "1"}


def command(language: str, source: str, path: Path) -> str:
    """Write the program beside `path` and give the shell command that builds and runs it."""
    if language == "sh":
        return source
    path = path.with_suffix({"py": ".py", "cpp": ".cpp"}.get(language, ".cu"))
    path.write_text(source)
    if language == "py":
        return f"{sys.executable} {path}"
    if language == "cpp":
        return f"g++ -O1 -w -o tool {path} && ./tool"
    mark, _, rest = source.partition("\n")[0].partition(" ")
    flags = "-arch=native"
    if mark == "//ARCH":
        flags = "-gencode arch=compute_{0},code=sm_{0}".format(rest.split()[0])
    return f"nvcc -w {flags} {rest if mark == '//FLAGS' else ''} -o tool {path} && ./tool"


def run(number: int, row: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """One program's exit status and everything that it printed; None and a part of it after LIMIT_S."""
    dice = random.Random(number * 7919)
    folder = scratch / f"{dice.choice(USERS)}{number}" / dice.choice(FOLDERS)
    folder.mkdir(parents=True)
    line = command(row["language"], row["source"], folder / dice.choice(SCRIPTS))
    try:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            env=os.environ | ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
        status, printed = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, printed = None, late.stdout or b""
    kept = {key: row[key] for key in ("label", "group", "domain")}
    return {**kept, "self_ambiguous": False, "exit_status": status, "text": printed.decode("utf-8", "replace")}


def main(target: str) -> None:
    """Run every program, AT_ONCE at a time."""
    rows = [json.loads(line) for line in PROGRAMS.read_text(encoding="utf-8").splitlines()]
    with (
        Path(target).open("w", encoding="utf-8") as out,
        tempfile.TemporaryDirectory() as scratch,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        for result in pool.map(run, range(len(rows)), rows, [Path(scratch)] * len(rows)):
            out.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
