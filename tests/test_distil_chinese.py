"""Threads in Chinese: what people say helped, did not help, or caused it, with quotes in Chinese and facts in both."""

from __future__ import annotations

import pytest

from pipeline.translate import render
from tests.distil_factory import claims as claims_of
from tests.distil_factory import document
from tests.each import each

ERROR = 'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in <module>\n    f()\nRuntimeError: it broke'


def said(comment: str, reply: str = "") -> list[tuple[str, str | None, str, str | None, str | None]]:
    """(kind, outcome, language of the quote, English, Chinese) of what one comment says of the thread's error."""
    posts = [
        ("title", "运行时报错", "a"),
        ("body", f"运行就报错：\n\n```\n{ERROR}\n```", "a"),
        ("comment", comment, "b"),
        *([("comment", reply, "a")] if reply else []),
    ]
    rows = [
        {"kind": kind, "text": text, "role": "NONE", "author": author, "at": "2026-03-01T10:00:00Z", "bot": False}
        for kind, text, author in posts
    ]
    made = document({"kind": "issue", "number": 7, "posts": rows})
    found = []
    for claim in claims_of(made):
        if claim.kind in {"remedy", "cause", "fix"}:
            english, chinese = (render(claim.fact, lang) if claim.fact else None for lang in ("en", "zh"))
            found.append((claim.kind, claim.outcome, claim.quote.lang, english, chinese))
    return found


@pytest.mark.parametrize(
    ("comment", "outcome", "english", "chinese"),
    [
        ("我把 torch 的版本从 2.4 降到 2.1.0 后正常了。", "worked",
         "Downgrade PyTorch to 2.1.0.", "将 PyTorch 降级到 2.1.0。"),
        ("triton 升级到 3.2.0 之后恢复正常。", "worked", "Upgrade Triton to 3.2.0.", "将 Triton 升级到 3.2.0。"),
        ("设置环境变量 NCCL_P2P_DISABLE=1 就可以正常训练", "worked",
         "Set the environment variable NCCL_P2P_DISABLE to 1.", "将环境变量 NCCL_P2P_DISABLE 设为 1。"),
        ("把 use_cache 关掉就可以运行了", "worked", "Disable use_cache.", "禁用 use_cache。"),
        ("重装了 torch，还是报同样的错误", "failed", None, None),
        ("把 num_warps 改成 4 也没用。", "failed", "Set num_warps to 4.", "将 num_warps 设为 4。"),
        ("去掉 pool 层就可以正常运行了", "worked", None, None),
        # a version without a name is the reported project's
        ("降级到 2.1.0 就好了。", "worked", "Downgrade kernels to 2.1.0.", "将 kernels 降级到 2.1.0。"),
        ("换成 2.3.1 版本后好了", "worked", "Install kernels 2.3.1.", "安装 kernels 2.3.1。"),
        ("升级 drawer-lib 到 2.3.1 后问题解决。", "worked",
         "Upgrade drawer-lib to 2.3.1.", "将 drawer-lib 升级到 2.3.1。"),
        ("重启服务器后问题解决。", "worked", "Restart the server.", "重启服务器。"),
        ("执行 `pip install drawer-lib` 后解决。", "worked", "Install drawer-lib.", "安装 drawer-lib。"),
    ],
)  # fmt: skip
def test_an_outcome_said_in_chinese_is_found(comment, outcome, english, chinese):
    assert said(comment) == [("remedy", outcome, "zh", english, chinese)]


@each(
    "reply",
    [
        "没用，还是报同样的错误。",
        "试了，但是不行。",
        "我试过了，没有用，还是报同样的错误。",
        "按照上面的方法改了，依然报错",
        "谢谢，升级了还是会报同样的错误",
        "仍然出现同样的问题。",
    ],
)
def test_a_short_denial_is_of_the_advice_before_it(reply):
    assert ("remedy", "failed", "zh", "Set pool_recycle to 60.", "将 pool_recycle 设为 60。") in said(ADVICE, reply)


@each(
    "reply",
    [
        "没有用 GPU 训练。",
        "不行的话再说。",
        "如果还是报错请重新打开。",
        "还是报同样的错误吗？",
        "这个参数没用到。",
        "我还没有试。",
    ],
)
def test_what_only_looks_like_a_denial_is_none(reply):
    assert all(outcome != "failed" for _, outcome, *_ in said(ADVICE, reply))


ADVICE = "请把 `pool_recycle` 设为 60。"


@pytest.mark.parametrize(
    ("comment", "kind"),
    [
        ("这个 PR 已经解决了这个问题：#9807", "fix"),
        ("该问题已在 1.3.2 版本修复。", "fix"),
        ("由于 asyncLoader_ 没有初始化，析构时会引发段错误。", "cause"),
        ("因为这里用的 basestring 在 Python 3 中已经不存在，所以会报错。", "cause"),
    ],
)
def test_a_cause_or_fix_said_in_chinese_is_found(comment, kind):
    assert [(claim[0], claim[2]) for claim in said(comment)] == [(kind, "zh")]


@pytest.mark.parametrize(
    "comment",
    [
        "请问升级到 2.3.0 就可以正常训练吗？",
        "添加了 x=0.1 之后就会报错，去掉就能正常运行。",
        "为什么设置 A_B=1 就可以运行？",
        "由于您长期未回复，我们将关闭这个 issue。",
        "问题解决了吗？",
        "降级到 2.1.0 就好了吗？",
        "打算降级到 2.1.0，希望就好了。",
    ],
)
def test_a_question_or_a_courtesy_is_no_claim(comment):
    assert said(comment) == []
