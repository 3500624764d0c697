"""Where pages come from: one folder and one row a provider.

::

    <name>/fetch        asks the network for pages that raw lacks; gives RawPage and Skipped, keeps nothing itself
    <name>/recognise    whose a piece of JSON or a page of text is, from its content alone
    <name>/read         the pages of one document -> the document; never the network

`PROVIDERS` is the one list of them: importing, reading, the settings, the commands and the flows loop over it. The
first row whose rule knows a page takes it: entries before threads, because an entry may name a thread; official pages
before saved ones, because a saved page of the docs has a browser's words around it too.
"""

from __future__ import annotations

from pipeline.providers import catalogue, entry, github, openxla, saved
from pipeline.providers.provider import Provider

PROVIDERS: tuple[Provider, ...] = (
    entry.PROVIDER,
    github.PROVIDER,
    openxla.PROVIDER,
    saved.PROVIDER,
    catalogue.PROVIDER,
)
