"""Secrets and people outside of raw: planted secrets in eleven places, what only looks like one, folders, mail."""

# ruff: noqa: E501  (rows of tables are read as they are)
from __future__ import annotations

import re
import time

import pytest

from pipeline import text
from tests import planted
from tests.each import each

FOUND = [(one, place, written, text.redact(text.clean(written))) for one, place, written in planted.texts()]
#: So many characters in a row of a secret are none of what a text may keep.
LEFT = 6


def leaks(secret: str, redacted: str) -> bool:
    """Whether a part of the secret is still there."""
    return any(secret[at : at + LEFT] in redacted for at in range(len(secret) - LEFT + 1))


def test_the_corpus_is_large_and_of_many_forms() -> None:
    corpus = planted.corpus()
    assert len(corpus) >= 500
    assert len({one.vendor for one in corpus}) >= 120
    assert len(planted.PLACES) >= 10
    assert corpus == planted.corpus()


@each("place", planted.PLACES)
def test_every_secret_with_a_form_of_its_own_is_redacted_in_every_place(place: str) -> None:
    left = [
        (one.vendor, written)
        for one, at, written, redacted in FOUND
        if at == place and one.is_prefixed and leaks(one.secret, redacted)
    ]
    assert left == []


def test_of_all_secrets_ninety_seven_of_a_hundred_are_redacted() -> None:
    left = [(one.vendor, place) for one, place, _, redacted in FOUND if leaks(one.secret, redacted)]
    assert len(left) <= 0.03 * len(FOUND), left


def test_redacting_again_changes_nothing() -> None:
    assert [redacted for *_, redacted in FOUND if text.redact(redacted) != redacted] == []


def test_another_scanner_finds_nothing_of_what_was_planted() -> None:
    # no dependency: its last release is of May 2024
    scan = pytest.importorskip("detect_secrets.core.scan", reason="detect-secrets is not installed")
    default_settings = pytest.importorskip("detect_secrets.settings").default_settings
    with default_settings():
        left = [
            (one.vendor, place, found.secret_value)
            for one, place, _, redacted in FOUND
            for line in redacted.split("\n")
            for found in scan.scan_line(line)
            if found.secret_value and len(found.secret_value) >= LEFT and found.secret_value in one.secret
        ]
    assert left == []


@each("vendor, unlike", [(row["vendor"], one) for row in planted.TABLE["formats"] for one in row["unlike"]])
def test_what_begins_like_a_secret_stays(vendor: str, unlike: str) -> None:
    for around in ("{}", "see {} (old)", "x = '{}'", "文本{}。", "a\n{}\nb"):
        assert text.redact(around.format(unlike)) == around.format(unlike)


RUN = "k9Zq7Xw3Lm2Pv8Rt5Yb1"


