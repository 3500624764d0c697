"""Texts that no entry about ML compilers or GPUs answers: ordinary logs, prose, source code, errors of other worlds.

The logs are seeded and made up here; prose and code come from the standard library of the Python that runs this.
"""

from __future__ import annotations

import inspect
import random
import sys
from pathlib import Path

SERVICES = ("gateway", "billing", "scheduler", "mailer", "search", "frontend", "cache", "ingest")
LOG_LINES = (
    "{t} INFO {s}: request {n} served in {k} ms",
    "{t} INFO {s}: connection from 10.0.{b}.{c} accepted",
    "{t} DEBUG {s}: cache hit for key user:{n}",
    "{t} WARN {s}: slow query, {k} ms, retrying once",
    "{t} INFO {s}: 0 errors, {n} warnings, 0 failed",
    "{t} INFO {s}: health check passed, no failures in the last {k} minutes",
    '10.0.{b}.{c} - - [{t}] "GET /items/{n} HTTP/1.1" 200 {k}',
    '10.0.{b}.{c} - - [{t}] "POST /login HTTP/1.1" 302 {k}',
    "[{n}/{m}] Building CXX object src/CMakeFiles/core.dir/part_{k}.cc.o",
    "Collecting package-{k}=={b}.{c}.0",
    "Requirement already satisfied: package-{k}>={b} in ./venv/lib",
    "Successfully installed package-{k}-{b}.{c}.0",
    "epoch {b} step {n} loss 0.{k} lr 0.000{c} grad_norm {b}.{c}",
    "Epoch {b}: 100%|##########| {n}/{n} [00:{c}<00:00, {k}.1it/s, loss=0.{k}]",
    "tests/test_part_{k}.py::test_case_{b} PASSED [ {c}%]",
    "{n} passed, {b} skipped, 0 failed in {k}.2s",
    "INFO:root:loading weights from /data/model-{k}.bin (device cuda:{b})",
    "systemd[1]: Started {s}.service - the {s} of the shop.",
    "kernel: usb 1-{b}: new high-speed USB device number {c} using xhci_hcd",
    "{t} [{s}] allocated {k} MiB of 80 GiB on GPU {b}, memory is fine",
    "NCCL INFO Channel 0{b}/0 : 0[0] -> 1[0] via P2P/CUMEM",
    "I0{b}12 12:00:{c}.000000 {n} service.cc:{k}] XLA service started for platform CUDA",
    "commit {h}: handle the error message of the parser better",
    "docker: Step {b}/{c} : RUN make -j{b}",
)
#: Messages that programs of other trades print; a bundle about ML compilers and GPUs has nothing to say to them.
OTHER_ERRORS = (
    'ERROR:  duplicate key value violates unique constraint "orders_pkey"',
    'FATAL:  password authentication failed for user "shop"',
    "ERROR 1045 (28000): Access denied for user 'shop'@'localhost' (using password: YES)",
    "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree",
    "error[E0382]: borrow of moved value: `basket`\n --> src/main.rs:12:20",
    "error[E0499]: cannot borrow `cart` as mutable more than once at a time",
    'Exception in thread "main" java.lang.NullPointerException\n\tat shop.Basket.total(Basket.java:42)',
    "java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf(Arrays.java:3210)",
    "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)",
    "fatal: refusing to merge unrelated histories",
    "error: failed to push some refs to 'git.example.invalid:shop.git'",
    "E: Unable to locate package shopd",
    "E: Could not get lock /var/lib/dpkg/lock-frontend - open (11: Resource temporarily unavailable)",
    'Error from server (Forbidden): pods is forbidden: User "till" cannot list resource "pods" in API group ""',
    "0/3 nodes are available: 3 Insufficient cpu.",
    'Back-off pulling image "shop:latest"\nErrImagePull',
    "TypeError: Cannot read properties of undefined (reading 'price')\n    at total (/srv/shop/basket.js:10:15)",
    "ReferenceError: basket is not defined",
    "PHP Fatal error:  Uncaught Error: Call to undefined function basket_total()",
    "undefined method `price' for nil:NilClass (NoMethodError)",
    "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()",
    "./main.go:7:2: basket declared and not used",
    "ORA-00942: table or view does not exist",
    "curl: (60) SSL certificate problem: self-signed certificate",
    "ssh: connect to host shop.example.invalid port 22: Connection refused",
    "rsync error: some files/attrs were not transferred (see previous errors) (code 23)",
    "Error: Cannot find module 'express'\nRequire stack:\n- /srv/shop/index.js",
    "webpack: Module not found: Error: Can't resolve './basket' in '/srv/shop/src'",
    "Terraform: Error: Invalid provider configuration",
    "django.db.utils.OperationalError: no such table: shop_basket",
    "jinja2.exceptions.TemplateNotFound: basket.html",
    "sqlalchemy.exc.NoResultFound: No row was found when one was required",
    "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
    "smtplib.SMTPAuthenticationError: (535, b'5.7.8 Authentication failed')",
    "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
    "kafka.errors.NoBrokersAvailable: NoBrokersAvailable",
    "psycopg2.errors.DeadlockDetected: deadlock detected",
    "KeyError: 'basket_total'",
    "ValueError: time data '31-02-2024' does not match format '%d-%m-%Y'",
    "ZeroDivisionError: division by zero",
    "System.NullReferenceException: Object reference not set to an instance of an object.",
    "Unhandled Promise Rejection: Error: basket is closed",
    "ActiveRecord::RecordNotFound (Couldn't find Basket with 'id'=7)",
    "Elixir: ** (FunctionClauseError) no function clause matching in Shop.Basket.total/1",
    'ansible: fatal: [till]: UNREACHABLE! => {"changed": false, "unreachable": true}',
    "make: *** No rule to make target 'basket.o', needed by 'shop'.  Stop.",
    "bash: shopctl: command not found",
    "mount: /mnt/till: wrong fs type, bad option, bad superblock on /dev/sdb1.",
    "pg_dump: error: server version: 16.1; pg_dump version: 14.9",
    "LaTeX Error: File `basket.sty' not found.",
)


