"""Months in an hour: `errmine serve`, scheduled every minute; the source grows and fails, processes are killed.

    python -m benchmarks.soak [--minutes 60] [--folder FOLDER]

A stand-in for GitHub gets new threads and replies every minute, and answers one request in ten with a fault. Every
fourth minute the process of one flow run is killed, at a random moment; every twentieth the server and all that it
started. At the end the source falls silent, one more round runs, and the home is compared with a fresh one that one
undisturbed `errmine run` makes from the same source: raw, bundle, tables (history, in `journal` and `meta`, differs).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.threads import Threads
from pipeline import raw, store
from pipeline.run import Places
from pipeline.run.home import recording
from tests.fake_github import TOKEN, Asked, FakeGithub, Fault

ROOT = Path(__file__).resolve().parent.parent
REPO = "errmine-fixtures/soak"
ERRMINE = [sys.executable, "-c", "from pipeline.cli import main; main()"]
BEGIN_WITH, NEW_A_MINUTE, REPLIES_A_MINUTE = 300, 20, 5
FAULTS = 0.10
KILL_RUN_EVERY, KILL_ALL_EVERY = 4, 20
MIB = 1 << 20


class Source:
    """The stand-in, which grows."""

    def __init__(self, fake: FakeGithub, seed: int) -> None:
        self.fake, self.rng = fake, random.Random(seed)
        self.threads = Threads(seed).take(10**9)
        self.count = 0

    def grow(self, count: int, replies: int = 0) -> None:
        """`count` new threads and `replies` to old ones, all dated now."""
        now = self.fake.now()
        lines = []
        for _ in range(count):
            self.count += 1
            line = next(self.threads)
            url = f"https://github.com/{REPO}/issues/{self.count}"
            moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            lines.append({**line, "repo": REPO, "number": self.count, "html_url": url, "updated_at": moment})
        self.fake.load(lines)
        for _ in range(replies):
            self.fake.comment(REPO, self.rng.randrange(1, self.count), "Upgrading tilelab to 2.3.1 fixed it for me.")

    def fault(self, _number: int, _asked: Asked) -> Fault | None:
        """One request in ten goes wrong."""
        if self.rng.random() >= FAULTS:
            return None
        kinds = (Fault("status"), Fault("cut"), Fault("drop"), Fault("secondary", status=429, retry_after="1"))
        return self.rng.choice(kinds)


class Served:
    """`errmine serve` and what it started."""

    def __init__(self, home: Path, port: int, env: Mapping[str, str], log: Path) -> None:
        self.home, self.port, self.env, self.log = home, port, env, log
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [*ERRMINE, "serve", "--home", str(self.home), "--port", str(self.port)]
        with self.log.open("ab") as output:
            return subprocess.Popen(
                command, env=self.env, cwd=ROOT, stdout=output, stderr=output, start_new_session=True
            )

    def runs(self) -> list[int]:
        """The processes of flow runs."""
        return [
            pid for pid, line in _descendants(self.process.pid) if "prefect.engine" in line or "flow_engine" in line
        ]

    def kill_all(self) -> None:
        """SIGKILL for every process, and a new start."""
        for pid, _ in [*_descendants(self.process.pid), (self.process.pid, "")]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process = self._start()

    def stop(self) -> int:
        """The exit status after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def memory(self) -> dict[str, int]:
        """Resident bytes of the server and of the process that starts the runs."""
        found = {"serve": _resident(self.process.pid), "server": 0}
        for pid, line in _descendants(self.process.pid):
            if "uvicorn" in line or "server start" in line:
                found["server"] = max(found["server"], _resident(pid))
        return found


def soak(minutes: int, folder: Path) -> Iterator[dict[str, Any]]:
    """A row a minute, and at last what came of it all."""
    rng = random.Random(5)
    with FakeGithub() as fake:
        fake.limit = 10**9
        source = Source(fake, seed=11)
        source.grow(BEGIN_WITH)
        fake.fault = source.fault
        home = folder / "home"
        env = _surroundings(fake)
        _settle(home, '"* * * * *"')
        served = Served(home, _free_port(), env, folder / "serve.log")
        kills: Counter[str] = Counter()
        begun = time.time()
        for minute in range(1, minutes + 1):
            _sleep_until(begun + 60 * minute - rng.uniform(1, 50))
            if minute % KILL_ALL_EVERY == 0:
                served.kill_all()
                kills["all"] += 1
            elif minute % KILL_RUN_EVERY == 0 and (running := served.runs()):
                with suppress(ProcessLookupError):
                    os.kill(rng.choice(running), signal.SIGKILL)
                    kills["run"] += 1
            _sleep_until(begun + 60 * minute)
            source.grow(NEW_A_MINUTE, REPLIES_A_MINUTE)
            memory = {name: round(size / MIB) for name, size in served.memory().items()}
            yield {"minute": minute, "threads": source.count, "memory_mib": memory, **_sizes(home)}
        fake.fault = lambda _number, _asked: None
        last = _wait_for_quiet(home)
        yield {"stopped_with": served.stop(), "kills": dict(kills), "quiet_after_seconds": round(last - begun)}
        yield _compared(home, folder / "clean", env)
        yield _on_time(home, begun, minutes)


