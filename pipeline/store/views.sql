-- Views and macros for people. `COMMENT ON` follows each. A column of a view has the comment of the column of its name in the
-- first table or view that the line "Columns: ..." names; what is worked out here says itself what it is.

CREATE VIEW cluster_summary AS
SELECT c.cluster_id, c.entry_id, coalesce(e.signature, c.signature) AS signature, e.signature_zh, e.domain, e.category,
    e.verification_tier, c.exception_type, c.document_count, c.event_count, c.signature_count,
    coalesce(e.workaround_count, 0) AS workaround_count, coalesce(e.dead_end_count, 0) AS dead_end_count,
    coalesce(e.is_answered, false) AS is_answered, coalesce(e.is_documented, false) AS is_documented, c.first_seen, c.last_seen, c.lowest_score
FROM clusters c LEFT JOIN entries e ON e.entry_id = c.entry_id
ORDER BY c.document_count DESC, c.event_count DESC, c.cluster_id;
COMMENT ON VIEW cluster_summary IS 'One line an error, most reported first: what it is, how often, since when, how many remedies';
-- Columns: clusters, entries
COMMENT ON COLUMN cluster_summary.signature IS 'The error message, varying parts as <name>; where no entry was published, the representative signature';

CREATE VIEW unanswered AS
SELECT s.* EXCLUDE (workaround_count, is_answered),
    (SELECT count(*) FROM withheld w WHERE w.cluster_id = s.cluster_id) AS withheld_count
FROM cluster_summary s WHERE NOT s.is_answered
ORDER BY s.document_count DESC, s.event_count DESC, s.cluster_id;
COMMENT ON VIEW unanswered IS 'What is missing: errors without a cause, a remedy, a fix or official text, most reported first; is_documented: documentation says what they mean';
-- Columns: cluster_summary
COMMENT ON COLUMN unanswered.withheld_count IS 'Claims about it that no entry shows, in withheld_claims';

CREATE VIEW answer_shares AS
SELECT domain, count(*) AS entry_count, count(*) FILTER (is_answered) AS answered_count,
    round(count(*) FILTER (is_answered) / count(*), 4) AS share,
    count(*) FILTER (is_documented) AS documented_count,
    count(*) FILTER (is_answered OR is_documented) AS known_count
FROM entries GROUP BY domain ORDER BY domain;
COMMENT ON VIEW answer_shares IS 'How many entries of each domain have an answer, and how many documentation explains';
-- Columns: entries
COMMENT ON COLUMN answer_shares.entry_count IS 'Entries of the domain';
COMMENT ON COLUMN answer_shares.answered_count IS 'Those of them that have an answer, as entries.is_answered';
COMMENT ON COLUMN answer_shares.share IS 'answered_count / entry_count, 0 to 1';
COMMENT ON COLUMN answer_shares.documented_count IS 'Those that documentation explains, as entries.is_documented; answered or not';
COMMENT ON COLUMN answer_shares.known_count IS 'Those that have an answer, or that documentation explains';

CREATE VIEW entries_zh AS
SELECT entry_id, signature, signature_zh, root_cause_zh, domain, category, verification_tier, evidence_count,
    occurrence_count, first_seen, last_confirmed,
    (SELECT list(r.action_zh ORDER BY r.ordinal) FROM remedies r
     WHERE r.entry_id = e.entry_id AND r.kind = 'workaround' AND r.action_zh IS NOT NULL) AS workarounds_zh,
    (SELECT list(r.action_zh ORDER BY r.ordinal) FROM remedies r
     WHERE r.entry_id = e.entry_id AND r.kind = 'dead_end' AND r.action_zh IS NOT NULL) AS dead_ends_zh
FROM entries e
WHERE signature_zh IS NOT NULL OR root_cause_zh IS NOT NULL
   OR EXISTS (FROM remedies r WHERE r.entry_id = e.entry_id AND r.action_zh IS NOT NULL)
ORDER BY entry_id;
COMMENT ON VIEW entries_zh IS 'Entries of which at least one field exists in Chinese, with their Chinese fields only';
-- Columns: entries
COMMENT ON COLUMN entries_zh.workarounds_zh IS 'What helped or was suggested, in Chinese, in the order of remedies; those without Chinese are left out';
COMMENT ON COLUMN entries_zh.dead_ends_zh IS 'What did not help, in the same way';

CREATE VIEW remedy_evidence AS
SELECT c.entry_id, c.part AS kind, c.ordinal, v.evidence_id, v.role, v.document_id, v.url, v.posted_at, v.author_role,
    v.quote
