"""Validate: what an entry must keep to be published, as an ordered list of small named rules.

`verdict` judges an entry of our own, `check` and `check_path` anybody's JSON, `check_bundle` a whole bundle; all three
use the same `RULES`. `imported` turns an entry made elsewhere into ours, with what nobody can prove set to null.
"""

from pipeline.validate.bundles import check_bundle
from pipeline.validate.foreign import Report, check, check_path, check_text
from pipeline.validate.imported import imported
from pipeline.validate.problem import Context, Problem, Rule
from pipeline.validate.rules import RULES, Accepted, Rejected, Verdict, verdict
from pipeline.validate.wording import is_too_general, without_general

__all__ = [
    "RULES",
    "Accepted",
    "Context",
    "Problem",
    "Rejected",
    "Report",
    "Rule",
    "Verdict",
    "check",
    "check_bundle",
    "check_path",
    "check_text",
    "imported",
    "is_too_general",
    "verdict",
    "without_general",
]
