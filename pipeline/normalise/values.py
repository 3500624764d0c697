"""Values that are printed as structures: calls, lists and mappings folded to one slot, values at the ends dropped.

Only for words of no known family. `Tensor('a', shape=(2,))` and `KerasTensor(type_spec=...)` are one thing there, and
so are lists of any length: what a message is about stands in its words.
"""

from __future__ import annotations

import re

from pipeline.normalise import peel
from pipeline.records import warm
from pipeline.text import prefixes

#: An instruction of XLA's HLO, up to the name of the operation: `%fusion.3 = (f32[2]{0}, u8[0]{0}) `.
_HLO = warm.pattern(r"%[A-Za-z][\w.-]{0,80}(?: = (?:\([^()]{0,400}\)|\S{1,120}))?")
_LAYOUT = warm.pattern(r"(<shape>)\{(?:<n>|[\d,])[^{}\n]{0,40}\}")
#: A call is a value if it shows one and its name is a class's: `ShapedArray(<shape>)`, not `dlopen(<path>, <n>)`. A
#: product with its version is none: `OpenCV(<version>)`.
_CALL = warm.pattern(
    r"\b(?:(?:\w{1,40}\.){0,6}[A-Z]\w{0,80}|array|tensor|range|slice|datetime\.\w{4,8})"
    r"\((?!<version>\))(?=[^()]{0,200}(?:=|<[a-z]{1,8}>))(?:[^()]|\(\)){0,600}\)"
)
_LIST = warm.pattern(
    r"\[(?=[^\[\]]{0,400}(?:'|<[a-z]{1,8}>|\.\.\.))[^\[\]]{0,1000}\]"
    r"|\{(?=[^{}]{0,400}(?:'|<[a-z]{1,8}>|\.\.\.|[\w+]\[))[^{}]{0,1000}\}"
    r"|\((?:\s?'?<[a-z]{1,8}>'?,){1,30}(?:\s?'?<[a-z]{1,8}>'?)?\s?\)"
)
#: A sentence in brackets is no list.
_PROSE = warm.pattern(r"[A-Za-z]{2,40} [A-Za-z]{2,40}(?: |\W{0,3}\Z)")
_KEYS = warm.pattern(r"\bdict_(?:keys|values|items)\b(?:\(?<list>\)?)?")
_LETTERS = warm.pattern(r"[A-Za-z]{2}")
#: A type with its parts: `<<shape>, <dtype>>`, `pointer<<dtype>>`, `tensor<<shape>, #mma>`, `memref<?x<dtype>>`.
_TYPE = warm.pattern(
    r"(?:!?\b[A-Za-z][\w.]{0,40})?<(?:[^<>\n]{0,60}<[a-z]{1,8}>){1,6}[^<>\n]{0,60}>|\bpointer<\w{2,8}>"
)
_ANGLED = warm.pattern(r"<<[a-z]{1,8}>>")
#: The same value several times in a row is one value: `<n> + <n> + <n> = <n>`, `<shape>, <shape> and <shape>`.
_RUN = warm.pattern(
    r"(?P<one>'?<(?P<kind>[a-z]{1,8})>'?)"
    r"(?:\s?(?:,|->|[+*/=x×]|\bvs\.?)?\s?(?:(?:and|or|x|vs)\s)?(?<=[\s,>+*/=x×])'?<(?P=kind)>'?){1,60}(?![\w<>])"
)
#: A requirement: `torch==<version>`, `numpy<<n>`.
_PACKAGE = warm.pattern(r"\b[A-Za-z][\w.-]{1,60}(?:\[[\w,-]{1,40}\])?(?:[=<>!~]=|<)<(?:version|n)>")
#: What stands in parentheses is a value of the word before it: `the model config (awq)`, `on <path> (inode <n>): `.
_VALUE_ASIDE = warm.pattern(
    r"(?<=[a-z]) \((?=[\w.+-]{2,40}\))(?!(?:s|es|ies|nan|inf|core|fatal)\))(?:[a-z][\w.+-]{1,40}|[A-Z][a-z]{2,20})\)"
    r"(?=\s[a-z]|\s?[.,;]|\Z)|(?<=[a-z>]) \((?:[a-z]{2,20}[ =:]\s?)?<[a-z]{1,8}>\)(?=\s[a-z]|[.,:;])"
)
#: A name that counts: `Const_<n>`, `host-<n>`, `phi-<n>-mini`, `node-<hex>`. One of capitals alone is a constant.
_NUMBERED = warm.pattern(
    r"(?<![\w<>'./-])(?=[A-Za-z\d_-]{0,60}[a-z])(?:"
    r"[A-Za-z]{2,30}[_-](?:[A-Za-z_-]{1,30}+|<n>){0,6}<n>(?:[A-Za-z_-]{1,30}+|<n>){0,6}(?![\w<])"
    r"|[A-Za-z]{1,30}[_-](?:[A-Za-z_-]{1,30}+|<n>){0,6}<(?:hex|uuid)>(?![\w<])"
    r"|[A-Za-z_][A-Za-z\d_]{0,60}_\d{1,9}(?:_[A-Za-z\d_]{1,60})?(?::<n>)?(?![\w<])"
    r"|[A-Za-z]{1,40}[a-z_][A-Z_][A-Za-z\d_]{0,60}:<n>)"
)
#: The type that was found where another is wanted: `expected str instance, bytes found`, `(got type str)`.
_FOUND_TYPE = warm.pattern(r"(?:(?<=\bgot type )|(?<=expected str instance, )(?=\w{1,60} found))[A-Za-z_][\w.]{1,60}")
_NONE = warm.pattern(r"(?<=[a-z,:=] )None\b(?! of)|(?<=\()None(?=\))|(?<=[a-z]=)(?:True|False|None)\b")
#: Nested structures are folded from inside; deeper ones were not seen.
DEPTH = 4

