"""OpenXLA's error pages: from the site, the repository, or saved in any form; the list of codes; when pages landed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from pipeline.providers.provider import Provider, Section, Source, narrowed


class DocsSource(Section):
    """`[sources.docs]`: the OpenXLA error pages, from their site or from their repository."""

    via: Literal["html", "github"] = Field(default="html", description="The site, or GitHub's contents API with dates.")
    index_url: str | None = Field(default=None, description="Another site's index page, or another API's base.")


def _narrowed(sections: tuple[Section, ...], said: Mapping[str, Any]) -> tuple[Section, ...]:
    """Nothing, where pages of other catalogues are named; with `via`, also where no section says so."""
    if "catalogue" in said:
        return ()
    return narrowed(sections or ((DocsSource(),) if "via" in said else ()), said)


PROVIDER = Provider(
    name="openxla",
    package=__name__,
    forms=("xla-md", "xla-html", "xla-text", "xla-catalog", "xla-history"),
    source=Source(
        ingest="docs",
        key="docs",
        section=DocsSource,
        is_list=False,
        description="Official error pages; absent: they are not read.",
        schedule="docs",
        narrowed=_narrowed,
        default=(DocsSource(),),
    ),
)
