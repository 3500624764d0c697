"""What looks at a home and says what is wrong: quotes against raw, drift and damage, documents in quarantine."""
