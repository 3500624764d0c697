"""Secrets and people outside of raw: planted secrets in eleven places, what only looks like one, folders, mail."""

# ruff: noqa: E501  (rows of tables are read as they are)
from __future__ import annotations

import gzip
import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from pipeline import text
from pipeline.text.tokens import TokenForm, token_rules
from tests import linear, planted
from tests.each import each
from tests.rings import one_in

#: So many characters in a row of a secret are none of what a text may keep.
LEFT = 6


@cache
def all_planted() -> list[tuple[planted.Planted, str, str, str]]:
    """(secret, name of the place, text, redacted) of all of them; made by the worker that asks, not by all that collect."""
    return [(one, place, written, text.redact(text.clean(written))) for one, place, written in planted.texts()]


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
        for one, at, written, redacted in all_planted()
        if at == place and one.is_prefixed and leaks(one.secret, redacted)
    ]
    assert left == []


def test_of_all_secrets_ninety_seven_of_a_hundred_are_redacted() -> None:
    left = [(one.vendor, place) for one, place, _, redacted in all_planted() if leaks(one.secret, redacted)]
    assert len(left) <= 0.03 * len(all_planted()), left


def test_a_token_behind_a_vendors_own_beginning_is_redacted_whatever_its_length() -> None:
    tokens = list(planted.prefixed())
    assert len(tokens) > 1000
    left = [token for _, token, rest in tokens if leaks(rest, text.redact(f"it says {token} here"))]
    assert len(left) <= 0.015 * len(tokens), left


def test_no_name_behind_a_vendors_own_beginning_is_redacted() -> None:
    names = (
        "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x128x64",
        "of_the_whole_configuration_2",
        "Model_3_1_8B_Instruct_v2",
        "conv2d_backward_input_kernel_1",
        "2024-01-02-nightly-build-3",
        "getTheNameOfTheKey2AndMore",
    )
    # what a form takes that a vendor documents is not asked here: some of them let words be tokens
    judged = [rule for rule in token_rules() if isinstance(rule, TokenForm) and rule.is_judged]
    wrong = [
        start + name
        for rule in judged
        for start in rule.keywords
        for name in names
        if start[-1] in "_-." and list(rule.spans(f"x {start}{name} y"))
    ]
    assert wrong == []


def test_redacting_again_changes_nothing() -> None:
    assert [redacted for *_, redacted in all_planted() if text.redact(redacted) != redacted] == []


def test_another_scanner_finds_nothing_of_what_was_planted() -> None:
    # no dependency: its last release is of May 2024
    scan = pytest.importorskip("detect_secrets.core.scan", reason="detect-secrets is not installed")
    default_settings = pytest.importorskip("detect_secrets.settings").default_settings
    with default_settings():
        left = [
            (one.vendor, place, found.secret_value)
            for one, place, _, redacted in all_planted()
            for line in redacted.split("\n")
            for found in scan.scan_line(line)
            if found.secret_value and len(found.secret_value) >= LEFT and found.secret_value in one.secret
        ]
    assert left == []


@each(
    "vendor, unlike",
    [(row["vendor"], one) for row in (*planted.TABLE["formats"], *planted.TABLE["prefixes"]) for one in row["unlike"]],
)
def test_what_begins_like_a_secret_stays(vendor: str, unlike: str) -> None:
    for around in ("{}", "see {} (old)", "x = '{}'", "文本{}。", "a\n{}\nb"):
        assert text.redact(around.format(unlike)) == around.format(unlike)


def not_asked(written: str) -> str:
    """The text as it is redacted where every rule is tried on it, whether or not one of its keywords stands there."""
    rules = text.redaction_rules()
    quotable = tuple(rule for rule in rules if isinstance(rule, text.TokenForm | text.KeyBlock | text.Header))
    return text.redact(written, rules=text.Suspects(rules, quotable, is_coded=True))


@pytest.mark.long
def test_what_is_left_out_by_keywords_would_have_changed_nothing() -> None:
    written = [one for *_, one in planted.texts()][::5]
    assert [one for one in written if text.redact(one) != not_asked(one)] == []