@each(
    "written, secret",
    [
        (f"AWS_SECRET_ACCESS_KEY: {RUN}{RUN}", RUN),
        (f"Cookie: session={RUN}; csrftoken=abc", RUN),
        (f"Set-Cookie: sid={RUN}; Path=/; HttpOnly", RUN),
        (f"X-API-Key: {RUN}", RUN),
        (f"Authorization: {RUN}", RUN),
        (f"Authorization: Digest username={RUN}", RUN),
        (f"headers = {{'Authorization': 'Bearer {RUN}'}}", RUN),
        ("password: hunter22", "hunter22"),
        ("密码：hunter22", "hunter22"),
        ("密码是hunter22，登录不了", "hunter22"),
        ('"password": "swordfish!"', "swordfish!"),
        ("db_password = 's3cr3t-pass'", "s3cr3t-pass"),
        ("**Password**: `hunter22`", "hunter22"),
        ("password: |\n  hunter22\n", "hunter22"),
        ("postgres://pond:pa/ss:wo@rd1@db.example:5432/x", "pa/ss:wo@rd1"),
        ("jdbc:mysql://pond:pass1word@db.example/x", "pass1word"),
        ("redis://:p%40ss1/word@cache:6379/0", "ss1/word"),
        (f"Server=tcp:x.database.windows.net;User ID=pond;Password={RUN};Encrypt=True", RUN),
        (f"https://x.s3.amazonaws.com/a?X-Amz-Signature={RUN}&X-Amz-Date=1", RUN),
        (f"https://storage.googleapis.com/a?X-Goog-Signature={RUN}&x=1", RUN),
        (f"https://x.blob.core.windows.net/a?sv=2022-11-02&sig={RUN}%3D&se=2030", RUN),
        (f'"url": "https://x.blob.core.windows.net/a?sv=1\\u0026sig={RUN}%3D"', RUN),
        (f"curl -u pond:{RUN} https://a.example", RUN),
        (f"--api-key {RUN}", RUN),
        (f"machine api.wandb.ai\n  login user\n  password {RUN}", RUN),
        (f"&quot;password&quot;:&quot;{RUN}&quot;", RUN),
        (f"API\\_KEY={RUN}", RUN),
        (f'config["token"] = "{RUN}"', RUN),
        (f'os.environ["DRUM_API_KEY"] = "{RUN[:12]}1"', RUN[:12]),
        (f"Array ( [token] => {RUN} [mode] => 1 )", RUN),
        ("Connected to amqp://drummer:***@rabbit:5672//", "drummer"),
        (f'"{{\\"token\\": \\"{RUN}\\"}}"', RUN),
        (f"token = '{RUN[:10]}' \\\n    '{RUN[10:]}'", RUN[10:]),
        ('"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkq\\nhkiG9w0BAQ==\\n-----END PRIVATE KEY-----\\n"', "MIIEvQ"),
        ('key = "-----BEGIN RSA PRIVATE KEY-----\\n" +\n  "MIIEvQIBADANBgkqhkiG9w0B\\n" +\n  "hkiG9w0BAQEFAASC\\n"', "MIIEvQ"),
        ("-----BEGIN RSA PRIVATE KEY-----\n> MIIEvQIBADANBgkqhkiG9w0B\n> hkiG9w0BAQEFAASCBKcw", "hkiG9w0BAQEFAASC"),
        ("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nAAAAIDnC8p3hq7Kx0aBcDeFgHiJkLmNo\nPrivate-MAC: 0123456789abcdef0123456789abcdef01234567", "AAAAIDnC8p3h"),
        (f"gh\u200bp_{RUN}{RUN[:16]}", RUN[:12]),
    ],
)  # fmt: skip
def test_a_secret_in_a_setting_is_redacted(written: str, secret: str) -> None:
    assert secret not in text.safe(written)
    assert "<secret>" in text.safe(written)


@each(
    "harmless",
    [
        "EOS_TOKEN=50256", "token: 151645", "token = tokenizer.decode(ids)", "password: str | None = None",
        "password: required", "password=os.environ['DB_PASSWORD']", "password=${DB_PASSWORD}", "password = <yours>",
        "secrets: inherit", "key=lambda x: x[1]", "Missing key: model.layers.0.self_attn.q_proj.weight",
        "PublicKeyToken=bd319b19eaf3b43a", "token = android.os.BinderProxy@42a76558", "sessionid=0x155e19baa520025",
        "commit 0123456789abcdef0123456789abcdef01234567", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "object at 0x7f3c1a2b4d60", "123e4567-e89b-12d3-a456-426614174000", "tensor([0.1234, 0.5678], device='cuda:0')",
        "torch==2.3.0a0+git1a2b3c4", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "/usr/local/lib/python3.11/site-packages/torch/nn/modules/module.py", "/root/.cache/huggingface", "/data/models/llama",
        "Vary: Authorization,Accept-Encoding", "https://example.com:8080/a/b@2x.png", "http://localhost:3000/@scope/x",
        "GET /data/plugin/profile/hosts?run=2019", "PATH=~/bin:/usr/bin", "num_key_value_heads=8, pad_token_id=0",
        "%fusion.12 = bf16[512,768]{0,1:T(4,256)(3,2)} fusion(%p)", "_ZN5torch3jit11InterpreterE4runERSt6vector",
    ],
)  # fmt: skip
def test_hashes_values_and_code_stay(harmless: str) -> None:
    for around in ("{}", "a\n{}\nb", "文本{}。"):
        assert text.redact(around.format(harmless)) == around.format(harmless)


# ---------------------------------------------------------------- people


