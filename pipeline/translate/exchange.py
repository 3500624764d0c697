"""What is missing in Chinese, as a PO file for people who translate, and what comes back of it, line by line.

An error message goes out as its template: what comes back holds for every message that differs in its values alone. A
line that comes back passes the gates that every Chinese value passes, or is refused with the reason. What is accepted
becomes the Chinese of that text (`remembered.Accepted`) in the next build of the home.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polib

from pipeline.lexicon import advice, gates, glossary
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ConfigError
from pipeline.text import counted, is_clean
from pipeline.translate import meaning, rendering
from pipeline.translate.remembered import PLACE, SIGNATURE, STATEMENT, refusals, template

#: A file of more is no file that people translated.
MOST_BYTES = 32 << 20
_KINDS = {
    "signature": "an error message: say what it says, with every place {1}, {2}, ... of it; its type is put in front",
    "root_cause": "why the error comes, in somebody's words",
    "workarounds": "what somebody did against it",
    "dead_ends": "what did not help",
    "cases": "what one project says of it",
}
_HEADER = {
    "Project-Id-Version": "errmine",
    "Language": "zh_Hans",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",
}


@dataclass(frozen=True, slots=True)
class Missing:
    """A text without Chinese. `reports` are the documents of all entries that have it."""

    context: str  # SIGNATURE or STATEMENT
    kind: str  # field of the entry
    text: str
    reports: int
    signature: str  # of the entry that is reported most
    url: str
    values: tuple[str, ...]  # of a signature: what its places hold in the entry that is reported most
    seen: str  # of a signature: how somebody saw it
    documents: tuple[str, ...]  # the documents that say it

    @property
    def key(self) -> tuple[str, str]:
        """What a line of a PO file is known by."""
        return self.context, self.text


def missing(entries: Iterable[KnowledgeEntry], *, also_known: bool = False) -> list[Missing]:
    """The English texts without Chinese, the most reported first; with `also_known` those that have it too."""
    found: dict[tuple[str, str], Missing] = {}
    for entry in sorted(entries, key=lambda one: (-one.evidence_count, one.id)):
        for one in _texts(entry, also_known=also_known):
            found[one.key] = _joined(found[one.key], one) if one.key in found else one
    return sorted(found.values(), key=lambda one: (-one.reports, one.context, one.text))


def _joined(first: Missing, more: Missing) -> Missing:
    documents = tuple(dict.fromkeys((*first.documents, *more.documents)))
    return replace(first, reports=first.reports + more.reports, documents=documents)


@dataclass(frozen=True, slots=True)
class _Place:
    """A text of an entry, and where its Chinese would stand."""

    field: str
    kind: str
    text: str
    cited: Sequence[str]  # ids of evidence
    reports: int


def _places(entry: KnowledgeEntry) -> Iterable[_Place]:
    count = entry.evidence_count
    shown = [piece.evidence_id for piece in entry.evidence if piece.role == "occurrence"]
    yield _Place("signature_zh", "signature", entry.signature, shown, count)
    if entry.root_cause:
        yield _Place("root_cause_zh", "root_cause", entry.root_cause, entry.root_cause_evidence, count)
    for n, way in enumerate(entry.workarounds):
        yield _Place(f"workarounds_zh[{n}]", "workarounds", way.action, way.evidence, count)
    for n, end in enumerate(entry.dead_ends):
        yield _Place(f"dead_ends_zh[{n}]", "dead_ends", end.action, end.evidence, count)
    stated = [(len(case.documents), one) for case in entry.cases for one in case.statements]
    for n, (documents, one) in enumerate(stated):  # of a case its own project's threads count
        yield _Place(f"cases_zh[{n}]", "cases", one.text, one.evidence, documents)


def _texts(entry: KnowledgeEntry, *, also_known: bool) -> Iterable[Missing]:
    pieces = {piece.evidence_id: piece for piece in entry.evidence}
    for place in _places(entry):
        made = entry.translations.get(place.field)
        if made is None or made.source_lang != "en" or not (also_known or made.status == "untranslated"):
            continue
        of = [pieces[name] for name in place.cited if name in pieces]
        is_signature = place.kind == "signature"
        found = template(meaning.worded(place.text, entry.exception_type)) if is_signature else None
        if is_signature and (found is None or not PLACE.sub("", found.text).strip(" .:,()[]")):
            continue  # names and numbers alone
        yield Missing(
            context=SIGNATURE if is_signature else STATEMENT,
            kind=place.kind,
            text=found.text if found else place.text,
            reports=place.reports,
            signature=entry.signature,
            url=of[0].url if of else "",
            values=found.values if found else (),
            seen=of[0].quote if is_signature and of else "",
            documents=tuple(dict.fromkeys(piece.document_id for piece in of)),
        )


def written(rows: Sequence[Missing]) -> str:
    """The rows as a PO file; equal rows give equal bytes."""
    file = polib.POFile(wrapwidth=100)
    file.metadata = dict(_HEADER)
    for row in rows:
        file.append(polib.POEntry(msgctxt=row.context, msgid=row.text, msgstr="", comment="\n".join(_told(row))))
    return f"{file}".rstrip("\n") + "\n"


def _told(row: Missing) -> Iterable[str]:
    yield f"{_KINDS[row.kind]}; {counted(row.reports, 'report')}"
    yield f"error: {_short(row.signature)}"
    if row.seen:
        yield f"seen: {_short(row.seen)}"
    if row.url:
        yield f"where: {row.url}"
    if row.values:
        yield f"places: {'; '.join(f'{{{n}}} = {value}' for n, value in enumerate(row.values, 1))}"
    names = [*gates.protected(row.text)] if row.context == STATEMENT else []
    if names:
        yield f"keep: {', '.join(dict.fromkeys(names))}"
    known = [term for term in glossary.found_in(row.text) if not term.chinese.isascii()]
    terms = [
        f"{term.english} = {'/'.join(term.renderings())}" for term in known
    ]  # which of them is a matter of the field
    if terms:
        yield f"terms: {'; '.join(terms)}"


def _short(text: str) -> str:
    return " ".join(text.split())[:300]


# ---------------------------------------------------------------- what comes back


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file that came back, and what became of it: accepted if `reason` is ""."""

    number: int
    context: str
    text: str
    chinese: str
    reason: str
    documents: tuple[str, ...] = ()


