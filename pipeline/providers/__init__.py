"""Where pages come from: one folder and one row a provider.

::

    <name>/__init__     the row: what its pages are called, and what errmine.toml and the command line may say of it
    <name>/fetch        `bring`: asks the network for pages that raw lacks
    <name>/recognise    RULES: whose a piece of JSON or a page of text is, from its content alone
    <name>/read         READERS: the pages of one document -> the document; never the network

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
