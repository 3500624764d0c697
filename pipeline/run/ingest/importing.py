"""Files on disk into raw; and a thread out of raw, for good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import raw
from pipeline.providers import files
from pipeline.providers.provider import thread_key
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import ConfigError
from pipeline.records.summary import MOST_EXAMPLES, Summary, count

if TYPE_CHECKING:
    from pipeline.run.home.forgetting import Forgotten

#: Told of (stage, pages done, 0: nobody knows how many there are) as an import goes on, after so many each.
Progress = Callable[[str, int, int], None]
_TOLD_AFTER = 100


def import_files(
    raw_path: Path, paths: Sequence[Path], *, progress: Progress = lambda _stage, _done, _total: None
) -> Summary:
    """What became of every page in `paths`: new in raw, known already, or skipped with its reason."""
    done = raw.RawLayer(raw_path).append(_told(files.pages(paths, now=datetime.now(UTC)), progress))
    given = done.new + done.known
    stage = count("import", taken=given + len(done.skipped), given=given, lost=done.skipped)
    return Summary([stage], done.skipped[:MOST_EXAMPLES], {"new_pages": done.new, "known_pages": done.known})


def _told(pages: Iterable[RawPage | Skipped], progress: Progress) -> Iterator[RawPage | Skipped]:
    number = 0
    for number, page in enumerate(pages, 1):
        if number % _TOLD_AFTER == 0:
            progress("import", number, 0)
        yield page
    progress("import", number, 0)


def forget(home: Path, raw_path: Path, url: str) -> tuple[str, Forgotten]:
    """The document key of the thread at `url`, and what was erased of it.

    Raises:
        ConfigError: `url` is not the address of a thread.
    """
    from pipeline.run.home import forgetting  # noqa: PLC0415  (it asks the database and the bundle, which imports do not)

    key = thread_key(url)
    if key is None:
        hint = "Give the address of an issue or pull request, as the browser shows it."
        raise ConfigError(f"{url[:200]}: not the address of a thread", hint=hint)
    return key, forgetting.forget(home, raw_path, key)
