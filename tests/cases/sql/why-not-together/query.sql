SELECT n.cluster_id, n.other_id, n.score, n.reason
FROM neighbours n
ORDER BY n.score DESC, n.cluster_id, n.other_id
LIMIT 20;
