"""What PowerShell written with brackets does, as far as the reader of shells does not see it."""

from __future__ import annotations

import re

_DOWNLOADS = re.compile(
    r"\b(?:irm|iwr|invoke-restmethod|invoke-webrequest|downloadstring|downloadfile|downloaddata|webclient|curl|wget"
    r"|start-bitstransfer|xmlhttp|winhttp)\b", re.IGNORECASE
)  # fmt: skip
_EVALUATES = re.compile(
    r"\b(?:iex|invoke-expression)\b|\[scriptblock\]::create|(?:^|[\s;|(])&\s?\(|invoke-command\b.*-scriptblock",
    re.IGNORECASE,
)
_HIDES = re.compile(r"frombase64string|-e(?:nc|ncodedcommand)\s+[A-Za-z0-9+/=]{12,}|-join\s?\(|\[char\]", re.IGNORECASE)


def faults(text: str) -> list[str]:
    """What a line of PowerShell does beyond what a shell's reader sees."""
    if not _EVALUATES.search(text):
        return []
    if _DOWNLOADS.search(text):
        return ["runs-the-network"]
    return ["hidden-code"] if _HIDES.search(text) else []
