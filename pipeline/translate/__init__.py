"""Entries in two languages: facts through a catalogue of paired sentences, prose only where it can be checked."""

from pipeline.translate.assembly import entry
from pipeline.translate.meaning import shape_of
from pipeline.translate.rendering import render

__all__ = ["entry", "render", "shape_of"]
