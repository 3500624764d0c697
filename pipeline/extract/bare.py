"""Exceptions named without a traceback: `RuntimeError: CUDA error: ...` in a title, in prose, in a log."""

from __future__ import annotations

import re

from pipeline.extract import chain, head, python
from pipeline.extract.displays import Fences
from pipeline.extract.lines import Lines, Peeler, is_alone
from pipeline.records import Event, Frame, warm
from pipeline.text import prefixes

#: What TensorFlow 1 puts between a name and the colon.
_TRACED = " (see above for traceback)"
_NAME_BACK = warm.pattern(r"[\w.$]*")
_MARKUP = warm.pattern(r"[\s#*>`\"'\-•|_~]{0,40}(?:\d{1,2}[.)] )?[\s*`\"'_~]{0,10}")
_CODE = warm.pattern(
    r"\b(?:raise|except|catch|class|def|return|import|assert|isinstance|throw|from|print|with pytest|lambda|expect)\b"
    r"|[=({,]\s?[rfbu]{0,2}[\"']?$|//|\+ ?[\"']$"
)
_LEADS = warm.pattern(
    r"(?:[:：\]\-`>）】，。；！？、→|(]|[\u3040-\u30ff\u3400-\u9fff]"
    r"|\b(?:got|gets?|getting|raise[sd]?|throw(?:s|n)?|threw|with|error|errors|hits?|following|fails?|failed"
    r"|by|to|received?|says?|said|saying|encounter\w{0,4}|causes|caused|causing"
    r"|see|seeing|exception|gives?|shows?|of|from|reports?|prints?"
    r"|(?:got|gets?|getting|raise[sd]?|throws?|threw|hits?|received?|see|seeing|encounter\w{0,4}|r[ua]n(?:s|ning)? into"
    r"|results? in|leads? to) (?:an?|the|this)"
    r"))[ \t]{0,3}[`\"'*]{0,3}$",
    re.I,
)
#: A class with its packages, as the JVM names it: in a line of a log it is an exception whatever stands before it.
_OF_PACKAGES = warm.pattern(r"(?:[a-z_]\w{0,80}\.){2,14}[A-Z][\w$]{2,100}")
#: Words with which prose goes on after "I get a TypeError:"; programs do not begin a message so.
_PROSE = warm.pattern(
    r"(?:see|check|look|as|because|and|but|when|whenever|this|that|here|same|which|you|we|above|below|please|is|was|may|should)\b"
    r"|(?:If|if|When|Raised|Thrown|Will be|In case|On|Any|Base|Exception raised) ",
)
#: What stands before an exception that a list of changes calls fixed, or an advice speaks of as one that may come.
_TOLD_OF = warm.pattern(
    r"(?:\A[\s>*#•-]{0,12}|: )(?:[Ff]ix(?:ed|es|ing)?|[Rr]esolved?)(?:\([\w./-]{1,40}\))?!?"
    r"(?: (?:an?|the|bug|issue|error|crash|with|where|for|of|in)){0,4}:? [`'\"*]{0,3}\Z"
    r"|\b(?:[Ii]f|[Ii]n case|[Ww]hen(?:ever)?) you (?:ever |still |also )?(?:see|get|hit|encounter|run into|receive)"
    r"(?: (?:an?|the|this|error|exception|message|like)){0,4}:? [`'\"*]{0,3}\Z"
    r"|(?:(?:修复|修正|解决)|(?:如果|若|假如)[您你]?(?:看到|遇到|出现|收到))了?(?:错误|报错|异常|问题)?"
    r"[:： ]{0,2}[`'\"“「]{0,2}\Z"
)
#: A list of changes says so of itself, also on the first line.
_CHANGES = warm.pattern(
    r"\b(?:change ?log|release notes?|what's new)\b|更新日志|更新内容|更新说明|发布说明|变更记录", re.IGNORECASE
)
#: Words that end like an exception's name and are none, or none without a traceback.
_TOO_BARE = frozenset(("Warning", "Exit", "Failure", "Fault", "Timeout", "Interrupt", "LogExit", "Unsupported"))
#: What stands before a name in documentation, and what an error says at least: a number is a setting's.
_DOCUMENTED = warm.pattern(r"(?::raises?|@throws|@exception|[Rr]aises:?)\s{1,4}[`~:\w]{0,8}\Z")
_LETTERS = warm.pattern(r"[^\W\d_]{2}")
#: Names that tools of all kinds print; only at the head of a line.
_COMMON = frozenset(("Error", "Exception"))
_WARNING_PLACE = warm.pattern(r"(?:[A-Za-z]:)?[^\s:]{1,300}:\d{1,7}: $|<\w{1,20}>:\d{1,7}: $")
#: Triton's message begins with a place in the kernel; the error stands below the listing.
_POSITION = warm.pattern(r"at \d{1,7}:\d{1,6}:\Z")
#: A frame of a JVM's trace, behind other words of its line.
_FLAT = warm.pattern(
    r"\sat (?P<function>(?:[\w$]{1,80}\.){1,14}[\w$<>]{1,80})"
    r"\((?:(?P<file>[\w$]{1,80}\.(?:java|kt|scala|groovy|clj))(?::(?P<line>\d{1,6}))?|Native Method|Unknown Source)\)"
)
#: The cause of such a trace, and what a message of it begins with that is an exception: the class and its words.
_CAUSED = warm.pattern(r"\s{1,8}Caused by: (?=[\w$.]{3,200}(?:: | at |$))")
_QUALIFIED = warm.pattern(
    r"(?P<type>(?:[A-Za-z_$][\w$]{0,80}\.){1,14}[\w$]{1,100})(?:: (?P<message>.*)|(?= at |$))", re.DOTALL
)
_MORE = warm.pattern(r"\.{3} ?(?P<count>\d{1,4}) more\b")
#: The exception of another machine, as Hadoop's calls show it behind that of this one.
_REMOTE = warm.pattern(r"\((?:[a-z_]\w{0,80}\.){1,14}[A-Z][\w$]{1,100}\): (?=\S)")
#: Quotes that open and close what somebody cites.
_QUOTES = {'"': '"', "“": "”", "`": "`", "「": "」"}
#: A string of a listing: nothing but the quote before the name, a bracket or comma behind the message.
_LISTED = warm.pattern(r"(?<!\\n)[\"'](?:\)|,|\.format\(|\s%\s).{0,200}$")
#: A message that stands in prose is kept up to here.
WIDEST_MESSAGE = 2000
MOST_NAME = 160
#: What stands before the name on its line is looked at up to here.
WIDEST_LEAD = 600


