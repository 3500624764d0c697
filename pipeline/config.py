"""Settings, read once at the edge: `errmine.toml`, then the environment, then what the command line says.

Secrets come from the environment only and are never part of :class:`Settings`, so that they cannot be printed with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationError, create_model, model_validator

from pipeline.config_problems import problem
from pipeline.packs import WITHOUT
from pipeline.providers import PROVIDERS
from pipeline.providers.provider import Section, Source
from pipeline.records import disk, toml_text
from pipeline.records.errors import ConfigError
from pipeline.records.toml_text import TomlError

FILE_NAME = "errmine.toml"


def _field(source: Source) -> tuple[Any, Any]:
    """The type of a source's key, and its default with its description."""
    if source.is_list:
        return list[source.section], Field(default=[], description=source.description)  # type: ignore[name-defined]
    return source.section | None, Field(default=None, description=source.description)


if TYPE_CHECKING:

    class Sources(Section):
        """`[sources]`; a provider's own keys are read by `Settings.sections`."""

        paths: list[str] = Field(default=[])
else:
    Sources = create_model(
        "Sources",
        __base__=Section,
        __doc__="`[sources]`: files and folders that `errmine run` imports, and a key for each provider that fetches.",
        paths=(
            list[str],
            Field(default=[], description="Files and folders; relative to the settings file; globs allowed."),
        ),
        **{row.source.key: _field(row.source) for row in PROVIDERS if row.source is not None},
    )


class Build(Section):
    """`[build]`: how the work is cut; nothing here changes a single byte of the result."""

    workers: Annotated[int, Field(strict=True, ge=1, le=256)] = Field(
        default_factory=lambda: min(8, os.cpu_count() or 1), description="Processes that read and extract."
    )
    partition_documents: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=500, description="Most documents a partition has; of a home that begins with 128,000 or more 4,000."
    )
    seconds: Annotated[float, Field(strict=True, ge=0.01, le=86_400)] = Field(
        default=60.0, description="Longest that one document may take; then it goes to quarantine."
    )
    memory_mib: Annotated[int, Field(strict=True, ge=512, le=1 << 30)] | None = Field(
        default=4096,
        description="Address space of a worker process in MiB; a document that needs more goes to quarantine.",
    )


class Grouping(Section):
    """`[grouping]`: what people decided about which errors are one."""

    overrides: Path | None = Field(
        default=None, description="Their file, relative to the settings file; absent: overrides.toml of the home."
    )


class Fields(Section):
    """`[fields]`: the packs that teach errmine a team's own tools, and those to do without; see docs/packs.md."""

    packs: list[str] = Field(
        default=[], description="Folders of packs, relative to the settings file; -NAME: without that which ships."
    )


class Publish(Section):
    """`[publish]`: which clusters become entries, and where they go."""

    min_documents: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=1, description="Least number of documents of an entry."
    )
    pages: bool = Field(
        default=False, description="Whether each entry has a file of its own also in a bundle of several leaves."
    )
    to: Annotated[str, Field(pattern=r"^((s3|gs|abfss?)://[^\s@]+)?$")] = Field(
        default="", description="Where every export puts the bundle too: an object store, as s3://bucket/prefix."
    )


#: The numbers that a cron line's fields may hold: minute, hour, day, month, weekday, and second if it is there.
_CRON_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7), (0, 59))
_CRON_FIELD = re.compile(
    r"(?:[*?,/#\d-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat|l)+", re.IGNORECASE
)
_CRON_ALIASES = frozenset({"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"})


def _cron(line: str) -> str:
    """`line`, if Prefect will understand it: said here, because it says so after its server has started, at length.

    Raises:
        ValueError: it has not five or six fields, or a number that its field cannot have.
    """
    fields = line.split()
    if line in _CRON_ALIASES:
        return line
    if len(fields) not in (5, 6):
        raise ValueError(f"{line!r} is no cron line: it has {len(fields)} fields where five are wanted")
    for (least, most), field in zip(_CRON_RANGES, fields, strict=False):
        numbers = re.findall(r"(?<![/#\d])\d+", field)  # neither steps, as */90, nor which weekday of a month, as 1#2
        if not _CRON_FIELD.fullmatch(field) or not all(least <= int(number) <= most for number in numbers):
            raise ValueError(f"{line!r} is no cron line: {field} is not within {least} to {most}")
    return line


Cron = Annotated[str, AfterValidator(_cron)]


