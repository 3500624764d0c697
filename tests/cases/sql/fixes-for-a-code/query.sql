SELECT kind, action, action_zh, worked, failed FROM fixes_for('xla:E1001');