@pytest.mark.shared
def test_what_is_left_out_by_keywords_would_have_changed_nothing_in_real_threads() -> None:
    path = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "issues.jsonl.gz"
    if not path.exists():
        pytest.skip("issues.jsonl.gz of ../shared/corpus is not here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        threads = [json.loads(line) for number, line in enumerate(lines) if number % 160 == 0]
    written = [one["body"] or "" for thread in threads for one in (thread, *(thread["comments"] or ()))]
    assert len(written) > 300
    assert sum(text.redact(one) != not_asked(one) for one in written) == 0


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
        ("    ansible_ssh_pass: R0de.Kool\n", "R0de.Kool"),
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
        # names and values in the order of a call, of a DSL, of a table, of a sentence
        ('new PasswordAuthentication("ann@pond.example", "olxnbbgeivgqkusa")', "olxnbbgeivgqkusa"),
        ('new NetworkCredential("svc", "Lagoon*Z19", "CORP")', "Lagoon*Z19"),
        ("smtp.login('alerts', 'nhgv jrho ipgy cvnw')", "nhgv jrho ipgy cvnw"),
        (f'Client("SK{"3b435d72" * 4}", "{RUN}{RUN}")', RUN),
        ("keytool -importkeystore -srcstorepass Winter77rain -destkeystore x", "Winter77rain"),
        ("storePassword 'Winter77rain'", "Winter77rain"),
        ("ccli configure set secretKey bGDwRWNmIDlQ8VuOIVZfOhPZO53UlW0r", "bGDwRWNmIDlQ8VuO"),
        (f"Unseal Key 1: {RUN}{RUN}=", RUN),
        ("Initial Root Token: s.a2y32FkJv65O5fwE3FrvAc7A", "a2y32FkJv65O5fw"),
        ("define('AUTH_KEY',  '}z,v034G[hy/@jmZTbdbM!12(6J,)F#wc$OO2{4Zd^Zi#sAEk;[,eeX!Dls');", "jmZTbdbM"),
        ("db.pond.example:5432:warehouse:etl:Winter77rain", "Winter77rain"),
        (f'importJWK({{ kty: "EC", x: "VUIRF9WiWHQ", d: "{RUN}{RUN}{RUN}" }})', RUN),
        ("| password | Winter77rain |", "Winter77rain"),
        ("<td>Passwort</td><td>Winter77rain</td>", "Winter77rain"),
        ('psk="eg521miU8qT#qp"', "eg521miU8qT"),
        ("user guest and the pass is DS8Hwg3ARG , thanks", "DS8Hwg3ARG"),
        ("подключаюсь с паролем AF4YxW8ajrjJ и", "AF4YxW8ajrjJ"),
        ("La mia password è 11eN0Rfgr*GB (vecchia)", "11eN0Rfgr"),
        ("token [33mglpat-3mWENDJxMneVS7aqlcFP[0m", "3mWENDJxMneV"),
        ("accessKeyID=LTAI5tEg2WnM7mocPqaP4Fre\naccessKeySecret=niSMEg7dU4kwuwXskWPHHtxdrg0RIC", "niSMEg7dU4k"),
        ("Connected to amqp://drummer:***@rabbit:5672//", "drummer"),
        (f'"{{\\"token\\": \\"{RUN}\\"}}"', RUN),
        (f"token = '{RUN[:10]}' \\\n    '{RUN[10:]}'", RUN[10:]),
        # the last line of a wrapped value ends like the name of a setting: in the padding of base64
        (f"secret_key: {RUN}{RUN}{RUN}\n  EfGh12345678ZZQQ==\nx", "EfGh12345678"),
        (f'"private_key": "{RUN}{RUN}\nEfGh12345678ZZQQ="', "EfGh12345678"),
        ('"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkq\\nhkiG9w0BAQ==\\n-----END PRIVATE KEY-----\\n"', "MIIEvQ"),
        ('key = "-----BEGIN RSA PRIVATE KEY-----\\n" +\n  "MIIEvQIBADANBgkqhkiG9w0B\\n" +\n  "hkiG9w0BAQEFAASC\\n"', "MIIEvQ"),
        ("-----BEGIN RSA PRIVATE KEY-----\n> MIIEvQIBADANBgkqhkiG9w0B\n> hkiG9w0BAQEFAASCBKcw", "hkiG9w0BAQEFAASC"),
        ("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nAAAAIDnC8p3hq7Kx0aBcDeFgHiJkLmNo\nPrivate-MAC: 0123456789abcdef0123456789abcdef01234567", "AAAAIDnC8p3h"),
        (f"gh\u200bp_{RUN}{RUN[:16]}", RUN[:12]),
        # coded: in URLs, in HTML, in escapes of strings, cut by tags
        (f"http%3A%2F%2Fann%3A{RUN}%40proxy.example%3A3128", RUN),
        (f"%7B%22token%22%3A%22{RUN}%22%7D", RUN),
        ("password%3DWinter77rain%26x", "Winter77rain"),
        ("&lt;password&gt;Winter77rain&lt;/password&gt;", "Winter77rain"),
        (f"glpat&#45;{RUN}", RUN),
        (f"b'{{\"refresh_token\"\\x3a\\x20\\x22{RUN}\\x22}}'", RUN),
        (f"npm_{RUN[:9]}<wbr>{RUN[9:]}{RUN[:16]}", RUN[9:]),
        # configuration
        ("<password>\n  Winter77rain\n</password>", "Winter77rain"),
        (f'<add key="ApiKey" value="{RUN}" />', RUN),
        ('<property name="db.connection.password">Winter77rain</property>', "Winter77rain"),
        (f'- name: DB_PASSWORD\n  value: "{RUN}"', RUN),
        (f'variable "db_password" {{\n  default = "{RUN}"\n}}', RUN),
        (f'password             = "{RUN}"', RUN),
        (f"secret_key_base: {RUN}{RUN}", RUN),
        (f"client-key-data: {RUN}{RUN}", RUN),
        ("InstrumentationKey=3f2b9c1e-77aa-4c1d-9e0f-1b2c3d4e5f60;x", "3f2b9c1e-77aa"),
        ("//npm.example/:_authToken=3cf40382-ce73-4f71-b5db-957292ba4801", "3cf40382-ce73"),
        ("ansible_ssh_pass=otter&Lagoon19", "otter&Lagoon19"),
        ("jdbc:oracle:thin:scott/Winter77rain@db:1521/x", "Winter77rain"),
        ("sqlplus -S scott/qWnRtzUvbT@//db:1521/x", "qWnRtzUvbT"),
        ("mc alias set kiln http://minio:9000 glaze rKwMzPtqUVmQ4uFs", "rKwMzPtqUVmQ4uFs"),
        ("mysql -uroot -pKiTrWzqLmB -h 10.0.0.8", "KiTrWzqLmB"),
        ('new HttpBasicAuthenticator("svc", "ec0%Uw*RE")', "ec0%Uw*RE"),
        ('Config { api_key: Some("7Rk5xtokIIUlMlWW957ZThtx9hwY"), port: 443 }', "7Rk5xtokIIUlMlWW957ZThtx9hwY"),
        ('let password = String::from("wR5xtok!");', "wR5xtok!"),
        ('curl -b "sessionid=tk6j2cf879rnwumhzch9fbb2fvqgbb2d" https://kiln.example', "tk6j2cf879rnwumhzch9fbb2fvqgbb2d"),
        (f"AKIAQ2W3E4R5T6Y7U8I9,{RUN}/{RUN[:19]}", RUN),
        (f'{{"kty":"EC","d":"{RUN}{RUN}"}}', RUN),
        ("mnemonic: legal winner thank year wave sausage worth useful legal winner thank yellow", "winner thank year"),
        # keys without a head, headers in keys
        (f"MIIEowIBAAKCAQEA{RUN}{RUN}\n{RUN}{RUN}\n-----END RSA PRIVATE KEY-----", RUN),
        (f"{RUN}{RUN}\n{RUN}{RUN}\n-----END EC PRIVATE KEY-----", RUN),
        (f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n{RUN}{RUN}", RUN),
        # shells
        (f"set -gx VAULT_UNSEAL_KEY {RUN}", RUN),
        (f"setx API_TOKEN {RUN}", RUN),
        ("echo Winter77rain | sudo -S apt update", "Winter77rain"),
        ("mysqldump -u wp -p'Winter77rain' x", "Winter77rain"),
        ("redis-cli -h x -a Winter77rain ping", "Winter77rain"),
        (f"AWS Secret Access Key [None]: {RUN}{RUN}", RUN),
        ("s.get(url, auth=('ines', 'Winter77rain'))", "Winter77rain"),
        (f'"cookie": "PHPSESSID={RUN}; locale=fr"', RUN),
        # languages
        ("パスワードはhunter22です", "hunter22"),
        ("비밀번호는 hunter22 입니다", "hunter22"),
        ("пароль «hunter22»", "hunter22"),
        ("Le mot de passe de la base est hunter22", "hunter22"),
        ("a senha do usuário é `hunter22`", "hunter22"),
        (f"鍵: {RUN}", RUN),
        (f"La clé secrète utilisée : {RUN}", RUN),
        (f"我的token是{RUN}", RUN),
        # a head in capitals before a small word; the value in a line of its own
        (f"API key: {RUN}", RUN),
        (f"API Key = {RUN}", RUN),
        (f"It says so of the API key:\n\n{RUN}\n", RUN),
        (f"token=\\\n{RUN}", RUN),
        (f"api_key = (\n    '{RUN}'\n)", RUN),
        (f"API_KEY=\n{RUN}", RUN),
        (f"token:\n- {RUN}", RUN),
        (f'"password" : [ "{RUN}" ]', RUN),
        (f"secret:\n  value: {RUN}", RUN),
        (f"password: !vault |\n  {RUN}", RUN),
        (f"The password is: {RUN}", RUN),
        (f"session token -> {RUN}", RUN),
        (f'"Authorization" => "Token {RUN}"', RUN),
        (f"私钥：{RUN}", RUN),
        (f"the token I used was {RUN}x{RUN[:4]}", RUN),
        # what parted a token from a word was taken out
        (f"here is my keynvapi-{RUN}{RUN}{RUN}{RUN[:16]}", RUN),
        (f"let token: &'static str = \"{RUN}\";", RUN),
    ],
)  # fmt: skip
def test_a_secret_in_a_setting_is_redacted(written: str, secret: str) -> None:
    assert secret not in text.safe(written)
    assert "<secret>" in text.safe(written)


