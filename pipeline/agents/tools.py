"""The questions that an agent asks. Each answer is bounded, says what it rests on, and abstains where nothing fits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field

from pipeline.agents import answers, shown
from pipeline.agents.library import Library
from pipeline.records.errors import ConfigError
from pipeline.text import clean, safe

if TYPE_CHECKING:
    from pipeline.api import Bundle
    from pipeline.ask import Digest, Finding

#: Characters of an error text, 25,000 to 50,000 tokens. Asked of 6,476 entries on a busy machine, 1,381 different
#: tracebacks in so many characters took 2.0 s, 6,000 errors with codes 3.3 s.
MOST_TEXT = 200_000
#: Characters of an answer as JSON: 10,000 to 15,000 tokens.
MOST_ANSWER = 40_000
#: Errors of a text that are told of; of the others the number.
MOST_ERRORS = 5
_MOST_ROWS = 10

Text = Annotated[
    str, Field(min_length=1, max_length=MOST_TEXT, description="An error message, a traceback, or the end of a log.")
]
Words = Annotated[str, Field(min_length=1, max_length=400, description="Words in English, Chinese or both.")]
Id = Annotated[
    str,
    Field(min_length=1, max_length=300, description='An entry ("triton/out-of-resources-threads") or a cluster\'s id.'),
]
Subject = Annotated[
    str, Field(min_length=1, max_length=300, description="An entry, cluster, signature or event, by its id.")
]
Other = Annotated[str, Field(max_length=300, description="A second one: why are the two one error, or not?")]
Domain = Annotated[str, Field(max_length=100, description='Only errors of this domain, such as "triton"; "": of all.')]
Limit = Annotated[int, Field(ge=1, le=20, description="Most rows.")]

Answer = TypeVar("Answer", bound=answers.Answer)


class Tools:
    """The questions, asked of a library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def match_error(self, text: Text) -> answers.Matched:
        """Find what is known about the errors in an error message, a traceback or a log.

        Every failure of the text is told once, the most telling first, each with its entry (cause, what helped, what
        did not, who said so and where) or with the reason why there is none. Give the whole output rather than a line:
        frames and codes tell errors apart. Of a long log give the end.
        """
        with self._library.bundle() as bundle:
            found = bundle.findings(text)
            first = found.findings[:MOST_ERRORS]
            told = [_digest(bundle, one.answer.entry_id) for one in first]
            lines = _lines(safe(text), first)
            known = sum(one is not None for one in told)
            reason = f"{known} of {len(first)} errors shown are known" if first else found.answer.reason

            def answer(measure: shown.Measure) -> answers.Matched:
                rows = zip(first, told, lines, strict=True)
                return answers.Matched(
                    abstained=not known,
                    reason=reason,
                    source=_source(bundle),
                    errors=[_found(one, digest, where, measure) for one, digest, where in rows],
                    more_errors=len(found.findings) - len(first),
                )

            return _fitting(answer, shown.MEASURES[1:])

    def search_errors(self, words: Words, limit: Limit = 5) -> answers.Searched:
        """Find entries by words, in English or Chinese, best first: a symptom, a code, a library, a flag.

        For an error text that you have use match_error, which is sure of what it says. Here the best hit may be about
        something else: `found` says which of the words it has.
        """
        with self._library.bundle() as bundle:
            hits = bundle.search(clean(words), limit=limit)
            told = [(hit, digest) for hit in hits if (digest := _digest(bundle, hit.entry_id)) is not None]

            def answer(measure: shown.Measure) -> answers.Searched:
                return answers.Searched(
                    abstained=not told,
                    reason="entries that share words with the question" if told else "no entry has any of the words",
                    source=_source(bundle),
                    hits=[
                        answers.Hit(
                            **shown.brief(digest, measure).model_dump(),
                            score=hit.score,
                            found=list(hit.found[:_MOST_ROWS]),
                        )
                        for hit, digest in told
                    ],
                )

            return _fitting(answer, shown.MEASURES[1:])

    def get_entry(self, entry_id: Id) -> answers.Got:
        """Read one entry: cause, what helped, what did not, who said so and where; versions and machines."""
        with self._library.bundle() as bundle:
            told = _digest(bundle, clean(entry_id))

            def answer(measure: shown.Measure) -> answers.Got:
                return answers.Got(
                    abstained=told is None,
                    reason=f"{told.document_count:,} documents"
                    if told
                    else f"there is no entry {shown.cut(clean(entry_id), 100)!r}: search_errors finds ids",
                    source=_source(bundle),
                    entry=shown.entry(told, measure) if told else None,
                    resource=f"errmine://entry/{told.entry_id}" if told else None,
                )

            return _fitting(answer, shown.MEASURES)

    def explain(self, subject: Subject, other: Other = "") -> answers.Explained:
        """Say why reports stand together as one error and why look-alikes do not, as it was decided and written down.

        With two ids: why they are one error, or why they are not.
        """
        with self._library.bundle() as bundle:
            if other:
                return _related(bundle, clean(subject), clean(other))
            found = bundle.explain(clean(subject))
            if found is None:
                reason = "nothing is called so: give an id of an answer"
                return answers.Explained(abstained=True, reason=reason, source=_source(bundle))
            told = _digest(bundle, found["entry_id"])

            def answer(measure: shown.Measure) -> answers.Explained:
                return _explained(found, told, _source(bundle), measure)

            return _fitting(answer, shown.MEASURES[1:])

    def unanswered(self, domain: Domain = "", limit: Limit = 10) -> answers.Unanswered:
        """List the errors to which nobody has an answer yet, the most reported first."""
        with self._library.bundle() as bundle:
            wanted = clean(domain)
            told = [bundle.digest(entry.id) for entry in bundle.top(domain=wanted, unanswered=True, limit=limit)]
            open_ones = {row.domain: row.entries - row.answered for row in bundle.manifest.answers}
            total = sum(count for name, count in open_ones.items() if wanted in ("", name))
            reason = f"{total:,} errors have no cause, remedy, fix or official text"
            if wanted and wanted not in open_ones:
                reason = f"there is no such domain; there are {', '.join(sorted(open_ones))}"

            def answer(measure: shown.Measure) -> answers.Unanswered:
                return answers.Unanswered(
                    abstained=not told,
                    reason=shown.cut(reason, 1000),
                    source=_source(bundle),
                    errors=[shown.brief(digest, measure) for digest in told if digest],
                    more_errors=max(0, total - len(told)),
                )

            return _fitting(answer, shown.MEASURES[1:])

    # resources

    def entry(self, domain: str, slug: str) -> str:
        """An entry as published: everything, as JSON."""
        with self._library.bundle() as bundle:
            found = bundle.entry(f"{clean(domain)}/{clean(slug)}")
            if found is None:
                raise ConfigError("there is no entry of this id", hint="search_errors finds ids.")
            return found.model_dump_json(indent=1)

    def manifest(self) -> str:
        """What the bundle holds: versions, counts by domain, coverage in Chinese; without the list of its files."""
        with self._library.bundle() as bundle:
            return json.dumps(bundle.manifest.model_dump(mode="json", exclude={"files"}), ensure_ascii=False, indent=1)

    def schema(self, name: str) -> str:
        """A JSON Schema of a file of the bundle: "entry-1.0", "index-1.0", "manifest-1.0", ..."""
        with self._library.bundle() as bundle:
            found = bundle.schemas()
            if name not in found:
                raise ConfigError("there is no schema of this name", hint=f"There are {', '.join(sorted(found))}.")
            return found[name]

    def llms(self) -> str:
        """What to know of the bundle before anything of it is read: its files, its domains, how to take its words."""
        with self._library.bundle() as bundle:
            return bundle.llms()


