"""Pages that list error codes with what each means: CUDA's, NCCL's, jax.errors, PyTorch's graph breaks, yours."""

from pipeline.providers.catalogue import pages, read
from pipeline.providers.provider import Provider

PROVIDER = Provider(
    name="catalogue", readers=dict.fromkeys((f"{pages.FORM_PREFIX}{name}" for name in pages.PARSERS), read.read)
)