class Schedule(Section):
    """`[schedule]`: when `errmine serve` starts what; cron, UTC. Build and export follow an ingest by themselves."""

    ingest: Cron = Field(default="17 * * * *", description="Files and repositories into raw.")
    docs: Cron = Field(default="7 4 * * *", description="Official pages into raw.")
    reconcile: Cron = Field(default="43 3 * * 0", description="Look for damage and drift.")
    wait_seconds: Annotated[float, Field(strict=True, ge=0)] = Field(
        default=3600.0, description="How long a run waits for another run in the same home."
    )


class Notify(Section):
    """`[notify]`: who hears of a failed run. A webhook's address is a secret: ERRMINE_NOTIFY_WEBHOOK holds it."""

    command: list[str] = Field(default=[], description="Program and arguments; gets JSON on its standard input.")


class _Budget(Section):
    """What the engines of a section may spend in one build; what was answered before costs nothing."""

    calls: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=1_000, description="Requests, tries included; 0 asks nobody and uses kept answers only."
    )
    tokens: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=1_000_000, description="As the server counts them."
    )
    seconds: Annotated[float, Field(strict=True, ge=0)] = Field(
        default=1_800.0, description="Waiting for answers, in all."
    )
    timeout_seconds: Annotated[float, Field(strict=True, ge=1)] = Field(
        default=120.0, description="Waiting for one answer."
    )


def _address(url: str) -> str:
    """`url`, if nothing in it could be a secret: an address stands in settings, a key never.

    Raises:
        ValueError: it is no http(s) address, or has a user name, a query or a fragment.
    """
    try:
        parts = urlsplit(url)
        is_plain = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_plain = False
    if not is_plain:
        raise ValueError("not an http(s) address")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address without user name, query or fragment; the key comes from the environment")
    return url


Address = Annotated[str, AfterValidator(_address)]


class LanguageModel(Section):
    """An OpenAI-compatible endpoint: llama.cpp, vLLM, Ollama, or hosted."""

    url: Address = Field(description='Up to the version, as "http://localhost:8080/v1".')
    model: str = Field(min_length=1, max_length=200, description="The model's name at the endpoint.")


class Enrich(_Budget):
    """`[enrich]`: a language model points at what answers an error in its thread. Its key is ERRMINE_ENRICH_KEY."""

    url: Address | None = Field(
        default=None,
        description='An OpenAI-compatible endpoint up to the version, as "http://localhost:8080/v1". '
        "Absent: only what `errmine enrich answers` brought, or was answered before, is used.",
    )
    model: str = Field(min_length=1, max_length=200, description="The model's name at the endpoint.")

    threads: Literal["unanswered", "all"] = Field(
        default="unanswered",
        description="Threads in which the rules found neither cause nor remedy, or all with an error.",
    )
    passes: Literal[1, 2] = Field(
        default=1,
        description="2: each thread is read once more, for what the first reading missed, at about the same cost.",
    )


class LibreTranslate(Section):
    """`[translate.libretranslate]`: a LibreTranslate server."""

    url: Address = Field(description='Its root, as "http://localhost:5000".')
    target: str = Field(default="zh-Hans", description="Its code for Simplified Chinese; older servers say zh.")


class CTranslate2(Section):
    """`[translate.ctranslate2]`: a model on disk; needs the extra `mt`."""

    folder: Path = Field(description="Holds model.bin, source.spm and target.spm; relative to the settings file.")
    target_prefix: str = Field(default=">>cmn_Hans<<", description="Token that chooses the language; may be empty.")


class Translate(_Budget):
    """`[translate]`: engines for Chinese where no template fits, asked in this order. Key: ERRMINE_TRANSLATE_KEY."""

    llm: LanguageModel | None = Field(default=None, description="`[translate.llm]`: url and model.")
    libretranslate: LibreTranslate | None = None
    ctranslate2: CTranslate2 | None = None

    @model_validator(mode="after")
    def _has_an_engine(self) -> Translate:
        if not (self.llm or self.libretranslate or self.ctranslate2):
            raise ValueError("no engine: add [translate.llm], [translate.libretranslate] or [translate.ctranslate2]")
        return self


