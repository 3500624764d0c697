"""One ingest in a process of its own, to be killed: `python -m tests.ingest_child URL FOLDER REPO`."""

from __future__ import annotations

import sys
from pathlib import Path

from pipeline import raw
from pipeline.providers.github import fetch as github
from pipeline.providers.github.fetch import repositories
from tests.fake_github import TOKEN


def main(url: str, folder: Path, repo: str) -> None:
    """Bring `repo` into the home at `folder`."""
    client = github.Client(TOKEN, api_url=url, tuning=github.Tuning(retry_seconds=0))
    done = repositories.ingest(
        raw.RawLayer(folder / "raw"), folder / ".errmine" / "github", [github.Wanted(repo)], client=client
    )
    if done.error is not None:
        raise done.error


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
