"""Facts and drafts into words: every fact in both languages, every Chinese field with its status."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pyarrow as pa
import pytest

from pipeline.lexicon import explanations, gates
from pipeline.records import Cluster, Fact
from pipeline.records.draft import Draft, Remedy, Statement
from pipeline.records.entry import Evidence, TransitionGraph, rate
from pipeline.records.errors import CatalogueError
from pipeline.run.build.worded import ROWS, Worded, too_general
from pipeline.translate import entry, render, rendering, shape_of
from pipeline.translate.engines import NoOffer, Offer
from pipeline.translate.meaning import failing, meaning
from pipeline.translate.remembered import SIGNATURE, Memory, key
from pipeline.validate import without_general
from tests.each import each

CASES = sorted((Path(__file__).parent / "cases" / "translate").iterdir())

#: A plausible value for every slot name of facts.toml that is an identifier or a number.
ATOMS = {
    "name": "NCCL_P2P_DISABLE", "value": "1", "flag": "--no-cache-dir", "new": "torch.compile", "old": "jit.script",
    "package": "triton", "version": "2.3.0", "command": "pip install -U torch", "path": "~/.triton/cache", "pr": "#123",
    "branch": "main", "required": "147456", "limit": "101376", "code": "cudaErrorIllegalAddress",
    "string": "an illegal memory access was encountered", "module": "triton", "library": "libcudart.so.12",
    "symbol": "_ZN3c104Half", "op": "aten::mm", "type": "RuntimeError", "space": "vmem", "assertion": "index < size",
    "signal": "SIGSEGV", "tool": "ptxas", "status": "RESOURCE_EXHAUSTED", "date": "2026-03-02",
}  # fmt: skip


def facts_of(template_id: str) -> list[Fact]:
    """Facts of that template: one, or one for each term of a term slot."""
    template = rendering.template_of(template_id)
    facts = [{}]
    for name, kind in sorted(template.slots.items()):
        if kind == "term":
            lists = [values for key, values in rendering.term_lists().items() if key.endswith(name)]
            values = [value for values in lists for value in values]
        elif kind == "identifiers":
            values = ["2.9.1, 3.0.0-beta1"]
        else:
            values = [ATOMS.get(name, "cuda" if kind == "vocabulary" else f"some_{name}")]
        facts = [{**fact, name: value} for fact in facts for value in values]
    return [Fact(template_id, tuple(sorted(slots.items()))) for slots in facts]


ALL_FACTS = [fact for template_id in rendering.templates() for fact in facts_of(template_id)]


def fact(template: str, **slots: str) -> Fact:
    return Fact(template, tuple(sorted(slots.items())))


def quoted(text: str, lang: str) -> Statement:
    return Statement(None, text, lang, ("evidence:1",))


def remedy(action: Statement | Fact, *, worked: int = 0, failed: int = 0, how: str | None = None) -> Remedy:
    statement = Statement(action, "", "", ()) if isinstance(action, Fact) else action
    return Remedy("key", statement, how, None, None, worked, failed, "reported", ("https://example.org/1",))


def draft(
    *,
    meaning: Fact | None = None,
    cause: Statement | None = None,
    workarounds: tuple[Remedy, ...] = (),
    dead_ends: tuple[Remedy, ...] = (),
    text: str = "out of resource: shared memory, Required: <n>. Reducing block sizes or `num_stages` may help.",
    exception_type: str | None = "OutOfResources",
) -> Draft:
    cluster = Cluster("cluster:1", "signature:1", exception_type, text, (), ("signature:1",), "", 100.0)
    return Draft(
        cluster=cluster, title=cluster.own_title, slugs=("slug",), page_slug="", domain="triton", category="resource",
        subcategory=None,
        meaning=meaning, cause=cause, root_cause_type=None, workarounds=workarounds, dead_ends=dead_ends, versions=(),
        environment=(),
        parameters=(), os_specific={}, graph=TransitionGraph(leads_to=[], preceded_by=[], frequently_confused_with=[]),
        official_doc_url=None, official_doc_section=None, error_code=None, codes=(), tier="reported", confidence=None,
        fix_success_rate=None, resolvable=None, first_seen=None, last_confirmed=None, last_updated=None, evidence=(),
        occurrence_count=1, tags=(), rules={}, rule_precision={},
    )  # fmt: skip


OUT_OF_RESOURCE = fact("meaning.out_of_resource", resource="shared memory", type="OutOfResources")


# ---------------------------------------------------------------- facts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fact_reads_as_expected_in_both_languages(case):
    given = json.loads((case / "input.json").read_text(encoding="utf-8"))
    wanted = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    given_fact = fact(given["template"], **given["slots"])
    assert {"en": render(given_fact, "en"), "zh": render(given_fact, "zh")} == wanted


@each("some", ALL_FACTS)
def test_every_fact_has_chinese_that_passes_every_gate(some):
    english, chinese = render(some, "en"), render(some, "zh")
    if some.template.startswith(("meaning.", "shape.")):
        assert all(explanations.check(english, rendering.plain(chinese)).values()), (english, chinese)
    else:
        assert all(gates.check(english, chinese).values()), (english, chinese, gates.check(english, chinese))


@each("some", ALL_FACTS)
def test_identifiers_and_numbers_of_a_fact_stand_in_both_languages(some):
    kinds = rendering.template_of(some.template).slots
    for name, value in some.slots:
        if kinds[name] in ("identifier", "number", "path"):
            assert value in render(some, "en")
            assert value in render(some, "zh")
        if kinds[name] == "identifiers":
            assert value in render(some, "en")
            assert value.replace(", ", "、") in render(some, "zh")


def test_a_list_of_versions_is_set_apart_as_chinese_does():
    told = fact("fix.tracked_in_lines", repo="zoo", version="2.9.1, 3.0.0-beta1")
    assert "的 2.9.1、3.0.0-beta1，或" in render(told, "zh")


def test_every_term_of_the_closed_lists_has_chinese():
    untranslated = [
        (name, value)
        for name, values in rendering.term_lists().items()
        for value in values
        if rendering.chinese(f"term.{name}", value) is None
    ]
    assert untranslated == []


def test_an_unknown_template_is_a_broken_catalogue():
    with pytest.raises(CatalogueError, match="no template"):
        render(fact("remedy.pray"), "zh")


def test_a_fact_without_its_slots_is_refused():
    with pytest.raises(ValueError, match="no value for"):
        render(fact("remedy.set_env", name="X"), "en")


def test_braces_in_a_value_are_no_placeholders():
    assert render(fact("remedy.enable", name="{value}{0}"), "zh") == "启用 {value}{0}。"


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("cudaErrorAssert", "断言"),
        ("cuda:cudaErrorAssert", "断言"),
        ("CUDA_ERROR_OUT_OF_MEMORY", "显存不足"),
        ("hipErrorOutOfMemory", "显存不足"),
        ("ncclRemoteError", "远端"),
        ("CUBLAS_STATUS_ALLOC_FAILED", "显存不足"),
        ("DEADLINE_EXCEEDED", "截止时间"),
        ("SIGKILL", "内存不足"),
        ("TracerBoolConversionError", "布尔"),
        ("jax.errors.TracerBoolConversionError", "布尔"),
        ("torch.cuda.OutOfMemoryError", "显存"),
        ("OutOfMemoryError", "显存"),
        ("builtins.ZeroDivisionError", "除数"),
        ("E3001", "副本数"),
    ],
)
def test_a_code_is_explained_with_or_without_its_namespace(code, part):
    assert part in (rendering.explanation(code) or "")


# ---------------------------------------------------------------- entries


def test_signature_zh_explains_and_keeps_every_identifier():
    made = entry(draft(meaning=OUT_OF_RESOURCE), entry_id="triton/x")
    assert made.signature.startswith("OutOfResources: out of resource")
    assert made.signature_zh == ("OutOfResources：核函数所需的共享内存超过设备上限（num_stages）。")
    assert made.translations["signature_zh"].status == "template"


def test_a_signature_whose_meaning_is_unknown_has_no_chinese():
    made = entry(draft(exception_type="acme.WidgetError"), entry_id="triton/x")
    assert made.signature_zh is None
    assert made.translations["signature_zh"].status == "untranslated"
    assert made.translations["signature_zh"].reason


def test_a_signature_does_not_repeat_an_exception_that_its_text_names():
    made = entry(draft(text="triton OutOfResources raised", meaning=OUT_OF_RESOURCE), entry_id="triton/x")
    assert made.signature == "triton OutOfResources raised"


def test_a_known_message_says_more_than_the_type_of_its_exception():
    given = draft(
        text="'Tensor' object has no attribute 'numpy'",
        exception_type="AttributeError",
        meaning=fact("meaning.missing_name", type="AttributeError"),
    )
    made = entry(given, entry_id="python/x")
    assert made.signature_zh == "AttributeError：Tensor 对象没有属性 numpy。"
    assert made.translations["signature_zh"].status == "tm_exact"


@pytest.mark.parametrize(
    ("exception_type", "text", "wanted"),
    [
        ("KeyError", "KeyError: '_id'", "KeyError：字典中没有键 _id。"),
        ("SyntaxError", "SyntaxError: invalid syntax", "SyntaxError：语法错误。"),
        (None, "Aborted (core dumped)", "进程中止（核心已转储）。"),
        ("java.lang.ClassNotFoundException", "acme.Goose", "java.lang.ClassNotFoundException：找不到类 acme.Goose。"),
        ("acme.PondError", "Socket closed [Op:Swim]", "acme.PondError：套接字已关闭。"),
        (
            "ValueError",
            "<path>: error: 'swim' was not declared in this scope",
            "ValueError：swim 在此作用域中没有声明。",
        ),
        ("ValueError", "Tried to swim. No, it is wet.", None),
        (
            "ValueError",
            "cannot reshape array of size <n> into shape <shape>. See the docs.",
            "ValueError：无法把大小为 <n> 的数组变形为形状 <shape>。",
        ),
        (
            "ValueError",
            "Tensor Tensor('a:0', shape=(), dtype=int8) is not an element of this graph.",
            "ValueError：张量 Tensor('a:0', shape=(), dtype=int8) 不是该图中的元素。",
        ),
    ],
)
def test_a_message_is_known_with_and_without_the_name_of_its_exception(exception_type, text, wanted):
    assert entry(draft(text=text, exception_type=exception_type), entry_id="a/b").signature_zh == wanted


def test_an_exception_is_named_as_the_message_names_it():
    printed = draft(
        text="AssertionError: No such file or directory", exception_type="acme.AssertionError", meaning=None
    )
    made = entry(printed, entry_id="a/b")
    assert made.signature == "AssertionError: No such file or directory"
    assert made.signature_zh == "AssertionError：没有那个文件或目录。"


def test_a_qualified_exception_is_named_once():
    given = draft(
        text="at <n>:<n>:",
        exception_type="acme.compiler.WidgetError",
        meaning=fact("meaning.device_out_of_memory", type="WidgetError"),
    )
    made = entry(given, entry_id="triton/x")
    assert made.signature_zh == "acme.compiler.WidgetError：加速器的可用内存（显存）不足，无法完成分配。"


@pytest.mark.parametrize(
    ("exception_type", "text", "wanted"),
    [
        (
            "jax.errors.UnexpectedTracerError",
            "it broke",
            "jax.errors.UnexpectedTracerError：跟踪中的值泄漏到了变换之外。",
        ),
        ("RecursionError", "it broke", "RecursionError：递归过深。"),
        ("IndexError", "", "IndexError：索引超出范围。"),
        ("IndexError", "it broke", None),  # any index error would be explained so
        ("RuntimeError", "", None),
    ],
)
def test_a_type_is_explained_where_it_says_all_or_stands_alone(exception_type, text, wanted):
    made = entry(draft(text=text, exception_type=exception_type), entry_id="a/b")
    assert made.signature_zh == wanted


def test_a_message_without_a_meaning_has_no_explanation_but_a_code_in_it_has():
    assert entry(draft(text="no message", exception_type=None, meaning=None), entry_id="a/b").signature_zh is None
    made = entry(draft(text="got CUBLAS_STATUS_ALLOC_FAILED", exception_type=None, meaning=None), entry_id="a/b")
    assert made.signature_zh == "CUBLAS_STATUS_ALLOC_FAILED：cuBLAS 内部分配资源失败。"


def test_a_code_that_the_message_does_not_print_explains_nothing_of_it():
    given = draft(text="Failed launch WidgetResize of till", exception_type="InternalError", meaning=None)
    assert entry(dataclasses.replace(given, codes=("absl:INTERNAL",)), entry_id="a/b").signature_zh is None
    passed = draft(text="Check failed: 0 == CUDA_SUCCESS", exception_type=None, meaning=None)
    assert "没有错误" not in (entry(passed, entry_id="a/b").signature_zh or "")


def test_a_shape_leaves_out_neither_a_word_nor_a_second_sentence():
    assert explained("failed to load layer tensor", exception_type=None).signature_zh == "加载层张量失败。"
    assert explained("failed to load layer tensor for tests", exception_type=None).signature_zh is None
    assert explained("failed to load layer tensor. Its header is torn", exception_type=None).signature_zh is None


@pytest.mark.parametrize(
    ("text", "fact_", "wanted"),
    [
        ("Cuda failure in till '<quoted>'", ("meaning.cuda_code", {"code": "cudaErrorStreamCaptureIsolation"}), None),
        ("CUDA error: out of memory", ("meaning.cuda_code", {"code": "cudaErrorMemoryAllocation"}), "显存不足"),
        ("Fatal Till error: Till_Open: no drawer", ("meaning.signal", {"signal": "Till"}), None),
        ("Library of till not loaded: @<path>", ("meaning.missing_library", {"library": "libtill.so.5"}), None),
    ],
)
def test_what_stood_only_in_a_value_of_a_report_is_not_said_of_the_message(text, fact_, wanted):
    template, slots = fact_
    told = fact(template, **slots, **({"string": "x"} if "code" in slots else {}))
    made = entry(draft(text=text, exception_type=None, meaning=told), entry_id="a/b")
    assert (wanted in made.signature_zh) if wanted else made.signature_zh is None


def test_a_remembered_sentence_that_its_values_spoil_is_not_offered():
    known = Memory({key(SIGNATURE, "Drawer of the till is jammed at {1}"): "收银台的抽屉卡住，位于 {1}"})
    for place, wanted in (("north", "收银台的抽屉卡住，位于 north。"), ("x" * 100, None)):
        given = draft(text=f"Drawer of the till is jammed at '{place}'", exception_type=None, meaning=None)
        found = meaning(given, given.cluster.headline, (known,))
        assert (found.chinese if found else None) == wanted


def test_an_engine_may_explain_a_message_that_nobody_knows():
    engine = Fixed(Offer("小部件在启动时坏了。", "llm_checked", "llm:x"))
    given = draft(text="the widget broke at start", exception_type="RuntimeError",
                  meaning=fact("meaning.exception", type="RuntimeError"))  # fmt: skip
    made = entry(given, entry_id="a/b", engines=(engine,))
    assert made.signature_zh == "RuntimeError：小部件在启动时坏了。"
    assert made.translations["signature_zh"].engine == "llm:x"
    bare = entry(given, entry_id="a/b")  # that the program raised its exception explains nothing
    assert bare.signature_zh is None
    assert bare.translations["signature_zh"].reason == "the meaning of the message is not known"


@pytest.mark.parametrize("template", ["value_error", "shape_error", "configuration", "io_error", "missing_name"])
def test_a_category_fits_any_message_and_is_no_explanation(template):
    given = draft(text="it broke", exception_type="ValueError", meaning=fact(f"meaning.{template}", type="ValueError"))
    made = entry(given, entry_id="a/b")
    assert made.signature_zh is None
    assert made.translations["signature_zh"].reason == "the meaning of the message is not known"


def explained(text, *, exception_type="ValueError", entry_id="a/b"):
    return entry(draft(text=text, exception_type=exception_type), entry_id=entry_id)


def unless_general(made):
    general = too_general(pa.array([shape_of(one) for one in made], pa.list_(pa.string()))).to_pylist()
    return [without_general(one) if {*shape_of(one)[:1]} & {*general} else one for one in made]


def test_an_explanation_made_by_shape_that_stands_for_more_than_two_messages_is_null():
    texts = [f"invalid input: {why}" for why in ("it is so", "it is up", "it is on")]
    made = [explained(text, entry_id=f"a/{number}") for number, text in enumerate(texts)]
    assert {one.signature_zh for one in made} == {"ValueError：输入无效。"}
    assert [one.signature_zh for one in unless_general(made[:2])] == ["ValueError：输入无效。"] * 2
    for one in unless_general(made):
        assert one.signature_zh is None
        assert one.translations["signature_zh"].status == "untranslated"
        assert one.translations["signature_zh"].reason == "too general: it would fit other messages as well"


def test_a_row_that_leaves_out_what_makes_messages_differ_is_too_general_for_three():
    why = ("the pond is dry", "the geese have left", "nobody is in")
    made = [
        explained(f"Failed to load ApplicationContext because {one}", entry_id=f"a/{n}") for n, one in enumerate(why)
    ]
    assert {one.signature_zh for one in made} == {"ValueError：加载 ApplicationContext 失败。"}
    assert {one.translations["signature_zh"].engine for one in made} == {"tm/messages"}
    assert {one.signature_zh for one in unless_general(made)} == {None}
    assert unless_general(made[:2]) == made[:2]


def test_what_a_type_means_is_never_too_general():
    texts = ("the pond is dry", "the geese have left", "nobody is in")
    made = [explained(text, exception_type="RecursionError", entry_id=f"a/{n}") for n, text in enumerate(texts)]
    assert len({one.signature_zh for one in made}) == 1
    assert unless_general(made) == made


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Cannot find file pond.toml", "ValueError：找不到文件 pond.toml。"),
        ("Cannot find file pond.toml because nobody dug a pond", None),
        ("Check failed: geese < 3", "ValueError：程序内部检查 `geese < 3` 未通过。"),
        ("Check failed: geese < 3 (<n> vs. <n>) the pond holds no more geese", None),
    ],
)
def test_a_shape_that_leaves_the_reason_out_is_no_explanation(text, wanted):
    assert explained(text).signature_zh == wanted


@pytest.mark.parametrize(
    ("chinese", "message", "wanted"),
    [
        ("加载池塘：没有水", "error loading pond: no water", "加载池塘时出错：没有水"),
        ("正在加载池塘", "Error loading pond <name>", "加载池塘时出错"),
        ("加载池塘时：没有水", "pond.py: Error while loading pond: no water", "加载池塘时出错：没有水"),
        ("加载池塘失败：没有水", "error loading pond: no water", "加载池塘失败：没有水"),
        ("池塘：没有水", "Error: pond: no water", "池塘：没有水"),
        ("加载池塘，没有水", "error loading pond, no water", "加载池塘，没有水"),
    ],
)
def test_an_error_of_doing_something_is_said_to_be_one(chinese, message, wanted):
    assert failing(chinese, message) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Failed to verify code signature", "ValueError：校验代码签名失败。"),
        ("Failed to verify code signature of till <path>", None),  # of which is what it says
        ("Input must have NDArray type", None),  # it is of that type, it contains none
    ],
)
def test_a_shape_says_nothing_where_it_leaves_out_of_what_it_is_said(text, wanted):
    assert explained(text).signature_zh == wanted


def test_values_make_no_other_message_and_a_whole_sentence_is_never_too_general():
    same = [explained(f"invalid input: '{name}' at {name}{number}", entry_id=f"a/{name}")
            for number, name in enumerate(("ann", "bob", "cid"))]  # fmt: skip
    whole = [explained(f"No module named '{name}'", exception_type="ImportError", entry_id=f"a/{name}")
             for name in ("ann", "bob", "cid")]  # fmt: skip
    assert unless_general(whole) == whole
    assert unless_general([*same[:2], *whole]) == [*same[:2], *whole]


def test_the_names_behind_an_explanation_are_those_that_every_occurrence_shows():
    def shown(*quotes):
        pieces = tuple(
            Evidence(
                evidence_id=f"evidence:{number}", role="occurrence", url="https://example.org/1", kind="issue",
                document_id=f"d{number}", repo=None, number=None, state=None, posted_at=None, author_role=None,
                quote=quote, quote_lang="en", start=0, end=len(quote), raw_sha256="0" * 64, rule="r",
            )
            for number, quote in enumerate(quotes)
        )  # fmt: skip
        given = draft(text="No space left on device for copy.289 in my_pond of goose_farm", exception_type=None,
                      meaning=fact("meaning.out_of_space", space="vmem"))  # fmt: skip
        return entry(dataclasses.replace(given, evidence=pieces), entry_id="a/b").signature_zh

    assert "my_pond" in shown()
    assert "copy.289" not in shown()
    both = shown("for copy.289 in my_pond of goose_farm", "for copy.12 in other_pond of goose_farm")
    assert both.endswith("（goose_farm）。")


def test_chinese_lists_align_with_their_english_lists():
    actions = (
        remedy(fact("remedy.decrease_parameter_to", name="num_stages", value="2"), worked=3, failed=1),
        remedy(quoted("把 num_stages 调成 2 就好了", "zh")),
        remedy(quoted("Upgrading to 3.2.0 fixed it.", "en")),
        remedy(quoted("I rewrote it by hand over the weekend and now it works.", "en")),
        remedy(quoted("バッチサイズを小さくすると直りました", "ja")),
    )
    made = entry(draft(workarounds=actions), entry_id="triton/x")
    assert made.workarounds_zh == [
        "将 num_stages 减小到 2。",
        "把 num_stages 调成 2 就好了",
        "升级到 3.2.0 后问题解决。",
        None,
        None,
    ]
    assert [made.translations[f"workarounds_zh[{index}]"].status for index in range(5)] == [
        "template", "source", "tm_exact", "untranslated", "untranslated",
    ]  # fmt: skip
    assert [action.action_lang for action in made.workarounds] == ["en", "zh", "en", "en", "ja"]
    assert made.workarounds[0].success_rate == 0.75
    assert made.workarounds[1].success_rate is None


def test_no_chinese_value_is_a_copy_of_english():
    actions = (remedy(quoted("I rewrote it by hand over the weekend.", "en")),)
    made = entry(draft(workarounds=actions, cause=quoted("It is a race in the allocator.", "en")), entry_id="triton/x")
    assert made.workarounds_zh == [None]
    assert made.root_cause == "It is a race in the allocator."
    assert made.root_cause_zh is None


def test_a_chinese_cause_leaves_the_english_side_null():
    made = entry(draft(cause=quoted("原因是显存碎片太多。", "zh")), entry_id="triton/x")
    assert made.root_cause is None
    assert made.root_cause_zh == "原因是显存碎片太多。"
    assert made.translations["root_cause_zh"].status == "source"
    assert made.translations["root_cause_zh"].source_lang == "zh"


def test_no_cause_is_not_applicable_rather_than_untranslated():
    made = entry(draft(), entry_id="triton/x")
    assert made.translations["root_cause_zh"].status == "not_applicable"


def test_how_is_left_out_where_it_only_repeats_the_action():
    text = "Use a smaller tile."
    made = entry(draft(workarounds=(remedy(quoted(text, "en"), how=text),)), entry_id="triton/x")
    assert made.workarounds[0].how is None


def test_dead_ends_have_their_chinese_side_too():
    made = entry(draft(dead_ends=(remedy(fact("remedy.reinstall", package="triton"), failed=2),)), entry_id="triton/x")
    assert made.dead_ends_zh == ["重新安装 triton。"]
    assert made.dead_ends[0].fail_rate == 1.0


class Fixed:
    """An engine that always says the same."""

    def __init__(self, answer):
        self.answer = answer

    def offer(self, source):
        return self.answer


def test_an_engine_is_believed_only_if_the_gates_pass():
    prose = "The allocator keeps 3 blocks and never returns them."
    wrong = Fixed(Offer("分配器保留 4 个内存块，从不归还。", "mt_checked", "mt:wrong"))
    right = Fixed(Offer("分配器保留 3 个内存块，从不归还。", "llm_checked", "llm:right"))
    made = entry(draft(cause=quoted(prose, "en")), entry_id="triton/x", engines=(wrong, right))
    assert made.root_cause_zh == "分配器保留 3 个内存块，从不归还。"
    assert made.translations["root_cause_zh"].engine == "llm:right"


def test_every_refusal_of_an_engine_is_recorded():
    engines = (Fixed(NoOffer("llm:a", "HTTP 401")), Fixed(Offer("English again.", "mt_checked", "mt:b")))
    made = entry(draft(cause=quoted("It is a race in the allocator.", "en")), entry_id="triton/x", engines=engines)
    reason = made.translations["root_cause_zh"].reason
    assert "llm:a: HTTP 401" in reason
    assert "mt:b failed" in reason
    assert "script" in reason


def test_a_template_comes_before_any_engine():
    engine = Fixed(Offer("别的译文。", "llm_checked", "llm:x"))
    made = entry(
        draft(workarounds=(remedy(fact("remedy.install", package="ninja")),)), entry_id="triton/x", engines=(engine,)
    )
    assert made.workarounds_zh == ["安装 ninja。"]


def test_coverage_counts_each_item_of_a_list_field():
    actions = (
        remedy(fact("remedy.install", package="ninja")),
        remedy(quoted("Rewrite it from scratch by hand.", "en")),
    )
    made = {name: entry(draft(workarounds=actions), entry_id=name) for name in ("triton/x", "triton/y")}
    rows = {row.field: row for row in Worded(ROWS.empty_table(), lambda *_: None, made).coverage()}
    assert rows["workarounds_zh"].total == 4
    assert rows["workarounds_zh"].share("template") == 0.5
    assert rows["workarounds_zh"].by_status == (("template", 2), ("untranslated", 2))


def test_the_same_draft_gives_the_same_bytes():
    given = draft(meaning=OUT_OF_RESOURCE, workarounds=(remedy(fact("remedy.install", package="ninja")),))
    assert entry(given, entry_id="a/b").model_dump_json() == entry(given, entry_id="a/b").model_dump_json()


def test_a_type_of_another_language_is_not_explained_by_its_short_name():
    given = draft(text="no space left", exception_type="com.example.OutOfMemoryError", meaning=None)
    assert entry(given, entry_id="a/b").signature_zh is None
    java = draft(text="no space left", exception_type="java.lang.OutOfMemoryError", meaning=None)
    assert entry(java, entry_id="a/b").signature_zh == "java.lang.OutOfMemoryError：Java 进程内存不足。"
    here = draft(text="no space left", exception_type="torch.OutOfMemoryError", meaning=None)
    assert "显存不足" in entry(here, entry_id="a/b").signature_zh


def test_the_meaning_of_a_code_is_said_once():
    text = "failed: CUDA_ERROR_OUT_OF_MEMORY"
    meaning = fact("meaning.cuda_code", code="cudaErrorMemoryAllocation", string="out of memory")
    made = entry(draft(text=text, exception_type="RuntimeError", meaning=meaning), entry_id="a/b").signature_zh
    assert made == "RuntimeError：CUDA 返回错误 CUDA_ERROR_OUT_OF_MEMORY：显存不足，无法完成分配。"  # as it is printed


def test_a_list_behind_a_phrase_is_not_what_the_phrase_speaks_of():
    made = [
        entry(draft(text=text, meaning=None), entry_id="a/b").signature_zh
        for text in ("Invalid argument <list>", "Invalid argument 'fixture_rows'")
    ]
    assert made[0] is None or "<list>" not in made[0]
    assert made[1] is not None


def test_what_failed_as_an_assertion_is_an_expression_and_no_sentence():
    said = {}
    for asserted in (
        "not self.kiln_rows",
        "kiln.rows is None",
        "kiln_rows == 4 rows do not fit",
        "rows of no equal size",
    ):
        meaning = fact("meaning.assertion", assertion=asserted)
        made = draft(text=f"Check failed: {asserted}", exception_type=None, meaning=meaning)
        said[asserted] = entry(made, entry_id="a/b").signature_zh
    assert [asserted for asserted, chinese in said.items() if chinese and f"`{asserted}`" in chinese] == [
        "not self.kiln_rows",
        "kiln.rows is None",
    ]


def test_a_code_brings_along_no_advice_that_its_message_does_not_print():
    meaning = fact("meaning.nccl_code", code="ncclInvalidArgument", string="invalid argument")
    bare = draft(text="NCCL error in: kiln.cpp:7, invalid argument", exception_type="RuntimeError", meaning=meaning)
    made = entry(bare, entry_id="a/b").signature_zh
    assert made is not None
    assert "ncclInvalidArgument" in made
    assert "NCCL_DEBUG" not in made


def test_every_rate_of_an_entry_is_rounded_by_one_function():
    act = fact("remedy.set_env", name="FIXTURE_MODE", value="1")
    tried = remedy(act, worked=2, failed=1)
    read = entry(draft(workarounds=(tried,), dead_ends=(tried,)), entry_id="a/b")
    assert [read.workarounds[0].success_rate, read.dead_ends[0].fail_rate] == [rate(2, 1), rate(1, 2)] == [0.667, 0.333]
