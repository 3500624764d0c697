"""Enrich, off by default: a language model reads threads in which the rules found no answer, and points at sentences.

A model points, it does not write: what is published are people's words, verbatim, or a typed fact that our own table
reads out of them. A thread is asked about once, alone, without tools; the answer has one fixed form; and a claim is
taken only if its quote stands in the post that it names, if nothing in it is made up, and if nothing in that post talks
to models. What a quote recommends is judged by `distil`, by the rules that hold for everybody. None of this depends on
the model doing as it is told.

    prompt.py      what is asked: the task, and a thread as numbered posts
    answer.py      the one form of an answer
    grounding.py   a claim and its thread -> the place of the quote, or why it is refused
    reader.py      a thread in, places out
"""

from pipeline.engines.enrich.prompt import TASK, Question, question
from pipeline.engines.enrich.reader import Read, Reader

__all__ = ["TASK", "Question", "Read", "Reader", "question"]
