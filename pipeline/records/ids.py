"""Ids made from content."""

from __future__ import annotations

import hashlib


def content_id(prefix: str, *parts: str) -> str:
    """`prefix:` and 16 hexadecimal digits made from `parts` alone: same content, same id, anywhere, any day."""
    digest = hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=8)
    return f"{prefix}:{digest.hexdigest()}"


def shelf_of(document_id: str) -> str:
    """The name of a folder for what is kept about one document, without its address."""
    return content_id("thread", document_id).replace(":", "-")
