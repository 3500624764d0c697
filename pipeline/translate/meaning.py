"""What an error message means, as one Chinese sentence: the ordered list of ways to know it.

The message itself stays in English, because it must match real logs. What the sentence does not name of it
(identifiers, codes) stands behind the sentence, so the explanation keeps every identifier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from pipeline.lexicon import explanations, gates
from pipeline.records import short_class, warm
from pipeline.records.draft import Draft
from pipeline.records.entry import KnowledgeEntry, TranslationStatus
from pipeline.text.sentences import SEVERAL, bare
from pipeline.translate import messages, rendering, shapes
from pipeline.translate.engines import Engine, first_passing
from pipeline.translate.remembered import PLACE, Accepted, Memory, template
from pipeline.translate.rendering import engine_name, fill, render

_LISTS = warm.table((files("pipeline") / "data" / "meanings.toml").read_text(encoding="utf-8"))
PRECISE, NAMED, QUOTED = (frozenset(_LISTS[name]) for name in ("precise", "named", "quoted"))
TELLING, BROAD = (frozenset(_LISTS[name]) for name in ("telling", "broad"))
FOREIGN = tuple(_LISTS["foreign"])
UNNAMED = frozenset(engine_name(template) for template in _LISTS["unnamed"])

#: "XLA:TPU compile permanent error" says no more than its code; what has more words has a sentence of its own.
MOST_WORDS_BESIDE_A_CODE = 5
_WORD = warm.pattern(r"[A-Za-z]{2,}")
#: A shape explains a message of which it leaves out at most so many words. With one, of 281 explanations about half
#: left out what the message is about ("Could not get config of HLO"); null waits for a translator instead.
MOST_WORDS_LEFT = 0
#: Of such a thing it is said, so that a shape behind it says of nothing: "for <path>: no such
#: file", "<path>; Bad address".
_LOST = warm.pattern(r"\b(?:for|of) ['\"]?<\w{1,20}>|<(?:path|list)>(?::<n>)?; ?$")
#: What stands in brackets behind a phrase tells of it; it is not what the phrase is about: "Invalid argument <list>".
_IS_LIST = warm.pattern(r"(?:^| )<list>\s*$")

#: A message of fewer words says less than the fact that its code or figures are: "failed: CUDA_ERROR_OUT_OF_MEMORY".
LEAST_WORDS_OF_A_SENTENCE = 3

#: What stands at a sentence's end, before its full stop: in brackets, or after the ones that it has already.
_NAMES = rendering.MessageTemplate("signature.names", "({names})", {"names": "identifier"})
_NAMES_TOO = rendering.MessageTemplate("signature.names_too", ", of {names}", {"names": "identifier"})
#: Behind a message whose words are said of any such mistake stands the function that tells which one it is.
_IN = rendering.MessageTemplate("signature.in", "(in {place})", {"place": "identifier"})
_IN_TOO = rendering.MessageTemplate("signature.in_too", ", in {place}", {"place": "identifier"})
#: Behind a message that does not stand for all others.
_SEVERAL = rendering.MessageTemplate("signature.several", SEVERAL, {})
_SEVERAL_TOO = rendering.MessageTemplate("signature.several_too", ", one of several", {})


@dataclass(frozen=True, slots=True)
class Meaning:
    """A Chinese sentence for a message, and what made it."""

    chinese: str
    status: TranslationStatus
    engine: str

    @property
    def is_fact(self) -> bool:
        """Whether it tells what is known of the message rather than its words."""
        return self.engine.startswith(_BY_FACT)


def meaning(draft: Draft, signature: str, engines: Sequence[Engine]) -> Meaning | None:
    """The meaning of the draft's message with every identifier of `signature`; None if nobody knows it."""
    found = next((made for way in WAYS if (made := way(draft, engines)) is not None), None)
    if found is None:
        return None
    exception = _type_in_front(draft)
    chinese = _with_full_type(_with_type(found.chinese, exception), exception)
    chinese = chinese.replace(".。", "。")  # a value that ended its English sentence
    return Meaning(_with_names(chinese, signature, occurrences(draft)), found.status, found.engine)


