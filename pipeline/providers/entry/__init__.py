"""Knowledge entries that were made elsewhere."""
