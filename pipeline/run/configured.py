"""The engines that the settings switch on, with their keys from the environment; nothing is imported for what is off.

`cli` and `flows` both build, and both ask here: a secret passes neither a setting nor a flow's parameter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pipeline.config import Enrich, Settings, Translate
from pipeline.run.build import current
from pipeline.run.build.engines import NO_ENGINES, Engines
from pipeline.run.build.places import Places

if TYPE_CHECKING:
    from pipeline.engines.answers import Answers
    from pipeline.engines.chat import Service
    from pipeline.engines.enrich import Reader
    from pipeline.engines.http import Budget
    from pipeline.run.build.engines import Translator

ENRICH_KEY = "ERRMINE_ENRICH_KEY"
TRANSLATE_KEY = "ERRMINE_TRANSLATE_KEY"


def engines(settings: Settings, *, environ: Mapping[str, str] | None = None) -> Engines:
    """The engines of `settings`.

    Raises:
        ConfigError: a model's folder lacks a file, or the extra `mt` is not installed.
    """
    environ = os.environ if environ is None else environ
    if settings.enrich is None and settings.translate is None:
        return NO_ENGINES
    return Engines(
        reader=_reader(settings.enrich, settings, environ.get(ENRICH_KEY, "")) if settings.enrich else None,
        reads_all=settings.enrich is not None and settings.enrich.threads == "all",
        translators=_translators(settings.translate, settings, environ.get(TRANSLATE_KEY, ""))
        if settings.translate
        else (),
    )


def seen(settings: Settings) -> current.Seen | None:
    """What a build would read now; None where engines are on: an endpoint that gave no answer may give one now."""
    if settings.enrich is not None or settings.translate is not None:
        return None
    told = settings.model_dump_json(exclude={"schedule", "notify", "origin"})
    return current.seen(Places.of(settings.home), told=told, overrides=settings.overrides_path)


def reader(section: Enrich, settings: Settings, service: Callable[[Answers, str], Service]) -> Reader:
    """A reader that asks `service`, which is made from the kept answers and the name of the host."""
    from pipeline.engines.answers import Answers
    from pipeline.engines.batch import NO_HOST
    from pipeline.engines.chat import ChatModel
    from pipeline.engines.enrich import AGAIN, CHECK, JUDGE, TASK, Reader
    from pipeline.engines.http import host_of

    asked = service(Answers(settings.answers_path / "enrich"), host_of(section.url) if section.url else NO_HOST)
    return Reader(
        ChatModel(asked, section.model, TASK),
        ChatModel(asked, section.model, JUDGE),
        ChatModel(asked, section.model, CHECK),
        ChatModel(asked, section.model, AGAIN) if section.passes > 1 else None,
    )


def _reader(section: Enrich, settings: Settings, key: str) -> Reader:
    """The reader of a build: it asks the endpoint, or where there is none takes what was answered before."""
    from pipeline.engines.batch import Replies
    from pipeline.engines.chat import endpoint

    if not section.url:
        return reader(section, settings, lambda answers, host: Replies({}, answers, host))
    url, timeout = section.url, section.timeout_seconds
    return reader(
        section,
        settings,
        lambda answers, _host: endpoint(
            url, api_key=key, budget=_budget(section), answers=answers, timeout_seconds=timeout
        ),
    )


def _translators(section: Translate, settings: Settings, key: str) -> tuple[Translator, ...]:
    """In the order in which they are asked: the language model, then machine translation."""
    from pipeline.engines.answers import Answers
    from pipeline.engines.chat import ChatModel, endpoint
    from pipeline.engines.http import JsonService
    from pipeline.run.build.engines import Translator
    from pipeline.translate.engines.llm import TASK, LanguageModel
    from pipeline.translate.engines.mt import ctranslate2_folder, libretranslate

    answers, budget = Answers(settings.answers_path / "translate"), _budget(section)
    found: list[Translator] = []
    if section.llm is not None:
        timeout = section.timeout_seconds
        service = endpoint(section.llm.url, api_key=key, budget=budget, answers=answers, timeout_seconds=timeout)
        chat = ChatModel(service, section.llm.model, TASK)
        found.append(Translator(chat.name, LanguageModel(chat), chat.service.tally))
    if section.libretranslate is not None:
        libre = JsonService(
            f"{section.libretranslate.url.rstrip('/')}/translate",
            secrets={"api_key": key} if key else {},
            budget=budget,
            answers=answers,
            timeout_seconds=section.timeout_seconds,
        )
        engine = libretranslate(libre, target=section.libretranslate.target)
        found.append(Translator(engine.name, engine, libre.tally))
    if section.ctranslate2 is not None:
        root = settings.origin.parent if settings.origin else settings.home
        engine = ctranslate2_folder(
            root / section.ctranslate2.folder, target_prefix=section.ctranslate2.target_prefix, answers=answers
        )
        found.append(Translator(engine.name, engine, None))
    return tuple(found)


def _budget(section: Enrich | Translate) -> Budget:
    from pipeline.engines.http import Budget

    return Budget(calls=section.calls, tokens=section.tokens, seconds=section.seconds)
