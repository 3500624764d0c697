"""Secrets that were never anybody's, made by the forms of data/secrets/ with a fixed seed, and where they stand."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import tomllib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

SEED = 20260101
TABLE = tomllib.loads(Path("pipeline/data/secrets/tokens.toml").read_text(encoding="utf-8"))
_SLOT = re.compile(r"\{(\w+)(?::(\d+))?\}")
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "url": string.ascii_letters + string.digits + "-_",
    "base64": string.ascii_letters + string.digits + "+/",
    "base32": string.ascii_uppercase + "234567",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}


class Planted(NamedTuple):
    """A secret in its setting."""

    vendor: str
    name: str  # of the setting, "" if the form alone tells
    value: str  # what stands in a text
    secret: str  # the part of it that must not leave raw

    @property
    def is_prefixed(self) -> bool:
        """Whether it is told by its form alone."""
        return not self.name


def _checksum(body: str) -> str:
    """The last six characters of GitHub's and npm's tokens: CRC-32 of what stands before them, in base 62."""
    number, digits = zlib.crc32(body.encode()), ""
    while number:
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0")


def _jwt(random_: random.Random) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": str(random_.randrange(10**9)), "iat": 1_700_000_000})
    heads = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join((*heads, _random(random_, "url", 43)))


def _random(random_: random.Random, kind: str, length: int) -> str:
    alphabet = _ALPHABETS[kind]
    return "".join(random_.choice(alphabet) for _ in range(length))


def made(template: str, random_: random.Random) -> tuple[str, list[str]]:
    """What a template of a row makes, and the random parts of it."""
    parts: list[str] = []

    def fill(slot: re.Match[str]) -> str:
        kind = slot[1]
        if kind == "crc":
            return _checksum(parts[-1])
        if kind == "jwt":
            parts.append(_jwt(random_))
        elif kind == "uuid":
            number = f"{random_.getrandbits(128):032x}"
            parts.append(f"{number[:8]}-{number[8:12]}-{number[12:16]}-{number[16:20]}-{number[20:]}")
        else:
            parts.append(_random(random_, kind, int(slot[2])))
        return parts[-1]

    return _SLOT.sub(fill, template), parts


def key_block(kind: str, random_: random.Random, lines: int = 8) -> str:
    """A key of many lines, as openssl and ssh-keygen write it."""
    body = "\n".join(_random(random_, "base64", 64) for _ in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n{_random(random_, 'base64', 22)}==\n-----END {kind}-----"


#: Secrets that no form tells but the name of their setting; `{}` is a value of the kind.
NAMED = (
    *(("DD_API_KEY", "hex", 32), ("DATADOG_APP_KEY", "hex", 40), ("MISTRAL_API_KEY", "alnum", 32)),
    *(("COHERE_API_KEY", "alnum", 40), ("TOGETHER_API_KEY", "hex", 64), ("WANDB_API_KEY", "hex", 40)),
    *(("COMET_API_KEY", "alnum", 25), ("FASTLY_API_TOKEN", "url", 32), ("CLOUDFLARE_API_TOKEN", "url", 40)),
    *(("TWILIO_AUTH_TOKEN", "hex", 32), ("HCLOUD_TOKEN", "alnum", 64), ("LINODE_TOKEN", "hex", 64)),
    *(("VULTR_API_KEY", "upper", 36), ("ALGOLIA_API_KEY", "hex", 32), ("OKTA_API_TOKEN", "url", 42)),
    *(("HUAWEICLOUD_SDK_SK", "alnum", 40), ("AZURE_OPENAI_API_KEY", "hex", 32), ("SNYK_TOKEN", "hex", 36)),
    *(("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "alnum", 30), ("TENCENTCLOUD_SECRET_KEY", "alnum", 32)),
    *(("password", "alnum", 12), ("db_password", "alnum", 16), ("client_secret", "url", 34), ("passwd", "alnum", 10)),
    *(("api_key", "alnum", 32), ("apiKey", "alnum", 40), ("access_token", "url", 40), ("secretKey", "alnum", 40)),
    *(("auth_token", "hex", 40), ("X-API-Key", "alnum", 36), ("Ocp-Apim-Subscription-Key", "hex", 32)),
    *(
        ("密码", "alnum", 10),
        ("SESSION_SECRET", "hex", 48),
        ("encryption_key", "base64", 44),
        ("JFROG_TOKEN", "alnum", 64),
    ),
)


#: How long tokens behind a vendor's beginning are made: no form is documented so short, and few so long.
LENGTHS = (20, 32, 40, 64)


def prefixed() -> Iterator[tuple[str, str, str]]:
    """(vendor, token, its random part) for each beginning that is a vendor's own, in lengths that no form has."""
    random_ = random.Random(SEED + 2)
    for row in TABLE["prefixes"]:
        letters = [letter for letter in _ANY if re.fullmatch(row.get("body", "[A-Za-z0-9_-]"), letter)]
        # separators are rare in what vendors make
        letters = [letter for letter in letters if letter.isalnum()] * 6 + [x for x in letters if x in "_-"]
        for start in row["starts"]:
            for length in LENGTHS:
                rest = "".join(random_.choice(letters) for _ in range(length))
                yield row["vendor"], start + rest, rest


