-- Shards into tables, a statement each; the line before a statement names the shard files that it reads as $files.
-- Columns go by name, so a new one of a shard needs its line in schema.sql and nothing here. What is left out stands here.

-- documents
INSERT INTO documents BY NAME
SELECT * EXCLUDE (record, payload) FROM read_parquet($files, hive_partitioning = false) ORDER BY document_id;

-- documents
INSERT INTO official_docs BY NAME
SELECT document_id, url, record.* EXCLUDE (summary, scenarios, remedies, links),
    list_sort(list_distinct(flatten((record.remedies::JSON->'$[*].flags')::VARCHAR[][]))) AS flags
FROM read_parquet($files, hive_partitioning = false) WHERE record IS NOT NULL
ORDER BY document_id;

-- events
INSERT INTO events BY NAME
SELECT * EXCLUDE (event, signature) RENAME (post_url AS url),
    event.* RENAME ("start" AS start_offset, "end" AS end_offset),
    signature.* EXCLUDE (exception_type, text, gate, is_gate_complete, slots, is_truncated)
        RENAME ("start" AS culprit_start, "end" AS culprit_end)
FROM read_parquet($files, hive_partitioning = false) ORDER BY document_id, ordinal, event_id;

-- events
INSERT INTO signatures BY NAME
SELECT signature.signature_id, min(signature.exception_type) AS exception_type, min(signature.text) AS signature,
    min(signature.gate) AS gate, bool_and(signature.is_gate_complete) AS is_gate_complete,
    bool_and(signature.is_truncated) AS is_truncated, count(*) AS event_count,
    count(DISTINCT document_id) AS document_count,
    min(posted_at AT TIME ZONE 'UTC')::DATE AS first_seen, max(posted_at AT TIME ZONE 'UTC')::DATE AS last_seen
FROM read_parquet($files, hive_partitioning = false) WHERE signature.signature_id IS NOT NULL AND event.severity = 'error'
GROUP BY signature.signature_id ORDER BY 1;

-- events
INSERT INTO parameters BY NAME
SELECT * EXCLUDE (slot), slot.*
FROM (
    SELECT event_id, signature.signature_id AS signature_id, unnest(signature.slots) AS slot,
        unnest(range(1, len(signature.slots) + 1)) AS ordinal
    FROM read_parquet($files, hive_partitioning = false)
)
ORDER BY event_id, ordinal;

-- claims
INSERT INTO claims BY NAME
SELECT * EXCLUDE (fact, quote, outcome_quote, passage, is_passage_cut) RENAME (key AS remedy_key),
    fact.template AS fact, fact.slots AS slots,
    quote.* EXCLUDE (raw_sha256, author_hash)
        RENAME ("text" AS quote, lang AS quote_lang, "start" AS start_offset, "end" AS end_offset),
    outcome_quote.text AS outcome_quote, passage.text AS passage
FROM read_parquet($files, hive_partitioning = false) ORDER BY quote.document_id, claim_id;

-- events
INSERT INTO skipped BY NAME
SELECT 'events' AS stage, event_id AS item_id, severity AS reason, NULL::VARCHAR AS detail
FROM events WHERE signature_id IS NULL ORDER BY event_id;

-- skipped
INSERT INTO skipped BY NAME SELECT * FROM read_parquet($files, hive_partitioning = false) ORDER BY stage, item_id, reason, detail;
