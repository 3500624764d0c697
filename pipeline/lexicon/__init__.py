"""The words errmine knows: catalogues of error codes, closed vocabularies, the glossary, the gates of Chinese."""
