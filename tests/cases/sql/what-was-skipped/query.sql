SELECT stage, reason, count(*) AS items FROM skipped GROUP BY ALL ORDER BY ALL;
