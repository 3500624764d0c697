"""Reading PO files at run time: the part of the format that our memories use."""

from __future__ import annotations

import re

_STRING = re.compile(r'^(msgctxt|msgid|msgstr)? ?"(.*)"$')
_ESCAPE = re.compile(r"\\(.)")
_FUZZY = re.compile(r"^#,.*\bfuzzy\b", re.MULTILINE)


def pairs(text: str) -> list[tuple[str, str]]:
    """(msgid, msgstr) of every entry that has both and is not fuzzy; strings may continue over lines."""
    found = []
    for block in re.split(r"\n[ \t]*\n", text):
        english, chinese = _pair(block)
        if english and chinese and not _FUZZY.search(block):
            found.append((english, chinese))
    return found


def _pair(block: str) -> tuple[str, str]:
    fields = {"msgid": "", "msgstr": "", "msgctxt": ""}
    name = "msgctxt"
    for line in block.splitlines():
        match = _STRING.match(line.strip())
        if match:
            name = match.group(1) or name
            fields[name] += _ESCAPE.sub(_unescaped, match.group(2))
    return fields["msgid"], fields["msgstr"]


def _unescaped(escape: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(escape.group(1), escape.group(1))