def _fitting(make: Callable[[shown.Measure], Answer], measures: Iterable[shown.Measure]) -> Answer:
    """The widest answer whose JSON is no longer than `MOST_ANSWER`; the narrowest if none is."""
    answer = None
    for measure in measures:
        answer = make(measure)
        if len(answer.model_dump_json()) <= MOST_ANSWER:
            break
    assert answer is not None
    return answer


def _source(bundle: Bundle) -> answers.Source:
    told = bundle.manifest
    return answers.Source(bundle_id=told.bundle_id, entries=told.counts.get("entries", 0), generator=told.generator)


def _digest(bundle: Bundle, entry_id: str | None) -> Digest | None:
    return bundle.digest(entry_id) if entry_id else None


def _lines(text: str, findings: Iterable[Finding]) -> list[str]:
    """Where a text, made safe, shows each failure first."""
    spans = [one.spans[0] for one in findings]
    return [
        f"{1 + text.count(chr(10), 0, start)}-{1 + text.count(chr(10), 0, max(start, end - 1))}" for start, end in spans
    ]


def _found(one: Finding, told: Digest | None, lines: str, measure: shown.Measure) -> answers.Found:
    return answers.Found(
        status=one.status,
        signature=shown.cut(one.answer.signature, measure.characters),
        lines=lines,
        count=one.count,
        is_consequence=one.is_consequence,
        followed_by=[shown.cut(text, 200) for text in one.followed_by[: measure.threads]],
        score=round(one.answer.score, 1),
        reason=shown.cut(one.answer.reason, measure.characters),
        documentation=shown.documented(one.documentation, measure),
        nearest=None if told else one.answer.runner_up,
        entry=shown.entry(told, measure, is_matched=True) if told else None,
    )


