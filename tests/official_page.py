"""docs/openxla.zh.md: the pages of OpenXLA's errors in Chinese, whole but for their code: what errmine says of each.

`python -m tests.official_page PAGES...` writes it from the Markdown files of the pages, whose English stays out of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from pipeline.lexicon import catalogues
from pipeline.providers.openxla import markdown
from pipeline.providers.openxla.blocks import Block
from pipeline.translate import official, rendering
from tests import golden
from tests.official import REVISION, code_of

PAGE = golden.ROOT / "docs" / "openxla.zh.md"
_HEAD = f"""# OpenXLA 错误码：中文全文

本页由 `python -m tests.official_page` 根据 openxla/xla {REVISION[:12]} 的官方页面与 errmine 的译文生成，请勿手工修改。
代码与日志样例不重复，见各节所附的官方页面。
"""


def written(paths: list[Path]) -> str:
    """The page; equal sources give equal bytes."""
    return _HEAD + "".join(_section(path) for path in sorted(paths))


def _section(path: Path) -> str:
    code = code_of(path)
    row = catalogues.xla_codes()[code]
    meaning = rendering.explanation(code) or ""
    head = f"\n## {code} · {row.name}\n\n{meaning}。官方页面：<{catalogues.official_url(f'xla:{code}')}>\n"
    return head + "".join(f"\n{text}\n" for text in _blocks(path.read_text(encoding="utf-8")))


def _blocks(body: str) -> Iterator[str]:
    for block in markdown.blocks(body, lambda link: link).blocks:
        said = None if block.kind == "code" else official.chinese(block.text)
        if said is None or (block.kind, block.level) == ("heading", 1):
            continue  # code, and the title, which the head of the section says
        yield _marked(block, said)


def _marked(block: Block, said: str) -> str:
    match block.kind:
        case "heading":
            return f"{'#' * (block.level + 1)} {said}"
        case "item":
            marker = block.marker if block.marker[:1].isdigit() else "-"
            return f"{'  ' * (block.level - 1)}{marker} {said}"
        case "table":  # a row is translated as one sentence
            return "\n".join(f"- {row}" for row in said.splitlines())
        case _:
            return said


def main() -> None:
    PAGE.write_text(written([Path(name) for name in sys.argv[1:]]), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
