SELECT c.entry_id, l.kind, l.share, c.quote, c.url, c.author_role, d.title,
    c.quote = l.quote AND c.start_offset = l."start" AND c.share = l.share AND c.kind = l.kind AS is_same
FROM (
    SELECT entry_id, unnest(from_json(json->'leads',
        '[{"claim_id": "VARCHAR", "kind": "VARCHAR", "share": "INTEGER", "quote": "VARCHAR", "start": "BIGINT"}]')) AS l
    FROM entries
) e
JOIN candidates c ON c.claim_id = l.claim_id AND c.entry_id = e.entry_id
JOIN documents d ON d.document_id = c.document_id
ORDER BY c.entry_id, l.share DESC, c.url;