#: Names that follow the word for what they name, where they look like a program's: `variable conv2d_1/kernel`.
_IDENTIFIER = r"(?=[\w.<>/@-]{0,80}(?:[_/\d]|<n>|[a-z][A-Z]|[A-Z]{2}))[A-Za-z_][\w.<>/@-]{0,120}[\w>]"
_NAMED = warm.pattern(
    r"\b((?:variable|layer|node|class|model|trainer|tokenizer|parameter|buffer|tensor|blob|axis|dataset|host|type"
    rf"|container|localhost|placeholder|actor|worker|process|experiment|target)\s){_IDENTIFIER}(?![\w(])"
)
#: A class of a model that is the subject of the sentence: `LlamaTokenizer requires ...`.
_SUBJECT = warm.pattern(
    r"\A[A-Z]\w{1,80}(?:Tokenizer|TokenizerFast|Model|Config|LM|ForConditionalGeneration|Trainer|Pipeline|Dataset|Layer"
    r"|Processor|Expression|Network)(?=\s[a-z]{2})"
)

#: A function of the user's that an error names with its place: `the function step at <path>`.
_PLACED = warm.pattern(
    r"\b((?:function|kernel|method|pallas_call|callable) )(?:<lambda>|[A-Za-z_][\w.]{0,80})(?= at <path>)"
)

#: What was given where the words before it say that it is a value: `Unsupported nproc_per_node value: seven`.
_GIVEN = warm.pattern(r"\b((?:value|choice|option): )(?!<)[\w.+-]{1,60}\Z")

_VALUE = r"(?:'?<[a-z]{1,8}>'?|<class '[\w.]{1,120}'>)"
_LEADING = warm.pattern(r"(?:<(?:path|time|uuid)>[:,\]]{0,2}\s|<n>:\s|\(Batch element <n>\):\s|[-:]\s)+")
#: Prose that tells of the error before it.
_SAID = warm.pattern(
    r"[A-Za-z][\w' ,.()-]{8,200}?\b[Ee]rror\s?: (?=[A-Z])"
    r"|(?=[^:\n]{0,160}\b(?:I|I'm|[Ww]e|[Tt]he|[Tt]his|[Ff]ollowing|[Mm]y|[Ss]ame|[Gg]et|[Gg]ot|[Bb]ut|[Ii]t)\b)"
    r"[^:\n]{0,160}?\b(?:(?:[Ee]rrors?|[Ee]xceptions?|[Pp]roblem|[Ii]ssue|[Mm]essages?|[Ww]arning|[Ll]ogs?|[Oo]utput)"
    r"(?: (?:is|was|says|reads|below|here|as|follows|message|log|occurs|occurred)){0,3}"
    r"|[Ff]ollowing|gets?|got|getting|says|saying|throws?|reports?|complains)\s{0,2}[:：]\s{1,3}(?=\S)"
)
#: What was got, in parentheses at the end, closed or cut.
_REMARK = warm.pattern(
    r"\s?\((?:got|from|expected|found|note|e\.g\.|see|currently?|Request|size|should|which|through|at|in)\b[^()]{0,300}"
    r"(?:\([^()]{0,200}\)?[^()]{0,100})?\)?[\s.]{0,3}\Z"
)
#: What was got, told at length: `: (<object> containing values of types <list>), <object>`.
_DUMP = warm.pattern(r"\s?:(?!<n>)\s?\(?<[a-z]{1,8}>[^:]{1,400}\Z")
_TRAILING = warm.pattern(rf"\s?:\s?{_VALUE}(?:\s?,?\s?{_VALUE}){{0,40}}[\s.,]{{0,3}}\Z")