@each(
    "harmless",
    [
        'your pass is md5(54321)',
        'the password "md5(strrev(imei))" on it',
        "the first pass is done, the second pass is O(n)",
        "| token | 50256 |",
        "| max_token | 4096000 |",
        'Error: secret "regcred2" not found',
        'unexpected token "foo123"',
        "service account token 'default-token-x2x9z' expired",
        "| secret | not set |",
        "git config set core.tokenizer fast_tokenizer_x1",
        "db.pond.example:5432: connection refused",
        "{kty: 'EC', crv: 'P-256', d: 'short'}",
        "smtp.login(user, password)",
        "define('DB_KEY', 'short')",
        "keytool -list -storepass $PASS",
        "the token 'password' is unexpected",
        "/home/ann/anything.py".replace("ann", "user"),
        "EOS_TOKEN=50256", "token: 151645", "token = tokenizer.decode(ids)", "password: str | None = None",
        "password: required", "password: k8s.Client", "login_pass: p2pnet.secret (see above)", "password=os.environ['DB_PASSWORD']", "password=${DB_PASSWORD}", "password = <yours>",
        "secrets: inherit", "key=lambda x: x[1]", "Missing key: model.layers.0.self_attn.q_proj.weight",
        "PublicKeyToken=bd319b19eaf3b43a", "token = android.os.BinderProxy@42a76558", "sessionid=0x155e19baa520025",
        "commit 0123456789abcdef0123456789abcdef01234567", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "object at 0x7f3c1a2b4d60", "123e4567-e89b-12d3-a456-426614174000", "tensor([0.1234, 0.5678], device='cuda:0')",
        "torch==2.3.0a0+git1a2b3c4", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "/usr/local/lib/python3.11/site-packages/torch/nn/modules/module.py", "/root/.cache/huggingface", "/data/models/llama",
        "Vary: Authorization,Accept-Encoding", "https://example.com:8080/a/b@2x.png", "http://localhost:3000/@scope/x",
        "GET /data/plugin/profile/hosts?run=2019", "PATH=~/bin:/usr/bin", "num_key_value_heads=8, pad_token_id=0",
        "printf('x%3d%20s')", "%20 = arith.constant 3 : i32", "google-auth==0.1.3\npydot==1.3.0\npydot-ng==2.0.0\nPyDrive==1.3",
        "clave del problema", "пароль не нужен", "密码错误，请重试", "the key is 'layer1.weight'", "<max_tokens>4096</max_tokens>",
        "ENV CUDA_HOME /usr/local/cuda-12", "https://example.com/cb?error_code=E1001-OUT-OF-MEMORY", "a&b=c&lt;int&gt;",
        "%fusion.12 = bf16[512,768]{0,1:T(4,256)(3,2)} fusion(%p)", "_ZN5torch3jit11InterpreterE4runERSt6vector",
        "secret:\n  frog-pond-volume-2023-claim\n", "missing token:\nmodel_layers_12_self_attn_q_proj\n",
        "the auth key:\nfrogs/pond_2/README.md\n", "vllm serve pond --api-key token-abc123",
        "def token(self) -> Optional[str]:", "the password is: wrong", "subtask-0123456789abcdef0123", "wghp_model_attention_layers_norm",
        "_D39TypeInfo_AS3gcc3deh18OurUnwindException6__initZ",
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
        ("cc @ann_lee, could you look?", "cc @user, could you look?"),
        ("mail ann.lee@firma.pl please", "mail <email> please"),
        ("Signed-off-by: Ann <ann@studio.rs>", "Signed-off-by: user <<email>>"),
        ("info@acme.sh", "<email>"),
        ("ask kim@mail.lab.so or jo-b@corp.md", "ask <email> or <email>"),
        ("作者：max@tools.zip", "作者：<email>"),
        ("ann@пример.рф", "<email>"),
        ("```\n# thanks @zhanghao for the hint\n```", "```\n# thanks @user for the hint\n```"),
        ("```\nTODO(@mkoval): fix\n```", "```\nTODO(@user): fix\n```"),
        ("```\n// see what @ann-lee did\n```", "```\n// see what @user did\n```"),
        ("```\n@ahmed, try the other one\n```", "```\n@user, try the other one\n```"),
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
        "cublasGemmEx@libcublas.so.10.0", "28@cifar10.py:tensorpack", "x@w.mm(y)", "memcpy@libc.so", "run@main.py:12", "a@b.rs",
        "model_v2@train.sh", "```\n/** @param x the thing */\n```", "```\n// @ts-ignore next\n```", "```\n@media (x) {}\n```",
        "```\n# from @ml_dtypes\n```", "```\nnpm i @ann/core by @scope/x\n```", "my @lines = grep { /x/ } @rest;",
        "@RestController @RequestMapping(1)", "/tmp/torchinductor_root/ab",
        "symbol@GLIBC_2.2.5", "libfoo@lib.so", "/data/datasets/coco/x.jpg", "/work/mxnet/python/mxnet/base.py", "user@host:~/x$",
    ],
)  # fmt: skip
def test_what_names_nobody_stays(harmless: str) -> None:
    assert text.redact(harmless) == harmless


