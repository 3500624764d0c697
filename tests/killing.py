"""Work that is killed at its n-th step, in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from pipeline.export import placing

#: What changes files, as Python tells its audit hooks of it, and the call that exchanges two folders.
STEPS = frozenset({
    "open", "os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.unlink", "shutil.rmtree",
    "ctypes.call_function", "exchanged",
})  # fmt: skip


def killed_at(step: int, work: Callable[[], object], *, exchanges: bool = True) -> bool:
    """Whether a process that does the work was killed at its step of that number; there may be fewer."""
    child = os.fork()
    if child == 0:
        count = 0

        def look(event: str, _: object) -> None:
            nonlocal count
            if event in STEPS:
                count += 1
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        whole = placing._exchange
        placing._exchange = lambda one, other: exchanges and (whole(one, other), sys.audit("exchanged"))[0]
        sys.addaudithook(look)
        work()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])
