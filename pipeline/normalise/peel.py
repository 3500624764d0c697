"""The message inside a printed line: prefixes, boilerplate, prose and words of another script taken off.

The words that are left are the gates of an error that is no known family; where they do not decide, so is the exception
type.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import cache

from pipeline.normalise.masks import told_apart
from pipeline.normalise.tables import wording
from pipeline.records import short_class, warm
from pipeline.text import prefixes

_STATUS = warm.pattern(
    r"(?:RESOURCE_EXHAUSTED|INTERNAL|INVALID_ARGUMENT|UNIMPLEMENTED|FAILED_PRECONDITION|NOT_FOUND"
    r"|UNAVAILABLE|UNKNOWN|ABORTED|"
    r"DEADLINE_EXCEEDED|OUT_OF_RANGE|ALREADY_EXISTS|PERMISSION_DENIED|CANCELLED|Resource exhausted"
    r"|Internal|Invalid argument|"
    r"Unimplemented|Failed precondition|Not found|Unavailable|Unknown|Out of range|Cancelled|Data loss|DATA_LOSS"
    r"|Aborted|Already exists|Permission denied|Deadline exceeded): ?"
)
#: Fields and nothing else: the words before them are the error.
_FIELDS = warm.pattern(r"\w{1,40}=\S")
_TYPE = warm.pattern(
    r"(?P<type>(?:[A-Za-z_]\w{0,60}(?:\.|::)){0,8}[A-Z]\w{0,60}(?:Error(?:_[A-Z]\w{2,40})?|Exception|Warning|Interrupt"
    r"|Exit|StackTrace|Unsupported|OutOfResources|"
    r"Failure|Failed|InvalidArgument|NoSuchFile|NotSupported|Fault|Impl)|Error|Exception|Unsupported|OutOfResources"
    r"|(?:[a-z_]\w{0,60}\.){1,8}[A-Z]\w{2,60}"
    r"|\A[A-Z][a-z]{1,20}(?:[A-Z][a-z]{1,20}){1,3}(?=: [A-Z][a-z]{1,20} [a-z]))"
    r"(?: \(see above for traceback\))?\s?[:：]\s{0,3}(?=\S)"
)
#: What Hadoop's RemoteException wraps, in parentheses behind its name.
_REMOTE = warm.pattern(
    r"(?:(?:[a-z_]\w{0,60}\.){0,10}[A-Z]\w{1,60})?\((?P<type>(?:[a-z_]\w{0,60}\.){1,10}[A-Z][\w$]{1,80})\)\s?:\s{0,3}(?=\S)"
)
_BARE_TYPE = warm.pattern(r"((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception))\s?[:：]?\s*\Z")
_CJK = warm.pattern(r"[\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]+")
#: Where a word of another script meets a name: no regular expression sees a word's end there.
_SEAM = warm.pattern(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[A-Za-z_])|(?<=\w)(?<![^\x00-\x7f])(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
)
#: Marks around a whole line; a name in quotes is a value, a sentence is not.
QUOTES, SENTENCE_SPACES = ("`", '"', "'"), 3
#: A message that prose quotes: `I run it, got "CUDA_HOME variable is not set"`, `"x is not a y" error in z`.
_QUOTED_MESSAGE = warm.pattern(
    r"\A(?:[^\n]{0,240}?\b(?:(?P<said>(?:\w{1,40})?[Ee]rrors?|exception|says?|saying|warning)|problem|message|issue|got|gets?|getting"
    r"|shows?|fails?|failed|failure|failing|with|throws?|crash\w{0,3}|encounter\w{0,4})"
    r"(?: (?:with|of|message|error|code|that|is|was))?"
    r"[\s:,.(-]{0,4}[\"“`](?P<inner>[^\"“”`\n]{16,400})(?:[\"”`]|\Z)"
    r"|[\"“`](?P<first>[^\"“”`\n]{16,400})[\"”`]\s(?:errors?|exception|when|while|on|in|after|during|with|using|for)\b)"
)
#: An exception that prose tells of: `The error is ValueError: ...`, `f.py:ValueError: ...`, `f - (ValueError: ...)`.
_RAISED = warm.pattern(
    r"(?P<mark>[\"'`(\u201c]?)(?<![\w.])(?=[A-Za-z_.]{0,80}[A-Z])(?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{1,60}"
    r"(?:Error|Exception):\s?(?=[\w'\"`\[(<])"
)
#: What a person adds behind a message: `... when I run the script`, `..., how can I solve it?`.
ADDED = warm.pattern(
    r"[\"'`)*]{0,3}[,.]?\s(?:(?:occurs?|occurred|happens|happened|appears|appeared|pops up|comes up)\b(?!:)"
    r"|(?:when|while|after|if|but|and|as) (?:I|we)\b|(?:how|what|why) (?:to|can|do|does|should|is|are)\b"
    r"|(?:any|some) (?:idea|help|suggestion|solution)s?\b)"
)
#: Marks and references behind a message that somebody quotes, and where another script or an escape goes on.
_BEHIND = warm.pattern(r"[\s,;:.!?*`]+(?:#[\d_]{1,9})?\Z|\s#[\d_]{1,9}\Z")
#: A system's number of an error, and what it says about it in another script: the number says it all.
_CODE_TEXT = warm.pattern(rf"(\[(?:WinError|Errno) -?\d{{1,5}}\])\s?{_CJK.pattern}")
_OTHER_WORDS = warm.pattern(rf"{_CJK.pattern[:-1]}|\\n")
#: A quote mark that closes something: behind a word, before a blank or the end.
_CLOSED = warm.pattern(r"(?<=[\w)\]>_!.])[\"`”]|(?<=[\w)\]>_!.])'(?=[\s).,;]|\Z)(?<!s'(?=\s[a-z]))")
_CLOSING = {"(": ")", "\u201c": "\u201d"}
_LONG_WORD = warm.pattern(r"\b[A-Za-z]{3,}")
_ERROR_WORD = warm.pattern(
    r"error|fail|fatal|exception|invalid|cannot|can't|unable|not |out of|unsupported", re.IGNORECASE
)
_TYPE_WORD = warm.pattern(r"\b[A-Z]\w{2,60}(?:Error|Exception)\b")


#: Quoted words that are a message and not a name.
MESSAGE_WORDS = 4
#: A line longer than this was printed by a program, it is nobody's prose.
PROSE_LENGTH = 400


#: Markup of a tracker around a line: it is nobody's message.
_TAG = r"</?(?:pre|code|br|p|div|span|tt|blockquote)(?: [^<>\n]{0,80})?/?>"
_MARKUP_ENDS = warm.pattern(
    rf"\A(?:\s?(?:{_TAG}|\{{(?:code|noformat|quote)[^{{}}\n]{{0,60}}\}}|\{{{{3}}))+\s?"
    rf"|\s?(?:{_TAG}|\{{(?:code|noformat|color|quote)\}}|\}}{{3}}|\s)+\Z"
)


def without_markup(line: str) -> str:
    """The line without tags and marks of a tracker's markup at its ends."""
    return _MARKUP_ENDS.sub("", line) or line if "<" in line or "{" in line or "}}}" in line else line


