-- Shards into tables. {documents}, {events}, {claims} and {skipped} are lists of files, bound by the loader.

-- documents
INSERT INTO documents
SELECT document_id, kind, url, repo, number, title, state, state_reason, is_draft, is_merged, labels, opened_at,
    updated_at, closed_at, post_count, character_count, links, raw_sha256, source, form, is_lossy
FROM read_parquet($files) ORDER BY document_id;

-- documents
INSERT INTO official_docs
SELECT document_id, r->>'code', r->>'name', r->>'title', r->>'phase', r->>'category',
    (r->'backends')::VARCHAR[], r->>'status_code', url, (r->'samples')::VARCHAR[], (r->'templates')::VARCHAR[],
    list_sort(list_distinct(flatten((r->'$.remedies[*].flags')::VARCHAR[][]))),
    r->>'first_seen', r->>'last_updated', (r->>'is_lossy')::BOOLEAN
FROM (SELECT document_id, url, record::JSON AS r FROM read_parquet($files) WHERE record IS NOT NULL)
ORDER BY document_id;

-- events
INSERT INTO events
SELECT event_id, document_id, ordinal, signature_id, dialect, severity, exception_type, message, detail, frames, chain,
    codes, "start", "end", is_truncated, culprit, culprit_start, culprit_end, frame_key, notes, quote, posted_at,
    author_role, post_url
FROM read_parquet($files) ORDER BY document_id, ordinal, event_id;

-- events
INSERT INTO signatures
SELECT signature_id, min(sig_exception_type), min(sig_text), min(gate), bool_and(is_gate_complete),
    bool_and(sig_is_truncated), count(*), count(DISTINCT document_id),
    min(posted_at AT TIME ZONE 'UTC')::DATE, max(posted_at AT TIME ZONE 'UTC')::DATE
FROM read_parquet($files) WHERE signature_id IS NOT NULL AND severity = 'error'
GROUP BY signature_id ORDER BY signature_id;

-- events
INSERT INTO parameters
SELECT event_id, signature_id, place, slots[place].name, slots[place].value, slots[place].number, slots[place].unit
FROM (SELECT event_id, signature_id, slots, unnest(range(1, len(slots) + 1)) AS place FROM read_parquet($files))
ORDER BY event_id, place;

-- claims
INSERT INTO claims
SELECT claim_id, kind, rule, fact_template, fact_slots, outcome, key, quote_document_id, quote_url, quote_text,
    quote_lang, quote_start, quote_end, quote_posted_at, quote_author_role, outcome_quote_text, signature_ids
FROM read_parquet($files) ORDER BY quote_document_id, claim_id;

-- skipped
INSERT INTO skipped SELECT stage, item_id, reason, detail FROM read_parquet($files)
ORDER BY stage, item_id, reason, detail;
