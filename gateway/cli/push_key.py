"""`countersign push-key`: the key pair with which devices are told of questions."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), default=Path("push.key"))
def push_key(file: Path) -> None:
    """Make the key pair of web push (VAPID, RFC 8292) in FILE, `push.key` when nothing is given.

    The file is for its owner alone and is never written over. docs/PHONE.md says what to do with it.
    """
    from gateway.adapters.push.vapid import make_key_file

    public = make_key_file(file)
    click.echo(f'Made {file}. Put this into countersign.toml and start again:\n\n  push_key = "{file}"\n\nPublic key: {public}')
