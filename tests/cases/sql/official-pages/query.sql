SELECT code, name, category, backends, flags, url FROM official_docs ORDER BY code;
