SELECT signature, domain, document_count, event_count, first_seen, last_seen
FROM cluster_summary
LIMIT 10;
