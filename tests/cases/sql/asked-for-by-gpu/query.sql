SELECT g.value AS gpu, p.name, min(p.number) AS least, max(p.number) AS greatest, count(DISTINCT p.event_id) AS events
FROM environment g
JOIN citations c ON c.entry_id = g.entry_id AND c.part = 'environment' AND c.ordinal = g.ordinal
JOIN evidence v ON v.entry_id = c.entry_id AND v.evidence_id = c.evidence_id
JOIN events e ON e.document_id = v.document_id
JOIN parameters p USING (event_id)
WHERE g.name = 'gpu' AND p.number IS NOT NULL
GROUP BY ALL
ORDER BY gpu, p.name;