# ---------------------------------------------------------------- rows with examples and look-alikes of their own

SETTINGS, PEOPLE = (
    tomllib.loads(Path(f"pipeline/data/secrets/{name}.toml").read_text(encoding="utf-8"))
    for name in ("settings", "people")
)
MADE = [row for row in (*SETTINGS["command"], *PEOPLE["column"]) if "made" in row]
#: Letters, capitals and digits as a password has them, and as few of its letters are those of another.
DRAWN = ("Kq7vTz2mXw9pLr4nBd8sHf3G", "tR5cYx8bNk1mWq6vZj4hPd9L")


@each("row, secret", [(row, secret) for row in MADE for secret in DRAWN])
def test_a_row_takes_what_its_examples_hide(row: dict[str, object], secret: str) -> None:
    made = row["made"]
    assert isinstance(made, list)
    for one in made:
        written = one.replace("{}", secret)
        assert not leaks(secret, text.redact(written)), written
        assert text.redact(text.redact(written)) == text.redact(written)


@each("unlike", [unlike for row in (*SETTINGS["command"], *PEOPLE["column"]) for unlike in row.get("unlike", ())])
def test_what_looks_like_a_setting_stays(unlike: str) -> None:
    assert text.redact(unlike) == unlike


@each("made", [(made, row["pattern"]) for row in PEOPLE["named"] for made in row["made"]])
def test_a_row_takes_the_name_of_its_examples(made: tuple[str, str]) -> None:
    written, pattern = made
    person = "Greta Moosbach" if "{person}" in pattern or "[^\\W" in pattern else "gmoosbach"
    redacted = text.redact(written.replace("{}", person))
    assert "oosbach" not in redacted
    assert text.redact(redacted) == redacted


