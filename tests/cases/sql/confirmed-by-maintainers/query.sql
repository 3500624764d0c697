SELECT e.entry_id, v.quote, v.url
FROM entries e JOIN evidence v USING (entry_id)
WHERE e.verification_tier IN ('documented', 'maintainer_confirmed')
  AND v.author_role IN ('OWNER', 'MEMBER', 'COLLABORATOR')
ORDER BY e.entry_id, v.evidence_id;
