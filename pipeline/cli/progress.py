"""The progress bar: on a terminal a bar, elsewhere nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.cli.output import console

#: Told of (stage, items done, items in all or 0 where nobody knows) as a run goes on.
Progress = Callable[[str, int, int], None]


@contextmanager
def progress_bar(*, is_quiet: bool) -> Iterator[Progress]:
    """A function that shows how far each stage is, for as long as the context lasts.

    The bar begins when it is first told of a stage: it has a thread, and who forks workers has none before.
    """
    if is_quiet or not (on_stderr := console(stderr=True)).is_terminal:
        yield lambda _stage, _done, _total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bars, tasks = Progress(*columns, console=on_stderr), {}

    def show(stage: str, done: int, total: int) -> None:
        bars.start()
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total or None)
        bars.update(tasks[stage], completed=done, total=total or None)

    try:
        yield show
    finally:
        bars.stop()