FROM citations c JOIN evidence v ON v.entry_id = c.entry_id AND v.evidence_id = c.evidence_id
WHERE c.part IN ('workaround', 'dead_end')
ORDER BY c.entry_id, c.part, c.ordinal, v.evidence_id;
COMMENT ON VIEW remedy_evidence IS 'Every quote behind every workaround and dead end: roles worked and failed are the ones counted';
-- Columns: citations, evidence
COMMENT ON COLUMN remedy_evidence.kind IS 'workaround or dead_end';
COMMENT ON COLUMN remedy_evidence.ordinal IS 'Place of the remedy in its list, as remedies.ordinal';

CREATE VIEW case_answers AS
SELECT s.entry_id, k.repo, k.frame, k.library, s.kind, s.text, s.text_zh, s.how, s.condition, s.worked, s.failed, s.tier,
    v.role, v.quote, v.url, v.posted_at, v.author_role, v.evidence_id, s.case_ordinal, s.ordinal
FROM case_statements s JOIN cases k ON k.entry_id = s.entry_id AND k.ordinal = s.case_ordinal
JOIN citations c ON c.entry_id = s.entry_id AND c.part = 'case_statement' AND c.ordinal = s.ordinal
JOIN evidence v ON v.entry_id = c.entry_id AND v.evidence_id = c.evidence_id
ORDER BY s.entry_id, s.ordinal, v.evidence_id;
COMMENT ON VIEW case_answers IS 'What single projects say of errors that many programs print, by project and place, with every quote behind it';
-- Columns: case_statements, cases, evidence

CREATE VIEW withheld_claims AS
SELECT c.entry_id, w.cluster_id, w.repo, w.frame, w.reason, m.kind, m.outcome, m.fact, m.slots, m.quote, m.url,
    m.posted_at, m.author_role, w.document_id, w.claim_id
FROM withheld w JOIN claims m ON m.claim_id = w.claim_id LEFT JOIN clusters c ON c.cluster_id = w.cluster_id
ORDER BY w.cluster_id, w.repo, w.frame, w.claim_id;
COMMENT ON VIEW withheld_claims IS 'What threads say of errors and no entry shows, by repository and frame, with the reason';
-- Columns: withheld, claims, clusters

CREATE VIEW candidates AS
SELECT c.document_id,
    CASE WHEN c.kind = 'candidate' THEN regexp_replace(c.rule, '^reader[.]', '')
        WHEN c.outcome = 'failed' THEN 'failure' ELSE c.kind END AS kind,
    CASE WHEN c.kind = 'candidate' THEN CAST(c.remedy_key AS INTEGER) ELSE c.doubt END AS share, c.quote,
    c.url, c.start_offset, c.end_offset, c.posted_at, c.author_role, k.entry_id, k.cluster_id, c.claim_id
FROM claims c LEFT JOIN assignments a ON list_contains(c.signature_ids, a.signature_id)
LEFT JOIN clusters k ON k.cluster_id = a.cluster_id
WHERE c.kind = 'candidate' OR c.doubt IS NOT NULL
ORDER BY share DESC, c.document_id, c.start_offset, kind, k.cluster_id;
COMMENT ON VIEW candidates IS 'Words that a trained reader or a language model alone takes for a cause, remedy, fix or failure, or a rule alone and in doubt; the leads of entries among them; of a hundred such ones `share` were right';
-- Columns: claims, clusters
COMMENT ON COLUMN candidates.kind IS 'cause, remedy, fix or failure';
COMMENT ON COLUMN candidates.share IS 'Of a hundred such words, so many were right where the reader was tested';

CREATE VIEW parameter_summary AS
SELECT a.cluster_id, c.entry_id, p.name, p.unit, count(*) AS event_count, count(p.number) AS number_count,
    min(p.number) AS least, median(p.number) AS middle, max(p.number) AS greatest,
    count(DISTINCT p.value) AS value_count
FROM parameters p JOIN assignments a ON a.signature_id = p.signature_id
JOIN clusters c ON c.cluster_id = a.cluster_id
GROUP BY ALL ORDER BY a.cluster_id, p.name, p.unit;
COMMENT ON VIEW parameter_summary IS 'What varied between the occurrences of one error: least, median and greatest value of each slot';
-- Columns: clusters, parameters
COMMENT ON COLUMN parameter_summary.event_count IS 'Events that print it';
COMMENT ON COLUMN parameter_summary.number_count IS 'Those of them in which it is a number';
COMMENT ON COLUMN parameter_summary.least IS 'Least number, in unit';
COMMENT ON COLUMN parameter_summary.middle IS 'Median of the numbers';
COMMENT ON COLUMN parameter_summary.greatest IS 'Greatest number';
COMMENT ON COLUMN parameter_summary.value_count IS 'Different values, as printed';

