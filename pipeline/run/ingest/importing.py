"""Files on disk into raw; and a thread out of raw, for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pipeline import raw
from pipeline.providers import files
from pipeline.providers.provider import thread_key
from pipeline.records.errors import ConfigError
from pipeline.records.summary import MOST_EXAMPLES, Summary, count


def import_files(raw_path: Path, paths: Sequence[Path]) -> Summary:
    """What became of every page in `paths`: new in raw, known already, or skipped with its reason."""
    done = raw.RawLayer(raw_path).append(files.pages(paths, now=datetime.now(UTC)))
    given = done.new + done.known
    stage = count("import", taken=given + len(done.skipped), given=given, lost=done.skipped)
    return Summary([stage], done.skipped[:MOST_EXAMPLES], {"new_pages": done.new, "known_pages": done.known})


def forget(raw_path: Path, url: str) -> tuple[str, int]:
    """The document key of the thread at `url`, and how many of its pages were erased from raw.

    Raises:
        ConfigError: `url` is not the address of a thread.
    """
    key = thread_key(url)
    if key is None:
        hint = "Give the address of an issue or pull request, as the browser shows it."
        raise ConfigError(f"{url[:200]}: not the address of a thread", hint=hint)
    layer = raw.RawLayer(raw_path)
    erased = layer.forget(key)
    raw.purge(layer)
    return key, erased
