"""Pages that somebody saved: threads as Markdown, HTML or text, and any other text."""

from pipeline.providers.provider import Provider

PROVIDER = Provider(
    name="saved", package=__name__, forms=("issue-markdown", "github-html", "github-text", "plain-text")
)
