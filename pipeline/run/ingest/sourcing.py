"""What the settings name, brought into raw: files, and what providers fetch. Tokens come from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pipeline import raw
from pipeline.config import FILE_NAME, Settings
from pipeline.providers import PROVIDERS
from pipeline.providers.provider import Forecast, Job, Provider, Section, Source, Told
from pipeline.records.errors import ConfigError
from pipeline.records.summary import Fetched, Summary, joined_summary
from pipeline.run.ingest.importing import import_files

#: The files of the settings are a source too; its name.
FILES = "files"
#: How the keys of the sample's threads begin.
SAMPLE = "github.com/errmine-fixtures/"

#: The rows that fetch, each with its source.
_ROWS: tuple[tuple[Provider, Source], ...] = tuple((row, row.source) for row in PROVIDERS if row.source is not None)
_SOURCES: tuple[Source, ...] = tuple(source for _, source in _ROWS)
#: Every source that `errmine ingest` knows, in the order in which a run reads them.
SOURCES: tuple[str, ...] = (FILES, *dict.fromkeys(source.ingest for source in _SOURCES))


def _nobody(_name: str, _done: int, _line: str) -> None:
    """Told of what nobody wants to know."""


def sources_of(ingest: str) -> tuple[Source, ...]:
    """The providers' sources that one ingest reads."""
    return tuple(source for source in _SOURCES if source.ingest == ingest)


def schedule_of(ingest: str) -> str:
    """The key of `[schedule]` that starts an ingest."""
    return next((source.schedule for source in sources_of(ingest)), "ingest")


def has_anything(settings: Settings, ingest: str, said: Mapping[str, Any]) -> bool:
    """True if a source has something to read: in the settings, by what the command line says, or by default."""
    return bool(settings.sources.paths) if ingest == FILES else bool(_parts(settings, ingest, said))


def configured(settings: Settings) -> tuple[str, ...]:
    """The sources that have anything in the settings."""
    there = {source.ingest for source in _SOURCES if settings.sections(source)}
    if settings.sources.paths:
        there.add(FILES)
    return tuple(name for name in SOURCES if name in there)


def chosen(settings: Settings, names: Sequence[str]) -> tuple[str, ...]:
    """The sources in `names`, or else all that are configured.

    Raises:
        ConfigError: a name is of no source, or of one with nothing in the settings; or a path matches no file.
    """
    unknown = sorted(set(names) - set(SOURCES))
    if unknown:
        raise ConfigError(f"no source called {', '.join(unknown)}", hint=f"There are: {', '.join(SOURCES)}.")
    empty = sorted(set(names) - set(configured(settings)))
    if empty:
        where = settings.origin or "errmine.toml"
        raise ConfigError(f"{where}: nothing is configured for {', '.join(empty)}")
    wanted = tuple(name for name in SOURCES if name in names) if names else configured(settings)
    if FILES in wanted:
        settings.source_paths()
    return wanted


def is_for_sample(settings: Settings) -> bool:
    """Whether a run without sources is of the sample that comes with errmine: raw holds nothing, or the sample."""
    keys = (ref.document_key for ref in raw.RawLayer(settings.raw_path).refs())
    first = next(keys, None)
    return first is None or first.startswith(SAMPLE) or any(key.startswith(SAMPLE) for key in keys)


def check_home(settings: Settings) -> None:
    """Nothing, or an error where a run would end well with nothing.

    Raises:
        ConfigError: there is neither a source to read nor a page that was imported.
    """
    if not configured(settings) and not raw.RawLayer(settings.raw_path).refs():
        hint = f"Write {settings.home / FILE_NAME} with [sources], or bring something in with `errmine import`."
        raise ConfigError(f"{settings.home}: no source is configured and nothing was imported", hint=hint)


def bring(settings: Settings, ingest: str, *, said: Mapping[str, Any] | None = None, told: Told = _nobody) -> Fetched:
    """What came of one source: of what the settings name, as the command line (`said`, by field) changes it.

    Raises:
        ConfigError: `said` does not fit the source, or something that it names is not known.
    """
    if ingest == FILES:
        return Fetched(import_files(settings.raw_path, settings.source_paths()))
    parts = _parts(settings, ingest, said or {})
    fetched = [provider.fetch().bring(_job(settings, sections, told)) for provider, sections in parts]
    error = next((each.error for each in fetched if each.error is not None), None)
    outcomes = [outcome for each in fetched for outcome in each.outcomes]
    return Fetched(joined_summary(*(each.summary for each in fetched)) if fetched else Summary(), error, outcomes)


def foreseen(settings: Settings, ingest: str, *, said: Mapping[str, Any] | None = None) -> list[Forecast]:
    """What `bring` would cost, where anybody counts it; nothing is fetched."""
    parts = _parts(settings, ingest, said or {})
    asked = ((getattr(provider.fetch(), "foreseen", None), sections) for provider, sections in parts)
    return [foresee(_job(settings, sections, _nobody)) for foresee, sections in asked if foresee is not None]


def _parts(settings: Settings, ingest: str, said: Mapping[str, Any]) -> list[tuple[Provider, tuple[Section, ...]]]:
    """The providers of an ingest with the sections to read; what is asked for by name alone is read by default."""
    rows = [(provider, source) for provider, source in _ROWS if source.ingest == ingest]
    parts = [(provider, source.narrowed(settings.sections(source), said)) for provider, source in rows]
    if not said and not any(sections for _, sections in parts):
        parts = [(provider, source.default) for provider, source in rows]
    return [(provider, sections) for provider, sections in parts if sections]


def _job(settings: Settings, sections: tuple[Section, ...], told: Told) -> Job:
    return Job(
        sections=sections,
        raw=raw.RawLayer(settings.raw_path),
        state_path=settings.work_path,
        environ=os.environ,
        fetched_at=datetime.now(UTC),
        told=told,
    )
