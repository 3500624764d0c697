"""Which JSON is a knowledge entry that was made elsewhere. From content alone."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.providers.provider import Place, Rules, unknown_key


def entry(value: Mapping[str, object], sha256: str) -> tuple[Place, ...] | None:
    """A knowledge entry made elsewhere: a signature, and what to do about it."""
    knows = {"root_cause", "workarounds", "dead_ends", "regex", "verification_tier", "evidence_count"} & value.keys()
    if not isinstance(value.get("signature"), str) or len(knows) < 2:
        return None
    version = value.get("last_updated")
    return (Place("entry", unknown_key(sha256), "main", version if isinstance(version, str) else "", None),)


RULES = Rules(json=(entry,))
