"""Telling somebody that a run failed: a command of theirs, or a webhook."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from urllib.parse import urlsplit

#: A notification must not hold up what it tells of: a command and a webhook each have this long, in all.
SECONDS = 20.0


def notify(event: Mapping[str, object], *, command: Sequence[str] = (), webhook: str = "") -> list[str]:
    """What went wrong in telling; empty if all who are configured were told. Neither address nor command is in it."""
    body = json.dumps(event, ensure_ascii=False, sort_keys=True).encode()
    problems = [_run(command, body)] if command else []
    problems += [_post(webhook, body)] if webhook else []
    return [problem for problem in problems if problem]


def _run(command: Sequence[str], body: bytes) -> str:
    try:
        process = subprocess.Popen(  # noqa: S603  (the person's own command, from their settings; no shell)
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return f"the notification command failed: {type(error).__name__}"
    with process:
        try:
            process.communicate(body, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with all that it started
            return f"the notification command had not ended after {SECONDS:g} s"
    return f"the notification command ended with status {process.returncode}" if process.returncode else ""


def _post(webhook: str, body: bytes) -> str:
    told: list[str] = []
    # in a thread, because urllib's timeout is for each read: who answers one byte at a time holds it for ever
    thread = threading.Thread(target=lambda: told.append(_posted(webhook, body)), daemon=True)
    thread.start()
    thread.join(SECONDS)
    return told[0] if told else f"the notification webhook had not answered after {SECONDS:g} s"


def _posted(webhook: str, body: bytes) -> str:
    try:
        if urlsplit(webhook).scheme not in {"http", "https"}:
            return "the notification webhook is no http address"
        request = urllib.request.Request(  # noqa: S310  (http or https, checked above)
            webhook, data=body, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=SECONDS):  # noqa: S310
            return ""
    except (OSError, HTTPException, ValueError) as error:  # the message of some of them quotes the address
        return f"the notification webhook failed: {type(error).__name__}"
