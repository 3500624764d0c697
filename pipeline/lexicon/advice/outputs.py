"""What programs print, as far as that follows from their words and from what they read."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pipeline.lexicon.advice import places
from pipeline.lexicon.advice.shell import NOTHING, Command, From, Value, unescaped
from pipeline.lexicon.advice.tables import heads, words
from pipeline.records import warm

if TYPE_CHECKING:
    from pipeline.lexicon.advice.effects import Effects

SOCKET = warm.pattern(r"/dev/(?:tcp|udp)/")


def printed(effects: Effects, name: str, args: Sequence[Value], fed: Value) -> Value:
    """What a program prints, as far as that follows from its words."""
    plain = [one for one in args if not one.text.startswith("-")]
    if name in ("echo", "write-output", "printf"):
        said = Value()
        for number, one in enumerate(plain):
            said += (Value(" ") if number else NOTHING) + one
        text = unescaped(said.text) if "\\" in said.text else said.text
        return Value(text, said.source & ~From.UNKNOWN | _named_secret(plain))
    if name in ("env", "printenv", "set", "export", "declare", "history") and not plain:
        return Value("", From.SECRET)
    if name in ("tar", "zip", "7z", "cpio", "find") and any(places.is_home(one.text) for one in plain):
        return Value("", From.SECRET)
    is_fetched = (
        fed.source | contents(effects, plain).source if name in ("tar", "unzip", "bsdtar", "cpio") else From.WORDS
    )
    if is_fetched & From.NETWORK:
        effects.has_strange_code = True
    if name in words("programs", "decoders") and _decodes(name, [one.text for one in args]):
        source = fed if fed.text or fed.source else contents(effects, plain)
        return Value(_decoded(name, source.text), source.source | From.DECODED)
    if name in words("programs", "passing") or name in words("programs", "decoders"):
        held = contents(effects, plain)
        return Value(held.text or fed.text, fed.source | held.source)
    return Value("", (fed.source & (From.NETWORK | From.DECODED | From.SECRET)) if name in heads() else From.UNKNOWN)


def printed_words(command: Command) -> Value:
    """What `echo` and its like print; of any other program nobody knows it here."""
    if command.words and command.words[0].text == "pwd":
        return Value("$PWD")
    if not command.words or command.words[0].text not in ("echo", "printf", "write-output", "Write-Output"):
        return Value("", From.UNKNOWN)
    said = [one.text for one in command.words[1:] if not one.text.startswith("-")]
    return Value(" ".join(said))


def contents(effects: Effects, paths: Sequence[Value]) -> Value:
    """What the files hold, as far as it is known."""
    said = NOTHING
    for one in paths:
        if one.is_stream:
            said += one
        elif SOCKET.search(one.text):
            said += Value("", From.NETWORK)
        elif places.is_secret(one.text):
            said += Value("", From.SECRET)
        else:
            said += effects.files.get(same_file(one.text), NOTHING)
    return said


def _named_secret(args: Iterable[Value]) -> From:
    return From.SECRET if any(one.source & From.UNKNOWN and places.is_secret_name(one.text) for one in args) else (
        From.WORDS
    )  # fmt: skip


def same_file(path: str) -> str:
    """The name under which a file is known, whatever the folder it is seen from."""
    return path.strip("'\"`,;:").rstrip(".").rpartition("/")[2].rpartition("\\")[2].lower()


def _decodes(name: str, args: Sequence[str]) -> bool:
    joined = " ".join(args)
    if name in ("base64", "base32", "basenc", "gbase64", "base58", "ascii85", "qprint"):
        return bool(re.search(r"(?:^|\s)-\w*[dD]\w*|--decode", joined))
    if name == "xxd":
        return bool(re.search(r"(?:^|\s)-\w*r", joined))
    if name == "openssl":
        return bool(re.search(r"(?:^|\s)-(?:d|decrypt)\b|-a\b.*-d|enc\b.*-d", joined))
    if name == "gpg":
        return bool(re.search(r"-d\b|--decrypt", joined))
    return name in ("uudecode", "rev", "rot13", "b64decode", "unhex")


def _decoded(name: str, text: str) -> str:
    squeezed = "".join(text.split())
    try:
        if name in ("base64", "gbase64", "openssl", "b64decode"):
            return base64.b64decode(squeezed + "=" * (-len(squeezed) % 4)).decode("utf-8", "replace")
        if name == "base32":
            return base64.b32decode(squeezed).decode("utf-8", "replace")
        if name == "xxd":
            return bytes.fromhex(squeezed).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
    if name == "rot13":
        return codecs.decode(text, "rot13")
    return text[::-1] if name == "rev" else ""
