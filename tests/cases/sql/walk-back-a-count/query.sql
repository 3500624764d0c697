SELECT r.entry_id, r.action, r.worked, r.failed, v.role, v.quote, v.url, v.posted_at
FROM remedies r
JOIN citations c ON c.entry_id = r.entry_id AND c.part = r.kind AND c.ordinal = r.ordinal
JOIN evidence v ON v.entry_id = c.entry_id AND v.evidence_id = c.evidence_id
WHERE r.kind = 'workaround' AND v.role IN ('worked', 'failed')
ORDER BY r.entry_id, r.ordinal, v.posted_at, v.evidence_id;
