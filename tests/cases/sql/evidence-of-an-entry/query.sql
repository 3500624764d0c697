SELECT role, quote, url, posted_at, cited_by
FROM evidence_of('triton/out-of-resources-shared-memory');
