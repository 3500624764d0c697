SELECT entry_id, score, signature_zh FROM search('共享内存不足') LIMIT 5;
