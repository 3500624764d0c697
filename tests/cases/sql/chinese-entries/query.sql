SELECT entry_id, signature_zh, root_cause_zh, workarounds_zh, dead_ends_zh FROM entries_zh;
