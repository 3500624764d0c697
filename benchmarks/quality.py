"""How right extraction and grouping are on every labelled file, beside floors, baselines and what others ship.

    python -m benchmarks.quality [--families] [--wrong] [--pairs]

Drain3 and boltons come from the package index (`pip install drain3 boltons`; no dependencies of errmine); without
them their rows are left out. The internal corpus is scored where it lies beside the checkout.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from importlib.util import find_spec

from rapidfuzz import fuzz

from benchmarks import scores, truth
from benchmarks.internal import CORPUS, ISSUES
from benchmarks.truth import Item, Shown
from pipeline import extract
from pipeline.ask import group_texts
from pipeline.records import Event

_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")
#: The baseline that projects start from: masked texts, token_set_ratio, single link.
NAIVE_CUTOFF = 90

Method = Callable[[Sequence[str]], list[Hashable]]


def errmine(texts: Sequence[str]) -> list[Hashable]:
    """The groups that errmine makes of whole texts."""
    return [label.cluster_id for label in group_texts(texts)]


def singletons(texts: Sequence[str]) -> list[Hashable]:
    """Every text alone: the floor."""
    return list(range(len(texts)))


def naive(texts: Sequence[str]) -> list[Hashable]:
    """Numbers masked, token_set_ratio, single link."""
    masked = [_NUMBERS.sub("0", text)[:2000] for text in texts]
    group = list(range(len(texts)))
    for later in range(len(texts)):
        for earlier in range(later):
            if group[later] != group[earlier] and fuzz.token_set_ratio(
                masked[later], masked[earlier], score_cutoff=NAIVE_CUTOFF
            ):
                old, new = group[later], group[earlier]
                group = [new if one == old else one for one in group]
    return list(group)


def drain3(texts: Sequence[str]) -> list[Hashable]:
    """Drain3 with its defaults."""
    from benchmarks.grouping import _miner

    miner = _miner()
    return [miner.add_log_message(" ".join(text.split()))["cluster_id"] for text in texts]


def methods() -> dict[str, Method]:
    """The methods that can run here, by name."""
    found: dict[str, Method] = {"errmine": errmine, "naive (mask, token_set >= 90)": naive}
    found["all singletons"] = singletons
    return found | ({"Drain3": drain3} if find_spec("drain3") else {})


def grouping() -> list[tuple[str, list[Item], list[Hashable]]]:
    """Print the figures of every method on every labelled file; each file with errmine's groups."""
    print(f"| file | method | {scores.HEAD} |")
    print("|---|---|---|---|---|---|---|---|---|")
    kept = []
    for name, items in truth.message_sets():
        for method, grouped in methods().items():
            keys = grouped([item.text for item in items])
            print(f"| {name} | {method} | {scores.score(items, keys).cells()} |", flush=True)
            if method == "errmine":
                kept.append((name, items, keys))
    if not CORPUS.is_dir():
        print("\nskipped: the labelled files of ../shared/corpus are not here")
    return kept


def families(kept: Sequence[tuple[str, list[Item], list[Hashable]]]) -> None:
    """Print errmine's figures for each family of every file."""
    print(f"\n| file | family | texts | labels | {scores.HEAD} |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for name, items, keys in kept:
        rows: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            rows[item.family].append(place)
        for family, places in sorted(rows.items()):
            own = [items[place] for place in places]
            found = scores.score(own, [keys[place] for place in places])
            print(f"| {name} | {family} | {len(own)} | {len({item.label for item in own})} | {found.cells()} |")


def wrong(kept: Sequence[tuple[str, list[Item], list[Hashable]]]) -> None:
    """Print what errmine still gets wrong."""
    print("\nStill wrong:")
    for name, items, keys in kept:
        for line in scores.confusions(items, keys):
            print(f"- {name}: {line}")


def _own_parse(text: str) -> tuple[str | None, str, int] | None:
    found = [event for event in extract.events(text) if event.severity != "warning"]
    return _read(found[-1]) if found else None


def _read(event: Event) -> tuple[str | None, str, int]:
    return event.exception_type, event.message, len(event.frames)


def _boltons_parse(text: str) -> tuple[str | None, str, int] | None:
    from boltons.tbutils import ParsedException

    try:
        parsed = ParsedException.from_string(text)
    except ValueError:
        return None
    return parsed.exc_type, (parsed.exc_msg or "").split("\n", 1)[0], len(parsed.frames)


def tracebacks() -> None:
    """Print how many tracebacks of our cases each parser reads right: type, message, frame count of the last one."""
    shown = truth.tracebacks()
    parsers = {"errmine": _own_parse} | ({"boltons": _boltons_parse} if find_spec("boltons") else {})
    print(f"\n| parser, {len(shown)} tracebacks of tests/cases | type | message | frames | all three |")
    print("|---|---|---|---|---|")
    for name, parse in parsers.items():
        right = [_right(one, parse(one.text)) for one in shown]
        cells = " | ".join(str(sum(one[place] for one in right)) for place in range(3))
        print(f"| {name} | {cells} | {sum(all(one) for one in right)} |")
    if "boltons" not in parsers:
        print("\nskipped: boltons is not installed")


def _right(shown: Shown, read: tuple[str | None, str, int] | None) -> tuple[bool, bool, bool]:
    if read is None:
        return False, False, False
    return read[0] == shown.exception_type, read[1].strip() == shown.message, read[2] == shown.frame_count


def pairs() -> None:
    """Print how many threads that people called duplicates share a cluster (weak truth: few show the same text)."""
    from pipeline.providers import documents
    from pipeline.providers import files as archive
    from pipeline.records import Skipped

    wanted = {url for pair in truth.duplicates() for url in pair}
    if not wanted:
        print("\nskipped: duplicate_pairs.jsonl of ../shared/corpus is not here")
        return
    found: dict[str, set[Hashable]] = {}
    texts: list[tuple[str, str]] = []
    for page in archive.pages([ISSUES]):
        document = documents.document([page]) if not isinstance(page, Skipped) else page
        if not isinstance(document, Skipped) and document.url in wanted:
            texts += [(document.url, document.text[one.start : one.end]) for one in extract.events(document.text)]
    for (url, _), key in zip(texts, errmine([text for _, text in texts]), strict=True):
        found.setdefault(url, set()).add(key)
    both = [(one, other) for one, other in truth.duplicates() if one in found and other in found]
    joined = sum(not found[one].isdisjoint(found[other]) for one, other in both)
    print(f"\nDuplicates that people named: {len(both)} pairs show errors on both sides, {joined} share a cluster")


def quick() -> None:
    """Print the tables without the families and the pairs."""
    wrong(grouping())
    tracebacks()


def main() -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", action="store_true", help="figures by family")
    parser.add_argument("--wrong", action="store_true", help="what errmine still gets wrong")
    parser.add_argument("--pairs", action="store_true", help="threads that people called duplicates (reads the corpus)")
    options = parser.parse_args()
    kept = grouping()
    tracebacks()
    if options.families:
        families(kept)
    if options.wrong:
        wrong(kept)
    if options.pairs:
        pairs()


if __name__ == "__main__":
    main()
