"""The gates of an error that is no known family: words that decide, and the exception type where the words do not."""

from __future__ import annotations

import re

from pipeline.normalise import peel
from pipeline.normalise.tables import wording

#: A message with fewer telling words than this does not identify an error without its exception type
#: (read on the corpus: "list index out of range" has four, "invalid syntax" two).
TELLING_WORDS = 4

#: How much of a message decides: hints at its end differ between versions.
DECIDING = 160

#: A first sentence with so many telling words says which error it is; what follows is advice that versions reword.
#: Read on the corpus: "Failed to find C compiler." has three, "An error occurred." two.
SENTENCE_WORDS = 3

_SENTENCE_END = re.compile(r"[.!?;](?=\s+[A-Z(<'\[*]|\s*\Z)")
#: A remark of three words or more in parentheses at the end; shorter ones hold values.
_ASIDE = re.compile(r"\s\((?:[A-Za-z][\w'-]{0,30}[ ,;]{1,2}){2,30}[^()]{0,80}\)\Z")
_TAIL = re.compile(r"\sname: \S|\s\(defined (?:at|in) |\s\[\[|\sfor '[^'\n]{1,200}' \(op: |\sin function '")
#: What was found instead of what was expected: any value, at the end.
_GOT = re.compile(r"(?:[,;]\s(?:but\s)?|\sbut\s)(?:instead\s)?(?:got|received|found)\b.{0,200}\Z")
_OPERATION = re.compile(r"\s\[Op:\w{1,80}\]")
#: Where advice begins inside a sentence: versions reword it.
_ADVICE = re.compile(
    r"[,;:.]?\s(?:[Pp]lease\b|[Tt]ry (?:to|again|with|using|\w{3,12}ing)\b|[Cc]onsider \w|[Mm]ake sure\b)"
)
MARKUP = ' .,:;!?*`"~_#'
_DUNDER = re.compile(r"(?<!\w)__\w+$")
SLOT = re.compile(r"<[a-z]{1,8}>")
_WORD = re.compile(r"[A-Za-z][A-Za-z']{2,}")
_ANY_WORD = re.compile(r"[A-Za-z][A-Za-z']*")


def unmarked(template: str) -> str:
    """`template` without the punctuation and emphasis at its end; "__exit__" is a name, not emphasis."""
    cut = template.rstrip(MARKUP)
    return f"{cut}__" if _DUNDER.search(cut) and template.startswith("__", len(cut)) else cut


def is_telling(template: str) -> bool:
    """Whether the words alone, without the exception type, say which error it is."""
    return counted(template) >= TELLING_WORDS


def says_enough(template: str) -> bool:
    """Whether the words are as many as a first sentence needs."""
    return counted(template) >= SENTENCE_WORDS


def counted(template: str) -> int:
    """How many words of three letters or more the template has outside its slots."""
    return len(_WORD.findall(SLOT.sub(" ", template)))


def negates(template: str) -> bool:
    """Whether a word of the template turns its meaning round."""
    words = {word.lower() for word in _ANY_WORD.findall(template)}
    return any(key == "polarity" and words & deciding for key, deciding in wording().words)


def first_sentence(template: str) -> str:
    """The template up to the end of its first sentence that says enough; all of it if none does."""
    for found in _SENTENCE_END.finditer(template):
        if says_enough(template[: found.start()]):
            template = template[: found.start()]
            break
    advice = _ADVICE.search(template)
    return template[: advice.start()] if advice is not None and is_telling(template[: advice.start()]) else template


def without_tail(template: str) -> str:
    """The template without remarks in parentheses, markup left by quoting, and TensorFlow's op and node, at its end."""
    template = _OPERATION.sub("", template)
    found = _TAIL.search(template)
    cut = template[: found.start()] if found is not None and is_telling(template[: found.start()]) else template
    got = _GOT.search(cut)
    if got is not None and is_telling(cut[: got.start()]) and not negates(got[0]):
        cut = cut[: got.start()]
    cut = unmarked(cut) or template
    aside = _ASIDE.search(cut)
    return cut[: aside.start()] if aside is not None and is_telling(cut[: aside.start()]) else cut


def gates(template: str, exception_type: str | None) -> tuple[tuple[str, str], ...]:
    """The sorted discriminators of a template of no known family."""
    words = {word.lower() for word in _ANY_WORD.findall(template[:DECIDING])}
    found: list[tuple[str, str]] = []
    for key, deciding in wording().words:
        here = sorted(words & deciding)
        if here:
            found.append((key, "negative" if key == "polarity" else ",".join(here)))
    name = peel.short(exception_type) if exception_type else ""
    if name and name not in wording().generic_types and not is_telling(template):
        found.append(("exception", name))
    return tuple(sorted(found))