def titled_zh(found: Meaning, draft: Draft) -> str:
    """What a message means with what stands behind it in the title; what a code or a type means, all of them mean."""
    chinese = found.chinese
    if draft.place:
        chinese = _behind(chinese, (_IN, _IN_TOO), {"place": draft.place})
    is_of_words = not found.engine.startswith(_OF_ALL)
    return _behind(chinese, (_SEVERAL, _SEVERAL_TOO), {}) if draft.title.is_one_of_several and is_of_words else chinese


def _behind(
    chinese: str, forms: tuple[rendering.MessageTemplate, rendering.MessageTemplate], slots: dict[str, str]
) -> str:
    """A sentence with what stands behind it, in brackets or behind the ones that it ends with already."""
    template = forms[chinese.endswith("）。")]
    said = rendering.chinese(template.template_id, template.english)
    return f"{chinese.removesuffix('。')}{fill(said, slots, template)}。" if said else chinese


def occurrences(draft: Draft) -> tuple[str, ...]:
    """The words in which the draft's documents show the error."""
    return tuple(piece.quote for piece in draft.evidence if piece.role == "occurrence")


def _precise_fact(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    fact = draft.meaning
    if fact is None or fact.template not in PRECISE or not shapes.is_said(fact, draft.headline):
        return None
    return _fact(draft)


def _by_home(draft: Draft, engines: Sequence[Engine]) -> Meaning | None:
    return _by_template(draft, [engine for engine in engines if isinstance(engine, Accepted)])


def _by_sentence(draft: Draft, engines: Sequence[Engine]) -> Meaning | None:
    found = template(_without_type(draft))
    words = shapes.words(PLACE.sub("", found.text)) if found else 0
    return _by_shipped(draft, engines) if words >= LEAST_WORDS_OF_A_SENTENCE else None


def _by_shipped(draft: Draft, engines: Sequence[Engine]) -> Meaning | None:
    found = _by_template(draft, [engine for engine in engines if isinstance(engine, Memory)])
    if found is None:
        return None
    said = explanations.check(draft.headline, found.chinese)  # names that it lacks are put behind it later
    return found if all(passed for name, passed in said.items() if name != "identifiers") else None


def _by_template(draft: Draft, memories: Sequence[Accepted | Memory]) -> Meaning | None:
    forms = dict.fromkeys((gates.unglued(draft.headline), *messages.peeled(_without_type(draft))))
    offers = (memory.explanation(form) for memory in memories for form in forms)
    offer = next((found for found in offers if found is not None), None)
    if offer is None:
        return None
    said = failing(offer.text.rstrip("。"), _without_type(draft))
    return Meaning(_sentence(draft, said), offer.status, offer.engine)


#: An error of doing something: its template begins behind the word "error", and what was translated may have lost it.
_DOING = warm.pattern(r"(?:\S{1,80}: )?error (?:when |while )?[a-z]{2,20}ing ", re.IGNORECASE)
_FAILED = warm.pattern("错|失败|无法|异常|不能")


def failing(chinese: str, message: str) -> str:
    """The Chinese of "Error loading <path>: ..." with the error, where it says only that something is loaded."""
    clause, colon, rest = chinese.removeprefix("正在").partition("：")
    if not _DOING.match(message) or _FAILED.search(chinese) or "，" in clause:
        return chinese
    return f"{clause.removesuffix('时')}时出错{colon}{rest}"


def _known_message(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    short = short_class(draft.title.exception_type)
    bare = _without_type(draft)
    forms = dict.fromkeys((draft.title.text, bare, f"{short}: {bare}" if short and bare != short else bare))
    known = next((found for form in forms if (found := messages.explained(form)) is not None), None)
    return None if known is None else Meaning(_sentence(draft, known), "tm_exact", "tm/messages")


def _named_shape(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    found = None if _is_bare(draft) else shapes.read(_without_type(draft))
    if found is None or engine_name(found.fact.template) in UNNAMED or found.words_left > MOST_WORDS_LEFT:
        return None
    if found.says_less or _LOST.search(found.before) or any(_IS_LIST.search(value) for _, value in found.fact.slots):
        return None
    return Meaning(render(found.fact, "zh"), "template", engine_name(found.fact.template))


def _is_bare(draft: Draft) -> bool:
    """Whether the type of the exception is all that was printed."""
    exception = draft.title.exception_type or ""
    return bool(exception) and _without_type(draft) in ("", "null", "None", exception, short_class(exception))


def _without_type(draft: Draft) -> str:
    return without_type(draft.title.text, draft.title.exception_type)


def without_type(text: str, exception: str | None) -> str:
    """A message without the type of its exception in front."""
    said = text.strip()
    for name in (exception, short_class(exception)):
        said = said.removeprefix(f"{name}: ") if name else said
    return said.strip()


def worded(signature: str, exception: str | None) -> str:
    """A message without its type and what a program puts around it: what its template is made from."""
    forms = messages.peeled(without_type(bare(signature), exception))
    return forms[-1] if forms else ""


def _is_explained(exception: str) -> bool:
    """Whether the catalogue knows the type itself, not one of another language with the same short name."""
    if exception.startswith(FOREIGN):
        return rendering.is_listed(f"java:{exception}")
    return rendering.explanation(exception) is not None


def _telling_type(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    exception = draft.title.exception_type or ""
    name = exception.removeprefix("builtins.")
    is_telling = name in TELLING or rendering.is_listed(f"jax:{name}")
    if not (is_telling or _is_bare(draft)) or not _is_explained(exception) or name in BROAD:
        return None
    return Meaning(
        _sentence(draft, rendering.plain(rendering.explanation(exception) or "")), "template", engine_name("type")
    )


def _named_fact(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    fact = draft.meaning
    if fact is None or fact.template not in NAMED or not shapes.is_said(fact, draft.headline):
        return None
    told = _without_type(draft)
    for value in dict(fact.slots).values() if fact.template in QUOTED else ():
        told = told.replace(value, " ")
    is_whole = fact.template not in QUOTED or shapes.words(told) <= MOST_WORDS_LEFT
    return _fact(draft) if is_whole else None


def _named_code(draft: Draft, _engines: Sequence[Engine]) -> Meaning | None:
    said = draft.title.text
    codes = [code.split(":", 1)[-1] for code in draft.codes] + sorted(gates.protected(said))
    printed = (code for code in codes if _is_bare(draft) or (code in said and not code.endswith("SUCCESS")))
    named = next((code for code in printed if rendering.annotated(code) != code), None)
    if named is None or not _is_about(draft, named):
        return None
    alone = f"{named}：{rendering.plain(rendering.explanation(named) or '')}。"
    sentence = f"{rendering.annotated(named)}。" if draft.title.exception_type else alone
    return Meaning(sentence, "template", engine_name("code"))


def _is_about(draft: Draft, code: str) -> bool:
    """Whether the message hardly says more than the code: what it says beside it, the code's meaning does not."""
    beside = _without_type(draft).replace(code, " ")
    return len(_WORD.findall(gates.PROTECTED.sub(" ", beside))) <= MOST_WORDS_BESIDE_A_CODE


def _from_engine(draft: Draft, engines: Sequence[Engine]) -> Meaning | None:
    offer = first_passing(draft.title.text, engines).offer if engines else None
    return None if offer is None else Meaning(_sentence(draft, offer.text.rstrip("。")), offer.status, offer.engine)


#: Asked in this order; the first that knows the message is taken. What fits any message of a category ("a setting is
#: invalid") or of a type that has a message is not among them: it explains nothing, and null is the honest value.
WAYS: tuple[Callable[[Draft, Sequence[Engine]], Meaning | None], ...] = (
    _by_home,
    _by_sentence,
    _precise_fact,
    _by_shipped,
    _known_message,
    _named_shape,
    _named_fact,
    _telling_type,
    _named_code,
    _from_engine,
)


def _fact(draft: Draft) -> Meaning | None:
    fact = draft.meaning
    if fact is None:
        return None
    told = shapes.in_its_words(rendering.plain(render(fact, "zh")), fact, draft.headline)
    return Meaning(told, "template", engine_name(fact.template))


def _type_in_front(draft: Draft) -> str | None:
    """The exception's type as the message prints it; None of one that it names as something else than its type."""
    exception, said = draft.title.exception_type, draft.headline
    short = short_class(exception)
    if exception is None or short not in said:
        return exception
    if not said.startswith((exception, short)) and re.search(rf"\[{re.escape(short)} ", said):
        return None
    return exception if exception in said else short


def _sentence(draft: Draft, clause: str) -> str:
    exception = _type_in_front(draft)
    clause = clause.removeprefix(f"{exception.rsplit('.', 1)[-1]}：") if exception else clause
    return f"{exception}：{clause}。" if exception and exception not in clause else f"{clause}。"


def _with_type(chinese: str, exception: str | None) -> str:
    """The sentence with the exception in front, where it names only a code; at its end it would be one name of many."""
    short = short_class(exception)
    return chinese if not short or short in chinese else f"{exception}：{chinese}"


def _with_full_type(chinese: str, exception: str | None) -> str:
    """The sentence with the exception's qualified name where it has the short one."""
    short = short_class(exception)
    if not exception or short == exception or exception in chinese:
        return chinese
    return re.sub(rf"(?<![\w.]){re.escape(short)}(?!\w)", lambda _match: exception, chinese, count=1)


def _with_names(chinese: str, signature: str, quotes: Sequence[str]) -> str:
    if len(signature) > gates.LONGEST:
        return chinese
    names = explanations.lasting_names(signature, quotes)
    missing = [name for name in names if not gates.identifiers_kept(f"`{name}`", chinese)]
    return f"{chinese.removesuffix('。')}{_named(missing, chinese)}。" if missing else chinese


def _named(names: Sequence[str], chinese: str) -> str:
    """What names them behind the sentence `chinese`; a name stands alone, its meaning is the sentence's to say."""
    template = _NAMES_TOO if chinese.endswith("）。") else _NAMES
    sentence = rendering.chinese(template.template_id, template.english)
    return fill(sentence, {"names": "、".join(names)}, template) if sentence else ""


# What of an explanation was made from the words of its message: what stands for many messages says none of them.

#: What makes it from the words of a message. A code or a type of exception means the same under any message.
_BY_SHAPE, _BY_FACT = (engine_name(kind).partition("@")[0] for kind in ("shape.", "meaning."))
_OF_ALL = (_BY_FACT, *(engine_name(kind).partition("@")[0] for kind in ("code", "type")))
_FROM_WORDS = (_BY_SHAPE, "tm/messages", "tm/signatures")
_VALUE = warm.pattern(r"<\w{1,20}>|\d+|'[^'\n]{0,120}'|\"[^\"\n]{0,120}\"|`[^`\n]{0,120}`")


def shape_of(entry: KnowledgeEntry) -> tuple[str, ...]:
    """The explanation of an entry that was made from its words, and these words; nothing of any other."""
    made = entry.translations.get("signature_zh")
    if entry.signature_zh and made and (made.engine or "").startswith(_FROM_WORDS):
        return (_said(entry, made.engine or ""), _words_of(entry))
    return ()


#: What `titled_zh` put there.
_BEHIND_ZH = warm.pattern(r"(?:（位于 \S{2,120}?）|，位于 \S{2,120}?)?(?:（多种报错之一）|，多种报错之一)?。\Z")


def _said(entry: KnowledgeEntry, engine: str) -> str:
    """The explanation without the type before it and, where it names none itself, the names behind it."""
    said = entry.signature_zh or ""
    is_shape = engine.startswith(_BY_SHAPE)
    names = [name for name in explanations.lasting_names(entry.signature) if name in said] if is_shape else []
    for first in range(len(names)):
        said = said.removesuffix(f"{_named(names[first:], '')}。").removesuffix(f"{_named(names[first:], '）。')}。")
    said = _BEHIND_ZH.sub("。", said, count=1)
    return said.removeprefix(f"{entry.exception_type}：") if entry.exception_type else said


def _words_of(entry: KnowledgeEntry) -> str:
    text = bare(entry.signature)
    for name in filter(None, (entry.exception_type, short_class(entry.exception_type))):
        text = text.removeprefix(f"{name}: ")
    return " ".join(_VALUE.sub("_", text).lower().split())[:200]
