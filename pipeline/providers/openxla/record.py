"""What an error page states, as fields: from its blocks, whichever form they were read from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.lexicon import catalogues
from pipeline.providers.openxla.blocks import Block, BlockKind, Section
from pipeline.providers.openxla.words import is_scenario, words

_URL_CODE = re.compile(r"/errors/error_(\d{4})$")
# A status stands behind at most this many prefixes: "jax.errors.JaxRuntimeError: ", "Core halted unexpectedly: ".
MAX_PREFIXES = 2
_BACKEND = re.compile(r"[A-Z]{2,6}")
_BACKEND_ENDING = re.compile(r"(.{1,200}) - (TPU|GPU|CPU)")


@dataclass(frozen=True, slots=True)
class Facts:
    """The fields of a record that do not depend on where things stand in the text."""

    title: str
    phase: str | None
    category: str | None
    backends: tuple[str, ...]
    summary: str
    samples: tuple[str, ...]
    templates: tuple[str, ...]
    scenarios: tuple[str, ...]
    status_code: str | None


def code(key: str, heading: str, category: str) -> str | None:
    """The catalogue code of a page: its address decides, else its heading, else what it is about.

    Numbers of old are today's.
    """
    address, named = _URL_CODE.search(key), words().heading.match(heading)
    if address:
        number = f"E{address[1]}"
    elif named:
        number = f"E{named[1].lstrip('Ee')}"
        number = words().misprints.get(number, number)
    else:
        number = words().categories.get(category.lower(), "")
    if len(number) != len("E0000"):
        return None
    return f"xla:{catalogues.xla_aliases().get(number, number)}"


def facts(sections: Sequence[Section]) -> Facts | str:
    """The page's fields; or what was expected and is not there, where it is not built as error pages are."""
    blocks = list(_flat(sections))
    stated = _labelled(blocks, (words().category,))
    if stated is None:
        return "a line 'Category: ...'"
    samples, templates = _codes(sections)
    if not samples:
        return "a code block below 'Sample error message'"
    summary = _summary(sections)
    if summary is None:
        return "a paragraph of description"
    phase, category, backends = _category(stated, blocks)
    return Facts(
        title=stated,
        phase=phase,
        category=category,
        backends=backends,
        summary=summary,
        samples=samples,
        templates=templates,
        scenarios=tuple(s.heading.text for s in sections if s.heading and is_scenario(s.heading.text)),
        status_code=_status(samples[0]),
    )


def messages(code_text: str) -> tuple[str, ...]:
    """The messages in a piece of code: one for each line that begins with a status, else the whole."""
    lines = code_text.split("\n")
    starts = [place for place, line in enumerate(lines) if _status(line)]
    if len(starts) < 2 or starts[0] != 0:
        return (code_text,)
    ends = [*starts[1:], len(lines)]
    return tuple("\n".join(lines[start:end]).strip("\n") for start, end in zip(starts, ends, strict=True))


def is_label(text: str) -> bool:
    """Whether a paragraph is one of the page's fields rather than prose."""
    table = words()
    return text.lower().startswith((table.category, table.type, *table.backends, *table.samples))


def is_samples_label(text: str) -> bool:
    """Whether a paragraph or heading announces sample messages."""
    return text.lower() in words().samples


def _status(message: str) -> str | None:
    """The absl status that a message begins with, behind few prefixes: "XLA:TPU ..." has none."""
    words_before = message[:200].split(":", MAX_PREFIXES + 1)[:-1]
    return next((word.strip() for word in words_before if f"absl:{word.strip()}" in catalogues.absl_statuses()), None)


def _flat(sections: Sequence[Section]) -> Iterator[Block]:
    for section in sections:
        yield from section.blocks


def _labelled(blocks: Sequence[Block], labels: tuple[str, ...]) -> str | None:
    """What stands behind the first of the labels that the page has."""
    for block in blocks:
        if block.kind is BlockKind.PARAGRAPH and block.text.lower().startswith(labels):
            return block.text.split(":", 1)[1].strip()
    return None


def _category(stated: str, blocks: Sequence[Block]) -> tuple[str | None, str | None, tuple[str, ...]]:
    """(phase, category, backends). A prefix is a phase only if it is a known one: "SparseCore: ..." is none."""
    table = words()
    ending = _BACKEND_ENDING.fullmatch(stated)
    category = ending[1] if ending else stated
    backends = tuple(_BACKEND.findall(_labelled(blocks, table.backends) or (ending[2] if ending else "")))
    phase = table.phases.get((_labelled(blocks, (table.type,)) or "").lower())
    lower = category.lower()
    for prefix in table.phases:
        if lower.startswith(prefix):
            phase = table.phases[prefix]
            category = category[len(prefix) :].lstrip(": ")
            break
    return phase, category or None, backends


def _summary(sections: Sequence[Section]) -> str | None:
    """The first paragraph of prose."""
    for block in _flat(sections):
        if block.kind is BlockKind.PARAGRAPH and not is_label(block.text):
            return block.text
    return None


def _codes(sections: Sequence[Section]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(samples, templates): samples stand below their label, anything else in code is a pattern of a message."""
    samples: dict[str, None] = {}
    templates: dict[str, None] = {}
    for section in sections:
        is_sample = section.heading is not None and is_samples_label(section.heading.text)
        for block in section.blocks:
            if block.kind is BlockKind.CODE:
                for message in messages(block.text) if is_sample else (block.text,):
                    (samples if is_sample else templates).setdefault(message)
            else:
                is_sample = is_samples_label(block.text)
    return tuple(samples), tuple(templates)
