"""What worker processes know before their first document: only the process that they are forked from imports this.

Tables of rules are read and patterns compiled when a text first needs them. One thread here wakes what most threads
need, once for all workers and for those that take the place of others. It cost each of them 0.5 s, three times what the
50 documents of the sample cost.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import pyarrow.dataset  # noqa: F401  (reading the first Parquet file imports it)

from pipeline.providers import documents
from pipeline.records import RawPage, Skipped
from pipeline.run.build.mapping import code_digest, map_text
from pipeline.run.shards import MapResult

_REPORT = """It should give a better message, please document how to set this.

```
Traceback (most recent call last):
  File "run.py", line 3, in <module>
    step()
RuntimeError: CUDA error: out of memory
```

I have torch 2.4.0 and CUDA 12.1 on Ubuntu 22.04. It fails because the cache is full, see #12.
I tried upgrading torch to 2.5.1 but it did not help. Setting `num_warps=8` might fix it.
Update: setting `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` fixed it for me. It works after changing that.

- GPU: NVIDIA H200
- Python version: 3.12
- OS: Linux
"""
_ANSWERS = (
    ("NONE", "Same here on Windows. I tried torch 2.3.0, and even after changing the driver it fails."),
    ("MEMBER", "@one, you can install `triton==3.0.0` or disable the cache: `pip install -U triton`. The fix is #13."),
    ("NONE", "Thanks, that worked for me! No, sorry, `device_map=None` instead of `device_map=True` did not work."),
    ("NONE", "But now I get another error instead, not the same. I use `torch.compile(x)` with `num_stages=2`."),
    ("NONE", "升级到 2.5.1 之后就可以了，谢谢。"),
    ("OWNER", "The root cause is a bug in the allocator. This was fixed by #13, which is in v2.5.2. Duplicate of #11."),
)
#: Errors of other languages and tools: of a thread of several no statement is told.
_OTHERS = """```
E0401 12:00:00.000000  11 client.cc:12] INTERNAL: ptxas exited with non-zero error code 1
error[E0308]: mismatched types
main.cpp:3:5: error: no member named 'size' in 'std::shared_ptr<int>'
fatal: not a git repository
Error: P1001: Can't reach database server
```
"""


def _thread(body: str, answers: Sequence[tuple[str, str]] = ()) -> bytes:
    by = {"user": {"login": "one"}, "created_at": "2024-01-02T03:04:05Z"}
    said = [{"body": words, "author_association": role, **by} for role, words in answers]
    url = "https://github.com/errmine/none/issues/1"
    head = {"html_url": url, "number": 1, "title": "The kernel fails on a small card", "state": "closed"}
    labels = [{"name": "bug"}]
    return json.dumps({**head, **by, "labels": labels, "body": body, "comments": said}).encode()


def _read(thread: bytes) -> MapResult | Skipped:
    sha256 = hashlib.sha256(thread).hexdigest()
    key = "github.com/errmine/none#1"
    page = RawPage(sha256, "none", None, "github-thread", key, "main", "", None, None, thread)
    document = documents.document([page])
    return document if isinstance(document, Skipped) else map_text(document)


READ = _read(_thread(_REPORT, _ANSWERS))
OTHERS = _read(_thread(_OTHERS))
#: Part of what tells each document in a shard: of 650 files, which each worker would read for itself.
CODE = code_digest()
