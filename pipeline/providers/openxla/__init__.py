"""OpenXLA's error pages, fetched from the site or from the repository."""
