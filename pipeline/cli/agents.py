"""`errmine mcp`: the knowledge for agents, on stdio or on HTTP of this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli import streams
from pipeline.cli.app import BundlePlace, Home, app, settings
from pipeline.cli.distribution import LIGHT, installed
from pipeline.cli.output import complain
from pipeline.cli.places import bundle_at
from pipeline.records.errors import ConfigError


@app.command()
def mcp(
    home: Home = None,
    bundle: BundlePlace = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP instead of standard input and output.")
    ] = False,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: any that is free.")
    ] = 8765,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", help="Also answer to this name of the server; may be repeated.")
    ] = None,
) -> None:
    """Serve a bundle to agents over the Model Context Protocol: match, search, read, explain, what has no answer.

    Works from the bundle alone, and reads nothing but it. On HTTP it answers only requests to this machine's own names.
    Wants errmine's extra `mcp`: docs/agents.md.
    """
    try:
        from pipeline.agents.serving import serve_http, serve_stdio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "pipeline":
            raise
        name = "errmine-match" if installed() == (LIGHT,) else "errmine"
        raise ConfigError(f"the MCP SDK is not installed: {error}", hint=f"pip install '{name}[mcp]'") from error

    found = settings(home)  # its packs, too
    folder = bundle_at(bundle) if bundle else found.curated_path
    if not http:
        streams.needed()
        serve_stdio(folder)
        return
    serve_http(
        folder, host=host, port=port, names=allow_host or (), listening=lambda at: complain(f"serving MCP at {at}")
    )
