"""Where pages come from: files on disk (`archive`), GitHub's API, error catalogues. One module a source.

A source yields :class:`pipeline.records.RawPage` and :class:`pipeline.records.Skipped`, and keeps nothing itself.
"""
