"""The software that a thread is about: what it is called there, and which versions and commands are its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from pipeline.distil import tables
from pipeline.records import Document, warm

_MARKS = warm.pattern(r"[-_.\s]")
#: What no everyday word has: a dash, a digit, a scope, a capital inside.
_LIKE_A_NAME = warm.pattern(r"[-_/@\d]|[a-z][A-Z]|\w\.\w")
#: A report of a tracker, as "FIXTURE-12".
_REPORT = warm.pattern(r"[A-Z][A-Z0-9]{1,14}-\d{1,6}")
_VERSION = warm.pattern(r"v?(?P<major>\d{1,4})\.(?P<minor>\d{1,5}|[x*])", re.IGNORECASE)
_ANY_VERSION = warm.pattern(rf"(?<![\w/.-])(?P<word>[A-Z][\w+-]{{2,30}})(?: [Vv]ersion:?)? {_VERSION.pattern}")
#: So much of a thread is looked at for the versions that it names.
_MOST_READ = 60_000
#: A release one behind or ahead of the own one is the project's still; 10.1 in a report of 1.4 is CUDA's.
_STEP = 1
_LEAST_NAME = 3


@dataclass(frozen=True, slots=True)
class Project:
    """A thread's own software, by its repository."""

    name: str  # as the table of products calls it, else the repository's own name
    short: str  # the repository's own name
    text: str  # of the thread

    def product(self, word: str, said: str) -> str | None:
        """What `word` of the sentence `said` is called as a product, None where it need not be one.

        It is if a table knows it, if it is the project's own name, if it is marked as code or written as only names
        are, or if the thread names a version of it in another place.
        """
        name = word.strip("`")
        low = name.lower()
        if (known := tables.products().get(low)) is not None:
            return known
        if low in _no_products() or len(name) < _LEAST_NAME or _REPORT.fullmatch(name):
            return None
        if self.is_called(name):
            return self.name
        if word != name or _LIKE_A_NAME.search(name):
            return name
        elsewhere = self.text[:_MOST_READ].replace(said, " ")
        versioned = rf"(?<![\w-]){re.escape(name)}(?:\"?: ?\"|[ =@v-]{{1,3}})[\^~]?\d"
        return name if re.search(versioned, elsewhere) else None

    def is_called(self, name: str) -> bool:
        """Whether `name` is the project's own, however its words are joined; no everyday word."""
        low = name.lower()
        return len(low) >= _LEAST_NAME and _plain(low) == _plain(self.short) and low not in _no_products()

    def has_version(self, version: str) -> bool:
        """Whether a version that stands without a name may be one of the project: by those that the thread names.

        Who reports to a project of which all know what it stands on (PyTorch) speaks of those versions too.
        """
        found = _VERSION.match(version)
        if found is None:
            return False
        major, others = int(found["major"]), self._of_others()
        own = self._own()
        if not own:
            is_hub = tables.products().get(self.short.lower()) is not None
            return not is_hub and major not in {one for one, _ in others | self._of_anything()}
        if (major, found["minor"]) in others - own:
            return False
        majors = {one for one, _ in own}
        is_near = min(abs(major - one) for one in majors) <= _STEP
        return major in majors or (is_near and major not in {one for one, _ in others})

    def is_command(self, program: str) -> bool:
        """Whether a program is the project's own, by its name: `till`, or `till-print` of the repository `till`."""
        own = re.escape(self.short.lower())
        return len(self.short) >= _LEAST_NAME and bool(re.fullmatch(rf"{own}(?:[-_.]\w[\w.-]*)?", program.lower()))

    def _own(self) -> set[tuple[int, str]]:
        names = {self.short.lower(), self.name.lower(), *self._spellings()}
        spelled = "|".join(re.escape(one) for one in sorted(names, key=lambda one: (-len(one), one)))
        pattern = rf"(?<![\w/-])(?:{spelled})(?:[^\w\n]{{1,6}}version)?[^\w\n.]{{1,6}}{_VERSION.pattern}"
        return {(int(m["major"]), m["minor"]) for m in re.finditer(pattern, self.text[:_MOST_READ], re.IGNORECASE)}

    def _spellings(self) -> set[str]:
        return {spelling for spelling, name in tables.products().items() if name == self.name}

    def _of_others(self) -> set[tuple[int, str]]:
        own = self._spellings() | {self.short.lower()}
        found = _others().finditer(self.text[:_MOST_READ])
        return {(int(m["major"]), m["minor"]) for m in found if m["product"].lower() not in own}

    def _of_anything(self) -> set[tuple[int, str]]:
        """The versions behind any word that may be a name, the project's own left out: "PHP Version 5.2"."""
        found = _ANY_VERSION.finditer(self.text[:_MOST_READ])
        return {
            (int(m["major"]), m["minor"])
            for m in found
            if m["word"].lower() not in _no_products() and _plain(m["word"]) != _plain(self.short)
        }


def project(document: Document) -> Project | None:
    """The project of a document's repository, None where none is known."""
    if not document.repo:
        return None
    short = document.repo.rpartition("/")[2]
    return Project(tables.products().get(short.lower(), short), short, document.text)


def _plain(name: str) -> str:
    return _MARKS.sub("", name.lower())


@cache
def _no_products() -> frozenset[str]:
    return frozenset(tables.table("actions.toml")["no_products"]["words"])


@cache
def _others() -> re.Pattern[str]:
    """Any known product with a version beside it."""
    names = tables.trie(sorted(tables.products()))
    return warm.pattern(
        rf"(?<![\w/.-])(?P<product>{names})(?:[^\w\n]{{1,6}}version)?[^\w\n.]{{1,6}}{_VERSION.pattern}", re.IGNORECASE
    )
