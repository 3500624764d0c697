"""How far a claim reaches: which statements of one thread may stand in an entry that others will read as theirs.

Threads share a cluster because programs printed the same words. Where the words are specific, what helped one thread
helps the next. Where they are not ("list index out of range"), threads of unrelated projects meet by chance: there an
entry keeps only what is tied to the error, and the rest is a case: said of one project and the place that raises it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from pipeline.distil import tables
from pipeline.distil.drafts.support import is_by_model
from pipeline.distil.material import DocumentFacts, Occurrence
from pipeline.lexicon import vocabulary
from pipeline.records import MAINTAINER_ROLES, Claim, ClaimKind, Cluster
from pipeline.records.draft import Withheld

#: From so many unrelated repositories on, a cluster that none of them dominates is nobody's own error. Read on the
#: corpus: of the clusters with claims and three repositories about four in five are errors of the caller's code.
_MANY_HOMES = 3
#: An act that threads of so many unrelated projects name has to do with the error, whatever its words are.
_RISING = 3
#: A repository with more than this share of the documents owns the error: the others use its software.
_OWNED = 2 / 3
#: Documents that show frames agree where at least this share of them ends in the same function.
_AGREEING = 1 / 2
#: From so many documents on, a change that closed one of them did not close the others.
_MANY_REPORTS = 3
_UNKNOWN = "?"
#: Hints whose words any program prints for its own reason ("pip install ..."): one project's, like its users' words.
_ANY_PROGRAMS = "hint.generic."

#: Discriminators that a statement can name, so that it speaks of this error whatever program prints it.
_NAMED = frozenset({"module", "library"})
_QUANTITIES = frozenset(
    {
        "remedy.increase_quantity",
        "remedy.decrease_quantity",
        "remedy.increase_quantity_to",
        "remedy.decrease_quantity_to",
    }
)
#: Discriminators that tell what failed, so that a fix for one report is a fix for all of them.
_TELLING = frozenset({"module", "library", "symbol", "op", "assertion", "resource", "space", "tool"})
#: Categories in which less of a quantity is the remedy by nature, whatever program runs out.
_SCARCE = frozenset({"out_of_memory", "resource_limit"})


@dataclass(frozen=True, slots=True)
class _Rule:
    rule_id: str
    homes: int
    kinds: frozenset[str]
    pattern: re.Pattern[str]


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(row["id"], row["homes"], frozenset(row["kinds"]), re.compile("|".join(row["patterns"]), re.IGNORECASE))
        for row in tables.table("generic.toml")["rule"]
    )


class Place(NamedTuple):
    """Where a thread meets the error: its project and what raises it there."""

    repo: str
    frame: str | None  # "module:function", None if no frames are shown
    document: str | None  # without a frame nothing ties a thread to the project's others: it stands for itself


@dataclass(frozen=True, slots=True)
class Local:
    """The claims of one place, and the threads of the cluster that show the error there."""

    place: Place
    library: str | None  # the package that most of its threads show
    documents: tuple[str, ...]
    claims: tuple[Claim, ...]


class Sorted(NamedTuple):
    """The claims of a cluster by how far they reach."""

    general: list[Claim]  # that speak of the error
    local: tuple[Local, ...]  # that speak of it in one place
    withheld: tuple[Withheld, ...]


class Reach:
    """What may be said of one cluster, from what its documents show."""

    def __init__(
        self,
        cluster: Cluster,
        occurrences: Sequence[Occurrence],
        documents: Mapping[str, DocumentFacts],
        *,
        domain: str,
        category: str,
    ) -> None:
        self._cluster = cluster
        self._domain = domain
        self._category = category
        self._named = frozenset(_names(cluster))
        self._repos = {name: facts.repo or _UNKNOWN for name, facts in documents.items()}
        self._frames: dict[str, str] = {}
        self._libraries: dict[str, str] = {}
        self._document_count = len({o.document_id for o in occurrences})
        generic = tables.table("generic.toml")
        modules, functions = frozenset(generic["plumbing"]), frozenset(generic["plumbing_functions"])
        for occurrence in occurrences:
            module, _, function = occurrence.frame.partition(":")
            if occurrence.frame and module not in modules and function not in functions:
                self._frames.setdefault(occurrence.document_id, occurrence.frame)
            if occurrence.package:
                self._libraries.setdefault(occurrence.document_id, occurrence.package)
        self._packages = frozenset(name.lower() for name in self._libraries.values())
        shown = {o.document_id for o in occurrences}
        self._shown: dict[Place, list[str]] = defaultdict(list)
        for name in sorted(shown):
            self._shown[self._place(name)].append(name)
        self._met: dict[str, set[Place]] = defaultdict(set)
        for occurrence in occurrences:
            self._met[occurrence.signature_id].add(self._place(occurrence.document_id))
        self._homes = _homes(self._repos.get(name, _UNKNOWN) for name in shown)
        count = Counter(self._homes[self._repos.get(name, _UNKNOWN)] for name in shown)
        is_owned = max(count.values(), default=0) > _OWNED * len(shown)
        self._home_count = 1 if is_owned else len(count)
        self.reason = self._generic(occurrences, is_one_place=self._agrees(shown))

    def _generic(self, occurrences: Sequence[Occurrence], *, is_one_place: bool) -> str:
        """Why the cluster's words fit any program, "" if they do not."""
        kind = dict(self._cluster.gate).get("kind", "")
        named = self._cluster.exception_type
        words = f"{named}: {self._cluster.text}" if named else self._cluster.text
        for rule in _rules():
            if rule.homes > 1 and (is_one_place or self._home_count < rule.homes):
                continue
            # a family of its own says more than words do, unless the words name nothing whoever prints them
            if kind in rule.kinds or ((not kind or rule.homes == 1) and rule.pattern.search(words)):
                return rule.rule_id
        if 2 * sum(o.rule == "occurrence.wrapper" for o in occurrences) > len(occurrences):
            return "outer_error"
        return "many_projects" if self._home_count >= _MANY_HOMES and not is_one_place else ""

    def _agrees(self, shown: set[str]) -> bool:
        """True if most documents show frames and most of those end in the same function."""
        frames = Counter(self._frames[name] for name in shown if name in self._frames)
        most = max(frames.values(), default=0)
        return bool(frames) and frames.total() >= _AGREEING * len(shown) and most >= _AGREEING * frames.total()

    def sorted_out(self, claims: Sequence[Claim], contested: frozenset[str] = frozenset()) -> Sorted:
        """The claims that speak of the error, those of one place each, and those kept aside with the reason.

        `contested`: failures, by `claim_id`, that are not counted alone (`remedies.contested`).
        """
        shared = self._shared_keys(claims)
        confirmed = _confirmed_keys(one for one in claims if one.claim_id not in contested)
        most = _most_documents(claims)
        general: list[Claim] = []
        local: dict[Place, list[Claim]] = defaultdict(list)
        aside: list[Withheld] = []
        for claim in claims:
            untried = "contested" if claim.claim_id in contested else _unconfirmed(claim, confirmed)
            reason = self._reason(claim, shared) or _one_report(self._cluster, claim, most, self._document_count)
            # what programs print for any reason ("pip install ...") may be of another of their messages
            is_local = claim.kind.is_statement and not untried and not claim.rule.startswith(_ANY_PROGRAMS)
            place = self._place_of(claim) if reason and is_local else None
            if place is not None:
                local[place].append(claim)
            elif reason or untried:
                aside.append(self._withheld(claim, reason or untried))
            else:
                general.append(claim)
        cases = []
        for place, said in local.items():
            kept = self._local(place, said)
            aside += [self._withheld(claim, "fix_of_one_report") for claim in said if claim not in kept.claims]
            cases += [kept] if kept.claims else []
        return Sorted(general, tuple(cases), tuple(sorted(aside, key=lambda w: w.claim_id)))

    def with_others(self, cases: Sequence[Local], claims: Sequence[Claim]) -> tuple[Local, ...]:
        """The cases, and those of further claims, each where its thread meets the error; no project, no case."""
        found = {case.place: list(case.claims) for case in cases}
        for claim in claims:
            place = self._place_of(claim)
            if place is not None:
                found.setdefault(place, []).append(claim)
        return tuple(self._local(place, said) for place, said in found.items())

    def has_lead(self, claim: Claim, kind: str) -> bool:
        """Whether what a trained reader found would, as a statement of its kind, speak of the error in every report."""
        if kind != "fix":
            return not self.reason or self._is_tied(claim)
        is_told = _tells_what(self._cluster)
        is_of_few = self._home_count < _MANY_HOMES and (is_told or self._document_count < _MANY_REPORTS)
        return not self.reason and is_of_few

    def _local(self, place: Place, claims: Sequence[Claim]) -> Local:
        """The case of a place: a change that closed one of its many reports is no answer to the others either."""
        documents = self._shown.get(place, [])
        most = _most_documents(claims)
        kept = tuple(c for c in claims if not _one_report(self._cluster, c, most, len(documents)))
        libraries = Counter(self._libraries[name] for name in documents if name in self._libraries)
        library = min(libraries, key=lambda name: (-libraries[name], name), default=None)
        return Local(place, library, tuple(documents), kept)

    def _place_of(self, claim: Claim) -> Place | None:
        """Where the claim's thread meets the error; of a pull request, where the reports that it may have closed do, if
        that is one place. None where no project is known.
        """
        places = {self._place(claim.quote.document_id)}
        repo = self._repos.get(claim.quote.document_id, _UNKNOWN)
        if not places <= self._shown.keys():
            places = {place for one in claim.signature_ids for place in self._met[one] if place.repo == repo}
        return min(places) if len(places) == 1 and repo != _UNKNOWN else None

    def _place(self, document: str) -> Place:
        frame = self._frames.get(document)
        return Place(self._repos.get(document, _UNKNOWN), frame, None if frame else document)

    def _withheld(self, claim: Claim, reason: str) -> Withheld:
        document = claim.quote.document_id
        repo = self._repos.get(document, _UNKNOWN)
        known = None if repo == _UNKNOWN else repo
        return Withheld(claim.claim_id, document, known, self._frames.get(document), reason)

    def _shared_keys(self, claims: Sequence[Claim]) -> frozenset[str]:
        """Acts that threads of so many unrelated projects name that they have to do with the error."""
        homes: dict[str, set[str]] = defaultdict(set)
        for claim in claims:
            if claim.key and claim.kind == ClaimKind.REMEDY and not is_by_model(claim.rule):
                homes[claim.key].add(self._repos.get(claim.quote.document_id, _UNKNOWN))
        return frozenset(key for key, repos in homes.items() if len(set(_homes(repos).values())) >= _RISING)

    def _reason(self, claim: Claim, shared: frozenset[str]) -> str:
        is_statement = claim.kind.is_statement or claim.rule == "version.introduced"
        if claim.rule.startswith(_ANY_PROGRAMS) and not self._is_tied(claim):
            return self.reason or "unconfirmed"
        is_own_hint = claim.rule.startswith("hint.")
        if not is_statement or is_own_hint or (claim.kind == ClaimKind.REMEDY and claim.key in shared):
            return ""
        if claim.kind == ClaimKind.FIX:
            is_of_one = self._home_count >= _MANY_HOMES or (self._home_count > 1 and not self._raises(_changed(claim)))
            return self.reason or ("fix_of_one_project" if is_of_one else "")
        if self._is_tied(claim):
            return ""
        # what was wrong in one program is not why all others print it, also where one library raises it for them
        is_of_many = self._home_count > 1 and self._document_count >= _MANY_REPORTS
        return self.reason or ("cause_of_one_report" if claim.kind == ClaimKind.CAUSE and is_of_many else "")

    def _raises(self, repo: str) -> bool:
        """Whether the project of a change raises the error for all reporters; "" is a product called by its name."""
        package = repo.lower().rpartition("/")[2].replace("-", "_")
        return not repo or package in self._packages or vocabulary.is_repository_of(repo, self._domain)

    def _is_tied(self, claim: Claim) -> bool:
        """True if the statement names what the error names, or is about the quantity that ran out."""
        said = claim.quote.text.lower()
        if any(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", said) for name in self._named):
            return True
        return self._category in _SCARCE and claim.fact is not None and claim.fact.template in _QUANTITIES


def _changed(claim: Claim) -> str:
    """The repository of the change or release that a claim names, "" where it names none."""
    said = dict(claim.fact.slots) if claim.fact is not None else {}
    return said.get("repo") or re.split("[#@]", said.get("pr", ""), maxsplit=1)[0]


def _most_documents(claims: Iterable[Claim]) -> dict[str, int]:
    documents: dict[str, set[str]] = defaultdict(set)
    for claim in claims:
        documents[claim.key].add(claim.quote.document_id)
    return {key: len(names) for key, names in documents.items()}


def _tells_what(cluster: Cluster) -> bool:
    """Whether its gate tells what failed; of places a function does, a package or a project has many functions."""
    return any(key in _TELLING or (key == "place" and ":" in value) for key, value in cluster.gate)


def _one_report(cluster: Cluster, claim: Claim, naming: Mapping[str, int], reports: int) -> str:
    """The reason for a change that few of many reports name, where nothing says that they are one."""
    if claim.kind != ClaimKind.FIX or reports < _MANY_REPORTS:
        return ""
    is_told = _tells_what(cluster)
    return "" if is_told or 2 * naming[claim.key] >= reports else "fix_of_one_report"


def _confirmed_keys(claims: Iterable[Claim]) -> frozenset[str]:
    """Acts of which somebody says what became of them, or that people name in several threads."""
    documents: dict[str, set[str]] = defaultdict(set)
    tried: set[str] = set()
    for claim in claims:
        if claim.key and claim.kind == ClaimKind.REMEDY:
            documents[claim.key].add(claim.quote.document_id)
            if claim.outcome is not None:
                tried.add(claim.key)
    return frozenset(tried | {key for key, names in documents.items() if len(names) > 1})


def _unconfirmed(claim: Claim, confirmed: frozenset[str]) -> str:
    """The reason for advice that nobody tried: read against their threads, every second piece of it was about another
    error, a step to reproduce, or taken back. Who maintains the project knows what they advise.
    """
    is_advice = claim.kind == ClaimKind.REMEDY and claim.outcome is None and not claim.rule.startswith("hint.")
    is_known = claim.key in confirmed or claim.quote.author_role in MAINTAINER_ROLES or is_by_model(claim.rule)
    return "unconfirmed" if is_advice and not is_known else ""


def _names(cluster: Cluster) -> Iterator[str]:
    """What the error names that is no everyday word: a module, a library, the module of a missing attribute."""
    for key, value in cluster.gate:
        owner, dot, _ = value.partition(".")
        if key in _NAMED:
            yield value.lower()
        elif key == "symbol" and dot and owner.islower():
            yield owner


def _homes(repos: Iterable[str]) -> dict[str, str]:
    """Repository -> its home: repositories of one owner or of one name are related (moved, forked, sister projects)."""
    found: dict[str, str] = {}
    for name in sorted(set(repos)):
        owner, _, short = name.lower().partition("/")
        mates = [
            other
            for other in found
            if other.lower().partition("/")[0] == owner or (short and other.lower().partition("/")[2] == short)
        ]
        found[name] = found[mates[0]] if mates else name
        for mate in mates[1:]:
            old = found[mate]
            found.update({other: found[name] for other, home in found.items() if home == old})
    return found
