"""What messages say by their shape, and noun phrases that are put into Chinese word by word or not at all."""

from __future__ import annotations

import random
import time

import pytest

from pipeline.records import Fact
from pipeline.translate import phrases, render, rendering, shapes

SAID = [
    ("Could not find 'cudart64_90.dll'", "找不到 cudart64_90.dll。"),
    ("Node name '<quoted>' is not found in partition graphs", "找不到节点名称 <quoted>。"),
    ("<path>: version `GLIBC_2.18' not found (required by <path>)", "找不到版本 GLIBC_2.18。"),
    ("send_recv.pb.h: No such file or directory", "找不到 send_recv.pb.h。"),
    ("No such configuration variable", "找不到配置变量。"),
    ("No gradient defined for operation 'Foo'", "没有为操作 Foo 定义梯度。"),
    ("Unable to open <path> for reading", "打开 <path> 失败。"),
    ("Failed to create a directory: <path>", "创建目录 <path> 失败。"),
    ("Error deserializing model", "反序列化模型失败。"),
    ("Cannot convert provided value to EagerTensor", "无法将值转换为 EagerTensor。"),
    ("Unsupported type", "不支持该类型。"),
    ("unsupported op 'Split'", "不支持算子 Split。"),
    ("<name> does not support LoRA yet", "<name> 不支持 LoRA。"),
    ("Unknown metric function:fbeta", "无法识别指标函数 fbeta。"),
    ("BPE pre-tokenizer was not recognized - update get_vocab_base_pre()", "无法识别 BPE 预分词器。"),
    ("seed_state must be int", "seed_state 必须是整数。"),
    ("Optimizer must have a 'name' attribute", "优化器必须包含 name 属性。"),
    ("Extension horovod.torch has not been built", "扩展 horovod.torch 尚未构建。"),
    ("Shape not match", "形状不一致。"),
    ("expected feature_<n> to have <n> dimensions, but got array with shape <shape>", "feature_<n> 的维数与预期不符。"),
    ("Output size is too small", "输出大小过小。"),
    ("Dimension size must be evenly divisible by <n> but is <n>", "数值不满足整除要求。"),
    ("Check failed: end <= dims() (<n> vs. <n>)", "程序内部检查 `end <= dims()` 未通过。"),
    ("python: <path>: Assertion `index < size' failed", "断言 `index < size` 不成立。"),
    ("undefined reference to `foo::bar(int)'", "找不到符号 foo::bar 的定义。"),
    ("Timed out waiting for tasks to start", "等待任务超时。"),
    ("indices<shape> = <n> is not in [<n>, <n>)", "indices<shape> 超出允许的范围。"),
    ("The backend does not yet support dynamic shapes", "后端不支持动态形状。"),
    ("Collective ops must be configured at program startup", "程序的某项要求没有满足。"),
    ("Not enough memory", "内存不足，无法完成分配。"),
    ("no message in training:fit", "程序在 training:fit 处出错，没有给出报错信息。"),
    ("in user code", "错误出在被框架跟踪或转换的用户代码中，这行报错没有给出具体原因。"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "chinese"), SAID)
def test_a_message_says_this_by_its_shape(message, chinese):
    found = shapes.shape(message)
    assert found is not None
    assert render(found, "zh") == chinese


@pytest.mark.parametrize("message", ["image misclassified", "'<quoted>'", "", "see you tomorrow", "42"])
def test_a_message_without_a_known_shape_says_nothing(message):
    assert shapes.shape(message) is None


@pytest.mark.parametrize(
    ("message", "template"),
    [
        ("Failed to frobnicate the doodad", None),  # an unknown verb is no operation
        ("Failed to load the doodad of the widget", "shape.failed"),  # an unknown noun: only the operation is said
        ("JupyterLab failed to build", "shape.failed"),  # it is not JupyterLab that failed
        ("We cannot duplicate the value since it's not constant", None),  # nothing occurs twice
        ("Dropped l-value input required here", None),  # no value is compared
        ("%d format: a number is required", "shape.must"),  # a colon ends a phrase, a number is no count
    ],
)
def test_what_is_not_understood_is_not_named(message, template):
    found = shapes.shape(message)
    assert (found.template if found else None) == template


@pytest.mark.parametrize(
    ("phrase", "chinese"),
    [
        ("the input shape", "输入形状"),
        ("custom op 'Split'", "自定义算子 Split"),
        ("a CUDA driver", "CUDA 驱动程序"),
        ("dynamic library 'libcuda.so.1'", "动态库 libcuda.so.1"),
        ("No such column: age", None),
        ("column: age", "列 age"),
        ("train<n>", "train<n>"),
        ("compatible doodad", None),
        ("the", None),
        ("input output input output input output input", None),  # too long for a noun phrase
    ],
)
def test_a_phrase_is_chinese_word_by_word_or_nothing(phrase, chinese):
    assert phrases.chinese(phrase) == chinese