def without_boilerplate(message: str, stops: Iterable[str]) -> str:
    """The message up to the first line of words that belong to many errors; all of it if nothing would be left."""
    cut = len(message)
    for stop in stops:
        place = message.find(stop)
        if 0 < place < cut and message[:place].strip():
            cut = place
    return message[:cut].rstrip()


def without_prefix(line: str) -> str:
    """The line from the first character that is no rank, time, logger, quote mark or list bullet."""
    peeled = line[prefixes.message_start(line) :]
    peeled = peeled if peeled.strip() else line
    peeled = _unquoted(peeled)
    return html.unescape(peeled) if "&" in peeled and ";" in peeled else peeled


def _unquoted(line: str) -> str:
    """A line that is quoted as a whole without its quotes."""
    mark, bare = line[:1], line.rstrip(" .")
    is_quoted = mark in QUOTES and len(bare) > 2 and bare.endswith(mark) and bare.count(mark) == 2
    return bare[1:-1] if is_quoted and (mark == "`" or bare.count(" ") >= SENTENCE_SPACES) else line


def spaced(text: str) -> str:
    r"""The text with a space wherever a Chinese, Japanese or Korean word touches a name: a `\b` stands there then."""
    return text if text.isascii() else _SEAM.sub(" ", _in_english(text))


def _in_english(text: str) -> str:
    """What the system, the C library and the shell say in Chinese, in the words that they have for it in English."""
    if not _CJK.search(text):
        return text
    known = wording().system
    return _system_words().sub(lambda found: known[found[1]] + (found[3] or ("." if found[2] else "")), text)


@cache
def _system_words() -> re.Pattern[str]:
    literals = sorted(wording().system, key=len, reverse=True)
    own = r"(?:(?<![\u3400-\u9fff])|(?=\w{2,5} ?[(（]核心))"  # no part of a person's sentence
    return warm.pattern(f"{own}({'|'.join(map(re.escape, literals))})(?![\u3400-\u9fff])(。?)(:?)")


