"""Machine translation as an engine: LibreTranslate over HTTP, or a CTranslate2 folder (extra `mt`).

Code, numbers and identifiers are masked before a sentence is sent and put back afterwards; if one of the masks does not
come back, there is no offer.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.engines.answers import Answer, Answers, json_object, question_id
from pipeline.engines.http import JsonService, Refused
from pipeline.lexicon import gates
from pipeline.records import warm
from pipeline.records.errors import ConfigError
from pipeline.translate import rendering
from pipeline.translate.engines import NoOffer, Offer

_MASKED = warm.pattern(rf"{gates.PROTECTED.pattern}|\d+(?:[.,]\d+)*", re.ASCII)
_MASK = warm.pattern(r"ZX(\d{1,3})Z", re.IGNORECASE)
_SENTENCE_END = warm.pattern(r"(?<=[.!?])\s+")

#: Puts sentences into Chinese, one for one; or says why not.
Translate = Callable[[Sequence[str]], list[str] | Refused]


@dataclass(frozen=True, slots=True)
class MaskedTranslator:
    """Any machine translation, asked sentence by sentence with everything masked that must stay."""

    name: str
    translate: Translate

    def offer(self, source: str) -> Offer | NoOffer:
        """The translation with its code and numbers back in place, or why there is none."""
        spans: list[str] = []

        def hide(match: re.Match[str]) -> str:
            spans.append(match.group())
            return f"ZX{len(spans)}Z"

        found = self.translate(_SENTENCE_END.split(_MASKED.sub(hide, source)))
        if isinstance(found, Refused):
            return NoOffer(self.name, found.reason)
        masked = "".join(part.strip() for part in found)
        if sorted(int(number) for number in _MASK.findall(masked)) != list(range(1, len(spans) + 1)):
            return NoOffer(self.name, "a masked place was lost")
        order = [spans[int(number) - 1] for number in _MASK.findall(masked)]
        text = rendering.restore(rendering.set_marks(_MASK.sub(rendering.MARK, masked)), order)
        return Offer(text, "mt_checked", self.name)


def libretranslate(service: JsonService, *, target: str = "zh-Hans") -> MaskedTranslator:
    """An engine that asks a LibreTranslate server; the service's URL ends in /translate."""

    def translate(sentences: Sequence[str]) -> list[str] | Refused:
        payload = {"q": list(sentences), "source": "en", "target": target, "format": "text"}
        answer = service.ask(payload, question=question_id("libretranslate", service.host, payload))
        if isinstance(answer, Refused):
            return answer
        found = answer.body.get("translatedText")
        if not isinstance(found, list) or len(found) != len(sentences):
            return Refused("the answer has not the asked form")
        return [str(part) for part in found]

    return MaskedTranslator(f"mt:libretranslate@{service.host}", translate)


def ctranslate2_folder(
    folder: Path, *, target_prefix: str = ">>cmn_Hans<<", answers: Answers | None = None
) -> MaskedTranslator:
    """An engine that runs a CTranslate2 model: `folder` holds model.bin, source.spm and target.spm.

    What was translated is kept in `answers` by the model's own bytes: another processor may round otherwise, and a
    second build need not translate at all.

    Raises:
        ConfigError: a file is missing, the extra `mt` is not installed, or the model cannot be loaded.
    """
    missing = [name for name in ("model.bin", "source.spm", "target.spm") if not (folder / name).is_file()]
    if missing:
        raise ConfigError(f"[translate] folder {folder} lacks {', '.join(missing)}")
    run = _model(folder, target_prefix)
    digest = _digest(folder / "model.bin")

    def translate(sentences: Sequence[str]) -> list[str]:
        question = question_id("ctranslate2", digest, target_prefix, list(sentences))
        kept = answers.kept(question) if answers else None
        found = kept.body.get("sentences") if kept else None
        if isinstance(found, list) and len(found) == len(sentences):
            return [str(part) for part in found]
        made = run(sentences)
        if answers is not None:
            answers.keep(question, Answer({"sentences": made}, host=""))
        return made

    return MaskedTranslator(f"mt:ctranslate2/{folder.name}", translate)


def _model(folder: Path, target_prefix: str) -> Callable[[Sequence[str]], list[str]]:
    try:
        ctranslate2 = importlib.import_module("ctranslate2")
        sentencepiece = importlib.import_module("sentencepiece")
    except ImportError as error:
        raise ConfigError(
            f"[translate] needs {error.name}", hint="Install the extra `mt`: `pip install -e '.[mt]'` in a checkout."
        ) from error
    try:
        translator = ctranslate2.Translator(str(folder), device="cpu")
        pieces_in = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
        pieces_out = sentencepiece.SentencePieceProcessor(model_file=str(folder / "target.spm"))
    except (RuntimeError, OSError) as error:
        raise ConfigError(f"[translate] the model in {folder} cannot be loaded: {error}") from error
    before = [target_prefix] if target_prefix else []
    after = [] if _ends_sentences(folder) else ["</s>"]

    def run(sentences: Sequence[str]) -> list[str]:
        batch = [[*before, *pieces_in.encode(text, out_type=str), *after] for text in sentences]
        return [str(pieces_out.decode(result.hypotheses[0])) for result in translator.translate_batch(batch)]

    return run


def _ends_sentences(folder: Path) -> bool:
    """True if the model adds the end of a sentence by itself: one that Marian's converter made does."""
    try:
        config = json_object((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return False
    return bool(config and config.get("add_source_eos"))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
