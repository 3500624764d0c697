"""What `rows` asks of DuckDB: `{documents}` and the like stand for the rows of all shards, with their places."""

from __future__ import annotations

#: What `narrow` keeps of every row of some shards, by kind; a row is at a place of a shard.
NARROW = {
    "documents": """
SELECT shard_number AS shard, file_row_number AS place, nullif(document_key, document_id) AS document_key, document_id,
    opened_at, source, hidden_count::BIGINT AS hidden_count, record.code AS code, payload IS NOT NULL AS is_foreign,
    digest
FROM {documents} JOIN files USING (filename) LEFT JOIN (
    SELECT shard_number, unnest(documents) AS file_row_number, document_key, digest
    FROM {origins} JOIN files USING (filename)
) USING (shard_number, file_row_number)
""",
    "events": """
SELECT shard_number AS shard, file_row_number AS place, document_id, ordinal, event_id, posted_at,
    event.severity AS severity, event.codes AS codes, signature.signature_id AS signature_id,
    signature.is_gate_complete AS is_gate_complete, signature.is_truncated AS is_truncated, quote
FROM {events} JOIN files USING (filename)
""",
    "claims": """
SELECT shard_number AS shard, file_row_number AS place, claim_id, kind, key, doubt, quote.document_id AS document_id,
    signature_ids
FROM {claims} JOIN files USING (filename)
""",
    "skipped": """
SELECT shard_number AS shard, file_row_number AS place, stage, reason FROM {skipped} JOIN files USING (filename)
""",
}
#: Of a document that several keys lead to the row of the last key counts, with the digests of all; there are few such
#: ones. In which shard a row lies decides nothing.
DOCUMENTS = """
CREATE OR REPLACE TABLE documents AS
WITH several AS (SELECT document_id FROM every_document GROUP BY document_id HAVING count(*) > 1)
SELECT document_id, shard, place, opened_at, code, is_foreign, digest FROM every_document ANTI JOIN several
    USING (document_id)
UNION ALL
SELECT document_id, last.*, digest FROM (
    SELECT document_id,
        arg_max({shard: shard, place: place, opened_at: opened_at, code: code, is_foreign: is_foreign},
            {key: coalesce(document_key, document_id), place: place}) AS last,
        string_agg(digest, '' ORDER BY coalesce(document_key, document_id), place) AS digest
    FROM every_document SEMI JOIN several USING (document_id) GROUP BY document_id
)
"""
#: Where the signatures that are asked for are seen first, and what all their events say.
FIRSTS = """
CREATE OR REPLACE TABLE firsts AS
SELECT signature_id, arg_min({shard: shard, place: place}, {document_id: document_id, ordinal: ordinal,
    event_id: event_id, shard: shard, place: place}) AS first, count(*) AS count,
    min(coalesce(posted_at, opened_at)) AS seen,
    bool_or(is_gate_complete) AS is_gate_complete, bool_and(is_truncated) AS is_truncated,
    bool_or(severity = 'official') AS is_official
FROM (SELECT * FROM events JOIN wanted ON id = signature_id)
LEFT JOIN (SELECT document_id, opened_at FROM documents) USING (document_id)
GROUP BY signature_id
"""
#: The distinct signatures: whole if one event shows them whole; of what else is no part of the id the first decides.
OF_TEMPLATES = """
SELECT signature_id, signature.exception_type AS exception_type, signature.text AS text, signature.gate AS gate,
    firsts.is_gate_complete AS is_gate_complete, firsts.is_truncated AS is_truncated, count,
    coalesce(strftime(seen AT TIME ZONE 'UTC', '%Y-%m-%d'), '') AS first_seen, is_official
FROM {events} JOIN files USING (filename)
JOIN firsts ON first.shard = shard_number AND first.place = file_row_number
ORDER BY signature_id
"""
#: Rows of a group of rows in files of batches: a reader decodes those groups that hold some of its batch.
ROW_GROUP = 2048
#: Which rows are laid out for the signatures of each batch in `batches` (signature_id, batch).
_SAID = "(SELECT *, unnest(signature_ids) AS signature_id FROM claims WHERE kind <> 'closing')"
CHOSEN = {
    "events": "SELECT batch, shard, place FROM events JOIN batches USING (signature_id)",
    "claims": f"""SELECT DISTINCT batch, shard, place FROM {_SAID} JOIN batches USING (signature_id)
        WHERE shard IS NOT NULL""",  # noqa: S608  (from this module)
    "documents": f"""SELECT batch, shard, place FROM (
        SELECT batch, document_id FROM events JOIN batches USING (signature_id)
        UNION SELECT batch, document_id FROM {_SAID} JOIN batches USING (signature_id)
    ) JOIN documents USING (document_id)""",  # noqa: S608
}
#: What decides the draft of each cluster in `members` (signature_id, cluster_id), beside the cluster itself.
DECISIVE = """
WITH said AS (
    SELECT cluster_id, claim_id, kind, key, document_id, signature_ids,
        CASE kind WHEN 'candidate' THEN key ELSE doubt::VARCHAR END AS share
    FROM (SELECT *, unnest(signature_ids) AS signature_id FROM claims WHERE kind <> 'closing')
    JOIN members USING (signature_id)
), shown AS (
    SELECT cluster_id, document_id, codes FROM events JOIN members USING (signature_id)
), cited AS (
    SELECT cluster_id, document_id FROM shown UNION SELECT cluster_id, document_id FROM said
), of_documents AS (
    SELECT cluster_id, md5(string_agg(document_id || chr(31) || coalesce(digest, ''), chr(30) ORDER BY document_id))
        AS documents, count(*) AS weight
    FROM cited LEFT JOIN documents USING (document_id) GROUP BY cluster_id
), of_claims AS (
    SELECT cluster_id, md5(string_agg(line, chr(30) ORDER BY line) FILTER (share IS NULL)) AS claims,
        md5(string_agg(line, chr(30) ORDER BY line) FILTER (share IS NOT NULL)) AS candidates
    FROM (SELECT DISTINCT cluster_id, share, concat_ws(chr(31), claim_id, kind, key, share,
        list_aggregate(signature_ids, 'string_agg', chr(31))) AS line FROM said)
    GROUP BY cluster_id
), spoken_of AS (
    SELECT cluster_id, list(one ORDER BY one) AS spoken
    FROM (SELECT DISTINCT cluster_id, unnest(signature_ids) AS one FROM said WHERE share IS NULL) GROUP BY cluster_id
), coded AS (
    SELECT cluster_id, list(code ORDER BY code) AS codes
    FROM (SELECT DISTINCT cluster_id, unnest(codes) AS code FROM shown)
    WHERE code IN (SELECT code FROM documents WHERE code IS NOT NULL) GROUP BY cluster_id
)
SELECT cluster_id, documents, coalesce(claims, ''), coalesce(candidates, ''), coalesce(spoken, []), coalesce(codes, []),
    weight
FROM of_documents LEFT JOIN of_claims USING (cluster_id) LEFT JOIN spoken_of USING (cluster_id)
LEFT JOIN coded USING (cluster_id)
ORDER BY cluster_id
"""
