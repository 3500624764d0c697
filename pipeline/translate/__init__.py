"""Entries in two languages: facts through a catalogue of paired sentences, prose only where it can be checked."""

from pipeline.translate.assembly import entry, without_general
from pipeline.translate.meaning import shape_of, too_general
from pipeline.translate.rendering import render

__all__ = ["entry", "render", "shape_of", "too_general", "without_general"]