def _explained(
    found: dict[str, Any], told: Digest | None, source: answers.Source, measure: shown.Measure
) -> answers.Explained:
    most = 2 * measure.threads
    return answers.Explained(
        abstained=False,
        reason=shown.cut(found["text"], measure.characters),
        source=source,
        entry_id=found["entry_id"],
        cluster_id=found["cluster_id"],
        tier=told.tier if told else None,
        gate={shown.cut(name, 100): shown.cut(value, 200) for name, value in list(found["gate"].items())[:most]},
        documents=found["document_count"],
        occurrences=found["event_count"],
        together=[
            answers.Template(
                text=shown.cut(row["text"], measure.characters),
                occurrences=row["event_count"],
                rule=row["rule"],
                score=round(row["score"], 1),
                why=shown.cut(row["explanation"] or "", measure.characters),
            )
            for row in found["templates"][:most]
        ],
        apart=[
            answers.Apart(
                entry_id=row["entry_id"],
                text=shown.cut(row["text"], measure.characters),
                score=round(row["score"], 1),
                why=shown.cut(row["reason"], measure.characters),
            )
            for row in found["apart"][:most]
        ],
        evidence=[_occurrence(row, measure) for row in found["events"][:most]],
    )


def _related(bundle: Bundle, one: str, other: str) -> answers.Explained:
    from pipeline.ask.comparing import relation

    found = relation(bundle.database, one, other)
    if isinstance(found, str):
        reason = f"nothing is called {shown.cut(found, 300)}"
        return answers.Explained(abstained=True, reason=reason, source=_source(bundle))
    sides = [bundle.explain(side.cluster_id or "") for side in (found.one, found.other)]
    return answers.Explained(
        abstained=False,
        reason=shown.cut("; ".join(found.reasons), shown.WIDE.characters),
        source=_source(bundle),
        entry_id=found.one.entry_id,
        cluster_id=found.one.cluster_id,
        is_one_error=found.is_together,
        other_entry_id=found.other.entry_id,
        evidence=[
            _occurrence(row, shown.NARROW) for side in sides if side for row in side["events"][: shown.NARROW.threads]
        ],
    )


def _occurrence(row: dict[str, Any], measure: shown.Measure) -> answers.Occurrence:
    return answers.Occurrence(
        url=shown.cut(row["url"] or "", 300),
        posted_at=row["posted_at"].isoformat() if row["posted_at"] else None,
        quote=shown.cut(row["quote"] or "", measure.characters),
    )