def without_foreign_words(line: str) -> str:
    """The longest part of the line that holds no Chinese, Japanese or Korean, if that part reads like an error."""
    if line.isascii() or not _CJK.search(line):
        return line
    line = _CODE_TEXT.sub(r"\1", line)
    if not _CJK.search(line):
        return line
    parts = [part.strip(" ,.;!?、") for part in _CJK.split(line)]
    best = max(parts, key=lambda part: (bool(_TYPE_WORD.search(part)), bool(_ERROR_WORD.search(part)), len(part)))
    return best if len(best) >= 12 and " " in best else line


def without_prose(line: str) -> str:
    """The message that the line quotes, if it is prose around a message of four words or more; else the line."""
    if not any(quote in line for quote in '"“`'):
        return line
    found = _QUOTED_MESSAGE.match(line)
    inner = (found["inner"] or found["first"]) if found is not None else ""
    least = MESSAGE_WORDS - 1 if found is not None and found["said"] else MESSAGE_WORDS
    is_message = len(_LONG_WORD.findall(inner)) >= least and inner.strip().count(" ") >= 2
    return inner.strip() if is_message else line


def without_added(words: str) -> str:
    """Words that a program printed, up to where somebody who quotes them goes on: a mark, prose, another script."""
    for ending in (_OTHER_WORDS, ADDED):
        found = ending.search(words)
        if found is not None and found.start():
            closing = ")" * found[0].count(")")
            words = words[: found.start()] + closing
    for mark in _CLOSED.finditer(words):
        if words.count(mark[0], 0, mark.start()) % 2 == 0:  # nothing here opened it
            words = words[: mark.start()]
            break
    words = _BEHIND.sub("", words) or words
    while words.endswith(")") and words.count(")") > words.count("("):
        words = _BEHIND.sub("", words[:-1])
    return words


def raised_in(line: str) -> str:
    """The line from the exception type on that prose tells of, up to the mark that closes it; else the line."""
    found = _RAISED.search(line) if len(line) <= PROSE_LENGTH else None
    if found is None or not (found.start() or found["mark"]):
        return line
    told = line[found.end("mark") :]
    end = told.rfind(_CLOSING.get(found["mark"], found["mark"])) if found["mark"] else -1
    return told[:end] if end > 0 and len(_LONG_WORD.findall(told[:end])) >= MESSAGE_WORDS else told


def typed(line: str) -> tuple[str | None, str]:
    """The exception type that opens the line, if one does, and the rest of the line."""
    kind: str | None = None
    for _ in range(4):
        found = _TYPE.match(line) or _REMOTE.match(line)
        if found is None:
            break
        kind, line = found["type"], line[found.end() :]
    return kind, line


def bare_type(line: str) -> str | None:
    """The exception type if the line holds nothing else."""
    found = _BARE_TYPE.match(line)
    return found[1] if found else None


def without_status(line: str) -> tuple[str | None, str]:
    """The absl status that opens the line as its canonical name, if one does, and the rest of the line."""
    found = _STATUS.match(line)
    if found is None or found.end() == len(line) or _FIELDS.match(line, found.end()):
        return None, line
    return found[0].rstrip(": ").upper().replace(" ", "_"), line[found.end() :]


def is_specific(exception_type: str) -> bool:
    """Whether a class says what went wrong: not only that something did, or that another layer passes it on."""
    name, table = short_class(exception_type.partition("(")[0]), wording()
    return bool(name) and name not in table.generic_types | table.wrapper_types | table.carrier_types


# The words of a message without its values.

#: A message with fewer telling words than this does not identify an error without its exception type
#: (read on the corpus: "list index out of range" has four, "invalid syntax" two).
TELLING_WORDS = 4

#: How much of a message decides: hints at its end differ between versions.
DECIDING = 160

#: A first sentence with so many telling words says which error it is; what follows is advice that versions reword.
#: Read on the corpus: "Failed to find C compiler." has three, "An error occurred." two.
SENTENCE_WORDS = 3

