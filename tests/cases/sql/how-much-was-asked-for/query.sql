SELECT entry_id, name, unit, event_count, least, middle, greatest
FROM parameter_summary
WHERE name IN ('required', 'limit')
ORDER BY event_count DESC, entry_id, name;
