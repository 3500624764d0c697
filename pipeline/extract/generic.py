"""The fallback: of a text in which no rule sees a failure, the line that looks most like an error of a program.

Its event is of the dialect `generic`: a guess, and nobody takes it for more. It is looked for where people paste what
programs print: in blocks of code, at the beginning of lines, in quotes behind words such as "I get the error".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from pipeline.extract.blocks import FEWEST, PLAIN, Line, holds_sign, word_count, words_at
from pipeline.records import Event, Frame, Severity, warm

DIALECT = "generic"

#: So much is looked at of a line's words; so much is kept. What is longer is data.
_READ, _LONGEST = 200, 400

#: A line that is nothing but a quote of what was printed.
_QUOTED = warm.pattern(
    r"[ \t>*-]{0,12}(?:`{1,3}[^`\n]{8,600}`{1,3}|<code>[^<\n]{8,600}</code>|\{\{[^}\n]{8,600}\}\})[ \t.*]{0,6}$"
)

# What is said of an error.

_KINDS = (
    r"(?:[Uu]ncaught|[Uu]nhandled|[Ff]atal|[Ii]nternal|[Cc]ritical|[Ss]yntax|[Rr]untime|[Pp]ars(?:e|ing)"
    r"|[Cc]ompil(?:e|er|ation)"
    r"|[Cc]onnection|[Nn]etwork|[Aa]ccess|[Vv]alidation|[Cc]onfig(?:uration)?|[Dd]atabase|[Ss]erver|[Ll]inker|[Bb]uild"
    r"|[Tt]ype|[Ss]ystem|[Rr]ead|[Ww]rite|[Ll]oad(?:ing)?|[Ss]cript|[Ll]exical|[Pp]ermission|[Ss]egmentation)"
)
#: A program says that it failed: its name, a word for an error, a colon, and what failed.
_ANNOUNCED = warm.pattern(
    rf"(?:[\w./@+-]{{1,60}}(?:\[\d{{1,9}}\])?: {{1,2}}){{0,3}}(?:{_KINDS} ){{0,2}}"
    r"(?:[Ee]rror|ERROR|ERR!?|FATAL(?: ERROR)?|[Ff]atal|CRITICAL|SEVERE|[Pp]anic|[Ff]ault|[Aa]bort)"
    r"(?: (?:code |no\.? |#)?-?\w{1,12}| \([^()\n]{1,60}\)| \[[^\]\n]{1,60}\]|\[[^\]\n]{1,40}\])?"
    r" ?(?::{1,2}|[-–—] ) {0,4}\S"
)
#: The same with any word before the one for an error: surer in a block than in prose.
_NAMED_KIND = warm.pattern(
    r"(?:[\w./-]{1,60}: {1,2}){0,3}(?:[A-Za-z]{3,14} ){1,2}(?:[Ee]rror|ERROR)(?: \w{1,12})?: {1,3}\S"
)
#: A logger's level of an error, in what stands before the words.
_LEVEL = warm.pattern(r"(?:^|[\s\[|:(<])(?:ERROR|FATAL|SEVERE|CRITICAL|CRIT|EMERG|PANIC|E)[\]|:)>]?(?=[\s|:-])")
#: A logger's line at an error's level, wherever it stands: in brackets, or behind a time.
_LOGGED = warm.pattern(
    r"[ \t>]{0,8}(?:\{color:?#?\w{0,20}\} ?)?(?:\[[^\]\n]{1,40}\] {0,3}|[\d/:T.,Z -]{8,32} ?){0,2}"
    r"(?:\[(?:ERROR|FATAL|error|fatal|SEVERE|CRITICAL)\]|(?<=[\d\] ])(?:ERROR|FATAL|SEVERE|CRITICAL)(?=[ :|]))"
)
#: What a program says of what it could not do, at the beginning of its words; before them stand who says it, and where.
_BEGINS = warm.pattern(
    r"(?:(?:[\w./@+-]{1,60}(?:\[\d{1,9}\])?|'[^'\n]{1,80}'|\"[^\"\n]{1,80}\"|`[^`\n]{1,80}`): {1,2}){0,4}"
    r"(?:[Ff]ailed (?:to|with|at|loading|opening|while|in|on|when)\b|FAILED\b|[Uu]nable to\b|[Cc]an(?:not|'t| not)\b"
    r"|[Cc]ould ?n(?:ot|'t)\b|[Nn]o such\b|[Pp]ermission denied|[Aa]ccess (?:is )?denied"
    r"|[Cc]onnection (?:refused|reset|timed|closed|failed|lost)"
    r"|[Uu]nexpected (?:token|end|character|error|identifier|EOF|string|keyword|symbol|value|reserved|response"
    r"|argument)"
    r"|[Uu]nknown (?:\w{1,20} )?(?:option|command|column|error|argument|host|module|type|property|format|identifier|key"
    r"|symbol|exception|parameter)"
    r"|[Uu]ndefined (?:symbol|reference|variable|index|method|local|function|is not|identifier)"
    r"|(?:[Ii]nvalid|[Mm]issing|[Uu]nsupported|[Uu]nrecogni[sz]ed|[Uu]nresolved|[Ii]llegal|[Tt]oo many|[Dd]uplicate"
    r"|[Cc]ircular) \w+|[Bb]ad \w{1,20} |[Oo]ut of (?:memory|range|bounds|space)|[Ss]egmentation fault"
    r"|[Aa]ssert(?:ion)? fail|[Aa]borted\b|[Tt]imed? ?out\b|[Ee]xpected \S.{0,80}\b(?:got|but|found)\b"
    r"|[Aa]n (?:unknown |unexpected |internal |unhandled )?(?:error|exception) (?:has )?occurred"
    r"|[Ee]rror (?:while )?\w{3,14}ing\b|[Ss]omething went wrong|[Nn]ot? (?:enough|found|implemented|supported"
    r"|permitted|allowed)\b|[Uu]ncaught\b|[Tt]here was an error)"
)
#: The same at their end or in their midst.
_SAYS = warm.pattern(
    r"\b(?:failed(?:\.|!|$| with\b| to \w|: | because| in \w| for\b| due to)|not found\b"
    r"|(?:does|did) ?n(?:ot|'t) (?:exist|match|support|have an? )"
    r"|is not (?:a |an |defined|supported|recogni[sz]ed|found|installed|valid|allowed|available|assignable|in "
    r"|implemented|permitted|set|registered)|(?:was|were|been) not (?:found|declared|defined|able|set)"
    r"|has no (?:member|method|property|attribute|exported|field)"
    r"|cannot (?:be (?:found|loaded|opened|read|resolved|used|cast|converted|applied|null|empty)|find|read|open|load)"
    r"|could not (?:be|find|read|open|load|connect|resolve)|undefined (?:symbol|reference|method|variable)|is undefined"
    r"|is null\b|permission denied|access denied|connection refused|timed out|no such file|out of memory"
    r"|already (?:exists|in use|defined|declared)|unexpected (?:token|end|EOF|error)"
    r"|\bno [\w.-][^;:]{0,60} (?:could be|was|were) found\b|is (?:a )?required (?:property|argument|parameter|field"
    r"|option)|too (?:many|few|large|long|big)\b|unable to \w"
    r"|denied\b|mismatch\b|exited with (?:code |status |signal )?-?[1-9]|exit (?:code|status) -?[1-9]|crashed\b"
    r"|core dumped|refused\b)"
)
#: Words that lead to what a program printed, and the quote of it.
_TOLD = warm.pattern(
    r"\b(?:errors?|exception|message|fail(?:s|ed|ure|ing)?|got|gets?|getting|see|seeing|says?|saying|throws?|threw"
    r"|returns?|shows?|reports?|prints?|with|warning|log)\b[^`\"“*\n]{0,60}(?:[`\"“]|\*\*)"
    r"(?P<said>[^`\"“”*\n]{12,400})(?:[`\"”]|\*\*)",
    re.IGNORECASE,
)
#: The same before the word.
_SAID = warm.pattern(r"[`\"“](?P<said>[^`\"“”\n]{12,400})[`\"”] {1,2}(?:errors?|exceptions?|message)\b", re.IGNORECASE)

#: The same in single quotes, where an exception is named.
_NAMED_SINGLE = warm.pattern(
    r"(?<![\w'])['‘](?P<said>(?:Uncaught )?[A-Z]\w{1,60}(?:Error|Exception): [^'’\n]{6,300})['’]"
    r" {1,2}(?:errors?|exceptions?)\b"
)
#: A quote of any kind, and what leads to one that was printed whatever it says: a word for an error right before it, or
#: before a colon; so much is looked at of that.
_QUOTE = warm.pattern(
    r"(?:(?:\*\*)?[`\"“]|\*\*|\{\{)\*{0,3} ?(?P<said>(?:(?![`\"“”]|\}\})[^\n]){10,300}?)(?:[`\"”]|\*\*|\}\})"
)
_LEADS_TO = warm.pattern(
    r"\b(?:(?:error|exception|warning)(?: (?:message|text|log|that))?(?:,? {1,2}(?:is|was|as|of|saying|says|said"
    r"|stating|states|with|like|that|the|reads|reading|it)){0,3}(?: ?:| -)?"
    r"|(?:this|following|an?) (?:\w{2,12} )?(?:error|exception)\b[^\n:]{0,120}:"
    r"|(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|errors? out|dies|died|exit(?:s|ed)|reject(?:s|ed)|complain(?:s|ed|ing)?"
    r"|breaks|stops|stopped) (?:with|saying|that|about)(?: an?| the| this| following)?(?: message)?:?"
    r"|(?:gets?|getting|got|see|seeing|receive[sd]?|receiving|show(?:s|ing)?) (?:an?|the|this|following|such)"
    r"(?: \w{2,12})? message(?: saying| that says| as)?:?) {1,2}\Z",
    re.IGNORECASE,
)
_LEAD = 160
#: The same behind it: "fails with a `…` error".
_CALLED = warm.pattern(r" (?:errors?|exceptions?)\b", re.IGNORECASE)
_CALLS_IT = warm.pattern(r"\b(?:gets?|got|getting|with|throws?|threw|an?|the|following|see) \Z", re.IGNORECASE)
#: One of these stands in a line that calls something an error so.
_CALLS = ("rror ", "rror:", "xception ", "xception:", " with ", " message", "rrors", "xceptions")
#: So many words an error's text has that nothing else makes one, and what begins no such text: code, a name, a title.
_TEXT = warm.pattern(r"(?:[\w'’.,:;()<>*\[\]/#%&+-]{1,60} {1,2}){2,40}\S{1,80}$")

#: The same in single quotes, where nothing but the quote follows the word.
_SAID_SINGLE = warm.pattern(
    r"\b(?:errors?|exception|message)[:,]? {1,2}['‘](?P<said>[^'‘’\n]{12,400})['’]", re.IGNORECASE
)
#: An exception that prose says was thrown; not one that should be.
_THROWN = warm.pattern(
    r"(?<!should )(?<!would )(?<!could )(?<!might )(?<!must )(?<!can )(?<!may )(?<!to )(?<!not )(?<!n't )(?<!will )"
    r"\b(?:throws|threw|thrown|raises|raised|throwing|crash(?:es|ed) with|fail(?:s|ed) with|gets|getting|got"
    r"|receive[sd]|receiving|gives|gave)(?: an?| the| this| following| me){0,3}(?: error| exception)?:? [`'\"(*]{0,2}"
    r"(?P<said>(?:[A-Za-z_]\w{0,60}(?:\.|::|\\)){1,8}\w{0,60}(?:Exception|Error)\b)",
    re.IGNORECASE,
)
#: The end of such a name.
_EXCEPTION = warm.pattern(r"[.:\\]\w{0,60}(?:Exception|Error)\b", re.IGNORECASE)

# What is no such line.

#: Source code, settings, commands, tests, tables.
_CODE = warm.pattern(
    r"^(?:[$#%>] ?(?!\d)|//|/\*|\*|\||--(?! )|<[/!?\w]|[\[{(]?\s{0,8}[\"'][\w$ .-]{1,80}[\"']\s{0,4}:|@"
    r"|(?:import|from|def|func|fn|class|var|let|const|echo|package|public|private|static|void|int|case|switch|sudo"
    r"|docker|git|curl|make|cd|apt) |(?:if|for|while|return|try|catch|throw|raise|except|else|print)\b"
    r"|assert\w{0,20}[(.]|expect\(|it\(|describe\(|log\.|logger|console\.|#include|npm (?:i|run|install)\b|pip install)"
    r"|[;{}]\s{0,8}$|[({,]\s{0,8}$|=>|\s(?:==|!=|:=|\+=|&&|\|\|)\s|\w\(\w{0,80}\)\s{0,4}[;{.]|\breturn\s|\$\{|%[sdv]\b"
    r"|\bnew [A-Z]\w{0,60}\(|\)\s{0,4}\{|\w = |</\w|\w\.\w{1,40}\([\"'`]|:\s{0,4}(?:async )?function\b"
    r"|[\"'`]\)[,;]?\s{0,4}$|[\"'] ?\+\s{0,4}$"
)
#: Ordinary talk, what is only noted, what stands for something else.
_TALK = warm.pattern(
    r"\b(?:I|I'm|I've|my|we|our|you|your|please|should|would|think|maybe|anyone|thanks|help|issue|problem|bug|fix"
    r"|workaround|seems?|instead|try|tried|when I|hope|want|sorry|will be|skipping|using the|ignoring)\b|\?\s{0,8}$"
    r"|\bif\b.{0,200}\bthen\b|<\w{1,20} \w{1,20}>|\\<|\bQ?(?:INFO|DEBUG|TRACE|WARN|WARNING)\b|^[+-]1 "
    r"|\beven\b|^< ?[\w-]{1,30}> ",
    re.IGNORECASE,
)


#: What a program says to whoever uses it, too.
_ADDRESSES = warm.pattern(r"\b(?:your?|please)\b", re.IGNORECASE)

#: An exception that opens the words.
_NAMED = warm.pattern(
    r"(?:Uncaught )?(?P<type>(?:[A-Za-z_$][\w$]{0,60}(?:\.|::|\\)){0,8}(?:[A-Z]\w{0,60})?(?:Error|Exception))"
    r"(?: \[[A-Z_]{2,40}\])?: {1,2}(?P<msg>\S.*)"
)


#: An exception that stands anywhere among the words, before a colon or at their end, or a result that Windows names.
_TYPED = warm.pattern(
    r"(?:(?<=[\s:(\"'`=])|\A)(?:(?P<type>(?:[A-Za-z_$][\w$]{0,60}(?:\.|::|\\)){0,8}(?:[A-Z]\w{0,60}(?:Error|Exception)|Error))"
    r"(?:: {1,2}(?P<msg>\S.*)|(?=:?$| at ))|(?P<code>0x8[0-9A-Fa-f]{7}|E(?:NOENT|ACCES|PERM|EXIST|BUSY|AGAIN|INVAL|PIPE"
    r"|NOTDIR|ISDIR|NOTEMPTY|MFILE|NOSPC|ROFS|TIMEDOUT|ADDRINUSE|CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|HOSTUNREACH"
    r"|NETUNREACH|NOMEM|IO|XDEV|LOOP))\b"
    # Python 2 shows a class so
    r"|<(?:type|class) '(?P<shown>(?:[A-Za-z_]\w{0,60}\.){0,8}\w{1,60}(?:Error|Exception))'>:? (?P<rest>\S.*))"
)


#: The place in a source that opens the words of compilers and linters: "kiln.go:7: ", "kiln.ts(4,2): error TS9: ".
_PLACE = warm.pattern(
    r"(?:\./|\.\\)?(?P<file>(?:[A-Za-z]:)?[\w.\\/@+~-]{1,200}\.[A-Za-z]\w{0,9})(?:\?[\w.=&-]{1,60})?"
    r"(?::(?P<line>\d{1,7})(?::\d{1,5})?|\((?P<row>\d{1,7})(?:,\d{1,5})?\)):? {1,2}"
    r"(?:-? ?(?:[Ff]atal )?(?:[Ee]rror|ERROR)(?: [A-Z]{1,4}\d{1,6})?: {1,2})?(?P<msg>\S.*)"
)

#: Types that say no more than that something failed.
_SAYS_NOTHING = frozenset({"Error", "Exception"})

#: A field of an object as JSON has it, as a line that shows a part of one begins, and what stands in such fields.
_IS_FIELD = warm.pattern(r"[\[{]{0,2}\s{0,4}\"?\w[\w.-]{0,40}\"\s{0,4}:\s{0,4}[\"{\[]")
_FIELD = warm.pattern(
    r"\"?\b(?:\w{0,20}_)?(?:message|msg|error|err|reason|details?|description|cause|title|text)\"\s{0,4}:\s{0,4}"
    r"\"(?P<said>(?:[^\"\\\n]|\\.){6,600})",
    re.IGNORECASE,
)


#: One of these opens every quote of what was printed.
_OPENS_QUOTE = ("`", '"', "“", "‘", "**", " '", "{{")

#: So many names of a line are looked at for the one that says what failed.
_MOST_NAMED = 4
#: How sure a guess is: a line that announces an error, one that says what failed.
_SURE, _LIKELY, _TOLD_OF = 3, 2, 1


#: What opens and closes coloured, printed or listed words on a page; a backtick that closes what was opened is theirs.
_OPENED = warm.pattern(
    r"(?:(?:\{(?:color|code|noformat|quote)(?::[^}\n]{0,30})?\}|</?(?:p|pre|code|b|li|div|span|td|font)\b[^>\n]{0,60}>"
    r"|\*{1,2}(?=\w)|: )[ \t]{0,4}){1,6}(?=\S)"
)
_CLOSED = warm.pattern(
    r"(?:\s{0,4}(?:\{(?:color|code|noformat|quote)\}|</(?:p|pre|code|b|li|div|span|td|font)>|<br ?/?>)){1,6}\s{0,4}\Z"
)


class _Guess(NamedTuple):
    """A line that may be the error: how sure that is, where its words stand."""

    score: int
    start: int
    message: str


def read(lines: Iterable[Line]) -> Event | None:
    """The most telling of the lines of a text without failures that rules know, None if none looks printed."""
    best: _Guess | None = None
    for line in lines:
        for guess in _guesses(line, is_sure=best is not None):
            if best is None or guess.score > best.score:
                best = guess
        if best is not None and best.score == _SURE:
            break
    return _event(best) if best is not None else None


def stated(line: Line, start: int, words: str) -> Event:
    """The event of a line that states an error from `start` on; of a line of prose, what it quotes as printed."""
    if line.lang is None and (told := next(_outside(line, is_sure=False), None)) is not None:
        return _event(told)
    at, words = without_markup(words)
    start += at
    at, words = _field(words)
    start += at
    found = list(islice(_TYPED.finditer(words), _MOST_NAMED))
    if not found:
        return _event(_Guess(_LIKELY, start, words))
    # "Error: no fire: KilnError: lid is open": the first only says that something failed
    named = next((one for one in found if one["type"] not in _SAYS_NOTHING), found[0])
    kind, said = named["type"] or named["shown"] or named["code"], named["msg"] or named["rest"] or words
    if named["msg"] and kind not in _SAYS_NOTHING and _leads(line, words[: named.start()]):
        start, words = start + named.start("type"), words[named.start("type") :]
    return _event(_Guess(_LIKELY, start, words), (kind, said))


def _leads(line: Line, words: str) -> bool:
    """Whether words only lead to what was printed: "then the kiln stops with LidError: lid is open"."""
    return word_count(words, len(words)) > FEWEST and (line.lang is None or not holds_sign(words))


def _event(guess: _Guess, told: tuple[str, str] | None = None) -> Event:
    """The event of a guess; `told`: its type and its message, if they are known."""
    if told is None:
        named = _NAMED.match(guess.message)
        is_bare = guess.score == _TOLD_OF  # prose names an exception, and none of its words
        kind = guess.message if is_bare else named["type"] if named is not None else None
        message = "" if is_bare else named["msg"] if named is not None else guess.message
    else:
        is_bare = False
        kind, message = told
    frames: tuple[Frame, ...] = ()
    place = _PLACE.match(guess.message)
    if place is not None and (kind or word_count(place["msg"], _READ) >= FEWEST):
        frames = (Frame(place["file"], int(place["line"] or place["row"]), None),)
        if kind is None:
            message = place["msg"]
    return Event(
        dialect=DIALECT,
        exception_type=kind,
        message=message[:_LONGEST],
        detail="" if is_bare else guess.message,
        frames=frames,
        chain=(),
        codes=(),
        start=guess.start,
        end=guess.start + len(guess.message),
        is_truncated=guess.message.endswith(("...", "…")),
        severity=Severity.ERROR,
    )


def _guesses(line: Line, *, is_sure: bool) -> Iterator[_Guess]:
    """What a line may be taken for; `is_sure`: nothing that is only likely is wanted."""
    if line.lang is not None:
        yield from _inside(line, line.lang, is_sure=is_sure)
    elif _QUOTED.match(line.text):
        yield from _inside(line, "", is_sure=is_sure)
    else:
        yield from _outside(line, is_sure=is_sure)


def _inside(line: Line, lang: str, *, is_sure: bool) -> Iterator[_Guess]:
    """In a block of code: a line that announces an error, or says what failed."""
    at = words_at(line.text)
    words = line.text[at:].rstrip()
    count = word_count(words, _READ)
    if count < FEWEST:
        return
    # the expression for code is the slowest, and asked last
    if line.is_loud and _ANNOUNCED.match(words):
        if not _CODE.search(words):
            yield _guess(_SURE, line.start + at, words)
    elif lang in PLAIN:
        if (line.is_loud and _LOGGED.match(line.text)) or (at and _LEVEL.search(line.text[:at])):
            score = _SURE
        elif (
            not is_sure and count > FEWEST and (_BEGINS.match(words) or _SAYS.search(words) or _NAMED_KIND.match(words))
        ):
            score = _LIKELY
        else:
            return
        if not _TALK.search(words) and not _CODE.search(words):
            yield _guess(score, line.start + at, words)


def _outside(line: Line, *, is_sure: bool) -> Iterator[_Guess]:
    """Outside: a quote behind words that lead to one, a logger's line, a line that announces an error."""
    if not is_sure:
        for at, said in _quoted(line.text):
            yield _guess(_LIKELY, line.start + at, said)
        # what stands before the verb is asked at each letter: the name of an exception is the quicker question
        if _EXCEPTION.search(line.text) and (thrown := _THROWN.search(line.text)) is not None:
            yield _Guess(_TOLD_OF, line.start + thrown.start("said"), thrown["said"])
    if not line.is_loud:
        return
    at = words_at(line.text)
    words = line.text[at:].rstrip()
    count = word_count(words, _READ)
    if count < FEWEST:
        return
    if _LOGGED.match(line.text):
        if not _CODE.search(words):
            yield _guess(_SURE, line.start + at, words)
    elif is_sure or count == FEWEST:
        return
    elif _ANNOUNCED.match(words) and not _TALK.search(words) and not _CODE.search(words):
        yield _guess(_LIKELY, line.start + at, words)


