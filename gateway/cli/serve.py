"""`countersign serve`: the product itself."""

from __future__ import annotations

from pathlib import Path

import click

from gateway.settings import load_settings


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.  [default: 8765]")
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="Folder of database and keys.")
@click.option("--workspace", type=click.Path(path_type=Path, file_okay=False), help="Folder the file tools work in.")
@click.option("--policy", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder of the policy.")
@click.option("--tools-module", "tools_modules", multiple=True, metavar="MODULE", help="Python module with further tools.")
@click.option("--model", metavar="NAME|FILE|none", help="Catalogue name or GGUF file of the local model.")
@click.option("--model-url", metavar="URL", help="OpenAI-compatible server to use instead of a local model.")
@click.option("--names", type=click.Choice(["subdomains", "addresses"]), help="How the two origins are told apart.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="How much to log.")
def serve(tools_modules: tuple[str, ...], **options: object) -> None:
    """Start the gateway, with the web shell and the console.

    Every option is also a setting: COUNTERSIGN_PORT, countersign.toml. On the first start this prints a link with which
    you register your passkey.
    """
    from gateway.bootstrap import run

    settings = load_settings(tools_modules=tools_modules or None, **options)
    run(settings)