@each("unlike", [unlike for row in PEOPLE["named"] for unlike in row["unlike"]])
def test_what_names_nobody_in_a_place_of_names_stays(unlike: str) -> None:
    assert text.redact(unlike) == unlike


@each(
    "harmless",
    [
        "/home/runner/work/a/a.rs:1:2", "C:\\Users\\runneradmin\\Temp", "/home/$USER/.config", "root@localhost:~# uname -a",
        "noreply@github.com", "Contact: support@example.com", "postgres://USERNAME:PASSWORD@HOST:5432/A", "Cookie: theme=dark; consent=1",
        "Set-Cookie: lang=en-US; Path=/; SameSite=Lax", "redis://:${REDIS_PASSWORD}@redis:6379/0", "expected '-----BEGIN PRIVATE KEY-----' header",
    ],
)  # fmt: skip
def test_accounts_of_machines_and_places_of_secrets_stay(harmless: str) -> None:
    assert text.redact(harmless) == harmless


@each(
    "written",
    [
        "it is g h p _ k 9 Z q 7 X w 3 L m 2 P v 8 R t 5 Y b 1 k 9 Z q 7 X w 3", "SG. k9Zq7Xw3Lm2Pv8Rt5Yb1k. k9Zq7Xw3Lm2Pv8Rt5Yb1k9Zq7Xw3Lm2Pv8Rt5Yb1k9Z",
        "the key **sk _ live _ k9Zq7Xw3Lm2Pv8Rt5Yb1** in a picture", "_authToken=npm_k9Zq7X\\u200Bw3Lm2Pv8Rt5Yb1k9Zq7Xw3Lm2Pv8Rt5",
        'hmac_secret = """k9Zq7Xw3Lm2Pv8Rt5Yb1"""', "令牌（token）：k9Zq7Xw3Lm2Pv8Rt5Yb1", '<add key="SmtpPassword" value="N7rthern.Pike" />',
        '{"name": "x-csrf-token", "value": "k9Zq7Xw3Lm2Pv8Rt5Yb1"}', "clave de API → k9Zq7Xw3Lm2Pv8Rt5Yb1",
    ],
)  # fmt: skip
def test_secrets_that_blanks_and_marks_part_are_found(written: str) -> None:
    redacted = re.sub(r"[ _]", "", text.redact(written))
    assert not any(part in redacted for part in ("Zq7Xw3Lm2", "w3Lm2Pv8R", "rthern"))


