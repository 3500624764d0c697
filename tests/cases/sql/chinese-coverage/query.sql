SELECT regexp_replace(field, '\[\d+\]', '') AS field, status, count(*) AS entries
FROM translations
GROUP BY ALL
ORDER BY ALL;
