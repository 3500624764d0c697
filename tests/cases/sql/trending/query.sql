SELECT entry_id, recent_documents, earlier_documents FROM trending(30) LIMIT 10;
