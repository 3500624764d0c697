"""OpenXLA's error pages: from the site, the repository, or saved in any form; the list of codes; when pages landed."""

from pipeline.providers.openxla import read, recognise
from pipeline.providers.provider import Provider

PROVIDER = Provider(
    name="openxla",
    readers={
        "xla-md": read.read_markdown,
        "xla-html": read.read_html,
        "xla-text": read.read_text,
        "xla-catalog": read.read_catalogue,
        "xla-history": read.read_history,
    },
    json_rules=(recognise.catalogue_row, recognise.history),
    text_rules=(recognise.html_page, recognise.markdown_page, recognise.catalogue_header, recognise.text_page),
)
