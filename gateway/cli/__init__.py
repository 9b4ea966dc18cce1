"""The command line: one file per command, each imported only when it is the one that was typed."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import click

from gateway import __version__
from gateway.core.errors import GatewayError

COMMANDS: Final = {
    "serve": ("gateway.cli.serve", "Start the gateway, the web shell and the console."),
    "agent": ("gateway.cli.agent", "Talk to an agent in the terminal."),
    "mcp": ("gateway.cli.mcp", "Offer your tools to an MCP client: Claude Code, VS Code, Cursor."),
    "enrol": ("gateway.cli.enrol", "Print a one-time link with which a person registers their first passkey."),
    "people": ("gateway.cli.people", "List people; change their profile, suspend or remove them."),
    "sources": ("gateway.cli.sources", "Add MCP servers, HTTP APIs and databases, and decide about their tools."),
    "secrets": ("gateway.cli.secrets", "Store tokens and passwords for sources."),
    "session": ("gateway.cli.session", "List the agent sessions of the running gateway, and lower what one may do."),
    "settings": ("gateway.cli.settings", "List, change and put back the settings that hold at once."),
    "push-key": ("gateway.cli.push_key", "Make the key pair with which phones are told that a question waits."),
    "smoke": ("gateway.cli.smoke", "Try every decision once, on a throw-away gateway."),
    "doctor": ("gateway.cli.doctor", "Say what is missing or wrong on this machine, and what to do about it."),
    "models": ("gateway.cli.models", "List, fetch and show models, and ask model servers."),
    "traces-to-data": ("gateway.cli.traces", "Make training data of recorded trajectories."),
    "policy": ("gateway.cli.policy", "Check, test, compare, rehearse, publish, freeze and explain the policy."),
    "audit": ("gateway.cli.audit", "Verify, read, explain and replay the audit log; receipts and exports."),
    "backup": ("gateway.cli.backup", "Copy the record into one file, also while the gateway runs."),
    "restore": ("gateway.cli.backup", "Put a backup in place of the record."),
    "recover": ("gateway.cli.backup", "Say what a damaged record lost, and go on without it."),
}


@contextmanager
def importing() -> Generator[None]:
    """Keep the garbage collector from looking through what modules make, which stays: a tenth of a start (measured)."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Text(click.types.StringParamType):
    """A text of the command line. What is no UTF-8 there comes as lone surrogates: they cannot be looked up or recorded."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse those."""
        text = super().convert(value, param, ctx)
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail("this is not valid UTF-8", param, ctx)
        return text


def _fit_out(command: click.Command) -> None:
    """Take only text in all but paths, which may have any bytes, and have the table of a group's commands say whole sentences."""
    for parameter in command.params:
        if parameter.type is click.STRING:
            parameter.type = Text()
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        # click cuts what it derives from a docstring to 45 characters, and leaves what it is given.
        each.short_help = each.get_short_help_str(limit=sys.maxsize)
        _fit_out(each)


class LazyGroup(click.Group):
    """A group whose commands are known by name and imported by use: `--help` must not load a database or a model."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one that was asked for."""
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        with importing():
            command: click.Command = getattr(importlib.import_module(module), cmd_name.replace("-", "_"))
        _fit_out(command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command for one that does not exist: click looks only among commands that were imported."""
        if args[0] not in COMMANDS:
            raise click.exceptions.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="countersign")
def countersign() -> None:
    """Countersign holds the authority while the agent runs in a browser tab.

    Settings come from options, then COUNTERSIGN_* variables, then countersign.toml.
    """


def main() -> None:
    """Run a command; what the operator did wrong is one sentence on standard error and exit code 2, never a traceback."""
    _open_standard_streams()
    try:
        countersign.main(prog_name="countersign", standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        path = "countersign" if error.ctx is None else error.ctx.command_path
        click.echo(f"{path}: {error.format_message()} (`{path} --help` says more)", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        click.echo(f"countersign: {error.format_message()}", err=True)
        sys.exit(error.exit_code)
    except GatewayError as error:
        click.echo(f"countersign: {error.message}", err=True)
        sys.exit(2)
    except OSError as error:
        # What was to be printed, onto a full disk. Everything else that can fail so is told by whoever knows what it was.
        if error.errno not in _UNWRITABLE or error.filename is not None:
            raise
        click.echo(f"countersign: standard output cannot be written: {error.strerror}", err=True)
        sys.exit(2)


_UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF)
"""A full disk, a broken one, and what was opened for reading."""


def _open_standard_streams() -> None:
    """Open a substitute for each standard stream that the parent process closed.

    Else the next files and sockets would get their numbers, and what is printed, by us or by a child, would go into those.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
