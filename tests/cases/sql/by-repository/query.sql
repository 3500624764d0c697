SELECT d.repo, e.category, count(DISTINCT d.document_id) AS documents
FROM cluster_events c
JOIN documents d USING (document_id)
JOIN entries e ON e.entry_id = c.entry_id
GROUP BY ALL
ORDER BY documents DESC, d.repo, e.category;
