SELECT s.signature, a.rule, a.score, a.explanation
FROM assignments a JOIN signatures s USING (signature_id)
ORDER BY a.cluster_id, a.score DESC, s.signature_id;
