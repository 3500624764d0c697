"""errmine: public bug reports turned into counted, cited, bilingual error knowledge.

In Python, `pipeline.open_bundle("curated")` opens what errmine made: :mod:`pipeline.api`, docs/python.md.

The package is a row of rooms; a record passes them in this order (see README, "How one record comes to be")::

    providers -> raw -> extract -> normalise -> cluster -> distil -> translate -> validate -> store -> export

``providers`` fetch pages for ``raw`` and read what it kept. ``run`` joins the rooms, ``flows`` runs them under Prefect,
``cli`` binds both to a terminal.
"""

TYPE_CHECKING = False  # what typing calls so, without importing it: type checkers know the name
if TYPE_CHECKING:
    from pipeline.api import Bundle, Hit, PipelineError, open_bundle

__version__ = "0.1.0"
__all__ = ["Bundle", "Hit", "PipelineError", "__version__", "open_bundle"]


def __getattr__(name: str) -> object:
    """A name of the API, from `pipeline.api`, which is read when the first of them is asked for."""
    if name in __all__:
        from pipeline import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
