"""Expressions of tables, compiled when a text first asks for them: of hundreds, most texts need a few dozen.

To compile them all took each process as long as to read fifty threads.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, AnyStr, cast

#: What is asked of an expression.
_ASKED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "groups", "groupindex")


class _Late:
    """An expression that is compiled when something is first asked of it; from then on it costs what it cost before."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        """What is not there yet: it is asked for the first time."""
        if name not in _ASKED:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        vars(self).update((each, getattr(compiled, each)) for each in _ASKED)
        return vars(self)[name]


@cache
def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The expression, not compiled yet; two of the same letters are one. Whether it can be is for a test to say."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))
