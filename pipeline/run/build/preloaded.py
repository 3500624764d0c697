"""What worker processes know before their first document: only the process that they are forked from imports this.

Tables of rules are read and patterns compiled when a text first needs them. One text here wakes what most texts need,
once for all workers and for those that take the place of others. It cost each of them 0.5 s, three times what the 50
documents of the sample cost.
"""

from __future__ import annotations

import hashlib

from pipeline.providers import documents
from pipeline.records import RawPage, Skipped
from pipeline.run.build.mapping import map_text
from pipeline.run.shards import MapResult

_THREAD = b"""# The kernel fails on a small card

```
Traceback (most recent call last):
  File "run.py", line 3, in <module>
    step()
RuntimeError: CUDA error: out of memory
```

I have torch 2.4.0 and CUDA 12.1 on Ubuntu 22.04. It fails because the cache is full.
I tried upgrading torch to 2.5.1 but it did not help.
Update: setting `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` fixed it for me.
"""


def _read(text: bytes) -> MapResult | Skipped:
    sha256 = hashlib.sha256(text).hexdigest()
    page = RawPage(sha256, "none", None, "plain-text", f"page:{sha256[:16]}", "main", "", None, None, text)
    document = documents.document([page])
    return document if isinstance(document, Skipped) else map_text(document)


READ = _read(_THREAD)
