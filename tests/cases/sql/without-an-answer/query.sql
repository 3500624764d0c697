SELECT entry_id, signature, domain, document_count, dead_end_count, withheld_count
FROM unanswered
LIMIT 20;