#: Where the two parts of a broken token stand.
BROKEN = (
    *("| X_TOKEN | {} | ok |\n|  | {} |  |", "│ X_TOKEN │ {} │\n│         │ {} │", "<td>{}</td></tr><tr><td></td><td>{}</td>"),
    *("X_TOKEN=&quot;{}<br>&nbsp;&nbsp;{}&quot;", "<p>{}<br />\n{}</p>", '<span>{}</span><span class="x">{}</span>'),
    *("X_TOKEN=3D{}=\n{}\nok", "Token: {}=\n{}\nok", "X_TOKEN {} {} (from a PDF)", "X_TOKEN {}\u00a0{}", "{}&#10;{}"),
    *('("{}"\n     "{}")', "t = '{}' . '{}';", 't = "{}" & _\n    "{}"', '["{}",\n "{}"]', 't = "{}" .. "{}"', "'{}' || '{}'"),
    *("{}%0A{}", '"{}\\u000a{}"', "set T={}^\n{}", "$t = {}`\n{}", "{}\u21a9\n{}", "{}\\\n    {}", "{}\n\n{}", "- {}\n- {}", "**{}**\n**{}**"),
    "2026-01-02T10:00:00.12Z stdout P T={}\n2026-01-02T10:00:00.12Z stdout F {}",
    "May  5 10:00:00 box app[12]: {}\nMay  5 10:00:00 box app[12]: {}",
    *("[10:00:00] INFO {}\n[10:00:00] INFO {}", "api-1  | T={}\napi-1  | {}", "  12 | T={}\n  13 | {}", "> {}\n> {}", "# {}\n# {}"),
)  # fmt: skip


