"""Saved pages, by the form in which they were saved."""

from pipeline.providers.saved import html_page, markdown_page, text_page

READERS = {
    "issue-markdown": markdown_page.read,
    "github-html": html_page.read,
    "github-text": text_page.read_thread,
    "plain-text": text_page.read_plain,
}
