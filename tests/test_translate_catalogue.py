"""The Chinese catalogue and the translation memory as files that people edit."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from pathlib import Path

import polib
import pytest

from pipeline.lexicon import explanations, gates, glossary
from pipeline.lexicon.catalogues import explains, xla_codes
from pipeline.records import Fact
from pipeline.records.errors import CatalogueError
from pipeline.translate import messages, remembered, render, rendering
from pipeline.translate.compile_catalogue import PO, compile_catalogue
from tests.each import each

ENTRIES = polib.pofile(str(PO))
MEMORY_PO = PO.parents[3] / "memory" / "zh_Hans.po"


def written(tmp_path, msgid, msgstr, *, flags="#, python-brace-format\n"):
    path = tmp_path / "errmine.po"
    path.write_text(f'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n{flags}msgctxt "a.b"\n'
                    f'msgid "{msgid}"\nmsgstr "{msgstr}"\n', encoding="utf-8")  # fmt: skip
    return path


def test_the_compiled_catalogue_is_that_of_the_po_file():
    assert PO.with_suffix(".mo").read_bytes() == compile_catalogue()


def test_every_template_has_a_reviewed_chinese_sentence():
    by_context = {entry.msgctxt: entry for entry in ENTRIES if not entry.fuzzy}
    for template_id, template in rendering.templates().items():
        assert by_context[template_id].msgid == template.english
        assert set(re.findall(r"\{(\w+)\}", template.english)) == set(template.slots)


def test_no_chinese_sentence_is_left_over_from_a_template_that_is_gone():
    behind = ("names", "names_too", "in", "in_too", "several", "several_too")
    known = set(rendering.templates()) | {f"signature.{name}" for name in behind}
    found = {entry.msgctxt for entry in ENTRIES if not entry.msgctxt.startswith(("code.", "term."))}
    assert found - known == set()


@pytest.mark.parametrize("msgstr", ["设为 {valeu}。", "设为。", "设为 {value} 和 {more}。"])
def test_a_wrong_placeholder_fails_the_compilation(tmp_path, msgstr):
    with pytest.raises(CatalogueError, match="placeholders differ"):
        compile_catalogue(written(tmp_path, "Set it to {value}.", msgstr))


def test_a_sentence_without_chinese_fails_the_compilation(tmp_path):
    with pytest.raises(CatalogueError, match="no Chinese"):
        compile_catalogue(written(tmp_path, "Set it.", ""))


def test_an_unreviewed_sentence_is_not_shipped(tmp_path):
    compiled = compile_catalogue(written(tmp_path, "Set it.", "设置它。", flags="#, fuzzy\n"))
    assert "设置它".encode() not in compiled


@each("entry", [entry for entry in ENTRIES if entry.msgctxt.startswith("code.")])
def test_every_explanation_of_a_code_is_clean_chinese(entry):
    assert all(explanations.check("", rendering.plain(entry.msgstr)).values()), entry.msgstr
    assert not entry.msgstr.endswith("。")


def test_every_xla_code_is_explained():
    assert [code for code in xla_codes() if rendering.explanation(code) is None] == []


def test_the_cause_that_a_cuda_or_nccl_code_names_passes_every_gate():
    refused = []
    for entry in ENTRIES:
        code = entry.msgctxt.removeprefix("code.")
        if code.startswith(("cuda:cuda", "nccl:")):
            slots = (("code", code.split(":")[1]), ("string", explains(code) or entry.msgid))
            cause = Fact("cause.code", slots)
            said = gates.check(render(cause, "en"), render(cause, "zh"))
            refused += [(code, name) for name, passed in said.items() if not passed]
    assert refused == []


# ---------------------------------------------------------------- messages of programs

MESSAGES_PO = PO.parents[3] / "memory" / "messages_zh_Hans.po"


SHIPPED = [*((entry.msgid, entry.msgstr) for entry in polib.pofile(str(MESSAGES_PO))), *messages.programs()]


@each("row", SHIPPED, parts=8)
def test_every_message_is_explained_with_its_names(row):
    names = {f"{{{number}}}": f"Layer{number}" for number in range(1, 10)}
    english, chinese = row
    given = "".join(re.findall(r"\w\([^()]+\)", chinese))  # what a call is given stays as it stands
    for place, name in names.items():
        shown = f"'{name}'" if place in given else name
        english, chinese = english.replace(place, f"'{name}'"), chinese.replace(place, shown)
    assert messages.explained(english.replace(" ...", " and `more`.")) == chinese
    assert all(explanations.check(english, chinese).values()), chinese
    assert set(re.findall(r"\{\d\}", row[0])) == set(re.findall(r"\{\d\}", row[1]))


def test_the_tables_of_programs_say_each_message_once_in_the_order_of_their_letters():
    rows = messages.programs()
    assert len(rows) > 5_000
    said = Counter(messages.PLACE.sub("{}", english).rstrip(".").lower() for english, _ in SHIPPED)
    assert [english for english, _ in rows if said[messages.PLACE.sub("{}", english).rstrip(".").lower()] > 1] == []
    for table in sorted((MESSAGES_PO.parent / "programs").glob("*.tsv")):
        lines = table.read_text(encoding="utf-8").splitlines()
        assert lines == sorted(lines, key=lambda line: (line.partition("\t")[0].lower(), line)), table.name


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("'Tensor' object has no attribute 'numpy'", "Tensor 对象没有属性 numpy"),
        ("No module named <name>.", "找不到模块 <name>"),
        ("failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED",
         "无法创建 cuBLAS 句柄：CUBLAS_STATUS_ALLOC_FAILED（cuBLAS 内部分配资源失败）"),
        ("No module named a b c", None),
        ("I read that there is No module named x", None),
        ("", None),
        ("No module named x" * 100, None),
    ],
)  # fmt: skip
def test_a_message_must_match_as_a_whole(text, wanted):
    assert messages.explained(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # each part says why the one before it came
        ("failed to create <path>: permission denied", "无法创建 <path>：没有权限"),
        ("failed calling webhook 'a.b': failed to call webhook: Post '<quoted>': no such host",
         "调用 webhook a.b 失败：向 <quoted> 发送 POST 请求失败：没有该主机"),
        ("geese: failed to open <path>: permission denied", None),  # no name by its look
        ("goose_farm.toml: failed to open <path>: permission denied", "goose_farm.toml：无法打开 <path>：没有权限"),
        ("failed to create <path>: the pond is frozen over", None),
        ("failed to create <path>: goose_farm", None),  # nothing says what went wrong
        ("the pond is frozen over: permission denied", None),
        # the case of the first letter says nothing
        ("Permission denied", "没有权限"), ("No space left on device", "设备上没有剩余空间"),
        ("no space left on device", "设备上没有剩余空间"),
        # quotes of compilers, a colon behind a name
        ("unknown type name ‘goose’", "未知的类型名 goose"),
        ("goose: command not found", "找不到命令 goose"),
        # a type before a message is no file, a plain word with more behind it no name
        ("TypeError: invalid ELF header", None), ("goose.so: invalid ELF header", "goose.so 的 ELF 头无效"),
        ("failed to open the pond", None),
    ],
)  # fmt: skip
def test_messages_in_a_chain_are_all_known_or_none_is_said(text, wanted):
    assert messages.explained(text) == wanted


@pytest.mark.long
def test_a_message_is_found_by_its_words_as_by_asking_every_row():
    known = messages.known_messages()
    judged = (Path(__file__).parent / "quality" / "zh_judged.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["en"] for line in judged[::4]]
    rows = [messages.message(*pair) for pair in SHIPPED]
    assert len(known) >= len(rows)
    for text in texts:
        wanted = {row.chinese for row in rows if row.may_be(text)}
        assert wanted <= {row.chinese for row in known.candidates(text)} | _without_a_whole_word(rows, text)


def _without_a_whole_word(rows, text):
    """Rows whose letters are in the text, but inside of other words ("tensor" in "tensors")."""
    words = set(re.findall(r"[a-z]{3,40}", text.lower()))
    return {row.chinese for row in rows if row.may_be(text) and not words.issuperset(row.words)}


@pytest.mark.parametrize("unit", ["' ", "'a' ", "a", "( ", "a, ", "<n> ", '"', "a: ", ": ", "<n>: ", "failed: "])
def test_hostile_messages_are_read_in_no_time(unit):
    started = time.perf_counter()
    for length in (messages.LONGEST, 100_000):
        messages.explained((unit * length)[:length])
    assert time.perf_counter() - started < 1.0


def test_quotes_and_line_breaks_of_a_po_file_are_read_as_polib_reads_them():
    for path in (MEMORY_PO, MESSAGES_PO):
        read = [(entry.msgid, entry.msgstr) for entry in polib.pofile(str(path))]
        assert rendering.pairs(path.read_text(encoding="utf-8")) == read


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("entry", polib.pofile(str(MEMORY_PO)), ids=lambda entry: entry.msgid)
def test_every_remembered_sentence_is_found_and_passes_the_gates(entry):
    names = {"{1}": "`TRITON_PTXAS_PATH`", "{2}": "`num_stages`"}
    english, chinese = entry.msgid, entry.msgstr
    for place, name in names.items():
        english, chinese = english.replace(place, name), chinese.replace(place, name)
    offer = remembered.shipped_memory().offer(english)
    assert offer is not None
    assert offer.text == chinese
    assert all(gates.check(english, offer.text).values())


def test_numbers_and_names_are_put_back_in_the_order_of_the_chinese():
    memory = remembered.memory('msgid "Call {1} before {2}."\nmsgstr "在 {2} 之前调用 {1}。"\n')
    assert (
        memory.offer("Call torch.cuda.init() before import_model.").text
        == "在 import_model 之前调用 torch.cuda.init()。"
    )


def test_only_an_exact_masked_sentence_is_remembered():
    memory = remembered.memory('msgid "Upgrading to {1} fixed it."\nmsgstr "升级到 {1} 后问题解决。"\n')
    assert memory.offer("Upgrading to 3.2 fixed it").text == "升级到 3.2 后问题解决。"
    assert memory.offer("Upgrading to 3.2 fixed nothing.") is None
    assert memory.offer("Upgrading to 3.2 fixed it for 2 of us.") is None


def test_a_fuzzy_memory_entry_is_not_used():
    assert not remembered.memory('#, fuzzy\nmsgid "Restart."\nmsgstr "重启。"\n').pairs


def test_a_memory_entry_may_continue_over_lines():
    memory = remembered.memory('msgid ""\n"Restart "\n"it."\nmsgstr ""\n"重启"\n"它。"\n')
    assert memory.offer("Restart it.").text == "重启它。"


# ---------------------------------------------------------------- glossary


def test_the_longest_term_wins():
    found = [term.english for term in glossary.found_in("the dynamic shared memory of two thread blocks")]
    assert found == ["dynamic shared memory", "thread block"]


def test_a_word_with_two_meanings_accepts_either():
    kernel = glossary.terms()["kernel"]
    assert {"核函数", "内核"} <= set(kernel.renderings())


def test_every_term_is_simplified_chinese_or_a_name():
    wrong = [term for term in glossary.terms().values() if not gates.simplified("", term.chinese)]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "peeled"),
    [
        ("<n> not less than <n>", ["<n> not less than <n>"]),
        ("SHA<n> mismatch", ["SHA<n> mismatch"]),
        ("<path> must be absolute", ["<path> must be absolute"]),
        ("<path>: no such file", ["<path>: no such file", "no such file"]),
        ("E<n> too few arguments", ["E<n> too few arguments", "too few arguments"]),
    ],
)
def test_a_subject_is_nothing_that_a_program_puts_before_its_message(text, peeled):
    assert messages.peeled(text) == peeled


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("a >= b was not true.Node number 3 (ADD) failed", "a >= b was not true. Node number 3 (ADD) failed"),
        ("the drawer was not initializedNode number 3", "the drawer was not initialized. Node number 3"),
        ("no type hint.This may be so", "no type hint. This may be so"),
        ("expected graph.Graph, got json.Number", "expected graph.Graph, got json.Number"),
        ("java.lang.This is a.The", "java.lang.This is a.The"),
    ],
)
def test_two_sentences_without_a_space_between_them_are_no_name(text, parted):
    assert gates.unglued(text) == parted
    assert gates.protected(text) == gates.protected(parted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("failed to create session", None),  # an ordinary word is no name
        ("failed to create 'session'", "无法创建 session"),
        (
            "boost::filesystem::create_drawer: Permission denied",
            "boost::filesystem::create_drawer：没有权限",
        ),  # no file
        ("No module named tillImportError", None),
        ("UnsatisfiedLinkError: acme.Loader[Drawers[[zip file]] couldn't find 'libtill.so'", None),
    ],
)
def test_what_stands_in_the_place_of_a_value_and_is_none_is_not_named_as_one(text, wanted):
    assert messages.explained(text) == wanted
