"""Knowledge entries that were made elsewhere."""

from pipeline.providers.provider import Provider

PROVIDER = Provider(name="entry", package=__name__, forms=("entry",))