#: Without what follows such a word nobody knows what is said: "expected:<n> but was".
_OPEN = warm.pattern(r"\b(?:but|was|is|are|got|found|actual)\Z")


def folded(template: str) -> str:
    """The template with every printed structure as one slot; as it is if that would leave no words."""
    made = _folded(template)
    return made if _LETTERS.search(peel.SLOT.sub(" ", made)) else template


def _list(found: re.Match[str]) -> str:
    return found[0] if _PROSE.search(found[0], 1, found.end() - found.start() - 1) else "<list>"


def _aside(found: re.Match[str]) -> str:
    """A value in parentheses as its slot; a name of its own is gone, for versions print it or not."""
    shown = peel.SLOT.search(found[0])
    return f" ({shown[0] if shown is not None else '<name>'})"


def _type(found: re.Match[str]) -> str:
    """A printed type; a lone value in angles, as JUnit prints what it compared, stays what it is."""
    return found[0][1:-1] if _ANGLED.fullmatch(found[0]) else "<type>"


def _types_folded(template: str) -> str:
    for _ in range(DEPTH if "<<" in template or ", <" in template or "pointer<" in template else 0):
        again = _TYPE.sub(_type, template)
        if again == template:
            break
        template = again
    return template


def _folded(template: str) -> str:
    if "%" in template:
        template = _HLO.sub("<name>", template)
    if "{" in template:
        template = _LAYOUT.sub(r"\1", template)
    for _ in range(DEPTH):
        again = _LIST.sub(_list, _CALL.sub("<object>", template))
        if again == template:
            break
        template = again
    template = _RUN.sub(r"\g<one>", _PACKAGE.sub("<package>", _types_folded(template)))
    template = _FOUND_TYPE.sub("<name>", template)
    template = _NUMBERED.sub("<name>", _VALUE_ASIDE.sub(_aside, _NONE.sub("<object>", template)))
    if " at <path>" in template:
        template = _PLACED.sub(r"\1<name>", template)
    if ": " in template:
        template = _GIVEN.sub(r"\1<name>", template)
    return _SUBJECT.sub("<name>", _NAMED.sub(r"\1<name>", _KEYS.sub("<list>", template)))


def without_ends(template: str) -> str:
    """The template without a place or a context before it and values behind it, if enough words are left."""
    for _ in range(DEPTH):
        said = prefixes.without_context(template)
        if said == template or not peel.says_enough(said):
            break
        template = said
    prose = _SAID.match(template)
    if prose is not None and peel.says_enough(template[prose.end() :]):
        template = template[prose.end() :]
    added = peel.ADDED.search(template)
    if added is not None and peel.says_enough(template[: added.start()]):
        template = template[: added.start()]
    remark = _REMARK.search(template)
    if remark is not None and peel.says_enough(template[: remark.start()]):
        template = template[: remark.start()]
    start = _LEADING.match(template)
    if start is not None and peel.says_enough(template[start.end() :]):
        template = template[start.end() :]
    dump = _DUMP.search(template)
    if dump is not None and _is_dump(dump[0]) and peel.is_telling(template[: dump.start()]):
        template = template[: dump.start()]
    end = _TRAILING.search(template)
    is_open = end is not None and _OPEN.search(template, 0, end.start()) is not None
    if end is not None and not is_open and peel.says_enough(template[: end.start()]):
        template = template[: end.start()]
    return template


def _is_dump(shown: str) -> bool:
    """Whether slots make most of what is shown, and no word of it turns the meaning round."""
    slots = len(peel.SLOT.findall(shown))
    return slots > 1 and peel.counted(shown) <= 2 * slots and not peel.negates(shown)