class Settings(Section):
    """Everything that a person can set, with its default."""

    home: Path = Field(default=Path(), description="Folder of raw/ and curated/.")
    sources: Sources = Sources()
    build: Build = Build()
    grouping: Grouping = Grouping()
    fields: Fields = Fields()
    publish: Publish = Publish()
    schedule: Schedule = Schedule()
    notify: Notify = Notify()
    enrich: Enrich | None = Field(default=None, description="Absent: no language model reads anything.")
    translate: Translate | None = Field(default=None, description="Absent: no engine is asked for Chinese.")
    origin: Path | None = Field(default=None, description="The file that these settings were read from.")

    @property
    def raw_path(self) -> Path:
        """Folder of the raw layer."""
        return self.home / "raw"

    @property
    def curated_path(self) -> Path:
        """Folder of the bundle and of errmine.duckdb."""
        return self.home / "curated"

    @property
    def work_path(self) -> Path:
        """Folder of what can be made anew at any time: shards, locks, Prefect's own files; `answers_path` apart."""
        return self.home / ".errmine"

    @property
    def database_path(self) -> Path:
        """The DuckDB file."""
        return self.curated_path / "errmine.duckdb"

    @property
    def answers_path(self) -> Path:
        """Folder of what engines answered: the one thing in `.errmine` that a build cannot make anew by itself."""
        return self.work_path / "answers"

    @property
    def overrides_path(self) -> Path | None:
        """The file of overrides; None where none is named and the home has none."""
        if self.grouping.overrides is not None:
            return (self.origin.parent if self.origin else Path()) / self.grouping.overrides
        usual = self.home / "overrides.toml"
        return usual if usual.exists() else None

    @property
    def pack_folders(self) -> tuple[Path | str, ...]:
        """The folders of the packs that `[fields]` names, and as "-name" those that it leaves out."""
        root = self.origin.parent if self.origin else Path()
        return tuple(name if name.startswith(WITHOUT) else root / name for name in self.fields.packs)

    def sections(self, source: Source) -> tuple[Section, ...]:
        """What the settings say of a provider's source."""
        value = getattr(self.sources, source.key)
        if value is None:
            return ()
        return tuple(value) if source.is_list else (value,)

    def source_paths(self) -> list[Path]:
        """The files and folders of `[sources] paths`, sorted, globs resolved.

        Raises:
            ConfigError: a path or pattern matches nothing.
        """
        root = self.origin.parent if self.origin else Path()
        found: list[Path] = []
        for pattern in self.sources.paths:
            absolute = Path(pattern).is_absolute()
            base, relative = (Path("/"), pattern.lstrip("/")) if absolute else (root, pattern)
            matches = sorted(base.glob(relative)) if any(c in pattern for c in "*?[") else [base / relative]
            matches = [match for match in matches if match.exists()]
            if not matches:
                message = f"{self.origin or 'settings'}: [sources] paths: nothing there: {pattern}"
                raise ConfigError(message, hint="Correct the path; it is relative to the settings file.")
            found += matches
        return found


def read_settings(
    path: Path | None = None, *, home: Path | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """The settings in force: defaults, then the file, then ERRMINE_HOME, then `home`.

    `path` is the file to read; without it `errmine.toml` in the home (or here) is read if it exists.

    Raises:
        ConfigError: the file is missing, no TOML, or has an unknown or wrong key.
    """
    environ = os.environ if environ is None else environ
    wanted = home or (Path(environ["ERRMINE_HOME"]) if environ.get("ERRMINE_HOME") else None)
    origin = path or next((f for f in ((wanted or Path()) / FILE_NAME,) if f.exists()), None)
    text = _text(origin, pipes=path is not None) if origin else ""
    values = _table(origin, text) if origin else {}
    if wanted is not None:
        values["home"] = wanted
    elif "home" in values and origin is not None:
        values["home"] = origin.parent / str(values["home"])
    try:
        found = Settings.model_validate({**values, "origin": origin})
    except ValidationError as error:
        problems = "; ".join(problem(Settings, each, text) for each in error.errors())
        raise ConfigError(f"{origin or 'settings'}: {problems}") from error
    if why := disk.unfit(found.home):
        message = f"{found.home}: no home can be there: its path has {why}"
        raise ConfigError(message, hint="Take a folder of another name, or give this one another: --home FOLDER.")
    return found


def _table(path: Path, text: str) -> dict[str, object]:
    try:
        return toml_text.parsed(text)
    except TomlError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def _text(path: Path, *, pipes: bool) -> str:
    """The file's text; a pipe is waited for only where somebody named it: one in a home has no writer."""
    try:
        return disk.body(path, pipes=pipes).decode("utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such settings file", hint="Check the path given to --config.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