def logs(count: int, seed: int = 1) -> list[str]:
    """`count` ordinary logs of 1 to 60 lines."""
    rng = random.Random(seed)
    return ["\n".join(_log_line(rng) for _ in range(rng.randrange(1, 60))) for _ in range(count)]


def log_lines(count: int, seed: int = 2) -> list[str]:
    """`count` single lines of ordinary logs."""
    rng = random.Random(seed)
    return [_log_line(rng) for _ in range(count)]


def _log_line(rng: random.Random) -> str:
    return rng.choice(LOG_LINES).format(
        t=f"2026-0{rng.randrange(1, 9)}-1{rng.randrange(9)}T1{rng.randrange(9)}:2{rng.randrange(9)}:00Z",
        s=rng.choice(SERVICES),
        n=rng.randrange(1, 99999),
        m=99999,
        k=rng.randrange(1, 999),
        b=rng.randrange(1, 9),
        c=rng.randrange(10, 99),
        h=f"{rng.getrandbits(40):010x}",
    )


def prose(count: int) -> list[str]:
    """`count` docstrings of the standard library: English about programs, errors among it, and no error."""
    found: list[str] = []
    for name in sorted(sys.stdlib_module_names):
        if name.startswith("_") or name in ("antigravity", "this", "idlelib", "tkinter", "turtledemo"):
            continue
        path = _source(name)
        if path is None:
            continue
        text = path.read_text("utf-8", "replace")
        found += [part.strip() for part in text.split('"""')[1::2] if len(part) > 200]
    step = max(1, len(found) // count)
    return [inspect.cleandoc(text) for text in found[::step][:count]]


def code(count: int) -> list[str]:
    """`count` pieces of 60 lines of source code of the standard library."""
    found: list[str] = []
    for name in sorted(sys.stdlib_module_names):
        path = _source(name)
        if path is not None:
            lines = path.read_text("utf-8", "replace").split("\n")
            found += ["\n".join(lines[at : at + 60]) for at in range(0, len(lines), 60)]
    step = max(1, len(found) // count)
    return found[::step][:count]


def _source(name: str) -> Path | None:
    path = Path(inspect.__file__).parent / f"{name}.py"
    return path if path.is_file() else None
