SELECT entry_id, repo, frame, kind, text, worked, failed, role, quote, url, posted_at
FROM case_answers
ORDER BY entry_id, ordinal, posted_at, evidence_id;
