SELECT v.entry_id, v.version, v.status, v.document_count AS documents
FROM versions v
ORDER BY documents DESC, v.entry_id, v.ordinal;
