"""`errmine site`: the bundle as pages to read, and those pages on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.app import BundlePlace, Home, Json, app, settings
from pipeline.cli.output import complain, print_json, say
from pipeline.cli.places import bundle_at

if TYPE_CHECKING:
    from pipeline.export.site import Written

_PORT = 8620


@app.command()
def site(
    home: Home = None,
    bundle: BundlePlace = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder of the site; default: site/ of the home.", metavar="FOLDER")
    ] = None,
    url: Annotated[
        str, typer.Option("--url", help="Where it will stand: canonical addresses and a site map.", metavar="URL")
    ] = "",
    no_search: Annotated[bool, typer.Option("--no-search", help="Without search, which needs Pagefind.")] = False,
    serve: Annotated[bool, typer.Option("--serve", help="Then show it on 127.0.0.1 until Ctrl-C.")] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where --serve shows it; 0: any free one.")
    ] = _PORT,
    as_json: Json = False,
) -> None:
    """Write the bundle as a static site in English and Chinese, with search: whole or not at all.

    Needs errmine's extra `site` for the search (docs/site.md).
    A folder that is no site of errmine is never written to; in one that
    is, pages of unchanged entries stay the files that they are, and what was put beside them stays.
    """
    from pipeline.export import site as sites
    from pipeline.translate import official

    chosen = settings(home)
    folder = to or chosen.home / "site"
    written = sites.write(
        folder,
        bundle_at(bundle) if bundle else chosen.curated_path,
        site_url=url,
        official=official.chinese,
        search=not no_search,
    )
    _tell(written, as_json=as_json)
    if serve:
        _serve(folder, port)


def _tell(written: Written, *, as_json: bool) -> None:
    if as_json:
        counts = {"entries": written.entry_count, "pages": written.page_count, "unchanged": written.kept_count}
        refused = [item.item_id for item in written.refused]
        print_json({"folder": str(written.folder), **counts, "bytes": written.byte_count, "refused": refused})
    else:
        say(f"{written.page_count:,} pages of {written.entry_count:,} entries, {written.kept_count:,} unchanged")
        say(f"site      {written.folder.resolve()}")
        for item in written.refused:
            complain(f"{item.item_id} is left out: {item.reason}")


def _serve(folder: Path, port: int) -> None:
    from pipeline.export.site import serving

    with serving.server(folder, port) as server:
        say(f"open      http://{serving.HOST}:{server.server_port}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("stopped")
