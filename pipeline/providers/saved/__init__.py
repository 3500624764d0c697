"""Pages that somebody saved: threads as Markdown, HTML or text, and any other text."""

from pipeline.providers.provider import Provider
from pipeline.providers.saved import html_page, markdown_page, recognise, text_page

PROVIDER = Provider(
    name="saved",
    readers={
        "issue-markdown": markdown_page.read,
        "github-html": html_page.read,
        "github-text": text_page.read_thread,
        "plain-text": text_page.read_plain,
    },
    text_rules=(recognise.html_page, recognise.markdown_page, recognise.text_page),
)
