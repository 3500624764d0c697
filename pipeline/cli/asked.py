"""The database that a command asks: the home's or a bundle's; where a bundle came without, one of its entries."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pipeline.cli.app import settings
from pipeline.cli.output import complain
from pipeline.cli.places import bundle_at
from pipeline.records import kept
from pipeline.records.errors import ConfigError, StoreError


def database(home: Path | None, bundle: str | None, *, with_reports: bool = False) -> Path:
    """Where the database is; one that had to be made is kept in the reader's cache, by the id of the bundle.

    That holds the entries and what stands in the index: no documents, no events and no signatures; a question
    `with_reports` is about those.

    Raises:
        ConfigError: there is no folder where the bundle should be.
        ExportError: the bundle that it is to be made of cannot be read.
        StoreError: there is none, and the question is about reports.
    """
    chosen = settings(home)
    folder = bundle_at(bundle) if bundle else chosen.curated_path
    if bundle and not folder.is_dir():
        raise ConfigError(
            f"{bundle}: there is no such folder", hint="Give the folder of a bundle, or s3://bucket/prefix."
        )
    path = folder / chosen.database_path.name
    if path.is_file() or not (folder / kept.MANIFEST).is_file():
        return path if bundle else chosen.database_path
    if with_reports:
        raise StoreError(
            f"{bundle or folder} has no {path.name}, and how reports were grouped stands in it alone",
            path=path,
            hint="Ask in the home that made the bundle; `errmine build` there makes the database.",
        )
    from pipeline.api import Bundle
    from pipeline.store import SCHEMA_VERSION

    opened = Bundle(folder)
    made = _cache() / f"{opened.manifest.bundle_id}-{SCHEMA_VERSION}.duckdb"
    if not made.is_file():
        complain(f"{folder} has no database", hint=f"One of its entries is made, once: {made}")
        opened.make_database(made)
    return made


def _cache() -> Path:
    """The reader's own folder for what can be made again; a temporary one where that cannot be written to."""
    wanted = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "errmine"
    try:
        wanted.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="errmine-"))
    return wanted if os.access(wanted, os.W_OK) else Path(tempfile.mkdtemp(prefix="errmine-"))
