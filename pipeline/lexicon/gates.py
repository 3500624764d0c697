"""Gates: what a machine-made Chinese text must pass beside its English source.

They catch what can be counted: English left over, numbers and identifiers lost, text cut off, a term missed, a negation
lost, a loop. They do not see a fluent wrong meaning, so what passed is called *checked*, never *verified*.
`translate` uses them on its own output, `validate` on entries made elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from importlib.resources import files

from pipeline.lexicon import glossary
from pipeline.lexicon.products import products
from pipeline.records import warm

#: Least Han / (Han + Latin words), outside code. Our human set: least 0.82; on large human corpora
#: 0.5 refuses 0.4-3.9 %.
LEAST_HAN_RATIO = 0.5
#: Most English words in a row, outside code and acronyms. Human Chinese has 0-1.1 % with six.
MOST_ENGLISH_RUN = 5
#: Most English function words ("the", "is") outside code.
MOST_FUNCTION_WORDS = 1
#: Most lower-case words of the source that stand unchanged outside code and outside brackets ("warp", "tile" are kept),
#: each once; names of products ("numpy") are none.
MOST_LEFTOVERS = 2
#: Bounds of len(zh) / len(en), both without code: our human set 0.23-0.81; four large sets p1 0.19, p99 1.06.
LENGTH_RATIO = (0.15, 1.10)
#: Least Han characters for each English word of a source of at least six words. Our human set: least 0.80.
LEAST_HAN_PER_WORD = 0.7
#: Below this many English words outside code a ratio says nothing.
LEAST_WORDS = 3
#: Least share of demanded terms found.
LEAST_ADHERENCE = 0.5
#: Most share of repeated 4-grams; a looping "(掌声)" scores 0.84, our human set at most 0.04.
MOST_REPETITION = 0.40
#: Longer texts pass no gate: a statement is a quote of 300 characters or a sentence made from one.
LONGEST = 4_000
#: Fewer 4-grams than this are too few to call a loop.
LEAST_GRAMS = 8

_IDENTIFIER = (
    r"`[^`\n]{1,300}`"  # inline code
    r"|https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]{1,400}"
    r"|<[a-z_]{1,30}>"  # slots of a signature
    r"|(?<![\w>-])--?[A-Za-z][\w-]{0,60}(?:=[\w./:-]{1,80})?"  # flags
    r"|\b0x[0-9A-Fa-f]{1,16}\b"
    r"|(?<![\w/.])(?:~|\.{1,2})?(?:/[\w.+-]{1,80}){2,12}/?"  # paths
    r"|(?<![\w#])(?:[\w.-]{1,60}/[\w.-]{1,60})?#\d{1,7}\b"  # issues
    r"|%[sdifxu]\b|\{[a-z_]{1,30}\}"
    r"|\b[A-Za-z_][A-Za-z0-9]{0,60}(?:(?:\.|::|_|->)[A-Za-z0-9_]{1,60}){1,8}(?:\(\))?(?:=[\w./:-]{1,80})?"
    r"|\b_{1,2}[A-Za-z]\w{1,60}\b"
    r"|\b[A-Za-z]{1,30}[a-z][A-Z][A-Za-z0-9]{0,40}\b"  # camelCase, PyTorch
    r"|\b[A-Z]{2,12}[a-z]{2,30}\w{0,30}\b|\b[a-z]{1,3}[A-Z]{2,12}[A-Za-z]{0,20}\b"
    r"|\b[A-Za-z]{1,12}\d[A-Za-z0-9]{0,20}\b"  # H100, int8, E1001
)
#: Spans that are no prose: code, paths, names of programs. Bounded everywhere, so linear in the text.
PROTECTED = warm.pattern(_IDENTIFIER, re.ASCII)

_WORDS = warm.table((files("pipeline") / "data" / "gate_words.toml").read_text(encoding="utf-8"))
_NOT_IDENTIFIERS = frozenset(_WORDS["not_identifiers"])
#: Two sentences without the space between them: "was not true.Node number 3". A name has other words there.
_GLUED = warm.pattern(
    rf"(?<![\w./:\\$@>-])(?:(?:{'|'.join(_WORDS['sentence_ends'])})|[a-z]{{2,30}}(?=\.(?:{'|'.join(_WORDS['sentence_starts'])})\b))"
    r"\.(?=[A-Z][a-z]{1,30}\b(?![.(\w:]\S))",
    re.ASCII,
)
_FUNCTION_WORDS = frozenset(_WORDS["function_words"])
_DIGITS_EN: dict[str, str] = _WORDS["digits_en"]
_DIGITS_ZH: dict[str, str] = _WORDS["digits_zh"]
_NEGATION_EN = warm.pattern(rf"\b(?:{'|'.join(_WORDS['negations_en'])})\b|n't\b", re.IGNORECASE)
_NEGATIVE_EN = warm.pattern(
    rf"\b(?:{'|'.join(_WORDS['negative_en'])}|(?:{'|'.join(_WORDS['negative_prefixes_en'])})[a-z]{{4,30}})\b",
    re.IGNORECASE,
)
_NEGATIVE_ZH = warm.pattern("|".join(_WORDS["negative_zh"]))
_NEGATION_ZH = warm.pattern("|".join(_WORDS["negations_zh"]))
_NEUTRAL_ZH = warm.pattern("|".join(_WORDS["neutral_zh"]))
_HAN = warm.pattern(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = warm.pattern(r"[A-Za-z][A-Za-z'-]*")
_NUMBER = warm.pattern(r"\d+(?:[.,]\d+)*")
_BRACKETED = warm.pattern(r"[（(][^（()）]{0,60}[)）]|“[^“”]{0,80}”")
_SENTENCE = warm.pattern(r"[。！？；\n]|[.!?;]\s")
_HALF_MARK = warm.pattern(r"(?<=[\u4e00-\u9fff])[,;:!?] ?(?=[\u4e00-\u9fff])")
#: Names by their look: two capitals, or a capital that begins no sentence.
_NAMED = warm.pattern(r"\b[A-Z]{2}[A-Za-z0-9]{0,30}\b|(?<=[a-z,;:(] )[A-Z][A-Za-z0-9.+-]{1,30}\b")
#: Traditional forms that are right in Simplified text: names. 昇腾 (Ascend), 昇思 (MindSpore).
_TRADITIONAL_NAMES = warm.pattern(r"昇(?=腾|思|騰)")


def without_code(text: str) -> str:
    """The text without code, names and numbers of programs."""
    return PROTECTED.sub(" ", text)


def _words(text: str) -> list[str]:
    """English words of a text without code; acronyms and single letters are no sign of English."""
    return [word for word in _WORD.findall(without_code(text)) if len(word) > 1 and not word.isupper()]


def _han_count(text: str) -> int:
    return len(_HAN.findall(text))


def script(_source: str, zh: str) -> bool:
    """Whether the text is Chinese at all: Han characters against Latin words, code apart."""
    prose = without_code(zh)
    han, latin = _han_count(prose), len(_words(zh))
    return han >= 1 and han / (han + latin) >= LEAST_HAN_RATIO


def english_run(source: str, zh: str) -> bool:
    """Whether no stretch of English is left: no long run, no function words, no sentence that is mostly English."""
    prose = _BRACKETED.sub(" ", PROTECTED.sub(" ", zh))
    runs = re.split(r"[^A-Za-z' -]+", prose)
    longest = max((len([word for word in _WORD.findall(run) if not word.isupper()]) for run in runs), default=0)
    words = [word.lower() for word in _WORD.findall(prose) if not word.isupper()]
    functions = sum(word in _FUNCTION_WORDS for word in words)
    known = set(_words(source.lower()))
    kept = {word.strip("'-") for word in _WORD.findall(prose) if len(word) > 2 and word.islower()}
    leftovers = sum(word in known and word not in products() for word in kept)
    mostly = any(len(_words(part)) >= 4 and _han_count(part) < len(_words(part)) for part in _SENTENCE.split(prose))
    small = longest <= MOST_ENGLISH_RUN and functions <= MOST_FUNCTION_WORDS
    return small and leftovers <= MOST_LEFTOVERS and not mostly


def _numbers(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text)
    return [_plain_number(match) for match in _NUMBER.findall(folded)]


def _plain_number(printed: str) -> str:
    number = re.sub(r",(?=\d{3}\b)", "", printed).rstrip(".,")
    return number.lstrip("0") or "0" if number.isdigit() else number


def numbers(source: str, zh: str) -> bool:
    """Whether every number of the source is there, and no other; "two" may be 2 or 两."""
    in_source, in_zh = set(_numbers(source)), set(_numbers(zh))
    spelled_zh = {_DIGITS_ZH[char] for char in zh if char in _DIGITS_ZH}
    spelled_en = {_DIGITS_EN[word] for word in _WORD.findall(source.lower()) if word in _DIGITS_EN}
    return in_source <= in_zh | spelled_zh and in_zh <= in_source | spelled_en


#: TensorFlow Lite ends any message with the node, without a space: "was not initializedNode number 3".
_GLUED_NODE = warm.pattern(r"(?<=[A-Za-z0-9)\]>])\.?(?=Node number )")


def unglued(text: str) -> str:
    """The text with a space between two sentences that stand there as one word: "not true.Node number"."""
    return _GLUED.sub(lambda end: f"{end[0]} ", _GLUED_NODE.sub(". ", text))


def protected(text: str) -> Counter[str]:
    """The identifiers of a text (code, flags, names, paths) with their counts; slots such as `<n>` are none."""
    found = (span.strip("`").rstrip(".:") for span in PROTECTED.findall(unglued(text)) if not span.startswith("<"))
    return Counter(span for span in found if span and span not in _NOT_IDENTIFIERS)


def has_all(zh: str, wanted: Counter[str]) -> bool:
    """Whether each of the names stands in the text as a whole."""
    return all(re.search(rf"(?<![A-Za-z0-9_]){re.escape(span)}(?![A-Za-z0-9_])", zh) for span in wanted)


def identifiers(source: str, zh: str) -> bool:
    """Whether every identifier of the source stands unchanged in the Chinese, and none was made up."""
    # a name may be written in its usual case (NVLink for nvlink), so what was made up is looked for without case
    invented = Counter(span.lower() for span in protected(zh))
    return has_all(zh, protected(source)) and has_all(source.lower(), invented)


def identifiers_kept(source: str, zh: str) -> bool:
    """Whether every identifier of the source stands unchanged in the Chinese; more may be named."""
    return has_all(zh, protected(source))


def invented(source: str, text: str) -> list[str]:
    """The numbers and identifiers of `text` that `source` does not have, sorted; case of names does not count."""
    numbers_there, folded = set(_numbers(source)), source.lower()
    made_up = {number for number in _numbers(text) if number not in numbers_there}
    return sorted(made_up | {name for name in protected(text) if not has_all(folded, Counter([name.lower()]))})


def length(source: str, zh: str) -> bool:
    """Whether the Chinese is neither cut off nor padded, code apart."""
    english, chinese = without_code(source), without_code(zh)
    words = len(_WORD.findall(english))
    if words < LEAST_WORDS:
        return _han_count(chinese) <= 12 * max(words, 1)
    ratio = len("".join(chinese.split())) / len("".join(english.split()))
    enough = words < 2 * LEAST_WORDS or _han_count(chinese) >= LEAST_HAN_PER_WORD * words
    return LENGTH_RATIO[0] <= ratio <= LENGTH_RATIO[1] and enough


def terms(source: str, zh: str) -> bool:
    """Whether the terms that translators agree on are rendered as they render them."""
    hard = [term for term in glossary.found_in(without_code(source)) if term.adherence >= glossary.HARD_ADHERENCE]
    if not hard:
        return True
    folded = zh.lower()
    found = sum(any(rendering.lower() in folded for rendering in term.renderings()) for term in hard)
    return found / len(hard) >= LEAST_ADHERENCE


def polarity(source: str, zh: str) -> bool:
    """Whether a negation of the source is there, and none was added."""
    english, chinese = without_code(source), _NEUTRAL_ZH.sub("", zh)
    if _NEGATION_EN.search(english):
        return bool(_NEGATIVE_ZH.search(chinese))
    return not _NEGATION_ZH.search(chinese) or bool(_NEGATIVE_EN.search(english))


def repetition(_source: str, zh: str) -> bool:
    """Whether the text does not loop."""
    chars = "".join(zh.split())
    grams = [chars[at : at + 4] for at in range(len(chars) - 3)]
    if len(grams) < LEAST_GRAMS:
        return True
    return 1 - len(set(grams)) / len(grams) <= MOST_REPETITION


def _is_traditional(char: str) -> bool:
    # Big5 has it and GB 2312 has not: a form that simplification replaced (or a rare name)
    return not _encodes(char, "gb2312") and _encodes(char, "big5")


def _encodes(char: str, codec: str) -> bool:
    try:
        char.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def simplified(_source: str, zh: str) -> bool:
    """Whether no traditional character is in the text, the names 昇腾 and 昇思 apart."""
    return not any(_is_traditional(char) for char in set(_HAN.findall(_TRADITIONAL_NAMES.sub("", zh))))


def punctuation(_source: str, zh: str) -> bool:
    """Whether no half-width mark stands between two Han characters."""
    return not _HALF_MARK.search(PROTECTED.sub("x", zh))


def specific(source: str, zh: str) -> bool:
    """Whether the Chinese is about this source: it has a name, a number or a term of it, or the source has none.

    What has none of them would fit any other source of the same kind.
    """
    return not (anchors := _anchors(source)) or any(_stands_in(zh.lower(), anchor) for anchor in anchors)


def _anchors(source: str) -> list[tuple[str, ...]]:
    """What a translation can take up: each name, number and term, with the ways in which it may stand there."""
    names: list[tuple[str, ...]] = [(span.lower(),) for span in protected(source)]
    names += [(products()[word].lower(),) for word in _WORD.findall(without_code(source).lower()) if word in products()]
    names += [(word.lower(), word.lower().removesuffix("s")) for word in _NAMED.findall(without_code(source))]
    numbers_ = [(number,) for number in _numbers(source)]
    terms_ = [tuple(form.lower() for form in term.renderings()) for term in glossary.found_in(without_code(source))]
    words = glossary.message_words()["words"]
    plain = [word.lower() for word in _WORD.findall(without_code(source))]
    known = ((words.get(word) or words.get(glossary.singular(word)), word) for word in plain)
    return names + numbers_ + terms_ + [(chinese.lower(), word) for chinese, word in known if chinese]


def _stands_in(zh: str, anchor: tuple[str, ...]) -> bool:
    return any(form in zh for form in anchor)


Gate = Callable[[str, str], bool]

#: Every gate of a translation, in the order in which they are reported.
GATES: dict[str, Gate] = {
    "script": script,
    "english_run": english_run,
    "numbers": numbers,
    "identifiers": identifiers,
    "length": length,
    "glossary": terms,
    "polarity": polarity,
    "repetition": repetition,
    "simplified": simplified,
    "punctuation": punctuation,
    "specific": specific,
}

#: Gates that look at a sentence as it is read, whatever marks its identifiers carried when its template was gated.
UNMARKED = {name: GATES[name] for name in ("script", "repetition", "simplified")}


#: Gates of what people wrote and others read beside the English: they find what was damaged or put to another text. The
#: others also refuse good translations of people (glossary, length), who are believed here.
REVIEWED: dict[str, Gate] = {
    "script": script,
    "numbers": numbers,
    "identifiers": identifiers_kept,
    "repetition": repetition,
    "simplified": simplified,
    "punctuation": punctuation,
}


def check(source: str, zh: str, *, gates: dict[str, Gate] | None = None) -> dict[str, bool]:
    """What each gate says of `zh` as the Chinese of `source`: name -> passed."""
    asked = GATES if gates is None else gates
    if not zh.strip() or max(len(source), len(zh)) > LONGEST:
        return dict.fromkeys(asked, False)
    return {name: gate(source, zh) for name, gate in asked.items()}