CREATE VIEW cluster_events AS
SELECT a.cluster_id, c.entry_id, e.event_id, e.document_id, e.message, e.quote, e.url, e.posted_at, e.author_role,
    d.repo, a.rule, a.score, a.explanation
FROM events e JOIN assignments a ON a.signature_id = e.signature_id
JOIN clusters c ON c.cluster_id = a.cluster_id
LEFT JOIN documents d ON d.document_id = e.document_id
WHERE e.severity = 'error'
ORDER BY a.cluster_id, e.document_id, e.ordinal;
COMMENT ON VIEW cluster_events IS 'Every event of every cluster with the words that show it and the reason why it is there';
-- Columns: assignments, clusters, events, documents

CREATE MACRO trending(days) AS TABLE
WITH newest AS (SELECT max(posted_at) AS newest_at FROM events WHERE severity = 'error')
SELECT c.cluster_id, any_value(c.entry_id) AS entry_id, any_value(c.signature) AS signature,
    count(DISTINCT e.document_id) FILTER (e.posted_at > newest.newest_at - to_days(days::INTEGER)) AS recent_documents,
    count(DISTINCT e.document_id)
        FILTER (e.posted_at <= newest.newest_at - to_days(days::INTEGER)
            AND e.posted_at > newest.newest_at - to_days(2 * days::INTEGER)) AS earlier_documents,
    any_value(newest.newest_at) AS newest_in_data
FROM clusters c JOIN assignments a USING (cluster_id)
JOIN events e ON e.signature_id = a.signature_id AND e.severity = 'error', newest
GROUP BY c.cluster_id
HAVING recent_documents > 0
ORDER BY recent_documents - earlier_documents DESC, recent_documents DESC, c.cluster_id;
COMMENT ON MACRO TABLE trending IS 'Errors by growth: documents of the last N days of the data (not of the clock) against the N days before';

CREATE MACRO fixes_for(wanted) AS TABLE
SELECT r.entry_id, r.kind, r.action, r.action_zh, r.how, r.worked, r.failed, r.rate, r.tier, r.sources
FROM remedies r JOIN entries e USING (entry_id)
WHERE e.error_code = wanted OR list_contains(e.codes, wanted)
   OR list_contains(list_transform(e.codes, lambda c: split_part(c, ':', 2)), wanted)
ORDER BY r.kind DESC, r.worked DESC, r.failed, r.entry_id, r.ordinal;
COMMENT ON MACRO TABLE fixes_for IS 'Remedies for an error code: fixes_for(''xla:E1001'') or fixes_for(''cudaErrorIllegalAddress'')';

CREATE MACRO evidence_of(wanted) AS TABLE
SELECT v.entry_id, v.evidence_id, v.role, v.quote, v.url, v.posted_at, v.author_role, v.document_id,
    (SELECT list(c.part || '[' || c.ordinal || ']' ORDER BY c.part, c.ordinal) FROM citations c
     WHERE c.entry_id = v.entry_id AND c.evidence_id = v.evidence_id) AS cited_by
FROM evidence v
WHERE v.entry_id = wanted OR v.entry_id IN (SELECT a.entry_id FROM aliases a WHERE a.alias = wanted)
ORDER BY v.role, v.posted_at, v.evidence_id;
COMMENT ON MACRO TABLE evidence_of IS 'Every quote of an entry (by id or former id) with its address, date, and what it is cited for';

-- A code counts where its printed name stands in the text; names under six characters (E1001, INTERNAL's kin) also
-- stand in log prefixes and are left to `errmine match`, which reads the text properly.
CREATE MACRO match_error(printed) AS TABLE
SELECT e.entry_id, e.signature,
    CASE WHEN e.regex IS NOT NULL AND regexp_matches(printed, e.regex) THEN 'regex' ELSE 'code' END AS matched_by,
    e.evidence_count, e.verification_tier
FROM entries e
WHERE (e.regex IS NOT NULL AND regexp_matches(printed, e.regex))
   OR len(list_filter(e.codes, lambda c:
        len(split_part(c, ':', 2)) >= 6 AND contains(printed, split_part(c, ':', 2)))) > 0
ORDER BY matched_by DESC, e.evidence_count DESC, e.entry_id;
COMMENT ON MACRO TABLE match_error IS 'Entries that an error text may belong to, by regex first, then by code; errmine match is the better judge';
