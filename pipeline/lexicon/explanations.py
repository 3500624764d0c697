"""Gates of an explanation (`signature_zh`): it says what a message means, it does not follow its words.

So it may name more than the message and put it in another order. It may not leave out what the message is about, add
why it came or what to do, turn it round, or take two sentences for one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

from pipeline.lexicon import gates
from pipeline.lexicon.gates import Gate
from pipeline.records import warm

_WORDS = warm.table((files("pipeline") / "data" / "gate_words.toml").read_text(encoding="utf-8"))

#: What a compiler numbers in one program: "copy.289", "%tuple.64".
_INSTANCE = warm.pattern(r"%?[A-Za-z_][\w-]{0,60}\.\d{1,9}", re.ASCII)

#: The places of a signature. "<undefined>" and "<int>" are a program's own words.
_SLOT = warm.pattern(
    r"<(?:n|path|quoted|list|shape|hex|time|dtype|name|object|device|size|version|url|node|code|symbol|id|uuid|email|ip)>"
)
#: What stands before a message and says where it came from: places, stamps, numbers, codes, words such as "error".
_BEFORE = warm.pattern(
    r"(?:\[[^\]\n]{1,60}\]|[\w.$:=-]{0,20}<[a-z_]{1,20}>[\w.>:]{0,20}|[A-Za-z_][\w.$:]{0,120}(?:[Ee]rror|[Ee]xception|Met)\b"
    r"|(?i:at|in|error|fatal error|warning|failed|ERR)\b|\b[A-Z][A-Z_]{0,20}(?=[ :])"
    r"|[\s:;|,()\[\]=*.`\\_-]{1,20}){1,20}(?=[A-Za-z'\"!])"
)
#: What a message enumerates or measures behind its sentence: the versions there are, the figures of a check, addresses.
_ASIDE = warm.pattern(
    r"\((?:from versions|choose from)[^)\n]{0,4000}\)?|allowed=<list>|[(\[]<n> (?:vs\.?|[!=<>]{1,2}) <n>[)\]]"
    r"|\b(?:pc|bp|sp) <hex>|[(\[](?:<[a-z_]{1,20}>|[\s,:;.=-]){1,9}[)\]]\.?$"
    r"|(?:, )?'?<[a-z_]{1,20}>'?(?:, '?<[a-z_]{1,20}>'?){1,99}|: '<quoted>'$"
    r"| for '<quoted>' \(op: .{0,300}"
    r"|(?:\bin function|\bat|, file|, line) ['\"]?<[a-z_]{1,20}>['\"]?|\[Op:\S{1,60}|\[\[.{0,400}|<type |<dtype: "
)
#: A subject in front of what is said of it: no part of what stands before a message.
_SUBJECT = warm.pattern(r"<[a-z_]{1,20}> ?$")
_PREDICATE = warm.pattern(
    r"(?:not|is|are|was|were|must|should|has|have|does|do|did|can|could|cannot|will|needs?|requires?|contains?|already"
    r"|root|millis|bytes?|errors?|exceeds?|out of)\b"
)


#: The first sentence says what happened, the next ones how much memory is free and what to try.
_NEXT = warm.pattern(r"(?<=[a-z0-9)\]'\">])\. (?=[A-Z])|: (?=\[<dtype> <shape>\])")


def slots(source: str, zh: str) -> bool:
    """Whether the Chinese has the places of the message: none that it has not, of its first sentence none left out."""
    before = _BEFORE.match(source)
    is_subject = before and _SUBJECT.search(before[0]) and _PREDICATE.match(source, before.end())
    sentence = _NEXT.split(source[before.end() :] if before and not is_subject else source, maxsplit=1)[0]
    told, wanted = Counter(_SLOT.findall(zh)), Counter(_SLOT.findall(_ASIDE.sub(" ", sentence)))
    return not (wanted - told) and not (told - Counter(_SLOT.findall(source)))


_CLAIMS = [
    (warm.pattern("|".join(row["zh"])), warm.pattern("|".join(row["en"]), re.IGNORECASE)) for row in _WORDS["claims"]
]


def claims(source: str, zh: str) -> bool:
    """Whether the Chinese says no reason, doubt or advice of which the message has no word."""
    told = gates.PROTECTED.sub(" ", zh)
    return all(not chinese.search(told) or english.search(source) for chinese, english in _CLAIMS)


_SENSES = [(warm.pattern("|".join(row["en"]), re.IGNORECASE), tuple(row["zh"])) for row in _WORDS["senses"]]


def sense(source: str, zh: str) -> bool:
    """Whether no term stands there in the sense that it has in another field."""
    return not any(any(word in zh for word in chinese) and english.search(source) for english, chinese in _SENSES)


_DENIES = warm.pattern("|".join(_WORDS["negations_zh"]))
_SEPARATE = warm.pattern(r"(?<=[a-z])(?=[A-Z])|[_.]")
_DENIED = warm.pattern("|".join(_WORDS["denied_en"]), re.IGNORECASE)
#: What is said with such a verb is said outright; "KeyError: 'x'" and "Permission to x" are denied without one.
_OUTRIGHT = warm.pattern(r"\b(?:can|is|are|was|were|has|have|had|will|does|should)\b")


def negation(source: str, zh: str) -> bool:
    """Whether the Chinese denies nothing that the message says outright, and the message denies in no word or name."""
    if not _OUTRIGHT.search(gates.without_code(source)) or not _DENIES.search(gates.PROTECTED.sub(" ", zh)):
        return True
    return gates.polarity(source, zh) or bool(_DENIED.search(_SEPARATE.sub(" ", source)))


def glued(source: str, zh: str) -> bool:
    """Whether no end of one sentence and begin of the next stand in the Chinese as one name."""
    return gates.unglued(zh) == zh or gates.unglued(source) == source


_CALL = warm.pattern(r"(?P<name>\w\()(?P<values>[^()\n]{1,160})\)")
_LITERAL = warm.pattern(r"(?P<mark>['\"])[\w.:/-][\w .:/-]{0,58}[\w.:/-](?P=mark)")
#: Of a stack that runs on behind a message, what reads as words.
_OF_STACK = warm.pattern(r"--- End of\b|:line <n>")


def code(source: str, zh: str) -> bool:
    """Whether a call that stands in both has its literals in both, and no stack is read as a part of the sentence."""
    shown = [call["values"] for call in _CALL.finditer(source) if call["name"] in zh]
    return all(one[0] in zh for values in shown for one in _LITERAL.finditer(values)) and not _OF_STACK.search(source)


GATES: dict[str, Gate] = {
    "script": gates.script,
    "english_run": lambda _source, zh: gates.english_run("", zh),
    "identifiers": gates.identifiers_kept,
    "repetition": gates.repetition,
    "simplified": gates.simplified,
    "punctuation": gates.punctuation,
    "slots": slots,
    "claims": claims,
    "sense": sense,
    "negation": negation,
    "glued": glued,
    "code": code,
}


#: What is told of a fact: its figures may be left out, they are those of one report.
OF_A_FACT = {name: gate for name, gate in GATES.items() if name != "slots"}


def check(signature: str, zh: str, quotes: Sequence[str] = (), *, is_fact: bool = False) -> dict[str, bool]:
    """What each gate says of `zh` as an explanation of an error message, which stays in English.

    Of its identifiers those are demanded that belong to the error (`lasting_names`); `quotes` are its occurrences.
    """
    said = gates.check(signature, zh, gates=OF_A_FACT if is_fact else GATES)
    if said["identifiers"] is False and zh.strip() and max(len(signature), len(zh)) <= gates.LONGEST:
        said["identifiers"] = gates.has_all(zh, Counter(lasting_names(signature, quotes)))
    return said


def lasting_names(signature: str, quotes: Sequence[str] = ()) -> list[str]:
    """The identifiers of a signature that belong to the error, in its order: every occurrence shows them, and none is
    the number that a compiler gave one value of one program ("copy.289").
    """
    names = (name for name in gates.protected(signature) if not _INSTANCE.fullmatch(name))
    return [name for name in names if all(gates.has_all(quote, Counter([name])) for quote in quotes)]