_SENTENCE_END = warm.pattern(r"[.!?;](?=\s+[A-Z(<'\[*]|\s*\Z)")
#: A first sentence that only says that something failed: what did follows it.
_ANNOUNCING = warm.pattern(
    r"(?:[Tt]here (?:was|is|has been) an? |[Aa]n? )?(?:[Uu]n(?:known|expected|handled) |[Ii]nternal )?"
    r"(?:[Ee]rror|[Ee]xception|[Pp]roblem|[Ff]ailure) "
    r"(?:(?:has )?(?:occurred|happened)|with|while|during|in|when|processing|executing|handling)\b[^.:;]{0,60}"
    r"|[Ss]omething went wrong[^.:;]{0,40}"
)
#: Behind a sentence that only says what failed: the error follows.
_TELLING_WHY = warm.pattern(
    r"\s{1,3}(?:(?:Inner |Nested |Root )?(?:[Ee]rror|[Ee]xception|[Cc]aused? ?(?:by)?|[Rr]eason)s?)\s?[:=] ?\S"
)
#: A remark of three words or more in parentheses at the end; shorter ones hold values.
_ASIDE = warm.pattern(r"\s\((?:[A-Za-z][\w'-]{0,30}[ ,;]{1,2}){2,30}[^()]{0,80}\)\Z")
#: Where the fields of a request begin behind a web server's message, or a node's name behind TensorFlow's.
_TAIL = warm.pattern(
    r",\sclient: \S{1,80}, server: |\sname: \S|\s\(defined (?:at|in) "
    r"|\s\[\[|\sfor '[^'\n]{1,200}' \(op: |\sin function '"
)
#: What a status of HTTP is called, behind it in parentheses.
_REASON = warm.pattern(r"(?<=\b[45]\d\d) ?\((?:[A-Z][A-Za-z' -]{1,40})?\)")
#: PHP's place, whatever it is called; a quote mark before it closes the message.
_PHP_PLACE = warm.pattern(r"'?\sin \S{1,200}(?:\(<n>\))?(?: on line <n>|(?<=<path>) <n>\Z)")
#: What was found instead of what was expected: any value, at the end.
_GOT = warm.pattern(r"(?:[,;]\s(?:but\s)?|\sbut\s)(?:instead\s)?(?:got|received|found)\b.{0,200}\Z")
_OPERATION = warm.pattern(r"\s\[Op:\w{1,80}\]")
#: Where advice begins inside a sentence: versions reword it.
_ADVICE = warm.pattern(
    r"[,;:.]?\s(?:[Pp]lease\b|[Tt]ry (?:to|again|with|using|\w{3,12}ing)\b|[Cc]onsider \w|[Mm]ake sure\b)"
)
MARKUP = ' .,:;!?*`"~_#'
#: A number that a program prints where others name a class.
_HEX_CODE = warm.pattern(r"0[xX][0-9a-fA-F]{4,16}")
_DUNDER = warm.pattern(r"(?<!\w)__\w+$")
SLOT = warm.pattern(r"<[a-z]{1,8}>")
_LETTER = warm.pattern(r"[A-Za-z]")
_WORD = warm.pattern(r"[A-Za-z][A-Za-z']{2,}")
_ANY_WORD = warm.pattern(r"[A-Za-z][A-Za-z']*")


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
        is_headline = _ANNOUNCING.fullmatch(template, 0, found.start()) or _TELLING_WHY.match(template, found.end())
        if says_enough(template[: found.start()]) and not is_headline:
            template = template[: found.start()]
            break
    advice = _ADVICE.search(template)
    return template[: advice.start()] if advice is not None and is_telling(template[: advice.start()]) else template


#: A stack of the JVM that runs on behind the message on its line.
_STACK = warm.pattern(
    r"\s(?:at\s)[\w$.]{3,200}\.[\w$<>]{1,80}\((?:[\w$]{1,80}\.groovy\b|<path>|Native Method|Unknown Source)"
)


def without_tail(template: str) -> str:
    """The template without remarks in parentheses, markup left by quoting, a stack, and TensorFlow's op and node."""
    template = _OPERATION.sub("", template)
    stack = _STACK.search(template)
    if stack is not None and _LETTER.search(template, 0, stack.start()):
        template = template[: stack.start()]
    template = _REASON.sub("", template)
    place = _PHP_PLACE.search(template)
    if place is not None and _LETTER.search(template, 0, place.start()):
        template = template[: place.start()]
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
    codes: dict[str, set[str]] = {}
    for key, code in told_apart(template, DECIDING):
        codes.setdefault(key, set()).add(code)
    found += [(key, ",".join(sorted(values))) for key, values in codes.items()]
    name = short_class(exception_type)
    if _HEX_CODE.fullmatch(name):
        return tuple(sorted({*found, ("errno", name.lower())}))
    if name and name not in wording().generic_types and not is_telling(template):
        found.append(("exception", name))
    return tuple(sorted(found))
