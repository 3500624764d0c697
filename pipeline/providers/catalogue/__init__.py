"""Pages that list error codes with what each means: CUDA's, NCCL's, jax.errors, PyTorch's graph breaks, yours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from pipeline.providers.provider import Provider, Section, Source


class CatalogueSource(Section):
    """`[[sources.catalogues]]`: a page that lists error codes; a shipped one by its name, another with all keys."""

    name: str = Field(description="jax-errors, cuda-runtime, cuda-driver, nccl, graph-breaks, or a name of your own.")
    url: str | None = Field(default=None, description="The page.")
    parser: str | None = Field(default=None, description="sphinx, doxygen-enum or graph-break-registry.")
    names: str | None = Field(default=None, description="Regular expression of the names that are error codes.")
    family: str | None = Field(default=None, description="What the codes begin with: cuda, jax, hip, ...")


def _narrowed(sections: tuple[Section, ...], said: Mapping[str, Any]) -> tuple[Section, ...]:
    """The pages that are named, as the settings describe them if they do; none, where something else is asked for."""
    if not said:
        return sections
    described = {section.name: section for section in sections if isinstance(section, CatalogueSource)}
    return tuple(described.get(name, CatalogueSource(name=name)) for name in said.get("catalogue", ()))


PROVIDER = Provider(
    name="catalogue",
    package=__name__,
    forms=("codes-sphinx", "codes-doxygen-enum", "codes-graph-break-registry"),  # one a parser
    is_recognised=False,
    source=Source(
        ingest="docs",
        key="catalogues",
        section=CatalogueSource,
        is_list=True,
        description="Pages that list error codes of other projects.",
        schedule="docs",
        narrowed=_narrowed,
    ),
)