@each("written", BROKEN)
def test_what_is_broken_off_a_token_goes_with_it(written: str) -> None:
    github = ("ghp_k9Zq7Xw3Lm2Pv8Rt5Yb1", "Qd4Nf6Hs8Jc0Gv2T")
    for parts in (github, ("dop_v1_084715d6c20bb82b6277c8c783", "0a67fbe7d142e6b25cb3b6f4db1")):
        redacted = text.redact(written.format(*parts))
        assert not any(part in redacted for part in parts)


@each(
    "behind",
    [
        "\nOTHER_KEY_ID=k9Zq7Xw3Lm2Pv8", " run_k9Zq7Xw3Lm2(x)", "\nimplementation_details", "<br>Reproduced on Ubuntu2204", "\n0x7f3c9a5be122",
        " | ok |\n| commit | latest |", "\n/home/user/k9Zq7Xw3Lm2Pv8", " https://a.b/k9Zq7Xw3Lm2Pv8Rt5Yb1", "\n2026-01-02T10:00:00Z INFO Started", '", "PyTorch2"',
    ],
)  # fmt: skip
def test_what_stands_behind_a_token_and_is_no_part_of_it_stays(behind: str) -> None:
    assert text.redact(f"ghp_k9Zq7Xw3Lm2Pv8Rt5Yb1Qd4Nf6Hs8Jc0Gv2T{behind}") == f"<secret>{behind}"


# ---------------------------------------------------------------- hostile text

UNITS = (
    *("password=", "password: ", '"token": "', "api_key=a1", "密码：", "Authorization: ", "Cookie: a=", "://a:", "://a:b@", "?sig="),
    *("@a.com", "@a.", "a@b.c.", "@ann ", "/data/", "/data4/a/", "\\Users\\", "C:\\Users\\", "~a/", "/home/users/", "'+ '"),
    *("sk-", "-sk-a1", "A1b", "eyJa.", "AZDO", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "Private-Lines: 1"),
    *("\\n", '" "', '" + "', "\\", "&#64;", "\\u0026", "ghp_\n", "hf_a1\n", "> ", "```\n", "%40a.", "curl -u ", "machine a "),
    *("| password |\n|---|---|\n", "|", "Author: a", "whoami\n", "drwxr-xr-x 4 ", "Best regards,\n", "Mrs. Ann ", "pw: ", "-token ", "--a-token "),
    *("log in a/", "connect('a', ", "Client('", "token ", "a b ", "a. ", "_ a", "IDENTIFIED BY ", "obsutil config ", "eyJhIjoi", "LS0tLS1CRUdJTi"),
    *("AKIDAKIDAKIDAKIDAKID ", "kty: d: ", " dot com", "a at b dot ", "a@b ~ % ", "USER=a\n", "uid=1(a)", "\\u200b"),
    *("ghp_k9Zq7Xw3Lm2Pv8Rt5Yb1 ", "ghp_k9Zq7Xw3Lm2Pv8Rt5Yb1 |\n| ", "<br>", "=3D", "|\n|", "| ", "ghp_k9Zq7Xw3Lm2Pv8Rt5Yb1<br>"),
)  # fmt: skip


@pytest.mark.parametrize("unit", one_in(16, UNITS))
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    linear.within(10, text.redact, unit * (100_000 // len(unit)))  # of whole lines of keys 1 to 3, by the machine


@pytest.mark.parametrize("unit", ["aATCTT3xFfGa1 = ", "apscale_pw_a1 = "])
def test_beginnings_without_end_are_not_each_looked_for_in_the_whole_text(unit: str) -> None:
    linear.check(text.redact, unit, size=200_000)


def test_no_pattern_of_the_tables_is_unbounded() -> None:
    for row in planted.TABLE["formats"]:
        assert not re.search(r"[^\\)\]][*+](?!\+)", re.sub(r"\[[^]]*\]", "", row["pattern"])), row["vendor"]
