"""House style of Chinese text: full-width marks between Han, one space between Han and Latin, code untouched."""

from __future__ import annotations

import re

from pipeline.lexicon import gates

#: Stands for a protected span while the text around it is set; of the private use area, so no text has it by right.
MARK = "\ue000"

_HAN = r"[\u3400-\u4dbf\u4e00-\u9fff]"
_WIDE = r"[，。：；！？（）、“”‘’《》【】]"
_LATIN = rf"[A-Za-z0-9{MARK}]"
_FULL_WIDTH = {",": "，", ";": "；", ":": "：", "!": "！", "?": "？"}
_HALF = re.compile(rf"(?<={_HAN}) ?([,;:!?]) ?(?={_HAN})")
_STOP = re.compile(rf"(?<={_HAN})\.(?=\s*$)")
_HAN_LATIN = re.compile(rf"(?<={_HAN}) *(?={_LATIN})")
_LATIN_HAN = re.compile(rf"(?<=[A-Za-z0-9+#{MARK}]) *(?={_HAN})")
_HAN_HAN = re.compile(rf"(?<={_HAN}) +(?={_HAN})")
_WIDE_SPACE = re.compile(rf" +(?={_WIDE})|(?<={_WIDE}) +")


def polish(text: str) -> str:
    """The text in house style; what is polished stays as it is."""
    if MARK in text:
        return text
    spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        spans.append(match.group())
        return MARK

    return restore(set_marks(gates.PROTECTED.sub(hide, text)), spans)


def set_marks(masked: str) -> str:
    """House style for a text whose code is hidden behind MARK."""
    text = _HALF.sub(lambda match: _FULL_WIDTH[match.group(1)], masked)
    text = _STOP.sub("。", text)
    text = _HAN_HAN.sub("", text)
    text = _LATIN_HAN.sub(" ", _HAN_LATIN.sub(" ", text))
    return _WIDE_SPACE.sub("", text)


def restore(masked: str, spans: list[str]) -> str:
    """The text with its hidden spans back, in order."""
    parts = masked.split(MARK)
    return "".join(part + (spans[index] if index < len(spans) else "") for index, part in enumerate(parts))
