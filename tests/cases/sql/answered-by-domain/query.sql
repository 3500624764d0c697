SELECT domain, entry_count, answered_count, share
FROM answer_shares
ORDER BY entry_count DESC, domain;
