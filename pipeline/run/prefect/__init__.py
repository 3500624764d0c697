"""What only Prefect needs: runners, artifacts, notifications."""
