"""Answers kept on disk, one file a question, named by its content: what was asked once is not asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.records import kept
from pipeline.records.errors import StoreError
from pipeline.records.kept import KeptFile, KeptKind, Verdict


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
            found = _fields(self._path(question, shelf))
        except kept.Damaged:
            return None
        return Answer(found["body"], found["host"], is_kept=True)

    def keep(self, question: str, answer: Answer, *, shelf: str = "") -> None:
        """Nothing; the answer's file then is there, whole.

        Raises:
            StoreError: the disk does not take it.
        """
        path = self._path(question, shelf)
        try:
            kept.write(path, kept.sealed_json({"host": answer.host, "body": answer.body, "question": question}))
        except OSError as error:
            hint = "Check free space and rights of the folder, then run the command again: kept answers cost nothing."
            raise StoreError(f"cannot write {path}: {error.strerror}", path=path, hint=hint) from error

    def _path(self, question: str, shelf: str) -> Path:
        return self.folder / (shelf or question[:2]) / f"{question}.json"


def kept_files(folder: Path) -> list[KeptFile]:
    """Every kept answer of `folder`, with what a look at its bytes says."""
    cure = "The next build asks for the answer again."
    return [KeptFile(path, KeptKind.ANSWER, _verdict(path), cure) for path in sorted(folder.glob("[!.]*/[!.]*.json"))]


def _verdict(path: Path) -> Verdict:
    try:
        _fields(path)
    except kept.Damaged as error:
        return error.verdict
    return Verdict.OK


def _fields(path: Path) -> dict[str, Any]:
    """What is kept at `path`. Answers of before have no seal; they are good as long as they have the form of one.

    Raises:
        Damaged: it is no answer, or not to the question that its name says.
    """
    body = kept.read(path)
    before = json_object(body.decode("utf-8", "replace")) or {}
    fields = before if before.keys() == {"body", "host"} else kept.unsealed_json(path, body)
    if not isinstance(fields.get("body"), dict) or not isinstance(fields.get("host"), str):
        raise kept.Damaged(path, "it is no answer")
    if fields.get("question", path.stem) != path.stem:
        raise kept.Damaged(path, "it is the answer to another question")
    return fields


def json_object(text: str, *, keys: Sequence[str] = ()) -> dict[str, object] | None:
    """The JSON object that `text` is, None if it is no object or lacks one of `keys`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and all(key in found for key in keys) else None
