"""A long-lived pool of worker processes in which one poisoned item costs one item.

A worker imports once and then takes task after task. Before each item it notes the item's number and the time in shared
memory: no message, no system call, so a guarded run is as fast as an unguarded one. The parent watches. A worker that
overruns the deadline on an item, runs out of memory or dies is replaced; the rest of its task goes back into the queue
without the item, and the item is tried once more, alone. If it fails again it is given back as a :class:`Failure`.

Workers are forked from a process that imports for all of them what they need. A command that is alone in its process
forks them from itself before it starts a thread: it needs the same modules and tables, and to import and read all of
them a second time cost more than fifty documents do.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from pipeline.records.errors import PipelineError

T = TypeVar("T")
R = TypeVar("R")

#: Seconds between two looks at the deadlines; deaths are noticed at once.
WATCH_SECONDS = 0.25
#: Workers that may die before they start an item, one after the other, until the run gives up: it is not the items.
STARTS_BEFORE_GIVING_UP = 3
_IDLE = -1


@dataclass(frozen=True, slots=True)
class Limits:
    """What one item may cost."""

    seconds: float = 60.0  # wall clock
    bytes: int | None = 4 << 30  # address space of the worker; None: no limit


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """Items that are worked on together, in order; they may be such as only the worker reads."""

    name: str
    items: Sequence[T]


@dataclass(frozen=True, slots=True)
class Failure(Generic[T]):
    """An item that failed twice: in its task and alone."""

    item: T
    task: str  # name of the task in which it was tried alone
    reason: str  # "timeout" | "memory" | "crash"
    detail: str


#: Works on a task; calls its second argument with the number of each item before it starts on it.
Work = Callable[[Task[T], Callable[[int], None]], R]


@dataclass(slots=True)
class _Worker(Generic[T]):
    process: Any
    connection: Connection
    item: Any  # shared: number of the item at work, _IDLE between tasks
    started: Any  # shared: CLOCK_MONOTONIC of its start
    task: Task[T] | None = None


#: Workers that were forked ahead of the run that takes them.
_STANDING: list[_Worker[Any]] = []


@dataclass(slots=True)
class _Queue(Generic[T]):
    waiting: deque[Task[T]]
    suspects: set[str] = field(default_factory=set)  # names of tasks that hold one item on its second try


def run(
    work: Work[T, R],
    tasks: Sequence[Task[T]],
    *,
    workers: int,
    limits: Limits = Limits(),
    preload: str = "",
) -> Iterator[R | Failure[T]]:
    """What `work` gives back for each task, in the order of completion, and a Failure for each item lost.

    The module `preload`, if any, is imported once, by the process that all workers are forked from.

    With one worker and no limits wanted, call `work` directly: this always starts processes.

    Raises:
        PipelineError: workers die before they start on anything (a broken installation, not a poisoned item).
    """
    context = _context(preload or getattr(work, "func", work).__module__)  # a partial has none
    queue = _Queue(deque(tasks))
    crew = _crew(context, min(workers, max(1, len(tasks))))
    for worker in crew:
        _instruct(worker, work, limits)
    false_starts = 0
    try:
        while queue.waiting or any(worker.task for worker in crew):
            _assign(crew, queue)
            for index, verdict in _watch(crew, limits):
                worker = crew[index]
                task = worker.task
                if not isinstance(verdict, _Death):
                    worker.task = None
                    false_starts = 0
                    yield verdict
                    continue
                crew[index] = _instruct(_hire(context), work, limits)
                started = _dismiss(worker)
                if task is None or started == _IDLE:
                    false_starts += 1
                    if false_starts >= STARTS_BEFORE_GIVING_UP:
                        raise PipelineError(
                            f"worker processes die before they start: {verdict.detail}",
                            hint="Run again with `--workers 1` to see the error itself.",
                        )
                    if task is not None:
                        queue.waiting.appendleft(task)
                    continue
                failure = _requeue(queue, task, started, verdict)
                if failure is not None:
                    yield failure
    finally:
        for worker in crew:
            _dismiss(worker)


def begin(preload: str) -> None:
    """Nothing; the process that workers are forked from starts to import `preload`, and nobody waits for it.

    Who will want workers in a moment has something to do until then: to import what they need takes seconds.
    """
    _context(preload)
    forkserver.ensure_running()


def can_fork() -> bool:
    """Whether this process may fork workers itself, if nothing but a command of ours is at work in it.

    No thread of Python may hold a lock then; those of libraries that were only imported wait.
    """
    return sys.platform == "linux" and threading.active_count() == 1


@contextlib.contextmanager
def ahead(workers: int) -> Iterator[None]:
    """Inside the context so many workers are there, forked from this process as it is now; the next run takes them.

    What takes the place of one that dies comes from the process of `begin`: this one may have threads by then.
    """
    context = multiprocessing.get_context("fork")
    _allow_children()
    try:
        with warnings.catch_warnings():  # from 3.12 on Python warns of the threads of libraries: they wait
            warnings.simplefilter("ignore", DeprecationWarning)
            _STANDING.extend(_hire(context) for _ in range(workers))
        yield
    finally:
        while _STANDING:
            _dismiss(_STANDING.pop())


def _crew(context: Any, workers: int) -> list[_Worker[Any]]:
    """So many workers: those that stand ready first; of these no more stand ready then."""
    ready, _STANDING[:] = _STANDING[:workers], _STANDING[workers:]
    while _STANDING:
        _dismiss(_STANDING.pop())
    return ready + [_hire(context) for _ in range(workers - len(ready))]


def _context(preload: str) -> Any:
    """What starts workers that have `preload` imported."""
    _allow_children()
    # the workers are the parallelism: matrices that each multiplies with as many threads cost four times the CPU
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([preload])
    return context


@dataclass(frozen=True, slots=True)
class _Death:
    reason: str
    detail: str


def _assign(crew: Sequence[_Worker[T]], queue: _Queue[T]) -> None:
    for worker in crew:
        if worker.task is None and queue.waiting:
            worker.item.value = _IDLE
            worker.task = queue.waiting.popleft()
            # a worker that died idle is noticed by _watch, which puts the task back
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                worker.connection.send(worker.task)


def _watch(crew: Sequence[_Worker[T]], limits: Limits) -> Iterator[tuple[int, Any]]:
    """Results and deaths among the busy workers, waiting a moment for one."""
    busy = {worker.connection: n for n, worker in enumerate(crew) if worker.task is not None}
    for ready in wait(list(busy), timeout=WATCH_SECONDS):
        number = busy.pop(cast("Connection", ready))
        try:
            kind, content = crew[number].connection.recv()
        except (EOFError, ConnectionResetError):
            yield number, _death_of(crew[number])
            continue
        if kind == "error":
            raise content
        yield number, _verdict(kind, content)
    now = time.monotonic()
    for number in busy.values():
        worker = crew[number]
        if worker.item.value != _IDLE and now - worker.started.value > limits.seconds:
            yield number, _Death("timeout", f"no end after {limits.seconds:g} s")


def _verdict(kind: str, content: Any) -> Any:
    if kind == "memory":
        return _Death("memory", "out of memory")
    return _Death("crash", content) if kind == "bug" else content


def _place_of(error: BaseException) -> str:
    """The kind of a bug and where it is; not its message, which may hold text of the item."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" at {Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else ""
    return f"{type(error).__name__}{place}"


def _death_of(worker: _Worker[T]) -> _Death:
    worker.process.join(5)
    code = worker.process.exitcode
    if code is not None and code < 0:
        return _Death("crash", f"killed by {signal.Signals(-code).name}")
    return _Death("crash", f"exit status {code}")


def _requeue(queue: _Queue[T], task: Task[T], number: int, death: _Death) -> Failure[T] | None:
    items = tuple(task.items)
    item = items[number]
    if task.name in queue.suspects:
        return Failure(item, task.name, death.reason, death.detail)
    # numbered by how many came before, not by place: places shift when an item is taken out
    alone = Task(f"{task.name}.{len(queue.suspects)}", (item,))
    queue.suspects.add(alone.name)
    queue.waiting.append(alone)
    rest = items[:number] + items[number + 1 :]
    if rest:
        queue.waiting.appendleft(Task(task.name, rest))
    return None


def _allow_children() -> None:
    """Nothing; this process may start processes, also where it is a daemon, as the workers of Dask's nanny are.

    Daemons may not, because their children would outlive them: ours end with their parent by themselves.
    """
    current = multiprocessing.current_process()
    if current.daemon:
        current.daemon = False


def _hire(context: Any) -> _Worker[Any]:
    ours, theirs = context.Pipe()
    item = context.Value(ctypes.c_long, _IDLE, lock=False)
    started = context.Value(ctypes.c_double, 0.0, lock=False)
    process = context.Process(target=_serve, args=(theirs, item, started), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, item, started)


def _instruct(worker: _Worker[T], work: Work[T, R], limits: Limits) -> _Worker[T]:
    """The worker, which knows then what to do with tasks."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it is dead: noticed when it gets a task
        worker.connection.send((work, limits))
    return worker


def _dismiss(worker: _Worker[T]) -> int:
    """End the worker; the number of the item it was at."""
    number: int = worker.item.value
    if worker.process.is_alive():
        worker.process.kill()
    worker.process.join()
    worker.connection.close()
    return number


def _end_with_parent() -> None:
    """Nothing; the worker ends when its parent is killed, so that it cannot write into the next run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def reporter(item: Any, started: Any) -> Callable[[int], None]:
    """What a worker calls before each item: two writes to shared memory, of the item's number and of the time."""

    def report(number: int) -> None:
        started.value = time.monotonic()
        item.value = number

    return report


def _serve(connection: Connection, item: Any, started: Any) -> None:
    """The worker's life: hear what to do, take a task, give back its result, until the parent hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    gc.freeze()  # what all workers share: to look through it would copy it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        work, limits = connection.recv()
    except (EOFError, OSError):
        return
    if limits.bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (limits.bytes, limits.bytes))

    report = reporter(item, started)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            result = work(task, report)
        except MemoryError:
            connection.send(("memory", None))
            os._exit(1)  # the heap is not to be trusted any more
        except PipelineError as error:
            connection.send(("error", error))
            return
        except BaseException as error:  # a bug that this item brings out: it costs this item, and is named
            connection.send(("bug", _place_of(error)))
            raise
        item.value = _IDLE
        connection.send(("result", result))
