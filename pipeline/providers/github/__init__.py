"""GitHub: issues and pull requests, fetched through its API and read from its JSON."""
