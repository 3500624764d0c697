"""Knowledge entries that were made elsewhere."""

from pipeline.providers.entry import read, recognise
from pipeline.providers.provider import Provider

PROVIDER = Provider(name="entry", readers={"entry": read.read}, json_rules=(recognise.entry,))
