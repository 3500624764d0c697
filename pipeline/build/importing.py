"""Files on disk into raw: the import step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline import raw
from pipeline.build.summary import MOST_EXAMPLES, Summary, count
from pipeline.sources import archive


def import_files(raw_path: Path, paths: Sequence[Path]) -> Summary:
    """What became of every page in `paths`: new in raw, known already, or skipped with its reason."""
    done = raw.RawLayer(raw_path).append(archive.pages(paths))
    given = done.new + done.known
    stage = count("import", taken=given + len(done.skipped), given=given, lost=done.skipped)
    return Summary([stage], done.skipped[:MOST_EXAMPLES], {"new_pages": done.new, "known_pages": done.known})
