"""The errors that end a run. What concerns one item only is a value, :class:`pipeline.records.Skipped`.

::

    PipelineError               .hint() says what to do; the message says what went wrong, and where
      ConfigError               the settings or the arguments are wrong         exit 2
      SourceError(url)                                                          exit 3
        SourceUnreachable       try again later                     retried
        RateLimited             wait, then go on                    retried
        SourceChanged           the page is not what we can read    stop
      RawError(path)            a kept page is missing or is not its sha256     exit 3
      StoreError(path)          the file is locked, or of another version       exit 3
      ExportError(path)         the bundle cannot be written or read            exit 3
      LimitReached              more time, memory or room was wanted than may be had  exit 3
      StreamError               standard input or output is closed, or fails    exit 3
      HomeBusy(path)            another run is at work in the home              exit 3
      ClusterError(address)     the Dask cluster cannot do the work, or is lost exit 3
      CatalogueError(path)      a data file of the package is broken            exit 3
      DamageFound               `reconcile` found something wrong               exit 4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


class PipelineError(Exception):
    """The parent of all errors that a run raises on purpose."""

    exit_code = 3
    advice = "See the message; if it names a file, check that file."

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self._hint = hint

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """How an error crosses from a worker process: whole, also where its class asks for keywords."""
        return _restored, (type(self), self.args, self.__dict__)

    def hint(self) -> str:
        """What the reader can do now, in one sentence."""
        return self._hint or self.advice


class ConfigError(PipelineError):
    """The settings or the arguments are wrong."""

    exit_code = 2
    advice = "Correct the setting that the message names; `errmine init --print` lists them all."


class SourceError(PipelineError):
    """A source outside this machine failed; `url` says which."""

    def __init__(self, message: str, *, url: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.url = url


class SourceUnreachable(SourceError):
    """Nothing answered, or the answer broke off; trying later may help."""

    advice = "Check the network and run the same command again: what was fetched is kept."


class RateLimited(SourceError):
    """The source asked us to wait longer than this run is allowed to."""

    advice = "Run the same command again after the time named: it resumes where it stopped."

    def __init__(self, message: str, *, url: str, wait_seconds: float, hint: str | None = None) -> None:
        super().__init__(message, url=url, hint=hint)
        self.wait_seconds = wait_seconds


class SourceChanged(SourceError):
    """The page exists but is not built the way we can read."""

    advice = "The page is kept in raw; please report its URL, the reader needs a change."


class RawError(PipelineError):
    """A kept page is missing, or its bytes are not the ones that its sha256 names."""

    advice = "Restore the file from a backup, or delete it and import its source again."

    def __init__(self, message: str, *, path: Path, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class StoreError(PipelineError):
    """The DuckDB file is locked by another process, unreadable, or of another schema version."""

    advice = "Close the program that holds the file, or run `errmine build` to make it anew."

    def __init__(self, message: str, *, path: Path, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class ExportError(PipelineError):
    """The bundle cannot be written or read."""

    advice = "Check free space and rights of the folder, then run `errmine export` again."

    def __init__(self, message: str, *, path: Path, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


def unreadable(path: Path, reason: object) -> ExportError:
    """What is raised of a file of a bundle that is not what `errmine export` wrote."""
    hint = "Run `errmine export` to make the bundle anew, or fetch it again from where it came."
    return ExportError(f"cannot read {path}: {reason}", path=path, hint=hint)


class LimitReached(PipelineError):
    """What was asked for takes more time, memory or room than it may have."""

    advice = "Ask for less at a time, or raise the limit that the message names."


class StreamError(PipelineError):
    """Standard input cannot be read, or standard output cannot be written."""


class HomeBusy(PipelineError):
    """Another run is at work in the home; its lock is at `path`."""

    advice = "Wait until that run has ended, then run the command again."

    def __init__(self, message: str, *, path: Path, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class ClusterError(PipelineError):
    """The Dask cluster at `address` does not answer, cannot do the work, or was lost."""

    advice = "Start `dask scheduler` and `dask worker` as deploy/README.md says, then run the same command again."

    def __init__(self, message: str, *, address: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.address = address


class CatalogueError(PipelineError):
    """A data file that ships with the package is broken."""

    advice = "Reinstall errmine; if you edited the file, its place is in the message."

    def __init__(self, message: str, *, path: Path, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class DamageFound(PipelineError):
    """Something in a home is not as it was written; `errmine reconcile` names it."""

    exit_code = 4
    advice = "`errmine reconcile --repair` makes anew what can be; what it cannot, it names with what to do."

    @classmethod
    def of(cls, wrong: Sequence[Mapping[str, str]]) -> DamageFound:
        """The error that names the first of the rows "place", "problem", "cure", and says how many there are."""
        first = "; ".join(f"{row['place']}: {row['problem']}" for row in wrong[:3])
        return cls(f"{len(wrong):,} wrong: {first}" + (" …" if len(wrong) > 3 else ""))


def _restored(kind: type[PipelineError], args: tuple[Any, ...], state: dict[str, Any]) -> PipelineError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
