"""The bundle as a site: static pages in English and Chinese, made from the bundle alone.

::

    index.html                          leads to en/
    en/  zh/                            every page in both languages, each the other's alternate
      index.html                        most reported, newest, without an answer
      errors/<domain>/<slug>.html       an entry; its address lasts as its id does, former ids lead on
      domains.html  domains/<domain>.html
      codes.html    codes/<family>.html  codes/<family>/<name>.html
      repositories.html  repositories/<owner>/<name>.html
      search.html                       the one page with a script
    entries/<domain>/<slug>.json        an entry as the bundle has it
    assets/  pagefind/                  style, icon, search
    site.json                           the files, and what each was made from; written last

No page loads anything from elsewhere or has a script in it; a policy on every page (Content-Security-Policy) holds
browsers to that. An unchanged entry keeps its files.
"""

from pipeline.export.site.writing import LAYOUT, Written, write

__all__ = ["LAYOUT", "Written", "write"]