def judged(path: Path, known: Mapping[tuple[str, str], Missing] | None = None) -> list[Line]:
    """Every line of a PO file that has Chinese; `known` are the texts of the home, None where there is no home.

    Raises:
        ConfigError: it is no PO file.
    """
    before: dict[tuple[str, str], Line] = {}
    lines: list[Line] = []
    parsed = _parsed(path)
    text = path.read_text(encoding="utf-8").splitlines()
    for entry in parsed:
        chinese = rendering.polish(entry.msgstr.strip())
        if entry.obsolete or not chinese:
            continue
        name = (entry.msgctxt or STATEMENT, entry.msgid)
        row = known.get(name) if known is not None else None
        reason = UNKNOWN if known is not None and row is None else _refusal(entry, name, chinese)
        if not reason and name in before and before[name].chinese != chinese:
            reason = f"line {before[name].number} has another Chinese for it"
        line = Line(_message_line(text, entry.linenum), *name, chinese, reason, row.documents if row else ())
        before.setdefault(name, line)
        lines.append(line)
    return lines


def _message_line(lines: Sequence[str], start: int) -> int:
    """Where the message of an entry begins: polib counts from its first comment."""
    return next((n for n, line in enumerate(lines[start - 1 :], start) if line.startswith("msg")), start)


def _parsed(path: Path) -> Any:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ConfigError(f"{path}: more than {MOST_BYTES >> 20} MiB", hint="No people translated that much.")
        return polib.pofile(str(path), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        told = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        hint = "Give a PO file as `errmine translate export` writes it, in UTF-8."
        raise ConfigError(f"{path}: cannot be read as a PO file: {told}", hint=hint) from error


def _refusal(entry: Any, name: tuple[str, str], chinese: str) -> str:
    """Why the line is not taken, "" if it is."""
    if entry.fuzzy:
        return FUZZY
    if not is_clean(chinese):
        return "it has characters that nobody can see"
    if (refusal := advice.refusal(chinese)) is not None:
        return f"it is never passed on: {refusal.detail or refusal.reason}"
    context, text = name
    said = refusals(SIGNATURE, text, chinese) if context == SIGNATURE else gates.check(text, chinese)
    failed = sorted(name for name, passed in said.items() if not passed)
    return f"it fails {', '.join(_GATES.get(name, name) for name in failed)}" if failed else ""


#: Why a line is not taken that nobody of the home says, or that its writer is not sure of.
UNKNOWN = "no entry of this home says that: export again"
FUZZY = "it is marked fuzzy: remove the mark once somebody has read it"
#: What a gate asks, in a translator's words.
_GATES = {
    "places": "places (it has not the same {1}, {2}, ... as the English)",
    "script": "script (it is not Chinese)",
    "english_run": "english_run (English is left over)",
    "numbers": "numbers (one is missing or was made up)",
    "identifiers": "identifiers (a name is missing, changed or made up)",
    "length": "length (it is cut off or says much more)",
    "glossary": "glossary (a term is not rendered as the comment says)",
    "polarity": "polarity (a negation was lost or put in)",
    "repetition": "repetition (it repeats itself)",
    "simplified": "simplified (it has traditional characters)",
    "punctuation": "punctuation (a half-width mark stands between Han characters)",
    "specific": "specific (it takes up no name, number or term of the text)",
}
