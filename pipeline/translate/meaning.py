"""What an error message means, as one Chinese sentence: the ordered list of ways to know it.

The message itself stays in English, because it must match real logs. What the sentence does not name of it
(identifiers, codes) stands behind the sentence, so the explanation keeps every identifier.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from pipeline.lexicon import gates
from pipeline.records import Fact
from pipeline.records.draft import Draft
from pipeline.records.entry import TranslationStatus
from pipeline.translate import messages, rendering, shapes
from pipeline.translate.engines import Engine, first_passing
from pipeline.translate.rendering import engine_name, fill, render

_LISTS = tomllib.loads((files("pipeline") / "data" / "meanings.toml").read_text(encoding="utf-8"))
PRECISE, VAGUE, BROAD = (frozenset(_LISTS[name]) for name in ("precise", "vague", "broad"))
FOREIGN = tuple(_LISTS["foreign"])
UNNAMED = frozenset(engine_name(template) for template in _LISTS["unnamed"])
REPEATS: dict[str, str] = _LISTS["repeats"]

_NAMES = rendering.MessageTemplate("signature.names", "Names in the message: {names}.", {"names": "identifier"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """A Chinese sentence for a message, and what made it."""

    chinese: str
    status: TranslationStatus
    engine: str


def meaning(draft: Draft, signature: str, engines: Sequence[Engine]) -> Meaning | None:
    """The meaning of the draft's message with every identifier of `signature`; None if nobody knows it."""
    found = next((made for way in WAYS if (made := way(draft, engines)) is not None), None)
    if found is None:
        return None
    chinese = _with_full_type(_with_type(found.chinese, draft.cluster.exception_type), draft.cluster.exception_type)
    chinese = chinese.replace(".。", "。")  # a value that ended its English sentence
    return Meaning(_with_names(chinese, signature), found.status, found.engine)


def _precise_fact(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    return _fact(draft) if draft.meaning is not None and draft.meaning.template in PRECISE else None


def _known_message(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    text, short = draft.cluster.text, (draft.cluster.exception_type or "").rsplit(".", 1)[-1]
    known = messages.explained(text) or messages.explained(text.removeprefix(f"{short}: "))
    return None if known is None else Meaning(_sentence(draft, known), "tm_exact", "tm/messages")


def _named_shape(draft: Draft, engines: Sequence[Engine]) -> Meaning | None:
    found = _any_shape(draft, engines)
    return found if found is not None and found.engine not in UNNAMED else None


def _any_shape(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    exception = draft.cluster.exception_type or ""
    text = _without_type(draft)
    is_bare = bool(exception) and text in ("", "null", "None", exception, exception.rsplit(".", 1)[-1])
    if is_bare and not _is_explained(exception):
        return None
    fact = Fact("shape.bare_type", (("type", exception),)) if is_bare else shapes.shape(text)
    if fact is None:
        return None
    found = Meaning(render(fact, "zh"), "template", engine_name(fact.template))
    # with neither a type nor a name nothing is left but "fetching failed"
    is_empty = not exception and found.engine in UNNAMED and fact.template != "shape.no_message"
    return None if is_empty else found


def _without_type(draft: Draft) -> str:
    text, exception = draft.cluster.text.strip(), draft.cluster.exception_type or ""
    for name in (exception, exception.rsplit(".", 1)[-1]):
        text = text.removeprefix(f"{name}: ") if name else text
    return text.strip()


def _is_explained(exception: str) -> bool:
    """Whether the catalogue knows the type itself, not one of another language with the same short name."""
    if exception.startswith(FOREIGN):
        return rendering.is_listed(f"java:{exception}")
    return rendering.explanation(exception) is not None


def _telling_type(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    exception = draft.cluster.exception_type or ""
    if not _is_explained(exception) or exception.removeprefix("builtins.") in BROAD:
        return None
    return Meaning(_sentence(draft, rendering.explanation(exception) or ""), "template", engine_name("code"))


def _category_fact(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    fact = draft.meaning
    if fact is None or fact.template in VAGUE or REPEATS.get(fact.template) == dict(fact.slots).get("type"):
        return None
    return _fact(draft)


def _named_code(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    codes = [code.split(":", 1)[-1] for code in draft.codes] + sorted(gates.protected(draft.cluster.text))
    named = next((code for code in codes if rendering.annotated(code) != code), None)
    if named is None:
        return None
    alone = f"{named}：{rendering.explanation(named)}。"  # with a type in front the meaning stands in brackets
    sentence = f"{rendering.annotated(named)}。" if draft.cluster.exception_type else alone
    return Meaning(sentence, "template", engine_name("code"))


def _from_engine(draft: Draft, engines: Sequence[Engine]) -> Meaning | None:
    offer = first_passing(draft.cluster.text, engines).offer if engines else None
    return None if offer is None else Meaning(_sentence(draft, offer.text.rstrip("。")), offer.status, offer.engine)


#: Asked in this order; the first that knows the message is taken. "The program raised RuntimeError" is not among them:
#: a sentence that repeats the type explains nothing, and null with its reason is the honest value.
WAYS: tuple[Callable[[Draft, Sequence[Engine]], Meaning | None], ...] = (
    _precise_fact,
    _known_message,
    _named_shape,
    _telling_type,
    _category_fact,
    _named_code,
    _any_shape,
    _from_engine,
)


def _fact(draft: Draft) -> Meaning | None:
    fact = draft.meaning
    return None if fact is None else Meaning(render(fact, "zh"), "template", engine_name(fact.template))


def _sentence(draft: Draft, clause: str) -> str:
    exception = draft.cluster.exception_type
    return f"{exception}：{clause}。" if exception and exception not in clause else f"{clause}。"


def _with_type(chinese: str, exception: str | None) -> str:
    """The sentence with the exception in front, where it names only a code; at its end it would be one name of many."""
    short = (exception or "").rsplit(".", 1)[-1]
    return chinese if not short or short in chinese else f"{exception}：{chinese}"


def _with_full_type(chinese: str, exception: str | None) -> str:
    """The sentence with the exception's qualified name where it has the short one."""
    short = (exception or "").rsplit(".", 1)[-1]
    if not exception or short == exception or exception in chinese:
        return chinese
    return re.sub(rf"(?<![\w.]){re.escape(short)}(?!\w)", lambda _match: exception, chinese, count=1)


def _with_names(chinese: str, signature: str) -> str:
    sentence = rendering.chinese(_NAMES.template_id, _NAMES.english)
    if sentence is None or len(signature) > gates.LONGEST:
        return chinese
    missing = [name for name in gates.protected(signature) if not gates.identifiers_kept(f"`{name}`", chinese)]
    if not missing:
        return chinese
    # what the sentence says already is not said again behind the name
    names = [
        name if (rendering.explanation(name) or name) in chinese else rendering.annotated(name) for name in missing
    ]
    return chinese + fill(sentence, {"names": "、".join(names)}, _NAMES)
