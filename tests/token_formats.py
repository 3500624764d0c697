"""Secrets in the formats that their issuers publish, all made up here and put together from parts."""

from __future__ import annotations

import base64
import json

_MIXED = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ" * 12
_DIGITS = "314159265358979323846264338327950288"
_UPPER = "Q7R3T5V9W2X4Y6Z8" * 4
_HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 4


def _base64url(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _pem(kind: str) -> str:
    rows = "\n".join(_MIXED[start : start + 64] for start in range(0, 256, 64))
    return f"-----BEGIN {kind}-----\n{rows}\n-----END {kind}-----"


#: Name -> (what stands in a text, the part of it that must not leave raw).
FORMATS: dict[str, tuple[str, str]] = {
    **{f"github-{kind}": (f"gh{kind}_{_MIXED[:36]}", _MIXED[:36]) for kind in "pousr"},
    "github-fine-grained": (f"github_pat_{_MIXED[:22]}_{_MIXED[:59]}", _MIXED[:22]),
    "gitlab": (f"glpat-{_MIXED[:20]}", _MIXED[:20]),
    "aws-access-key-id": (f"AKIA{_UPPER[:16]}", _UPPER[:16]),
    "aws-temporary-key-id": (f"ASIA{_UPPER[:16]}", _UPPER[:16]),
    "aws-secret-in-credentials": (f"aws_secret_access_key = {_MIXED[:40]}", _MIXED[:40]),
    "aws-secret-in-environment": (f"AWS_SECRET_ACCESS_KEY={_MIXED[:40]}", _MIXED[:40]),
    "google-api-key": (f"AIza{_MIXED[:35]}", _MIXED[:35]),
    "google-oauth-secret": (f"GOCSPX-{_MIXED[:28]}", _MIXED[:28]),
    "google-access-token": (f"ya29.{_MIXED[:120]}", _MIXED[:120]),
    "slack-bot": (f"xoxb-{_DIGITS[:12]}-{_DIGITS[12:24]}-{_MIXED[:24]}", _MIXED[:24]),
    "slack-user": (f"xoxp-{_DIGITS[:12]}-{_DIGITS[:12]}-{_DIGITS[:12]}-{_HEX[:32]}", _HEX[:32]),
    "slack-app": (f"xapp-1-A{_UPPER[:10]}-{_DIGITS[:13]}-{_HEX[:64]}", _HEX[:64]),
    "slack-webhook": (f"https://hooks.slack.com/services/T{_UPPER[:8]}/B{_UPPER[:8]}/{_MIXED[:24]}", _MIXED[:24]),
    "stripe-live": (f"sk_live_{_MIXED[:24]}", _MIXED[:24]),
    "stripe-restricted": (f"rk_live_{_MIXED[:99]}", _MIXED[:99]),
    "stripe-test": (f"sk_test_{_MIXED[:24]}", _MIXED[:24]),
    "stripe-webhook": (f"whsec_{_MIXED[:32]}", _MIXED[:32]),
    "hugging-face": (f"hf_{_MIXED[:34]}", _MIXED[:34]),
    "openai-legacy": (f"sk-{_MIXED[:20]}T3BlbkFJ{_MIXED[:20]}", _MIXED[:20]),
    "openai-project": (f"sk-proj-{_MIXED[:74]}T3BlbkFJ{_MIXED[:74]}", _MIXED[:74]),
    "anthropic": (f"sk-ant-api03-{_MIXED[:93]}AA", _MIXED[:93]),
    "npm": (f"npm_{_MIXED[:36]}", _MIXED[:36]),
    "pypi": (f"pypi-AgEIcHlwaS5vcmc{_MIXED[:150]}", _MIXED[:150]),
    "json-web-token": (
        f"{_base64url({'alg': 'HS256', 'typ': 'JWT'})}.{_base64url({'sub': 'pond', 'iat': 1})}.{_MIXED[:43]}",
        _MIXED[:43],
    ),
    "rsa-key": (_pem("RSA PRIVATE KEY"), _MIXED[:64]),
    "openssh-key": (_pem("OPENSSH PRIVATE KEY"), _MIXED[:64]),
    "pkcs8-key": (_pem("PRIVATE KEY"), _MIXED[:64]),
    "pgp-key": (_pem("PGP PRIVATE KEY BLOCK"), _MIXED[:64]),
    "postgres-dsn": (f"postgresql://pond:{_MIXED[:16]}@db.example:5432/pond", _MIXED[:16]),
    "mysql-root-dsn": (f"mysql+pymysql://root:{_MIXED[:16]}@db.example/pond", _MIXED[:16]),
    "redis-dsn": (f"redis://:{_MIXED[:16]}@cache.example:6379/0", _MIXED[:16]),
    "mongodb-dsn": (f"mongodb+srv://pond:{_MIXED[:16]}@cluster0.example/?retryWrites=true", _MIXED[:16]),
    "bearer": (f"Authorization: Bearer {_MIXED[:40]}", _MIXED[:40]),
    "basic": (f"Authorization: Basic {_MIXED[:24]}", _MIXED[:24]),
}
