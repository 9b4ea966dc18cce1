"""Asking for a yes on the command line."""

from __future__ import annotations

import sys

import click

from gateway.core.errors import Misconfigured


def confirm(question: str) -> None:
    """Ask on standard error, and go on only after a yes. Ends the command with status 1 after a no.

    Raises Misconfigured where nobody is there to answer: a script has to say so itself, with `--yes`.
    """
    click.echo(f"{question} [y/N]: ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer:
        click.echo(err=True)
        raise Misconfigured("nothing was changed: nobody answered the question; `--yes` answers it with yes")
    if answer.strip().lower() not in ("y", "yes"):
        click.echo("Nothing was changed.", err=True)
        sys.exit(1)
