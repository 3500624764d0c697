SELECT entry_id, kind, action, worked, failed, round(worked / (worked + failed), 2) AS share
FROM remedies
WHERE worked > 0 AND failed > 0
ORDER BY worked + failed DESC, entry_id, ordinal;
