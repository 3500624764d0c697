"""docs/causes.md: the kinds of cause, read from the tables that errmine uses.

`python -m tests.cause_page` writes it anew; a test compares it.
"""

from __future__ import annotations

from pipeline.lexicon import vocabulary
from pipeline.translate import causes, rendering
from tests import golden

PAGE = golden.ROOT / "docs" / "causes.md"

_HEAD = """# Kinds of cause

What people say about why an error came stays as they said it: `root_cause` is the quote. Where a row of
`pipeline/data/causes.toml` is sure what kind of cause the quote states, `cause_type` names the kind and `root_cause_zh`
is the sentence of that kind with its names, numbers and terms: a fact in Chinese, not a translation of the quote.
Where a translator wrote one, that stands there: `translations.root_cause_zh.engine` says which. Statements of cases
have `cause_type` too.

No kind where nothing is sure: a phrase counts only if every word of it is a name or a term of the glossary, and a
sentence that would fit any cause ("a value is wrong") is none. Which causes are most frequent (the sample has none):

```
errmine query "SELECT cause_type, count(*) AS n FROM entries WHERE cause_type IS NOT NULL GROUP BY ALL ORDER BY n DESC"
```

How often the kinds are right, and how many causes have one: benchmarks/README.md, "Chinese". A new kind is a line in
`[cause_types]` of `pipeline/data/vocabulary.toml`; a new sentence or wording is a row of `causes.toml` with examples
and look-alikes, its Chinese a line of the catalogue. `python -m tests.cause_page` writes this page.
"""


def page() -> str:
    """The whole page."""
    found: dict[str, list[str]] = {}
    for template_id, template in rendering.templates().items():
        kind = causes.type_of_template(template_id)
        if kind is not None:
            chinese = rendering.chinese(template_id, template.english)
            found.setdefault(kind, []).append(f"{template.english} · {chinese}")
    rows = ["| kind | in words | sentences |", "|---|---|---|"]
    for kind in vocabulary.labels("cause_types"):
        label = f"{vocabulary.label('cause_types', kind, 'en')} · {vocabulary.label('cause_types', kind, 'zh')}"
        rows.append(f"| `{kind}` | {label} | {'<br>'.join(found.get(kind, []))} |")
    return _HEAD + "\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