def read(text: str, colon: int, *, ceiling: int, fences: Fences) -> Event | None:
    """The exception whose name ends at `colon`, None if that is code or talk; it ends before `ceiling`."""
    backwards = _NAME_BACK.match(text[max(0, colon - MOST_NAME) : colon][::-1])
    assert backwards is not None
    begin = colon - backwards.end()
    while begin < colon and not (text[begin].isascii() and (text[begin].isalpha() or text[begin] == "_")):
        begin += 1
    name = text[begin:colon].strip(".")
    if not name or name in _TOO_BARE:
        return None
    is_known = head.is_exception_name(name) and not name.endswith(head.PACKAGED_ENDINGS)
    if not is_known and not head.is_packaged(name):
        return None
    start = text.rfind("\n", 0, begin) + 1
    stop = text.find("\n", colon)
    stop = min(len(text) if stop < 0 else stop, ceiling, colon + WIDEST_MESSAGE)
    is_traced = _FLAT.match(text, colon) is not None
    if is_traced and "." not in name:
        return None  # somebody tells of it
    message = text[colon:stop] if is_traced else text[colon:stop].removeprefix(_TRACED).lstrip(" :：")
    message = python.trimmed(message.rstrip().rstrip("`*").rstrip())
    before = text[max(start, begin - WIDEST_LEAD) : begin]
    if not message:
        return _event(text, (start, begin, colon), name, "", fences) if is_alone(text, colon) else None
    if not (is_traced or _is_shown(before, message, is_first=start == 0) or _is_logged(name, before, message)):
        return None
    if not is_known and (_DOCUMENTED.search(before) or not _LETTERS.search(message)):
        return None
    if name in _COMMON and (not _MARKUP.fullmatch(before[_prefix_width(before) :])):
        return None
    message = _unquoted(message, text[begin - 1 : begin])
    if (remote := _REMOTE.match(message)) is not None:
        message = message[remote.end() :]
    return _event(text, (start, begin, stop), name, message, fences)