@each(
    "written, wanted",
    [
        ('File "/home/张三丰/x.py"', 'File "/home/user/x.py"'),
        ("/home2/ann/x", "/home2/user/x"),
        ("/homes/ann/x", "/homes/user/x"),
        ("/home/users/ann/x", "/home/users/user/x"),
        ("/home/josé/x", "/home/user/x"),
        (r"\/home\/ann\/x", r"\/home\/user\/x"),
        ("在/home/ann下面", "在/home/user下面"),
        ("/data4/tanghaoyu/espnet/a.py", "/data4/user/espnet/a.py"),
        ("/mnt/data/taosc/anaconda3/lib/python3.9/site-packages/torch/a.py", "/mnt/data/user/anaconda3/lib/python3.9/site-packages/torch/a.py"),
        ("/scratch/ann/x", "/scratch/user/x"),
        ("/gpfs/users/ann/x", "/gpfs/users/user/x"),
        ("/mnt/home/ann/x", "/mnt/home/user/x"),
        ("/tmp/torchinductor_ann/ab/x.py", "/tmp/torchinductor_user/ab/x.py"),
        ("~ann/run/x", "~user/run/x"),
        ("/Users/ann/x", "/Users/user/x"),
        ("c:\\users\\ann lee\\x", "c:\\users\\user\\x"),
        (r'"C:\\Users\\ann\\x"', r'"C:\\Users\\user\\x"'),
        ("C:/Users/ann/x", "C:/Users/user/x"),
        ("联系x@y.com谢谢", "联系<email>谢谢"),
        ("ANN.LEE@EXAMPLE.COM", "<email>"),
        ("ann@mail.photography", "<email>"),
        ("mail ann@example.com(work)", "mail <email>(work)"),
        ("ann\\_lee\\@example\\.com", "<email>"),
        ("ann%40example.com", "<email>"),
        ("123456@qq.com", "<email>"),
        ("cc @ezyang @gchanan", "cc @user @user"),
        ("@ezyang: could you look? (thanks @ptrblck)", "@user: could you look? (thanks @user)"),
        ("谢谢@zhangsan，好了", "谢谢@user，好了"),
        ("[@ann](https://x.example)", "[@user](https://x.example)"),
    ],
)  # fmt: skip
def test_what_names_a_person_is_replaced(written: str, wanted: str) -> None:
    assert text.redact(written) == wanted
    assert text.redact(wanted) == wanted


@each(
    "harmless",
    [
        "git@github.com:openxla/xla.git", "package@1.2.3", "uses: actions/checkout@v4", "npm i @babel/core@7.1.0",
        "@torch.no_grad()\ndef f(): pass", "@jit\ndef f(): pass", "@Override\npublic void f() {}", "```\n@ann\n```", "`@ann`",
        "y = x@w.to(device)", "a@b.T", "func @main(%arg0: tensor<4xf32>)", "call void @foo()", "memcpy@plt", "@v2", "x @ y",
        "the @compile_this decorator", "https://medium.com/@ann/post", "[@src]", "/root/x", "/home/user/x", "~/x", "~1.2/3",
        "symbol@GLIBC_2.2.5", "libfoo@lib.so", "/data/datasets/coco/x.jpg", "/work/mxnet/python/mxnet/base.py", "user@host:~/x$",
    ],
)  # fmt: skip
def test_what_names_nobody_stays(harmless: str) -> None:
    assert text.redact(harmless) == harmless


# ---------------------------------------------------------------- hostile text

UNITS = (
    *("password=", "password: ", '"token": "', "api_key=a1", "密码：", "Authorization: ", "Cookie: a=", "://a:", "://a:b@", "?sig="),
    *("@a.com", "@a.", "a@b.c.", "@ann ", "/data/", "/data4/a/", "\\Users\\", "C:\\Users\\", "~a/", "/home/users/", "'+ '"),
    *("sk-", "-sk-a1", "A1b", "eyJa.", "AZDO", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "Private-Lines: 1"),
    *("\\n", '" "', '" + "', "\\", "&#64;", "\\u0026", "ghp_\n", "hf_a1\n", "> ", "```\n", "%40a.", "curl -u ", "machine a "),
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    hostile = unit * (100_000 // len(unit))
    began = time.process_time()
    text.redact(hostile)
    assert time.process_time() - began < 2


def test_no_pattern_of_the_tables_is_unbounded() -> None:
    for row in planted.TABLE["formats"]:
        assert not re.search(r"[^\\)\]][*+](?!\+)", re.sub(r"\[[^]]*\]", "", row["pattern"])), row["vendor"]
