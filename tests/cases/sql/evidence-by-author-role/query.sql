SELECT role, coalesce(author_role, 'unknown') AS author_role, count(*) AS quotes,
    count(DISTINCT document_id) AS documents
FROM evidence
GROUP BY ALL
ORDER BY role, quotes DESC, author_role;
