"""What a live ingest costs: requests against the least possible, share of 304, time, memory.

    python benchmarks/ingest.py [--threads 5500] [--small 1000]

The stand-in of the tests serves threads of ../shared/corpus where it lies, made-up ones elsewhere; the ingest runs in a
process of its own, so that its memory is its own. Nothing leaves the machine. The stand-in answers in a millisecond and
GitHub in some 200, so the time shows what errmine adds, not what a run takes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus" / "issues.jsonl.gz"
REPOS = ("tensorflow/tensorflow", "opencv/opencv", "vllm-project/vllm", "ray-project/ray", "sgl-project/sglang")
sys.path.insert(0, str(ROOT))


def child(url: str, home: Path, repos: list[str]) -> None:
    """One ingest; prints its figures as JSON."""
    from pipeline import raw
    from pipeline.providers.github import fetch as github
    from pipeline.providers.github.fetch import repositories
    from tests.fake_github import TOKEN

    client = github.Client(TOKEN, api_url=url)
    began = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wanted = [github.Wanted(repo) for repo in repos]
    done = repositories.ingest(raw.RawLayer(home / "raw"), home / ".errmine" / "github", wanted, client=client)
    assert done.error is None, done.error
    assert all(outcome.is_complete for outcome in done.outcomes), done.outcomes
    figures = {
        **done.summary.figures,
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time(),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "start_mib": before / 1024,
    }
    print(json.dumps(figures))


def corpus(count: int) -> Iterator[dict[str, Any]]:
    """`count` different threads of the repositories that have most, so that listings are long."""
    if not CORPUS.is_file():
        return
    seen = set()
    with gzip.open(CORPUS, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            key = (row["repo"], row["number"])
            if row["repo"] in REPOS and row["html_url"] and key not in seen and len(seen) < count:
                seen.add(key)
                yield row


def least_requests(fake: Any) -> int:
    """What no client could do without: every page of every list that is not empty, once."""
    count = 0
    for repo in fake.repos.values():
        pulls = sum(thread.pull is not None for thread in repo.threads.values())
        count += 1 + pages(len(repo.threads)) + pages(len(repo.threads) - pulls) + pages(pulls)
        for thread in repo.threads.values():
            count += pages(len(thread.timeline)) + (pages(len(thread.comments)) if thread.comments else 0)
            if thread.pull is not None:
                count += 1 + bool(thread.reviews) + bool(thread.review_comments)
    return count


def pages(items: int) -> int:
    """Answers that a list of so many items takes."""
    return max(1, -(-items // 100))


def measured(name: str, fake: Any, home: Path) -> dict[str, Any]:
    """One ingest, and a line of the table."""
    before = len(fake.asked)
    repos = sorted(repo.name for repo in fake.repos.values())
    command = [sys.executable, __file__, "--child", fake.url, str(home), *repos]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    asked = len(fake.asked) - before
    rest = asked - figures["graphql_requests"]
    same = fake.statuses(before).get(304, 0) / max(1, rest)
    print(
        f"| {name} | {figures['threads']:,} | {rest:,} | {same:.0%} | {figures['graphql_requests']:,} "
        f"| {figures['seconds']:.1f} | {figures['cpu_seconds']:.1f} | {figures['peak_mib']:.0f} |",
        flush=True,
    )
    return {**figures, "asked": asked}


def filled(count: int) -> Any:
    """A stand-in with `count` threads."""
    from tests.fake_github import FakeGithub, small_world

    fake = FakeGithub(page_cap=10_000)
    fake.limit = 10_000_000
    if not fake.load(corpus(count)):
        small_world(fake, threads=count)
    return fake


def change(fake: Any, count: int) -> None:
    """Comments on `count` threads, references to some, some deleted, one transferred."""
    repo = max(fake.repos.values(), key=lambda one: len(one.threads))
    numbers = sorted(repo.threads)
    for number in numbers[:: max(1, len(numbers) // count)][:count]:
        fake.comment(repo.name, number, "The same with the next release")
    for number in numbers[3:13]:
        fake.cross_reference(repo.name, number, repo.threads[numbers[0]])
    for number in numbers[20:23]:
        repo.threads[number].fate = ("deleted", None)


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=5500)
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--child", nargs="+")
    arguments = parser.parse_args()
    if arguments.child:
        url, home, *repos = arguments.child
        child(url, Path(home), repos)
        return
    print("| run | threads brought | REST requests | of them 304 | GraphQL | seconds | CPU seconds | peak MiB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, filled(arguments.small) as fake:
        measured(f"full, {arguments.small:,}", fake, Path(folder))
    with tempfile.TemporaryDirectory() as folder, filled(arguments.threads) as fake:
        least = least_requests(fake)
        full = measured(f"full, {arguments.threads:,}", fake, Path(folder))
        measured("again, nothing changed", fake, Path(folder))
        measured("again, nothing changed", fake, Path(folder))
        change(fake, arguments.threads // 100)
        measured("1 % changed, 10 referred to, 3 deleted", fake, Path(folder))
        size = sum(path.stat().st_size for path in (Path(folder) / "raw").rglob("*") if path.is_file())
        print(
            f"\nleast possible for the full run: {least:,}; made: {full['asked']:,} ({full['asked'] / least:.3f} times)"
        )
        print(f"raw: {size / 2**20:.0f} MiB in {len(list((Path(folder) / 'raw' / 'segments').iterdir()))} segments")


if __name__ == "__main__":
    main()
