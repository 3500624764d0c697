"""Text tools: cleaning, redacting, language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import text
from tests import linear
from tests.rings import one_in

RUN = "aB3" * 14


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("a\0b\x07c\x7f", "abc"),
        ("one\r\ntwo\rthree\u2028four\x85five", "one\ntwo\nthree\nfour\nfive"),
        ("\x1b[1;31merror:\x1b[0m x", "error: x"),
        ("\x1b]8;;https://x.example\x07link\x1b]8;;\x07", "link"),
        ("un\u200bseen \u202egnp.exe\u202c \ufeff", "unseen gnp.exe "),
        ("half \ud800 pair", "half \ufffd pair"),
        ("昇腾 emoji 🚀 é", "昇腾 emoji 🚀 é"),
        ("a\u2800b \u180bc\ufe0f \ue000d\U000f0000 e\U000e0041\U000e0100", "ab c d e"),
        ("step 1\n  \ue0b0 \nstep 2\n\n\u200b\n\nstep 3\n\ue0b0", "step 1\nstep 2\n\n\nstep 3\n"),
        ("⚠\ufe0f error: 👩\u200d💻 failed", "⚠ error: 👩💻 failed"),
    ],
)
def test_clean_takes_out_what_a_reader_cannot_see(given_text: str, wanted: str) -> None:
    assert text.clean(given_text) == wanted


@given(st.text(max_size=200) | st.text(alphabet="\x1b[]0;m\r\n\x07\u202ea\\ \ud800", max_size=200))
@settings(max_examples=300, deadline=None)
def test_clean_twice_is_clean_once_and_is_clean_says_so(given_text: str) -> None:
    once = text.clean(given_text)
    assert text.clean(once) == once
    assert text.is_clean(once)
    assert text.is_clean(given_text) == (once == given_text)


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + RUN[:36],
        "ghs_" + RUN[:36],
        "github_pat_" + "1A" * 11 + "_" + RUN,
        "hf_" + RUN[:34],
        "AKIA" + "A1B2C3D4E5F6G7H8",
        "AIza" + RUN[:35],
        "sk-proj-" + RUN[:40],
        "sk-ant-api03-" + RUN[:40],
        "xoxb-1234567890-" + RUN[:20],
        "npm_" + RUN[:36],
        "glpat-" + RUN[:20],
        "pypi-AgEIcHlwaS5vcmc" + RUN * 2,
        "eyJhbGciOiJIUzI1NiJ9." + RUN + "." + RUN,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + RUN + "\n" + RUN + "\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_token_of_a_known_format_is_redacted_wherever_it_stands(secret: str) -> None:
    for around in ("{}", "token: {} (old)", "x='{}'", "url?key={}&b=1", "文本{}。"):
        redacted = text.redact(around.format(secret))
        assert "<secret>" in redacted
        assert RUN[:12] not in redacted


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("curl -H 'Authorization: Bearer " + RUN + "'", "curl -H 'Authorization: Bearer <secret>'"),
        ("git clone https://me:hunter22@git.example/x", "git clone https://<secret>@git.example/x"),
        ("export WANDB_API_KEY=" + "0a" * 20, "export WANDB_API_KEY=<secret>"),
        ("MY_SECRET='abc12345xyz'", "MY_SECRET='<secret>'"),
        ('api_key="k9z8y7x6w5v4"', 'api_key="<secret>"'),
        ("write to ann.lee+x@mail.example.com.", "write to <email>."),
        ('File "/home/ann/x.py"', 'File "/home/user/x.py"'),
        ("in /data/home/ann-lee/y", "in /data/home/user/y"),
        ("/Users/ann/Library", "/Users/user/Library"),
        (r"C:\Users\ann\x", r"C:\Users\user\x"),
        (r"'C:\\Users\\ann\\x'", r"'C:\\Users\\user\\x'"),
        ("(env) [ann@gpu07 run]$ make", "(env) [user@host run]$ make"),
        ("ann@gpu07:~/run$ make", "user@host:~/run$ make"),
    ],
)
def test_what_names_a_person_or_opens_a_door_is_replaced_and_the_rest_kept(given_text: str, wanted: str) -> None:
    assert text.redact(given_text) == wanted


@pytest.mark.parametrize(
    "harmless",
    [
        "y = x@w.to(device) + a@b.T",
        "@triton.jit\ndef kernel(x_ptr): pass",
        "npm@6.13.4 and symbol@GLIBC_2.2.5 in cublasGemmEx@libcublas.so",
        "git@github.com:openxla/xla.git",
        "tokenizer.pad_token = tokenizer.eos_token",
        "TOKEN=<your token>",
        "EOS_TOKEN=50256",
        "https://example.com/home/docs/index.html",
        "see http://localhost:8080/a@b",
        "%fusion.12 = bf16[512,768]{0,1:T(4,256)(3,2)} fusion(%p), kind=kLoop",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "sk-learn-contrib and task-scheduler-implementation-notes",
        "_ZN5torch3jit11InterpreterE4runERSt6vectorINS_6IValueE",
        "https://user:password@proxy:3128",
    ],
)
def test_code_hashes_and_placeholders_stay(harmless: str) -> None:
    assert text.redact(harmless) == harmless


@given(
    st.lists(
        st.sampled_from(["ghp_" + RUN[:36], "/home/ann/", "a@b.com", "x", " ", "\n", "://u:p1@", "="]), max_size=12
    )
)
def test_redacting_twice_is_redacting_once(parts: list[str]) -> None:
    once = text.redact("".join(parts))
    assert text.redact(once) == once


def test_rules_of_a_whole_text_act_on_its_parts() -> None:
    parts = ["no secret", "/home/ann/x", "mail a@b.com"]
    rules = text.suspects("\n".join(parts))
    assert [text.redact(part, rules=rules) for part in parts] == [text.redact(part) for part in parts]


@pytest.mark.parametrize(
    "unit",
    one_in(
        4,
        [
            *("a", "@", "a@", "a@b.", "/home/", "eyJ", "\x1b[", "https://a:", "_KEY=", "-----BEGIN PRIVATE KEY-----"),
            *("Bearer ", "ghp_", "[a@b c", "\u200b\u202e", "hf_", "_", "-", "C:\\Users\\"),
        ],
    ),
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    def read(hostile: str) -> None:
        text.redact(text.clean(hostile))
        text.language_of(hostile)

    # a text above 32,768 characters is looked through twice for these: both are on that side of the step
    linear.check(read, unit, size=160_000 if unit in {"ghp_", "hf_"} else 40_000)


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("The kernel fails with an illegal memory access.", "en"),
        ("升级到2.3.0之后好了", "zh"),
        ("求助：RuntimeError: CUDA out of memory", "zh"),
        ("The fix works （谢谢）", "zh"),
        ("a long English sentence with one 中文 word in the very middle of all its many other words", "en"),
        ("メモリが足りません", "ja"),
        ("메모리가 부족합니다", "ko"),
        ("12 : 34", "und"),
        ("", "und"),
        ("déjà vu", "en"),
    ],
)
def test_the_script_tells_the_language(sentence: str, language: str) -> None:
    assert text.language_of(sentence) == language
