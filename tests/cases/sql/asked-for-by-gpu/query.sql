SELECT g.value AS gpu, g.entry_id, p.name, p.unit, min(p.number) AS least, max(p.number) AS greatest,
    count(DISTINCT p.event_id) AS events
FROM environment g
JOIN citations c ON c.entry_id = g.entry_id AND c.part = 'environment' AND c.ordinal = g.ordinal
JOIN evidence v ON v.entry_id = c.entry_id AND v.evidence_id = c.evidence_id
JOIN cluster_events e ON e.entry_id = g.entry_id AND e.document_id = v.document_id
JOIN parameters p USING (event_id)
WHERE lower(g.name) = 'gpu' AND p.name IN ('required', 'limit')
GROUP BY ALL
ORDER BY gpu, g.entry_id, p.name;
