SELECT c.entry_id, count(*) AS threads, median(date_diff('day', d.opened_at, d.closed_at)) AS days
FROM (SELECT DISTINCT entry_id, document_id FROM cluster_events WHERE entry_id IS NOT NULL) c
JOIN documents d USING (document_id)
WHERE d.closed_at IS NOT NULL
GROUP BY c.entry_id
ORDER BY threads DESC, c.entry_id;
