SELECT entry_id, action, failed, worked, sources
FROM remedies
WHERE kind = 'dead_end'
ORDER BY failed DESC, entry_id, ordinal;
