-- The words by which the entries of the temporary table to_search are found: of all, or of those that changed.

-- What is searched, by weight: what names an error counts more than what was said about it. Quotes of occurrences are
-- the signature once more; a cluster of a thousand reports would drown in their titles, twenty of them say what it is.
CREATE TEMP TABLE searched AS
SELECT entry_id, weight, terms_of(words) AS terms FROM (
SELECT entry_id, unnest([signature, signature_zh, exception_type]) AS words, 3 AS weight
    FROM entries SEMI JOIN to_search USING (entry_id)
UNION ALL SELECT entry_id, array_to_string(codes || tags, ' '), 2 FROM entries SEMI JOIN to_search USING (entry_id)
UNION ALL SELECT entry_id, unnest([root_cause, root_cause_zh]), 2 FROM entries SEMI JOIN to_search USING (entry_id)
UNION ALL SELECT entry_id, unnest([action, action_zh]), 2 FROM remedies SEMI JOIN to_search USING (entry_id)
UNION ALL SELECT entry_id, how, 1 FROM remedies SEMI JOIN to_search USING (entry_id)
UNION ALL SELECT entry_id, unnest([text, text_zh, how]), 1 FROM case_statements SEMI JOIN to_search USING (entry_id)
UNION ALL SELECT entry_id, unnest([repo, frame, library]), 1 FROM cases SEMI JOIN to_search USING (entry_id)
UNION ALL SELECT entry_id, quote, 1 FROM evidence SEMI JOIN to_search USING (entry_id)
    WHERE role IN ('cause', 'workaround', 'worked', 'failed', 'fix', 'official')
UNION ALL SELECT entry_id, title, 1 FROM (
    SELECT v.entry_id, d.title, row_number() OVER (PARTITION BY v.entry_id ORDER BY v.document_id) AS place
    FROM (SELECT DISTINCT entry_id, document_id FROM evidence SEMI JOIN to_search USING (entry_id)) v
    JOIN documents d USING (document_id)) WHERE place <= 20
) WHERE words IS NOT NULL;

INSERT INTO search_terms
SELECT term, entry_id, sum(weight)::BIGINT FROM (SELECT entry_id, weight, unnest(terms) AS term FROM searched)
GROUP BY term, entry_id ORDER BY term, entry_id;

-- Not counted from search_terms, of which it would read all: of a change a few are in it.
INSERT INTO search_sizes
SELECT entry_id, sum(weight * len(terms))::BIGINT FROM searched WHERE len(terms) > 0
GROUP BY entry_id ORDER BY entry_id;
DROP TABLE searched;
