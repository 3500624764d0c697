"""House style of Chinese text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.translate.rendering import polish

PIECES = st.sampled_from(
    ["内存", "不足", "GPU", "A100", "12", "，", ",", ":", "：", " ", "  ", "`a,b 中`", "--flag=1", "（", ")", "。", "."]
)


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("在GPU上运行", "在 GPU 上运行"),
        ("大小 ({1}) 与设备(GPU)不同，见 run(x)", "大小（{1}）与设备（GPU）不同，见 run(x)"),
        ("显存不足,请调小批次:从64到16", "显存不足，请调小批次：从 64 到 16"),
        ("运行`pip install a,b`即可", "运行 `pip install a,b` 即可"),
        ("将 共享 内存 调小", "将共享内存调小"),
        ("设为 1 ，然后重启 。", "设为 1，然后重启。"),
        ("见 https://example.org/a,b 说明", "见 https://example.org/a,b 说明"),
        ("加上--no-cache-dir选项", "加上 --no-cache-dir 选项"),
        ("重启.", "重启。"),
    ],
)
def test_text_is_set_in_house_style(given_text, wanted):
    assert polish(given_text) == wanted


@given(st.lists(PIECES, max_size=12).map("".join))
def test_polishing_twice_is_polishing_once(text):
    assert polish(polish(text)) == polish(text)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_polishing_changes_spaces_and_marks_only(text):
    def letters(some):
        return [char for char in some if char.isalnum() or char == "`"]

    assert letters(polish(text)) == letters(text)
