-- Finding entries by words, in English and in Chinese, with what DuckDB has built in: no extension, no dictionary.

-- The terms of a text: Latin words in lower case without a plural s, the parts of a name (num_stages, OutOfMemoryError)
-- each for itself, and of every run of Chinese characters the pairs of neighbours. Chinese writes no spaces; pairs find
-- every word of two or more characters and need no list of words (on four test words the usual segmenters lost three).
CREATE MACRO terms_of(words) AS
    list_transform(
        regexp_extract_all(lower(regexp_replace(left(words, 4000), '([a-z0-9])([A-Z])', '\1 \2', 'g')), '[a-z0-9]+'),
        lambda w: CASE WHEN length(w) > 3 AND regexp_matches(w, '[^siu]s$') THEN left(w, -1) ELSE w END)
    || flatten(list_transform(
        regexp_extract_all(left(words, 4000), '\p{Han}+'),
        lambda run: CASE WHEN length(run) = 1 THEN [run]
            ELSE list_transform(range(1, length(run)), lambda place: substring(run, place, 2)) END));
COMMENT ON MACRO terms_of IS 'The terms that search looks for in a text: Latin words, and pairs of neighbouring Chinese characters';

-- BM25 with k1 = 1.2 and b = 0.3 (entries differ in length by how often an error was reported, not by how much they are
-- about a word). A Chinese term of the glossary also asks for its English words, at half weight: most threads are in
-- English; and, if it is no single word, for its other renderings, because people say 爆显存 and 显存溢出 for one thing. An
-- entry that has few of the words asked for is pushed down by their share.
CREATE MACRO search(wanted) AS TABLE
WITH asked AS (
    SELECT term, max(share) AS share, bool_or(share = 1) AS is_own
    FROM (SELECT unnest(terms_of(left(wanted, 1000))) AS term, 1.0 AS share
        UNION ALL SELECT unnest(terms_of(g.english)), 0.5 FROM glossary g WHERE contains(wanted, g.chinese)
        UNION ALL SELECT unnest(terms_of(other.chinese)), 0.5 FROM glossary g JOIN glossary other USING (english)
            WHERE length(g.chinese) > 2 AND contains(wanted, g.chinese))
    GROUP BY term),
sizes AS (SELECT count(*) AS entries, avg(length) AS mean FROM search_sizes),
known AS (
    SELECT a.term, a.share, a.is_own, ln(1 + (s.entries - count(t.entry_id) + 0.5) / (count(t.entry_id) + 0.5)) AS rarity
    FROM asked a LEFT JOIN search_terms t USING (term), sizes s
    GROUP BY a.term, a.share, a.is_own, s.entries),
scored AS (
    SELECT t.entry_id,
        sum(k.share * k.rarity * t.weight * 2.2 / (t.weight + 1.2 * (0.7 + 0.3 * z.length / s.mean))) AS points,
        coalesce(sum(k.rarity) FILTER (k.is_own), 0) AS own,
        list(t.term ORDER BY k.rarity DESC, t.term) AS found
    FROM known k JOIN search_terms t USING (term) JOIN search_sizes z USING (entry_id), sizes s
    GROUP BY t.entry_id)
SELECT e.entry_id, round(c.points * (0.5 + 0.5 * c.own / (SELECT sum(rarity) FROM known WHERE is_own)), 3) AS score,
    e.signature, e.signature_zh, e.domain, e.verification_tier, e.evidence_count, c.found
FROM scored c JOIN entries e USING (entry_id)
ORDER BY score DESC, e.evidence_count DESC, e.entry_id;
COMMENT ON MACRO TABLE search IS 'Entries by words, best first: search(''显存不足''), search(''out of memory A100''); any text will do';
