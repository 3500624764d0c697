"""Issue pages that somebody saved: as Markdown, HTML or plain text."""
