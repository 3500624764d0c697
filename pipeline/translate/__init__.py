"""Entries in two languages: facts through a catalogue of paired sentences, prose only where it can be checked."""

from pipeline.translate.assembly import entry, without_general
from pipeline.translate.rendering import render

__all__ = ["entry", "render", "without_general"]
