"""What worker processes of builds in tests know before their first document: only what they are forked from imports it.

Most builds in tests read less text than it costs a worker to wake the rules that the text needs. This reads the sample
once for all of them, and hashes the package, which each would do for itself.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pipeline import raw, run
from pipeline.providers import documents
from pipeline.records import Document
from pipeline.run.build import mapping
from tests.golden import SAMPLE


def _sample_read() -> int:
    """How many documents of the sample were read."""
    with tempfile.TemporaryDirectory() as folder:
        run.import_files(Path(folder), [SAMPLE])
        layer = raw.RawLayer(Path(folder))
        read = [documents.document(layer.read(one.refs)) for one in layer.documents()]
    whole = [mapping.map_text(one) for one in read if isinstance(one, Document)]
    return len(whole)


READ = _sample_read()
DIGEST = mapping.code_digest()
