"""The same as `rebound_names`, in the worker of a remote tool server: it imports nothing of the gateway and knows no variable.

Names that end in `.rebound.test` lead to where the file `leads-to` says, and to a public address before there is one. What goes
to that address is brought to a server on this machine; anywhere else nothing is connected to, and it is noted that it was tried.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio.selector_events import BaseSelectorEventLoop
from pathlib import Path
from typing import Any

PUBLIC = "93.184.215.14"


def divert(folder: str) -> None:
    """Do so in this process, with files in that folder."""
    system, connect = socket.getaddrinfo, BaseSelectorEventLoop.sock_connect
    leads_to, tried = Path(folder) / "leads-to", Path(folder) / "worker-connected"

    def look_up(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if not name.endswith(".rebound.test"):
            return system(host, port, *arguments, **options)
        address = leads_to.read_text() if leads_to.exists() else PUBLIC
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, int(port or 0)))]

    async def bring(loop: asyncio.AbstractEventLoop, sock: socket.socket, address: Any) -> None:
        with tried.open("a") as notes:
            notes.write(f"{address[0]} {address[1]}\n")
        if address[0] != PUBLIC:
            raise ConnectionRefusedError("nothing else is connected to here")
        await connect(loop, sock, ("127.0.0.1", address[1]))  # pyright: ignore[reportArgumentType] # its own kind of loop

    socket.getaddrinfo = look_up
    BaseSelectorEventLoop.sock_connect = bring  # pyright: ignore[reportAttributeAccessIssue] # for this test alone
