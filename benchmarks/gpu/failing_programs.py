"""Run small programs that fail on a GPU and keep what they print: the error texts behind `raw/sample`.

    python benchmarks/gpu/failing_programs.py OUT.jsonl

Needs one NVIDIA GPU with PyTorch, Triton, JAX and CuPy. Each line of OUT: {"name", "exit_status", "text"}.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TRITON = "import torch, triton, triton.language as tl\n"

PROGRAMS: dict[str, str] = {
    "triton-oor-shared": TRITON
    + """
@triton.jit
def matmul_tile(x, y, o, B: tl.constexpr):
    r = tl.arange(0, B)
    a = tl.load(x + r[:, None] * B + r[None, :])
    b = tl.load(y + r[:, None] * B + r[None, :])
    tl.store(o + r[:, None] * B + r[None, :], tl.dot(a, b))

t = torch.randn(@BLOCK@, @BLOCK@, device="cuda")
matmul_tile[(1,)](t, t, torch.empty_like(t), @BLOCK@, num_stages=4)
""",
    "torch-cuda-oom": """
import torch
held = torch.empty(@SIZE@, dtype=torch.uint8, device="cuda")
more = torch.empty(@SIZE@, dtype=torch.uint8, device="cuda")
""",
    "torch-device-assert": """
import torch
table = torch.randn(10, 4, device="cuda")
out = table[torch.tensor([@INDEX@], device="cuda")]
print(out.sum().item())
""",
    "jax-oom": """
import jax, jax.numpy as jnp
x = jnp.ones((@SHAPE@, @SHAPE@, 64), jnp.float32)
print((x @ jnp.ones((64, @SHAPE@))).sum())
""",
    "torch-cublas-invalid": """
import torch
a = torch.randn(8, 8, device="cuda", dtype=torch.float16)
torch.nn.functional.linear(a[:, :7], a)
""",
    "triton-missing-arg": TRITON
    + """
@triton.jit
def copy(x, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + o, undefined_scale, mask=o < n)

copy[(1,)](torch.empty(64, device="cuda"), 64, B=64)
""",
    "jax-nan": """
import jax, jax.numpy as jnp
jax.config.update("jax_debug_nans", True)
print(jnp.log(jnp.float32(-@VALUE@)))
""",
    "torch-compile-backend": """
import torch
@torch.compile(backend="nosuchbackend")
def f(x):
    return x + 1
f(torch.ones(3, device="cuda"))
""",
    "torch-nccl-no-init": """
import torch.distributed as dist, torch
dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29511", rank=RANK, world_size=1)
dist.all_reduce(torch.ones(4))
""",
    "cupy-oom": """
import cupy
a = cupy.empty(@SIZE@, dtype=cupy.uint8)
b = cupy.empty(@SIZE@, dtype=cupy.uint8)
""",
    "jax-shape": """
import jax.numpy as jnp
print(jnp.ones((4, @SHAPE@)) @ jnp.ones((7, 2)))
""",
    "triton-oor-threads-registers": TRITON
    + """
@triton.jit
def k(x, B: tl.constexpr):
    r = tl.arange(0, B)
    tl.store(x + r, tl.load(x + r) * 2)
k[(1,)](torch.empty(4096, device="cuda"), 4096, num_warps=64)
""",
    "torch-checkpoint-keys": """
import torch
m = torch.nn.Linear(@WIDTH@, 4)
m.load_state_dict({"weight": torch.zeros(4, 9), "scale": torch.zeros(1)})
""",
    "torch-inplace-grad": """
import torch
w = torch.randn(@WIDTH@, requires_grad=True, device="cuda")
y = w.exp()
z = (y * y).sum()
y.add_(1)
z.backward()
""",
    "torch-nvrtc-arch": """
import torch
from torch.utils.cpp_extension import load_inline
load_inline("bad_ext", "int f() { return missing_symbol_xyz; }", functions=["f"], build_directory=".")
""",
}

#: Two runs of each program with other numbers: occurrences of one error differ as they do in the wild.
VALUES = (
    {"BLOCK": "256", "SIZE": "90 * 2**30", "INDEX": "11", "SHAPE": "120000", "VALUE": "1.5", "RANK": "0", "WIDTH": "8"},
    {
        "BLOCK": "512",
        "SIZE": "100 * 2**30",
        "INDEX": "4097",
        "SHAPE": "150000",
        "VALUE": "3.0",
        "RANK": "0",
        "WIDTH": "16",
    },
)


def run(name: str, source: str, folder: Path) -> dict[str, object]:
    """One program's exit status and everything that it printed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "main.py"
    path.write_text(source)
    try:
        done = subprocess.run(
            [sys.executable, str(path)], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return {"name": name, "exit_status": None, "text": ""}
    return {"name": name, "exit_status": done.returncode, "text": done.stderr + done.stdout}


def main(target: str) -> None:
    """Run every program with every set of values."""
    with Path(target).open("w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as scratch:
        for turn, values in enumerate(VALUES):
            for name, program in PROGRAMS.items():
                source = program
                for key, value in values.items():
                    source = source.replace(f"@{key}@", value)
                result = run(name, source, Path(scratch) / f"run{turn}" / name)
                out.write(json.dumps(result) + "\n")
                out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
