SELECT s.entry_id, s.signature, s.document_count
FROM cluster_summary s
WHERE s.workaround_count = 0
ORDER BY s.document_count DESC, s.entry_id
LIMIT 20;
