"""`countersign serve`: start the gateway."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gateway.adapters.inference.catalog import models_folder
from gateway.adapters.inference.factory import WEIGHTLESS
from gateway.adapters.inference.presets import preset_of
from gateway.cli import importing
from gateway.core.errors import ModelUnavailable
from gateway.settings import Settings
from gateway.settings_reading import load_settings

TOOL_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.  [default: 8765]")
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="Folder of database and keys.")
@click.option("--workspace", type=click.Path(path_type=Path, file_okay=False), help="Folder the file tools work in.")
@click.option("--policy", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder of the policy.")
@click.option("--tools", "tool_files", multiple=True, type=TOOL_FILE, metavar="FILE", help="JSON file with programs as tools.")
@click.option("--builtin-tools/--no-builtin-tools", default=None, help="Whether to offer the built-in tools.  [default: yes]")
@click.option("--tools-module", "tools_modules", multiple=True, metavar="MODULE", help="Python module with further tools.")
@click.option("--model", metavar="NAME|FILE|PRESET/NAME|stub|none", help="Model: catalogue name, file, ollama/NAME.")
@click.option("--model-url", metavar="URL", help="OpenAI-compatible server to use instead of a local model.")
@click.option("--names", type=click.Choice(["subdomains", "addresses"]), help="How the two origins differ.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="How much to log.")
def serve(tools_modules: tuple[str, ...], tool_files: tuple[Path, ...], **options: object) -> None:
    """Start the gateway, with the web shell and the console.

    Every option is also a setting: COUNTERSIGN_PORT, countersign.toml. On the first start this prints a link with which
    you register your passkey.
    """
    with importing():
        from gateway.serving import run

    settings = load_settings(tools_modules=tools_modules or None, tool_files=tool_files or None, **options)
    try:
        bring_model(settings)
    except ModelUnavailable as error:
        # The gateway serves all the same: its tools can be called by hand.
        click.echo(f"countersign: starting without a model: {error.message}", err=True)
    run(settings)


def bring_model(settings: Settings) -> None:
    """Fetch the chosen catalogue models before the first start. Raises ModelUnavailable, Misconfigured."""
    for model in dict.fromkeys(("" if settings.model_url else settings.model, *settings.other_models)):
        if model and model not in WEIGHTLESS and not preset_of(model):
            _bring(model)


def _bring(model: str) -> None:
    from gateway.adapters.inference.fetch import is_present
    from gateway.adapters.inference.local import named_entry
    from gateway.cli.models import bring

    folder = models_folder(os.environ)
    entry = named_entry(model, folder)
    if entry is not None and not is_present(entry, folder):
        click.echo(f"Fetching {entry.title}, once…", err=True)
        bring(entry, folder)
