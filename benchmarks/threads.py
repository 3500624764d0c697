"""Seeded issue threads in the form that `errmine import` takes: prose, environments, tracebacks, replies.

    python -m benchmarks.threads 100000 /tmp/threads.jsonl.gz [--seed 1]

Every word is made up by `benchmarks.generator`; nothing is taken from a corpus. Shares were set to those of 22,694 real
threads: 5 kB and 0.6 errors a thread, and half of the errors occur only once, at any size. That half is pessimistic for
large N, where real errors repeat more and more.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.generator import Messages

#: Shares of threads: those with an error, of these such that nobody else has, with an environment, with a remedy.
WITH_ERROR, UNIQUE, WITH_ENVIRONMENT, WITH_REMEDY = 0.42, 0.5, 0.4, 0.3
#: A thread's further errors: most have none.
FURTHER = 0.25
BEGUN = datetime(2016, 1, 1, tzinfo=UTC)
MINUTES = 60 * 24 * 365 * 10
ROLES = ("NONE", "NONE", "NONE", "CONTRIBUTOR", "MEMBER", "COLLABORATOR", "OWNER")
REMEDIES = (
    "Upgrading {package} to {version} fixed it for me.",
    "Setting {variable}=1 works around this.",
    "Fixed by #{number}.",
    "I tried downgrading {package} to {version}, but it still fails.",
    "Passing `--{flag}` solved the problem.",
)


class Threads:
    """An endless stream of threads, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.messages = Messages(seed)
        self.repos = [f"{self._name()}/{self._name()}" for _ in range(300)]

    def take(self, count: int) -> Iterator[dict[str, Any]]:
        """The next `count` threads."""
        for number in range(1, count + 1):
            yield self._thread(number)

    def _thread(self, number: int) -> dict[str, Any]:
        rng = self.rng
        begun = BEGUN + timedelta(minutes=rng.randrange(MINUTES))
        errors = [self._error() for _ in range(self._errors())]
        body = [self._prose(rng.randrange(4, 20)), *errors[:1]]
        if rng.random() < WITH_ENVIRONMENT:
            body.append(self._environment())
        comments = [self._prose(rng.randrange(2, 12)) for _ in range(min(12, int(rng.expovariate(0.4))))] + errors[1:]
        if rng.random() < WITH_REMEDY:
            comments.append(self._remedy(number))
        repo = rng.choice(self.repos)
        return {
            "repo": repo,
            "number": number,
            "kind": "issue",
            "state": rng.choice(("open", "closed")),
            "title": self._sentence(rng.randrange(4, 10)),
            "body": "\n\n".join(body),
            "created_at": _stamp(begun),
            "updated_at": _stamp(begun + timedelta(hours=len(comments))),
            "closed_at": None,
            "labels": [],
            "comments": [
                {
                    "created_at": _stamp(begun + timedelta(hours=place)),
                    "author_association": rng.choice(ROLES),
                    "body": text,
                }
                for place, text in enumerate(comments)
            ],
            "html_url": f"https://github.com/{repo}/issues/{number}",
        }

    def _errors(self) -> int:
        rng, count = self.rng, 0
        if rng.random() < WITH_ERROR:
            count = 1
            while rng.random() < FURTHER:
                count += 1
        return count

    def _error(self) -> str:
        rng = self.rng
        if rng.random() < UNIQUE:
            message = self._sentence(rng.randrange(8, 25)).capitalize()
            message = f"{self._name().capitalize()}Error: {message}"
        else:
            _, message = next(self.messages.take(1))
        frames = "".join(
            f'  File "/opt/{self._name()}/{self._name()}.py", line {rng.randrange(2000)}, in {self._name()}\n'
            f"    return self.{self._name()}({self._name()})\n"
            for _ in range(rng.randrange(2, 14))
        )
        return f"```\nTraceback (most recent call last):\n{frames}{message}\n```"

    def _environment(self) -> str:
        rng = self.rng
        rows = [f"{self._name()}=={rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(9)}" for _ in range(20)]
        return "PyTorch version: 2.3.1\nCUDA used to build PyTorch: 12.1\nPython version: 3.11.7\n\n" + "\n".join(rows)

    def _remedy(self, number: int) -> str:
        rng = self.rng
        return rng.choice(REMEDIES).format(
            package=self._name(),
            version=f"{rng.randrange(1, 4)}.{rng.randrange(20)}.{rng.randrange(9)}",
            variable=f"{self._name()}_{self._name()}".upper(),
            flag=self._name(),
            number=max(1, number - rng.randrange(1000)),
        )

    def _prose(self, sentences: int) -> str:
        return " ".join(f"{self._sentence(self.rng.randrange(8, 22)).capitalize()}." for _ in range(sentences))

    def _sentence(self, words: int) -> str:
        return " ".join(self.rng.choices(self.messages.words, k=words))

    def _name(self) -> str:
        return self.rng.choice(self.messages.words)


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def write(path: Path, count: int, *, seed: int = 1, then: Path | None = None, more: int = 0) -> None:
    """Write `count` threads as JSON lines, packed; and into `then` so many `more`, those that come next."""
    stream = Threads(seed).take(count + more)
    for target, wanted in ((path, count), (then, more)):
        if target is not None:
            with gzip.open(target, "wt", encoding="utf-8", compresslevel=1) as output:
                output.writelines(json.dumps(thread) + "\n" for thread in islice(stream, wanted))


def main() -> None:
    """Write the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write(options.path, options.count, seed=options.seed)


if __name__ == "__main__":
    main()
