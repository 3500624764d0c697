SELECT e.entry_id, e.evidence_count, count(DISTINCT v.document_id) AS documents
FROM entries e LEFT JOIN evidence v USING (entry_id)
GROUP BY e.entry_id, e.evidence_count
HAVING e.evidence_count <> documents
ORDER BY e.entry_id;