def _wait_for_quiet(home: Path) -> float:
    """The time at which an export has followed an ingest that began after the last change of the source."""
    begun = datetime.now(UTC)
    while True:
        rows = [row for row in recording.rows(home) if row.status == "completed"]
        ingests = [row for row in rows if row.flow == "ingest-github" and row.started_at > begun]
        builds = [row for row in rows if row.flow == "build" and ingests and row.started_at > ingests[0].ended_at]
        exports = [row for row in rows if row.flow == "export" and builds and row.started_at > builds[0].ended_at]
        if exports:
            return time.time()
        if (datetime.now(UTC) - begun).total_seconds() > 900:
            raise TimeoutError("no ingest, build and export came through in a quarter of an hour")
        time.sleep(1)


def _compared(home: Path, clean: Path, env: Mapping[str, str]) -> dict[str, Any]:
    _settle(clean, '"0 0 1 1 *"')
    subprocess.run([*ERRMINE, "run", "--home", str(clean), "--quiet"], env=dict(env), cwd=ROOT, check=True)
    here, there = _content(home), _content(clean)
    tables, clean_tables = (store.digests(Places.of(place).database) for place in (home, clean))
    mine, theirs = _bundle(home), _bundle(clean)
    differing = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
    return {
        "raw_equal": here == there,
        "documents": len(here),
        "bundle_files": len(theirs),
        "bundle_differs_in": differing[:10],
        "entries_equal": not [name for name in differing if name.startswith("entries/")],
        "tables_that_differ": [name for name, found in tables.items() if found != clean_tables.get(name)],
    }


def _on_time(home: Path, begun: float, minutes: int) -> dict[str, Any]:
    """How many ticks of the schedule had their ingest, and how late these were."""
    rows = recording.rows(home)
    ticks = [60 * (int(begun) // 60 + number) for number in range(1, minutes + 1)]
    starts = sorted(row.started_at.timestamp() for row in rows if row.flow == "ingest-github")
    # Prefect starts a run up to a second before its minute
    late = [min((start - tick for start in starts if start > tick - 5), default=float("inf")) for tick in ticks]
    kept = sorted(seconds for seconds in late if seconds < 55)
    gaps = [round(after - before) for before, after in pairwise(starts)]
    return {
        "runs": dict(sorted(Counter(f"{row.flow} {row.status}" for row in rows).items())),
        "ticks": len(ticks),
        "ticks_with_a_run": len(kept),
        "late_seconds": {"median": round(kept[len(kept) // 2], 1), "most": round(kept[-1], 1)} if kept else None,
        "longest_gap_seconds": max(gaps, default=0),
    }


def _sizes(home: Path) -> dict[str, Any]:
    places = Places.of(home)
    parts = {
        "raw": places.raw,
        "shards": places.shards,
        "database": places.database,
        "prefect": home / ".errmine" / "prefect",
        "github": home / ".errmine" / "github",
    }
    sizes = {name: round(sum(map(_size, _files(path))) / MIB, 2) for name, path in parts.items()}
    return {"size_mib": sizes, "files": sum(1 for _ in _files(home)), "runs": len(recording.rows(home))}


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from (found for found in path.rglob("*") if found.is_file())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # it was replaced meanwhile
        return 0


def _content(home: Path) -> dict[tuple[str, str], str]:
    layer = raw.RawLayer(Places.of(home).raw)
    return {(refs.document_key, ref.part): ref.sha256 for refs in layer.documents() for ref in refs.refs}


def _bundle(home: Path) -> dict[str, str]:
    folder = Places.of(home).curated
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in _files(folder)
        if path.suffix != ".duckdb"
    }


def _settle(home: Path, cron: str) -> None:
    home.mkdir(parents=True)
    text = f"[[sources.github]]\nrepos = ['{REPO}']\noverlap_seconds = 60\n[schedule]\ningest = {cron}\n"
    (home / "errmine.toml").write_text(text, encoding="utf-8")


def _surroundings(fake: FakeGithub) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    return {**kept, "PYTHONPATH": str(ROOT), "GITHUB_API_URL": fake.url, "GITHUB_TOKEN": TOKEN}


def _descendants(pid: int) -> list[tuple[int, str]]:
    """The processes below `pid` with their command lines."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(folder.name))
    found, waiting = [], [pid]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            waiting.append(child)
            with suppress(OSError):
                found.append((child, Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()))
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.time()))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Print a JSON line a minute, and the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--folder", type=Path, help="Keep the homes here; else they are thrown away.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for row in soak(options.minutes, options.folder or Path(scratch)):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
