"""Killed at any moment, or served badly: raw ends as if nothing had happened, and not everything is asked for again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_github import Asked, FakeGithub, Fault, small_world
from tests.github_home import REPO, Place
from tests.rings import quick_alone

# ERRMINE_KILLS=50 is the large form; six points are enough to see a gap in a page, a batch, GraphQL or the end.
KILLS = int(os.environ.get("ERRMINE_KILLS", "6"))
ROOT = Path(__file__).parents[1]
THREADS = 130


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeGithub]:
    with FakeGithub() as made:
        small_world(made, threads=THREADS)
        made.limit = 10**9
        yield made


@pytest.fixture(scope="module")
def undisturbed(fake: FakeGithub, tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, int]:
    place = Place(tmp_path_factory.mktemp("undisturbed"), fake)
    before = len(fake.asked)
    assert place.ingest().outcomes[0].is_complete
    return place, len(fake.asked) - before


def start(fake: FakeGithub, place: Place) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.ingest_child", fake.url, str(place.folder), REPO]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)


def kill_at(fake: FakeGithub, place: Place, count: int, pause_seconds: float) -> None:
    """An ingest that is killed while, or shortly after, its request of that number is answered."""
    first = len(fake.asked)
    child = start(fake, place)

    def kill(number: int, _asked: Asked) -> None:
        if number - first == count:
            time.sleep(pause_seconds)
            os.kill(child.pid, signal.SIGKILL)

    fake.after = kill
    try:
        _, errors = child.communicate(timeout=60)
    finally:
        fake.after = lambda _n, _a: None
    assert child.returncode in (-signal.SIGKILL, 0), errors.decode()


@pytest.mark.parametrize("number", quick_alone(range(KILLS), [1]))
def test_a_killed_ingest_resumes_without_a_gap_and_without_a_restart(
    tmp_path: Path, fake: FakeGithub, undisturbed: tuple[Place, int], number: int
) -> None:
    whole, requests = undisturbed
    chance = random.Random(number)
    place = Place(tmp_path, fake)
    spread = requests // KILLS
    kill_at(fake, place, number * spread + chance.randint(1, spread), chance.random() * 0.03)
    kept = len(place.layer.documents())
    before = len(fake.asked)
    assert place.ingest().outcomes[0].is_complete
    assert place.content() == whole.content()
    assert place.layer.check() > 0
    assert sum("/timeline" in path for path in fake.paths(before)) <= THREADS - kept + 8  # long lists: several pages


@pytest.mark.long
def test_killed_again_and_again_it_still_arrives(
    tmp_path: Path, fake: FakeGithub, undisturbed: tuple[Place, int]
) -> None:
    place = Place(tmp_path, fake)
    for count in (150, 170, 3):
        kill_at(fake, place, count, 0.0)
    assert place.ingest().outcomes[0].is_complete
    assert place.content() == undisturbed[0].content()


@pytest.mark.long
def test_ctrl_c_ends_it_resumably(tmp_path: Path, fake: FakeGithub, undisturbed: tuple[Place, int]) -> None:
    place = Place(tmp_path, fake)
    first = len(fake.asked)
    child = start(fake, place)
    fake.after = lambda number, _a: os.kill(child.pid, signal.SIGINT) if number - first == 200 else None
    try:
        child.communicate(timeout=60)
    finally:
        fake.after = lambda _n, _a: None
    assert child.returncode != 0
    assert len(place.layer.documents()) >= 50
    assert place.ingest().outcomes[0].is_complete
    assert place.content() == undisturbed[0].content()


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_faults_on_a_fifth_of_all_requests_change_nothing(
    tmp_path: Path, fake: FakeGithub, undisturbed: tuple[Place, int], seed: int
) -> None:
    place, chance = Place(tmp_path, fake), random.Random(seed)
    kinds = ("drop", "status", "cut", "secondary", "html", "garbage")
    fake.fault = lambda _n, _a: Fault(chance.choice(kinds), status=502) if chance.random() < 0.2 else None
    try:
        runs = 0
        while runs < 39:
            runs += 1
            if place.ingest(governor={"max_wait_seconds": 1e9}).outcomes[0].is_complete:
                break
    finally:
        fake.fault = lambda _n, _a: None
    assert runs < 39
    assert place.content() == undisturbed[0].content()
    assert place.texts() == undisturbed[0].texts()