def _quoted(line: str) -> Iterator[tuple[int, str]]:
    """What a line quotes as printed: where, and the words."""
    if not any(mark in line for mark in _OPENS_QUOTE):
        return
    others = (said for said in _SAID.finditer(line) if _NAMED.match(said["said"]))
    for told in (*_TOLD.finditer(line), *others, *_SAID_SINGLE.finditer(line)):
        said = told["said"].strip()
        is_printed = any(find(said) for find in (_ANNOUNCED.match, _NAMED.match, _BEGINS.match, _SAYS.search))
        if is_printed and word_count(said, len(said)) > FEWEST and not _CODE.search(said):
            yield line.index(said, told.start("said")), said
    if any(sign in line for sign in _CALLS):
        yield from _called(line)


def _called(line: str) -> Iterator[tuple[int, str]]:
    """What a line itself calls the text of an error: where, and the words."""
    for told in (*_NAMED_SINGLE.finditer(line), *_QUOTE.finditer(line)):
        said = told["said"].strip()
        if not _TEXT.match(said):
            continue
        lead = line[max(0, told.start() - _LEAD) : told.start()]
        is_called = told.re is _NAMED_SINGLE or _LEADS_TO.search(lead) is not None
        is_called = is_called or (_CALLED.match(line, told.end()) is not None and _CALLS_IT.search(lead) is not None)
        if is_called and not _CODE.search(said) and not _TALK.search(_ADDRESSES.sub("", said)):
            yield line.index(said, told.start("said")), said


def without_markup(words: str) -> tuple[int, str]:
    """Words without what a page puts around them, and where they begin: `{color:red}[ERROR] no fire{color}`."""
    opened = _OPENED.match(words)
    at = opened.end() if opened is not None else 0
    if at:
        at += words_at(words[at:])
    said = _CLOSED.sub("", words[at:])
    return (at, said) if word_count(said, len(said)) >= FEWEST else (0, words)


def _guess(score: int, start: int, words: str) -> _Guess:
    at, said = _field(words)
    return _Guess(score, start + at, said if at else said.rstrip("`*\"' ") or said)


def _field(words: str) -> tuple[int, str]:
    """Of a part of an object the field that tells what failed, and where it stands; of other words themselves."""
    for field in _FIELD.finditer(words) if _IS_FIELD.match(words) else ():
        if holds_sign(field["said"]) and word_count(field["said"], _READ) > 1:
            return field.start("said"), field["said"].rstrip()
    return 0, words
