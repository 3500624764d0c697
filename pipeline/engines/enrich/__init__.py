"""Enrich, off by default: a language model reads whole threads and points at the units in them that answer an error.

A model points, it does not write: what is published are people's words, verbatim, or a typed fact that our own table
reads out of them. It names numbers of units, so its quotes cannot be invented. Each window of a thread is asked about
once, or once more for what the first reading missed, alone, without tools; the answer has one fixed form; and a claim
is taken only if its units are there, if nothing in it is made up, and if nothing in their posts talks to models. What
would be shown is judged with the window in sight, and that an act worked or failed, or that the project fixed the
error, is asked a second time, of the two passages alone. What a quote recommends is judged by `distil`, by the rules
that hold for everybody. None of this depends on the model doing as it is told.

    prompt.py      what is asked: the tasks, a thread as numbered units, two passages
    answer.py      the forms of the answers
    grounding.py   a claim and its thread -> its units, or why it is refused
    judging.py     claims and their window -> which of them may be shown
    reader.py      a thread in, places out
"""

from pipeline.engines.enrich.prompt import AGAIN, CHECK, JUDGE, TASK, Question, check, judge, questions
from pipeline.engines.enrich.reader import Read, Reader

__all__ = ["AGAIN", "CHECK", "JUDGE", "TASK", "Question", "Read", "Reader", "check", "judge", "questions"]
