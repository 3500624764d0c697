"""Answers kept on disk, one file a question, named by its content: what was asked once is not asked again."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Answer:
    """A service's JSON object, and the host that gave it: a kept answer is still that host's."""

    body: Mapping[str, object]
    host: str
    is_kept: bool = False  # it was not asked for now


def question_id(*parts: object) -> str:
    """sha256 of the parts of a question as canonical JSON."""
    asked = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one folder, which is made with the first of them.

    What is about one document may stand on a `shelf` of its own, so that it can go with the document.
    """

    folder: Path

    def kept(self, question: str, *, shelf: str = "") -> Answer | None:
        """The answer to `question`, None if it is not kept or its file is damaged: then it is asked for again."""
        try:
            found = json_object(self._path(question, shelf).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return None
        body, host = (found or {}).get("body"), (found or {}).get("host")
        if not isinstance(body, dict) or not isinstance(host, str):
            return None
        return Answer(body, host, is_kept=True)

    def keep(self, question: str, answer: Answer, *, shelf: str = "") -> None:
        """Nothing; the answer's file then is there, whole."""
        path = self._path(question, shelf)
        path.parent.mkdir(parents=True, exist_ok=True)
        # in ASCII: an answer may hold half a surrogate, which no UTF-8 file can
        text = json.dumps({"host": answer.host, "body": answer.body}, sort_keys=True)
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=".", delete=False) as file:
            file.write(text.encode("ascii"))
        os.replace(file.name, path)

    def _path(self, question: str, shelf: str) -> Path:
        return self.folder / (shelf or question[:2]) / f"{question}.json"


def json_object(text: str, *, keys: Sequence[str] = ()) -> dict[str, object] | None:
    """The JSON object that `text` is, None if it is no object or lacks one of `keys`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and all(key in found for key in keys) else None
