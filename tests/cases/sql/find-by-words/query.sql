SELECT entry_id, score, found FROM search('OutOfResources num_stages') LIMIT 5;
