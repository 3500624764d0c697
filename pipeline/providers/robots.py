"""What a site's robots.txt lets us fetch, as RFC 9309 reads it: longest match wins, allow wins a tie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# RFC 9309 asks for at least 500 KiB; rules beyond that are not read.
MAX_BYTES = 512 * 1024
# A pattern with more wildcards than this is no rule that a site would write.
MAX_WILDCARDS = 20


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one group: (pattern, whether it allows), and the delay that the site asks for."""

    patterns: tuple[tuple[str, bool], ...] = ()
    delay_seconds: float = 0.0

    def allows(self, path: str) -> bool:
        """Whether `path`, with its query, may be fetched."""
        matching = [(len(pattern), allowed) for pattern, allowed in self.patterns if _matches(pattern, path)]
        return max(matching, default=(0, True))[1]


ALLOW_ALL = Rules()
DISALLOW_ALL = Rules((("/", False),))


def rules(text: str, agent: str) -> Rules:
    """The rules of `text` for `agent`: those of all groups that name it, else those of the groups for everybody."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for names, lines in _groups(text):
        for name in names:
            groups.setdefault(name, []).extend(lines)
    own = next((name for name in sorted(groups) if name != "*" and name == agent.lower()), "*")
    lines = groups.get(own, [])
    patterns = tuple((value, key == "allow") for key, value in lines if key in ("allow", "disallow") and value)
    return Rules(patterns, max((_seconds(value) for key, value in lines if key == "crawl-delay"), default=0.0))


def _groups(text: str) -> Iterator[tuple[list[str], list[tuple[str, str]]]]:
    names: list[str] = []
    lines: list[tuple[str, str]] = []
    for line in text[:MAX_BYTES].splitlines():
        key, colon, value = line.split("#", 1)[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            if lines:
                yield names, lines
                names, lines = [], []
            names.append(value.split("/", 1)[0].lower())
        elif names and key in ("allow", "disallow", "crawl-delay"):
            lines.append((key, value))
    yield names, lines


def _matches(pattern: str, path: str) -> bool:
    """Whether a pattern with `*` and a final `$` matches the beginning of `path`."""
    is_end = pattern.endswith("$")
    parts = pattern.removesuffix("$").split("*")
    if len(parts) > MAX_WILDCARDS or not path.startswith(parts[0]):
        return False
    position = len(parts[0])
    for part in parts[1:]:
        position = path.find(part, position)
        if position < 0:
            return False
        position += len(part)
    if not is_end or position == len(path):
        return True
    return len(parts) > 1 and path.endswith(parts[-1])


def _seconds(value: str) -> float:
    try:
        return min(max(float(value), 0.0), 60.0)
    except ValueError:
        return 0.0