_ANY = string.ascii_letters + string.digits + string.punctuation


def corpus(wanted: int = 500) -> list[Planted]:
    """Secrets of every row, keys of many lines and named values, each made anew until there are `wanted`."""
    random_ = random.Random(SEED)
    rows = [(row["vendor"], template) for row in TABLE["formats"] for template in row["made"]]
    found: list[Planted] = []
    while len(found) < wanted:
        for vendor, template in rows:
            value, parts = made(template, random_)
            name, sign, rest = value.partition("=")
            is_named = bool(sign) and name.isupper() and "{" not in name and " " not in name
            found.append(Planted(vendor, name if is_named else "", rest if is_named else value, max(parts, key=len)))
        for kind in (kind for block in TABLE["block"] for kind in block["kinds"]):
            block = key_block(kind, random_)
            found.append(Planted(kind, "", block, block.split("\n")[1]))
        for name, kind, length in NAMED:
            value = _random(random_, kind, length - 2) + "a7"
            found.append(Planted(f"named: {name}", name, value, value))
    return found[:wanted]


Place = Callable[[str, str, random.Random], str]


def _split(value: str, at: str, random_: random.Random) -> str:
    """The value broken over two lines, anywhere but in its first three and last three characters."""
    place = random_.randrange(3, max(4, len(value) - 3))
    return value[:place] + at + value[place:]


def _escaped(value: str) -> str:
    return json.dumps(value)[1:-1]


def _markdown(value: str) -> str:
    return re.sub(r"([_*.~-])", r"\\\1", value)


#: Ten places: (name, value, a random source) -> a text. A value that only its name tells has its name everywhere.
PLACES: dict[str, Place] = {
    "prose": lambda name, value, _: f"I ran it with {name + ': ' if name else ''}{value} and it failed again.",
    "code block": lambda name, value, _: f"It fails:\n```python\n{name or 'token'} = '{value}'\nrun()\n```\nHelp?",
    "JSON": lambda name, value, _: json.dumps({"host": "pond", name or "credential": value, "port": 8080}),
    "escaped JSON": lambda name, value, _: json.dumps(json.dumps({name or "k": value, "b": 1})),
    "YAML": lambda name, value, _: f"env:\n  {name or 'VALUE'}: " + value.replace("\n", "\n    ") + "\n  OTHER: 1\n",
    "shell": lambda name, value, _: f'export {name or "X_TOKEN"}="{value}" && python train.py',
    "URL": lambda name, value, _: f"GET https://pond.example/v1/run?{name or 'token'}={_url(value)}&n=1 failed",
    "header": lambda name, value, _: (
        f"curl -H '{name or 'Authorization'}: {'' if name else 'Bearer '}{value}' https://a.b"
    ),
    "Chinese": lambda name, value, _: f"我的配置{name + '：' if name else '是'}{value}，运行之后报错。",
    "broken": lambda name, value, random_: (
        f"{name + '=' if name else 'got '}{_split(value, random_.choice(BREAKS), random_)}\n"
    ),
    "Markdown": lambda name, value, _: f"use {_markdown(name) + ': ' if name else ''}{_markdown(value)} here",
}
#: How a value is broken over lines: by a mail, by a shell, by code, in a quotation, in a string.
BREAKS = ("\n", "\\\n", "\n    ", "\n> ", '" \\\n  "', '" + "', "\\n")


def _url(value: str) -> str:
    return value.replace("\n", "%0A") if "\n" in value else value


def texts() -> Iterator[tuple[Planted, str, str]]:
    """(secret, name of the place, text) of all of them."""
    random_ = random.Random(SEED + 1)
    for planted in corpus():
        for name, place in PLACES.items():
            yield planted, name, place(planted.name, planted.value, random_)
