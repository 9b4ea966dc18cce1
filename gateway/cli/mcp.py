"""`countersign mcp`: the program that an MCP client starts. A pipe to the running gateway, and nothing else.

It holds no authority and understands no message: the gateway at the other end of its control socket does. What the gateway has to
say to people comes in lines that begin with `#` and goes to standard error; standard output belongs to the protocol.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any, Final, cast

import click
import orjson

from gateway.cli.operating import operate
from gateway.core.effects import escape
from gateway.core.errors import GatewayError, Misconfigured
from gateway.core.times import rfc3339
from gateway.server.control import SOCKET_NAME
from gateway.settings import Settings
from gateway.settings_reading import load_settings

_PIECE: Final = 64 * 1024
_ANSWER_SECONDS: Final = 30.0
"""The first client of a gateway waits for the protocol's library to be read."""

_state = click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")


@click.group(invoke_without_command=True)
@click.option("--as", "name", metavar="NAME", help="Whose tools to offer, where several people are enrolled.")
@_state
@click.pass_context
def mcp(context: click.Context, name: str | None, state: Path | None) -> None:
    """Offer the tools of the running gateway to an MCP client, over standard input and output.

    Put this command into the client's configuration, with an absolute --state, and start the gateway yourself with
    `countersign serve`. The client gets what you may use; a call that needs you waits until you approve it on the console, whose
    link is in the call's first progress notification and on standard error. Nothing can be approved over this connection. See
    docs/MCP.md.

    Exit status: 0 when the client closed the connection, 1 when the gateway did, 2 where there is no gateway or nobody enrolled.
    """
    if context.invoked_subcommand is not None:
        context.obj = state
        return
    folder = load_settings(state=state).state
    with _connect(folder) as connection:
        person = _come_in(connection, name)
        print(f"countersign: offering the tools of {person}; questions are answered on the console", file=sys.stderr, flush=True)
        said_last = threading.Event()
        threading.Thread(target=_send_input, args=(connection, said_last), daemon=True).start()
        _print_output(connection)
        # A daemon thread may still wait for input that nobody will read.
        sys.stderr.flush()
        os._exit(0 if said_last.is_set() else 1)


@mcp.group()
def clients() -> None:
    """List the programs that act for people, and disconnect them. Works beside a running gateway and without one."""


@clients.command("list")
@_state
@click.pass_context
def list_clients(context: click.Context, state: Path | None) -> None:
    """Print every client: id, how it comes in, person, last call, label, and what it calls itself."""
    listed = asyncio.run(operate(_settings(context, state), "clients"))
    if not listed:
        click.echo("No program acts for anybody.", err=True)
    for client in cast("list[dict[str, Any]]", listed):
        called = client["lastCallAt"]
        last = "no call yet" if called is None else f"last call {rfc3339(called)}"
        told = " ".join(part for part in (client["name"], client["version"]) if part) or "(it told no name)"
        click.echo(
            f"{client['id']}  {client['transport']:<5}  {client['person']}  since {rfc3339(client['since'])}  {last}"
            f"  {client['connections']} connections  {client['label']}  {told}"
        )


@clients.command("revoke")
@click.argument("client")
@_state
@click.pass_context
def revoke(context: click.Context, client: str, state: Path | None) -> None:
    """Disconnect CLIENT, an id of the list: its tokens are void, its connections close, and what it has under way stops.

    One of `countersign mcp` may be started again by its editor; take it out of the editor's configuration to be rid of it.
    """
    asyncio.run(operate(_settings(context, state), "client-disconnect", client=client))
    click.echo(f"{client} was disconnected.")


def _settings(context: click.Context, state: Path | None) -> Settings:
    """With the state folder of the command itself, or of `mcp` before it."""
    return load_settings(state=state or context.find_object(Path))


def _connect(folder: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(folder / SOCKET_NAME))
    except OSError as error:
        connection.close()
        if isinstance(error, PermissionError):
            raise Misconfigured(f"the gateway of `{escape(str(folder))}` belongs to another user of this machine") from None
        raise Misconfigured(
            f"no gateway runs on the state folder `{escape(str(folder))}`; start one with `countersign serve --state FOLDER`"
            " and name the same folder here"
        ) from None
    return connection


def _come_in(connection: socket.socket, name: str | None) -> str:
    """The name of the person whose tools these are. Raises GatewayError with the gateway's sentence."""
    connection.settimeout(_ANSWER_SECONDS)
    try:
        connection.sendall(orjson.dumps({"command": "mcp", "as": name}) + b"\n")
        line = _read_line(connection)
        answer = orjson.loads(line)
    except (OSError, orjson.JSONDecodeError):
        raise GatewayError("the running gateway did not answer") from None
    connection.settimeout(None)
    if "error" in answer:
        raise GatewayError(answer["error"]["message"])
    return str(answer["result"]["person"])


def _read_line(connection: socket.socket) -> bytes:
    """One line, byte by byte: what follows it belongs to the protocol."""
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            break
        line += byte
    return line


def _send_input(connection: socket.socket, said_last: threading.Event) -> None:
    try:
        while piece := os.read(0, _PIECE):
            connection.sendall(piece)
        said_last.set()
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        # The gateway has gone; the other direction says so.
        return


def _print_output(connection: socket.socket) -> None:
    """Pass each line on: to standard error what is meant for people, to standard output the rest."""
    held = b""
    try:
        while piece := connection.recv(_PIECE):
            *lines, held = (held + piece).split(b"\n")
            for line in lines:
                is_note = line.startswith(b"#")
                _write(2 if is_note else 1, b"countersign:" + line[1:] + b"\n" if is_note else line + b"\n")
    except OSError:
        # The client reads no more, or the gateway broke off: either way there is nobody left to speak to.
        return


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