def test_a_capital_at_the_start_of_a_sentence_makes_no_name():
    assert phrases.masked("Asking", starts_sentence=True) is None
    assert phrases.masked("Asking") == ("\ue000", ["Asking"])
    assert phrases.masked("Cython", starts_sentence=True) is None
    assert phrases.masked("TensorShape", starts_sentence=True) is not None


def test_every_shape_has_a_row_or_is_made_elsewhere():
    by_rows = {row.template for row in shapes.rows()}
    known = {template for template in rendering.templates() if template.startswith("shape.")}
    assert known - by_rows == {"shape.bare_type"}
    assert by_rows - known == set()


def test_every_row_fills_the_slots_of_its_template():
    for row in shapes.rows():
        groups = {name.rstrip("0123456789") for name in row.pattern.groupindex}
        assert groups == set(rendering.template_of(row.template).slots), row.template


def test_every_word_of_the_tables_leads_to_a_term():
    tables = phrases.tables()
    for table, name in (("operations", "operation"), ("aspects", "aspect")):
        assert set(tables[table].values()) <= set(rendering.term_lists()[name])


@pytest.mark.parametrize(
    "unit", ["a ", "not ", "must be ", "no such ", ": ", "<n> ", "x=", "expected ", "'a' ", "failed "]
)
def test_hostile_messages_are_read_in_bounded_time(unit):
    started = time.process_time()
    shapes.shape(unit * 40_000)
    assert time.process_time() - started < 1.0


def test_any_text_is_read_without_an_error():
    words = (
        "cannot find must be not no such expected got : ' ` <n> <path> ( ) type shape 张量 failed error loading X_y ."
    )
    chance = random.Random(7)
    for _ in range(400):
        found = shapes.shape(" ".join(chance.choices(words.split(" "), k=chance.randint(0, 14))))
        assert found is None or render(found, "zh").endswith("。")
        assert found is None or isinstance(found, Fact)


@pytest.mark.parametrize(
    "phrase",
    [
        "kernel", "the image", "docker host image", "sample", "binary", "activation",  # of which field is not said
        "dtype resource", "column name label",  # names that look like terms
        "file file", "property attribute", "image: acme:1",
    ],
)  # fmt: skip
def test_a_phrase_whose_sense_is_not_said_is_none(phrase):
    assert phrases.chinese(phrase) is None


@pytest.mark.parametrize(
    ("phrase", "chinese"),
    [
        ("the docker image", "Docker 镜像"),
        ("CUDA kernel", "CUDA 核函数"),
        ("kernel size", "卷积核大小"),
        ("activation key", "激活密钥"),
        ("API key", "API 密钥"),
        ("DNS resolution", "DNS 解析"),
    ],
)
def test_words_beside_it_decide_the_sense_of_a_term(phrase, chinese):
    assert phrases.chinese(phrase) == chinese


@pytest.mark.parametrize(
    ("message", "check", "behind"),
    [
        ("Check failed: it != spare_map_.end() StackV2/Internal/_3", "it != spare_map_.end()", "StackV2/Internal/_3"),
        ("Check failed: size % step == 0 file is not aligned", "size % step == 0", "file is not aligned"),
        ("GGML_ASSERT: <path>: svcntb() == QK8_0", "svcntb() == QK8_0", ""),
        ("Check failed: not done and ready or x in y", "not done and ready or x in y", ""),
    ],
)
def test_a_check_ends_where_two_names_meet(message, check, behind):
    found = shapes.read(message)
    assert dict(found.fact.slots)["check"] == check
    assert found.behind.strip() == behind


@pytest.mark.parametrize(
    ("message", "says_less"),
    [
        ("failed to copy file '<quoted>' to '<quoted>'", True),
        ("Input must be <n>-d or <n>-d", True),
        ("Cannot cast tensor to", True),
        ("Unknown OpenSSL error", True),
        ("Check failed: a == b (<n> vs. <n>)", False),
        ("failed to open '<quoted>'", False),
    ],
)
def test_a_shape_that_leaves_out_a_thing_or_the_end_says_less(message, says_less):
    assert shapes.read(message).says_less is says_less


def test_what_stands_behind_the_colon_of_a_failure_is_its_reason_and_no_name():
    assert shapes.read("Error while parsing header: TornHeaderReading") is None or "Torn" not in render(
        shapes.read("Error while parsing header: TornHeaderReading").fact, "zh"
    )
    assert render(shapes.shape("Failed to create a directory: <path>"), "zh") == "创建目录 <path> 失败。"
