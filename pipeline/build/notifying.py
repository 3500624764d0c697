"""Telling somebody that a run failed: a command of theirs, or a webhook."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

#: A notification must not hold up what it tells of.
_SECONDS = 20


def notify(event: Mapping[str, object], *, command: Sequence[str] = (), webhook: str = "") -> list[str]:
    """What went wrong in telling; empty if all who are configured were told. Neither address nor command is in it."""
    body = json.dumps(event, ensure_ascii=False, sort_keys=True).encode()
    problems = [_run(command, body)] if command else []
    problems += [_post(webhook, body)] if webhook else []
    return [problem for problem in problems if problem]


def _run(command: Sequence[str], body: bytes) -> str:
    try:
        done = subprocess.run(list(command), input=body, timeout=_SECONDS, check=False, capture_output=True)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the notification command failed: {type(error).__name__}"
    return f"the notification command ended with status {done.returncode}" if done.returncode else ""


def _post(webhook: str, body: bytes) -> str:
    if urlsplit(webhook).scheme not in {"http", "https"}:
        return "the notification webhook is no http address"
    request = urllib.request.Request(  # noqa: S310  (http or https, checked above)
        webhook, data=body, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
            return ""
    except (OSError, urllib.error.URLError) as error:
        return f"the notification webhook failed: {type(error).__name__}"
