"""Where a home keeps what; who only asks for a path imports nothing of what makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.run.build import registry


@dataclass(frozen=True, slots=True)
class Places:
    """Where a home keeps what."""

    home: Path
    raw: Path
    shards: Path
    curated: Path
    database: Path

    @classmethod
    def of(cls, home: Path) -> Places:
        """The places of `home`."""
        curated = home / "curated"
        return cls(home, home / "raw", home / ".errmine" / "shards", curated, curated / "errmine.duckdb")

    @property
    def registry(self) -> registry.Kept:
        """Where the ids that were published are kept."""
        from pipeline.run.build import registry  # noqa: PLC0415  (see the module)

        copy, forgotten = self.shards.parent / "published.json", self.raw / "forgotten"
        return registry.Kept(self.curated, copy, self.database, self.is_gone, forgotten)

    @property
    def current(self) -> Path:
        """Tells of the last build that a command or a schedule made, and of a schedule's last export."""
        return self.shards.parent / "current.json"

    @property
    def passed(self) -> Path:
        """Tells of the lines that passed the gate of advice."""
        return self.shards.parent / "passed.json"

    @property
    def spare(self) -> Path:
        """The bundle before the last: the files of the next one stand there, but for those that change."""
        return self.shards.parent / "bundle"

    @property
    def seen_leaves(self) -> Path:
        """Tells of the files of the bundle that were whole when an export last read them."""
        return self.shards.parent / "leaves.json"

    @property
    def state(self) -> Path:
        """What the last build made of each cluster."""
        return self.shards.parent / "state"

    @property
    def planned(self) -> Path:
        """What the last build was to read."""
        return self.state / "plan"

    @property
    def work(self) -> Path:
        """Room for what is too much for the memory of a build, as long as it runs."""
        return self.shards.parent / "work"

    @property
    def seen(self) -> Path:
        """Tells of the files that were whole when they were last read."""
        return self.shards.parent / "seen.json"

    @property
    def held(self) -> Path:
        """Tells what of raw the last build was made of."""
        return self.state / "held.json"

    @property
    def plan(self) -> Path:
        """What tasks on other machines are to read, as long as they run."""
        return self.shards.parent / "plan"

    @property
    def is_gone(self) -> Callable[[str], bool] | None:
        """True of ids that went with a forgotten thread; None where nothing was ever forgotten."""
        from pipeline.run.home import forgetting  # noqa: PLC0415  (see the module)

        return forgetting.gone(self.raw) if (self.raw / "forgotten").is_dir() else None