def _unquoted(message: str, opened: str) -> str:
    """The message up to the quote that closes it, where one was opened before the name: "X: y" when I run it."""
    closing = _QUOTES.get(opened)
    if closing is None:
        return message
    said = message.split(closing, 1)[0].removesuffix("\\n").rstrip()
    return said if said and message.count(closing) % 2 else message


def _inside(message: str) -> str:
    """What one pair of single quotes holds, if all of the message stands in them."""
    return message[1:-1] if message[:1] == message[-1:] == "'" else message


def is_first(before: str) -> bool:
    """Whether nothing but prefixes and marks stands before a place on its line."""
    return _MARKUP.fullmatch(before[prefixes.width(before) :]) is not None


def is_led(before: str) -> bool:
    """Whether what stands before a place on its line leads to a printed error: `I get the error: `."""
    return _LEADS.search(before) is not None and _CODE.search(before) is None


def _is_shown(before: str, message: str, *, is_first: bool) -> bool:
    """Whether the line shows the exception as printed, judged by what stands around its name."""
    if _PROSE.match(message) or (message[0] in "{[" and message[-1:] in ",{["):
        return False
    if is_told_of(before, is_first=is_first):
        return False
    rest = before[_prefix_width(before) :]
    lead = _MARKUP.match(rest)
    assert lead is not None
    rest = rest[lead.end() :]
    if not rest:
        if lead.group().endswith(('"', "'")) and _LISTED.search(message):
            return False
        return not (message.endswith((",", "{", "(")) and before[:1].isspace()) and "|" not in message[:2]
    if _WARNING_PLACE.match(rest):
        return True
    if _CODE.search(rest):
        return False
    return is_first or _LEADS.search(before) is not None


def is_told_of(before: str, *, is_first: bool) -> bool:
    """Whether what stands before an error calls it fixed, or one that may come; a title so names that of its thread."""
    return (not is_first or _CHANGES.search(before) is not None) and _TOLD_OF.search(before) is not None


def _is_logged(name: str, before: str, message: str) -> bool:
    """Whether a line of a log tells of the exception by its whole name: "gave up on it java.io.IOException: x"."""
    wide = _prefix_width(before)
    if not wide or _OF_PACKAGES.fullmatch(name) is None or _PROSE.match(message):
        return False
    return _CODE.search(before, wide) is None


def _prefix_width(before: str) -> int:
    """How much of what stands before a name is prefixes: some ask for a word behind them."""
    return min(prefixes.width(before + "X"), len(before))


def _flattened(name: str, message: str) -> list[python.Printed]:
    """The exceptions of a JVM's trace whose lines were run together, the cause of all last; else the one as it is."""
    if _FLAT.search(message) is None:
        return [python.Printed(exception_type=name, message=message, detail=message)]
    found: list[python.Printed] = []
    for part in _CAUSED.split(message):
        first = _FLAT.search(part)
        said = part[: first.start() if first is not None else len(part)].rstrip()
        frames = [
            Frame(one["file"], int(one["line"]) if one["line"] else None, one["function"])
            for one in _FLAT.finditer(part)
        ]
        if (named := _QUALIFIED.match(said)) is not None and (found or name in _COMMON):
            name, said = named["type"], named["message"] or ""
        shared = _MORE.search(part) if found else None
        common = found[-1].frames[: int(shared["count"])] if shared is not None else []
        found.append(python.Printed(exception_type=name, message=said, detail=part, frames=[*common, *frames[::-1]]))
    for outer in found[:-1]:
        outer.link = "cause"
    return found


def _event(text: str, span: tuple[int, int, int], name: str, message: str, fences: Fences) -> Event:
    start, begin, stop = span
    inner = head.strict(_inside(message)) if name in _COMMON else None
    if inner is not None and inner.message:  # "Error: TypeError: x": who prints it only says that it failed
        name, message = inner.exception_type, inner.message
    flat = _flattened(name, message)
    printed = flat[-1]
    printed.end = stop
    lead = text[start:begin]
    is_alone = begin - start < WIDEST_LEAD and not lead[prefixes.width(lead) :].strip()
    if is_alone and (_POSITION.match(message) or (not lead.strip() and fences.hold(begin))):
        python.message(Lines(text, start, Peeler(prefixes.shape(lead) if lead.strip() else None)), 0, printed)
        if chain.HEADER in printed.detail:
            printed.end = stop
    made = chain.event(flat, start=begin, dialect="exception-line")
    assert made is not None
    return made
